//! The NIC of a host: its queues, which packet is next, pacing, and the buffers of what is not
//! acknowledged. It has no queue pairs.

use std::collections::VecDeque;

use crate::config::{Reaction, Recovery};
use crate::dcqcn::ReactionPoint;
use crate::frame::{CONTROL_CLASS, Frame};
use crate::port::Queue;
use crate::time::{Arithmetic, truncated_u32};

/// Packets that the buffer of a flow holds.
const BUFFER: usize = 8_000;
/// The time (ns) that a flow which waits for an acknowledgement may not send for.
const LONG: u64 = 32_767_000_000_000;
/// Flows that a NIC has room for.
const MOST_FLOWS: usize = 127;

/// What can be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// This queue's first packet.
    Send(usize),
    /// Nothing before this time (ns).
    At(u64),
    /// Nothing.
    Nothing,
}

/// What follows from an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acknowledged {
    /// Nothing more.
    Done,
    /// A flow that waited may go on.
    GoOn,
    /// The simulator crashes: the buffer is empty.
    Crash,
}

/// The NIC of a host.
#[derive(Debug)]
pub(crate) struct Nic {
    /// With rate control one queue for control and one for each flow, else one for each class.
    queues: Vec<Queue>,
    /// Those of control and of each flow in the order of their first packets.
    senders: Vec<Sender>,
    /// The queue that was served last.
    last: usize,
    is_rate_controlled: bool,
    /// Whether it will be woken.
    pub(crate) is_wake_pending: bool,
}

/// What a NIC has for a flow.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    /// When it may send again (ns).
    available: u64,
    /// Bytes that it may send before their time.
    credit: f64,
    pub(crate) reaction: ReactionPoint,
    class: u8,
    pub(crate) stream: u32,
    is_waiting: bool,
    /// The sequence number up to which it may send before an acknowledgement.
    milestone: u32,
    /// Copies of all packets that were handed over and are not acknowledged.
    buffer: VecDeque<Frame>,
    /// Which of its timers is valid: of alpha, of increases, of waiting.
    pub(crate) alpha_serial: u32,
    pub(crate) increase_serial: u32,
    pub(crate) wait_serial: u32,
}

impl Nic {
    pub(crate) fn new(is_rate_controlled: bool) -> Self {
        let queues = if is_rate_controlled { 1 } else { 8 };
        Self {
            queues: (0..queues).map(|_| Queue::default()).collect(),
            senders: vec![Sender::default()],
            last: 0,
            is_rate_controlled,
            is_wake_pending: false,
        }
    }

    /// The sender with a number from 1.
    #[inline]
    pub(crate) fn sender(&mut self, number: u32) -> &mut Sender {
        &mut self.senders[number as usize]
    }

    /// Adds a flow; its number, or none if the simulator has no more room.
    pub(crate) fn add(&mut self, stream: u32, class: u8, recovery: &Recovery) -> Option<u32> {
        if self.senders.len() > MOST_FLOWS {
            return None;
        }
        let milestone = recovery.chunk;
        self.senders.push(Sender { stream, class, milestone, ..Sender::default() });
        if self.is_rate_controlled {
            self.queues.push(Queue::default());
        }
        u32::try_from(self.senders.len() - 1).ok()
    }

    /// Bytes that wait in the queue of a flow, which is shared by a class without rate control.
    #[inline]
    pub(crate) fn backlog(&self, sender: u32, class: u8) -> u32 {
        match (self.is_rate_controlled, sender) {
            // Class 7 waits with control and has no queue that could be looked at.
            (true, 0) => 0,
            (true, sender) => self.queues[sender as usize].bytes,
            (false, _) => self.queues[class as usize].bytes,
        }
    }

    /// Bytes that wait in queue number `queue`; 0 if there is none.
    pub(crate) fn waiting(&self, queue: usize) -> u32 {
        self.queues.get(queue).map_or(0, |queue| queue.bytes)
    }

    /// Has a control packet wait.
    pub(crate) fn push_control(&mut self, frame: Frame) {
        let queue = if self.is_rate_controlled { 0 } else { CONTROL_CLASS as usize };
        self.queues[queue].push(frame);
    }

    /// Has a packet of a flow wait, and keeps a copy.
    #[inline]
    pub(crate) fn push(&mut self, sender: u32, frame: Frame) {
        let queue = if self.is_rate_controlled { sender } else { u32::from(frame.class) };
        self.queues[queue as usize].push(frame);
        let buffer = &mut self.senders[sender as usize].buffer;
        if buffer.len() >= BUFFER {
            buffer.pop_front();
        }
        buffer.push_back(frame);
    }

