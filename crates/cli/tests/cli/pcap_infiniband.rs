//! `rocelab pcap` with native InfiniBand.

use crate::program::{Sandbox, repository_argument};

/// A WRITE with its acknowledgement, a congestion notification, and credits.
const INFINIBAND: &str = r#"
version = "infiniband"
sl = 2

[[message]]
verb = "flow-control"
op = 1

[[message]]
verb = "write"
bytes = 3000
vl = 1

[[message]]
verb = "acknowledge"

[[message]]
verb = "cn"

[[message]]
verb = "flow-control"
vl = 1
fctbs = 4095
fccl = 31
"#;

fn made() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("ib.toml", INFINIBAND);
    for out in ["ib.pcap", "ib.pcapng"] {
        let answer = sandbox.succeeds(&["pcap", "make", "ib.toml", "--out", out]);
        assert_eq!(answer, format!("7 frames: {out}\n"));
    }
    sandbox
}

#[test]
fn each_packet_has_a_line_with_its_lane_and_its_checksums() {
    let sandbox = made();
    let lines = [
        "1 0.000000000 flow control init, vl 0, fctbs 0, fccl 2048, lpcrc ok",
        "2 0.000001000 lid 1 > lid 2, vl 1, sl 2: RC_RDMA_WRITE_FIRST qp 0x000011, psn 0, RETH va \
         0x0000000000001000, r_key 0x00001234, length 3000, payload 1024, icrc ok, vcrc ok",
        "3 0.000002000 lid 1 > lid 2, vl 1, sl 2: RC_RDMA_WRITE_MIDDLE qp 0x000011, psn 1, payload 1024, \
         icrc ok, vcrc ok",
        "4 0.000003000 lid 1 > lid 2, vl 1, sl 2: RC_RDMA_WRITE_LAST qp 0x000011, psn 2, ackreq, payload 952, \
         icrc ok, vcrc ok",
        "5 0.000004000 lid 2 > lid 1, vl 0, sl 2: RC_ACKNOWLEDGE qp 0x000012, psn 2, AETH ACK, msn 1, \
         payload 0, icrc ok, vcrc ok",
        "6 0.000005000 lid 2 > lid 1, vl 0, sl 2: CN qp 0x000012, psn 0, becn, payload 0, icrc ok, vcrc ok",
        "7 0.000006000 flow control, vl 1, fctbs 4095, fccl 31, lpcrc ok",
    ];
    let answer = sandbox.succeeds(&["pcap", "decode", "ib.pcap"]);
    assert_eq!(answer.lines().collect::<Vec<_>>(), lines);
    for (options, numbers) in [
        (&["--protocol", "infiniband_link"][..], &[1, 7][..]),
        (&["--protocol", "infiniband"], &[2, 3, 4, 5, 6]),
        (&["--protocol", "cnp"], &[6]),
        (&["--protocol", "roce"], &[]),
        (&["--opcode", "CN"], &[6]),
        (&["--opcode", "0x80"], &[6]),
        (&["--vl", "1"], &[2, 3, 4, 7]),
        (&["--vl", "1", "--protocol", "infiniband-link"], &[7]),
        (&["--address", "lid:2", "--vl", "0"], &[5, 6]),
        (&["--address", "lid 3"], &[]),
        (&["--qp", "0x12"], &[5, 6]),
    ] {
        let answer = sandbox.succeeds(&[&["pcap", "decode", "ib.pcap"][..], options].concat());
        let expected: Vec<&str> = numbers.iter().map(|number: &usize| lines[number - 1]).collect();
        assert_eq!(answer.lines().collect::<Vec<_>>(), expected, "{options:?}");
    }
    let wrong = sandbox.rocelab(&["pcap", "decode", "ib.pcap", "--vl", "16"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("16 is not in 0..16"), "{wrong:?}");
}

#[test]
fn the_tree_the_bytes_and_json_have_all_of_a_link_packet() {
    let sandbox = made();
    let tree = sandbox.succeeds(&["pcap", "decode", "ib.pcapng", "--tree", "--vl", "1"]);
    let last = tree.split("\n\n").filter(|frame| !frame.is_empty()).last().unwrap();
    let expected = "Frame 7: infiniband_link
    time: 0.000006000 s
    interface: made
    captured_len: 64
    original_len: 64
Flow control packet, bytes 16 to 19
    op: 0
    fctbs: 4095
    vl: 1
    fccl: 31
LPCRC, bytes 20 to 21: 0x89d0, ok
Padding, bytes 22 to 63: 42 bytes";
    assert_eq!(last.trim_end(), expected);
    let hex =
        sandbox.succeeds(&["pcap", "decode", "ib.pcap", "--hex", "--protocol", "infiniband_link"]);
    assert!(hex.contains("\n0010  0f ff 10 1f d0 89 00 00 "), "{hex}");
    let json =
        sandbox.succeeds(&["pcap", "decode", "ib.pcap", "--json", "--protocol", "infiniband_link"]);
    let json: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    let credits = serde_json::json!({ "op": 0, "fctbs": 4095, "vl": 1, "fccl": 31 });
    assert_eq!((&json["flow_control"], &json["lpcrc"]), (&credits, &"ok".into()));
}

#[test]
fn faults_of_every_checksum_are_found() {
    let sandbox = made();
    let answer = sandbox.succeeds(&["pcap", "verify", "ib.pcap"]);
    assert!(answer.ends_with("\n7 frames, no faults\n"), "{answer}");
    assert!(answer.contains("\nCN (0x80)") && answer.contains("\ninfiniband_link"), "{answer}");
    let message = |fault: &str, verb: &str| {
        format!("[[message]]\nverb = \"{verb}\"\nfaults = [\"{fault}\"]\n")
    };
    let wrong = [("icrc", "send"), ("vcrc", "send"), ("lpcrc", "flow-control")];
    let messages: String = wrong.map(|(fault, verb)| message(fault, verb)).concat();
    sandbox.write("wrong.toml", format!("version = \"infiniband\"\n{messages}"));
    sandbox.succeeds(&["pcap", "make", "wrong.toml", "--out", "wrong.pcap"]);
    let ended = sandbox.rocelab(&["pcap", "verify", "wrong.pcap"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    for (number, (fault, _)) in (1..).zip(wrong) {
        let line = format!("  frame {number}: {fault}: found 0x");
        assert!(ended.stdout.contains(&line), "no {line} in {}", ended.stdout);
    }
    let ended = sandbox.rocelab(&["pcap", "verify", "wrong.pcap", "--json"]);
    let objects: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts =
        |object: &serde_json::Value| ["icrc", "vcrc", "lpcrc"].map(|key| object[key].clone());
    assert_eq!(verdicts(&objects[0]), ["bad", "ok", "absent"]);
    assert_eq!(verdicts(&objects[1]), ["ok", "bad", "absent"]);
    assert_eq!(verdicts(&objects[2]), ["absent", "absent", "bad"]);
    assert_eq!(
        objects[3]["protocols"],
        serde_json::json!({ "infiniband": 2, "infiniband_link": 1 })
    );
}

#[test]
fn statistics_are_by_queue_pair_and_lid() {
    let sandbox = made();
    let answer = sandbox.succeeds(&["pcap", "stats", "ib.pcapng"]);
    assert!(answer.contains("lid 1") && answer.contains("0x11"), "{answer}");
    let json = sandbox.succeeds(&["pcap", "stats", "ib.pcapng", "--json"]);
    let connection: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(connection["forward"]["source"], "lid 1");
    assert_eq!(connection["forward"]["new_payload_bytes"], 3000);
    assert_eq!(connection["reverse"]["cnps"], 1);
}

/// Captures that an independent program made, in both of the link types.
#[test]
fn captures_of_another_program_are_right() {
    let sandbox = Sandbox::new();
    for (name, frames) in [("infiniband_247", 3), ("infiniband_erf", 6)] {
        let path = repository_argument(&format!("crates/capture/tests/data/{name}.pcap"));
        let answer = sandbox.succeeds(&["pcap", "verify", &path]);
        assert!(answer.ends_with(&format!("\n{frames} frames, no faults\n")), "{answer}");
    }
}
