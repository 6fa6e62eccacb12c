//! What Soft-RoCE does otherwise than we do, by kind. `docs/conformance.md` explains each.

use rocelab_transport::Packet;
use rocelab_wire::{NakCode, Opcode, Syndrome};
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
    /// A buffer that is too short is an operational error; with us, an invalid request.
    ShortReceiveBuffer,
    /// What its queue pair, not the region, forbids is an invalid request; we know only regions.
    QueuePairAccess,
    /// It fails when a SEND shall invalidate the key of an ordinary region or of none, and does not
    /// count that SEND; we invalidate any key.
    RefusedInvalidate,
    /// Programs may ask for a solicited event; ours cannot.
    SolicitedEvent,
    /// Its ACK timer is not started again for a packet that is sent while it runs; ours is.
    TimerNotRestarted,
}

impl Deviation {
    pub(crate) const ALL: [Self; 8] = [
        Self::DuplicateAcknowledged,
        Self::NakAfterRnrNak,
        Self::ReadRestOpcode,
        Self::ShortReceiveBuffer,
        Self::QueuePairAccess,
        Self::RefusedInvalidate,
        Self::SolicitedEvent,
        Self::TimerNotRestarted,
    ];

    /// Its name in scripts and in the documentation.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DuplicateAcknowledged => "duplicate-acknowledged",
            Self::NakAfterRnrNak => "nak-after-rnr-nak",
            Self::ReadRestOpcode => "read-rest-opcode",
            Self::ShortReceiveBuffer => "short-receive-buffer",
            Self::QueuePairAccess => "queue-pair-access",
            Self::RefusedInvalidate => "refused-invalidate",
            Self::SolicitedEvent => "solicited-event",
            Self::TimerNotRestarted => "timer-not-restarted",
        }
    }

    /// Whether it is an answer of a responder that differs.
    pub(crate) const fn is_of_answer(self) -> bool {
        !matches!(self, Self::SolicitedEvent | Self::TimerNotRestarted)
    }

    /// The kind by which their request differs from ours, if it is one.
    pub(crate) fn of_request(theirs: &Packet, ours: &Packet) -> Option<Self> {
        let asked = theirs.solicited_event() && *theirs == ours.with_solicited_event(true);
        asked.then_some(Self::SolicitedEvent)
    }

    /// The kind by which their answer differs from ours to the same request, if it is one.
    pub(crate) fn of_answer(theirs: &Packet, ours: &Packet) -> Option<Self> {
        let place = |packet: &Packet| (packet.dest_qp(), packet.psn(), packet.payload_len());
        if place(theirs) != place(ours) {
            return None;
        }
        if is_rest_of_read(theirs, ours) {
            return Some(Self::ReadRestOpcode);
        }
        let is_ack = |packet: &Packet| packet.opcode() == Opcode::RcAcknowledge;
        let (theirs, ours) = (theirs.aeth().filter(|_| is_ack(theirs))?, ours.aeth()?);
        let counts_one_less = theirs.msn + 1 == ours.msn;
        let is_same_count = theirs.msn == ours.msn;
        use NakCode::{InvalidRequest, RemoteAccessError, RemoteOperationalError};
        match (theirs.syndrome, ours.syndrome) {
            (Syndrome::Nak(RemoteOperationalError), Syndrome::Nak(InvalidRequest))
                if is_same_count =>
            {
                Some(Self::ShortReceiveBuffer)
            }
            (Syndrome::Nak(InvalidRequest), Syndrome::Nak(RemoteAccessError)) if is_same_count => {
                Some(Self::QueuePairAccess)
            }
            (Syndrome::ACK, Syndrome::ACK) if counts_one_less => Some(Self::RefusedInvalidate),
            _ => None,
        }
    }
}

/// Whether only the opcode differs, and the AETH that comes with it.
fn is_rest_of_read(theirs: &Packet, ours: &Packet) -> bool {
    let continues = matches!(
        (ours.opcode(), theirs.opcode()),
        (Opcode::RcRdmaReadResponseFirst, Opcode::RcRdmaReadResponseMiddle)
            | (Opcode::RcRdmaReadResponseOnly, Opcode::RcRdmaReadResponseLast)
    );
    continues && theirs.aeth().is_none_or(|aeth| ours.aeth() == Some(aeth))
}
