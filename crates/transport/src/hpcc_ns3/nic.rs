//! The NIC: what leaves next, and when it tries again.

mod checkpoint;

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{IntHeader, TelemetryHeader, TelemetryUnits};

use super::answers::{Answer, Answers};
use super::config::{Config, Overheads};
use super::flow::{Flow, FlowEnd};
use super::packet::{Departure, Kind, Packet};
use super::receiver::Receiver;
use super::ring::Ring;
use super::sender::Sender;
use super::timers::{Armed, Timers};
use crate::Counters;
use crate::congestion_control::{Feedback, Path, Telemetry};

/// What the NIC needs from outside.
pub trait Host {
    /// A place in the order of events.
    type Tie: Copy + Ord + core::fmt::Debug;

    /// Reserves the next place.
    fn reserve(&mut self) -> Self::Tie;

    /// The receiving end of a flow. Its state is taken away from afar at the flow's completion.
    fn receiver(&mut self, flow: u32) -> &mut Receiver;

    /// 16 random bits, for algorithms that sample acknowledgements.
    fn sample(&mut self) -> u32;
}

/// The NIC of one host.
#[derive(Debug)]
pub struct Nic<T> {
    config: Arc<Config>,
    feedback: Feedback,
    overheads: Overheads,
    answers: Answers,
    ring: Ring<T>,
    /// When the NIC tries again by itself.
    wake_up: Option<(SimTime, T)>,
    timers: Timers<T>,
    ended: VecDeque<FlowEnd>,
    counters: Counters,
}

