//! What the host keeps of one queue pair, and how its calls are checked.

use rocelab_transport::congestion_control::{Path, Timers};

use crate::block::{Answers, Constants, Input, NEVER};
use crate::fault::Cause;
use crate::instance::Instance;

/// Rates beyond are none.
const MOST_RATE: u64 = 1 << 63;
/// The argument of `rl_event` as a queue pair starts.
const OPEN: u32 = 0;

/// One queue pair between two calls.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair {
    constants: Constants,
    answers: Answers,
    state: Box<[u8]>,
}

impl QueuePair {
    /// One that has not started: [`open`](Self::open).
    pub(crate) fn new(path: &Path, parameters: &[i64], state_len: usize) -> Self {
        Self {
            constants: Constants::new(path, parameters),
            answers: Answers { rate: 0, window: NEVER, timers: [NEVER; Timers::MAX], flags: 0 },
            state: vec![0; state_len].into(),
        }
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

    /// Tells the guest of an event, and takes its answers. If one cannot be, or the call fails, all stays as it is.
    pub(crate) fn call(
        &mut self,
        instance: &mut Instance,
        kind: u32,
        input: &Input,
        fuel: u64,
    ) -> Result<(), Cause> {
        let mut block = instance.block()?;
        block.set_input(input);
        block.set_constants(&self.constants);
        block.set_answers(&self.answers);
        block.set_state(&self.state);
        instance.call(kind, fuel)?;
        let block = instance.block()?;
        let answers = block.answers();
        self.check(&answers, input.now)?;
        block.take_state(&mut self.state);
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
        &self.state
    }

    /// Goes on from what was saved. Returns whether it fits.
    pub(crate) fn restore(&mut self, seed: u64, answers: Answers, state: &[u8]) -> bool {
        let fits = state.len() == self.state.len();
        if fits {
            self.constants.set_seed(seed);
            self.answers = answers;
            self.state.copy_from_slice(state);
        }
        fits
    }
}
