//! What the host keeps of one queue pair of a module.

use std::sync::Arc;

use rocelab_state::{load_value, save_value, unfit};
use rocelab_transport::congestion_control::Path;

use crate::answers::Answers;
use crate::block::{MOST_STATE, ParameterWords, PathWords, StateLine};
use crate::control::Guest;
use crate::event::{GuestCall, GuestEvent};
use crate::fault::{Cause, Latch, fault};
use crate::input::Input;
use crate::instance::{self, Instance, Key};
use crate::module::{GuestModule, Wanted};

/// What all calls of an algorithm have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The values of its parameters.
    pub(crate) parameters: ParameterWords,
    /// Instructions of a call.
    pub(crate) fuel: u64,
}

impl Settings {
    /// Values in the order of a module's metadata, and the instructions that a call may take.
    pub(crate) fn new(values: &[i64], fuel: u64) -> Self {
        Self { parameters: ParameterWords::new(values), fuel }
    }
}

/// What all queue pairs of an algorithm share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) module: Arc<GuestModule>,
    pub(crate) key: Key,
    /// The values of its parameters.
    pub(crate) values: Vec<i64>,
    pub(crate) settings: Settings,
    pub(crate) latch: Latch,
}

/// One queue pair between two calls.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair {
    path: PathWords,
    answers: Answers,
    /// The module's bytes. Behind them is nothing but 0, to the end of the last line.
    state: Box<[StateLine]>,
    /// Words that the module has of these.
    words: usize,
}

impl QueuePair {
    /// One that has not started: [`GuestCall::Open`].
    pub(crate) fn new(path: &Path, state_len: usize) -> Self {
        let words = state_len.min(MOST_STATE).div_ceil(8);
        let state = vec![StateLine::default(); words.div_ceil(StateLine::default().len())];
        Self { path: PathWords::new(path), answers: Answers::NONE, state: state.into(), words }
    }

    /// Calls the guest, and takes its answers. If one cannot be, or the call fails, all stays as it is.
    #[inline(always)]
    pub(crate) fn call(
        &mut self,
        instance: &mut Instance,
        call: GuestCall,
        input: &Input,
        settings: &Settings,
    ) -> Result<(), Cause> {
        let mut block = instance.block();
        block.set_input(input);
        block.set_path(&self.path);
        block.set_answers(&self.answers);
        block.set_parameters(&settings.parameters);
        block.set_state(&self.state);
        instance.call(call.kind(), settings.fuel)?;
        let block = instance.block();
        let answers = block.answers();
        answers.check(&self.answers, call, input)?;
        let state = self.state.as_flattened_mut();
        // There are as many: only the compiler does not know.
        if let Some(state) = state.get_mut(..self.words) {
            block.take_state(state);
        }
        self.answers = answers;
        Ok(())
    }

    /// What it answered last.
    pub(crate) const fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Its state.
    pub(crate) fn state(&self) -> &[u64] {
        &self.state.as_flattened()[..self.words]
    }
}

/// A queue pair, and whom it asks.
#[derive(Debug)]
pub(crate) struct ModuleGuest {
    shared: Arc<Shared>,
    /// What the module wants to be called for. Here, since most calls begin with the question.
    wanted: Wanted,
    pair: QueuePair,
}

impl ModuleGuest {
    /// One that has not started.
    pub(crate) fn new(shared: Arc<Shared>, path: &Path) -> Self {
        let pair = QueuePair::new(path, shared.module.metadata().state);
        Self { wanted: shared.module.wanted(), shared, pair }
    }
}

impl Guest for ModuleGuest {
    #[inline]
    fn wants(&self, event: GuestEvent) -> bool {
        self.wanted.has(event)
    }

    #[inline(always)]
    fn ask(&mut self, call: GuestCall, input: &Input) -> Result<(), Cause> {
        // Not by a closure, which the compiler would call.
        let mut owned = instance::take(&self.shared.module, self.shared.key)?;
        self.pair.call(owned.instance(), call, input, &self.shared.settings)?;
        instance::give_back(owned);
        Ok(())
    }

    #[inline]
    fn answers(&self) -> &Answers {
        self.pair.answers()
    }

    fn failed(&mut self, call: GuestCall, input: &Input, seed: u64, cause: &Cause) {
        self.shared.latch.record(fault(call, input, seed, cause));
    }

    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&(self.pair.answers, self.pair.state().to_vec()), to)
    }

    fn load(&mut self, seed: u64, from: &mut &[u8]) -> rocelab_state::Result {
        let (answers, state): (Answers, Vec<u64>) = load_value(from)?;
        if state.len() != self.pair.words {
            return Err(unfit("the module has another length of state"));
        }
        self.pair.path.set_seed(seed);
        self.pair.answers = answers;
        self.pair.state.as_flattened_mut()[..state.len()].copy_from_slice(&state);
        Ok(())
    }
}
