//! Reads frames from a file.

use std::fs::File;
use std::io::{Chain, Cursor, Read};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use rocelab_units::{Bandwidth, SimTime};

use crate::format::NetworkField;
use crate::writer::{DIRECTION_MASK, FLAGS_FCS_MASK, FLAGS_FCS_SHIFT, INBOUND, OUTBOUND};
use crate::{CapturedInterface, Direction, Format, NumberedInterface, ReadError};

/// Size of the buffer in bytes. It limits memory, and the longest block that can be read.
const BUFFER: usize = 1 << 20;

/// First bytes of a pcapng file: the Section Header Block's type, the same in both byte orders.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// First bytes of a classic file: microseconds and nanoseconds, big and little endian.
const PCAP_MAGIC: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

/// Length of a classic file's header, in bytes.
const PCAP_HEADER_LEN: u64 = 24;
/// Length of the header of each record in a classic file, in bytes.
const PCAP_RECORD_HEADER_LEN: u64 = 16;
/// Length of the type and length that each block of a pcapng file begins with, in bytes.
const PCAPNG_BLOCK_HEADER_LEN: u64 = 8;
/// Length of what comes before the frame in the body of a packet block, enhanced or not, in bytes.
const PACKET_HEADER_LEN: u64 = 20;
/// The same of a simple packet block.
const SIMPLE_PACKET_HEADER_LEN: u64 = 4;

/// Streams frames from a capture file of either format.
///
/// Memory does not grow with the file: it is one buffer of 1 MiB, and one frame.
#[derive(Debug)]
pub struct CaptureReader<R: Read = File> {
    input: Input<R>,
    /// Interfaces of the current section.
    interfaces: Vec<CapturedInterface>,
    /// Number of interfaces in earlier sections.
    interfaces_before: usize,
    /// The frame that was returned last.
    bytes: Vec<u8>,
    frames: u64,
    /// Where the next record of a classic file begins.
    position: u64,
    ended: bool,
}

/// The bytes that were read to recognise the format, followed by the rest.
type Replayed<R> = Chain<Cursor<[u8; 4]>, R>;

#[derive(Debug)]
enum Input<R: Read> {
    PcapNg(PcapNgReader<Replayed<R>>),
    Pcap(PcapReader<Replayed<R>>),
}

/// One frame of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedFrame<'a> {
    /// Number in the file, from 1.
    pub number: u64,
    /// Number of the interface in the file, from 0. The sections of a pcapng file each number their
    /// interfaces from 0; here numbers continue through all sections, so that they are unique.
    pub interface: usize,
    /// The interface itself, if the file describes it.
    pub described: Option<&'a CapturedInterface>,
    /// Time since the file's epoch: 1970 for real captures, the start of the run for simulated
    /// ones. Zero if the file has no time for the frame (simple packet blocks).
    pub time: Duration,
    /// Its direction, if the file has it.
    pub direction: Option<Direction>,
    /// The captured bytes, with the FCS if `fcs_length` says so.
    pub bytes: &'a [u8],
    /// Its length on the wire in bytes, as the file gives it.
    pub original_length: u32,
    /// Length in bytes of the FCS at the end of the original frame; 0 if none was captured.
    pub fcs_length: u8,
    /// Link type, as in tcpdump.org's registry: 1 is Ethernet, 247 InfiniBand.
    pub link_type: u16,
    /// Where its bytes begin in the file.
    pub position: u64,
}

impl CapturedFrame<'_> {
    /// The time as simulated time; `None` beyond its range (213 days), as in captures of real
    /// networks, which count from 1970.
    pub fn sim_time(&self) -> Option<SimTime> {
        u64::try_from(self.time.as_nanos()).ok()?.checked_mul(1_000).map(SimTime::from_ps)
    }

    /// Whether only the beginning of the frame was captured.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() as u64 != u64::from(self.original_length)
    }
}

impl CaptureReader {
    /// Opens the file at `path`.
    ///
    /// # Errors As [`new`](Self::new), and [`ReadError::Io`] if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::from_io(error, 0))?;
        Self::new(file)
    }
}

impl<R: Read> CaptureReader<R> {
    /// Recognises the format and reads its header. `input` needs no buffering.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn new(mut input: R) -> Result<Self, ReadError> {
        let mut magic = [0; 4];
        input.read_exact(&mut magic).map_err(|error| ReadError::from_io(error, 0))?;
        let replayed = Cursor::new(magic).chain(input);

