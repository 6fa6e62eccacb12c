//! Priority-based flow control by the standard: each priority is paused by itself, for quanta of time.

use rocelab_wire::{Frame, MacAddress, Pfc};

use super::quanta::{PauseUpdate, QuantaControl, QuantaRule};
use super::{LinkFlowControl, LinkFrame, PauseFrame};
use crate::link::MIN_FRAME;

/// IEEE 802.1Qbb: one frame carries the state of all priorities.
pub(super) type Control = QuantaControl<Pfc>;

impl LinkFrame for Pfc {
    const NAME: &'static str = "PFC";

    #[expect(clippy::cast_possible_truncation, reason = "64 bytes")]
    const WIRE_LEN: u16 = MIN_FRAME as u16;

    fn quanta_of(&self, priority: u8) -> Option<u16> {
        Self::quanta_of(self, priority)
    }
}

impl PauseFrame for Pfc {
    fn to_frame(self, source: MacAddress) -> Frame<'static> {
        Self::to_frame(self, source)
    }
}

impl QuantaRule for Pfc {
    const CONTROL: LinkFlowControl = LinkFlowControl::Pfc;

    fn due(priority: u8, _before: u8, _after: u8) -> u8 {
        1 << priority
    }

    /// Every pause in force, and all changes. So all pauses are renewed together.
    fn frame(update: PauseUpdate) -> Self {
        let mut frame = Self::uniform(update.pausing, update.quanta);
        frame.class_enable_vector |= update.due;
        frame
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Duration, SimTime};

    use super::super::FlowControl as _;
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
