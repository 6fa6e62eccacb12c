//! What a program asks of its NIC: to post work, to register memory, to change states.

use std::collections::VecDeque;

use rocelab_units::SimTime;

use super::Nic;
use crate::{
    ATOMIC_LENGTH, AddressHandle, Content, MAX_MESSAGE_LENGTH, Memory, PostError, QueuePairState,
    ReceiveRequest, StateError, Transmit, WorkRequest,
};

impl Nic {
    /// Posts work. It leaves with the next [`poll_transmit`](Self::poll_transmit) calls, in the
    /// order of posting, and ends as a completion, also on a queue pair in the error state. Atomic
    /// operations are 8 bytes long, whatever the work request says.
    ///
    /// # Errors
    /// [`PostError`]; then nothing was posted.
    pub fn post_send(
        &mut self,
        now: SimTime,
        qpn: u32,
        work: WorkRequest,
    ) -> Result<(), PostError> {
        self.post(now, qpn, work, None)
    }

    /// Posts a datagram: SEND, with or without immediate, of at most the path MTU.
    ///
    /// # Errors
    /// [`PostError`]; then nothing was posted.
    pub fn post_datagram(
        &mut self,
        now: SimTime,
        qpn: u32,
        work: WorkRequest,
        to: AddressHandle,
    ) -> Result<(), PostError> {
        self.post(now, qpn, work, Some(to))
    }

    /// Sends a packet that no queue pair made, such as a management datagram, with its content. It
    /// leaves as acknowledgements do: before data, and at no pace.
    ///
    /// # Panics
    /// If the packet does not say that it [has content](crate::Packet::has_content).
    pub fn send_datagram(&mut self, transmit: Transmit, content: Content) {
        assert!(transmit.packet.has_content(), "the packet says that it has content");
        self.shared.control.push_with_content(transmit, content);
    }

    /// Counts a connection whose answer came when it had been given up.
    pub const fn note_late_connection(&mut self) {
        self.shared.counters.late_connections += 1;
    }

    /// Counts a completion event, after which a program found so many completions.
    pub const fn note_completion_event(&mut self, completions: u64) {
        self.shared.counters.completion_events += 1;
        self.shared.counters.completions_after_events += completions;
    }

    /// Posts a receive request to a queue pair that has a queue of
    /// [its own](crate::ReceiveQueueConfig::Own).
    ///
    /// # Errors
    /// [`PostError`]; then nothing was posted.
    pub fn post_receive(&mut self, qpn: u32, request: ReceiveRequest) -> Result<(), PostError> {
        let index = self.queue_pairs.index_of(qpn).ok_or(PostError::UnknownQueuePair { qpn })?;
        let queue_pair = self.queue_pairs.get_mut(index);
        let queue_pair = queue_pair.ok_or(PostError::UnknownQueuePair { qpn })?;
        queue_pair.post_receive(request, &mut self.shared)
    }

    /// Adds an empty receive queue that queue pairs can
    /// [share](crate::ReceiveQueueConfig::Shared), and gives its number.
    pub fn create_shared_receive_queue(&mut self) -> u32 {
        self.shared.receive_queues.push(VecDeque::new());
        u32::try_from(self.shared.receive_queues.len() - 1).unwrap_or(u32::MAX)
    }

    /// Posts a receive request to a shared receive queue.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn post_shared_receive(
        &mut self,
        srqn: u32,
        request: ReceiveRequest,
    ) -> Result<(), PostError> {
        let queue = self.shared.receive_queues.get_mut(srqn as usize);
        queue.ok_or(PostError::UnknownReceiveQueue { srqn })?.push_back(request);
        Ok(())
    }

    /// Puts a queue pair into another state: step by step to "ready to send", or into "error",
    /// which flushes all its work.
    ///
    /// # Errors
    /// If there is no such queue pair, or one state does not follow the other.
    pub fn modify_queue_pair(
        &mut self,
        now: SimTime,
        qpn: u32,
        to: QueuePairState,
    ) -> Result<(), StateError> {
        self.with_queue_pair(now, qpn, |queue_pair, shared| queue_pair.modify(to, shared))
            .unwrap_or(Err(StateError::UnknownQueuePair { qpn }))
    }

    /// Gives the NIC memory to look at; without, every access is allowed. What was there before is
    /// replaced. A message that has begun to arrive ends as it began: unchecked, if nothing was
    /// checked before.
    pub fn set_memory(&mut self, memory: Memory) {
        self.shared.set_memory(memory);
    }

    /// The memory behind the NIC, if it [was given](Self::set_memory) any to look at.
    pub fn memory(&self) -> Option<&Memory> {
        self.shared.memory.as_deref()
    }

    /// The same, to change.
    pub fn memory_mut(&mut self) -> Option<&mut Memory> {
        self.shared.memory.as_deref_mut()
    }

    fn post(
        &mut self,
        now: SimTime,
        qpn: u32,
        mut work: WorkRequest,
        to: Option<AddressHandle>,
    ) -> Result<(), PostError> {
        if work.operation.is_atomic() {
            work.length = ATOMIC_LENGTH;
        }
        if work.length > MAX_MESSAGE_LENGTH {
            return Err(PostError::TooLong { length: work.length });
        }
        if self.host.is_some() {
            return self.in_host().post(now, qpn, work, to);
        }
        self.post_now(now, qpn, work, to)
    }

    /// The NIC knows of work that was posted.
    pub(super) fn post_now(
        &mut self,
        now: SimTime,
        qpn: u32,
        work: WorkRequest,
        to: Option<AddressHandle>,
    ) -> Result<(), PostError> {
        self.with_queue_pair(now, qpn, |queue_pair, shared| queue_pair.post_send(&work, to, shared))
            .unwrap_or(Err(PostError::UnknownQueuePair { qpn }))
    }
}
