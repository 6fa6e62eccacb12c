//! Priority flow control by the standard: pauses last for quanta of time.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::Pfc;

use super::FlowControl;
use crate::link::MIN_FRAME;
use crate::pfc::{PauseRequests, PauseTimers};

/// IEEE 802.1Qbb: a pause lasts for the quanta in its frame, and is renewed while it is needed. One
/// frame carries the state of all priorities.
///
/// The requests come before the timers: this is the order of their use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct QuantaFlowControl {
    requests: PauseRequests,
    timers: PauseTimers,
}

rocelab_state::state!(QuantaFlowControl { states: requests, timers });

impl QuantaFlowControl {
    /// Flow control that asks for `quanta` at a time, in units of 512 bit times.
    pub fn new(quanta: u16) -> Self {
        Self { requests: PauseRequests::new(quanta), timers: PauseTimers::default() }
    }

    /// The pauses that the other end is asked for.
    pub fn requests(&self) -> &PauseRequests {
        &self.requests
    }

    /// The pauses that this port obeys.
    pub fn timers(&self) -> &PauseTimers {
        &self.timers
    }
}

impl FlowControl for QuantaFlowControl {
    #[expect(clippy::cast_possible_truncation, reason = "64 bytes")]
    const FRAME_LEN: u16 = MIN_FRAME as u16;

    fn request_pause(&mut self, priority: u8) {
        self.requests.pause(priority);
    }

    fn request_resume(&mut self, priority: u8) {
        self.requests.resume(priority);
    }

    fn pausing(&self) -> u8 {
        self.requests.pausing()
    }

    fn repeat_requests(&mut self) -> u8 {
        self.requests.repeat();
        self.requests.pausing()
    }

    #[inline]
    fn is_pending(&self) -> bool {
        self.requests.is_pending()
    }

    fn pending_bytes(&self) -> u32 {
        u32::from(self.requests.is_pending()) * u32::from(Self::FRAME_LEN)
    }

    #[inline]
    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<Pfc> {
        self.requests.is_pending().then(|| self.requests.take_frame(now, quantum))
    }

    fn receive(&mut self, now: SimTime, frame: &Pfc, quantum: Duration) {
        self.timers.receive(now, frame, quantum);
    }

    #[inline]
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

    #[test]
    fn it_wakes_for_the_earlier_of_expiry_and_repetition() {
        let mut here = QuantaFlowControl::new(100);
        here.request_pause(3);
        here.request_pause(4);
        assert_eq!(here.pending_bytes(), 64, "one frame speaks of both");
        let frame = here.take_frame(SimTime::ZERO, QUANTUM).expect("two pauses are due");
        assert_eq!(here.take_frame(SimTime::ZERO, QUANTUM), None);
        assert_eq!((here.pending_bytes(), here.poll_timeout().ps()), (0, 50 * 5_120));
        let mut there = QuantaFlowControl::new(100);
        there.receive(SimTime::ZERO, &frame, QUANTUM);
        assert_eq!((there.paused(), there.poll_timeout().ps()), (0b1_1000, 100 * 5_120));
        there.handle_timeout(there.poll_timeout());
        assert_eq!(there.paused(), 0);
        assert_eq!(there.paused_time(SimTime::from_ps(1_000_000)).ps(), 2 * 100 * 5_120);
    }
}
