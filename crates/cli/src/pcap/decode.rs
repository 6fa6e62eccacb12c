//! `rocelab pcap decode`.

use std::fmt;
use std::num::NonZeroU64;

use clap::Args;
use rocelab_capture::{
    AddressWanted, CaptureFile, Checksum, Contents, Decoded, Direction, EcnWanted, Filter, HexDump,
    HexDumpComment, IcrcExplained, OpcodeWanted, ProtocolWanted, TimeWanted, Tree, Verified,
};

use super::CaptureArguments;
use super::output::{Closed, Output};
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `rocelab pcap decode`.
#[derive(Debug, Args)]
pub(crate) struct DecodeArguments {
    #[command(flatten)]
    capture: CaptureArguments,
    /// Stop after so many frames that are printed.
    #[arg(long, value_name = "N")]
    count: Option<NonZeroU64>,
    /// Print each layer of a frame with its bytes and all of its fields.
    #[arg(long, conflicts_with = "json")]
    tree: bool,
    /// Print below each frame its bytes, in hexadecimal, as text2pcap reads them: all other lines begin with "# ".
    #[arg(long, conflicts_with = "json")]
    hex: bool,
    /// Show below each RoCE frame how its ICRC is computed.
    #[arg(long, conflicts_with = "json")]
    explain_icrc: bool,
    #[command(flatten)]
    filter: FilterArguments,
}

/// Which frames are printed: those that all of these hold for.
#[derive(Debug, Args)]
struct FilterArguments {
    /// Packets that name this queue pair: as the destination, or as the source, which only datagrams name. May be given
    /// several times.
    #[arg(long, value_name = "QPN", value_parser = queue_pair)]
    qp: Vec<u32>,
    /// Packets of this opcode: a name such as RC_SEND_ONLY, or a number. May be given several times.
    #[arg(long, value_name = "OPCODE")]
    opcode: Vec<OpcodeWanted>,
    /// Frames from or to this address, in tunnels too: IPv4, IPv6, GID, MAC, or a LID such as lid:4. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    address: Vec<AddressWanted>,
    /// Frames of this interface: its name, or its number in the file, from 0. May be given several times.
    #[arg(long, value_name = "INTERFACE")]
    interface: Vec<String>,
    /// Frames of this protocol: roce_v1, roce_v2, cnp, pfc, pause, infiniband, infiniband_link, and others. May be given several times.
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Vec<ProtocolWanted>,
    /// Packets with this ECN codepoint: ce, ect0, ect1 or not-ect. May be given several times.
    #[arg(long, value_name = "CODEPOINT")]
    ecn: Vec<EcnWanted>,
    /// Packets of InfiniBand on this virtual lane, and flow control packets about it. May be given several times.
    #[arg(long, value_name = "VL", value_parser = clap::value_parser!(u8).range(0..16))]
    vl: Vec<u8>,
    /// Frames from this time on, such as 1.5ms, in the time of the file; +1.5ms counts from its first frame.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<TimeWanted>,
    /// Frames before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<TimeWanted>,
}

impl FilterArguments {
    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.queue_pairs.clone_from(&self.qp);
        filter.opcodes.clone_from(&self.opcode);
        filter.addresses.clone_from(&self.address);
        filter.interfaces.clone_from(&self.interface);
        filter.protocols.clone_from(&self.protocol);
        filter.ecn.clone_from(&self.ecn);
        filter.lanes.clone_from(&self.vl);
        (filter.from, filter.to) = (self.from, self.to);
        filter
    }
}

/// Reads the number of a queue pair: 24 bits, decimal, or hexadecimal after 0x.
fn queue_pair(text: &str) -> Result<u32, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number = number.ok().filter(|number| *number < 1 << 24);
    number.ok_or_else(|| "is no queue pair; give 0 to 0xffffff".to_owned())
}

/// Prints every frame.
pub(super) fn execute(arguments: &DecodeArguments) -> Result<Exit, Failure> {
    let mut output = Output::new();
    match decode(arguments, &mut output) {
        Ok(Some(failure)) => Err(failure),
        Ok(None) => Ok(Exit::Done),
        Err(closed) => closed.end(),
    }
}

fn decode(arguments: &DecodeArguments, output: &mut Output) -> Result<Option<Failure>, Closed> {
    let mut left = arguments.count.map_or(u64::MAX, NonZeroU64::get);
    let mut filter = arguments.filter.filter();
    let read = CaptureFile::named(&arguments.capture.path).read(|verified| {
        if !filter.wants(verified) {
            return Ok(());
        }
        show(arguments, verified, output)?;
        left -= 1;
        if left == 0 {
            output.flush()?;
            return Err(Closed::ByReader);
        }
        Ok(())
    })?;
    output.flush()?;
    if let Some(error) = read.error {
        return Ok(Some(error.into()));
    }
    let unknown = filter.unknown_interface(&read.interfaces);
    Ok(unknown
        .map(|error| Failure::Input(format!("{}: {error}", arguments.capture.path.display()))))
}

