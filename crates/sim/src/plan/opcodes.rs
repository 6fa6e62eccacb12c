//! Sets of opcodes.

use rocelab_fabric::LinkFlowControl;
use rocelab_transport::Packet;
use rocelab_wire::{Opcode, Syndrome};

/// What a rule calls negative acknowledgements.
const NAK: &str = "nak";

/// Which packets a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeSet {
    /// Bit k: opcode k.
    opcodes: [u64; 4],
    /// Negative acknowledgements, also where acknowledgements are not meant.
    nak: bool,
    /// Bit k: the frames of the k-th flow control of links.
    controls: u8,
}

impl OpcodeSet {
    /// Every RDMA packet, and no pause frame.
    pub const RDMA: Self = Self { opcodes: [u64::MAX; 4], nak: true, controls: 0 };

    pub(crate) const EMPTY: Self = Self { opcodes: [0; 4], nak: false, controls: 0 };

    /// Whether the packet is one of them.
    pub fn contains(&self, packet: &Packet) -> bool {
        self.holds(packet.opcode()) || self.nak && is_negative(packet)
    }

    /// Whether the frames of a flow control of links are among them.
    pub(crate) const fn has_frames_of(&self, control: LinkFlowControl) -> bool {
        self.controls & 1 << control as u8 != 0
    }

    /// The flow controls of links whose frames are among them.
    pub(crate) fn controls(&self) -> impl Iterator<Item = LinkFlowControl> + '_ {
        LinkFlowControl::ALL.iter().copied().filter(|&control| self.has_frames_of(control))
    }

    /// Whether packets with payload are among them.
    pub(crate) fn has_payload(&self) -> bool {
        Opcode::ALL.iter().any(|&opcode| opcode.has_payload() && self.holds(opcode))
    }

    const fn holds(&self, opcode: Opcode) -> bool {
        let number = opcode as u8;
        self.opcodes[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    fn insert(&mut self, opcode: Opcode) {
        let number = opcode as u8;
        self.opcodes[usize::from(number / 64)] |= 1 << (number % 64);
    }

    /// Adds what `name` stands for; false if it stands for nothing.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        let is_name = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((_, is_in_class)) = CLASSES.iter().find(|(class, _)| is_name(class)) {
            let class = Opcode::ALL.iter().filter(|opcode| is_in_class(**opcode));
            class.for_each(|opcode| self.insert(*opcode));
        } else if is_name(NAK) {
            self.nak = true;
        } else if let Some(&control) =
            LinkFlowControl::ALL.iter().find(|control| is_name(control.frame_name()))
        {
            self.controls |= 1 << control as u8;
        } else {
            let named = Opcode::ALL.iter().find(|opcode| is_name(opcode.name()));
            named.inspect(|opcode| self.insert(**opcode));
            return named.is_some();
        }
        true
    }

    /// Every name that a rule may use.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let classes = CLASSES.iter().map(|(class, _)| *class).chain([NAK]);
        let controls = LinkFlowControl::ALL.iter().map(|control| control.frame_name());
        let classes = classes.chain(controls);
        classes.chain(Opcode::ALL.iter().map(|opcode| opcode.name()))
    }
}

/// A name, and which opcodes it stands for.
type Class = (&'static str, fn(Opcode) -> bool);

/// Names that stand for several opcodes.
const CLASSES: [Class; 4] = [
    ("data", Opcode::has_payload),
    ("request", Opcode::is_request),
    ("response", Opcode::is_response),
    ("ack", |opcode| opcode.is_response() && !opcode.has_payload() && !opcode.has_atomic_ack_eth()),
];

fn is_negative(packet: &Packet) -> bool {
    packet
        .aeth()
        .is_some_and(|aeth| matches!(aeth.syndrome, Syndrome::Nak(_) | Syndrome::RnrNak { .. }))
}
