//! The position of a stream of packets within a message.

use rocelab_wire::Opcode;

use crate::dissection::OpcodeName;
use crate::fault::{Fault, PayloadRule};

/// The position of a stream after a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Position {
    /// Unknown: at the beginning of the capture, after a gap, and where a retransmission begins.
    #[default]
    Unknown,
    /// Between two messages.
    Between,
    /// Inside a message.
    Within(Message),
}

/// The part of a message of several packets that was seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    kind: Kind,
    /// Payload of its FIRST or MIDDLE packets in bytes, if one was seen.
    mtu: Option<u16>,
    /// The announced length in bytes, if the beginning was seen.
    announced: Option<u32>,
    /// Payload so far in bytes; `None` if a part of it is unknown.
    found: Option<u64>,
}

/// The kind of a message: a packet continues only a message of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    Write,
    Read,
    Other,
}

impl Kind {
    const fn of(opcode: Opcode) -> Self {
        if opcode.is_send() {
            Self::Send
        } else if opcode.is_rdma_write() {
            Self::Write
        } else if opcode.is_rdma_read_response() {
            Self::Read
        } else {
            Self::Other
        }
    }
}

/// A packet of a stream, with the properties that matter for its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) opcode: Opcode,
    pub(super) name: OpcodeName,
    /// Length of the payload in bytes; `None` if the capture ends before it is known.
    pub(super) len: Option<usize>,
    /// The length in the message's RETH in bytes, if this packet begins the message.
    pub(super) announced: Option<u32>,
}

impl Position {
    /// Whether `opcode` can continue the message that has begun.
    pub(super) fn continues_with(&self, opcode: Opcode) -> bool {
        matches!(self, Self::Within(message)
            if message.kind == Kind::of(opcode) && (opcode.is_middle() || opcode.is_last()))
    }

    /// Takes the next packet, whose PSN is the expected one.
    pub(super) fn step(&mut self, step: &Step, faults: &mut Vec<Fault>) {
        if step.opcode.is_middle() || step.opcode.is_last() {
            self.go_on(step, faults);
        } else {
            if matches!(self, Self::Within(_)) {
                faults.push(Fault::OpcodeSequence { opcode: step.name, within_message: true });
            }
            *self = Self::begin(step, faults);
        }
    }

    fn begin(step: &Step, faults: &mut Vec<Fault>) -> Self {
        let found = step.len.map(|len| len as u64);
        if step.opcode.is_first() {
            return Self::Within(Message {
                kind: Kind::of(step.opcode),
                mtu: step.len.and_then(|len| u16::try_from(len).ok()),
                announced: step.announced,
                found,
            });
        }
        if matches!(Kind::of(step.opcode), Kind::Write | Kind::Read) {
            check_length(step.announced, found, faults);
        }
        Self::Between
    }

    fn go_on(&mut self, step: &Step, faults: &mut Vec<Fault>) {
        let kind = Kind::of(step.opcode);
        let mut message = match *self {
            Self::Within(message) if message.kind == kind => message,
            other => {
                if other != Self::Unknown {
                    let within_message = other != Self::Between;
                    faults.push(Fault::OpcodeSequence { opcode: step.name, within_message });
                }
                Message { kind, mtu: None, announced: None, found: Some(0) }
            }
        };
        let fits = |len: usize, mtu: u16| match step.opcode.is_middle() {
            true => len == usize::from(mtu),
            false => len <= usize::from(mtu),
        };
        if let (Some(mtu), Some(found)) = (message.mtu, step.len)
            && !fits(found, mtu)
        {
            let expected = match step.opcode.is_middle() {
                true => PayloadRule::PathMtu(mtu),
                false => PayloadRule::UpTo(mtu),
            };
            faults.push(Fault::PayloadLength { opcode: step.name, found, expected });
        }
        message.found = message.found.zip(step.len).map(|(found, len)| found + len as u64);
        if step.opcode.is_last() {
            check_length(message.announced, message.found, faults);
            *self = Self::Between;
        } else {
            message.mtu = message.mtu.or(step.len.and_then(|len| u16::try_from(len).ok()));
            *self = Self::Within(message);
        }
    }
}

fn check_length(announced: Option<u32>, found: Option<u64>, faults: &mut Vec<Fault>) {
    if let (Some(announced), Some(found)) = (announced, found)
        && u64::from(announced) != found
    {
        faults.push(Fault::DmaLength { announced, found });
    }
}
