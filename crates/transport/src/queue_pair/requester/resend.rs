//! When and from where a requester sends again: timeouts, NAKs and RNR NAKs.

use rocelab_units::{Duration, SimTime};

use super::{Message, Progress, Requester};
use crate::recovery::Loss;
use crate::sequence::{Sequence, expand};

/// What follows from an expired timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::queue_pair) enum TimedOut {
    /// It was restarted since.
    NotYet,
    /// The wait that an RNR NAK asked for is over.
    Resume,
    /// Everything unacknowledged will be sent again.
    Resend,
    /// It was the last retry.
    GiveUp,
}

/// What follows from an RNR NAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::queue_pair) enum NotReady {
    /// It is about something that is not waited for.
    Stale,
    /// Nothing leaves before the wait is over.
    Wait(Progress),
    /// It was the last retry.
    GiveUp,
}

/// What follows from a NAK that refuses a request for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::queue_pair) enum Refused {
    /// It is about something that is not waited for.
    Stale,
    /// Something before it is still waited for.
    Later(Progress),
    /// It is about the oldest work request.
    Now,
}

impl Requester {
    /// A NAK that refuses the request packet `psn`.
    pub(in crate::queue_pair) fn on_refusal(
        &mut self,
        now: SimTime,
        psn: u32,
        complete: impl FnMut(&Message, u64),
    ) -> Refused {
        let Some(wanted) = self.refused(psn) else { return Refused::Stale };
        let progress = self.acknowledge_up_to(now, wanted, complete);
        if self.window.acknowledged < wanted {
            return Refused::Later(progress);
        }
        Refused::Now
    }

    /// Everything before `wanted` arrived, but for responses that did not.
    fn acknowledge_up_to(
        &mut self,
        now: SimTime,
        wanted: Sequence,
        complete: impl FnMut(&Message, u64),
    ) -> Progress {
        if self.is_selective() {
            self.acknowledge_selectively(now, wanted, None, complete)
        } else {
            self.acknowledge_before(now, wanted, complete)
        }
    }

    /// A NAK "PSN sequence error" that asks for `psn`.
    pub(in crate::queue_pair) fn on_sequence_error(
        &mut self,
        now: SimTime,
        psn: u32,
        complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let Some(wanted) = self.refused(psn) else {
            return Progress { stale: true, ..Progress::default() };
        };
        if self.is_selective() {
            let progress = self.acknowledge_selectively(now, wanted, None, complete);
            self.go_back_selectively(wanted.max(self.window.acknowledged), false);
            return Progress { loss: true, stale: false, ..progress };
        }
        let mut progress = self.acknowledge_before(now, wanted, complete);
        // Short of `wanted` it is a READ that is waited for, and that was asked for again.
        let reached = self.window.acknowledged >= wanted;
        if !progress.loss && reached && wanted < self.window.next && !self.window.is_parked() {
            self.go_back(wanted, false);
            progress.loss = true;
        }
        progress
    }

    /// An RNR NAK: the responder has no receive request for `psn`, and asks to wait.
    pub(in crate::queue_pair) fn on_not_ready(
        &mut self,
        now: SimTime,
        psn: u32,
        wait: Duration,
        complete: impl FnMut(&Message, u64),
    ) -> NotReady {
        let Some(wanted) = self.refused(psn) else { return NotReady::Stale };
        let progress = self.acknowledge_up_to(now, wanted, complete);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.lose(wanted);
        }
        if self.window.is_parked() || progress.loss || self.window.acknowledged < wanted {
            return NotReady::Wait(progress);
        }
        if !self.retries.take_rnr() {
            return NotReady::GiveUp;
        }
        self.resumption.resume_at = wanted;
        self.window.park();
        self.timer.wait(now, wait);
        NotReady::Wait(progress)
    }

    /// The ACK timeout or the wait of an RNR NAK may have expired.
    pub(in crate::queue_pair) fn on_timeout(&mut self, now: SimTime) -> TimedOut {
        if self.timer.deadline() > now {
            return TimedOut::NotYet;
        }
        if self.window.is_parked() {
            self.go_back(self.resumption.resume_at.max(self.window.acknowledged), false);
            return TimedOut::Resume;
        }
        if !self.retries.take() {
            return TimedOut::GiveUp;
        }
        self.go_back(self.window.acknowledged, true);
        TimedOut::Resend
    }

    /// Another path is there: sends again what is not acknowledged, with all retries left.
    pub(in crate::queue_pair) fn try_other_path(&mut self) {
        self.retries.forget();
        self.go_back(self.window.acknowledged, true);
    }

    pub(super) fn restart_timer(&mut self, now: SimTime) {
        let in_flight = self.window.sent_end - self.window.acknowledged;
        let special = self.arrivals.as_ref().and_then(|arrivals| arrivals.timeout(in_flight));
        self.timer.restart(now, special);
    }

    /// A response is missing: asks for it again, unless that was done already.
    pub(super) fn ask_again(&mut self, response: Sequence) -> bool {
        if self.resumption.awaited_response == Some(response)
            || response >= self.window.next
            || self.window.is_parked()
        {
            return false;
        }
        self.go_back(response, false);
        true
    }

    /// The packet that a negative acknowledgement names, if it is one that may be sent again.
    fn refused(&self, psn: u32) -> Option<Sequence> {
        let wanted = expand(psn, self.window.acknowledged);
        (self.oldest_needed()..self.window.sent_end).contains(&wanted).then_some(wanted)
    }

    /// Sends again from where the scheme says, given that `lost` is needed, because the `timeout`
    /// expired or because the responder said so.
    fn go_back(&mut self, lost: Sequence, timeout: bool) {
        if self.is_selective() {
            return self.go_back_selectively(lost, timeout);
        }
        self.timer.stop();
        self.window.cursor = 0;
        self.reads.forget();
        let Some(oldest) = self.messages.front() else { return };
        let loss = Loss { lost, message_first: oldest.first };
        let resume = self.reliability.resend_from(&loss);
        self.window.next = resume;
        self.window.next_byte = oldest.byte_at(resume, self.rules.segmentation);
        self.window.acknowledged = self.window.acknowledged.min(resume);
        self.window.acknowledged_byte = self.window.acknowledged_byte.min(self.window.next_byte);
        self.resumption.awaited_response =
            oldest.operation.awaits_response().then_some(self.window.acknowledged);
    }
}
