//! PAUSE (IEEE 802.3 annex 31B): one pause for the whole link, whatever the priority.

use rocelab_wire::{Frame, MacAddress, Pause};

use super::quanta::{PauseUpdate, QuantaControl, QuantaRule};
use super::{LinkFlowControl, LinkFrame, PauseFrame};
use crate::link::MIN_FRAME;

/// Every priority.
const ALL: u8 = u8::MAX;

/// Each priority may be a reason for the pause. It begins with the first reason, is renewed while there is one, and
/// ends with the last: a frame is sent only then. All priorities of the other end wait meanwhile.
pub(super) type Control = QuantaControl<Pause>;

impl LinkFrame for Pause {
    const NAME: &'static str = "PAUSE";

    #[expect(clippy::cast_possible_truncation, reason = "64 bytes")]
    const WIRE_LEN: u16 = MIN_FRAME as u16;

    fn held_by(_priority: u8) -> u8 {
        ALL
    }

    fn quanta_of(&self, _priority: u8) -> Option<u16> {
        Some(self.quanta)
    }
}

impl PauseFrame for Pause {
    fn to_frame(self, source: MacAddress) -> Frame<'static> {
        Self::to_frame(self, source)
    }
}

impl QuantaRule for Pause {
    const CONTROL: LinkFlowControl = LinkFlowControl::Pause;

    fn due(_priority: u8, before: u8, after: u8) -> u8 {
        if (before == 0) == (after == 0) { 0 } else { ALL }
    }

    fn frame(update: PauseUpdate) -> Self {
        Self { quanta: if update.pausing == 0 { 0 } else { update.quanta } }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Duration, SimTime};

    use super::super::FlowControl as _;
    use super::*;

    const QUANTUM: Duration = Duration::from_ps(5_120);

    /// The quanta of the frame that is due.
    fn next(control: &mut Control, ps: u64) -> Option<u16> {
        control.take_frame(SimTime::from_ps(ps), QUANTUM)?.quanta_of(0)
    }

    #[test]
    fn a_pause_lasts_from_the_first_reason_to_the_last() {
        let mut control = Control::new(100);
        control.request_resume(2);
        assert_eq!(next(&mut control, 0), None, "nobody was paused");
        control.request_pause(3);
        assert_eq!((next(&mut control, 0), control.poll_timeout().ps()), (Some(100), 256_000));
        control.request_pause(5);
        assert_eq!(next(&mut control, 1), None, "the link is paused already");
        control.request_resume(3);
        assert_eq!((next(&mut control, 2), control.pausing()), (None, 1 << 5));
        control.handle_timeout(control.poll_timeout());
        assert_eq!(next(&mut control, 256_000), Some(100), "renewed");
        control.request_resume(5);
        assert_eq!((control.pending_bytes(), next(&mut control, 300_000)), (64, Some(0)));
        assert_eq!((control.pausing(), control.poll_timeout()), (0, SimTime::NEVER));
    }

    #[test]
    fn a_reason_that_comes_before_the_end_was_told_goes_on_with_the_pause() {
        let mut control = Control::new(100);
        control.request_pause(3);
        next(&mut control, 0);
        control.request_resume(3);
        control.request_pause(4);
        assert_eq!((next(&mut control, 9), next(&mut control, 10)), (Some(100), None));
    }

    #[test]
    fn every_priority_waits_and_only_for_frames_of_its_own_kind() {
        let mut there = Control::new(100);
        let pfc = rocelab_wire::Pfc::uniform(1 << 3, 100).into();
        there.receive(SimTime::ZERO, &pfc, QUANTUM);
        assert_eq!(there.paused(), 0);
        there.receive(SimTime::ZERO, &Pause { quanta: 100 }.into(), QUANTUM);
        assert_eq!((there.paused(), there.poll_timeout().ps()), (ALL, 512_000));
        there.handle_timeout(there.poll_timeout());
        assert_eq!(there.paused(), 0);
    }
}
