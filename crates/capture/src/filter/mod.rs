//! Which frames of a capture are wanted.

mod address;
mod ecn;
mod interface;
mod protocol;

use std::str::FromStr;
use std::time::Duration;

use rocelab_units as units;
use rocelab_wire::{Bth, Opcode};

pub use address::AddressWanted;
pub use ecn::EcnWanted;
pub use protocol::ProtocolWanted;

use crate::dissection::{Contents, Dissection, OpcodeName};
use crate::interface::NumberedInterface;
use crate::suggestion::write_one_of;
use crate::verifier::Verified;

/// Frames that are wanted: those that all conditions hold for. Without conditions, all are. Of several values of one condition, any
/// is enough.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Queue pairs, of which a packet names one: as its destination, or as its source, which only datagrams name.
    pub queue_pairs: Vec<u32>,
    /// Opcodes, of which the packet has one.
    pub opcodes: Vec<OpcodeWanted>,
    /// Addresses, of which one is the source or destination of the frame, or of a tunnel that it is in.
    pub addresses: Vec<AddressWanted>,
    /// Interfaces, of which the frame is of one: names, or numbers in the file.
    pub interfaces: Vec<String>,
    /// Protocols, of which the frame is of one.
    pub protocols: Vec<ProtocolWanted>,
    /// ECN codepoints, of which the packet has one.
    pub ecn: Vec<EcnWanted>,
    /// Virtual lanes of native InfiniBand, of which the frame is on one, or is about its credits.
    pub lanes: Vec<u8>,
    /// The earliest time.
    pub from: Option<TimeWanted>,
    /// The time from which on nothing is wanted.
    pub to: Option<TimeWanted>,
    /// Time of the first frame, once it was seen.
    first: Option<Duration>,
}

impl Filter {
    /// Whether the frame is wanted. Frames are given in the order of the capture, because times may count from the first.
    pub fn wants(&mut self, verified: &Verified<'_>) -> bool {
        let first = *self.first.get_or_insert(verified.time);
        let is_after = |limit: TimeWanted| verified.time >= limit.after(first);
        self.from.is_none_or(is_after)
            && !self.to.is_some_and(is_after)
            && (self.queue_pairs.is_empty() || self.names_queue_pair(verified))
            && (self.opcodes.is_empty() || self.has_opcode(verified))
            && (self.interfaces.is_empty() || self.is_of_interface(verified))
            && any(&self.protocols, |protocol| protocol.is_of(verified))
            && any(&self.lanes, |lane| lane_of(&verified.dissection) == Some(*lane))
            && self.headers_fit(verified)
    }

    /// The error of an interface that is wanted and that the capture, which was read to its end, does not have.
    #[must_use]
    pub fn unknown_interface(&self, known: &[NumberedInterface]) -> Option<String> {
        self.interfaces.iter().find_map(|wanted| interface::unknown(wanted, known))
    }

    fn is_of_interface(&self, verified: &Verified<'_>) -> bool {
        let (number, name) = (verified.interface_number, verified.interface);
        self.interfaces.iter().any(|wanted| interface::is_wanted(wanted, number, name))
    }

    /// The conditions on what the headers say.
    fn headers_fit(&self, verified: &Verified<'_>) -> bool {
        if self.addresses.is_empty() && self.ecn.is_empty() {
            return true;
        }
        let headers = verified.dissection.headers();
        let outer = verified.dissection.outer;
        any(&self.addresses, |address| address.is_in(&headers, outer))
            && any(&self.ecn, |ecn| ecn.is_in(&headers))
    }

    fn names_queue_pair(&self, verified: &Verified<'_>) -> bool {
        let dissection = &verified.dissection;
        let destination = bth_of(dissection).map(|bth| bth.dest_qp);
        let packet = dissection.packet();
        let source = packet.and_then(|packet| packet.extensions.deth).map(|deth| deth.src_qp);
        let mut named = destination.into_iter().chain(source);
        named.any(|qpn| self.queue_pairs.contains(&qpn))
    }

    fn has_opcode(&self, verified: &Verified<'_>) -> bool {
        let Some(bth) = bth_of(&verified.dissection) else { return false };
        let named = verified.dissection.bth().map(|(_, name)| name);
        let name = named.unwrap_or_else(|| OpcodeName::of_bth(&bth)).to_string();
        self.opcodes.iter().any(|wanted| match wanted {
            OpcodeWanted::Number(number) => bth.opcode == *number,
            OpcodeWanted::Named(wanted) => name == *wanted,
        })
    }
}

