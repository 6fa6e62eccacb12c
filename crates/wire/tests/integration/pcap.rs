//! Reads whole capture files.

use std::fs;
use std::path::{Path, PathBuf};

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};

/// The folder of shared vectors and captures beside the repository; `None`, with a note, if it is
/// missing.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: there is no ../shared/{folder} beside the repository");
    None
}

/// One record of a capture.
pub(crate) struct Record {
    pub(crate) bytes: Vec<u8>,
    /// Whether the frame was captured completely.
    pub(crate) whole: bool,
}

/// The records of a pcap or pcapng file, in order.
pub(crate) fn read(path: &Path) -> Vec<Record> {
    let file = fs::read(path).expect("a readable file");
    if path.extension().is_some_and(|extension| extension == "pcapng") {
        read_pcapng(&file)
    } else {
        read_pcap(&file)
    }
}

fn read_pcap(file: &[u8]) -> Vec<Record> {
    let mut reader = PcapReader::new(file).expect("a pcap file");
    let mut records = Vec::new();
    while let Some(packet) = reader.next_raw_packet() {
        let packet = packet.expect("a good record");
        let whole = packet.incl_len == packet.orig_len;
        records.push(Record { bytes: packet.data.into_owned(), whole });
    }
    records
}

fn read_pcapng(file: &[u8]) -> Vec<Record> {
    let mut reader = PcapNgReader::new(file).expect("a pcapng file");
    let mut records = Vec::new();
    while let Some(block) = reader.next_block() {
        if let (Block::EnhancedPacket(packet), _) = block.expect("a good block") {
            let whole = packet.original_len as usize == packet.data.len();
            records.push(Record { bytes: packet.data.into_owned(), whole });
        }
    }
    records
}
