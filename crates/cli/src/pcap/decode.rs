//! `rocelab pcap decode`.

use std::fmt;
use std::num::NonZeroU64;

use clap::Args;
use rocelab_capture::{Checksum, Contents, Decoded, IcrcExplained, Verified};

use super::CaptureArguments;
use super::output::{Closed, Output};
use super::source;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `rocelab pcap decode`.
#[derive(Debug, Args)]
pub(crate) struct DecodeArguments {
    #[command(flatten)]
    capture: CaptureArguments,
    /// Stop after so many frames.
    #[arg(long, value_name = "N")]
    count: Option<NonZeroU64>,
    /// Show below each RoCE frame how its ICRC is computed.
    #[arg(long, conflicts_with = "json")]
    explain_icrc: bool,
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
    let ended = source::read(&arguments.capture.path, |verified| {
        if arguments.capture.json {
            output.json(&Decoded(verified))?;
        } else {
            output.line(Line(verified))?;
            // One that is cut off says nothing of the bytes that are not there.
            if arguments.explain_icrc
                && verified.dissection.icrc != Checksum::Absent
                && let Contents::Ethernet(frame) = &verified.dissection.contents
                && let Some(roce) = frame.roce()
            {
                output.line(IcrcExplained(roce))?;
            }
        }
        left -= 1;
        if left == 0 {
            output.flush()?;
            return Err(Closed::ByReader);
        }
        Ok(())
    })?;
    output.flush()?;
    Ok(ended.failure)
}

/// A frame on one line, in the style of tcpdump.
struct Line<'a>(&'a Verified<'a>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { number, time, interface, dissection, .. } = self.0;
        write!(f, "{number} {}.{:09} ", time.as_secs(), time.subsec_nanos())?;
        if let Some(interface) = interface {
            write!(f, "{interface} ")?;
        }
        match (dissection.packet(), &dissection.contents) {
            (Some(packet), _) => {
                write!(f, "{} > {}: {}", packet.source, packet.destination, packet.bth)?;
                if !packet.extensions.is_empty() {
                    write!(f, ", {}", packet.extensions)?;
                }
                write!(f, ", payload {}", packet.payload.len())?;
                if let Some(mad) = packet.mad() {
                    write!(f, ", {mad}")?;
                }
            }
            (None, Contents::Ethernet(frame)) => frame.fmt(f)?,
            (None, Contents::InfiniBand(packet)) => packet.fmt(f)?,
            (None, Contents::Opaque) => {
                write!(f, "{}, ", dissection.protocol)?;
                if let Some((bth, _)) = dissection.bth() {
                    write!(f, "{bth}, ")?;
                }
                write!(f, "{} bytes", dissection.captured_len)?;
            }
        }
        if let Some(error) = dissection.error {
            write!(f, ", malformed: {error}")?;
        }
        if dissection.protocol.has_transport() {
            write!(f, ", icrc {}", dissection.icrc.name())?;
        }
        if dissection.fcs != Checksum::Absent {
            write!(f, ", fcs {}", dissection.fcs.name())?;
        }
        f.write_str(if dissection.cut { ", cut" } else { "" })
    }
}
