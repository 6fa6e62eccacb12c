//! The NIC: queue pairs, arbitration between them, and their timers.

mod arbitration;
mod checkpoint;
mod control;
mod host_side;
mod looking;
mod queue_pairs;
mod ready;
mod shared;
mod timers;
mod verbs;

use rocelab_units::SimTime;
use rocelab_wire::TelemetryHeader;

use self::arbitration::Arbitration;
pub use self::host_side::{HostSide, HostedNic, NoRoom};
pub use self::looking::Backlog;
pub use self::queue_pairs::FIRST_QPN;
use self::queue_pairs::{MAX_QPN, QueuePairs};
pub(crate) use self::shared::Shared;
pub use self::timers::Timer;
use crate::congestion_control::Telemetry;
use crate::queue_pair::{QueuePair, Schedule};
use crate::{
    Completion, Content, Counters, NicConfig, Offer, Packet, PathMigration, QueuePairConfig,
    QueuePairState, ReceiveCompletion, Transmit,
};

/// One RDMA NIC with one port.
///
/// Nothing happens inside by itself: the owner calls [`receive`](Self::receive) for each packet,
/// [`poll_transmit`](Self::poll_transmit) whenever the port is free, and
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout) and, if
/// nothing else can be sent, at [`next_release`](Self::next_release).
///
/// The fields stand in the order of their use: what every packet touches comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Nic {
    queue_pairs: QueuePairs,
    arbitration: Arbitration,
    shared: Shared,
    config: NicConfig,
    /// Only where hosts take time.
    host: Option<Box<HostSide>>,
}

impl Nic {
    /// A NIC without queue pairs.
    ///
    /// # Panics
    /// If the line rate is zero.
    pub fn new(config: NicConfig) -> Self {
        assert!(config.line_rate.bits_per_second() > 0, "a port has a line rate");
        Self {
            queue_pairs: QueuePairs::default(),
            arbitration: Arbitration::default(),
            shared: Shared::new(config.seed),
            config,
            host: None,
        }
    }

    /// What it was told at set-up.
    pub const fn config(&self) -> &NicConfig {
        &self.config
    }

    /// Adds a queue pair that is ready to send; one with the same number is replaced, with all that
    /// it had to do.
    ///
    /// # Panics
    /// If the number is below [`FIRST_QPN`] or has more than 24 bits.
    pub fn create_queue_pair(&mut self, config: QueuePairConfig) {
        self.create_queue_pair_in(config, QueuePairState::ReadyToSend);
    }

    /// Adds a queue pair in a state of choice; one with the same number is replaced, with all that
    /// it had to do.
    ///
    /// # Panics
    /// If the number is below [`FIRST_QPN`] or has more than 24 bits.
    pub fn create_queue_pair_in(&mut self, config: QueuePairConfig, state: QueuePairState) {
        assert!((FIRST_QPN..=MAX_QPN).contains(&config.qpn), "no number for a queue pair");
        self.destroy_queue_pair(config.qpn);
        let config = match &mut self.host {
            Some(host) => host.hosted(config),
            None => config,
        };
        let index = config.qpn - FIRST_QPN;
        let needed = index as usize + 1;
        if self.queue_pairs.len() < needed {
            self.queue_pairs.resize(needed);
            self.arbitration.resize(needed);
        }
        self.queue_pairs.insert(index, QueuePair::new(&config, &self.config, state));
    }

    /// Removes a queue pair and all that it had to do; no completions follow. What it has put
    /// into the control queues still leaves. Returns whether there was one.
    pub fn destroy_queue_pair(&mut self, qpn: u32) -> bool {
        let Some(index) = self.queue_pairs.index_of(qpn) else { return false };
        let Some(mut queue_pair) = self.queue_pairs.remove(index) else { return false };
        queue_pair.leave(&mut self.shared);
        self.arbitration.forget(index, &queue_pair);
        true
    }

    /// Whether there is a queue pair of this number.
    #[inline]
    pub fn has_queue_pair(&self, qpn: u32) -> bool {
        self.queue_pair(qpn).is_some()
    }

