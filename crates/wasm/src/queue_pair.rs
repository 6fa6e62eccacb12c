//! What the host keeps of one queue pair, and how its calls are checked.

use rocelab_transport::congestion_control::{Path, Timers};

use crate::block::{Answers, Block, Input, NEVER};
use crate::fault::Cause;
use crate::instance::Instance;

/// Rates beyond are none.
const MOST_RATE: u64 = 1 << 63;
/// The argument of `rl_event` as a queue pair starts.
const OPEN: u32 = 0;

/// One queue pair: its block between two calls.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair {
    block: Block,
    answers: Answers,
    state_len: usize,
}

impl QueuePair {
    /// One that has not started: [`open`](Self::open).
    pub(crate) fn new(path: &Path, parameters: &[i64], state_len: usize) -> Self {
        let mut block = Block::default();
        block.set_path(path, parameters);
        let answers = Answers { rate: 0, window: NEVER, timers: [NEVER; Timers::MAX], flags: 0 };
        block.set_answers(&answers);
        Self { block, answers, state_len }
    }

    /// Starts it.
    pub(crate) fn open(
        &mut self,
        instance: &mut Instance,
        now: u64,
        fuel: u64,
    ) -> Result<(), Cause> {
        self.call(instance, OPEN, &Input::at(now), fuel)
    }

    /// Tells the guest of an event, and takes its answers. If one cannot be, or the call fails, the answers stay as they are.
    pub(crate) fn call(
        &mut self,
        instance: &mut Instance,
        kind: u32,
        input: &Input,
        fuel: u64,
    ) -> Result<(), Cause> {
        self.block.set_input(input);
        self.block.clear_flags();
        instance.call((&mut self.block, self.state_len), kind, fuel)?;
        let answers = self.block.answers();
        self.check(&answers, input.now)?;
        self.answers = answers;
        Ok(())
    }

    fn check(&self, answers: &Answers, now: u64) -> Result<(), Cause> {
        if answers.rate == 0 || answers.rate > MOST_RATE {
            return Err(Cause::Rate(answers.rate));
        }
        if answers.window == 0 {
            return Err(Cause::Window);
        }
        let timers = answers.timers.iter().zip(&self.answers.timers).enumerate();
        for (timer, (&deadline, &before)) in timers {
            if deadline != before && deadline <= now {
                return Err(Cause::Timer { timer, deadline, now });
            }
        }
        Ok(())
    }

    /// Whether a timer would expire again at once.
    pub(crate) fn check_expired(&self, timer: usize, now: u64) -> Result<(), Cause> {
        let deadline = self.answers.timers[timer];
        if deadline <= now { Err(Cause::Timer { timer, deadline, now }) } else { Ok(()) }
    }

    /// What it answered last.
    pub(crate) const fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Its state.
    pub(crate) fn state(&self) -> &[u8] {
        self.block.state(self.state_len)
    }

    /// Goes on from what was saved. Returns whether it fits.
    pub(crate) fn restore(&mut self, seed: u64, answers: Answers, state: &[u8]) -> bool {
        let fits = state.len() == self.state_len;
        if fits {
            self.answers = answers;
            self.block.set_seed(seed);
            self.block.set_answers(&answers);
            self.block.set_state(state);
        }
        fits
    }
}
