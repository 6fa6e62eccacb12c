//! A controller whose answers count later: the way through a NIC from feedback to the rate limiter.

use std::collections::VecDeque;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::{Ack, CongestionControl, LossEvent, Sent, Timers};

/// A controller that learns everything at once, and each of whose answers counts a constant time later. Its first one
/// counts from the start.
#[derive(Debug)]
pub(crate) struct Late {
    control: Box<dyn CongestionControl>,
    delay: Duration,
    /// What counts.
    present: Answer,
    /// What will, and when, by time.
    coming: VecDeque<(SimTime, Answer)>,
    /// The first wakes for the next of these, and for the controller's own timers.
    timers: Timers,
}

rocelab_state::state!(Late { values: present, coming, timers; states: control; kept: delay });

/// What a controller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Answer {
    rate: Bandwidth,
    window: Option<u64>,
}

impl Answer {
    fn of(control: &dyn CongestionControl) -> Self {
        Self { rate: control.rate(), window: control.window() }
    }
}

impl Late {
    /// The number of its only timer.
    const TIMER: usize = 0;

    /// A controller that was just built.
    pub(crate) fn new(control: Box<dyn CongestionControl>, delay: Duration) -> Self {
        let present = Answer::of(control.as_ref());
        let mut late =
            Self { control, delay, present, coming: VecDeque::new(), timers: Timers::new() };
        late.arm();
        late
    }

    /// The controller may have changed its answer.
    fn note(&mut self, now: SimTime) {
        let answer = Answer::of(self.control.as_ref());
        let last = self.coming.back();
        if answer != last.map_or(self.present, |&(_, answer)| answer) {
            // Timers of a queue pair that slept are served late: what they change comes after what came before.
            let earliest = last.map_or(SimTime::ZERO, |&(at, _)| at);
            self.coming.push_back((now.saturating_add(self.delay).max(earliest), answer));
        }
        self.arm();
    }

    fn arm(&mut self) {
        let own = self.control.timers().map_or(SimTime::NEVER, |timers| timers.next());
        let next = self.coming.front().map_or(own, |&(at, _)| at.min(own));
        if next == SimTime::NEVER {
            self.timers.stop(Self::TIMER);
        } else {
            self.timers.arm(Self::TIMER, next);
        }
    }

    /// Whatever the controller's own timers do by now.
    fn expire_own(&mut self, now: SimTime) {
        while let Some(timers) = self.control.timers()
            && let Some(timer) = timers.due(now)
        {
            let due = timers.deadline(timer);
            self.control.expire(timer, due);
            self.note(due);
        }
    }
}

impl CongestionControl for Late {
    fn rate(&self) -> Bandwidth {
        self.present.rate
    }

    fn window(&self) -> Option<u64> {
        self.present.window
    }

    fn alpha(&self, now: SimTime) -> Option<f64> {
        self.control.alpha(now)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.control.on_ack(ack);
        self.note(ack.now);
    }

    fn on_cnp(&mut self, now: SimTime) {
        self.control.on_cnp(now);
        self.note(now);
    }

    fn on_cnm(&mut self, now: SimTime, feedback: u8) {
        self.control.on_cnm(now, feedback);
        self.note(now);
    }

    fn counts_sent_bytes(&self) -> bool {
        self.control.counts_sent_bytes()
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        let has_changed = self.control.on_sent(sent);
        if has_changed {
            self.note(sent.now);
        }
        has_changed
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.control.on_loss(loss);
        self.note(loss.now);
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, _: usize, now: SimTime) {
        while let Some(&(at, answer)) = self.coming.front()
            && at <= now
        {
            self.present = answer;
            self.coming.pop_front();
        }
        self.expire_own(now);
        self.arm();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Halves its rate with each CNP, and doubles it 10 us after the first.
    #[derive(Debug)]
    struct Halving {
        rate: Bandwidth,
        timers: Timers,
    }

    rocelab_state::state!(Halving { values: rate, timers });

    impl CongestionControl for Halving {
        fn rate(&self) -> Bandwidth {
            self.rate
        }

        fn on_cnp(&mut self, now: SimTime) {
            self.rate = Bandwidth::from_bps(self.rate.bits_per_second() / 2);
            if self.timers.next() == SimTime::NEVER {
                self.timers.arm(0, now + Duration::from_us(10));
            }
        }

        fn timers(&mut self) -> Option<&mut Timers> {
            Some(&mut self.timers)
        }

        fn expire(&mut self, timer: usize, _: SimTime) {
            self.timers.stop(timer);
            self.rate = Bandwidth::from_bps(self.rate.bits_per_second() * 2);
        }
    }

    const fn at(ns: u64) -> SimTime {
        SimTime::from_ps(ns * 1000)
    }

    fn late() -> Late {
        let control = Halving { rate: Bandwidth::from_gbps(100), timers: Timers::new() };
        Late::new(Box::new(control), Duration::from_ns(2_500))
    }

    /// The rate after all timers until then.
    fn rate_at(control: &mut Late, now: SimTime) -> u64 {
        while let Some(timer) = control.timers.due(now) {
            let due = control.timers.deadline(timer);
            control.expire(timer, due);
        }
        control.rate().bits_per_second() / 1_000_000_000
    }

    #[test]
    fn answers_count_later_each_for_itself() {
        let mut control = late();
        control.on_cnp(at(1_000));
        control.on_cnp(at(2_000));
        let seen = [3_499, 3_500, 4_499, 4_500, 13_499, 13_500, 90_000]
            .map(|ns| rate_at(&mut control, at(ns)));
        assert_eq!(seen, [100, 50, 50, 25, 25, 50, 50]);
        assert_eq!(control.timers.next(), SimTime::NEVER);
    }

    #[test]
    fn what_is_on_its_way_is_saved() {
        use rocelab_state::State;
        let mut control = late();
        control.on_cnp(at(1_000));
        let mut saved = Vec::new();
        control.save(&mut saved).expect("it is saved");
        let mut loaded = late();
        loaded.load(&mut &saved[..]).expect("it fits");
        for ns in [3_499, 3_500, 11_000, 13_500] {
            assert_eq!(rate_at(&mut loaded, at(ns)), rate_at(&mut control, at(ns)), "at {ns} ns");
        }
    }
}
