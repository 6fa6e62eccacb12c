//! The NIC of a host that takes time: what is posted reaches it later, and programs hear of completions later.

use std::collections::VecDeque;

use rocelab_host::{Accepted, Arriving, HostPath, Kind, Later, Posted};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

use super::{FIRST_QPN, Nic};
use crate::{
    AddressHandle, Completion, Offer, Operation, Packet, PostError, ReceiveCompletion, Transmit,
    WorkRequest,
};

/// The host behind a NIC, and what is on its way between both.
#[derive(Debug)]
pub(crate) struct HostSide {
    path: HostPath,
    /// Queue pairs that there may be, from the first number on.
    queue_pairs: u32,
    /// Work requests on their way to the NIC.
    posted: Later<OnItsWay>,
    /// Those that have come to it and wait for a unit of its pipeline.
    waiting: VecDeque<OnItsWay>,
    /// Those that it fetches.
    taken_up: Later<OnItsWay>,
    /// Completions on their way to programs.
    completions: Later<Completion>,
    /// The same of receive requests.
    receive_completions: Later<ReceiveCompletion>,
}

rocelab_state::state!(HostSide {
    values: posted, waiting, taken_up, completions, receive_completions;
    states: path;
    kept: queue_pairs
});

/// A work request that the NIC does not know of yet.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct OnItsWay {
    qpn: u32,
    work: WorkRequest,
    to: Option<AddressHandle>,
}

impl OnItsWay {
    /// As the host sees it.
    fn posted(&self) -> Posted {
        let kind = match self.work.operation {
            Operation::Read | Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => {
                Kind::Inbound
            }
            _ => Kind::Outbound,
        };
        Posted { index: self.qpn.wrapping_sub(FIRST_QPN), kind, bytes: self.work.length }
    }
}

impl HostSide {
    /// When it has something next for the NIC.
    fn next(&self) -> SimTime {
        let unit = if self.waiting.is_empty() { SimTime::NEVER } else { self.path.unit_free_at() };
        self.posted.next().min(self.taken_up.next()).min(unit)
    }

    /// Work requests go on to where they are by now.
    fn go_on(&mut self, now: SimTime) {
        while let Some(one) = self.posted.pop_due(now) {
            self.waiting.push_back(one);
        }
        while self.path.unit_free_at() <= now
            && let Some(one) = self.waiting.pop_front()
        {
            let ready = self.path.take_up(now, one.posted());
            self.taken_up.push(ready, one);
        }
    }

    /// The place of a queue pair, if it is one of those that there may be: what arrives for others is not delayed.
    fn place_of(&self, qpn: u32) -> Option<u32> {
        qpn.checked_sub(FIRST_QPN).filter(|&index| index < self.queue_pairs)
    }

    /// Work requests that have been posted and have not reached the NIC.
    fn requests(&self) -> impl Iterator<Item = &OnItsWay> {
        let later = self.posted.iter().chain(self.taken_up.iter()).map(|(_, one)| one);
        later.chain(&self.waiting)
    }
}

impl Nic {
    /// Puts the NIC into a host that takes time. Without, hosts take none.
    pub fn set_host(&mut self, path: HostPath) {
        self.host = Some(Box::new(HostSide {
            path,
            queue_pairs: 0,
            posted: Later::default(),
            waiting: VecDeque::new(),
            taken_up: Later::default(),
            completions: Later::default(),
            receive_completions: Later::default(),
        }));
    }

    /// The host that the NIC is in, if that takes time.
    pub fn host(&self) -> Option<&HostPath> {
        self.host.as_deref().map(|host| &host.path)
    }

    /// The same, to change.
    pub fn host_mut(&mut self) -> Option<&mut HostPath> {
        self.host.as_deref_mut().map(|host| &mut host.path)
    }

    /// A queue pair of this number was made before the run begins.
    pub fn note_early_queue_pair(&mut self, qpn: u32) {
        if let (Some(host), Some(index)) = (&mut self.host, qpn.checked_sub(FIRST_QPN)) {
            host.queue_pairs = host.queue_pairs.max(index + 1);
            host.path.add_queue_pair(index);
        }
    }

    /// [`poll_transmit`](Self::poll_transmit) on a host that may take time: nothing with payload leaves before it is fetched.
    pub fn poll_transmit_on_host(&mut self, now: SimTime, paused: u8) -> Option<Transmit> {
        let Some(host) = &self.host else { return self.poll_transmit(now, paused) };
        let is_fetched = host.path.departure() <= now;
        if let Some(transmit) = self.take_control(paused) {
            return Some(transmit);
        }
        self.release(now);
        if !is_fetched {
            return None;
        }
        let index = self.arbitration.pop(paused)?;
        let transmit = self.take_data(now, index)?;
        if let Some(host) = &mut self.host {
            let is_answer = transmit.packet.opcode().is_response();
            host.path.depart(now, index, transmit.packet.payload_len().into(), is_answer);
        }
        Some(transmit)
    }

    /// [`offer`](Self::offer) on a host that may take time.
    pub fn offer_on_host(&self, now: SimTime, paused: u8) -> Offer {
        let offer = self.offer(paused);
        match &self.host {
            Some(host) if host.path.departure() > now => Offer { data: 0, ..offer },
            _ => offer,
        }
    }

