//! Defects that a made frame can have on purpose.

use rocelab_wire::TransportPacket;
use toml::Spanned;

use super::document::Message;
use super::error::Fault;
use crate::suggestion;

/// One defect of a frame that is otherwise right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// A flipped bit in the ICRC.
    Icrc,
    /// A flipped bit in the FCS.
    Fcs,
    /// A flipped bit in the payload; the ICRC is of the original payload.
    Payload,
    /// Pad bytes that are not zero; the ICRC includes them.
    Pad,
    /// A pad count that does not fill up to a multiple of four bytes.
    PadCount,
    /// A set reserved bit of the BTH that the ICRC includes.
    Reserved,
    /// A transport version other than 0.
    TransportVersion,
    /// A flipped bit in the IPv4 header checksum.
    Ipv4Checksum,
    /// A flipped bit in the VCRC of InfiniBand.
    Vcrc,
    /// A flipped bit in the LPCRC of a flow control packet of InfiniBand.
    Lpcrc,
}

const NAMES: [(&str, Defect); 10] = [
    ("icrc", Defect::Icrc),
    ("fcs", Defect::Fcs),
    ("payload", Defect::Payload),
    ("pad", Defect::Pad),
    ("pad-count", Defect::PadCount),
    ("reserved", Defect::Reserved),
    ("transport-version", Defect::TransportVersion),
    ("ipv4-checksum", Defect::Ipv4Checksum),
    ("vcrc", Defect::Vcrc),
    ("lpcrc", Defect::Lpcrc),
];

static ONES: [u8; 3] = [0xff; 3];

impl Defect {
    pub(super) fn parse(name: &Spanned<String>) -> Result<Self, Fault> {
        let found = NAMES.iter().find(|(known, _)| known == name.as_ref());
        found.map(|(_, defect)| *defect).ok_or_else(|| {
            let known = NAMES.map(|(known, _)| known);
            let fix = suggestion::write_one_of(name.as_ref(), &known);
            Fault::new("faults", name, "is nothing to make wrong", fix)
        })
    }

    /// The error for a defect of something that the frame does not have.
    pub(super) fn not_there(self, message: &Message) -> Fault {
        let fix = "choose another fault, or other bytes";
        self.refused(message, "needs a frame that has such a thing", fix)
    }

    /// The error for the defect, where the message names it.
    pub(super) fn refused(self, message: &Message, what: &str, fix: &str) -> Fault {
        match message.faults.iter().find(|name| name.as_ref() == self.name()) {
            Some(name) => Fault::new("faults", name, what, fix),
            None => Fault::missing("faults", what, fix),
        }
    }

    /// The name in descriptions.
    fn name(self) -> &'static str {
        NAMES.iter().find(|(_, defect)| *defect == self).map_or("", |(name, _)| name)
    }

    /// Applies a defect of the packet itself, whatever carries it. Its ICRC must be made anew. False if
    /// the packet does not have the field, or the defect is of something else.
    pub(super) fn apply_to_transport(self, packet: &mut TransportPacket<'_>) -> bool {
        match self {
            Self::Pad if packet.pad.is_empty() => return false,
            Self::Pad => packet.pad = &ONES[..packet.pad.len()],
            Self::PadCount => packet.bth.pad_count ^= 1,
            Self::Reserved => packet.bth.resv7 = 1,
            Self::TransportVersion => packet.bth.transport_version = 1,
            _ => return false,
        }
        true
    }
}