        let mut interfaces = Vec::new();
        let input = if magic == SECTION_HEADER {
            let reader = PcapNgReader::with_capacity(replayed, BUFFER);
            Input::PcapNg(reader.map_err(|error| ReadError::from_pcapng(error, 0))?)
        } else if PCAP_MAGIC.contains(&magic) {
            let reader = PcapReader::with_capacity(replayed, BUFFER)
                .map_err(|error| ReadError::from_pcap(error, 0))?;
            interfaces.push(classic_interface(&reader));
            Input::Pcap(reader)
        } else {
            return Err(ReadError::NotACapture { magic: u32::from_be_bytes(magic) });
        };
        Ok(Self {
            input,
            interfaces,
            interfaces_before: 0,
            bytes: Vec::new(),
            frames: 0,
            position: PCAP_HEADER_LEN,
            ended: false,
        })
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        match self.input {
            Input::PcapNg(_) => Format::PcapNg,
            Input::Pcap(_) => Format::Pcap,
        }
    }

    /// The interfaces of the current section so far. In pcapng they come before their first frame,
    /// and a new section has new ones.
    pub fn interfaces(&self) -> &[CapturedInterface] {
        &self.interfaces
    }

    /// As [`interfaces`](Self::interfaces), with their numbers through all sections.
    pub(crate) fn numbered_interfaces(&self) -> impl Iterator<Item = NumberedInterface> + '_ {
        let numbers = self.interfaces_before..;
        numbers
            .zip(&self.interfaces)
            .map(|(number, interface)| NumberedInterface { number, name: interface.name.clone() })
    }

    /// The next frame, or `None` at the end of the file and after an error.
    pub fn next_frame(&mut self) -> Option<Result<CapturedFrame<'_>, ReadError>> {
        if self.ended {
            return None;
        }
        let read = match &mut self.input {
            Input::PcapNg(reader) => {
                let before = &mut self.interfaces_before;
                next_in_pcapng(reader, &mut self.interfaces, before, &mut self.bytes, self.frames)
            }
            Input::Pcap(reader) => {
                next_in_pcap(reader, &mut self.position, &mut self.bytes, self.frames)
            }
        };
        match read {
            Ok(Some(head)) => {
                self.frames += 1;
                let mut frame = head.frame(self.frames, &self.interfaces, &self.bytes);
                frame.interface = frame.interface.saturating_add(self.interfaces_before);
                Some(Ok(frame))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}

/// The properties of a frame in a file, without its bytes.
#[derive(Default)]
struct Head {
    interface: usize,
    time: Duration,
    original_length: u32,
    direction: Option<Direction>,
    /// The frame's own FCS length, which overrides the interface's.
    fcs_length: Option<u8>,
    /// Where its bytes begin: in the file, or while its block is read, in the body of that.
    position: u64,
}

impl Head {
    fn frame<'a>(
        self,
        number: u64,
        interfaces: &'a [CapturedInterface],
        bytes: &'a [u8],
    ) -> CapturedFrame<'a> {
        let interface = interfaces.get(self.interface);
        CapturedFrame {
            number,
            interface: self.interface,
            described: interface,
            time: self.time,
            direction: self.direction,
            bytes,
            original_length: self.original_length,
            fcs_length: self
                .fcs_length
                .or(interface.map(|interface| interface.fcs_length))
                .unwrap_or_default(),
            link_type: interface.map_or(0, |interface| interface.link_type),
            position: self.position,
        }
    }
}

fn classic_interface<R: Read>(reader: &PcapReader<R>) -> CapturedInterface {
    let header = reader.header();
    let network = NetworkField::from_bits(header.datalink.into());
    CapturedInterface {
        link_type: network.link_type,
        fcs_length: network.fcs_length,
        snap_length: header.snaplen,
        ..CapturedInterface::default()
    }
}

