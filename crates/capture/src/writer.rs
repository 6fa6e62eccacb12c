//! Writes frames into a file.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapTsResolution, PcapWriteError, PcapWriter, RawPcapPacket};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};
use pcap_file::{DataLink, Endianness};
use rocelab_units::SimTime;

use crate::erf::{self, ERF};
use crate::format::{ETHERNET, FCS_LENGTH, NetworkField};
use crate::{Direction, Format, Interface, LinkType};

/// `shb_userappl`: the program that wrote the file. It has no version, so that equal runs write
/// equal bytes.
const APPLICATION: &str = "rocelab";

/// Largest frame that libpcap and Wireshark accept. In classic pcap it stands for "no limit",
/// because a reader may refuse a header with zero.
const MAX_SNAP_LENGTH: u32 = 262_144;

/// Streams frames into a capture file.
///
/// Write frames in order of time: the formats do not require it, but readers expect it. Call
/// [`finish`](Self::finish) at the end: if a writer is dropped instead, the error of a full disk is
/// lost.
pub struct CaptureWriter<W: Write = BufWriter<File>> {
    output: Output<W>,
    interfaces: Vec<Interface>,
}

enum Output<W: Write> {
    PcapNg(PcapNgWriter<W>),
    Pcap(PcapWriter<W>),
}

impl CaptureWriter {
    /// Creates the file at `path`, or empties it, and writes the format's header.
    ///
    /// # Errors As [`new`](Self::new), and errors of creating a file.
    pub fn create(
        format: Format,
        path: impl AsRef<Path>,
        interfaces: &[Interface],
    ) -> io::Result<Self> {
        Self::new(format, BufWriter::with_capacity(1 << 16, File::create(path)?), interfaces)
    }

    /// Continues the file at `path`, which must have the same format and interfaces. New frames are
    /// appended; the header is overwritten with itself.
    ///
    /// # Errors As [`new`](Self::new), and errors of opening a file.
    pub fn go_on(
        format: Format,
        path: impl AsRef<Path>,
        interfaces: &[Interface],
    ) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        let mut place = file.try_clone()?; // Both handles share one position.
        let output = BufWriter::with_capacity(1 << 16, file);
        let mut writer = Self::new(format, output, interfaces)?;
        writer.flush()?;
        place.seek(SeekFrom::End(0))?;
        Ok(writer)
    }
}

impl<W: Write> CaptureWriter<W> {
    /// Writes the format's header to `output`, which should be buffered.
    ///
    /// # Errors [`InvalidInput`](io::ErrorKind::InvalidInput) for classic pcap unless there is
    /// exactly one interface, because it cannot distinguish several, and for an interface of InfiniBand
    /// with an FCS; and the errors of `output`.
    pub fn new(format: Format, output: W, interfaces: &[Interface]) -> io::Result<Self> {
        let has_wrong_fcs = |port: &&Interface| port.fcs && port.link_type == LinkType::InfiniBand;
        if let Some(port) = interfaces.iter().find(has_wrong_fcs) {
            return Err(invalid(format!("interface {}: InfiniBand has no FCS", port.name)));
        }
        let output = match format {
            Format::PcapNg => Output::PcapNg(start_pcapng(output, interfaces)?),
            Format::Pcap => Output::Pcap(start_pcap(output, interfaces)?),
        };
        Ok(Self { output, interfaces: interfaces.to_vec() })
    }

    /// Appends a frame that the port `interface` (an index into the list given at the start) sent
    /// or received at `time`: from the destination MAC on, up to the FCS if the interface declares
    /// one; on an interface of InfiniBand, from the LRH to the VCRC, or a link packet of six bytes.
    ///
    /// `bytes` may be only the beginning of the frame, whose full length in bytes is
    /// `original_length`. Bytes beyond the interface's snap length are not written.
    ///
    /// # Errors [`InvalidInput`](io::ErrorKind::InvalidInput) for an unknown interface or an
    /// `original_length` below that of `bytes`; and the errors of the output.
    pub fn write_frame(
        &mut self,
        interface: usize,
        time: SimTime,
        direction: Direction,
        bytes: &[u8],
        original_length: u32,
    ) -> io::Result<()> {
        let Some(port) = self.interfaces.get(interface) else {
            return Err(invalid(format!(
                "interface {interface} of a capture with {}",
                self.interfaces.len()
            )));
        };
        if u32::try_from(bytes.len()).is_err() || bytes.len() as u64 > u64::from(original_length) {
            return Err(invalid(format!("{} bytes of a frame of {original_length}", bytes.len())));
        }
        let bytes = snap(bytes, port.snap_length);
        let record;
        let (bytes, original_length) = match port.link_type {
            LinkType::Ethernet => (bytes, original_length),
            LinkType::InfiniBand => {
                record = erf::record(time, interface, bytes, original_length as usize)?;
                (record.0.as_slice(), record.1)
            }
        };
        match &mut self.output {
            Output::PcapNg(writer) => {
                let options = vec![EnhancedPacketOption::Flags(packet_flags(direction, port.fcs))];
                let block = EnhancedPacketBlock {
                    interface_id: u32::try_from(interface).map_err(invalid)?,
                    timestamp: Duration::from_nanos(time.ps() / 1_000),
                    original_len: original_length,
                    data: Cow::Borrowed(bytes),
                    options,
                };
                writer.write_pcapng_block(block).map_err(pcapng_error)?;
            }
            Output::Pcap(writer) => {
                let packet = raw_packet(time, bytes, original_length)?;
                writer.write_raw_packet(&packet).map_err(pcap_error)?;
            }
        }
        Ok(())
    }

