//! A port: its transmitter, its queues, and the flow control of its link in both directions.

mod counted;
mod input_queues;
mod state;

use std::collections::VecDeque;

pub use counted::CountedPort;
use counted::{inputs, take_next};
pub use input_queues::InputQueues;
use rocelab_units::{Bandwidth, Duration, SimTime};

use crate::chain::{Chain, Fifo, PacketId};
use crate::flow_control::{ControlFrame, FlowControl, LinkController, LinkFlowControl};
use crate::link::{Link, Serialisation, Transmission};
use crate::scheduler::Scheduler;
use crate::shaper::Shapers;

/// The frames of one queue that wait to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PriorityQueue {
    frames: Fifo,
    bytes: u32,
}

/// A port of a host or switch. It sends one frame at a time; the scheduler picks the next one when
/// the transmitter becomes free.
///
/// The link `L` decides how long a frame takes, the flow control `F` what a pause is.
///
/// The fields are in the order of their use: a frame that need not wait touches only the first 40 bytes.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port<L = Link, F = LinkController> {
    free_at: SimTime,
    /// Bit q: frames wait in queue q.
    waiting: u8,
    /// Bit q: queue q must not start a frame.
    blocked: u8,
    /// Whether the flow control has a frame to send, as [`FlowControl::is_pending`] says.
    control_due: bool,
    /// Whether there are `extras`.
    has_extras: bool,
    /// Whether the scheduler remembers frames that did not wait, as [`Scheduler::notes_passing`] says.
    notes_passing: bool,
    /// Bit p: priority p must not start a frame, as [`FlowControl::paused`] says.
    paused: u8,
    /// Whether the flow control counts frames, as [`FlowControl::counts_frames`] says.
    is_counted: bool,
    link: L,
    scheduler: Scheduler,
    queues: [PriorityQueue; 8],
    flow_control: F,
    /// Rarely used state; see [`PortExtras`].
    extras: Option<Box<PortExtras>>,
}

/// State that few ports need. It is apart, so that all other ports stay small.
#[derive(Clone, Debug, Default)]
pub struct PortExtras {
    /// The queue of each priority, if some priority does not use the queue of its own number.
    pub queue_of: Option<[u8; 8]>,
    /// Rate limits of queues.
    pub shapers: Option<Shapers>,
    /// Time from the arrival of a control frame to its effect.
    pub pause_response: Duration,
    /// Control frames that have arrived and have no effect yet, with the time of their effect,
    /// ascending.
    pub responding: VecDeque<(SimTime, ControlFrame)>,
    /// Bit q: queue q ignores its pauses.
    pub ignored: u8,
    /// Bit q: frames of queue q are discarded instead of queued.
    pub discards: u8,
    /// Whether the link is down: all frames are discarded instead of queued.
    pub cut_off: bool,
    /// In place of the port's queues, whose bytes are counted on: queues by input port, in switches of InfiniBand.
    pub inputs: Option<Box<InputQueues>>,
}

impl Port {
    /// An idle port on `link`, whose PFC frames ask for `pause_quanta` (512 bit times) at a time.
    pub fn new(link: Link, scheduler: Scheduler, pause_quanta: u16) -> Self {
        let flow_control = LinkFlowControl::default().controller(pause_quanta);
        Self::with_flow_control(link, scheduler, flow_control.expect("PFC works by pauses"))
    }
}

impl<L: Serialisation, F: FlowControl> Port<L, F> {
    /// An idle port on `link`.
    pub fn with_flow_control(link: L, scheduler: Scheduler, flow_control: F) -> Self {
        Self {
            free_at: SimTime::ZERO,
            waiting: 0,
            blocked: 0,
            control_due: flow_control.is_pending(),
            has_extras: false,
            notes_passing: scheduler.notes_passing(),
            paused: flow_control.paused(),
            is_counted: F::COUNTS_FRAMES && flow_control.counts_frames(),
            link,
            scheduler,
            queues: [PriorityQueue::default(); 8],
            flow_control,
            extras: None,
        }
    }

