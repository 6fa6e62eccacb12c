//! Frames in tunnels, and in captures without Ethernet headers.

use std::path::Path;
use std::process::Command;

use rocelab_capture::{CaptureReader, Checksum, Decoded, OuterHeader, Tree, Verifier};

/// A capture of Soft-RoCE; the ICRC of frame 7 is wrong.
const CAPTURE: &[u8] = include_bytes!("../data/fault_write_corrupt_icrc.delivered.pcap");
/// Frames that are used of it.
const FRAMES: usize = 12;

/// Frames of Ethernet, IPv4, UDP and InfiniBand's transport.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let mut reader = CaptureReader::new(CAPTURE).unwrap();
    let mut next = || reader.next_frame().unwrap().unwrap().bytes.to_vec();
    (0..FRAMES).map(|_| next()).collect()
}

/// A classic capture of this link type.
pub(crate) fn capture(link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 262_144, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    for (number, frame) in (0_u32..).zip(frames) {
        let len = u32::try_from(frame.len()).unwrap();
        for word in [1, number * 1_000, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

pub(crate) fn ethernet(ether_type: u16, content: &[u8]) -> Vec<u8> {
    let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    [&addresses[..], &ether_type.to_be_bytes(), content].concat()
}

/// An IPv4 packet from 192.0.2.1 to 192.0.2.2.
pub(crate) fn ipv4(protocol: u8, content: &[u8]) -> Vec<u8> {
    let len = u16::try_from(20 + content.len()).unwrap().to_be_bytes();
    let mut header =
        [0x45, 0, len[0], len[1], 0, 1, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    let words = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
    header[10..12].copy_from_slice(&(!folded).to_be_bytes());
    [&header[..], content].concat()
}

/// An IPv6 packet from 2001:db8::1 to 2001:db8::2.
pub(crate) fn ipv6(next_header: u8, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&u16::try_from(content.len()).unwrap().to_be_bytes());
    (header[6], header[7]) = (next_header, 64);
    for address in [8, 24] {
        header[address..address + 4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
    }
    (header[23], header[39]) = (1, 2);
    [&header[..], content].concat()
}

pub(crate) fn vxlan(frame: &[u8]) -> Vec<u8> {
    let len = u16::try_from(16 + frame.len()).unwrap().to_be_bytes();
    let udp = [0xc3, 0x4f, 0x12, 0xb5, len[0], len[1], 0, 0];
    [&udp[..], &[8, 0, 0, 0, 0, 0x12, 0x34, 0], frame].concat()
}

/// GRE with these flags, this protocol and other bytes before the content.
fn gre(flags: u8, protocol: u16, rest: &[u8], content: &[u8]) -> Vec<u8> {
    [&[flags, 0][..], &protocol.to_be_bytes(), rest, content].concat()
}

const ERSPAN_II: [u8; 12] = [0, 0, 0, 1, 0x10, 0x64, 0, 0x2a, 0, 0, 0, 7];
const ERSPAN_III: [u8; 16] = [0, 0, 0, 1, 0x20, 0x64, 0, 0x2a, 0, 0, 0, 7, 0, 0, 0, 0];
const COOKED: [u8; 14] = [0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
const COOKED_2: [u8; 20] = [8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0];

/// Every way to wrap a frame: the link type, and the names of the headers around it.
type Wrapping = (&'static str, u32, fn(&[u8]) -> Vec<u8>, &'static [&'static str]);

const WRAPPINGS: [Wrapping; 13] = [
    ("vxlan", 1, |f| ethernet(0x800, &ipv4(17, &vxlan(f))), &["ethernet", "ipv4", "udp", "vxlan"]),
    (
        "vxlan over IPv6 with a tag",
        1,
        |f| ethernet(0x8100, &[&[0, 5, 0x86, 0xdd][..], &ipv6(17, &vxlan(f))].concat()),
        &["ethernet", "vlan", "ipv6", "udp", "vxlan"],
    ),
    (
        "gre with a key",
        1,
        |f| ethernet(0x800, &ipv4(47, &gre(0x20, 0x6558, &[0, 0, 0, 7], f))),
        &["ethernet", "ipv4", "gre"],
    ),
    (
        "ip in gre",
        1,
        |f| ethernet(0x800, &ipv4(47, &gre(0, 0x800, &[], &f[14..]))),
        &["ethernet", "ipv4", "gre"],
    ),
    (
        "erspan i",
        1,
        |f| ethernet(0x800, &ipv4(47, &gre(0, 0x88be, &[], f))),
        &["ethernet", "ipv4", "gre"],
    ),
    (
        "erspan ii",
        1,
        |f| ethernet(0x800, &ipv4(47, &gre(0x10, 0x88be, &ERSPAN_II, f))),
        &["ethernet", "ipv4", "gre", "erspan_ii"],
    ),
    (
        "erspan iii",
        1,
        |f| ethernet(0x800, &ipv4(47, &gre(0x10, 0x22eb, &ERSPAN_III, f))),
        &["ethernet", "ipv4", "gre", "erspan_iii"],
    ),
    (
        "erspan iii with the platform's header",
        1,
        |f| {
            let mut rest = [&ERSPAN_III[..], &[0; 8]].concat();
            rest[15] = 1;
            ethernet(0x800, &ipv4(47, &gre(0x10, 0x22eb, &rest, f)))
        },
        &["ethernet", "ipv4", "gre", "erspan_iii"],
    ),
    (
        "vxlan in erspan",
        1,
        |f| {
            let inner = ethernet(0x800, &ipv4(17, &vxlan(f)));
            ethernet(0x800, &ipv4(47, &gre(0x10, 0x88be, &ERSPAN_II, &inner)))
        },
        &["ethernet", "ipv4", "gre", "erspan_ii", "ethernet", "ipv4", "udp", "vxlan"],
    ),
    ("raw ip", 101, |f| f[14..].to_vec(), &[]),
    ("raw ipv4", 228, |f| f[14..].to_vec(), &[]),
    ("cooked", 113, |f| [&COOKED[..], &[8, 0], &f[14..]].concat(), &["linux_cooked"]),
    ("cooked 2", 276, |f| [&COOKED_2[..], &f[14..]].concat(), &["linux_cooked"]),
];

/// Opcode, PSN and verdict on the ICRC of every frame.
fn seen(file: &[u8], outer: &[&str]) -> Vec<(u8, u32, &'static str)> {
    let mut reader = CaptureReader::new(file).unwrap();
    let mut verifier = Verifier::new();
    let mut seen = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let verified = verifier.verify(&frame);
        let dissection = &verified.dissection;
        let names: Vec<_> = dissection.outer.iter().map(|layer| layer.header.name()).collect();
        assert_eq!(names, outer);
        let (bth, _) = dissection.bth().expect("a packet");
        seen.push((bth.opcode, bth.psn, dissection.icrc.name()));
    }
    seen
}

#[test]
fn frames_are_found_in_every_wrapping() {
    let frames = frames();
    let plain = seen(&capture(1, &frames), &[]);
    assert_eq!(plain.iter().filter(|frame| frame.2 == "bad").count(), 1);
    assert_eq!(plain.iter().filter(|frame| frame.2 == "ok").count(), FRAMES - 1);
    for (name, link_type, wrap, outer) in WRAPPINGS {
        let wrapped: Vec<_> = frames.iter().map(|frame| wrap(frame)).collect();
        assert_eq!(seen(&capture(link_type, &wrapped), outer), plain, "{name}");
    }
}

/// Skipped, with a note, if tshark is missing.
#[test]
fn tshark_finds_the_same_packets() {
    let frames = frames();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrapped.pcap");
    for (name, link_type, wrap, outer) in WRAPPINGS {
        let wrapped: Vec<_> = frames.iter().map(|frame| wrap(frame)).collect();
        let file = capture(link_type, &wrapped);
        std::fs::write(&path, &file).unwrap();
        let Some(theirs) = tshark(&path) else { return };
        let ours: Vec<_> = seen(&file, outer)
            .into_iter()
            .map(|(opcode, psn, _)| format!("{opcode}\t{psn}"))
            .collect();
        assert_eq!(theirs, ours, "{name}");
    }
}

/// tshark's opcodes and PSNs, a line for each frame.
fn tshark(path: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields"]);
    command.args(["-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn"]);
    match command.output() {
        Ok(output) => {
            let text = String::from_utf8(output.stdout).unwrap();
            Some(text.lines().map(str::to_owned).collect())
        }
        Err(error) => {
            println!("skipped: cannot run tshark: {error}");
            None
        }
    }
}

#[test]
fn what_is_around_a_frame_is_in_json_with_its_place() {
    let wrapped = ethernet(0x800, &ipv4(17, &vxlan(&frames()[0])));
    let file = capture(1, &[wrapped]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let frame = reader.next_frame().unwrap().unwrap();
    let mut verifier = Verifier::new();
    let verified = verifier.verify(&frame);
    assert_eq!(verified.dissection.offset, 50);
    let vxlan = verified.dissection.outer[3];
    assert!(matches!(vxlan.header, OuterHeader::Vxlan(vxlan) if vxlan.vni == 0x1234));
    let json = serde_json::to_value(Decoded(&verified)).unwrap();
    assert_eq!(json["outer"][1]["ipv4"]["source"], "192.0.2.1");
    assert_eq!(json["outer"][3]["vxlan"]["vni"], 0x1234);
    assert_eq!((&json["outer"][3]["offset"], &json["outer"][3]["len"]), (&42.into(), &8.into()));
    assert_eq!(json["ipv4"]["source"], "10.0.0.2");
}

/// A packet that was captured without Ethernet header has none in the answer either.
#[test]
fn no_ethernet_header_is_invented() {
    let file = capture(101, &[frames()[0][14..].to_vec()]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let frame = reader.next_frame().unwrap().unwrap();
    let mut verifier = Verifier::new();
    let verified = verifier.verify(&frame);
    let json = serde_json::to_value(Decoded(&verified)).unwrap();
    assert_eq!((&json["ethernet"], &json["icrc"]), (&serde_json::Value::Null, &"ok".into()));
    let tree = Tree(&verified).to_string();
    assert!(!tree.contains("Ethernet") && tree.contains("\nIPv4, bytes 0 to 19\n"), "{tree}");
}

/// At any length: no panic, no verdict on what is not there, and nothing is looked into that is not a tunnel.
#[test]
fn cut_tunnels_are_read_as_far_as_they_go() {
    let whole = frames().remove(0);
    for (name, link_type, wrap, _) in WRAPPINGS {
        let wrapped = wrap(&whole);
        // All lengths up to the payload, and around the ICRC.
        for len in (0..190).chain(wrapped.len() - 8..wrapped.len()) {
            let mut file = capture(link_type, &[wrapped[..len].to_vec()]);
            let original = u32::try_from(wrapped.len()).unwrap();
            file[36..40].copy_from_slice(&original.to_le_bytes());
            let mut reader = CaptureReader::new(&file[..]).unwrap();
            let frame = reader.next_frame().unwrap().unwrap();
            let mut verifier = Verifier::new();
            let verified = verifier.verify(&frame);
            assert_eq!(verified.dissection.icrc, Checksum::Absent, "{name}, {len} bytes");
            assert!(verified.faults.is_empty(), "{name}, {len} bytes: {:?}", verified.faults);
            assert!(!Tree(&verified).to_string().is_empty());
            if len == wrapped.len() - 4 {
                assert_eq!(verified.dissection.bth().map(|(bth, _)| bth.psn), Some(854_893));
            }
        }
    }
}

#[test]
fn fragments_and_invalid_headers_are_not_looked_into() {
    let frame = &frames()[0];
    let mut fragment = ethernet(0x800, &ipv4(17, &vxlan(frame)));
    fragment[20] = 0x20;
    let mut without_vni = ethernet(0x800, &ipv4(17, &vxlan(frame)));
    without_vni[42] = 0;
    let other_version = ethernet(0x800, &ipv4(47, &gre(1, 0x6558, &[], frame)));
    let routed = ethernet(0x800, &ipv4(47, &gre(0x40, 0x6558, &[0; 8], frame)));
    let mut version_of_gre = other_version.clone();
    (version_of_gre[34], version_of_gre[35]) = (0, 1);
    for frame in [fragment, without_vni, routed, version_of_gre] {
        let file = capture(1, &[frame]);
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let frame = reader.next_frame().unwrap().unwrap();
        let mut verifier = Verifier::new();
        let verified = verifier.verify(&frame);
        assert!(verified.dissection.outer.is_empty(), "{:?}", verified.dissection.outer);
        assert!(verified.dissection.bth().is_none());
    }
}
