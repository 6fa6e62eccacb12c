//! Enhanced transmission selection (IEEE 802.1Q, 8.6.8.3 and 37): some priorities strictly first, the others by weight.
//!
//! Among priorities with weights the next is the one that has had least for its weight, in bytes of frames: each has a
//! virtual time, which grows by bytes divided by weight as it sends. One that comes back after a rest begins where
//! the others are, so that it makes up for nothing (start-time fair queueing, Goyal, Vin and Cheng, SIGCOMM 1996).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Offer, STACKS, Schedule, Turn, round_robin};

/// Shares of the priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The weight of priority 0 to 7, 1 to 100; a priority beyond the list has weight 1. With 0 it is strict: it goes
    /// before all that have weights, and the higher number before the lower.
    pub weights: Weights,
}

/// Weights of the eight priorities, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<i64>", into = "Vec<i64>")]
pub struct Weights([u8; 8]);

impl Default for Weights {
    fn default() -> Self {
        Self([1; 8])
    }
}

impl From<Weights> for Vec<i64> {
    fn from(weights: Weights) -> Self {
        weights.0.iter().map(|&weight| weight.into()).collect()
    }
}

impl TryFrom<Vec<i64>> for Weights {
    type Error = String;

    fn try_from(list: Vec<i64>) -> Result<Self, String> {
        let mut weights = Self::default();
        if list.len() > weights.0.len() {
            return Err(format!(
                "{} weights are too many: give 8, one for each priority",
                list.len()
            ));
        }
        for (weight, &given) in weights.0.iter_mut().zip(&list) {
            *weight =
                u8::try_from(given).ok().filter(|weight| *weight <= 100).ok_or_else(|| {
                    format!(
                        "weight {given} is out of range: give 1 to 100, or 0 for strict priority"
                    )
                })?;
        }
        Ok(weights)
    }
}

/// Virtual time of a byte at weight 1; all weights up to 100 divide it well.
const SCALE: u64 = 1 << 20;

/// What it remembers.
#[derive(Debug)]
pub(super) struct Scheduler {
    weights: [u8; 8],
    /// By priority: when all that it has sent would be over, in virtual time.
    virtual_time: [u64; 8],
    /// The virtual time at which the last one was chosen.
    now: u64,
    /// Bit p: priority p with a weight had something to send the last time.
    busy: u8,
    /// Stack and priority of the last turn, and bytes that the stack had sent before.
    last: Option<(u8, u8, u64)>,
    /// By priority: bytes that each stack has sent since several had data of it.
    sent: Box<[[u64; STACKS]; 8]>,
    /// Between stacks that have acknowledgements and the like.
    equals: round_robin::Scheduler,
}

rocelab_state::state!(Scheduler { values: virtual_time, now, busy, last, sent; states: equals; kept: weights });

impl Scheduler {
    pub(super) fn new(parameters: Parameters) -> Self {
        Self {
            weights: parameters.weights.0,
            virtual_time: [0; 8],
            now: 0,
            busy: 0,
            last: None,
            sent: Box::new([[0; STACKS]; 8]),
            equals: round_robin::Scheduler::new(),
        }
    }

    /// Bit p: priority p is strict.
    fn strict(&self) -> u8 {
        (0..8).filter(|&priority| self.weights[priority] == 0).fold(0, |mask, p| mask | 1 << p)
    }

    /// Accounts for what was sent in the last turn.
    fn charge(&mut self, offers: &[Offer; STACKS]) {
        let Some((stack, priority, before)) = self.last.take() else { return };
        let weight = u64::from(self.weights[usize::from(priority)]);
        let bytes = offers[usize::from(stack)].sent.saturating_sub(before);
        self.sent[usize::from(priority)][usize::from(stack)] += bytes;
        if let Some(grown) = (bytes * SCALE).checked_div(weight) {
            self.virtual_time[usize::from(priority)] += grown;
        }
    }

    /// The stack that is next in a priority: of several that have data in it, the one that has sent fewer bytes of it
    /// since they did. One that had none makes up for nothing.
    fn stack_of(&mut self, priority: u8, offers: &[Offer; STACKS]) -> Option<usize> {
        let sent = &mut self.sent[usize::from(priority)];
        let mut has_data = (0..STACKS).filter(|&stack| offers[stack].data & 1 << priority != 0);
        let next = has_data.clone().rev().min_by_key(|&stack| sent[stack])?;
        if has_data.nth(1).is_none() {
            *sent = [sent[next]; STACKS];
        }
        Some(next)
    }

    /// The priority with a weight that is next among `data`, of which there is one.
    fn weighted(&mut self, data: u8) -> u8 {
        for priority in (0..8).filter(|priority| data & !self.busy & 1 << priority != 0) {
            let own = &mut self.virtual_time[priority];
            *own = (*own).max(self.now);
        }
        let waiting = (0u8..8).filter(|priority| data & 1 << priority != 0);
        let next = waiting.min_by_key(|&priority| self.virtual_time[usize::from(priority)]);
        let next = next.unwrap_or(0);
        self.now = self.virtual_time[usize::from(next)];
        next
    }
}

