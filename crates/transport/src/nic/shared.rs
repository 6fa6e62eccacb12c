//! What the queue pairs of a NIC share.

use std::collections::{BTreeMap, VecDeque};

use super::control::ControlQueues;
use crate::receive_queue::SharedReceiveQueues;
use crate::{
    AtomicOperands, Completion, Content, Counters, DatagramSource, Memory, Packet, PathMigration,
    ReceiveCompletion,
};

/// What queue pairs produce, and what they have in common.
///
/// The fields stand in the order of their use: what every packet touches comes first.
#[derive(Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
#[repr(C)]
pub(crate) struct Shared {
    pub(crate) completions: VecDeque<Completion>,
    /// None: every access is allowed, and nobody looks at what is there. Only the owner of the NIC
    /// changes that: what arrives for one queue pair must not change the rules of the others.
    pub(crate) memory: Option<Box<Memory>>,
    pub(crate) counters: Counters,
    pub(crate) control: ControlQueues,
    pub(crate) receive_completions: VecDeque<ReceiveCompletion>,
    pub(crate) receive_queues: SharedReceiveQueues,
    /// What came beside the packet that is received.
    pub(crate) arriving: Option<Content>,
    /// Who sent it, where that was said.
    pub(crate) source: u32,
    /// What goes beside the packet that left last.
    pub(crate) departing: Option<Content>,
    /// What atomic operations wrote, by address, while there is no memory to look at; zero elsewhere.
    words: BTreeMap<u64, u64>,
    /// Queue pairs that took their alternate paths, in order.
    pub(crate) migrations: Vec<PathMigration>,
    /// Queue pairs that have sent and are not done.
    pub(crate) active: u32,
    /// Where the seeds of congestion controls come from.
    pub(crate) control_seed: u64,
}

impl Shared {
    /// Of a NIC whose congestion controls have seeds from this one.
    pub(crate) fn new(control_seed: u64) -> Self {
        Self { control_seed, ..Self::default() }
    }

    /// The operands of the atomic operation that is received.
    pub(crate) fn arriving_operands(&self) -> AtomicOperands {
        match &self.arriving {
            Some(Content::Operands(operands)) => *operands,
            Some(Content::Payload(_)) | None => AtomicOperands::default(),
        }
    }

    /// Who sent the datagram that is received.
    pub(crate) fn source_of(&self, packet: &Packet) -> Option<DatagramSource> {
        packet.deth().map(|deth| DatagramSource { host: self.source, qpn: deth.src_qp })
    }

    /// Stores `change(value)` in the eight bytes at `address`, and gives the value before.
    pub(crate) fn exchange(&mut self, address: u64, change: impl FnOnce(u64) -> u64) -> u64 {
        if let Some(memory) = &mut self.memory {
            return memory.exchange(address, change);
        }
        let word = self.words.entry(address).or_default();
        let before = *word;
        *word = change(before);
        before
    }

    /// Gives the NIC memory to look at, in place of all that was there.
    pub(super) fn set_memory(&mut self, memory: Memory) {
        self.words.clear();
        self.memory = Some(Box::new(memory));
    }

    /// Puts the payload at `address` beside a packet that leaves, where memory holds bytes.
    #[cold]
    pub(crate) fn load(&mut self, packet: Packet, address: u64) -> Packet {
        let Some(memory) = self.memory.as_ref().filter(|memory| memory.has_bytes()) else {
            return packet;
        };
        if packet.payload_len() == 0 {
            return packet;
        }
        let payload = memory.load(address, usize::from(packet.payload_len()));
        self.departing = Some(Content::Payload(payload));
        packet.with_content(true)
    }
}
