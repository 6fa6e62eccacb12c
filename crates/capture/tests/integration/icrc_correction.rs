//! Captures whose ICRCs are made right.

use rocelab_capture::{CaptureReader, Format, IcrcCorrection, Recipe, Verifier};
use rocelab_wire::{Udp, crc_to_wire, fcs};

use crate::tunnels::{capture, ethernet, frames, ipv4, ipv6, vxlan};

/// Frames with faults: wrong ICRCs, of which one is around an FCS.
const DESCRIPTION: &str = "fcs = true\n\
    [[message]]\nverb = \"write\"\nbytes = 5000\nfaults = [\"icrc\"]\nfaulty = [1, 3]\n\
    [[message]]\nverb = \"acknowledge\"\nfaults = [\"icrc\", \"fcs\"]\n\
    [[message]]\nverb = \"pfc\"\n";

fn corrected(file: &[u8]) -> (IcrcCorrection, Vec<u8>) {
    let correction = IcrcCorrection::of(CaptureReader::new(file).unwrap()).unwrap();
    let mut output = Vec::new();
    correction.write(file, &mut output).unwrap();
    (correction, output)
}

/// Texts of the faults of all frames.
fn faults(file: &[u8]) -> Vec<String> {
    let mut reader = CaptureReader::new(file).unwrap();
    let mut verifier = Verifier::new();
    let mut all = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        all.extend(verifier.verify(&frame).faults.iter().map(ToString::to_string));
    }
    all
}

#[test]
fn icrcs_are_right_and_nothing_else_is_changed() {
    for format in [Format::Pcap, Format::PcapNg] {
        let recipe = Recipe::parse("frames.toml".as_ref(), DESCRIPTION).unwrap();
        let file = recipe.write(format, Vec::new()).unwrap();
        assert_eq!(faults(&file).iter().filter(|fault| fault.starts_with("icrc")).count(), 3);
        let (correction, output) = corrected(&file);
        assert_eq!((correction.frames, correction.corrected), (7, 3));
        let left = faults(&output);
        assert!(left.iter().all(|fault| !fault.starts_with("icrc")), "{left:?}");
        // The FCS of the first two was right, and is right again. That of the third one was wrong, and is left so.
        assert_eq!(left.iter().filter(|fault| fault.starts_with("fcs")).count(), 1, "{left:?}");
        let changed = file.iter().zip(&output).filter(|(one, other)| one != other).count();
        assert_eq!(file.len(), output.len());
        assert!((3..=20).contains(&changed), "{changed} bytes, of at most five CRCs");
        // A second time there is nothing to do.
        let (again, same) = corrected(&output);
        assert_eq!((again.corrected, same == output), (0, true));
    }
}

#[test]
fn a_capture_that_became_shorter_is_an_error() {
    let recipe = Recipe::parse("frames.toml".as_ref(), DESCRIPTION).unwrap();
    let file = recipe.write(Format::Pcap, Vec::new()).unwrap();
    let correction = IcrcCorrection::of(CaptureReader::new(&file[..]).unwrap()).unwrap();
    let shorter = &file[..1_000];
    assert!(correction.write(shorter, Vec::new()).is_err());
}

/// With the right UDP checksum at this place; the addresses of IP before it have `address_len` bytes each.
fn with_udp_checksum(mut bytes: Vec<u8>, place: usize, address_len: usize) -> Vec<u8> {
    let udp = Udp::parse(&bytes[place..]).unwrap();
    let address = |at: usize| match address_len {
        4 => <[u8; 4]>::try_from(&bytes[at..at + 4]).unwrap().into(),
        _ => <[u8; 16]>::try_from(&bytes[at..at + 16]).unwrap().into(),
    };
    let (source, destination) = (address(place - 2 * address_len), address(place - address_len));
    let data = &bytes[place + Udp::LEN..place + usize::from(udp.length)];
    let checksum = udp.computed_checksum(source, destination, data);
    assert_ne!(checksum, 0);
    bytes[place + 6..place + 8].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

/// Whether the UDP checksum at this place is right.
fn udp_checksum_is_right(bytes: &[u8], place: usize, address_len: usize) -> bool {
    with_udp_checksum(bytes.to_vec(), place, address_len) == bytes
}

fn with_fcs(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc_to_wire(fcs(&bytes)));
    bytes
}