fn next_in_pcap<R: Read>(
    reader: &mut PcapReader<R>,
    position: &mut u64,
    bytes: &mut Vec<u8>,
    frames: u64,
) -> Result<Option<Head>, ReadError> {
    let ns_per_tick = match reader.header().ts_resolution {
        pcap_file::pcap::PcapTsResolution::MicroSecond => 1_000,
        pcap_file::pcap::PcapTsResolution::NanoSecond => 1,
    };
    // The raw form is read because many real files violate the snap length or have a time fraction
    // above a second, which does no harm.
    let Some(packet) = reader.next_raw_packet() else { return Ok(None) };
    let packet = packet.map_err(|error| ReadError::from_pcap(error, frames))?;
    bytes.clear();
    bytes.extend_from_slice(&packet.data);
    let fraction = Duration::from_nanos(u64::from(packet.ts_frac) * ns_per_tick);
    let begin = *position + PCAP_RECORD_HEADER_LEN;
    *position = begin + bytes.len() as u64;
    Ok(Some(Head {
        position: begin,
        time: Duration::from_secs(packet.ts_sec.into()) + fraction,
        original_length: packet.orig_len,
        ..Head::default()
    }))
}

fn next_in_pcapng<R: Read>(
    reader: &mut PcapNgReader<R>,
    interfaces: &mut Vec<CapturedInterface>,
    interfaces_before: &mut usize,
    bytes: &mut Vec<u8>,
    frames: u64,
) -> Result<Option<Head>, ReadError> {
    loop {
        let begin = reader.bytes_parsed() + PCAPNG_BLOCK_HEADER_LEN;
        let Some(next) = reader.next_block() else { return Ok(None) };
        let (block, _) = next.map_err(|error| ReadError::from_pcapng(error, frames))?;
        let (mut head, data) = match block {
            Block::SectionHeader(_) => {
                *interfaces_before += interfaces.len();
                interfaces.clear();
                continue;
            }
            Block::InterfaceDescription(block) => {
                interfaces.push(described_interface(&block));
                continue;
            }
            Block::EnhancedPacket(block) => (enhanced_head(&block), block.data),
            Block::SimplePacket(block) => {
                let head = Head {
                    original_length: block.original_len,
                    position: SIMPLE_PACKET_HEADER_LEN,
                    ..Head::default()
                };
                (head, block.data)
            }
            Block::Packet(block) => {
                let head = Head {
                    interface: block.interface_id.into(),
                    time: block.timestamp,
                    original_length: block.original_len,
                    position: PACKET_HEADER_LEN,
                    ..Head::default()
                };
                (head, block.data)
            }
            _ => continue,
        };
        head.position += begin;
        bytes.clear();
        bytes.extend_from_slice(&data);
        return Ok(Some(head));
    }
}

fn enhanced_head(block: &EnhancedPacketBlock<'_>) -> Head {
    let flags = block.options.iter().find_map(|option| match option {
        EnhancedPacketOption::Flags(flags) => Some(*flags),
        _ => None,
    });
    let direction = match flags.unwrap_or_default() & DIRECTION_MASK {
        INBOUND => Some(Direction::Inbound),
        OUTBOUND => Some(Direction::Outbound),
        _ => None,
    };
    let fcs_length = flags
        .map(|flags| (flags >> FLAGS_FCS_SHIFT & FLAGS_FCS_MASK) as u8)
        .filter(|length| *length > 0);
    Head {
        interface: block.interface_id as usize,
        time: block.timestamp,
        original_length: block.original_len,
        direction,
        fcs_length,
        position: PACKET_HEADER_LEN,
    }
}

fn described_interface(block: &InterfaceDescriptionBlock<'_>) -> CapturedInterface {
    use InterfaceDescriptionOption as Opt;

    let link_type = NetworkField::from_bits(block.linktype.into()).link_type;
    let mut interface =
        CapturedInterface { link_type, snap_length: block.snaplen, ..CapturedInterface::default() };
    for option in &block.options {
        match option {
            Opt::IfName(name) => interface.name = Some(name.clone().into_owned()),
            Opt::IfDescription(text) => interface.description = Some(text.clone().into_owned()),
            Opt::IfSpeed(bps) => interface.speed = Some(Bandwidth::from_bps(*bps)),
            Opt::IfFcsLen(length) => interface.fcs_length = fcs_bytes(*length),
            _ => {}
        }
    }
    interface
}

/// `if_fcslen` in bytes. The text of the format says bits, but its example is 4, and Wireshark
/// takes bytes; no Ethernet FCS has fewer than 8 bits or more than 8 bytes.
fn fcs_bytes(option: u8) -> u8 {
    if option > 8 { option / 8 } else { option }
}
