//! `rocelab pcap decode`: which frames, and in which form.

use crate::program::{Sandbox, repository_argument};

/// A capture of Soft-RoCE: writes, and their acknowledgements.
fn capture() -> String {
    repository_argument("crates/capture/tests/data/fault_write_corrupt_icrc.delivered.pcap")
}

fn lines(sandbox: &Sandbox, options: &[&str]) -> Vec<String> {
    let capture = capture();
    let answer = sandbox.succeeds(&[&["pcap", "decode", &capture][..], options].concat());
    answer.lines().map(str::to_owned).collect()
}

#[test]
fn frames_are_chosen_by_opcode_and_time() {
    let sandbox = Sandbox::new();
    let all = lines(&sandbox, &[]);
    assert_eq!(all.len(), 82);
    let with =
        |text: &str| -> Vec<_> { all.iter().filter(|line| line.contains(text)).cloned().collect() };

    let last = with("RC_RDMA_WRITE_LAST");
    assert_eq!(lines(&sandbox, &["--opcode", "rc_rdma_write_last"]), last);
    assert_eq!(lines(&sandbox, &["--opcode", "0x08"]), last);
    let both = lines(&sandbox, &["--opcode", "RC_ACKNOWLEDGE", "--opcode", "RC_RDMA_WRITE_LAST"]);
    assert_eq!(both.len(), last.len() + with("RC_ACKNOWLEDGE").len());
    assert!(lines(&sandbox, &["--opcode", "RC_ACKNOWLEDGE", "--qp", "0x1"]).is_empty());

    let time = |line: &String| line.split(' ').nth(1).unwrap().to_owned() + "s";
    let (from, to) = (time(&all[9]), time(&all[19]));
    assert_eq!(lines(&sandbox, &["--from", &from, "--to", &to]), all[9..19]);
    assert_eq!(lines(&sandbox, &["--from", &from, "--count", "3"]), all[9..12]);
    assert_eq!(lines(&sandbox, &["--from", "+0s"]), all);
    assert!(lines(&sandbox, &["--to", "+0s"]).is_empty());
}

#[test]
fn frames_are_chosen_by_queue_pair() {
    let sandbox = Sandbox::new();
    let description = "[[message]]\nverb = \"write\"\nbytes = 5000\n[[message]]\nverb = \"acknowledge\"\n\
        [[message]]\nverb = \"send\"\ntransport = \"UD\"\nbytes = 8\nsrc_qp = 0x30\n[[message]]\nverb = \"pfc\"\n";
    sandbox.write("frames.toml", description);
    sandbox.succeeds(&["pcap", "make", "frames.toml", "--out", "frames.pcap"]);
    for (options, count) in [
        (&["--qp", "0x11"][..], 6),
        (&["--qp", "17"], 6),
        (&["--qp", "0x12"], 1),
        // As the source: only the datagram names it.
        (&["--qp", "0x30"], 1),
        (&["--qp", "0x12", "--qp", "0x30"], 2),
        (&["--qp", "0x11", "--opcode", "UD_SEND_ONLY"], 1),
        (&["--qp", "0x13"], 0),
        (&[], 8),
    ] {
        let answer = sandbox.succeeds(&[&["pcap", "decode", "frames.pcap"][..], options].concat());
        assert_eq!(answer.lines().count(), count, "{options:?}: {answer}");
    }
}

#[test]
fn the_tree_and_the_bytes_of_a_frame_are_told() {
    let sandbox = Sandbox::new();
    let tree = lines(&sandbox, &["--tree", "--count", "1"]).join("\n");
    for part in [
        "Frame 1: roce_v2_ipv4\n",
        "\nEthernet, bytes 0 to 13\n    destination: 52:54:00:00:00:01\n",
        "\nUDP, bytes 34 to 41\n",
        "\nBTH, bytes 42 to 53\n    opcode: RC_RDMA_WRITE_FIRST\n",
        "\nRETH, bytes 54 to 69\n",
        "\nPayload, bytes 70 to 1093: 1024 bytes\n",
        ", ok",
    ] {
        assert!(tree.contains(part), "no {part} in {tree}");
    }
    let hex = lines(&sandbox, &["--hex", "--count", "2"]);
    assert!(
        hex[0].starts_with("# 1 ") && hex[1].starts_with("0000  52 54 00 00 00 01 "),
        "{hex:?}"
    );
    assert!(hex[1].ends_with("|RT....RT......E.|"), "{hex:?}");
    assert_eq!(hex.iter().filter(|line| line.starts_with("# ")).count(), 2);
}

#[test]
fn frames_are_chosen_by_address_protocol_codepoint_and_interface() {
    let sandbox = Sandbox::new();
    let description = "source = \"10.0.0.1\"\ndestination = \"10.0.0.2\"\necn = \"ect0\"\n\
        [[message]]\nverb = \"write\"\nbytes = 5000\n[[message]]\nverb = \"acknowledge\"\necn = \"ce\"\n\
        [[message]]\nverb = \"cnp\"\n[[message]]\nverb = \"pfc\"\n";
    sandbox.write("frames.toml", description);
    sandbox.succeeds(&["pcap", "make", "frames.toml", "--out", "frames.pcapng"]);
    for (options, count) in [
        (&["--address", "10.0.0.1"][..], 7),
        (&["--address", "10.0.0.3"], 0),
        (&["--address", "01:80:c2:00:00:01"], 1),
        (&["--protocol", "pfc"], 1),
        (&["--protocol", "rocev2"], 7),
        (&["--protocol", "cnp", "--protocol", "pfc"], 2),
        (&["--ecn", "ce"], 1),
        (&["--ecn", "ce", "--ecn", "ect0"], 7),
        (&["--interface", "made"], 8),
        (&["--interface", "0"], 8),
        (
            &["--interface", "made", "--ecn", "ect0", "--protocol", "cnp", "--address", "10.0.0.2"],
            1,
        ),
        (&["--ecn", "ce", "--protocol", "pfc"], 0),
    ] {
        let answer =
            sandbox.succeeds(&[&["pcap", "decode", "frames.pcapng"][..], options].concat());
        assert_eq!(answer.lines().count(), count, "{options:?}: {answer}");
    }
    let ended = sandbox.rocelab(&["pcap", "decode", "frames.pcapng", "--interface", "maid"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected =
        "frames.pcapng: --interface maid: there is no such interface; did you mean made?";
    assert!(ended.stderr.contains(expected), "{ended:?}");
}

#[test]
fn wrong_filters_are_told_with_what_to_write() {
    let sandbox = Sandbox::new();
    for (option, value, expected) in [
        ("--qp", "0x1000000", "is no queue pair; give 0 to 0xffffff"),
        ("--qp", "qp", "is no queue pair"),
        ("--opcode", "RC_SENT_ONLY", "did you mean RC_SEND_ONLY?"),
        ("--address", "10.0.0", "is no address; give one of IPv4 such as 10.0.0.1"),
        ("--protocol", "puase", "did you mean pause?"),
        ("--protocol", "tcp", "write one of roce, roce_v2, cnp, roce_v1"),
        ("--ecn", "ect", "did you mean ect"),
        ("--from", "12", "+1ms counts from the first frame"),
        ("--to", "-1ms", "+1ms counts from the first frame"),
    ] {
        let ended = sandbox.rocelab(&["pcap", "decode", &capture(), option, value]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(expected), "no {expected} in {}", ended.stderr);
        assert!(ended.stderr.contains(value), "no {value} in {}", ended.stderr);
    }
    let ended = sandbox.rocelab(&["pcap", "decode", &capture(), "--tree", "--json"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}