    /// A queue pair, to look at.
    #[inline]
    pub fn queue_pair(&self, qpn: u32) -> Option<&QueuePair> {
        self.queue_pairs.index_of(qpn).and_then(|index| self.queue_pairs.get(index))
    }

    /// All queue pairs, by number.
    pub fn queue_pairs(&self) -> impl Iterator<Item = &QueuePair> {
        self.queue_pairs.iter()
    }

    /// A packet arrived, with what switches wrote into it. Answers are queued, not returned.
    #[inline(always)] // Every packet's way, whoever else calls it.
    pub fn receive(&mut self, now: SimTime, packet: &Packet, telemetry: Telemetry<'_>) {
        let known = self.with_queue_pair(now, packet.dest_qp(), |queue_pair, shared| {
            queue_pair.receive(now, packet, telemetry, shared);
        });
        if known.is_none() {
            self.shared.counters.unknown_qp += 1;
        }
    }

    /// The same for a packet that has [`Content`] beside it, or of which it matters who sent it
    /// (datagrams), or whose queue pair may have an [alternate path](crate::AlternatePath).
    pub fn receive_from(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        source: u32,
        content: Option<Content>,
    ) {
        self.with_queue_pair(now, packet.dest_qp(), |queue_pair, shared| {
            if queue_pair.address.migrates() {
                queue_pair.note_path(now, packet, shared);
            }
        });
        self.shared.arriving = content;
        self.shared.source = source;
        self.receive(now, packet, telemetry);
        self.shared.arriving = None;
    }

    /// The same for a datagram that carries nothing for anybody, such as a ping: its payload is not counted as delivered.
    pub fn receive_probe(&mut self, now: SimTime, packet: &Packet, source: u32) {
        let Counters { payload_accepted, payload_delivered, messages_delivered, .. } =
            self.shared.counters;
        self.receive_from(now, packet, None, source, None);
        let counters = &mut self.shared.counters;
        counters.payload_accepted = payload_accepted;
        counters.payload_delivered = payload_delivered;
        counters.messages_delivered = messages_delivered;
    }

    /// The next packet to send, if its priority's bit in `paused` is not set: acknowledgements
    /// and notifications first, the highest priority first; then data, round robin among the
    /// queue pairs that have something to send, window and pacing credit.
    #[inline]
    pub fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<Transmit> {
        if let Some(transmit) = self.take_control(paused) {
            return Some(transmit);
        }
        self.release_paced(now);
        let index = self.arbitration.pop(paused)?;
        self.take_data(now, index)
    }

    #[inline(always)] // It is part of `poll_transmit`.
    fn take_control(&mut self, paused: u8) -> Option<Transmit> {
        let transmit = self.shared.control.pop(paused)?;
        control::count(&mut self.shared.counters, &transmit);
        if transmit.packet.has_content() {
            self.shared.departing = self.shared.control.content_of(&transmit);
        }
        Some(transmit)
    }

    #[inline(always)] // It is part of `poll_transmit`.
    fn take_data(&mut self, now: SimTime, index: u32) -> Option<Transmit> {
        let queue_pair = self.queue_pairs.get_mut(index)?;
        queue_pair.schedule = Schedule::Idle;
        let transmit = queue_pair.transmit(now, &mut self.shared);
        self.settle(now, index);
        transmit
    }

    /// What it has to send whose priority's bit in `paused` is not set: for the scheduler of its host.
    #[inline]
    pub const fn offer(&self, paused: u8) -> Offer {
        let counters = &self.shared.counters;
        Offer {
            control: self.shared.control.waiting() & !paused,
            data: self.arbitration.waiting() & !paused,
            sent: counters.data_sent.bytes + counters.read_requests_sent.bytes,
        }
    }

    /// Lets those queue pairs send whose pacing gap is over. [`poll_transmit`](Self::poll_transmit) does
    /// so too; a scheduler that minds priorities wants to know before.
    #[inline]
    pub fn release(&mut self, now: SimTime) {
        self.release_paced(now);
    }

