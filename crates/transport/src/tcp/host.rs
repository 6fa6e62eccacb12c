//! All connections of one host.

mod checkpoint;
mod looking;

use std::collections::VecDeque;

use rocelab_units::SimTime;

use super::connection::{TcpConnection, TcpEnd};
use super::queue::{Queued, Waiting};
use super::stack::Stack;
use super::timers::Timers;
use crate::Offer;

use super::{SackBlocks, TcpConnectionConfig, TcpCounters, TcpHostConfig, TcpRole, TcpSegment};

/// The TCP of one host with one port.
///
/// Nothing happens inside by itself: the owner calls [`receive`](Self::receive) for each segment,
/// [`poll_transmit`](Self::poll_transmit) whenever the port is free, and
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout). Spurious
/// calls are harmless. After each of them completions may be there and segments ready.
#[derive(Debug)]
pub struct TcpHost {
    config: TcpHostConfig,
    /// By connection number.
    connections: Vec<Option<Box<TcpConnection>>>,
    /// From the wire to the protocol.
    inbound: Stack<Queued>,
    /// From the protocol to the wire: whose segment it is.
    outbound: Stack<u32>,
    waiting: Waiting,
    /// Connections with segments that may leave, each once.
    ready: VecDeque<u32>,
    /// At most one live entry a connection, checked again when it expires.
    timers: Timers,
    completions: VecDeque<TcpCompletion>,
    counters: TcpCounters,
    /// What was accepted since somebody asked last: by which connection, and how much (bytes).
    accepted: VecDeque<(u32, u64)>,
    /// What travels beside the segment that left last.
    departing: SackBlocks,
}

/// What [`TcpHost::poll_transmit`] hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpTransmit {
    /// The segment.
    pub segment: TcpSegment,
    /// [`TcpConnectionConfig::destination`] of its connection.
    pub destination: u32,
    /// [`TcpConnectionConfig::entropy`] of its connection.
    pub entropy: u32,
    /// The number of its connection on this host.
    pub connection: u32,
    /// The Ethernet frame's length with its FCS, at least 64 (bytes).
    pub frame_len: u16,
}

/// Data that was sent and acknowledged, or that was waited for and arrived. Those of one
/// connection come in the order of posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct TcpCompletion {
    /// The connection's number on this host.
    pub connection: u32,
    /// The id that was given with it.
    pub id: u64,
    /// Its length (bytes).
    pub bytes: u64,
    /// Whether all of it was sent and acknowledged, or received.
    pub role: TcpRole,
}

/// Why data was not accepted. Nothing was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TcpPostError {
    /// There is no such connection on this host.
    #[error("there is no TCP connection {connection}")]
    UnknownConnection {
        /// The number given.
        connection: u32,
    },
    /// The connection's data goes the other way.
    #[error("the data of TCP connection {connection} goes the other way")]
    WrongEnd {
        /// The number given.
        connection: u32,
    },
}

impl TcpHost {
    /// A host without connections.
    pub fn new(config: TcpHostConfig) -> Self {
        let (parameters, seed) = (&config.parameters, config.seed);
        let jitter = parameters.jitter;
        Self {
            connections: Vec::new(),
            inbound: Stack::new(parameters.receive_delay, jitter, seed),
            outbound: Stack::new(parameters.send_delay, jitter, !seed),
            waiting: Waiting::default(),
            ready: VecDeque::new(),
            timers: Timers::default(),
            completions: VecDeque::new(),
            counters: TcpCounters::default(),
            accepted: VecDeque::new(),
            departing: SackBlocks::default(),
            config,
        }
    }

    /// What it was told at set-up.
    pub const fn config(&self) -> &TcpHostConfig {
        &self.config
    }

    /// Adds an end of a connection, established.
    ///
    /// # Panics
    /// If there is one of this number.
    pub fn open(&mut self, config: TcpConnectionConfig) {
        let connection = TcpConnection::new(config, &self.config);
        self.add(connection);
    }

    /// Adds the receiving end of a connection that was [closed](Self::close) when all of its
    /// `delivered` bytes had come. It acknowledges what comes again, as one does that waits for old
    /// segments (RFC 9293, TIME-WAIT), and its acknowledgements tell of no marks.
    ///
    /// # Panics
    /// If there is one of this number.
    pub fn open_again(&mut self, config: TcpConnectionConfig, delivered: u64) {
        let connection = TcpConnection::after(config, &self.config, delivered);
        self.add(connection);
    }

    fn add(&mut self, connection: TcpConnection) {
        let index = connection.config().number as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        assert!(self.connections[index].is_none(), "the number of a connection is its own");
        self.connections[index] = Some(Box::new(connection));
    }

    /// Forgets a connection, completions that wait apart. Returns whether there was one: it stays if
    /// segments of it have not left yet, or if it has not acknowledged all that arrived. What still
    /// arrives for it is counted as discarded.
    pub fn close(&mut self, number: u32) -> bool {
        let Some(slot) = self.connections.get_mut(number as usize) else { return false };
        slot.take_if(|connection| connection.is_idle()).is_some()
    }