impl<T: Copy + Ord + core::fmt::Debug> Nic<T> {
    /// A NIC without flows.
    pub fn new(config: Arc<Config>, line_rate: Bandwidth) -> Self {
        let feedback = config.algorithm.feedback(line_rate);
        Self {
            feedback,
            overheads: Overheads::of(feedback),
            config,
            answers: Answers::default(),
            ring: Ring::default(),
            wake_up: None,
            timers: Timers::default(),
            ended: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// A flow starts. `path` has the base round-trip time and the window of the controller;
    /// `window` is what the queue pair obeys (bytes), 0 for none.
    pub fn start(&mut self, now: SimTime, flow: &Flow, path: &Path, window: u64) {
        self.ring.add(Sender::new(flow, path, window, now, &self.config));
    }

    /// A packet arrived; `source` is the host that it comes from and `ports` its ports. True if the
    /// NIC tries to send thereupon.
    #[inline]
    pub fn receive(
        &mut self,
        now: SimTime,
        packet: &Packet,
        source: u32,
        ports: u32,
        telemetry: Telemetry<'_>,
        host: &mut impl Host<Tie = T>,
    ) -> bool {
        match packet.kind {
            Kind::Data => self.receive_data(now, packet, source, ports, telemetry, host),
            Kind::Ack | Kind::Nack => self.receive_answer(now, packet, telemetry, host),
        }
    }

    fn receive_data(
        &mut self,
        now: SimTime,
        packet: &Packet,
        source: u32,
        ports: u32,
        telemetry: Telemetry<'_>,
        host: &mut impl Host<Tie = T>,
    ) -> bool {
        self.counters.data_received += 1;
        self.counters.ce_received += u64::from(packet.is_marked());
        let receiver = host.receiver(packet.flow);
        let (before, delivered) = (receiver.expected(), receiver.delivered());
        let answer = receiver.receive(now, packet.sequence, packet.payload_len, &self.config);
        let expected = receiver.expected();
        let new = u64::from(receiver.delivered() - delivered);
        self.counters.payload_delivered += new;
        self.counters.payload_accepted += new;
        match packet.sequence.cmp(&before) {
            Ordering::Less => self.counters.duplicates += 1,
            Ordering::Equal => {}
            Ordering::Greater => self.counters.out_of_order += 1,
        }
        let Some(kind) = answer else { return false };
        let answer = Packet::new(kind, packet.flow, packet.queue_pair, expected).answering(packet);
        let ports = ports.rotate_left(16);
        let records = match telemetry {
            Some(TelemetryHeader::Int(records)) => Some(records),
            _ => None,
        };
        self.answers.push(Answer { packet: answer, destination: source, ports }, records);
        true
    }

    fn receive_answer(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        host: &mut impl Host<Tie = T>,
    ) -> bool {
        let sender = self.ring.find_mut(packet.queue_pair);
        let unfinished =
            |sender: &&mut Sender<T>| sender.flow.number == packet.flow && !sender.is_finished();
        let Some(sender) = sender.filter(unfinished) else {
            self.counters.unknown_qp += 1;
            return false;
        };
        match packet.kind {
            Kind::Nack => self.counters.naks_received += 1,
            _ => self.counters.acks_received += 1,
        }
        let sampled = match self.feedback {
            Feedback::Telemetry(TelemetryUnits::Pint(_)) => {
                host.sample() < self.config.sampled_acks
            }
            _ => true,
        };
        let none = TelemetryHeader::Int(IntHeader::default());
        let telemetry = telemetry.unwrap_or(&none);
        let config = &*self.config;
        let done = sender.acknowledge(now, packet, telemetry, sampled, self.feedback, config);
        let release = sender.next_available;
        if done.finishes {
            let (flow, retransmissions) = (sender.flow.number, sender.retransmissions());
            sender.timer_ties = [None; 3];
            self.ended.push_back(FlowEnd { flow, retransmissions });
            host.receiver(flow).forget();
        } else {
            self.arm_timers(packet.queue_pair, host);
        }
        if done.repaced {
            self.advance_wake_up(now, release, host);
        }
        true
    }

    /// The next packet, given which priorities are paused: acknowledgements first, then the queue
    /// pairs in their ring. If none may leave yet, the NIC sees to it that it is woken.
    #[inline]
    pub fn poll_transmit(
        &mut self,
        now: SimTime,
        paused: u8,
        host: &mut impl Host<Tie = T>,
    ) -> Option<Departure> {
        if self.may_acknowledge(paused)
            && let Some(answer) = self.answers.pop()
        {
            let counter = match answer.packet.kind {
                Kind::Nack => &mut self.counters.naks_sent,
                _ => &mut self.counters.acks_sent,
            };
            return Some(Self::depart(counter, &answer, self.overheads.acknowledgement));
        }
        match self.ring.choose(now, paused) {
            Some(number) => Some(self.transmit(now, number)),
            None => {
                self.arm_wake_up(now, host);
                None
            }
        }
    }

    /// The telemetry that the packet takes along that [`poll_transmit`](Self::poll_transmit) has
    /// just handed out.
    #[inline]
    pub fn take_telemetry(&mut self, packet: &Packet) -> IntHeader {
        match packet.kind {
            Kind::Data => IntHeader::default(),
            Kind::Ack | Kind::Nack => self.answers.take_telemetry(),
        }
    }

    /// Whether the end of a transmission is of any interest: something waits, or queue pairs are
    /// to be scanned.
    #[inline]
    pub fn is_ready(&self, paused: u8) -> bool {
        self.may_acknowledge(paused) || !self.ring.is_empty()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    #[inline]
    pub fn next_timeout(&mut self) -> Option<(SimTime, T)> {
        let timer = self.first_timer().map(|first| (first.time, first.tie));
        match (timer, self.wake_up) {
            (Some(timer), Some(wake_up)) => Some(timer.min(wake_up)),
            (timer, wake_up) => timer.or(wake_up),
        }
    }

    /// Serves the one timer of `now` and `tie`. True if the NIC tries to send.
    pub fn handle_timeout(&mut self, now: SimTime, tie: T, host: &mut impl Host<Tie = T>) -> bool {
        if self.wake_up == Some((now, tie)) {
            self.wake_up = None;
            return true;
        }
        if let Some(due) = self.first_timer().filter(|due| (due.time, due.tie) == (now, tie)) {
            self.timers.pop();
            if let Some(sender) = self.ring.get_mut(due.queue_pair) {
                sender.timer_ties[usize::from(due.timer)] = None;
                sender.expire(due.timer, now, &self.config);
                self.arm_timers(due.queue_pair, host);
            }
        }
        false
    }

    /// The next flow that has ended.
    #[inline]
    pub fn poll_end(&mut self) -> Option<FlowEnd> {
        self.ended.pop_front()
    }

    /// Whether the NIC will try to send by itself.
    pub const fn will_wake_up(&self) -> bool {
        self.wake_up.is_some()
    }

    /// What was counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The queue pair of an unfinished flow that has started here.
    pub fn sender(&self, flow: u32) -> Option<&Sender<T>> {
        self.ring.iter().find(|sender| sender.flow.number == flow)
    }

    /// Packets of an unfinished flow that were sent again.
    pub fn retransmissions(&self, flow: u32) -> u64 {
        self.sender(flow).map_or(0, Sender::retransmissions)
    }

    #[inline]
    fn may_acknowledge(&self, paused: u8) -> bool {
        !self.answers.is_empty() && paused & (1 << self.config.ack_priority) == 0
    }

    fn depart(counter: &mut crate::Traffic, answer: &Answer, frame_len: u32) -> Departure {
        let frame_len = u16::try_from(frame_len).unwrap_or(u16::MAX);
        counter.count(frame_len);
        let &Answer { packet, destination, ports } = answer;
        Departure { packet, destination, ports, frame_len }
    }

    #[inline]
    fn transmit(&mut self, now: SimTime, number: u32) -> Departure {
        let sender = self.ring.get_mut(number).expect("the ring names senders");
        let overhead = self.overheads.data;
        let repeated = sender.retransmissions();
        let packet = sender.transmit(now, number, overhead, self.feedback, &self.config);
        let Flow { destination, ports, .. } = sender.flow;
        let answer = Answer { packet, destination, ports };
        let len = u32::from(packet.payload_len) + overhead;
        if sender.retransmissions() > repeated {
            self.counters.retransmitted.count(u16::try_from(len).unwrap_or(u16::MAX));
        }
        Self::depart(&mut self.counters.data_sent, &answer, len)
    }

    /// Nothing may leave now: wakes up when the first queue pair with bytes left may send by its
    /// pacing, if that is still to come. One that its window holds back, and whose pacing does
    /// not, therefore keeps the NIC asleep until something else happens.
    fn arm_wake_up(&mut self, now: SimTime, host: &mut impl Host<Tie = T>) {
        if self.wake_up.is_some() {
            return;
        }
        if let Some(release) = self.ring.earliest_release().filter(|&release| release > now) {
            self.wake_up = Some((release, host.reserve()));
        }
    }

    /// The release of a packet moved: a wake-up that is pending comes no later.
    fn advance_wake_up(&mut self, now: SimTime, release: SimTime, host: &mut impl Host<Tie = T>) {
        if self.wake_up.is_some_and(|(pending, _)| release < pending) {
            self.wake_up = Some((release.max(now), host.reserve()));
        }
    }

    /// Gives the timers that a controller has just armed their places in the order.
    fn arm_timers(&mut self, number: u32, host: &mut impl Host<Tie = T>) {
        let Some(sender) = self.ring.get_mut(number) else { return };
        let Some(timers) = sender.control.timers() else { return };
        let mut armed = timers.take_armed();
        while armed != 0 {
            let [timer, ..] = armed.trailing_zeros().to_le_bytes();
            armed &= armed - 1;
            let time = timers.deadline(usize::from(timer));
            let tie = host.reserve();
            sender.timer_ties[usize::from(timer)] = Some(tie);
            self.timers.push(Armed { time, tie, queue_pair: number, timer });
        }
    }

    #[inline]
    fn first_timer(&mut self) -> Option<Armed<T>> {
        let ring = &self.ring;
        self.timers.first(|armed| {
            let sender = ring.get(armed.queue_pair);
            sender.is_some_and(|s| s.timer_ties[usize::from(armed.timer)] == Some(armed.tie))
        })
    }
}