    /// What the packet takes along that [`poll_transmit`](Self::poll_transmit) returned last, if
    /// it carries telemetry: data an empty header, an acknowledgement that of the packet which it
    /// answers. Ask once.
    pub fn take_telemetry(&mut self, packet: &Packet) -> Option<TelemetryHeader> {
        let kind = packet.telemetry()?;
        let brought_back = packet.opcode().is_response();
        let header = if brought_back { self.shared.control.take_departing() } else { None };
        Some(header.unwrap_or_else(|| TelemetryHeader::empty(kind)))
    }

    /// What travels beside the packet that [`poll_transmit`](Self::poll_transmit) returned last, if
    /// anything [does](Packet::has_content). Ask once.
    pub fn take_content(&mut self, packet: &Packet) -> Option<Content> {
        if packet.has_content() { self.shared.departing.take() } else { None }
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) would return a packet now, given that
    /// [`handle_timeout`](Self::handle_timeout) was called at the last release.
    #[inline]
    pub const fn is_ready(&self, paused: u8) -> bool {
        (self.shared.control.waiting() | self.arbitration.waiting()) & !paused != 0
    }

    /// When the first queue pair gets its pacing credit; [`SimTime::NEVER`] if none waits for it.
    /// May be early, never late.
    #[inline]
    pub fn next_release(&self) -> SimTime {
        self.arbitration.paced.next()
    }

    /// When the first timer expires; [`SimTime::NEVER`] if none runs. May be early, never late.
    #[inline]
    pub fn poll_timeout(&self) -> SimTime {
        self.arbitration.timers.next()
    }

    /// Serves every timer and pacing release that is due. Harmless when none is.
    pub fn handle_timeout(&mut self, now: SimTime) {
        self.release_paced(now);
        while let Some((due, index)) = self.arbitration.pop_expired(now) {
            let Some(queue_pair) = self.queue_pairs.get_mut(index) else { continue };
            if queue_pair.timer_entry != due {
                continue;
            }
            queue_pair.timer_entry = SimTime::NEVER;
            queue_pair.handle_timeout(now, &mut self.shared);
            self.settle(now, index);
        }
    }

    /// The entry of the queue pair whose pacing gap ends first: to be looked at ahead of time.
    #[inline]
    pub fn first_paced(&self) -> Option<&Timer> {
        self.arbitration.paced.peek()
    }

    /// The queue pair of an entry, if there is still one: a guess for prefetching.
    #[inline]
    pub fn queue_pair_of(&self, &(_, index): &Timer) -> Option<&QueuePair> {
        self.queue_pairs.find(index)
    }

    /// Whether [`poll_completion`](Self::poll_completion) has one.
    #[inline]
    pub fn has_completions(&self) -> bool {
        !self.shared.completions.is_empty()
    }

    /// The next completion.
    #[inline]
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.shared.completions.pop_front()
    }

    /// The next completion of a receive request.
    #[inline]
    pub fn poll_receive_completion(&mut self) -> Option<ReceiveCompletion> {
        self.shared.receive_completions.pop_front()
    }

    /// Queue pairs that took their alternate paths, in order.
    pub fn path_migrations(&self) -> &[PathMigration] {
        &self.shared.migrations
    }

    /// What was counted so far.
    #[inline]
    pub const fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    #[inline]
    fn with_queue_pair<R>(
        &mut self,
        now: SimTime,
        qpn: u32,
        what: impl FnOnce(&mut QueuePair, &mut Shared) -> R,
    ) -> Option<R> {
        let index = self.queue_pairs.index_of(qpn)?;
        let queue_pair = self.queue_pairs.get_mut(index)?;
        let result = what(queue_pair, &mut self.shared);
        self.settle(now, index);
        Some(result)
    }

    /// Puts a queue pair where it belongs after something happened to it.
    #[inline]
    fn settle(&mut self, now: SimTime, index: u32) {
        let Some(queue_pair) = self.queue_pairs.get_mut(index) else { return };
        self.arbitration.settle(now, index, queue_pair, &mut self.shared.active);
    }

    /// Moves the queue pairs whose pacing credit has come into their rings.
    #[inline]
    fn release_paced(&mut self, now: SimTime) {
        while let Some(index) = self.arbitration.pop_released(now) {
            self.settle(now, index);
        }
    }
}
