//! Small configurations of our own, with their results beside them, and what is refused.
//!
//! `UPDATE_CASES=1` writes the results anew; look at the difference before you commit it.

use std::path::{Path, PathBuf};

use rocelab_ns3_rdma::{Arithmetic, Branch, InputError, Options};

use crate::run;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name).join("config.txt")
}

/// Compares a file with its content, or writes it.
fn compare(path: &Path, content: &[u8]) {
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(path, content).unwrap();
    }
    let expected = std::fs::read(path).unwrap_or_default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(content), text(&expected), "{}", path.display());
}

/// Runs a case and compares what it writes.
fn check(name: &str, options: Options) {
    let path = case(name);
    let made = run::run(&path, options).unwrap();
    let folder = path.parent().unwrap();
    if options.branch == Branch::Timely {
        return compare(&folder.join("stdout.txt"), &made.printed);
    }
    compare(&folder.join("mix.tr"), &made.trace);
    compare(&folder.join("exact.txt"), &made.log);
    let again = run::run(&path, options).unwrap();
    assert!(made.trace == again.trace && made.statistics == again.statistics);
}

#[test]
fn two_flows_share_a_link_that_loses() {
    check("lossy", Options { seed: 7, ..Options::default() });
}

#[test]
fn packets_take_random_paths() {
    check("packet-ecmp", Options::default());
}

#[test]
fn doubles_have_times_of_their_own() {
    check("double", Options { arithmetic: Arithmetic::Double, ..Options::default() });
}

#[test]
fn the_branch_timely_prints() {
    check("timely", Options { branch: Branch::Timely, ..Options::default() });
}

/// The text of a case's configuration with some keys behind it, which then hold.
fn with(name: &str, keys: &str) -> Result<run::Made, InputError> {
    let path = case(name);
    let text = std::fs::read_to_string(&path).unwrap() + "\n" + keys;
    run::run_text(&path, &text, Options::default())
}

#[test]
fn accidents_of_the_simulator_are_errors() {
    for (keys, says) in [
        ("L2_CHUNK_SIZE 0 L2_ACK_INTERVAL 1", "L2_CHUNK_SIZE = 0: at "),
        ("PAUSE_TIME 1 USE_DYNAMIC_PFC_THRESHOLD 0 ENABLE_QCN 0", "PAUSE_TIME = 1: at "),
        ("RP_TIMER 0.5 KMIN 0 KMAX 0", "RP_TIMER = 0.5: at "),
        ("ALPHA_RESUME_INTERVAL 0 KMIN 0 KMAX 0", "ALPHA_RESUME_INTERVAL = 0: at "),
        ("CNP_INTERVAL 0.9", "CNP_INTERVAL = 0.9: the simulator never ends"),
        ("L2_WAIT_FOR_ACK 1 ENABLE_QCN 0", "L2_WAIT_FOR_ACK = 1: the simulator reads uninit"),
        ("APP_START_TIME 2.1", "APP_START_TIME = 2.1: receivers start after"),
        ("SEND_IN_CHUNKS 1 APP_STOP_TIME 2", "APP_STOP_TIME = 2: receivers that answer stop"),
        ("TOPOLOGY_FILE nowhere.txt", "TOPOLOGY_FILE = nowhere.txt: "),
        ("TCP_FLOW_FILE flow.txt", "TCP flows = 2: TCP flows of ns3-rdma are not reproduced"),
    ] {
        let error = with("double", keys).unwrap_err().to_string();
        assert!(error.contains(says), "{keys}: {error}");
        assert!(error.contains("; "), "{keys}: no fix in {error}");
    }
}

#[test]
fn a_seed_that_the_generator_cannot_have_is_an_error() {
    let error = run::run(&case("double"), Options { seed: 0, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("seed = 0: is no seed"), "{error}");
}

/// Every word of every file, replaced or left out: an error with a place or a run, never a panic.
#[test]
fn a_wrong_word_never_panics() {
    let path = case("double");
    let folder = path.parent().unwrap();
    let files = ["config.txt", "topology.txt", "flow.txt", "flow_tcp_0.txt", "trace.txt"];
    let texts = files.map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
    let (mut runs, mut errors) = (0, 0);
    for (changed, text) in texts.iter().enumerate() {
        let words: Vec<_> = text.split_whitespace().collect();
        for place in 0..words.len() {
            for value in ["", "0", "1", "7", "-1", "0.5", "3000000000", "1e300", "nan", "\u{e9}"] {
                let mut words = words.clone();
                words[place] = value;
                let read = |path: &Path| -> std::io::Result<String> {
                    let name = path.file_name().unwrap().to_str().unwrap();
                    let Some(file) = files.iter().position(|file| *file == name) else {
                        return Err(std::io::ErrorKind::NotFound.into());
                    };
                    Ok(if file == changed { words.join(" ") } else { texts[file].clone() })
                };
                match run::run_with(&path, &read(&path).unwrap(), Options::default(), read) {
                    Ok(_) => runs += 1,
                    Err(error) => {
                        errors += 1;
                        assert!(!error.message().is_empty() && !error.help().is_empty());
                        assert!(error.to_string().starts_with(folder.to_str().unwrap()), "{error}");
                    }
                }
            }
        }
    }
    assert!(runs > 100 && errors > 100, "{runs} runs, {errors} errors");
}