/// The base transport header, also of a packet that is malformed after it.
fn bth_of(dissection: &Dissection<'_>) -> Option<Bth> {
    let whole = dissection.bth().map(|(bth, _)| bth);
    whole.or_else(|| dissection.headers_read.and_then(|headers| headers.bth))
}

/// The virtual lane of a packet of native InfiniBand, or that which a flow control packet is about.
fn lane_of(dissection: &Dissection<'_>) -> Option<u8> {
    match &dissection.contents {
        Contents::FlowControl(packet) => Some(packet.vl),
        _ => dissection.headers().lrh.map(|lrh| lrh.vl),
    }
}

/// Whether one of the values fits, or there are none.
fn any<T>(values: &[T], fits: impl FnMut(&T) -> bool) -> bool {
    values.is_empty() || values.iter().any(fits)
}

/// An opcode that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpcodeWanted {
    /// Of this number.
    Number(u8),
    /// Of this name, as [`OpcodeName`](crate::OpcodeName) writes it: packets with telemetry have the name of their operation.
    Named(String),
}

/// Reads a name, such as `RC_SEND_ONLY`, in any case, or a number, such as `0x04`.
impl FromStr for OpcodeWanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16),
            None => text.parse(),
        };
        if let Ok(number) = number {
            return Ok(Self::Number(number));
        }
        let named = Opcode::ALL.iter().find(|opcode| opcode.name().eq_ignore_ascii_case(text));
        match named {
            Some(opcode) => Ok(Self::Named(opcode.name().to_owned())),
            None => {
                let names: Vec<_> = Opcode::ALL.iter().map(|opcode| opcode.name()).collect();
                Err(format!("there is no such opcode; {}, or a number", write_one_of(text, &names)))
            }
        }
    }
}

/// A time of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeWanted {
    /// In the time of the file: simulated captures begin at 0, real ones count from 1970.
    OfFile(Duration),
    /// After the first frame.
    AfterFirst(Duration),
}

impl TimeWanted {
    /// In the time of the file.
    fn after(self, first: Duration) -> Duration {
        match self {
            Self::OfFile(time) => time,
            Self::AfterFirst(time) => first.saturating_add(time),
        }
    }
}

/// Reads a time with its unit: `1.5ms` in the time of the file, `+1.5ms` after the first frame.
impl FromStr for TimeWanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (quantity, of): (_, fn(Duration) -> Self) = match text.strip_prefix('+') {
            Some(rest) => (rest, Self::AfterFirst),
            None => (text, Self::OfFile),
        };
        // The time of real captures is beyond the simulator's.
        if let Some(seconds) = quantity.strip_suffix('s').and_then(calendar) {
            return Ok(of(seconds));
        }
        let time: units::Duration = quantity.parse().map_err(|error: units::ParseError| {
            format!("{error}; +1ms counts from the first frame")
        })?;
        Ok(of(Duration::from_nanos(time.ps() / 1_000)))
    }
}

/// Seconds with a fraction, such as `1795216976.651210261`, to the nanosecond.
fn calendar(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanoseconds: u32 = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(whole.parse().ok()?, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_read_by_name_and_number() {
        let named = OpcodeWanted::Named("RC_SEND_ONLY".to_owned());
        assert_eq!("rc_send_only".parse(), Ok(named));
        assert_eq!("0x11".parse(), Ok(OpcodeWanted::Number(0x11)));
        assert_eq!("17".parse(), Ok(OpcodeWanted::Number(17)));
        let error = "RC_SENT_ONLY".parse::<OpcodeWanted>().unwrap_err();
        assert!(error.contains("did you mean RC_SEND_ONLY?"), "{error}");
        assert!("256".parse::<OpcodeWanted>().is_err());
    }

    #[test]
    fn times_are_of_the_file_or_after_its_first_frame() {
        let us = Duration::from_micros;
        assert_eq!("1.5ms".parse(), Ok(TimeWanted::OfFile(us(1_500))));
        assert_eq!("+2us".parse(), Ok(TimeWanted::AfterFirst(us(2))));
        let calendar = Duration::new(1_795_216_976, 651_210_261);
        assert_eq!("1795216976.651210261s".parse(), Ok(TimeWanted::OfFile(calendar)));
        assert_eq!(TimeWanted::AfterFirst(us(2)).after(us(5)), us(7));
        for wrong in ["", "5", "ms", "+", "-1ms", "1.2.3s"] {
            assert!(wrong.parse::<TimeWanted>().is_err(), "{wrong}");
        }
    }
}
