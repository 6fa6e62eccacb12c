//! Ports of nodes, and what those of switches have beside.

use std::collections::VecDeque;

use crate::frame::{CONTROL_CLASS, Frame};
use crate::time::Arithmetic;

/// The rate that a switch's port guarantees to each class (bit/s).
const GUARANTEED: u64 = 10_000_000_000;

/// One end of a link.
#[derive(Debug)]
pub(crate) struct Port {
    /// The node, and its number among hosts or among switches.
    pub(crate) node: u32,
    pub(crate) place: u32,
    pub(crate) is_switch: bool,
    /// Whether a packet is being sent.
    pub(crate) is_busy: bool,
    /// Classes, as bits, that the other end has paused.
    pub(crate) paused: u8,
    /// Number of the interface at its node, from 1.
    pub(crate) interface: u32,
    /// Rate (bit/s) and delay (ns) of the link.
    pub(crate) rate: u64,
    pub(crate) delay: u64,
    /// Packets on the way to the other end, the next to arrive first.
    pub(crate) in_flight: VecDeque<Frame>,
    /// The size that was sent last, and the time it takes (ns).
    last_size: (u16, u64),
    /// For each class, which of the timers that end a pause is valid.
    pub(crate) resume_serials: [u32; 8],
}

impl Port {
    pub(crate) const fn new(node: u32, interface: u32, rate: u64, delay: u64) -> Self {
        Self {
            node,
            place: 0,
            is_switch: false,
            is_busy: false,
            paused: 0,
            interface,
            rate,
            delay,
            in_flight: VecDeque::new(),
            last_size: (0, 0),
            resume_serials: [0; 8],
        }
    }

    /// The time (ns) that a packet of `size` bytes takes.
    #[inline]
    pub(crate) fn serialisation(&mut self, size: u16, arithmetic: Arithmetic) -> u64 {
        if self.last_size.0 != size {
            self.last_size = (size, arithmetic.serialisation(u32::from(size), self.rate));
        }
        self.last_size.1
    }
}

/// What a port of a switch has: queues, counters of its memory, timers.
#[derive(Debug, Default)]
pub(crate) struct SwitchPort {
    /// Packets of each class that wait to be sent.
    pub(crate) queues: [Queue; 8],
    /// Classes, as bits, that have some.
    waiting: u8,
    /// The class that was served last; control does not count.
    last: u8,
    /// Classes, as bits, whose sender at the other end was asked to pause.
    pub(crate) asked: u8,
    /// The port's number in its switch.
    pub(crate) local: u32,
    /// For each class, when what it was guaranteed is sent (ns).
    granted: [u64; 8],
    pub(crate) ingress: Ingress,
    pub(crate) egress: Egress,
    /// For each other port and class, which of the timers that check for a pause is valid.
    pub(crate) check_serials: Vec<u32>,
}

/// Packets of one class.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) frames: VecDeque<Frame>,
    pub(crate) bytes: u32,
}

impl Queue {
    #[inline]
    pub(crate) fn push(&mut self, frame: Frame) {
        self.bytes += u32::from(frame.size);
        self.frames.push_back(frame);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= u32::from(frame.size);
        Some(frame)
    }

    /// Throws away what waits.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}

/// What is stored of packets that came in by a port (bytes).
#[derive(Debug, Default)]
pub(crate) struct Ingress {
    pub(crate) bytes: u32,
    pub(crate) classes: [u32; 8],
    pub(crate) headroom: [u32; 8],
}

/// What is stored of packets that go out by a port (bytes).
#[derive(Debug, Default)]
pub(crate) struct Egress {
    pub(crate) bytes: u32,
    /// Of each class, what the queue has for itself, and the rest.
    pub(crate) reserved: [u32; 8],
    pub(crate) shared: [u32; 8],
}

impl SwitchPort {
    /// Has a packet wait.
    #[inline]
    pub(crate) fn push(&mut self, frame: Frame) {
        self.queues[frame.class as usize].push(frame);
        self.waiting |= 1 << frame.class;
    }

    /// Takes the packet that is sent at `now`, where the other end has `paused` some classes.
    ///
    /// A class that has not had its guaranteed rate goes first, the highest first, and even if it is
    /// paused, unless `pauses_hold`. So a pause does not stop a port, but throttles it.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now: u64,
        paused: u8,
        pauses_hold: bool,
        arithmetic: Arithmetic,
    ) -> Option<Frame> {
        if self.waiting == 0 {
            return None;
        }
        let class = self.choose(now, paused, pauses_hold)?;
        let queue = &mut self.queues[class as usize];
        let frame = queue.pop()?;
        if queue.frames.is_empty() {
            self.waiting &= !(1 << class);
        }
        let granted = &mut self.granted[class as usize];
        *granted += arithmetic.serialisation(u32::from(frame.size), GUARANTEED);
        *granted = now.max(*granted);
        if class != CONTROL_CLASS {
            self.last = class;
        }
        Some(frame)
    }

    #[inline]
    fn choose(&self, now: u64, paused: u8, pauses_hold: bool) -> Option<u8> {
        if self.waiting & 1 << CONTROL_CLASS != 0 {
            return Some(CONTROL_CLASS);
        }
        let held = if pauses_hold { paused } else { 0 };
        let mut candidates = self.waiting & !held;
        while candidates != 0 {
            let class = candidates.ilog2();
            if self.granted[class as usize] < now {
                return u8::try_from(class).ok();
            }
            candidates &= !(1 << class);
        }
        let candidates = self.waiting & !paused;
        (1..=8).map(|step| (self.last + step) % 8).find(|class| candidates & 1 << class != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Kind;

    fn frame(class: u8) -> Frame {
        Frame {
            stamp: 0,
            stream: 0,
            seq: 0,
            ingress: 0,
            to: 0,
            size: 1_020,
            kind: Kind::Data,
            class,
            paused: 0,
            is_marked: false,
        }
    }

    fn taken(port: &mut SwitchPort, now: u64, paused: u8) -> Option<u8> {
        port.take(now, paused, false, Arithmetic::Linux).map(|frame| frame.class)
    }

    #[test]
    fn each_class_is_guaranteed_10_gbps_and_then_they_take_turns() {
        let mut port = SwitchPort::default();
        for class in [3, 3, 3, 5, 5, 5, 7] {
            port.push(frame(class));
        }
        // Control, then the highest class, until both have had their first packet.
        let order: Vec<_> = (0..4).map(|_| taken(&mut port, 1_000, 0).unwrap()).collect();
        assert_eq!(order, [7, 5, 3, 5]);
        assert_eq!(taken(&mut port, 1_001, 0), Some(3));
    }

    #[test]
    fn a_pause_throttles_to_the_guaranteed_rate() {
        let mut port = SwitchPort::default();
        (0..3).for_each(|_| port.push(frame(3)));
        let paused = 1 << 3;
        assert_eq!(taken(&mut port, 5_000, paused), Some(3));
        assert_eq!(taken(&mut port, 5_000, paused), None, "the grant began at 5000");
        assert_eq!(taken(&mut port, 5_001, paused), Some(3));
        assert_eq!(taken(&mut port, 5_815, paused), None);
        assert_eq!(taken(&mut port, 5_817, paused), Some(3));
    }

    #[test]
    fn with_the_branch_timely_a_pause_holds() {
        let mut port = SwitchPort::default();
        port.push(frame(3));
        assert!(port.take(5_000, 1 << 3, true, Arithmetic::Linux).is_none());
        assert!(port.take(5_000, 0, true, Arithmetic::Linux).is_some());
    }
}
