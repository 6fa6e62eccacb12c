//! The connection manager against captures of Linux's, in the place of either host.

mod capture;
mod replay;
mod slow_server;
mod starting_psn;

use std::path::{Path, PathBuf};

use replay::{Outcome, replay};

/// Captures that the crates share: two Linux hosts (Soft-RoCE, kernel 6.1).
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/data/cm");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/soft-roce/captures");

/// The last byte of the hosts' addresses.
const SERVER: u8 = 1;
const CLIENT: u8 = 2;

#[test]
fn own_captures() {
    let outcome = replay_all(Path::new(OWN));
    println!("own captures: {outcome:?}");
    let expected = Outcome { replays: 16, compared: 42, timers: 5, earlier: 0 };
    assert_eq!(outcome, expected);
}

#[test]
fn shared_captures() {
    if !Path::new(SHARED).is_dir() {
        println!("skipped: there are no shared captures beside the repository");
        return;
    }
    let outcome = replay_all(Path::new(SHARED));
    println!("shared captures: {outcome:?}");
    assert!(outcome.compared >= 100 && outcome.timers >= 5, "{outcome:?}");
    // perftest_send_bw_rdma_cm_tos104 ends with two DREPs of the run before it.
    assert_eq!(outcome.earlier, 2);
}

fn replay_all(folder: &Path) -> Outcome {
    let mut all = Outcome::default();
    for path in captures(folder) {
        for host in [SERVER, CLIENT] {
            if !is_linux(&path, host) {
                continue;
            }
            all += replay(&path, host);
        }
    }
    all
}

/// In some captures a program without a CM plays the client, by a script.
fn is_linux(path: &Path, host: u8) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let scripted = name.starts_with("pypeer_") || name.starts_with("fault_first_send_wrong_psn");
    host == SERVER || !scripted
}

/// All captures of what was sent; what was delivered stands beside those with faults.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".pcap") && !name.ends_with(".delivered.pcap")
        })
        .collect();
    paths.sort();
    paths
}
