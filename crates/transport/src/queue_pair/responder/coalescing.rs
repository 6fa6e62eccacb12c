//! Acknowledgements that are put off, to be saved.

use rocelab_units::SimTime;

use crate::AckCoalescing;

/// What a responder owes that saves acknowledgements.
#[derive(Debug)]
pub(super) struct Coalescing {
    rule: AckCoalescing,
    /// Packets that asked and were not answered.
    owed: u32,
    /// When the first of them is put off no longer.
    until: SimTime,
}

rocelab_state::state!(Coalescing { values: owed, until; kept: rule });

impl Coalescing {
    pub(super) const fn new(rule: AckCoalescing) -> Self {
        Self { rule, owed: 0, until: SimTime::NEVER }
    }

    /// A packet asks for an acknowledgement: whether that can be put off.
    pub(super) fn puts_off(&mut self, now: SimTime) -> bool {
        self.owed += 1;
        if self.owed == 1 {
            self.until = now.saturating_add(self.rule.delay);
        }
        self.owed < self.rule.packets && self.until > now
    }

    /// When it must be sent.
    pub(super) const fn until(&self) -> SimTime {
        self.until
    }

    /// What was owed is said by what is sent now.
    pub(super) const fn forget(&mut self) {
        self.owed = 0;
        self.until = SimTime::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Duration;

    use super::*;

    #[test]
    fn every_third_or_after_the_delay() {
        let mut coalescing =
            Coalescing::new(AckCoalescing { packets: 3, delay: Duration::from_us(1) });
        let at = |ns: u64| SimTime::from_ps(ns * 1_000);
        assert_eq!([10, 20, 30].map(|ns| coalescing.puts_off(at(ns))), [true, true, false]);
        assert_eq!(coalescing.until(), at(1_010));
        coalescing.forget();
        assert_eq!(coalescing.until(), SimTime::NEVER);
        assert!(coalescing.puts_off(at(5_000)));
        assert_eq!(coalescing.until(), at(6_000));
        assert!(!coalescing.puts_off(at(6_000)));
    }
}
