//! A port: its transmitter, its queues, and PFC in both directions.

use rocelab_units::SimTime;
use rocelab_wire::Pfc;

use crate::chain::{Chain, Fifo, PacketId};
use crate::link::{Link, Transmission};
use crate::pfc::{PauseRequests, PauseTimers};
use crate::scheduler::Scheduler;

/// Frames of one priority that wait to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PriorityQueue {
    frames: Fifo,
    bytes: u32,
}

/// A port of a host or switch. It sends one frame at a time; which one is decided when the
/// transmitter becomes free.
///
/// The fields stand in the order of their use: what every frame touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port {
    free_at: SimTime,
    link: Link,
    pause_requests: PauseRequests,
    pause_timers: PauseTimers,
    /// Bit p: frames of priority p wait.
    waiting: u8,
    queues: [PriorityQueue; 8],
    scheduler: Scheduler,
}

impl Port {
    /// An idle port on `link`, whose PFC frames ask for `pause_quanta` at a time.
    pub fn new(link: Link, scheduler: Scheduler, pause_quanta: u16) -> Self {
        Self {
            free_at: SimTime::ZERO,
            link,
            waiting: 0,
            queues: [PriorityQueue::default(); 8],
            scheduler,
            pause_timers: PauseTimers::default(),
            pause_requests: PauseRequests::new(pause_quanta),
        }
    }

    /// The link that this port sends on.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// When the transmitter may start its next frame.
    #[inline]
    pub fn free_at(&self) -> SimTime {
        self.free_at
    }

    /// Bytes of `priority` that wait, without the frame being sent.
    #[inline]
    pub fn queued(&self, priority: u8) -> u32 {
        self.queues[usize::from(priority)].bytes
    }

    /// Bit p: priority p must not start a frame.
    #[inline]
    pub fn paused(&self) -> u8 {
        self.pause_timers.paused()
    }

    /// What the other end has been told to pause.
    pub fn pause_requests(&self) -> &PauseRequests {
        &self.pause_requests
    }

    /// What the other end has told this one to pause.
    pub fn pause_timers(&self) -> &PauseTimers {
        &self.pause_timers
    }

    /// Lets a frame of `len` bytes wait.
    #[inline]
    pub fn enqueue(&mut self, chain: &mut impl Chain, id: PacketId, priority: u8, len: u32) {
        let queue = &mut self.queues[usize::from(priority)];
        queue.frames.push_back(chain, id);
        queue.bytes += len;
        self.waiting |= 1 << priority;
    }

    /// Whether a waiting frame may go.
    #[inline]
    pub fn has_eligible(&self) -> bool {
        self.waiting & !self.pause_timers.paused() != 0
    }

    /// Whether a frame of `priority` that arrives now could start at once: the transmitter is free,
    /// nothing waits, and no pause keeps it.
    #[inline]
    pub fn is_idle_for(&self, now: SimTime, priority: u8) -> bool {
        self.free_at <= now
            && self.waiting == 0
            && self.pause_timers.paused() & (1 << priority) == 0
            && !self.pause_requests.is_pending()
    }

    /// Takes the frame that goes next, with its priority; `len` is a packet's frame length.
    #[inline]
    pub fn dequeue<C: Chain>(
        &mut self,
        chain: &C,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<(PacketId, u8)> {
        let eligible = self.waiting & !self.pause_timers.paused();
        if eligible == 0 {
            return None;
        }
        let queues = &self.queues;
        let head_len = |p: u8| len(chain, queues[usize::from(p)].frames.head());
        let priority = self.scheduler.select(self.waiting, eligible, head_len);
        let queue = &mut self.queues[usize::from(priority)];
        let id = queue.frames.pop_front(chain)?;
        queue.bytes -= len(chain, id);
        if queue.frames.is_empty() {
            self.waiting &= !(1 << priority);
        }
        Some((id, priority))
    }

    /// Starts a frame of `frame_len` bytes. The transmitter is free.
    #[inline]
    pub fn transmit(&mut self, now: SimTime, frame_len: u32) -> Transmission {
        debug_assert!(self.free_at <= now, "two frames at once");
        let transmission = self.link.transmit(now, frame_len);
        self.free_at = transmission.free_at;
        transmission
    }

    /// Asks the other end to pause `priority`.
    pub fn request_pause(&mut self, priority: u8) {
        self.pause_requests.pause(priority);
    }

    /// Lets the other end go on sending `priority`.
    pub fn request_resume(&mut self, priority: u8) {
        self.pause_requests.resume(priority);
    }

    /// The PFC frame that goes ahead of all data, if one is due.
    #[inline]
    pub fn take_pfc_frame(&mut self, now: SimTime) -> Option<Pfc> {
        if !self.pause_requests.is_pending() {
            return None;
        }
        Some(self.pause_requests.take_frame(now, self.link.quantum()))
    }

    /// Whether a PFC frame is due.
    #[inline]
    pub fn has_pfc_frame(&self) -> bool {
        self.pause_requests.is_pending()
    }

    /// Obeys a PFC frame.
    pub fn receive_pfc(&mut self, now: SimTime, frame: &Pfc) {
        self.pause_timers.receive(now, frame, self.link.quantum());
    }

    /// When this port next wants to be woken: a pause expires or must be asked for again.
    pub fn poll_timeout(&self) -> SimTime {
        self.pause_timers.poll_timeout().min(self.pause_requests.poll_timeout())
    }

    /// Serves what is due; to be called too early is harmless.
    pub fn handle_timeout(&mut self, now: SimTime) {
        self.pause_timers.handle_timeout(now);
        self.pause_requests.handle_timeout(now);
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration};

    use super::*;
    use crate::chain::tests::Links;
    use crate::scheduler::SchedulerConfig;

    fn port() -> Port {
        let link = Link::new(Bandwidth::from_gbps(100), Duration::ZERO);
        Port::new(link, Scheduler::new(&SchedulerConfig::Strict), u16::MAX)
    }

    #[test]
    fn a_paused_priority_waits_and_others_pass() {
        let mut links = Links(vec![0; 4]);
        let len = |_: &Links, id: PacketId| 100 + id.0;
        let mut port = port();
        port.enqueue(&mut links, PacketId(0), 3, 100);
        port.enqueue(&mut links, PacketId(1), 3, 101);
        port.enqueue(&mut links, PacketId(2), 1, 102);
        let mut stop = Pfc { reserved: 0, class_enable_vector: 1 << 3, quanta: [9; 8] };
        port.receive_pfc(SimTime::ZERO, &stop);
        assert_eq!(port.dequeue(&links, len), Some((PacketId(2), 1)));
        assert!(!port.has_eligible());
        assert_eq!(port.dequeue(&links, len), None);
        assert_eq!(port.queued(3), 201);
        stop.quanta[3] = 0;
        port.receive_pfc(SimTime::from_ps(5), &stop);
        assert_eq!(port.dequeue(&links, len), Some((PacketId(0), 3)));
        assert_eq!(port.dequeue(&links, len), Some((PacketId(1), 3)));
        assert_eq!(port.queued(3), 0);
    }

    #[test]
    fn a_port_sends_one_frame_at_a_time() {
        let mut port = port();
        let first = port.transmit(SimTime::ZERO, 64);
        assert_eq!(first.free_at.ps(), 84 * 80);
        assert_eq!(port.free_at(), first.free_at);
    }
}
