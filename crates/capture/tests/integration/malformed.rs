//! Malformed frames are read as far as they go.

use rocelab_capture::{CaptureReader, Decoded, Tree, Verifier};
use serde_json::Value;

use crate::tunnels::{capture, ethernet, frames, ipv4, vxlan};

/// A frame of Soft-RoCE: Ethernet to byte 13, IPv4 to 33, UDP to 41, BTH to 53, RETH to 69, payload.
fn frame() -> Vec<u8> {
    frames().remove(0)
}

/// Tree, JSON and faults of a frame.
fn shown(frame: Vec<u8>) -> (String, Value, Vec<String>) {
    let file = capture(1, &[frame]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let captured = reader.next_frame().unwrap().unwrap();
    let verified = verifier.verify(&captured);
    let json = serde_json::to_value(Decoded(&verified)).unwrap();
    let faults = verified.faults.iter().map(ToString::to_string).collect();
    let tree = Tree(&verified).to_string();
    assert!(verifier.flows().flows().is_empty(), "a malformed packet is in no flow");
    assert!(verifier.opcodes().is_empty(), "nor is its opcode counted");
    (tree, json, faults)
}

const BTH: &str = "\nBTH, bytes 42 to 53\n    opcode: RC_";

#[test]
fn headers_before_the_error_are_told() {
    let wrong_length = |at: usize, value: u16| {
        let mut frame = frame();
        frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
        frame
    };
    let mut without_icrc = wrong_length(16, 40);
    without_icrc[38..40].copy_from_slice(&20_u16.to_be_bytes());
    without_icrc.truncate(54);
    let mut send_without_icrc = without_icrc.clone();
    send_without_icrc[42] = 0x04;
    for (frame, reason) in [
        (send_without_icrc, "ICRC at byte 54 needs 4 bytes and has 0"),
        (wrong_length(16, 0), "IPv4 at byte 14 has an impossible total length: 0"),
        (wrong_length(16, 9_000), "IPv4 at byte 14 needs 9000 bytes and has "),
        (wrong_length(38, 9_000), "UDP at byte 34 has an impossible length: 9000"),
        (without_icrc, "RETH at byte 54 needs 16 bytes and has 0"),
    ] {
        let (tree, json, faults) = shown(frame);
        for part in ["\nEthernet, bytes 0 to 13\n", "\nIPv4, bytes 14 to 33\n", "\nUDP, ", BTH] {
            assert!(tree.contains(part), "no {part} in {tree}");
        }
        assert!(tree.contains(&format!("\nMalformed: {reason}")), "{tree}");
        assert_eq!(json["bth"]["psn"], 854_893, "{json}");
        assert_eq!(
            (&json["ipv4"]["source"], &json["proto"]),
            (&"10.0.0.2".into(), &"roce_v2_ipv4".into())
        );
        assert!(json["error"].as_str().unwrap().starts_with(reason), "{json}");
        assert!(matches!(&faults[..], [fault] if fault.starts_with("malformed: ")), "{faults:?}");
    }
}

/// A frame that is of no protocol known here is no fault, but says where it was left.
#[test]
fn an_invalid_ip_header_says_where_reading_stopped() {
    let mut frame = frame();
    frame[14] = 0x44;
    let (tree, json, faults) = shown(frame);
    let reason = "IPv4 at byte 14 has an impossible version and IHL: 68";
    assert!(tree.contains("\nEthernet, bytes 0 to 13\n"), "{tree}");
    assert!(tree.contains(&format!("\nNot read further: {reason}")), "{tree}");
    assert_eq!((&json["stopped"], &json["proto"]), (&reason.into(), &"other".into()));
    assert!(faults.is_empty(), "{faults:?}");
}

/// Places count from the beginning of what was captured.
#[test]
fn an_error_in_a_tunnel_has_its_place_in_the_capture() {
    let mut frame = frame();
    frame[39] += 1;
    let (tree, json, _) = shown(ethernet(0x800, &ipv4(17, &vxlan(&frame))));
    assert!(tree.contains("\nBTH, bytes 92 to 103\n"), "{tree}");
    assert!(json["error"].as_str().unwrap().starts_with("UDP at byte 84 has an impossible length"));
}

#[test]
fn a_packet_without_ethernet_header_has_none_and_counts_from_ip() {
    let mut frame = frame().split_off(14);
    frame[25] += 1;
    let file = capture(101, &[frame]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let captured = reader.next_frame().unwrap().unwrap();
    let tree = Tree(&verifier.verify(&captured)).to_string();
    assert!(!tree.contains("Ethernet") && tree.contains("\nBTH, bytes 28 to 39\n"), "{tree}");
    assert!(tree.contains("\nMalformed: UDP at byte 20 has an impossible length"), "{tree}");
}

/// Frames that are wrong only in what receivers check have all their layers.
#[test]
fn a_wrong_header_checksum_and_an_unknown_opcode_do_not_stop() {
    let mut checksum = frame();
    checksum[24] ^= 1;
    let mut opcode = frame();
    opcode[42] = 0x1f;
    for (frame, fault) in [(checksum, "ipv4_checksum"), (opcode, "undefined_opcode: 0x1f")] {
        let file = capture(1, &[frame]);
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let mut verifier = Verifier::new();
        let captured = reader.next_frame().unwrap().unwrap();
        let tree = Tree(&verifier.verify(&captured)).to_string();
        assert!(tree.contains("\nBTH, bytes 42 to 53\n") && tree.contains("\nICRC, "), "{tree}");
        assert!(tree.contains(&format!("\nFault: {fault}")), "{tree}");
    }
}