    /// Whose turn it is, where the other end has `paused` some classes.
    #[inline]
    pub(crate) fn turn(&mut self, now: u64, paused: u8) -> Turn {
        if !self.is_rate_controlled {
            let is_next =
                |&queue: &usize| !self.queues[queue].frames.is_empty() && paused & 1 << queue == 0;
            let Some(queue) = (1..=8).map(|step| (self.last + step) % 8).find(is_next) else {
                return Turn::Nothing;
            };
            self.last = queue;
            return Turn::Send(queue);
        }
        if !self.queues[0].frames.is_empty() {
            return Turn::Send(0);
        }
        let mut earliest = u64::MAX;
        for queue in (self.last + 1..self.queues.len()).chain(1..=self.last) {
            if self.queues[queue].frames.is_empty() {
                continue;
            }
            let sender = &self.senders[queue];
            // Flows that are paused count too.
            earliest = earliest.min(sender.available);
            if paused & 1 << sender.class == 0 && sender.available <= now {
                self.last = queue;
                return Turn::Send(queue);
            }
        }
        if earliest == u64::MAX || earliest <= now { Turn::Nothing } else { Turn::At(earliest) }
    }

    /// Takes the first packet of a queue. Where the NIC controls rates, the time at which the flow may
    /// send again follows; with `recovery` flows may wait for acknowledgements. Says whether one
    /// begins to.
    #[inline]
    pub(crate) fn take(
        &mut self,
        queue: usize,
        now: u64,
        line: u64,
        arithmetic: Arithmetic,
        (reaction, recovery): (&Reaction, &Recovery),
    ) -> Option<(Frame, bool)> {
        let frame = self.queues[queue].pop()?;
        if !self.is_rate_controlled {
            return Some((frame, false));
        }
        self.pace(queue, frame.size, now, line, arithmetic);
        let sender = &mut self.senders[queue];
        sender.reaction.sent(frame.size, reaction);
        let is_at_milestone =
            recovery.wait_for_ack && queue != 0 && frame.seq >= sender.milestone.wrapping_sub(1);
        if is_at_milestone {
            sender.available = now.saturating_add(LONG);
        }
        Some((frame, is_at_milestone && !std::mem::replace(&mut sender.is_waiting, true)))
    }

    /// Says when the flow of `queue` may send after a packet of `size`. Flows that could send and do
    /// not collect credit meanwhile, and send their next packet early.
    #[inline]
    fn pace(&mut self, queue: usize, size: u16, now: u64, line: u64, arithmetic: Arithmetic) {
        let sender = &mut self.senders[queue];
        if sender.reaction.rate == 0 {
            sender.reaction.start(line);
        }
        let rate_of_line = line as f64;
        let slowness = rate_of_line / sender.reaction.rate as f64;
        let due = (slowness * (f64::from(size) - sender.credit)).max(0.0);
        sender.available = now + arithmetic.serialisation(truncated_u32(due), line);
        for sender in self.senders.iter_mut().filter(|sender| sender.available <= now) {
            sender.credit += (sender.reaction.rate as f64 / rate_of_line) * due;
        }
        self.senders[queue].credit = 0.0;
    }

    /// An acknowledgement of all packets before `seq` came, which may be `negative`.
    pub(crate) fn acknowledge(
        &mut self,
        number: u32,
        (seq, received): (u32, u32),
        negative: bool,
        now: u64,
        recovery: &Recovery,
    ) -> Acknowledged {
        let sender = &mut self.senders[number as usize];
        if sender.buffer.is_empty() {
            return Acknowledged::Crash;
        }
        while sender.buffer.front().is_some_and(|frame| frame.seq < seq) {
            sender.buffer.pop_front();
        }
        if negative {
            if sender.buffer.is_empty() {
                return Acknowledged::Crash;
            }
            self.refill(number);
        }
        if !recovery.wait_for_ack {
            return Acknowledged::Done;
        }
        let sender = &mut self.senders[number as usize];
        if negative {
            if !sender.is_waiting {
                return Acknowledged::Done;
            }
        } else if received >= sender.milestone {
            sender.milestone = sender.milestone.wrapping_add(recovery.chunk);
        } else {
            return Acknowledged::Done;
        }
        sender.go_on(now);
        Acknowledged::GoOn
    }

    /// A flow has waited too long: it sends all again. False if the simulator crashes.
    pub(crate) fn time_out(&mut self, number: u32, now: u64) -> bool {
        if self.senders[number as usize].buffer.is_empty() {
            return false;
        }
        self.refill(number);
        self.senders[number as usize].go_on(now);
        true
    }

    /// Puts all that is not acknowledged into a flow's queue, in place of what waits there. Without
    /// rate control the simulator mistakes the number of the flow for a class.
    fn refill(&mut self, number: u32) {
        let Some(queue) = self.queues.get_mut(number as usize) else { return };
        queue.clear();
        self.senders[number as usize].buffer.iter().for_each(|frame| queue.push(*frame));
    }
}

impl Sender {
    fn go_on(&mut self, now: u64) {
        self.available = now;
        self.is_waiting = false;
        self.wait_serial = self.wait_serial.wrapping_add(1);
    }
}
