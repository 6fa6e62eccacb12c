//! The NIC of a host that takes time: what is posted reaches it later, and programs hear of completions later.

use std::collections::VecDeque;
use std::sync::Arc;

use rocelab_host::{Accepted, Arriving, HostPath, Kind, Later, Posted};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::{FIRST_QPN, Nic};
use crate::{
    AddressHandle, Completion, Offer, Operation, Packet, PostError, QueuePairConfig,
    QueuePairProfile, ReceiveCompletion, Transmit, WorkRequest,
};

/// The host behind a NIC, and what is on its way between both.
#[derive(Debug)]
pub struct HostSide {
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
    /// The last profile of queue pairs that were made, as it was and as it is here: many have the same.
    profile: Option<(Arc<QueuePairProfile>, Arc<QueuePairProfile>)>,
}

rocelab_state::state!(HostSide {
    values: posted, waiting, taken_up, completions, receive_completions;
    states: path;
    kept: queue_pairs, profile
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
    /// A queue pair of this number was made before the run begins.
    pub fn note_early_queue_pair(&mut self, qpn: u32) {
        if let Some(index) = qpn.checked_sub(FIRST_QPN) {
            self.queue_pairs = self.queue_pairs.max(index + 1);
            self.path.add_queue_pair(index);
        }
    }

    /// A queue pair as it is here: its rate and window follow feedback later.
    pub(super) fn hosted(&mut self, config: QueuePairConfig) -> QueuePairConfig {
        let control_latency = self.path.profile().control_latency;
        if control_latency == Duration::ZERO {
            return config;
        }
        let known = self.profile.take().filter(|(given, _)| Arc::ptr_eq(given, &config.profile));
        let (given, hosted) = known.unwrap_or_else(|| {
            let hosted = QueuePairProfile { control_latency, ..(*config.profile).clone() };
            (config.profile.clone(), Arc::new(hosted))
        });
        self.profile = Some((given, hosted.clone()));
        QueuePairConfig { profile: hosted, ..config }
    }

    /// When a packet that arrives reaches its queue pair; at once if nothing is said. With `credited`, its sender waits until
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
        let Some(index) = self.place_of(packet.dest_qp()) else { return Ok(None) };
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
        self.path.accept(now, &arriving).map(Some).ok_or(NoRoom)
    }

    /// A packet reaches its queue pair, whose payload memory has at that time.
    pub fn note_reached(&mut self, packet: &Packet, written: SimTime) {
        if let Some(index) = self.place_of(packet.dest_qp()) {
            self.path.note_reached(index, written);
        }
    }

    /// When a program finds the payload that has just arrived for a queue pair.
    pub fn found_at(&mut self, now: SimTime, qpn: u32) -> SimTime {
        self.path.complete(now, qpn.wrapping_sub(FIRST_QPN), true)
    }

    /// Whether something is on its way between programs and the NIC.
    pub fn is_busy(&self) -> bool {
        self.on_their_way() > 0
    }

    /// Work requests and completions that are between programs and the NIC.
    pub fn on_their_way(&self) -> u64 {
        let completions = self.completions.len() + self.receive_completions.len();
        self.requests().count() as u64 + completions
    }

    /// Completions of receive requests that programs have not found yet, by time.
    pub fn receive_completions(&self) -> impl Iterator<Item = &ReceiveCompletion> {
        self.receive_completions.iter().map(|(_, one)| one)
    }

    /// Whether work requests of a queue pair are on their way to the NIC.
    pub fn has_requests_of(&self, qpn: u32) -> bool {
        self.requests().any(|posted| posted.qpn == qpn)
    }

    /// The way between programs and the port.
    pub const fn path(&self) -> &HostPath {
        &self.path
    }

    /// Bytes in the NIC's buffer.
    pub fn buffered(&mut self, now: SimTime) -> u64 {
        self.path.buffered(now)
    }

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
            profile: None,
        }));
    }

    /// The host that the NIC is in, if that takes time.
    pub fn host(&self) -> Option<&HostSide> {
        self.host.as_deref()
    }

    /// The same, to change.
    pub fn host_mut(&mut self) -> Option<&mut HostSide> {
        self.host.as_deref_mut()
    }

    /// What it does in a host that may take time.
    pub const fn in_host(&mut self) -> HostedNic<'_> {
        HostedNic(self)
    }
}