fn only_frame(file: &[u8]) -> Vec<u8> {
    let mut reader = CaptureReader::new(file).unwrap();
    reader.next_frame().unwrap().unwrap().bytes.to_vec()
}

/// Places of UDP headers, and the length of the addresses before them.
type Datagrams = &'static [(usize, usize)];

#[test]
fn checksums_around_the_icrc_are_right_again() {
    let mut wrong = frames().remove(0);
    *wrong.last_mut().unwrap() ^= 1;
    let over_ipv6 = || ethernet(0x86dd, &ipv6(17, &wrong[34..]));
    let own = with_udp_checksum(wrong.clone(), 34, 4);
    let in_vxlan = ethernet(0x800, &ipv4(17, &vxlan(&own)));
    let in_vxlan_6 = ethernet(0x86dd, &ipv6(17, &vxlan(&own)));
    let cases: [(&str, Vec<u8>, Datagrams); 5] = [
        ("ipv4", own.clone(), &[(34, 4)]),
        ("ipv6", with_udp_checksum(over_ipv6(), 54, 16), &[(54, 16)]),
        ("vxlan", with_udp_checksum(in_vxlan, 34, 4), &[(34, 4), (84, 4)]),
        ("vxlan over ipv6", with_udp_checksum(in_vxlan_6, 54, 16), &[(54, 16), (104, 4)]),
        ("none", wrong.clone(), &[]),
    ];
    for (name, frame, datagrams) in cases {
        for frame in [frame.clone(), with_fcs(frame)] {
            let has_fcs = only_frame(&capture(1, std::slice::from_ref(&frame)))
                .ends_with(&crc_to_wire(fcs(&frame[..frame.len() - 4])));
            let file = capture(1, std::slice::from_ref(&frame));
            let (correction, output) = corrected(&file);
            assert_eq!(correction.corrected, 1, "{name}");
            let right = only_frame(&output);
            assert_ne!(right, frame, "{name}");
            for (place, address_len) in datagrams {
                assert!(udp_checksum_is_right(&frame, *place, *address_len), "{name}: before");
                assert!(udp_checksum_is_right(&right, *place, *address_len), "{name}: {place}");
            }
            if has_fcs {
                let (bytes, found) = right.split_last_chunk().unwrap();
                assert_eq!(*found, crc_to_wire(fcs(bytes)), "{name}: the FCS");
            }
            let left: Vec<_> = faults(&output);
            assert!(left.iter().all(|fault| !fault.starts_with("icrc")), "{name}: {left:?}");
            let (again, same) = corrected(&output);
            assert_eq!((again.corrected, same == output), (0, true), "{name}: again");
        }
    }
}

/// A checksum that was wrong, or that is none, says nothing of the packet, and stays.
#[test]
fn wrong_checksums_stay() {
    let mut wrong = frames().remove(0);
    *wrong.last_mut().unwrap() ^= 1;
    wrong[40..42].copy_from_slice(&[0x12, 0x34]);
    wrong.extend([1, 2, 3, 4]);
    let file = capture(1, &[wrong.clone()]);
    let right = only_frame(&corrected(&file).1);
    assert_eq!((&right[40..42], &right[right.len() - 4..]), (&[0x12, 0x34][..], &[1, 2, 3, 4][..]));
}

#[test]
fn frames_of_other_link_types_are_counted() {
    let file = capture(147, &frames());
    let (correction, output) = corrected(&file);
    let reasons: Vec<_> = correction.not_looked_into().collect();
    assert!(matches!(reasons[..], [(_, 12)]), "{reasons:?}");
    assert_eq!(reasons[0].0.to_string(), "link type 147 (USER0)");
    assert_eq!(output, file);
}
