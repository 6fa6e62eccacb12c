//! What Soft-RoCE does otherwise than we do, by kind. `docs/conformance.md` explains each.

use rocelab_transport::Packet;
use rocelab_wire::Opcode;
use serde::Deserialize;

/// A kind of deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Deviation {
    /// It acknowledges each duplicate SEND or WRITE packet; we, those that ask for it.
    DuplicateAcknowledged,
    /// After an RNR NAK, it also answers the packets behind with a sequence error; we wait.
    NakAfterRnrNak,
    /// It answers the request for the rest of a READ with the opcodes that the rest had the first
    /// time; we answer it as a READ of its own.
    ReadRestOpcode,
}

impl Deviation {
    pub(crate) const ALL: [Self; 3] =
        [Self::DuplicateAcknowledged, Self::NakAfterRnrNak, Self::ReadRestOpcode];

    /// Its name in scripts and in the documentation.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DuplicateAcknowledged => "duplicate-acknowledged",
            Self::NakAfterRnrNak => "nak-after-rnr-nak",
            Self::ReadRestOpcode => "read-rest-opcode",
        }
    }
}

/// Whether `theirs` is `ours` but for what [`Deviation::ReadRestOpcode`] says: the opcode, and the
/// AETH that comes with it.
pub(crate) fn differs_as_rest_of_read(theirs: &Packet, ours: &Packet) -> bool {
    let opcodes = (ours.opcode(), theirs.opcode());
    let continues = matches!(
        opcodes,
        (Opcode::RcRdmaReadResponseFirst, Opcode::RcRdmaReadResponseMiddle)
            | (Opcode::RcRdmaReadResponseOnly, Opcode::RcRdmaReadResponseLast)
    );
    let same_aeth = theirs.aeth().is_none_or(|aeth| ours.aeth() == Some(aeth));
    let place = |packet: &Packet| (packet.dest_qp(), packet.psn(), packet.payload_len());
    continues && same_aeth && place(theirs) == place(ours)
}
