//! The time that a host takes between wire and protocol.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, State, load_value, save_value};
use rocelab_units::{Duration, SimTime};

/// One direction: what enters leaves later, in the same order.
#[derive(Debug)]
pub(super) struct Stack<T> {
    delay: Duration,
    /// Mean of what waking up takes in addition (picoseconds).
    jitter: f64,
    dice: Xoshiro256PlusPlus,
    /// When the last entry leaves.
    last: SimTime,
    inside: VecDeque<(SimTime, T)>,
}

impl<T> Stack<T> {
    pub(super) fn new(delay: Duration, jitter: Duration, seed: u64) -> Self {
        Self {
            delay,
            jitter: jitter.ps() as f64,
            dice: Xoshiro256PlusPlus::seed_from_u64(seed),
            last: SimTime::ZERO,
            inside: VecDeque::new(),
        }
    }

    /// Whether what enters leaves at once.
    #[inline]
    pub(super) fn is_immediate(&self) -> bool {
        self.delay == Duration::ZERO && self.jitter == 0.0
    }

    /// Something enters.
    pub(super) fn push(&mut self, now: SimTime, item: T) {
        let mut leaves = now.saturating_add(self.delay);
        if self.jitter > 0.0 && self.last <= now {
            leaves = leaves.saturating_add(self.wake_up());
        }
        self.last = self.last.max(leaves);
        self.inside.push_back((self.last, item));
    }

    /// When the next one leaves; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> SimTime {
        self.inside.front().map_or(SimTime::NEVER, |&(leaves, _)| leaves)
    }

    /// The next one, if its time has come.
    #[inline]
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<T> {
        let (_, item) = self.inside.pop_front_if(|&mut (leaves, _)| leaves <= now)?;
        Some(item)
    }

    /// What is inside, in the order in which it leaves, with the times of that.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = (SimTime, &T)> {
        self.inside.iter().map(|(leaves, item)| (*leaves, item))
    }

    #[expect(clippy::cast_possible_truncation, reason = "a fraction of a picosecond is cut off")]
    fn wake_up(&mut self) -> Duration {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        let uniform = (self.dice.next_u64() >> 11) as f64 * UNIT;
        Duration::from_ps((-self.jitter * libm::log(1.0 - uniform)) as u64)
    }
}

impl<T: BorshSerialize + BorshDeserialize> State for Stack<T> {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { delay: _, jitter: _, dice, last, inside } = self;
        save_value(&(dice.state(), last, inside), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        let seed: [u8; 32] = load_value(from)?;
        self.dice = Xoshiro256PlusPlus::from_seed(seed);
        (self.last, self.inside) = load_value(from)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_and_not_before_the_delay() {
        let mut stack = Stack::new(Duration::from_us(3), Duration::from_us(10), 7);
        for entry in 0..100 {
            stack.push(SimTime::from_ps(entry * 1_000_000), entry);
        }
        for expected in 0..100_u64 {
            let next = stack.next();
            assert!(next >= SimTime::from_ps(expected * 1_000_000 + 3_000_000));
            assert_eq!(stack.pop_due(SimTime::from_ps(next.ps() - 1)), None);
            assert_eq!(stack.pop_due(next), Some(expected));
        }
        assert_eq!(stack.next(), SimTime::NEVER);
    }

    #[test]
    fn what_comes_while_others_wait_goes_with_them() {
        let mut stack = Stack::new(Duration::from_ns(1), Duration::from_us(1_000), 7);
        stack.push(SimTime::ZERO, 0);
        let awake = stack.next();
        assert!(awake > SimTime::from_ps(1_000_000));
        for time in [1, 2_000, 4_000, 500_000] {
            stack.push(SimTime::from_ps(time), time);
        }
        assert!(stack.inside.iter().all(|&(leaves, _)| leaves == awake));
    }

    #[test]
    fn jitter_has_its_mean() {
        let mut stack = Stack::new(Duration::from_us(3), Duration::from_us(10), 7);
        let mut sum = 0;
        for entry in 0..10_000 {
            let now = SimTime::from_ps(entry * 1_000_000_000);
            stack.push(now, ());
            sum += stack.next().since(now).ps();
            stack.pop_due(stack.next());
        }
        let mean = sum / 10_000;
        assert!(mean.abs_diff(13_000_000) < 300_000, "{mean} ps");
    }
}
