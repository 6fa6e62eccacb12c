//! DCQCN at a sender, as this simulator has it: every CNP cuts the rate, and timer and byte counter
//! raise it. The target is not bounded by the line rate.

use crate::config::Reaction;
use crate::rate::scaled;

/// The least rate after a cut (bit/s).
const LEAST: u64 = 100_000_000;

/// The rates of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReactionPoint {
    /// What packets are sent at (bit/s); 0 before the first.
    pub(crate) rate: u64,
    /// What the flow may send at.
    current: u64,
    pub(crate) target: u64,
    pub(crate) alpha: f64,
    line: u64,
    /// 0 before the first CNP, then 1 fast recovery, 2 additive and 3 hyper increase.
    stage: u8,
    byte_events: u32,
    timer_events: u32,
    /// Bytes until the next byte event.
    bytes_left: i64,
}

impl ReactionPoint {
    /// Starts at the `line` rate, with the first packet.
    pub(crate) fn start(&mut self, line: u64) {
        (self.rate, self.current, self.target, self.line) = (line, line, line, line);
        self.alpha = 0.5;
    }

    /// A packet of `bytes` is sent.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: u16, rules: &Reaction) {
        if self.stage == 0 {
            return;
        }
        self.bytes_left -= i64::from(bytes);
        if self.bytes_left < 0 {
            self.byte_event(rules);
        }
    }

    /// A CNP came. Alpha and increase timer start anew.
    pub(crate) fn cut(&mut self, rules: &Reaction) {
        let clamps = if rules.clamp {
            true
        } else if rules.clamp_after_timer {
            self.byte_events != 0 || self.timer_events != 0
        } else {
            self.byte_events != 0
        };
        if self.stage == 0 {
            // Until the first CNP each packet sets the counter.
            self.bytes_left = i64::from(rules.byte_counter);
        }
        if clamps {
            self.target = self.current;
            self.bytes_left = i64::from(rules.byte_counter);
        }
        (self.byte_events, self.timer_events) = (0, 0);
        self.alpha = (1.0 - rules.gain) * self.alpha + rules.gain;
        self.current = LEAST.max(scaled(self.current, 1.0 - self.alpha / 2.0));
        self.stage = 1;
        self.rate = self.line.min(self.current);
    }

    /// The alpha timer expired.
    pub(crate) fn decay(&mut self, rules: &Reaction) {
        self.alpha *= 1.0 - rules.gain;
    }

    /// Whether the next increase timer takes half the time: it is asked before
    /// [`ReactionPoint::timer_event`].
    pub(crate) const fn is_hyper(&self) -> bool {
        self.stage == 3
    }

    /// The increase timer expired.
    pub(crate) fn timer_event(&mut self, rules: &Reaction) {
        self.timer_events = self.timer_events.wrapping_add(1);
        match self.stage {
            1 if self.timer_events < rules.fast_recovery => self.adjust(0),
            1 | 2 => self.select(rules),
            _ => self.hyper(rules),
        }
    }

    fn byte_event(&mut self, rules: &Reaction) {
        self.byte_events = self.byte_events.wrapping_add(1);
        self.bytes_left = i64::from(rules.byte_counter);
        match self.stage {
            1 if self.byte_events < rules.fast_recovery => self.adjust(0),
            1 => self.select(rules),
            // It stays in this stage until a timer event.
            2 => self.adjust(rules.additive),
            _ => {
                self.bytes_left = i64::from(rules.byte_counter / 2);
                self.hyper(rules);
            }
        }
    }

    fn select(&mut self, rules: &Reaction) {
        if self.byte_events < rules.fast_recovery || self.timer_events < rules.fast_recovery {
            self.adjust(rules.additive);
            self.stage = 2;
        } else {
            self.hyper(rules);
        }
    }

    fn hyper(&mut self, rules: &Reaction) {
        let least = self.byte_events.min(self.timer_events);
        let times = least.wrapping_sub(rules.fast_recovery).wrapping_add(1);
        self.adjust(scaled(rules.hyper, f64::from(times)));
        self.stage = 3;
    }

    fn adjust(&mut self, increase: u64) {
        let is_first = self.byte_events == 1 || self.timer_events == 1;
        if is_first && self.target > scaled(self.current, 10.0) {
            self.target = scaled(self.target, 1.0 / 8.0);
        } else {
            self.target = self.target.saturating_add(increase);
        }
        let half = scaled(self.current, 0.5).saturating_add(scaled(self.target, 0.5));
        self.current = half.min(self.line);
        self.rate = self.line.min(self.current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 40_000_000_000;

    fn rules() -> Reaction {
        Reaction {
            cnp_interval: 50,
            alpha_interval: 55,
            increase_interval: 60.0,
            byte_counter: 10_000,
            gain: 1.0 / 256.0,
            fast_recovery: 2,
            additive: 40_000_000,
            hyper: 200_000_000,
            clamp: true,
            clamp_after_timer: false,
        }
    }

    fn started() -> ReactionPoint {
        let mut point = ReactionPoint::default();
        point.start(LINE);
        point
    }

    #[test]
    fn every_cnp_cuts_down_to_100_mbps() {
        let mut point = started();
        point.cut(&rules());
        let alpha: f64 = 0.5 * 255.0 / 256.0 + 1.0 / 256.0;
        assert_eq!((point.alpha, point.target), (alpha, LINE));
        assert!(point.rate.abs_diff(30_000_000_000) < 100_000_000, "{}", point.rate);
        (0..100).for_each(|_| point.cut(&rules()));
        assert_eq!(point.rate, LEAST);
    }

    #[test]
    fn two_events_recover_and_the_third_adds() {
        let mut point = started();
        point.cut(&rules());
        let first = point.rate;
        point.timer_event(&rules());
        assert_eq!(point.rate, first / 2 + LINE / 2);
        point.timer_event(&rules());
        assert_eq!(point.target, LINE + 40_000_000, "it is above the line rate");
        assert!(!point.is_hyper());
        // Bytes bring the other counter there too.
        (0..30).for_each(|_| point.sent(1_020, &rules()));
        point.timer_event(&rules());
        assert!(point.is_hyper());
    }

    #[test]
    fn a_target_far_above_falls_to_an_eighth() {
        let mut point = started();
        let rules = Reaction { clamp: false, ..rules() };
        (0..100).for_each(|_| point.cut(&rules));
        assert_eq!(point.target, LINE);
        point.timer_event(&rules);
        assert_eq!(point.target, LINE / 8);
    }
}