/// Prints a frame in the way that was asked for.
fn show(
    arguments: &DecodeArguments,
    verified: &Verified<'_>,
    output: &mut Output,
) -> Result<(), Closed> {
    if arguments.capture.json {
        return output.json(&Decoded(verified));
    }
    if arguments.hex {
        return show_bytes(arguments, verified, output);
    }
    if arguments.tree {
        output.line(Tree(verified))?;
    } else {
        output.line(Line(verified))?;
    }
    if let Some(explained) = explained(arguments, verified) {
        output.line(explained)?;
    }
    if arguments.tree {
        output.line("")?;
    }
    Ok(())
}

/// Prints a frame and its bytes for `text2pcap`: what is said of the frame is a comment.
fn show_bytes(
    arguments: &DecodeArguments,
    verified: &Verified<'_>,
    output: &mut Output,
) -> Result<(), Closed> {
    if arguments.tree {
        output.line(HexDumpComment(Tree(verified)))?;
    } else {
        output.line(HexDumpComment(Line(verified)))?;
    }
    if let Some(explained) = explained(arguments, verified) {
        output.line(HexDumpComment(explained))?;
    }
    if verified.bytes.is_empty() {
        return Ok(());
    }
    output.line(HexDump(verified.bytes))
}

/// How the frame's ICRC is computed, if that is asked for and it has one.
fn explained<'a>(
    arguments: &DecodeArguments,
    verified: &'a Verified<'_>,
) -> Option<IcrcExplained<'a>> {
    // One that is cut off says nothing of the bytes that are not there.
    if !arguments.explain_icrc || verified.dissection.icrc == Checksum::Absent {
        return None;
    }
    match &verified.dissection.contents {
        Contents::Ethernet(frame) => frame.roce().map(IcrcExplained),
        _ => None,
    }
}

/// A frame on one line, in the style of tcpdump.
struct Line<'a>(&'a Verified<'a>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { number, time, interface, direction, dissection, .. } = self.0;
        write!(f, "{number} {}.{:09} ", time.as_secs(), time.subsec_nanos())?;
        if let Some(interface) = interface {
            write!(f, "{interface} ")?;
        }
        dissection.outer.iter().try_for_each(|outer| outer.header.fmt(f))?;
        match (dissection.packet(), &dissection.contents) {
            (Some(packet), _) => {
                write!(f, "{} > {}", packet.source, packet.destination)?;
                if let Contents::InfiniBand(packet) = &dissection.contents {
                    write!(f, ", vl {}, sl {}", packet.lrh.vl, packet.lrh.sl)?;
                }
                write!(f, ": {}", packet.bth)?;
                if !packet.extensions.is_empty() {
                    write!(f, ", {}", packet.extensions)?;
                }
                write!(f, ", payload {}", packet.payload.len())?;
                if let Some(mad) = dissection.mad() {
                    write!(f, ", {mad}")?;
                }
            }
            (None, Contents::Ethernet(frame)) if dissection.without_ethernet => {
                frame.body.fmt(f)?;
            }
            (None, Contents::Ethernet(frame)) => frame.fmt(f)?,
            // Whether the checksum of the link is right is told below.
            (None, Contents::InfiniBand(packet)) => packet.with_vcrc().fmt(f)?,
            // It has no addresses.
            (None, Contents::FlowControl(packet)) => {
                match direction {
                    Some(Direction::Inbound) => f.write_str("inbound ")?,
                    Some(Direction::Outbound) => f.write_str("outbound ")?,
                    None => {}
                }
                packet.with_lpcrc().fmt(f)?;
            }
            (None, Contents::Opaque) => {
                write!(f, "{}, ", dissection.protocol)?;
                let headers = dissection.headers_read;
                if let Some(bth) = headers.and_then(|headers| headers.bth) {
                    write!(f, "{bth}, ")?;
                }
                write!(f, "{} bytes", dissection.extent.captured_len)?;
            }
        }
        if let Some(reason) = dissection.not_looked_into {
            write!(f, ", not looked into: {reason}")?;
        }
        if let Some(reason) = dissection.stopped {
            write!(f, ", not read further: {reason}")?;
        }
        if let Some(error) = dissection.error {
            write!(f, ", malformed: {error}")?;
        }
        if dissection.protocol.has_transport() {
            write!(f, ", icrc {}", dissection.icrc.name())?;
        }
        let of_the_link =
            [("fcs", dissection.fcs), ("vcrc", dissection.vcrc()), ("lpcrc", dissection.lpcrc())];
        for (name, checksum) in of_the_link {
            if checksum != Checksum::Absent {
                write!(f, ", {name} {}", checksum.name())?;
            }
        }
        f.write_str(if dissection.extent.cut { ", cut" } else { "" })
    }
}