impl Schedule for Scheduler {
    fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn> {
        self.charge(offers);
        let data = offers.iter().fold(0, |all, offer| all | offer.data);
        let strict = data & self.strict();
        let has_control = offers.iter().any(|offer| offer.control != 0);
        if data == 0 || has_control {
            self.busy &= data;
            return self.equals.next(&offers.map(|offer| Offer { data: 0, ..offer }));
        }
        let priority = match strict.checked_ilog2() {
            Some(highest) => u8::try_from(highest).unwrap_or(0),
            None => self.weighted(data),
        };
        // What begins to wait in a turn of a strict priority has its time set in the next turn of weights.
        self.busy = if strict == 0 { data } else { self.busy & data };
        let next = self.stack_of(priority, offers)?;
        self.last = Some((u8::try_from(next).unwrap_or(0), priority, offers[next].sent));
        Some(Turn { priorities: 1 << priority, ..Turn::of(next) })
    }

    fn minds_priorities(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that each priority gets of 100,000 frames that `offered` always has, by priority: frame lengths, 0 for none.
    fn shares(weights: [u8; 8], offered: [u64; 8]) -> [u64; 8] {
        let mut scheduler = Scheduler::new(Parameters { weights: Weights(weights) });
        let data = (0..8).filter(|&p| offered[p] > 0).fold(0, |mask, p| mask | 1 << p);
        let (mut offers, mut sent) = ([Offer::default(); STACKS], [0; 8]);
        // Priorities above 3 are of another stack.
        (offers[0].data, offers[1].data) = (data & 0x0f, data & 0xf0);
        for _ in 0..100_000 {
            let turn = scheduler.next(&offers).expect("there is always something");
            let priority = turn.priorities.trailing_zeros() as usize;
            offers[turn.stack].sent += offered[priority];
            sent[priority] += offered[priority];
        }
        sent
    }

    #[test]
    fn shares_are_those_of_the_weights_whatever_the_frames() {
        let sent = shares([1, 1, 2, 4, 1, 8, 1, 1], [0, 64, 1_086, 4_158, 0, 300, 0, 0]);
        let all: u64 = sent.iter().sum();
        for (priority, weight) in [(1, 1), (2, 2), (3, 4), (5, 8)] {
            let (is, due) = (sent[priority] * 15, all * weight);
            assert!(is.abs_diff(due) * 100 < due, "{sent:?}");
        }
    }

    #[test]
    fn what_is_strict_goes_before_all_weights() {
        assert_eq!(shares([0, 1, 1, 50, 1, 1, 0, 1], [9, 0, 0, 9, 0, 0, 9, 0])[6], 900_000);
        let sent = shares([0, 1, 1, 50, 1, 1, 0, 1], [9, 0, 0, 9, 0, 0, 0, 0]);
        assert_eq!((sent[0], sent[3]), (900_000, 0));
    }

    #[test]
    fn a_rest_is_not_made_up_for() {
        let mut scheduler = Scheduler::new(Parameters::default());
        let mut offers = [Offer::default(); STACKS];
        offers[0].data = 0b10;
        for _ in 0..1_000 {
            scheduler.next(&offers);
            offers[0].sent += 1_000;
        }
        offers[0].data = 0b11;
        let mut turns = [0; 2];
        for _ in 0..100 {
            let turn = scheduler.next(&offers).expect("there is data");
            turns[turn.priorities.trailing_zeros() as usize] += 1;
            offers[0].sent += 1_000;
        }
        assert!((49..=51).contains(&turns[0]), "{turns:?}");
    }

    /// Two stacks in one priority, and one of them in another too: a half, a quarter and a quarter.
    #[test]
    fn stacks_share_a_priority_whatever_else_one_of_them_sends() {
        let mut scheduler = Scheduler::new(Parameters::default());
        let mut offers = [Offer::default(); STACKS];
        (offers[0].data, offers[1].data) = (0b1010, 0b10);
        let mut sent = [[0u64; 4]; 2];
        for _ in 0..1_000 {
            let turn = scheduler.next(&offers).expect("there is data");
            offers[turn.stack].sent += 100;
            sent[turn.stack][turn.priorities.trailing_zeros() as usize] += 1;
        }
        assert!(sent[0][3].abs_diff(500) < 3 && sent[0][1].abs_diff(250) < 3, "{sent:?}");
        assert!(sent[1][1].abs_diff(250) < 3, "{sent:?}");
    }

    /// A priority that begins to wait while a strict one is sent has no time to make up for.
    #[test]
    fn a_rest_is_not_made_up_for_beside_a_strict_priority() {
        let mut scheduler =
            Scheduler::new(Parameters { weights: Weights([1, 1, 1, 1, 1, 1, 0, 1]) });
        let mut offers = [Offer::default(); STACKS];
        let mut run = |data: u8, turns: u32| {
            offers[0].data = data;
            let mut counts = [0u32; 8];
            for _ in 0..turns {
                let turn = scheduler.next(&offers).expect("there is data");
                counts[turn.priorities.trailing_zeros() as usize] += 1;
                offers[0].sent += 1_000;
            }
            counts
        };
        run(1 << 4, 1_000);
        run(1 << 4 | 1 << 6 | 1 << 1, 10);
        let counts = run(1 << 4 | 1 << 1, 100);
        assert!((49..=51).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn weights_have_a_range() {
        let of = |list: &[i64]| Weights::try_from(list.to_vec());
        assert!(of(&[1, 101]).unwrap_err().contains("give 1 to 100"));
        assert!(of(&[-1]).is_err() && of(&[1; 9]).unwrap_err().contains("give 8"));
        assert_eq!(of(&[0, 7]), Ok(Weights([0, 7, 1, 1, 1, 1, 1, 1])));
    }
}
