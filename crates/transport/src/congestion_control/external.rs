//! Algorithms from outside of this program.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rocelab_units::{Bandwidth, SimTime};

use super::none::Parameters as NoControl;
use super::{CongestionControl, Definition as _, Feedback, Path};

/// An algorithm that this program does not have: one that was loaded.
pub trait ExternalAlgorithm: fmt::Debug + Send + Sync {
    /// The name that results have, such as `wasm:aimd`: the kind of algorithm, and the name that it gives itself.
    fn label(&self) -> &str;

    /// The version that it gives itself; empty if it gives none.
    fn version(&self) -> &str;

    /// What tells it from all others, such as a hash of the module: a controller's state fits no other algorithm.
    fn identity(&self) -> &str;

    /// The values of all its parameters, by key.
    fn values(&self) -> BTreeMap<String, i64>;

    /// See [`Algorithm::feedback`](super::Algorithm::feedback).
    fn feedback(&self, line_rate: Bandwidth) -> Feedback;

    /// See [`Algorithm::build`](super::Algorithm::build). What goes wrong later is told by [`fault`](Self::fault).
    fn build(&self, path: &Path) -> Box<dyn CongestionControl>;

    /// The first thing that went wrong in a controller: the earliest, and of one time the one with the lowest
    /// [seed](Path::seed). A controller in which something went wrong does nothing any more.
    fn fault(&self) -> Option<ControlFault>;

    /// The same algorithm for another run, in which nothing went wrong so far.
    fn for_run(&self) -> Loaded;
}

/// What went wrong in a controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ControlFault {
    /// When.
    pub time: SimTime,
    /// Of which controller: [`Path::seed`].
    pub seed: u64,
    /// What it was told, such as `ack`.
    pub event: &'static str,
    /// Why, in words.
    pub cause: String,
}

/// An algorithm that was loaded.
#[derive(Clone, Debug)]
pub struct Loaded(pub Arc<dyn ExternalAlgorithm>);

/// The place of an algorithm that is loaded once, and then there for all copies of the parameters.
#[derive(Clone, Debug, Default)]
pub struct Slot(Arc<OnceLock<Loaded>>);

impl Slot {
    /// A place that has one.
    pub fn of(loaded: Loaded) -> Self {
        Self(Arc::new(OnceLock::from(loaded)))
    }

    /// What is there.
    pub fn get(&self) -> Option<&Loaded> {
        self.0.get()
    }

    /// Puts an algorithm there, unless one is there.
    pub fn fill(&self, loaded: Loaded) {
        self.0.get_or_init(|| loaded);
    }

    /// What the algorithm needs to be told; nothing while there is none.
    pub(super) fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        self.get().map_or(Feedback::None, |loaded| loaded.0.feedback(line_rate))
    }

    /// A controller, which does nothing while there is no algorithm.
    pub(super) fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        match self.get() {
            Some(loaded) => loaded.0.build(path),
            None => NoControl::default().build(path),
        }
    }
}

/// What is loaded follows from the other parameters.
impl PartialEq for Slot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
