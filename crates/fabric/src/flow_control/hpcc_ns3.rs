//! Priority flow control as HPCC's ns-3 simulator has it: pauses last until a resume.

use std::collections::VecDeque;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Pfc;

use super::{ControlFrame, FlowControl};

/// The pause time in a frame that stops a class; 0 lets it go on. The value itself has no meaning.
const STOP: u16 = u16::MAX;

/// Bytes of a frame: a 2-byte header of layer 2, padded to 14 bytes, an IPv4 header, and 9 bytes with class and
/// time.
const FRAME_LEN: u16 = 14 + 20 + 9;

/// Pauses without expiry in HPCC's ns-3 simulator: a frame stops one class until another frame lets
/// it go on. There are no timers.
///
/// Every request is a frame of its own, and frames leave in the order of the requests. So a pause
/// and the resume behind it may both wait.
#[derive(Clone, Debug, Default)]
pub struct OnOffFlowControl {
    /// Bit p: class p must not start a frame.
    paused: u8,
    /// Number of frames that wait to be sent.
    pending: u32,
    /// Allocated when needed: most ports neither pause nor are paused.
    details: Option<Box<Details>>,
}

rocelab_state::state!(OnOffFlowControl { values: paused, pending, details });

#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Details {
    requests: VecDeque<Request>,
    since: [SimTime; 8],
    /// Time spent paused, summed over classes.
    paused_time: Duration,
}

#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Request {
    priority: u8,
    quanta: u16,
}

impl OnOffFlowControl {
    /// Nothing is paused.
    pub fn new() -> Self {
        Self::default()
    }

    fn request(&mut self, priority: u8, quanta: u16) {
        self.details.get_or_insert_default().requests.push_back(Request { priority, quanta });
        self.pending += 1;
    }

    fn pause(&mut self, now: SimTime, priority: u8) {
        if self.paused & (1 << priority) == 0 {
            self.paused |= 1 << priority;
            self.details.get_or_insert_default().since[usize::from(priority)] = now;
        }
    }

    fn resume(&mut self, now: SimTime, priority: u8) {
        if let Some(since) = self.paused_since(priority) {
            self.paused &= !(1 << priority);
            self.details.get_or_insert_default().paused_time += now.since(since);
        }
    }
}

impl FlowControl for OnOffFlowControl {
    fn frame_len(_: &ControlFrame) -> u16 {
        FRAME_LEN
    }

    fn request_pause(&mut self, priority: u8) {
        self.request(priority, STOP);
    }

    fn request_resume(&mut self, priority: u8) {
        self.request(priority, 0);
    }

    #[inline]
    fn is_pending(&self) -> bool {
        self.pending != 0
    }

    #[inline]
    fn pending_bytes(&self) -> u32 {
        self.pending * u32::from(FRAME_LEN)
    }

    #[inline]
    fn take_frame(&mut self, _now: SimTime, _quantum: Duration) -> Option<ControlFrame> {
        if self.pending == 0 {
            return None;
        }
        let request = self.details.as_mut()?.requests.pop_front()?;
        self.pending -= 1;
        Some(Pfc::uniform(1 << request.priority, request.quanta).into())
    }

    fn end_of_pauses(&self) -> ControlFrame {
        Pfc::uniform(u8::MAX, 0).into()
    }

    fn receive(&mut self, now: SimTime, frame: &ControlFrame, _quantum: Duration) {
        for priority in 0..8u8 {
            match frame.quanta_of(priority) {
                None => {}
                Some(0) => self.resume(now, priority),
                Some(_) => self.pause(now, priority),
            }
        }
    }

    #[inline]
    fn paused(&self) -> u8 {
        self.paused
    }

    fn paused_since(&self, priority: u8) -> Option<SimTime> {
        let details = self.details.as_ref().filter(|_| self.paused & (1 << priority) != 0)?;
        Some(details.since[usize::from(priority)])
    }

    fn paused_time(&self, now: SimTime) -> Duration {
        let Some(details) = &self.details else { return Duration::ZERO };
        (0..8u8)
            .filter_map(|priority| self.paused_since(priority))
            .fold(details.paused_time, |sum, since| sum + now.since(since))
    }

    fn poll_timeout(&self) -> SimTime {
        SimTime::NEVER
    }

    fn handle_timeout(&mut self, _now: SimTime) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Duration = Duration::from_ns(5);

    fn at(ns: u64) -> SimTime {
        SimTime::from_ps(ns * 1_000)
    }

    #[test]
    fn every_request_is_a_frame_of_its_own_in_order() {
        let mut here = OnOffFlowControl::new();
        assert_eq!(here.take_frame(at(0), QUANTUM), None);
        here.request_pause(3);
        here.request_resume(3);
        here.request_pause(5);
        assert_eq!((here.is_pending(), here.pending_bytes()), (true, 3 * 43));
        let quanta =
            |frame: ControlFrame| [0, 1, 2, 3, 4, 5, 6, 7].map(|p| frame.quanta_of(p).unwrap_or(0));
        let frames: Vec<_> =
            std::iter::from_fn(|| here.take_frame(at(9), QUANTUM)).map(quanta).collect();
        let (stop, go_on) = (u16::MAX, 0);
        let expected = [
            [0, 0, 0, stop, 0, 0, 0, 0],
            [0, 0, 0, go_on, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, stop, 0, 0],
        ];
        assert_eq!(frames, expected);
        assert_eq!((here.is_pending(), here.pending_bytes()), (false, 0));
    }

    #[test]
    fn a_pause_lasts_until_a_resume_however_late() {
        let mut there = OnOffFlowControl::new();
        there.receive(at(100), &Pfc::uniform(1 << 3, u16::MAX).into(), QUANTUM);
        there.receive(at(250), &Pfc::uniform(1 << 3, u16::MAX).into(), QUANTUM);
        assert_eq!((there.paused(), there.paused_since(3)), (0b1000, Some(at(100))));
        assert_eq!(there.poll_timeout(), SimTime::NEVER);
        there.handle_timeout(at(1_000_000_000));
        assert_eq!(there.paused(), 0b1000);
        there.receive(at(1_000_000_100), &Pfc::uniform(1 << 2, 0).into(), QUANTUM);
        assert_eq!(there.paused(), 0b1000, "another class");
        there.receive(at(1_000_000_100), &Pfc::uniform(1 << 3, 0).into(), QUANTUM);
        assert_eq!((there.paused(), there.paused_since(3)), (0, None));
        there.receive(at(1_000_000_300), &Pfc::uniform(1 << 6, u16::MAX).into(), QUANTUM);
        assert_eq!(there.paused_time(at(1_000_000_350)), Duration::from_ns(1_000_000_050));
    }
}