    /// When a packet that arrives reaches its queue pair, on a host that takes time. With `credited`, its sender waits until
    /// memory has taken it.
    ///
    /// # Errors
    /// If the buffer of the NIC is full.
    pub fn accept(
        &mut self,
        now: SimTime,
        packet: &Packet,
        frame_len: u32,
        credited: bool,
    ) -> Result<Option<Accepted>, NoRoom> {
        let Some(host) = &mut self.host else { return Ok(None) };
        let Some(index) = host.place_of(packet.dest_qp()) else { return Ok(None) };
        let opcode = packet.opcode();
        let reads = if opcode.is_rdma_read_request() {
            packet.reth().map_or(0, |reth| reth.dma_length)
        } else {
            0
        };
        let arriving = Arriving {
            index,
            frame_len,
            payload: packet.payload_len().into(),
            begins: opcode.is_first() || opcode.is_only(),
            is_request: opcode.is_request(),
            reads,
            is_atomic: opcode.is_atomic(),
            credited,
        };
        host.path.accept(now, &arriving).map(Some).ok_or(NoRoom)
    }

    /// When the host has something next, after `now`; [`SimTime::NEVER`] if it has nothing on its way.
    pub fn host_timeout(&self, now: SimTime) -> SimTime {
        let Some(host) = &self.host else { return SimTime::NEVER };
        let waits = self.offer(0).data != 0;
        let departure = host.path.departure();
        let fetched = if waits && departure > now { departure } else { SimTime::NEVER };
        let completions = host.completions.next().min(host.receive_completions.next());
        host.next().min(completions).min(fetched)
    }

    /// Takes the work requests that have reached it by now.
    pub fn take_posted(&mut self, now: SimTime) {
        loop {
            let Some(host) = &mut self.host else { return };
            host.go_on(now);
            let Some(OnItsWay { qpn, work, to }) = host.taken_up.pop_due(now) else { return };
            // A queue pair that has gone meanwhile has no completions either.
            let _ = self.post_now(now, qpn, work, to);
        }
    }

    /// A packet reaches its queue pair, whose payload memory has at that time.
    pub fn note_reached(&mut self, packet: &Packet, written: SimTime) {
        let Some(host) = &mut self.host else { return };
        if let Some(index) = host.place_of(packet.dest_qp()) {
            host.path.note_reached(index, written);
        }
    }

    /// The next completion that a program has found by now.
    pub fn poll_completion_at(&mut self, now: SimTime) -> Option<Completion> {
        let Some(host) = &mut self.host else { return self.poll_completion() };
        while let Some(completion) = self.shared.completions.pop_front() {
            let index = completion.qpn.wrapping_sub(FIRST_QPN);
            let with_payload = matches!(
                completion.operation,
                Operation::Read | Operation::CompareSwap { .. } | Operation::FetchAdd { .. }
            );
            let found = host.path.complete(now, index, with_payload);
            host.completions.push(found, completion);
        }
        let found = host.completions.pop_due(now)?;
        host.path.note_found(now, found.qpn.wrapping_sub(FIRST_QPN));
        Some(found)
    }

    /// The next completion of a receive request that a program has found by now.
    pub fn poll_receive_completion_at(&mut self, now: SimTime) -> Option<ReceiveCompletion> {
        let Some(host) = &mut self.host else { return self.poll_receive_completion() };
        while let Some(completion) = self.shared.receive_completions.pop_front() {
            let index = completion.qpn.wrapping_sub(FIRST_QPN);
            let found = host.path.complete(now, index, true);
            host.receive_completions.push(found, completion);
        }
        let found = host.receive_completions.pop_due(now)?;
        host.path.note_found(now, found.qpn.wrapping_sub(FIRST_QPN));
        Some(found)
    }

    /// When a program finds the payload that has just arrived for a queue pair.
    pub fn found_at(&mut self, now: SimTime, qpn: u32) -> SimTime {
        let index = qpn.wrapping_sub(FIRST_QPN);
        self.host_mut().map_or(now, |host| host.complete(now, index, true))
    }

    /// Whether something is on its way between programs and the NIC.
    pub fn is_host_busy(&self) -> bool {
        self.host.as_ref().is_some_and(|host| {
            let completions = host.completions.is_empty() && host.receive_completions.is_empty();
            host.requests().next().is_some() || !completions
        })
    }

    /// Work requests that have been posted and have not reached the NIC.
    pub fn posted_and_unknown(&self) -> u64 {
        self.host.as_ref().map_or(0, |host| host.requests().count() as u64)
    }

    /// Work requests of a queue pair that are on their way to the NIC.
    pub fn on_their_way(&self, qpn: u32) -> usize {
        let all = self.host.iter().flat_map(|host| host.requests());
        all.filter(|posted| posted.qpn == qpn).count()
    }

    /// Posts work on a host that takes time: it reaches the NIC later.
    pub(super) fn post_later(
        &mut self,
        now: SimTime,
        qpn: u32,
        work: WorkRequest,
        to: Option<AddressHandle>,
    ) -> Result<(), PostError> {
        let known = self.has_queue_pair(qpn);
        let (Some(host), true) = (&mut self.host, known) else {
            return Err(PostError::UnknownQueuePair { qpn });
        };
        let one = OnItsWay { qpn, work, to };
        let may = host.path.post(now, one.posted());
        host.posted.push(may, one);
        self.take_posted(now);
        Ok(())
    }
}

/// The NIC of a host that takes time has no room for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;
