//! The verifier's results for captures of real stacks.

use std::fs;
use std::path::{Path, PathBuf};

use rocelab_capture::{CaptureReader, Checksum, Fault, Observation, Verifier};
use rocelab_wire::NakCode;

/// A folder of public captures beside the repository, where it is present.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: there is no ../shared/{folder} beside the repository");
    None
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn captures(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_capture = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "pcap" || extension == "pcapng")
    };
    let mut paths: Vec<_> = entries.filter(is_capture).collect();
    paths.sort();
    paths
}

/// The results for a capture, frame by frame.
struct Found {
    faults: Vec<(u64, Fault)>,
    observations: Vec<(u64, Observation)>,
    verifier: Verifier,
}

fn verify(path: &Path) -> Found {
    let mut reader = CaptureReader::open(path).unwrap();
    let mut verifier = Verifier::new();
    let (mut faults, mut observations) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let verified = verifier.verify(&frame);
        faults.extend(verified.faults.iter().map(|fault| (frame.number, *fault)));
        observations.extend(verified.observations.iter().map(|one| (frame.number, *one)));
    }
    Found { faults, observations, verifier }
}

/// The faults that the cable made on purpose, and no others: the other frames are correct although
/// some were dropped, repeated or late.
#[test]
fn soft_roce_is_sound_but_for_what_was_corrupted() {
    let folder = shared("soft-roce/captures").unwrap_or_else(|| data(""));
    let paths = captures(&folder);
    assert!(paths.len() >= 9);
    for path in paths {
        let faults = verify(&path).faults;
        match path.file_name().unwrap().to_str().unwrap() {
            "fault_write_corrupt_icrc.delivered.pcap"
            | "fault_write_corrupt_data.delivered.pcap" => {
                assert!(matches!(faults[..], [(7, Fault::Icrc { .. })]), "{faults:?}");
            }
            "fault_write_bad_pkey.delivered.pcap" => {
                let expected = Fault::PKey { found: 0x1234, expected: 0xffff };
                assert_eq!(faults, [(6, expected)]);
            }
            "fault_write_bad_qpn.delivered.pcap" => {
                let expected = Fault::DestQp { found: 0x77_0022, expected: 0x22 };
                assert_eq!(faults, [(7, expected)]);
            }
            name => assert_eq!(faults, [], "{name}"),
        }
    }
}

#[test]
fn recovery_is_observed() {
    let found = verify(&data("fault_write_drop_data_once.delivered.pcap"));
    let [(_, Observation::Gap { first, count: 1 }), ..] = found.observations[..] else {
        panic!("{:?}", found.observations)
    };
    let nak = Observation::Nak(NakCode::PsnSequenceError);
    assert_eq!(found.observations.iter().filter(|(_, one)| *one == nak).count(), 1);
    let filled = Observation::FillsGap { psn: first };
    assert_eq!(found.observations.iter().filter(|(_, one)| *one == filled).count(), 1);
    let [requests, responses] = found.verifier.flows().flows() else { panic!("two flows") };
    assert_eq!((requests.peer(), responses.peer()), (Some(1), Some(0)));
    assert_eq!(requests.counters().messages, 10);
    assert_eq!(requests.counters().new_payload_bytes, 10 * 4096, "with the one that came late");
    assert_eq!(responses.counters().naks_of(NakCode::PsnSequenceError), 1);
    assert_eq!((requests.missing(), requests.unacknowledged_messages()), (0, 0));

    let found = verify(&data("fault_send_rnr.pcap"));
    let responses = &found.verifier.flows().flows()[1];
    assert_eq!((responses.counters().rnr_naks, responses.counters().naks_total()), (6, 6));
}

/// Frames of adapters, one by one: deviations of theirs are observations, not faults.
#[test]
fn hardware_is_sound() {
    let Some(folder) = shared("vectors") else { return };
    for name in ["nic_capture.pcap", "nic_capture_b.pcap", "hw_captures.pcap"] {
        let found = verify(&folder.join(name));
        assert_eq!(found.faults, [], "{name}");
        assert!(found.verifier.totals().frames > 10);
    }
    for path in captures(&folder.join("pcap_variants")) {
        let found = verify(&path);
        assert_eq!(found.faults, [], "{}", path.display());
        assert_eq!(found.verifier.totals().frames, 73);
    }
    let Some(folder) = shared("captures") else { return };
    for path in captures(&folder) {
        let found = verify(&path);
        assert_eq!(found.faults, [], "{}", path.display());
    }
}

/// Every result of the ICRC check is the one that the vectors list.
#[test]
fn icrc_verdicts_are_those_listed() {
    let Some(folder) = shared("vectors") else { return };
    let mut compared = 0;
    for path in captures(&folder) {
        let Ok(text) = fs::read_to_string(path.with_extension("json")) else { continue };
        let listed: serde_json::Value = serde_json::from_str(&text).unwrap();
        let Some(vectors) = listed["vectors"].as_array() else { continue };
        let mut reader = CaptureReader::open(&path).unwrap();
        let mut verifier = Verifier::new();
        for vector in vectors {
            let frame = reader.next_frame().expect("a frame for each vector").unwrap();
            let name = vector["name"].as_str().unwrap();
            let verified = verifier.verify(&frame);
            assert_eq!(verified.dissection.protocol.name(), vector["proto"], "{name}");
            let expected = match vector["icrc_ok"].as_bool() {
                Some(true) => "ok",
                Some(false) => "bad",
                None => "absent",
            };
            assert_eq!(verified.dissection.icrc.name(), expected, "{name}");
            assert_eq!(verified.dissection.fcs, Checksum::Absent, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}
