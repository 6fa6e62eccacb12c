//! Whatever the bytes: reading them as a capture, verifying it and showing its frames never panics, ends, and gives no
//! frame that is not in them. With corrected ICRCs it is as long, and has no more to correct. The same holds for the bytes as
//! one frame of InfiniBand, in both link types that it has; written in a record, they come back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_capture::{
    CaptureReader, CaptureWriter, Decoded, Direction, Format, HexDump, IcrcCorrection, Interface,
    LinkType, Tree, Verifier,
};
use rocelab_units::{Bandwidth, SimTime};

/// Link types of InfiniBand, and of the records in which it is.
const LINK_TYPES: [u32; 2] = [247, 197];

fuzz_target!(|bytes: &[u8]| {
    check_capture(bytes);
    for link_type in LINK_TYPES {
        check_capture(&one_frame(link_type, bytes));
    }
    check_written(bytes);
});

fn check_capture(bytes: &[u8]) {
    let Ok(mut reader) = CaptureReader::new(bytes) else { return };
    let mut verifier = Verifier::new();
    let mut frames = 0;
    let mut captured = 0;
    while let Some(frame) = reader.next_frame() {
        let Ok(frame) = frame else { break };
        frames += 1;
        captured += frame.bytes.len();
        assert_eq!(frame.number, frames);
        let verified = verifier.verify(&frame);
        if frames < 16 {
            assert!(serde_json::to_string(&verified).is_ok());
            assert!(serde_json::to_string(&Decoded(&verified)).is_ok());
            assert!(!Tree(&verified).to_string().is_empty());
            assert_eq!(HexDump(verified.bytes).to_string().is_empty(), verified.bytes.is_empty());
        }
    }
    assert!(captured <= bytes.len());
    assert_eq!(verifier.totals().frames, frames);
    assert!(serde_json::to_string(&verifier.summary()).is_ok());
    for connection in verifier.flows().connections() {
        assert!(serde_json::to_string(&connection).is_ok());
    }
    check_correction(bytes);
}

/// A classic capture with one frame.
fn one_frame(link_type: u32, bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("a short input");
    let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 0x0004_0000, link_type, 0, 0, len, len];
    let mut file: Vec<u8> = header.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    file.extend_from_slice(bytes);
    file
}

/// What is written as a packet of InfiniBand is in the record that is read.
fn check_written(bytes: &[u8]) {
    let port = Interface {
        name: "port".into(),
        description: String::new(),
        link_type: LinkType::InfiniBand,
        speed: Bandwidth::from_gbps(200),
        fcs: false,
        snap_length: 0,
    };
    let Ok(len) = u16::try_from(bytes.len()) else { return };
    let mut writer = CaptureWriter::new(Format::Pcap, Vec::new(), &[port]).expect("a capture");
    // The longest do not fit into a record.
    if writer.write_frame(0, SimTime::ZERO, Direction::Outbound, bytes, len.into()).is_err() {
        return;
    }
    let file = writer.finish().expect("memory");
    let mut reader = CaptureReader::new(&file[..]).expect("a capture");
    let frame = reader.next_frame().expect("one frame").expect("a whole one");
    assert_eq!(frame.bytes.get(16..16 + bytes.len()), Some(bytes));
    check_capture(&file);
}

fn check_correction(bytes: &[u8]) {
    let correction = |bytes| IcrcCorrection::of(CaptureReader::new(bytes)?);
    let Ok(found) = correction(bytes) else { return };
    let mut output = Vec::new();
    assert!(found.write(bytes, &mut output).is_ok());
    assert_eq!(output.len(), bytes.len());
    assert_eq!(correction(&output).map(|left| left.corrected).unwrap_or(1), 0);
}