    /// A connection, to look at.
    pub fn connection(&self, number: u32) -> Option<&TcpConnection> {
        self.connections.get(number as usize)?.as_deref()
    }

    /// All connections, by number.
    pub fn connections(&self) -> impl Iterator<Item = &TcpConnection> {
        self.connections.iter().filter_map(Option::as_deref)
    }

    /// The application sends `bytes` more on a connection. They are complete when all are
    /// acknowledged.
    ///
    /// # Errors
    /// If there is no such connection, or if this is its receiving end.
    pub fn post_send(
        &mut self,
        now: SimTime,
        connection: u32,
        id: u64,
        bytes: u64,
    ) -> Result<(), TcpPostError> {
        match &mut self.end_of(connection)?.end {
            TcpEnd::Sender(sender) => sender.post(id, bytes),
            TcpEnd::Receiver(_) => return Err(TcpPostError::WrongEnd { connection }),
        }
        self.settle(now, connection);
        Ok(())
    }

    /// The application waits for `bytes` more from a connection. They are complete when all have
    /// arrived. Data is taken off the connection whether anybody waits for it or not.
    ///
    /// # Errors
    /// If there is no such connection, or if this is its sending end.
    pub fn post_receive(
        &mut self,
        now: SimTime,
        connection: u32,
        id: u64,
        bytes: u64,
    ) -> Result<(), TcpPostError> {
        match &mut self.end_of(connection)?.end {
            TcpEnd::Sender(_) => return Err(TcpPostError::WrongEnd { connection }),
            TcpEnd::Receiver(receiver) => receiver.expect(id, bytes),
        }
        self.settle(now, connection);
        Ok(())
    }

    /// A segment arrived from the wire, with its SACK blocks, if
    /// [it has any](TcpSegment::sack_count).
    pub fn receive(&mut self, now: SimTime, segment: &TcpSegment, sack: Option<&SackBlocks>) {
        let sack = sack.copied().unwrap_or_default();
        if self.inbound.is_immediate() {
            self.process(now, segment, &sack);
        } else {
            if let Ok(connection) = self.end_of(segment.connection) {
                connection.entering += 1;
            }
            self.inbound.push(now, Queued { segment: *segment, sack });
            self.process_due(now);
        }
    }

    /// The next segment to send, if its priority's bit in `paused` is not set: round robin among
    /// the connections that have one.
    pub fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<TcpTransmit> {
        self.release_due(now);
        if !self.is_ready(paused) {
            return None;
        }
        let number = self.ready.pop_front()?;
        let connection = self.connections[number as usize].as_deref_mut()?;
        let queued = self.waiting.pop(&mut connection.waiting)?;
        let frame_len = queued.segment.frame_len(self.config.encapsulation_len);
        connection.released -= 1;
        connection.waiting_bytes -= u64::from(frame_len);
        if connection.released > 0 {
            self.ready.push_back(number);
        }
        let &TcpConnectionConfig { destination, entropy, .. } = connection.config();
        let segment = queued.segment;
        self.departing = queued.sack;
        if connection.stopped {
            self.settle(now, number);
        }
        Some(TcpTransmit { segment, destination, entropy, connection: number, frame_len })
    }

    /// What travels beside the segment that [`poll_transmit`](Self::poll_transmit) returned last,
    /// if anything [does](TcpSegment::sack_count).
    pub fn sack_blocks(&self, segment: &TcpSegment) -> Option<SackBlocks> {
        (segment.sack_count() > 0).then_some(self.departing)
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) would return a segment now, given that
    /// [`handle_timeout`](Self::handle_timeout) was called when it was due.
    #[inline]
    pub fn is_ready(&self, paused: u8) -> bool {
        !self.ready.is_empty() && paused >> self.config.parameters.priority & 1 == 0
    }

    /// What it has to send, after `sent` frame bytes, if its priority's bit in `paused` is not set: for
    /// the scheduler of its host.
    #[inline]
    pub fn offer(&self, paused: u8, sent: u64) -> Offer {
        let data = if self.is_ready(paused) { 1 << self.config.parameters.priority } else { 0 };
        Offer { control: 0, data, sent }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due next; [`SimTime::NEVER`] if nothing is.
    /// May be early, never late.
    #[inline]
    pub fn poll_timeout(&self) -> SimTime {
        self.timers.next().min(self.inbound.next()).min(self.outbound.next())
    }

    /// Serves every timer, and all that has come through the stack. Harmless when nothing is due.
    pub fn handle_timeout(&mut self, now: SimTime) {
        self.process_due(now);
        while let Some((due, number)) = self.timers.pop_due(now) {
            let Some(connection) = self.connections[number as usize].as_deref_mut() else {
                continue;
            };
            if connection.timer_entry != due {
                continue;
            }
            connection.timer_entry = SimTime::NEVER;
            match &mut connection.end {
                TcpEnd::Sender(sender) => sender.handle_timeout(now, &mut self.counters),
                TcpEnd::Receiver(receiver) => receiver.handle_timeout(now),
            }
            self.settle(now, number);
        }
        self.release_due(now);
    }

    /// Whether [`poll_completion`](Self::poll_completion) has one.
    #[inline]
    pub fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }

