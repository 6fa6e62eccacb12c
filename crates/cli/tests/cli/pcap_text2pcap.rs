//! `rocelab pcap decode --hex` is what Wireshark's `text2pcap` reads. Skipped, with a note, if that is missing.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{Sandbox, repository};

/// Whether `text2pcap` made a capture of the text; `false`, with a note, if it is missing.
fn text2pcap(text: &Path, capture: &Path) -> bool {
    match Command::new("text2pcap").args(["-F", "pcap"]).args([text, capture]).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            println!("skipped: cannot run text2pcap: {error}");
            false
        }
    }
}

/// The bytes of all frames of a classic little-endian capture.
fn frames(capture: &[u8]) -> Vec<Vec<u8>> {
    let (_, mut rest) = capture.split_at(24);
    let mut frames = Vec::new();
    while let Some((header, after)) = rest.split_first_chunk::<16>() {
        let len = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let (frame, next) = after.split_at(len as usize);
        frames.push(frame.to_vec());
        rest = next;
    }
    frames
}

/// A classic capture of Ethernet frames.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let len = u32::try_from(frame.len()).unwrap();
        for word in [1, 0, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// Text in payloads that looks like bytes, offsets and comments; a frame beyond four digits of offsets.
fn misleading() -> Vec<Vec<u8>> {
    let texts = ["ab cd ef 12 34", "0000 aa bb", "# ab cd ", "|ab| cd 12 ", "#TEXT2PCAP ab  "];
    let mut frames: Vec<_> = texts.map(|text| text.as_bytes().to_vec()).into();
    frames.push((0..=255).collect());
    frames.push(b" ab".repeat(70_000 / 3));
    frames
}

#[test]
fn text2pcap_reads_all_bytes_of_all_frames() {
    let sandbox = Sandbox::new();
    let data = "crates/capture/tests/data/fault_write_corrupt_icrc.delivered.pcap";
    sandbox.write("real.pcap", fs::read(repository(data)).unwrap());
    sandbox.write("misleading.pcap", capture(&misleading()));
    for name in ["real.pcap", "misleading.pcap"] {
        let before = frames(&fs::read(sandbox.path(name)).unwrap());
        assert!(before.len() >= 7);
        for options in [
            &["--hex"][..],
            &["--hex", "--tree"],
            &["--hex", "--explain-icrc"],
            &["--hex", "--tree", "--explain-icrc"],
        ] {
            let text = sandbox.succeeds(&[&["pcap", "decode", name][..], options].concat());
            for line in text.lines().filter(|line| !line.starts_with("# ")) {
                let (offset, rest) = line.split_once("  ").unwrap_or_else(|| panic!("{line}"));
                assert!(offset.len() >= 4 && u32::from_str_radix(offset, 16).is_ok(), "{line}");
                assert!(rest.contains("  |") && rest.ends_with('|'), "{line}");
            }
            let text = sandbox.write("frames.txt", text);
            let made = sandbox.path("made.pcap");
            if !text2pcap(&text, &made) {
                return;
            }
            assert!(frames(&fs::read(&made).unwrap()) == before, "{name} {options:?}");
        }
    }
}
