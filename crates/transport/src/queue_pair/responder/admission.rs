//! What a request packet needs beyond its place in the sequence: the right to memory, and a
//! receive request. Asked only where there is memory or a receive queue to ask.

use rocelab_wire::{NakCode, Opcode, Syndrome};

use super::atomics::AtomicResults;
use crate::nic::Shared;
use crate::receive_queue::ReceiveQueue;
use crate::{
    ATOMIC_LENGTH, CompletionStatus, Packet, QueuePairConfig, ReceiveCompletion, ReceiveRequest,
    RemoteAccess,
};

/// Receive requests of one queue pair, and where the payload of the message that is arriving goes.
#[derive(Debug, Default)]
pub(in crate::queue_pair) struct Admission {
    queue: ReceiveQueue,
    /// What the message that is arriving has taken.
    taken: Option<ReceiveRequest>,
    /// Where the payload of the message that is arriving begins; nowhere if that is not known.
    address: Option<u64>,
    /// What its length is checked against; nothing if its first packet was not looked at, because
    /// there was no memory yet.
    bounds: Option<Bounds>,
    rnr_timer: u8,
    qpn: u32,
    results: AtomicResults,
}

rocelab_state::state!(Admission {
    values: taken, address, bounds, results;
    states: queue;
    kept: rnr_timer, qpn
});

/// How long a message may be.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
enum Bounds {
    /// A SEND: room for its payload (bytes).
    Send(u32),
    /// A WRITE: what its RETH announced (bytes).
    Write(u32),
}

impl Bounds {
    /// Whether a message may have come to `bytes`, and end there if it ends.
    const fn allow(self, bytes: u32, ends: bool) -> bool {
        match self {
            Self::Send(room) => bytes <= room,
            Self::Write(announced) => bytes == announced || bytes < announced && !ends,
        }
    }
}

/// Why a packet is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::queue_pair) enum Refusal {
    /// There is no receive request.
    NotReady,
    /// The key or the bounds do not allow it.
    Access,
    /// It is longer, or shorter, than announced, or than the buffer.
    Length,
    /// It makes no sense: its opcode, or an unaligned address.
    Invalid,
}

impl Refusal {
    /// What the peer is told, who is asked to wait for `rnr_timer` if for anything.
    pub(in crate::queue_pair) const fn syndrome(self, rnr_timer: u8) -> Syndrome {
        match self {
            Self::NotReady => Syndrome::RnrNak { timer_code: rnr_timer },
            Self::Access => Syndrome::Nak(NakCode::RemoteAccessError),
            Self::Length | Self::Invalid => Syndrome::Nak(NakCode::InvalidRequest),
        }
    }
}

impl Admission {
    pub(in crate::queue_pair) fn new(config: &QueuePairConfig) -> Self {
        Self {
            queue: ReceiveQueue::new(config.receive_queue),
            taken: None,
            address: None,
            bounds: None,
            rnr_timer: config.profile.rnr_timer & 0x1f,
            qpn: config.qpn,
            results: AtomicResults::default(),
        }
    }

    /// The results of the latest atomic operations.
    pub(super) const fn results(&self) -> &AtomicResults {
        &self.results
    }

    /// The same, to add to.
    pub(super) const fn results_mut(&mut self) -> &mut AtomicResults {
        &mut self.results
    }

    /// One for a queue pair whose SENDs do not always find a buffer.
    pub(in crate::queue_pair) fn if_needed(config: &QueuePairConfig) -> Option<Self> {
        Some(Self::new(config)).filter(|admission| !admission.queue.is_endless())
    }

    /// Whether [`admit`](Self::admit) and [`complete`](Self::complete) have anything to do.
    pub(in crate::queue_pair) fn is_needed(&self, shared: &Shared) -> bool {
        !self.queue.is_endless() || shared.memory.is_some()
    }

    /// How long a requester is asked to wait: the code of an RNR NAK.
    pub(in crate::queue_pair) const fn rnr_timer(&self) -> u8 {
        self.rnr_timer
    }

    /// The receive queue.
    pub(in crate::queue_pair) const fn queue_mut(&mut self) -> &mut ReceiveQueue {
        &mut self.queue
    }

    /// Takes what a packet needs, which is in order, after `so_far` bytes of its message, and puts
    /// its payload into memory.
    #[cold]
    pub(in crate::queue_pair) fn admit(
        &mut self,
        packet: &Packet,
        so_far: u32,
        shared: &mut Shared,
    ) -> Result<(), Refusal> {
        let opcode = packet.opcode();
        if let Some(reth) = packet.reth() {
            let read = opcode.is_rdma_read_request();
            let wanted = if read { RemoteAccess::Read } else { RemoteAccess::Write };
            let length = u64::from(reth.dma_length);
            check_access(shared, reth.r_key, reth.virtual_address, length, wanted)?;
            if read {
                return Ok(());
            }
            self.address = Some(reth.virtual_address);
            self.bounds = Some(Bounds::Write(reth.dma_length));
        }
        if opcode.has_atomic_eth() {
            return Ok(()); // It is checked as it is executed.
        }
        let starts_send = opcode.is_send() && (opcode.is_first() || opcode.is_only());
        if starts_send || opcode.has_immdt() {
            self.take_receive(starts_send, shared)?;
        }
        let bytes = so_far.saturating_add(u32::from(packet.payload_len()));
        let ends = opcode.is_last() || opcode.is_only();
        if !self.bounds.is_none_or(|bounds| bounds.allow(bytes, ends)) {
            return Err(Refusal::Length);
        }
        self.store(so_far, shared);
        Ok(())
    }

