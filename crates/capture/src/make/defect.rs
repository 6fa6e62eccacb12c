//! Defects that a made frame can have on purpose.

use rocelab_wire::{Body, Frame, Network, Roce, icrc};
use toml::Spanned;

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
}

const NAMES: [(&str, Defect); 8] = [
    ("icrc", Defect::Icrc),
    ("fcs", Defect::Fcs),
    ("payload", Defect::Payload),
    ("pad", Defect::Pad),
    ("pad-count", Defect::PadCount),
    ("reserved", Defect::Reserved),
    ("transport-version", Defect::TransportVersion),
    ("ipv4-checksum", Defect::Ipv4Checksum),
];

static ONES: [u8; 3] = [0xff; 3];

impl Defect {
    pub(super) fn parse(name: &Spanned<String>, fcs: bool) -> Result<Self, Fault> {
        let found = NAMES.iter().find(|(known, _)| known == name.as_ref());
        let Some((_, defect)) = found else {
            let known = NAMES.map(|(known, _)| known);
            let fix = suggestion::write_one_of(name.as_ref(), &known);
            return Err(Fault::new("faults", name, "is nothing to make wrong", fix));
        };
        if *defect == Self::Fcs && !fcs {
            let fix = "write fcs = true at the top";
            return Err(Fault::new("faults", name, "needs frames with an FCS", fix));
        }
        Ok(*defect)
    }

    /// Applies the defect; false if the frame does not have the field.
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

    /// Applies the defects that are possible in a complete frame only: in the payload's bytes, and
    /// in the FCS.
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

/// Changes a packet and updates its ICRC.
fn renewed(roce: &mut Roce<'_>, change: impl FnOnce(&mut Roce<'_>)) {
    change(roce);
    roce.icrc = icrc(roce);
}
