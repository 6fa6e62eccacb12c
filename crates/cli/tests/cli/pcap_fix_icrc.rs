//! `rocelab pcap fix-icrc`.

use std::fs;

use crate::program::{Sandbox, repository};

/// A sandbox with a capture of Soft-RoCE of 82 frames, in which one ICRC is wrong.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let capture = "crates/capture/tests/data/fault_write_corrupt_icrc.delivered.pcap";
    sandbox.write("wrong.pcap", fs::read(repository(capture)).unwrap());
    sandbox
}

#[test]
fn the_copy_has_no_wrong_icrc() {
    let sandbox = sandbox();
    assert_eq!(sandbox.rocelab(&["pcap", "verify", "wrong.pcap"]).code, Some(1));
    let answer = sandbox.succeeds(&["pcap", "fix-icrc", "wrong.pcap", "--out", "right.pcap"]);
    assert_eq!(answer, "82 frames, 1 ICRC corrected: right.pcap\n");
    let verified = sandbox.succeeds(&["pcap", "verify", "right.pcap"]);
    assert!(verified.ends_with("82 frames, no faults\n"), "{verified}");

    let output = sandbox.program(&["pcap", "fix-icrc", "wrong.pcap", "-o", "-"]).output().unwrap();
    assert_eq!(output.stdout, fs::read(sandbox.path("right.pcap")).unwrap());
}

#[test]
fn neither_the_input_nor_an_existing_file_is_lost() {
    let sandbox = sandbox();
    let before = fs::read(sandbox.path("wrong.pcap")).unwrap();
    for options in [&["--out", "wrong.pcap"][..], &["--out", "./wrong.pcap", "--force"]] {
        let ended = sandbox.rocelab(&[&["pcap", "fix-icrc", "wrong.pcap"][..], options].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains("is the capture itself, which would be lost"), "{ended:?}");
        assert_eq!(fs::read(sandbox.path("wrong.pcap")).unwrap(), before);
    }
    sandbox.write("mine.pcap", "mine");
    let ended = sandbox.rocelab(&["pcap", "fix-icrc", "wrong.pcap", "--out", "mine.pcap"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(sandbox.text("mine.pcap"), "mine");
}

#[test]
fn a_capture_that_is_cut_off_leaves_no_copy() {
    let sandbox = sandbox();
    let whole = fs::read(sandbox.path("wrong.pcap")).unwrap();
    sandbox.write("cut.pcap", &whole[..whole.len() - 10]);
    let ended = sandbox.rocelab(&["pcap", "fix-icrc", "cut.pcap", "--out", "right.pcap"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.contains("cut.pcap: the capture is cut off after frame 81"), "{ended:?}");
    assert!(!sandbox.path("right.pcap").exists());
}

/// A capture of which nothing can be looked into would be copied in vain.
#[test]
fn a_capture_of_another_link_type_is_an_error() {
    let sandbox = sandbox();
    let mut other = fs::read(sandbox.path("wrong.pcap")).unwrap();
    other[20] = 147;
    sandbox.write("other.pcap", other);
    let ended = sandbox.rocelab(&["pcap", "fix-icrc", "other.pcap", "--out", "right.pcap"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected = "other.pcap: none of its frames (82) can be looked into, because link type 147 (USER0) is not read here";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    assert!(!sandbox.path("right.pcap").exists());
}

#[test]
fn frames_of_another_link_type_are_told() {
    let sandbox = sandbox();
    let frame = fs::read(sandbox.path("wrong.pcap")).unwrap()[40..40 + 62].to_vec();
    sandbox.write("mixed.pcapng", crate::pcap_interfaces::mixed(&frame));
    let answer = sandbox.succeeds(&["pcap", "fix-icrc", "mixed.pcapng", "--out", "right.pcapng"]);
    let (first, second) = answer.split_once('\n').unwrap();
    assert!(first.starts_with("4 frames, ") && first.ends_with(": right.pcapng"), "{answer}");
    assert_eq!(second, "2 frames of link type 147 (USER0) were not looked into\n");
}