    /// The message ended with this packet, `bytes` long: its receive request completes.
    #[cold]
    pub(in crate::queue_pair) fn complete(
        &mut self,
        packet: &Packet,
        bytes: u32,
        shared: &mut Shared,
    ) {
        self.forget_message();
        let invalidated = packet.ieth().map(|ieth| ieth.r_key);
        if let (Some(r_key), Some(memory)) = (invalidated, &mut shared.memory) {
            memory.invalidate(r_key);
        }
        let Some(request) = self.taken.take() else { return };
        shared.receive_completions.push_back(ReceiveCompletion {
            bytes,
            immediate: packet.immdt().map(|immediate| immediate.0),
            invalidated,
            solicited: packet.solicited_event(),
            from: shared.source_of(packet),
            ..self.ended(request, CompletionStatus::Success)
        });
    }

    /// The message that was arriving will not be completed; its receive request serves the next.
    pub(in crate::queue_pair) const fn forget_message(&mut self) {
        (self.address, self.bounds) = (None, None);
    }

    /// The queue pair has failed: the receive request of the message that was arriving ends with
    /// `status`, those that wait are flushed.
    pub(in crate::queue_pair) fn flush(&mut self, status: CompletionStatus, shared: &mut Shared) {
        if let Some(request) = self.taken.take() {
            shared.receive_completions.push_back(self.ended(request, status));
        }
        for request in self.queue.drain() {
            let flushed = self.ended(request, CompletionStatus::Flushed);
            shared.receive_completions.push_back(flushed);
        }
    }

    /// The completion of a request that brought nothing.
    pub(in crate::queue_pair) const fn ended(
        &self,
        request: ReceiveRequest,
        status: CompletionStatus,
    ) -> ReceiveCompletion {
        ReceiveCompletion {
            qpn: self.qpn,
            id: request.id,
            status,
            bytes: 0,
            immediate: None,
            invalidated: None,
            solicited: false,
            from: None,
        }
    }

    /// The receive request of a SEND says where its payload goes; that of a WRITE with immediate
    /// says nothing. A message that started again has its request already.
    fn take_receive(&mut self, is_send: bool, shared: &mut Shared) -> Result<(), Refusal> {
        if self.taken.is_none() {
            self.taken = self.queue.take(&mut shared.receive_queues);
        }
        match self.taken {
            Some(request) if is_send => {
                self.address = Some(request.address);
                self.bounds = Some(Bounds::Send(request.length));
            }
            Some(_) => {}
            None if self.queue.is_endless() => {
                if is_send {
                    (self.address, self.bounds) = (None, Some(Bounds::Send(u32::MAX)));
                }
            }
            None => return Err(Refusal::NotReady),
        }
        Ok(())
    }

    fn store(&self, so_far: u32, shared: &mut Shared) {
        let Shared { memory: Some(memory), arriving: Some(content), .. } = shared else { return };
        if let Some(address) = self.address {
            memory.store(address.wrapping_add(u64::from(so_far)), content.payload());
        }
    }
}

/// Whether an atomic operation may be executed.
pub(super) fn check_atomic(packet: &Packet, shared: &Shared) -> Result<(), Refusal> {
    let Some(atomic) = packet.atomic_eth(shared.arriving_operands()) else {
        return Err(Refusal::Invalid);
    };
    let (r_key, address) = (atomic.r_key, atomic.virtual_address);
    if !address.is_multiple_of(u64::from(ATOMIC_LENGTH)) {
        return Err(Refusal::Invalid);
    }
    check_access(shared, r_key, address, u64::from(ATOMIC_LENGTH), RemoteAccess::Atomic)
}

fn check_access(
    shared: &Shared,
    r_key: u32,
    address: u64,
    length: u64,
    wanted: RemoteAccess,
) -> Result<(), Refusal> {
    let memory = shared.memory.as_ref();
    let allowed = memory.is_none_or(|memory| memory.allows(r_key, address, length, wanted));
    if allowed { Ok(()) } else { Err(Refusal::Access) }
}

/// Executes an atomic operation, and gives what was in memory before.
pub(super) fn execute_atomic(packet: &Packet, shared: &mut Shared) -> u64 {
    let operands = shared.arriving_operands();
    let Some(atomic) = packet.atomic_eth(operands) else { return 0 };
    let swaps = packet.opcode() == Opcode::RcCompareSwap;
    shared.exchange(atomic.virtual_address, |value| match (swaps, value == atomic.compare) {
        (true, true) => atomic.swap_or_add,
        (true, false) => value,
        (false, _) => value.wrapping_add(atomic.swap_or_add),
    })
}
