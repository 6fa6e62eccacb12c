//! Which queue of an egress port sends next.

use rocelab_state::{State, load_value, save_value, unfit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vl_arbiter::{VlArbiter, VlArbitration};

/// The discipline among the eight priorities of an egress port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// The highest priority that waits and is not paused goes first (IEEE 802.1Q strict priority).
    #[default]
    Strict,
    /// Deficit weighted round robin: each priority gets bytes in proportion to its weight.
    Dwrr {
        /// Weight of priority 0 to 7, 1 to 100; a priority beyond the list has weight 1.
        weights: Vec<u32>,
    },
    /// A frame of each priority that waits and is not paused, in turn, whatever their lengths.
    RoundRobin,
    /// The arbitration of virtual lanes of InfiniBand, which has a section of its own.
    #[serde(skip)]
    VirtualLanes(VlArbitration),
}

/// The scheduler of one port.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// Highest priority first.
    Strict,
    /// Shreedhar and Varghese's (SIGCOMM 1995) deficit round robin, weighted.
    Dwrr(Box<DeficitRoundRobin>),
    /// Priorities in turn, a frame each.
    RoundRobin(RoundRobin),
    /// Virtual lanes by two lists (IBTA 7.6.9).
    VirtualLanes(Box<VlArbiter>),
}

/// The discipline follows from the settings: a state of one is not loaded into another.
impl State for Scheduler {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.discipline(), to)?;
        match self {
            Self::Strict => Ok(()),
            Self::Dwrr(round_robin) => round_robin.save(to),
            Self::RoundRobin(round_robin) => round_robin.save(to),
            Self::VirtualLanes(arbiter) => arbiter.save(to),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        if load_value::<u8>(from)? != self.discipline() {
            return Err(unfit("the discipline of a scheduler"));
        }
        match self {
            Self::Strict => Ok(()),
            Self::Dwrr(round_robin) => {
                round_robin.load(from)?;
                check_priority(round_robin.turn)
            }
            Self::RoundRobin(round_robin) => {
                round_robin.load(from)?;
                check_priority(round_robin.last)
            }
            Self::VirtualLanes(arbiter) => arbiter.load(from),
        }
    }
}

fn check_priority(priority: u8) -> rocelab_state::Result {
    if priority > 7 { Err(unfit("the priority that was served last")) } else { Ok(()) }
}

/// Deficit round robin: in its turn a queue gets its quantum, and sends while its deficit lasts.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    quantum: [u32; 8],
    deficit: [u32; 8],
    turn: u8,
    /// Whether the queue whose turn it is has already got its quantum.
    earned: bool,
}

rocelab_state::state!(DeficitRoundRobin { values: deficit, turn, earned; kept: quantum });

/// Round robin by frames, in ascending order of priority, and 0 follows 7: the next is the first
/// eligible priority above the one served last. At the start, priority 1 is the first to go.
///
/// This is the scheduler of switches in HPCC's ns-3 simulator, whose class 0 (flow control) goes
/// ahead of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    /// The priority served last.
    last: u8,
}

rocelab_state::state!(RoundRobin { values: last });

/// Bytes that a queue of weight 1 gets in each turn.
const QUANTUM: u32 = 1_600;

impl Scheduler {
    /// The scheduler that `config` asks for.
    pub fn new(config: &SchedulerConfig) -> Self {
        match config {
            SchedulerConfig::Strict => Self::Strict,
            SchedulerConfig::Dwrr { weights } => {
                let weight = |priority| weights.get(priority).copied().unwrap_or(1).max(1);
                Self::Dwrr(Box::new(DeficitRoundRobin {
                    quantum: std::array::from_fn(|p| QUANTUM.saturating_mul(weight(p))),
                    deficit: [0; 8],
                    turn: 0,
                    earned: false,
                }))
            }
            SchedulerConfig::RoundRobin => Self::RoundRobin(RoundRobin::default()),
            SchedulerConfig::VirtualLanes(tables) => {
                Self::VirtualLanes(Box::new(VlArbiter::new(tables)))
            }
        }
    }

    /// A number for each discipline, for checkpoints.
    const fn discipline(&self) -> u8 {
        match self {
            Self::Strict => 0,
            Self::Dwrr(_) => 1,
            Self::RoundRobin(_) => 2,
            Self::VirtualLanes(_) => 3,
        }
    }

