//! Captures of other programs, if the project's public vectors are beside the repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rocelab_capture::{CaptureReader, Format};

/// Frames, bytes captured and original bytes of a file, read to its end without error.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    frames: u64,
    captured: usize,
    original: u64,
    first_time: Duration,
}

fn vectors() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no folder of vectors at {}", folder.display());
    None
}

fn read(path: &Path) -> Content {
    let mut reader = CaptureReader::open(path).unwrap();
    let mut content = Content { frames: 0, captured: 0, original: 0, first_time: Duration::ZERO };
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if content.frames == 0 {
            content.first_time = frame.time;
        }
        content.frames += 1;
        content.captured += frame.bytes.len();
        content.original += u64::from(frame.original_length);
        assert_eq!(frame.number, content.frames);
    }
    content
}

#[test]
fn the_same_frames_in_every_variant_of_the_formats() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("pcap_variants");
    let plain = read(&folder.join("nsec_le.pcap"));
    assert_eq!(plain.frames, 73);
    assert_eq!(plain.captured as u64, plain.original);

    let same = ["nsec_be.pcap", "pcapng_nsec.pcapng"];
    for name in same {
        assert_eq!(read(&folder.join(name)), plain, "{name}");
    }
    for name in ["usec_be.pcap", "usec_le.pcap"] {
        let content = read(&folder.join(name));
        assert_eq!((content.frames, content.captured), (73, plain.captured), "{name}");
        assert_eq!(content.first_time.subsec_nanos() % 1_000, 0, "{name}");
    }
    // Frames below 60 bytes were padded before the FCS, so the sum is not exactly 4 bytes more for
    // each frame.
    for name in ["fcs_in_linktype_bits.pcap", "fcs_undeclared.pcap", "pcapng_fcslen4.pcapng"] {
        let content = read(&folder.join(name));
        assert_eq!(content.frames, 73, "{name}");
        assert!(content.captured >= plain.captured + 4 * 73, "{name}");
    }
    let cut = read(&folder.join("pcapng_snap96.pcapng"));
    assert_eq!((cut.frames, cut.original), (73, plain.original));
    assert!(cut.captured <= 96 * 73);
}

#[test]
fn a_declared_fcs_is_reported_and_an_undeclared_one_is_not() {
    let Some(folder) = vectors() else { return };
    let folder = folder.join("pcap_variants");
    for (name, fcs_length) in [
        ("fcs_in_linktype_bits.pcap", 4),
        ("pcapng_fcslen4.pcapng", 4),
        ("fcs_undeclared.pcap", 0),
        ("nsec_le.pcap", 0),
    ] {
        let mut reader = CaptureReader::open(folder.join(name)).unwrap();
        let frame = reader.next_frame().unwrap().unwrap();
        assert_eq!((frame.fcs_length, frame.link_type), (fcs_length, 1), "{name}");
    }
}

#[test]
fn whole_captures_have_the_frames_of_their_manifest() {
    let Some(folder) = vectors() else { return };
    let expected = [
        ("softroce_run1.pcap", 1_186, 489_320),
        ("nic_capture.pcap", 50, 35_948),
        ("nic_capture_b.pcap", 55, 37_614),
    ];
    for (name, frames, bytes) in expected {
        let content = read(&folder.join(name));
        assert_eq!((content.frames, content.captured), (frames, bytes), "{name}");
    }
    let groups = [
        ("built", 82),
        ("flow_control", 13),
        ("flow_control_b", 13),
        ("hw_captures", 14),
        ("hw_captures_b", 18),
        ("icrc_mutations", 94),
        ("icrc_mutations_b", 94),
        ("softroce", 202),
        ("third_party", 7),
        ("third_party_b", 7),
    ];
    for (name, frames) in groups {
        let path = folder.join(name).with_extension("pcap");
        assert_eq!(read(&path).frames, frames, "{name}");
        assert_eq!(CaptureReader::open(&path).unwrap().format(), Format::Pcap);
    }
}
