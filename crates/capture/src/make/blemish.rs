//! What can be made wrong on purpose.

use rocelab_wire::{Body, Frame, Network, Roce, icrc};
use toml::Spanned;

use super::error::Fault;
use super::suggestion;

/// One thing that is wrong with a frame that is otherwise right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blemish {
    /// One bit of the ICRC.
    Icrc,
    /// One bit of the FCS.
    Fcs,
    /// One bit of the payload; the ICRC is of the right one.
    Payload,
    /// Pad bytes that are not zero; the ICRC is of them.
    Pad,
    /// A pad count that does not fill up to four bytes.
    PadCount,
    /// A reserved bit of the BTH that the ICRC covers.
    Reserved,
    /// Another transport version than 0.
    TransportVersion,
    /// One bit of the IPv4 header checksum.
    Ipv4Checksum,
}

const NAMES: [(&str, Blemish); 8] = [
    ("icrc", Blemish::Icrc),
    ("fcs", Blemish::Fcs),
    ("payload", Blemish::Payload),
    ("pad", Blemish::Pad),
    ("pad-count", Blemish::PadCount),
    ("reserved", Blemish::Reserved),
    ("transport-version", Blemish::TransportVersion),
    ("ipv4-checksum", Blemish::Ipv4Checksum),
];

static ONES: [u8; 3] = [0xff; 3];

impl Blemish {
    pub(super) fn parse(name: &Spanned<String>, fcs: bool) -> Result<Self, Fault> {
        let found = NAMES.iter().find(|(known, _)| known == name.as_ref());
        let Some((_, blemish)) = found else {
            let known = NAMES.map(|(known, _)| known);
            let fix = suggestion::write_one_of(name.as_ref(), &known);
            return Err(Fault::new("faults", name, "is nothing to make wrong", fix));
        };
        if *blemish == Self::Fcs && !fcs {
            let fix = "write fcs = true at the top";
            return Err(Fault::new("faults", name, "needs frames with an FCS", fix));
        }
        Ok(*blemish)
    }

    /// Makes it wrong; false if the frame has no such thing.
    pub(super) fn apply(self, frame: &mut Frame<'_>) -> bool {
        let Body::Roce(roce) = &mut frame.body else { return self == Self::Fcs };
        match self {
            Self::Icrc => roce.icrc ^= 1,
            Self::Pad if roce.pad.is_empty() => return false,
            Self::Pad => renewed(roce, |roce| roce.pad = &ONES[..roce.pad.len()]),
            Self::PadCount => renewed(roce, |roce| roce.bth.pad_count ^= 1),
            Self::Reserved => renewed(roce, |roce| roce.bth.resv7 = 1),
            Self::TransportVersion => renewed(roce, |roce| roce.bth.transport_version = 1),
            Self::Ipv4Checksum => match &mut roce.network {
                Network::V2Ipv4 { ip, .. } => ip.header_checksum ^= 1,
                _ => return false,
            },
            Self::Payload => return !roce.payload.is_empty(),
            Self::Fcs => {}
        }
        true
    }

    /// Makes wrong what only whole frames have: bytes of the payload, and the FCS.
    pub(super) fn apply_to_bytes(self, bytes: &mut [u8], frame: &Frame<'_>) {
        let from_end = match self {
            Self::Fcs => 1,
            Self::Payload => {
                let fcs = if frame.fcs.is_some() { 4 } else { 0 };
                let pad = frame.roce().map_or(0, |roce| roce.pad.len());
                fcs + frame.padding.len() + 4 + pad + 1
            }
            _ => return,
        };
        if let Some(index) = bytes.len().checked_sub(from_end) {
            bytes[index] ^= 1;
        }
    }
}

/// Changes a packet and gives it the ICRC of what it is then.
fn renewed(roce: &mut Roce<'_>, change: impl FnOnce(&mut Roce<'_>)) {
    change(roce);
    roce.icrc = icrc(roce);
}