    /// The priority that sends next. Bit p of `waiting`: frames of priority p wait. `eligible` is a
    /// non-empty subset: those that may send. `head_len` gives the length of a priority's first
    /// frame in bytes.
    #[inline]
    pub fn select(&mut self, waiting: u8, eligible: u8, head_len: impl Fn(u8) -> u32) -> u8 {
        debug_assert!(eligible != 0 && eligible & !waiting == 0);
        match self {
            Self::Strict => highest(eligible),
            Self::Dwrr(round_robin) => round_robin.select(waiting, eligible, head_len),
            Self::RoundRobin(round_robin) => round_robin.select(eligible),
            Self::VirtualLanes(arbiter) => arbiter.select(eligible, head_len),
        }
    }

    /// Whether the discipline needs to know of frames that [did not wait](Self::note_passed).
    pub fn notes_passing(&self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }

    /// Counts a frame of `priority` that was sent without waiting in a queue. Only round robin by
    /// frames needs this.
    #[inline]
    pub fn note_passed(&mut self, priority: u8) {
        if let Self::RoundRobin(round_robin) = self {
            round_robin.last = priority;
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "0 to 7")]
fn highest(mask: u8) -> u8 {
    (7 - mask.leading_zeros()) as u8
}

impl DeficitRoundRobin {
    fn select(&mut self, waiting: u8, eligible: u8, head_len: impl Fn(u8) -> u32) -> u8 {
        for (priority, deficit) in self.deficit.iter_mut().enumerate() {
            if waiting & (1 << priority) == 0 {
                *deficit = 0;
            }
        }
        loop {
            let priority = usize::from(self.turn);
            if eligible & (1 << self.turn) != 0 {
                if !self.earned {
                    self.deficit[priority] =
                        self.deficit[priority].saturating_add(self.quantum[priority]);
                    self.earned = true;
                }
                let len = head_len(self.turn);
                if len <= self.deficit[priority] {
                    self.deficit[priority] -= len;
                    return self.turn;
                }
            }
            self.turn = (self.turn + 1) % 8;
            self.earned = false;
        }
    }
}

impl RoundRobin {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "0 to 8")]
    fn select(&mut self, eligible: u8) -> u8 {
        let first = self.last + 1;
        let skipped = eligible.rotate_right(u32::from(first)).trailing_zeros() as u8;
        self.last = (first + skipped) % 8;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_takes_the_highest_that_may_go() {
        let mut scheduler = Scheduler::new(&SchedulerConfig::Strict);
        assert_eq!(scheduler.select(0b1000_1001, 0b1000_1001, |_| 64), 7);
        assert_eq!(scheduler.select(0b1000_1001, 0b0000_1001, |_| 64), 3);
    }

    fn share(weights: &[u32], lens: [u32; 8], waiting: u8, rounds: u32) -> [u64; 8] {
        let config = SchedulerConfig::Dwrr { weights: weights.to_vec() };
        let mut scheduler = Scheduler::new(&config);
        let mut sent = [0u64; 8];
        for _ in 0..rounds {
            let priority =
                usize::from(scheduler.select(waiting, waiting, |p| lens[usize::from(p)]));
            sent[priority] += u64::from(lens[priority]);
        }
        sent
    }

    #[test]
    fn dwrr_shares_bytes_by_weight_whatever_the_frame_size() {
        let sent = share(&[1, 3], [1082, 82, 0, 0, 0, 0, 0, 0], 0b11, 100_000);
        let ratio = sent[1] as f64 / sent[0] as f64;
        assert!((ratio - 3.0).abs() < 0.01, "{ratio}");
        let sent = share(&[2, 1], [4170, 4170, 0, 0, 0, 0, 0, 0], 0b11, 10_000);
        let ratio = sent[0] as f64 / sent[1] as f64;
        assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn dwrr_gives_all_to_the_only_one_and_saves_nothing_up() {
        let config = SchedulerConfig::Dwrr { weights: vec![1, 1] };
        let mut scheduler = Scheduler::new(&config);
        for _ in 0..100 {
            assert_eq!(scheduler.select(0b01, 0b01, |_| 1000), 0);
        }
        let mut second = 0;
        for _ in 0..100 {
            second += u32::from(scheduler.select(0b11, 0b11, |_| 1000));
        }
        assert!((48..=52).contains(&second), "{second}");
    }

    #[test]
    fn round_robin_serves_the_next_that_may_go() {
        let mut scheduler = Scheduler::new(&SchedulerConfig::RoundRobin);
        let mut serve = |eligible| scheduler.select(0xff, eligible, |_| 64);
        assert_eq!([0b1010_0010; 5].map(&mut serve), [1, 5, 7, 1, 5]);
        assert_eq!(serve(0b0010_0000), 5, "the same again if it is the only one");
        assert_eq!(serve(0b0010_0001), 0, "7 is followed by 0");
        assert_eq!([0xff; 9].map(&mut serve), [1, 2, 3, 4, 5, 6, 7, 0, 1]);
    }
}