    /// Whether the flow control [counts frames](FlowControl::counts_frames).
    #[inline]
    pub fn is_counted(&self) -> bool {
        F::COUNTS_FRAMES && self.is_counted
    }

    /// The port where its flow control [counts frames](FlowControl::counts_frames); none elsewhere.
    #[inline]
    pub fn counted(&mut self) -> Option<CountedPort<'_, L, F>> {
        if self.is_counted() { Some(CountedPort(self)) } else { None }
    }

    /// Its flow control.
    pub fn flow_control(&self) -> &F {
        &self.flow_control
    }

    /// The same port with these extras.
    #[must_use]
    pub fn with_extras(mut self, extras: Option<Box<PortExtras>>) -> Self {
        self.has_extras = extras.is_some();
        self.extras = extras;
        self
    }

    /// Lets the flow control `act`, and updates `control_due` and `paused`: there may be a frame to send afterwards, or
    /// none any more.
    fn ask_flow_control<T>(&mut self, act: impl FnOnce(&mut F, &L) -> T) -> T {
        let answer = act(&mut self.flow_control, &self.link);
        self.control_due = self.flow_control.is_pending();
        self.paused = self.flow_control.paused();
        answer
    }

    /// Updates `blocked` after a change of pauses, shapers or ignored queues.
    fn update_blocked(&mut self) {
        let paused = self.paused;
        let Some(extras) = &self.extras else {
            self.blocked = paused;
            return;
        };
        let queues = match extras.queue_of {
            None => paused,
            Some(queue_of) => (0..8)
                .filter(|priority| paused & 1 << priority != 0)
                .fold(0, |mask, priority| mask | 1 << queue_of[priority]),
        };
        let obeyed = queues & !extras.ignored;
        self.blocked = obeyed | extras.shapers.as_ref().map_or(0, Shapers::closed);
    }

    /// Bit q: frames wait in queue q.
    #[inline]
    pub fn waiting(&self) -> u8 {
        self.waiting
    }

    /// Bit q: queue q must not start a frame, because of a pause or its shaper.
    pub fn blocked(&self) -> u8 {
        self.blocked
    }

    /// Whether the port has [`PortExtras`].
    #[inline]
    pub fn has_extras(&self) -> bool {
        self.has_extras
    }

    /// Calls `show` with every frame that waits and its queue.
    pub fn for_each_waiting<C: Chain>(&self, chain: &C, mut show: impl FnMut(PacketId, u8)) {
        for queue in 0..8 {
            self.waiting_in(queue, chain).for_each(|id| show(id, queue));
        }
    }

    /// The first frame of the lowest queue that is not empty. It is likely, not certain, to go
    /// next: for prefetching.
    #[inline]
    pub fn first_waiting(&self) -> Option<PacketId> {
        let queue = self.waiting.trailing_zeros() as usize;
        if self.is_counted() {
            return None;
        }
        self.queues.get(queue).map(|queue| queue.frames.head())
    }

    /// The frames that wait in one queue, in the order in which they leave.
    pub fn waiting_in<C: Chain>(&self, queue: u8, chain: &C) -> impl Iterator<Item = PacketId> {
        let exists = |id: PacketId| (id != PacketId::NONE).then_some(id);
        let of_inputs = inputs(self).map(|inputs| inputs.waiting_in(queue, chain));
        let first = exists(self.queues[usize::from(queue)].frames.head());
        let in_line = std::iter::successors(first, move |&id| exists(chain.next(id)));
        of_inputs.unwrap_or_default().into_iter().chain(in_line)
    }

    /// The queue of a priority.
    #[inline]
    pub fn queue_of(&self, priority: u8) -> u8 {
        if self.has_extras { self.queue_by_extras(priority) } else { priority }
    }

    #[cold]
    fn queue_by_extras(&self, priority: u8) -> u8 {
        let queue_of = self.extras.as_ref().and_then(|extras| extras.queue_of);
        queue_of.map_or(priority, |of| of[usize::from(priority)])
    }

    /// The priorities (bit p) whose frames wait in a queue.
    pub fn priorities_of(&self, queue: u8) -> u8 {
        (0..8).filter(|&priority| self.queue_of(priority) == queue).fold(0, |all, p| all | 1 << p)
    }

    /// Sets the queues (bit q) that ignore their pauses; all others obey them.
    pub fn ignore_pauses(&mut self, queues: u8) {
        self.extras_mut().ignored = queues;
        self.update_blocked();
    }

    /// Sets the queues (bit q) whose frames are discarded: they [have no place](Self::place_of)
    /// here. Other queues accept frames, unless the port is [cut off](Self::cut_off).
    pub fn discard(&mut self, queues: u8) {
        self.extras_mut().discards = queues;
    }

    fn extras_mut(&mut self) -> &mut PortExtras {
        self.has_extras = true;
        self.extras.get_or_insert_default()
    }

    /// The queue in which a frame of a priority waits; `None` if the frame must be discarded.
    #[inline]
    pub fn place_of(&self, priority: u8) -> Option<u8> {
        if self.has_extras { self.place_by_extras(priority) } else { Some(priority) }
    }

    #[cold]
    fn place_by_extras(&self, priority: u8) -> Option<u8> {
        let queue = self.queue_of(priority);
        let refuses = |extras: &PortExtras| extras.cut_off || extras.discards & 1 << queue != 0;
        (!self.extras.as_deref().is_some_and(refuses)).then_some(queue)
    }

    /// The link that this port sends on.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// When the transmitter may start its next frame.
    #[inline]
    pub fn free_at(&self) -> SimTime {
        self.free_at
    }

    /// Bytes of `priority` that wait, without the frame that is being sent.
    #[inline]
    pub fn queued(&self, priority: u8) -> u32 {
        self.queues[usize::from(priority)].bytes
    }

    /// Bytes that wait, over all priorities and including control frames that are due, without the
    /// frame that is being sent.
    #[inline]
    pub fn waiting_bytes(&self) -> u32 {
        let frames: u32 = self.queues.iter().map(|queue| queue.bytes).sum();
        if self.control_due { frames + self.flow_control.pending_bytes() } else { frames }
    }

    /// Bit p: priority p must not start a frame.
    #[inline]
    pub fn paused(&self) -> u8 {
        self.paused
    }

    /// Adds a frame of `len` bytes to the queue of its priority.
    #[inline]
    pub fn enqueue(&mut self, chain: &mut impl Chain, id: PacketId, priority: u8, len: u32) {
        let queue = &mut self.queues[usize::from(priority)];
        queue.frames.push_back(chain, id);
        queue.bytes += len;
        self.waiting |= 1 << priority;
    }

    /// Whether a waiting frame may be sent.
    #[inline]
    pub fn has_eligible(&self) -> bool {
        self.waiting & !self.blocked != 0
    }

    /// Whether a frame of `queue` and `len` bytes that arrives now could start at once: the transmitter is free, no
    /// frame waits, the queue is not blocked, and the flow control has nothing against it.
    #[inline]
    pub fn is_idle_for(&self, now: SimTime, queue: u8, len: u32) -> bool {
        let is_blocked = self.blocked & (1 << queue) != 0;
        self.free_at <= now
            && self.waiting == 0
            && !(is_blocked | self.control_due)
            && (!self.is_counted() || self.flow_control.may_start(queue, len))
    }

    /// Records that a frame of `priority` is sent without having waited here.
    #[inline]
    pub fn note_passed(&mut self, priority: u8) {
        if self.notes_passing {
            self.scheduler.note_passed(priority);
        }
    }

    /// Takes the frame that goes next, with its priority, of a port that is [not counted](Self::is_counted); `len` gives a packet's frame length in
    /// bytes.
    #[inline]
    pub fn dequeue<C: Chain>(
        &mut self,
        chain: &C,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<(PacketId, u8)> {
        debug_assert!(!self.is_counted(), "a port with credits has its own way");
        let queues = &self.queues;
        let head_len = |p: u8| len(chain, queues[usize::from(p)].frames.head());
        let eligible = self.waiting & !self.blocked;
        if eligible == 0 {
            return None;
        }
        let priority = self.scheduler.select(self.waiting, eligible, head_len);
        let queue = &mut self.queues[usize::from(priority)];
        let id = queue.frames.pop_front(chain)?;
        let frame_len = len(chain, id);
        queue.bytes -= frame_len;
        if queue.frames.is_empty() {
            self.waiting &= !(1 << priority);
        }
        Some((id, priority))
    }

    /// Takes any frame that waits, even if it is paused, with its priority.
    pub fn flush_one<C: Chain>(
        &mut self,
        chain: &C,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<(PacketId, u8)> {
        let [priority, ..] = self.waiting.trailing_zeros().to_le_bytes();
        self.queues.get(usize::from(priority))?;
        take_next(self, priority, chain, len).map(|id| (id, priority))
    }

    /// Takes the first frame of a queue, even if it is paused.
    pub fn flush_from<C: Chain>(
        &mut self,
        queue: u8,
        chain: &C,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<PacketId> {
        take_next(self, queue, chain, len)
    }

    /// Shuts the transmitter down: it does not become free before [`Self::start_up`].
    pub fn shut_down(&mut self) {
        self.free_at = SimTime::NEVER;
    }

    /// Takes the link down until [`Self::start_up`]: no frame [has a place](Self::place_of) here,
    /// and control frames that have arrived and have no effect yet are dropped.
    pub fn cut_off(&mut self) {
        self.shut_down();
        let extras = self.extras_mut();
        extras.cut_off = true;
        extras.responding.clear();
    }

    /// Starts the transmitter again (and the link, if it was down), free at `free_at`. Pauses in
    /// force are requested again, because the other end may have lost them. Returns their
    /// priorities (bit p).
    pub fn start_up(&mut self, free_at: SimTime) -> u8 {
        self.free_at = free_at;
        if let Some(extras) = &mut self.extras {
            extras.cut_off = false;
        }
        let again = self.ask_flow_control(|flow_control, _| flow_control.restart());
        self.update_blocked();
        again
    }

    /// Whether the transmitter is not shut down.
    pub fn is_up(&self) -> bool {
        self.free_at != SimTime::NEVER
    }

    /// Changes the rate of the link. Pauses in force are requested again, because the length of a
    /// quantum has changed.
    pub fn set_rate(&mut self, rate: Bandwidth) {
        self.link.set_rate(rate);
        self.ask_flow_control(|flow_control, _| flow_control.repeat_requests());
    }

    /// Whether a shaper holds a queue back, until a time that is known.
    pub fn has_closed_shaper(&self) -> bool {
        let shapers = self.extras.as_ref().and_then(|extras| extras.shapers.as_ref());
        shapers.is_some_and(|shapers| shapers.poll_timeout() != SimTime::NEVER)
    }

    /// Counts a frame of `len` bytes of `queue` that starts at `now` in the queue's shaper.
    pub fn note_sent(&mut self, now: SimTime, queue: u8, len: u32) {
        if let Some(shapers) = self.extras.as_mut().and_then(|extras| extras.shapers.as_mut()) {
            shapers.on_sent(now, queue, len);
            self.update_blocked();
        }
    }

    /// Starts a frame of `frame_len` bytes. The transmitter must be free.
    #[inline]
    pub fn transmit(&mut self, now: SimTime, frame_len: u32) -> Transmission {
        debug_assert!(self.free_at <= now, "two frames at once");
        let transmission = self.link.transmit(now, frame_len);
        self.free_at = transmission.free_at;
        transmission
    }

    /// Asks the other end to pause, because of `priority`.
    pub fn request_pause(&mut self, priority: u8) {
        self.ask_flow_control(|flow_control, _| flow_control.request_pause(priority));
    }

    /// `priority` is no reason any more for the other end to pause.
    pub fn request_resume(&mut self, priority: u8) {
        self.ask_flow_control(|flow_control, _| flow_control.request_resume(priority));
    }

    /// Bit p: a pause that is asked for because of `priority` holds priority p back at the other end.
    pub fn held_by(&self, priority: u8) -> u8 {
        self.flow_control.end_of_pauses().control().held_by(priority)
    }

    /// Bit p: priority p is paused, and its queue obeys.
    pub fn obeyed(&self) -> u8 {
        let ignored = self.extras.as_ref().map_or(0, |extras| extras.ignored);
        let queues = (0..8).filter(|queue| ignored & 1 << queue != 0);
        queues.fold(self.paused(), |obeyed, queue| obeyed & !self.priorities_of(queue))
    }

    /// Bit p: the pause of priority p holds back frames of `priority`, because both share a queue.
    pub fn pauses_of(&self, priority: u8) -> u8 {
        self.obeyed() & self.priorities_of(self.queue_of(priority))
    }

    /// Whether a control frame has arrived that will end the pause of `priority` when it takes effect.
    pub fn awaits_resume(&self, priority: u8) -> bool {
        let resumes = |(_, frame): &(SimTime, ControlFrame)| frame.resumes() & 1 << priority != 0;
        self.extras.as_ref().is_some_and(|extras| extras.responding.iter().any(resumes))
    }

    /// Takes the control frame that goes ahead of all data, if one is due.
    #[inline]
    pub fn take_control_frame(&mut self, now: SimTime) -> Option<ControlFrame> {
        if !self.control_due || !self.flow_control.may_precede_data(now) {
            return None;
        }
        self.take_last_control_frame(now)
    }

    /// Takes the control frame that is due, if any, where no data may go.
    pub fn take_last_control_frame(&mut self, now: SimTime) -> Option<ControlFrame> {
        if !self.control_due {
            return None;
        }
        self.ask_flow_control(|flow_control, link| flow_control.take_frame(now, link.quantum()))
    }

    /// Whether a control frame is due.
    #[inline]
    pub fn has_control_frame(&self) -> bool {
        self.control_due
    }

    /// Obeys a control frame.
    pub fn receive_control(&mut self, now: SimTime, frame: &ControlFrame) {
        self.ask_flow_control(|flow_control, link| {
            flow_control.receive(now, frame, link.quantum());
        });
        self.update_blocked();
    }

    /// Stores a control frame if this port's pauses take effect later; false if they take effect at
    /// once. The port then has a timeout, when [`Self::take_response`] returns the frame.
    pub fn defer_control(&mut self, now: SimTime, frame: &ControlFrame) -> bool {
        match &mut self.extras {
            Some(extras) if extras.pause_response > Duration::ZERO => {
                extras.responding.push_back((now + extras.pause_response, *frame));
                true
            }
            _ => false,
        }
    }

    /// Takes the next stored control frame that takes effect by `now`.
    pub fn take_response(&mut self, now: SimTime) -> Option<ControlFrame> {
        let extras = self.extras.as_mut()?;
        let (_, frame) = extras.responding.pop_front_if(|(due, _)| *due <= now)?;
        Some(frame)
    }

    /// When this port next has something to do: a pause takes effect, expires or must be renewed,
    /// or a shaper opens a queue.
    pub fn poll_timeout(&self) -> SimTime {
        let time = self.flow_control.poll_timeout();
        let Some(extras) = &self.extras else { return time };
        let response = extras.responding.front().map_or(SimTime::NEVER, |&(due, _)| due);
        let shaper = extras.shapers.as_ref().map_or(SimTime::NEVER, Shapers::poll_timeout);
        time.min(response).min(shaper)
    }

    /// Does what is due. A call before that time does nothing.
    pub fn handle_timeout(&mut self, now: SimTime) {
        self.ask_flow_control(|flow_control, _| flow_control.handle_timeout(now));
        if let Some(shapers) = self.extras.as_mut().and_then(|extras| extras.shapers.as_mut()) {
            shapers.handle_timeout(now);
        }
        self.update_blocked();
    }
}

#[cfg(test)]
mod tests;