/// A NIC in a host that may take time.
#[derive(Debug)]
pub struct HostedNic<'a>(&'a mut Nic);

impl HostedNic<'_> {
    /// [`Nic::poll_transmit`]: nothing with payload leaves before it is fetched.
    pub fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<Transmit> {
        let Some(host) = &self.0.host else { return self.0.poll_transmit(now, paused) };
        let is_fetched = host.path.departure() <= now;
        if let Some(transmit) = self.0.take_control(paused) {
            return Some(transmit);
        }
        self.0.release(now);
        if !is_fetched {
            return None;
        }
        let index = self.0.arbitration.pop(paused)?;
        let transmit = self.0.take_data(now, index)?;
        if let Some(host) = &mut self.0.host {
            let is_answer = transmit.packet.opcode().is_response();
            host.path.depart(now, index, transmit.packet.payload_len().into(), is_answer);
        }
        Some(transmit)
    }

    /// [`Nic::offer`]: data that is not fetched is none.
    pub fn offer(&self, now: SimTime, paused: u8) -> Offer {
        let offer = self.0.offer(paused);
        match &self.0.host {
            Some(host) if host.path.departure() > now => Offer { data: 0, ..offer },
            _ => offer,
        }
    }

    /// When the host has something next, after `now`; [`SimTime::NEVER`] if it has nothing on its way.
    pub fn poll_timeout(&self, now: SimTime) -> SimTime {
        let Some(host) = &self.0.host else { return SimTime::NEVER };
        let waits = self.0.offer(0).data != 0;
        let departure = host.path.departure();
        let fetched = if waits && departure > now { departure } else { SimTime::NEVER };
        let completions = host.completions.next().min(host.receive_completions.next());
        host.next().min(completions).min(fetched)
    }

    /// Takes the work requests that have reached it by now.
    pub fn take_posted(&mut self, now: SimTime) {
        loop {
            let Some(host) = &mut self.0.host else { return };
            host.go_on(now);
            let Some(OnItsWay { qpn, work, to }) = host.taken_up.pop_due(now) else { return };
            // A queue pair that has gone meanwhile has no completions either.
            let _ = self.0.post_now(now, qpn, work, to);
        }
    }

    /// The next completion that a program has found by now.
    pub fn poll_completion(&mut self, now: SimTime) -> Option<Completion> {
        let Some(host) = &mut self.0.host else { return self.0.poll_completion() };
        while let Some(completion) = self.0.shared.completions.pop_front() {
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
    pub fn poll_receive_completion(&mut self, now: SimTime) -> Option<ReceiveCompletion> {
        let Some(host) = &mut self.0.host else { return self.0.poll_receive_completion() };
        while let Some(completion) = self.0.shared.receive_completions.pop_front() {
            let index = completion.qpn.wrapping_sub(FIRST_QPN);
            let found = host.path.complete(now, index, true);
            host.receive_completions.push(found, completion);
        }
        let found = host.receive_completions.pop_due(now)?;
        host.path.note_found(now, found.qpn.wrapping_sub(FIRST_QPN));
        Some(found)
    }

    /// Posts work on a host that takes time: it reaches the NIC later.
    pub(super) fn post(
        &mut self,
        now: SimTime,
        qpn: u32,
        work: WorkRequest,
        to: Option<AddressHandle>,
    ) -> Result<(), PostError> {
        let known = self.0.has_queue_pair(qpn);
        let (Some(host), true) = (&mut self.0.host, known) else {
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