    /// The next completion.
    pub fn poll_completion(&mut self) -> Option<TcpCompletion> {
        self.completions.pop_front()
    }

    /// Payload that a connection has accepted, each byte once (bytes). To be asked after
    /// [`receive`](Self::receive) and [`handle_timeout`](Self::handle_timeout).
    #[inline]
    pub fn poll_accepted(&mut self) -> Option<(u32, u64)> {
        self.accepted.pop_front()
    }

    /// What was counted so far.
    pub const fn counters(&self) -> &TcpCounters {
        &self.counters
    }

    fn end_of(&mut self, number: u32) -> Result<&mut TcpConnection, TcpPostError> {
        let unknown = TcpPostError::UnknownConnection { connection: number };
        self.connections.get_mut(number as usize).and_then(Option::as_deref_mut).ok_or(unknown)
    }

    /// Hands the protocol what has come through the stack.
    fn process_due(&mut self, now: SimTime) {
        while let Some(Queued { segment, sack }) = self.inbound.pop_due(now) {
            if let Ok(connection) = self.end_of(segment.connection) {
                // One that was opened meanwhile has not counted it.
                connection.entering = connection.entering.saturating_sub(1);
            }
            self.process(now, &segment, &sack);
        }
    }

    fn process(&mut self, now: SimTime, segment: &TcpSegment, sack: &SackBlocks) {
        let number = segment.connection;
        let connection = self.connections.get_mut(number as usize);
        let Some(connection) = connection.and_then(Option::as_deref_mut) else {
            self.counters.discarded += 1;
            return;
        };
        let counters = &mut self.counters;
        match (&mut connection.end, segment.payload_len) {
            (TcpEnd::Sender(sender), 0) => {
                counters.acks_received += 1;
                sender.receive(now, segment, sack, counters);
            }
            (TcpEnd::Receiver(receiver), 1..) => {
                counters.data_received += 1;
                let before = counters.payload_accepted;
                receiver.receive(now, segment, counters);
                let accepted = counters.payload_accepted - before;
                if accepted > 0 {
                    self.accepted.push_back((segment.connection, accepted));
                }
            }
            _ => counters.discarded += 1,
        }
        self.settle(now, number);
    }

    /// After something happened to a connection: makes its segments, arms its timer and collects
    /// its completions.
    fn settle(&mut self, now: SimTime, number: u32) {
        self.make_segments(now, number);
        let Some(connection) = self.connections[number as usize].as_deref_mut() else { return };
        let timeout = connection.poll_timeout();
        if timeout < connection.timer_entry {
            connection.timer_entry = timeout;
            self.timers.push(timeout, number);
        }
        while let Some((id, bytes, role)) = connection.poll_done() {
            self.completions.push_back(TcpCompletion { connection: number, id, bytes, role });
        }
    }

    /// Lets a connection make what it may send, as long as not too much of it waits.
    fn make_segments(&mut self, now: SimTime, number: u32) {
        let Some(connection) = self.connections[number as usize].as_deref_mut() else { return };
        let limit = self.config.parameters.output_limit.get().max(1);
        loop {
            connection.stopped = connection.waiting_bytes >= limit;
            if connection.stopped {
                return;
            }
            let (queued, again) = match &mut connection.end {
                TcpEnd::Sender(sender) => {
                    let Some(outgoing) = sender.poll_transmit(now) else { return };
                    let sack = SackBlocks::default();
                    (Queued { segment: outgoing.segment, sack }, outgoing.again)
                }
                TcpEnd::Receiver(receiver) => {
                    let Some((segment, sack)) = receiver.poll_transmit() else { return };
                    (Queued { segment, sack }, false)
                }
            };
            let frame_len = queued.segment.frame_len(self.config.encapsulation_len);
            connection.retransmissions += u64::from(again);
            self.counters.count_sent(queued.segment.payload_len, frame_len, again);
            connection.waiting_bytes += u64::from(frame_len);
            self.waiting.push(&mut connection.waiting, queued);
            if self.outbound.is_immediate() {
                if connection.released == 0 {
                    self.ready.push_back(number);
                }
                connection.released += 1;
            } else {
                connection.in_stack += 1;
                self.outbound.push(now, number);
            }
        }
    }

    /// Lets those segments go that have come through the stack.
    #[inline]
    fn release_due(&mut self, now: SimTime) {
        while let Some(number) = self.outbound.pop_due(now) {
            let Some(connection) = self.connections[number as usize].as_deref_mut() else {
                continue;
            };
            if connection.released == 0 {
                self.ready.push_back(number);
            }
            connection.in_stack -= 1;
            connection.released += 1;
        }
    }
}
