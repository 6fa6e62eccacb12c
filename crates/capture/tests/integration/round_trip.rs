//! Frames that are read are those that were written, in both formats.

use rocelab_capture::{
    CaptureReader, CaptureWriter, Direction, Format, Interface, LinkType, ReadError,
};
use rocelab_units::{Bandwidth, SimTime};

type Frame = (usize, u64, Direction, Vec<u8>, u32);

fn interface(name: &str, fcs: bool, snap_length: u32) -> Interface {
    Interface {
        name: name.into(),
        description: format!("{name} port 0"),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(400),
        fcs,
        snap_length,
    }
}

fn write(format: Format, interfaces: &[Interface], frames: &[Frame]) -> Vec<u8> {
    let mut writer = CaptureWriter::new(format, Vec::new(), interfaces).unwrap();
    for (interface, ps, direction, bytes, original) in frames {
        let time = SimTime::from_ps(*ps);
        writer.write_frame(*interface, time, *direction, bytes, *original).unwrap();
    }
    writer.finish().unwrap()
}

fn frames() -> Vec<Frame> {
    vec![
        (0, 0, Direction::Outbound, vec![1; 64], 64),
        (1, 1_680, Direction::Inbound, vec![2; 65], 65),
        (0, 999_999_999_999, Direction::Inbound, (0..=255).collect(), 256),
        (1, 18_446_744_073_709_551_615, Direction::Outbound, vec![4; 3], 9_216),
    ]
}

#[test]
fn pcapng_keeps_interfaces_directions_and_nanoseconds() {
    let interfaces = [interface("host-0", true, 0), interface("leaf-0:3", false, 0)];
    let file = write(Format::PcapNg, &interfaces, &frames());

    let mut reader = CaptureReader::new(&file[..]).unwrap();
    assert_eq!(reader.format(), Format::PcapNg);
    for (number, (interface, ps, direction, bytes, original)) in (1..).zip(frames()) {
        let frame = reader.next_frame().expect("a frame").unwrap();
        assert_eq!(frame.number, number);
        assert_eq!(frame.interface, interface);
        assert_eq!(frame.time.as_nanos(), u128::from(ps / 1_000));
        assert_eq!(frame.sim_time(), Some(SimTime::from_ps(ps / 1_000 * 1_000)));
        assert_eq!(frame.direction, Some(direction));
        assert_eq!(frame.bytes, bytes);
        assert_eq!(frame.original_length, original);
        assert_eq!(frame.is_cut(), original as usize != bytes.len());
        assert_eq!(frame.fcs_length, if interface == 0 { 4 } else { 0 });
        assert_eq!(frame.link_type, 1);
    }
    assert!(reader.next_frame().is_none());

    let [first, second] = reader.interfaces() else { panic!("two interfaces") };
    assert_eq!(first.name.as_deref(), Some("host-0"));
    assert_eq!(first.description.as_deref(), Some("host-0 port 0"));
    assert_eq!(first.speed, Some(Bandwidth::from_gbps(400)));
    assert_eq!((first.fcs_length, second.fcs_length), (4, 0));
}

/// Several files joined end to end are one file of several sections, each of which numbers its
/// interfaces from 0.
#[test]
fn interfaces_are_numbered_through_all_sections() {
    let first = [interface("host-0", true, 0), interface("leaf-0:3", false, 0)];
    let mut file = write(Format::PcapNg, &first, &frames());
    let second = [interface("host-1", false, 0)];
    let frame = (0, 5_000, Direction::Inbound, vec![7; 64], 64);
    file.extend(write(Format::PcapNg, &second, &[frame]));

    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let name = frame.described.and_then(|interface| interface.name.clone());
        found.push((frame.interface, name.unwrap_or_default()));
    }
    let expected = [(0, "host-0"), (1, "leaf-0:3"), (0, "host-0"), (1, "leaf-0:3"), (2, "host-1")];
    assert_eq!(found, expected.map(|(number, name)| (number, name.to_owned())));
}