    /// Writes what is buffered.
    ///
    /// # Errors The errors of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::PcapNg(writer) => writer.get_mut().flush(),
            Output::Pcap(writer) => writer.flush().map_err(pcap_error),
        }
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors The errors of the output.
    pub fn finish(self) -> io::Result<W> {
        let mut output = match self.output {
            Output::PcapNg(writer) => writer.into_inner(),
            Output::Pcap(writer) => writer.into_inner(),
        };
        output.flush()?;
        Ok(output)
    }
}

impl<W: Write> std::fmt::Debug for CaptureWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let format = match self.output {
            Output::PcapNg(_) => Format::PcapNg,
            Output::Pcap(_) => Format::Pcap,
        };
        f.debug_struct("CaptureWriter")
            .field("format", &format)
            .field("interfaces", &self.interfaces)
            .finish_non_exhaustive()
    }
}

fn start_pcapng<W: Write>(output: W, interfaces: &[Interface]) -> io::Result<PcapNgWriter<W>> {
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(APPLICATION.into())],
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(output, section).map_err(pcapng_error)?;
    for interface in interfaces {
        writer.write_pcapng_block(interface_description(interface)).map_err(pcapng_error)?;
    }
    Ok(writer)
}

fn interface_description(interface: &Interface) -> InterfaceDescriptionBlock<'_> {
    use InterfaceDescriptionOption as Opt;

    let mut options = vec![Opt::IfName(interface.name.as_str().into())];
    if !interface.description.is_empty() {
        options.push(Opt::IfDescription(interface.description.as_str().into()));
    }
    options.push(Opt::IfSpeed(interface.speed.bits_per_second()));
    options.push(Opt::IfTsResol(InterfaceTsResolution::NANO));
    if interface.fcs {
        options.push(Opt::IfFcsLen(FCS_LENGTH));
    }
    InterfaceDescriptionBlock {
        linktype: DataLink::from(u32::from(link_type(interface))),
        snaplen: declared_snap_length(interface),
        options,
    }
}

/// The link type that the file declares.
const fn link_type(interface: &Interface) -> u16 {
    match interface.link_type {
        LinkType::Ethernet => ETHERNET,
        LinkType::InfiniBand => ERF,
    }
}

/// Most bytes kept of what the file takes for a frame: with the header of its record. 0 keeps all.
const fn declared_snap_length(interface: &Interface) -> u32 {
    match (interface.link_type, interface.snap_length) {
        (LinkType::Ethernet, length) | (LinkType::InfiniBand, length @ 0) => length,
        // A record with what fills it up is longer than its packet.
        (LinkType::InfiniBand, length) => length.saturating_add(erf::MOST_AROUND_A_PACKET),
    }
}

fn start_pcap<W: Write>(output: W, interfaces: &[Interface]) -> io::Result<PcapWriter<W>> {
    let [interface] = interfaces else {
        return Err(invalid(format!(
            "a classic pcap file holds one interface, not {}: write pcapng or one file a port",
            interfaces.len()
        )));
    };
    let fcs_length = if interface.fcs { FCS_LENGTH } else { 0 };
    let network = NetworkField { link_type: link_type(interface), fcs_length };
    let header = PcapHeader {
        snaplen: match declared_snap_length(interface) {
            0 => MAX_SNAP_LENGTH,
            length => length,
        },
        datalink: DataLink::from(network.to_bits()),
        ts_resolution: PcapTsResolution::NanoSecond,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    PcapWriter::with_header(output, header).map_err(pcap_error)
}

fn raw_packet(time: SimTime, bytes: &[u8], orig_len: u32) -> io::Result<RawPcapPacket<'_>> {
    const PS_PER_SECOND: u64 = 1_000_000_000_000;
    Ok(RawPcapPacket {
        ts_sec: u32::try_from(time.ps() / PS_PER_SECOND).map_err(invalid)?,
        ts_frac: u32::try_from(time.ps() % PS_PER_SECOND / 1_000).map_err(invalid)?,
        incl_len: u32::try_from(bytes.len()).map_err(invalid)?,
        orig_len,
        data: Cow::Borrowed(bytes),
    })
}

/// `epb_flags`: direction in bits 0 and 1, FCS length in bytes in bits 5 to 8.
pub(crate) const DIRECTION_MASK: u32 = 0b11;
pub(crate) const INBOUND: u32 = 0b01;
pub(crate) const OUTBOUND: u32 = 0b10;
pub(crate) const FLAGS_FCS_SHIFT: u32 = 5;
pub(crate) const FLAGS_FCS_MASK: u32 = 0b1111;

fn packet_flags(direction: Direction, fcs: bool) -> u32 {
    let direction = match direction {
        Direction::Inbound => INBOUND,
        Direction::Outbound => OUTBOUND,
    };
    let fcs_length = if fcs { u32::from(FCS_LENGTH) } else { 0 };
    direction | (fcs_length << FLAGS_FCS_SHIFT)
}

fn snap(bytes: &[u8], snap_length: u32) -> &[u8] {
    let limit = if snap_length == 0 { usize::MAX } else { snap_length as usize };
    &bytes[..bytes.len().min(limit)]
}

fn invalid(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

fn pcapng_error(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(error) => error,
        error => invalid(error),
    }
}

fn pcap_error(error: PcapWriteError) -> io::Error {
    match error {
        PcapWriteError::Io(error) | PcapWriteError::FieldWriteFailed(_, error) => error,
        error => invalid(error),
    }
}
