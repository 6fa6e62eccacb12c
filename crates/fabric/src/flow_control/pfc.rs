//! Priority-based flow control by the standard: each priority is paused by itself, for quanta of time.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::{Frame, MacAddress, Pfc};

use super::quanta::{PauseRequests, PauseTimers};
use super::{ControlFrame, FlowControl, LinkFlowControl, LinkFrame};
use crate::link::MIN_FRAME;

/// IEEE 802.1Qbb: a pause lasts for the quanta in its frame, and is renewed while it is needed. One
/// frame carries the state of all priorities.
///
/// The requests come before the timers: this is the order of their use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Control {
    requests: PauseRequests,
    timers: PauseTimers,
}

rocelab_state::state!(Control { states: requests, timers });

impl Control {
    pub(super) fn new(quanta: u16) -> Self {
        Self { requests: PauseRequests::new(quanta), timers: PauseTimers::default() }
    }
}

impl LinkFrame for Pfc {
    const NAME: &'static str = "PFC";

    #[expect(clippy::cast_possible_truncation, reason = "64 bytes")]
    const WIRE_LEN: u16 = MIN_FRAME as u16;

    fn quanta_of(&self, priority: u8) -> Option<u16> {
        Self::quanta_of(self, priority)
    }

    fn to_frame(self, source: MacAddress) -> Frame<'static> {
        Self::to_frame(self, source)
    }
}

impl FlowControl for Control {
    fn request_pause(&mut self, priority: u8) {
        self.requests.ask(priority);
        self.requests.make_due(1 << priority);
    }

    fn request_resume(&mut self, priority: u8) {
        self.requests.withdraw(priority);
        self.requests.make_due(1 << priority);
    }

    fn pausing(&self) -> u8 {
        self.requests.pausing()
    }

    fn repeat_requests(&mut self) -> u8 {
        self.requests.repeat();
        self.requests.pausing()
    }

    fn is_pending(&self) -> bool {
        self.requests.is_pending()
    }

    fn pending_bytes(&self) -> u32 {
        u32::from(self.requests.is_pending()) * u32::from(Pfc::WIRE_LEN)
    }

    /// Every pause in force, and all changes. So all pauses are renewed together.
    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<ControlFrame> {
        let update = self.requests.take(now, quantum)?;
        let mut frame = Pfc::uniform(update.pausing, update.quanta);
        frame.class_enable_vector |= update.due;
        Some(frame.into())
    }

    fn end_of_pauses(&self) -> ControlFrame {
        Pfc::uniform(u8::MAX, 0).into()
    }

    fn receive(&mut self, now: SimTime, frame: &ControlFrame, quantum: Duration) {
        if frame.control() == LinkFlowControl::Pfc {
            self.timers.receive(now, |priority| frame.quanta_of(priority), quantum);
        }
    }

    fn paused(&self) -> u8 {
        self.timers.paused()
    }

    fn paused_since(&self, priority: u8) -> Option<SimTime> {
        self.timers.paused_since(priority)
    }

    fn paused_time(&self, now: SimTime) -> Duration {
        self.timers.paused_time(now)
    }

    fn poll_timeout(&self) -> SimTime {
        self.timers.poll_timeout().min(self.requests.poll_timeout())
    }

    fn handle_timeout(&mut self, now: SimTime) {
        self.timers.handle_timeout(now);
        self.requests.handle_timeout(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Duration = Duration::from_ps(5_120);

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    /// The priorities (bit p) that the next frame pauses, and lets go on.
    fn next(control: &mut Control, ps: u64) -> (u8, u8) {
        let frame = control.take_frame(at(ps), QUANTUM).expect("one is due");
        let pauses = |&priority: &u8| frame.quanta_of(priority).is_some_and(|quanta| quanta > 0);
        ((0..8).filter(pauses).fold(0, |mask, priority| mask | 1 << priority), frame.resumes())
    }

    #[test]
    fn it_wakes_for_the_earlier_of_expiry_and_repetition() {
        let mut here = Control::new(100);
        here.request_pause(3);
        here.request_pause(4);
        assert_eq!(here.pending_bytes(), 64, "one frame speaks of both");
        let frame = here.take_frame(SimTime::ZERO, QUANTUM).expect("two pauses are due");
        assert_eq!(here.take_frame(SimTime::ZERO, QUANTUM), None);
        assert_eq!((here.pending_bytes(), here.poll_timeout().ps()), (0, 50 * 5_120));
        let mut there = Control::new(100);
        there.receive(SimTime::ZERO, &frame, QUANTUM);
        assert_eq!((there.paused(), there.poll_timeout().ps()), (0b1_1000, 100 * 5_120));
        there.handle_timeout(there.poll_timeout());
        assert_eq!(there.paused(), 0);
        assert_eq!(there.paused_time(SimTime::from_ps(1_000_000)).ps(), 2 * 100 * 5_120);
    }

    #[test]
    fn one_frame_says_all_that_is_pending() {
        let mut control = Control::new(u16::MAX);
        control.request_pause(3);
        control.request_pause(5);
        control.request_resume(5);
        assert_eq!(next(&mut control, 0), (0b1000, 0b10_0000));
        assert!(!control.is_pending());
        assert_eq!(control.poll_timeout(), at(65_535 * 5_120 / 2));
    }

    #[test]
    fn a_frame_about_one_priority_renews_the_pauses_of_all() {
        let mut control = Control::new(100);
        control.request_pause(3);
        next(&mut control, 0);
        control.request_pause(4);
        assert_eq!(next(&mut control, 255_000), (0b1_1000, 0));
        control.request_resume(4);
        assert_eq!(next(&mut control, 510_000), (0b1000, 0b1_0000));
    }
}