#[test]
fn classic_pcap_keeps_nanoseconds_and_the_fcs() {
    let one: Vec<Frame> = frames().into_iter().filter(|frame| frame.0 == 0).collect();
    for fcs in [false, true] {
        let file = write(Format::Pcap, &[interface("host-0", fcs, 0)], &one);
        assert_eq!(file[..4], [0x4d, 0x3c, 0xb2, 0xa1], "nanoseconds, little endian");
        assert_eq!(file[20..24], if fcs { 0x2400_0001_u32 } else { 1 }.to_le_bytes());

        let mut reader = CaptureReader::new(&file[..]).unwrap();
        for (_, ps, _, bytes, original) in &one {
            let frame = reader.next_frame().expect("a frame").unwrap();
            assert_eq!(frame.time.as_nanos(), u128::from(ps / 1_000));
            assert_eq!(frame.bytes, bytes);
            assert_eq!(frame.original_length, *original);
            assert_eq!(frame.fcs_length, if fcs { 4 } else { 0 });
            assert_eq!(frame.direction, None);
        }
        assert!(reader.next_frame().is_none());
    }
}

#[test]
fn snap_length_cuts_what_is_written() {
    for format in [Format::PcapNg, Format::Pcap] {
        let long = [(0, 0, Direction::Inbound, vec![7; 1_100], 1_100)];
        let file = write(format, &[interface("host-0", true, 96)], &long);
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let frame = reader.next_frame().unwrap().unwrap();
        assert_eq!((frame.bytes.len(), frame.original_length), (96, 1_100));
        assert!(frame.is_cut());
    }
}

#[test]
fn equal_frames_make_equal_bytes_and_name_only_the_application() {
    let interfaces = [interface("host-0", true, 0), interface("host-1", true, 0)];
    let file = write(Format::PcapNg, &interfaces, &frames());
    assert_eq!(file, write(Format::PcapNg, &interfaces, &frames()));
    // A section header of 28 bytes, one option of 4 + 8, the end of options.
    assert_eq!(file[4], 28 + 12 + 4);
    assert_eq!(&file[28..35], b"rocelab");
}

#[test]
fn a_cut_file_gives_its_whole_frames_and_then_one_clean_error() {
    let interfaces = [interface("host-0", false, 0)];
    let frames: Vec<Frame> =
        (0..3).map(|i| (0, i * 1_000, Direction::Inbound, vec![3; 100], 100)).collect();
    for format in [Format::PcapNg, Format::Pcap] {
        let whole = write(format, &interfaces, &frames);
        let mut ends_between_frames = 0;
        for length in 0..whole.len() {
            let mut reader = match CaptureReader::new(&whole[..length]) {
                Ok(reader) => reader,
                Err(ReadError::Truncated { frames: 0 }) => continue,
                Err(error) => panic!("{format:?} cut to {length} bytes: {error}"),
            };
            let mut whole_frames = 0;
            let end = loop {
                match reader.next_frame() {
                    Some(Ok(_)) => whole_frames += 1,
                    Some(Err(error)) => break Some(error),
                    None => break None,
                }
            };
            match end {
                Some(ReadError::Truncated { frames }) => assert_eq!(frames, whole_frames),
                Some(error) => panic!("{format:?} cut to {length} bytes: {error}"),
                None => ends_between_frames += 1,
            }
            assert!(reader.next_frame().is_none());
            assert!(whole_frames < 3);
        }
        let without_frames = if format == Format::PcapNg { 2 } else { 1 };
        assert_eq!(ends_between_frames, without_frames + 2, "{format:?}");
    }
}

#[test]
fn other_files_are_recognised() {
    let error = CaptureReader::new(&b"#!/bin/sh"[..]).unwrap_err();
    assert!(matches!(error, ReadError::NotACapture { magic: 0x2321_2f62 }), "{error}");
    assert!(matches!(CaptureReader::new(&b""[..]), Err(ReadError::Truncated { frames: 0 })));
    assert!(matches!(CaptureReader::open("does/not/exist"), Err(ReadError::Io { .. })));
}

#[test]
fn impossible_input_to_the_writer_is_refused() {
    let two = [interface("a", false, 0), interface("b", false, 0)];
    let error = CaptureWriter::new(Format::Pcap, Vec::new(), &two).unwrap_err();
    assert!(error.to_string().contains("holds one interface, not 2"), "{error}");

    let mut writer = CaptureWriter::new(Format::PcapNg, Vec::new(), &two).unwrap();
    let error = writer.write_frame(2, SimTime::ZERO, Direction::Inbound, &[0; 64], 64);
    assert_eq!(error.unwrap_err().to_string(), "interface 2 of a capture with 2");
    let error = writer.write_frame(0, SimTime::ZERO, Direction::Inbound, &[0; 64], 60);
    assert_eq!(error.unwrap_err().to_string(), "64 bytes of a frame of 60");
}
