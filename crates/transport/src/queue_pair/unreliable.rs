//! Without acknowledgements: the receiving half of unreliable connections and datagrams, and where
//! datagrams go.

use std::collections::VecDeque;

use super::message::Segmentation;
use super::responder::Admission;
use crate::nic::Shared;
use crate::sequence::{Sequence, expand, first_sequence};
use crate::{AddressHandle, CompletionStatus, Packet, QueuePairConfig, Service};

/// What a queue pair without acknowledgements has beyond a requester.
#[derive(Debug)]
pub(super) struct Unreliable {
    service: Service,
    /// The packet that continues the message, on a connection.
    expected: Sequence,
    /// The message that is arriving.
    message: Option<Arriving>,
    admission: Admission,
    segmentation: Segmentation,
    q_key: u32,
    /// Where the datagrams go that are posted and not sent.
    handles: VecDeque<AddressHandle>,
}

rocelab_state::state!(Unreliable {
    values: expected, message, handles;
    states: admission;
    kept: service, segmentation, q_key
});

#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Arriving {
    is_write: bool,
    /// Payload so far (bytes).
    bytes: u32,
}

impl Unreliable {
    pub(super) fn new(config: &QueuePairConfig) -> Self {
        Self {
            service: config.profile.service,
            expected: first_sequence(config.remote_initial_psn),
            message: None,
            admission: Admission::new(config),
            segmentation: Segmentation::new(config.profile.path_mtu),
            q_key: config.q_key,
            handles: VecDeque::new(),
        }
    }

    pub(super) const fn service(&self) -> Service {
        self.service
    }

    /// Where the datagrams go that are posted and not sent, oldest first.
    pub(super) const fn handles_mut(&mut self) -> &mut VecDeque<AddressHandle> {
        &mut self.handles
    }

    /// Receive requests.
    pub(super) const fn admission_mut(&mut self) -> &mut Admission {
        &mut self.admission
    }

    /// Whether it is a request of this transport service.
    pub(super) const fn is_for_it(&self, packet: &Packet) -> bool {
        let opcode = packet.opcode();
        opcode as u8 >> 5 == self.service.transport() as u8 && opcode.is_request()
    }

    /// A request packet of this transport service. What cannot be used is dropped without a word, with the rest of its
    /// message.
    pub(super) fn on_request(&mut self, packet: &Packet, shared: &mut Shared) {
        let opcode = packet.opcode();
        let sequence = expand(packet.psn(), self.expected);
        let starts = opcode.is_first() || opcode.is_only();
        let continues = sequence == self.expected
            && self.message.is_some_and(|message| message.is_write == opcode.is_rdma_write());
        self.expected = sequence + 1;
        if packet.deth().is_some_and(|deth| deth.q_key != self.q_key) {
            shared.counters.wrong_key += 1;
        } else if !(starts || continues) || !self.fits(packet) {
            self.give_up(shared);
        } else {
            self.accept(packet, starts, shared);
        }
    }

    /// The queue pair has failed: receive requests are flushed.
    pub(super) fn abandon(&mut self, shared: &mut Shared) {
        self.handles.clear();
        self.admission.flush(CompletionStatus::Flushed, shared);
    }

    fn fits(&self, packet: &Packet) -> bool {
        let full = self.segmentation.payload(u32::MAX);
        let opcode = packet.opcode();
        if opcode.is_first() || opcode.is_middle() {
            packet.payload_len() == full
        } else {
            packet.payload_len() <= full
        }
    }

    fn accept(&mut self, packet: &Packet, starts: bool, shared: &mut Shared) {
        let opcode = packet.opcode();
        let fresh = Arriving { is_write: opcode.is_rdma_write(), bytes: 0 };
        let mut message = self.message.filter(|_| !starts).unwrap_or(fresh);
        let is_guarded = self.admission.is_needed(shared);
        if is_guarded && self.admission.admit(packet, message.bytes, shared).is_err() {
            return self.give_up(shared);
        }
        message.bytes = message.bytes.saturating_add(u32::from(packet.payload_len()));
        shared.counters.payload_accepted += u64::from(packet.payload_len());
        self.message = Some(message);
        if opcode.is_last() || opcode.is_only() {
            self.message = None;
            shared.counters.messages_delivered += 1;
            shared.counters.payload_delivered += u64::from(message.bytes);
            if is_guarded {
                self.admission.complete(packet, message.bytes, shared);
            }
        }
    }

    /// The message that is arriving is lost; its receive request serves the next one.
    fn give_up(&mut self, shared: &mut Shared) {
        shared.counters.out_of_order += 1;
        self.message = None;
        self.admission.forget_message();
    }
}
