//! What can be proved of a plan before it runs: that nothing lossless is dropped, that no pauses
//! can wait for each other in a circle, and that senders are told before they are stopped.
//!
//! [`Proof::of`] does so for a plan; [`HeadroomQuestion`] is the calculator of headroom alone. All
//! findings come with their numbers; `docs/check.md` has the formulas and their sources.

mod calculator;
mod dependency;
mod flooding;
mod headroom;
mod marking;
mod text;

use serde::Serialize;

use crate::Plan;

pub use calculator::{HeadroomAnswer, HeadroomQuestion, QuestionError, frame_of_mtu};
pub use dependency::{CycleAfterFailure, DependencyFinding, FailureProof};
pub use headroom::{HeadroomFinding, HeadroomSum, MemoryFinding};
pub use marking::{MarkingFinding, ThresholdInput, kmin_limit, xoff_with};
// What questions and answers are made of, for callers that have no other use for quantities.
pub use rocelab_units::{Bandwidth, Bytes, Duration, Length, Ratio};

/// What was proved of a plan, and what was refuted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Proof {
    /// Headroom of each kind of switch port.
    pub headroom: Vec<HeadroomFinding>,
    /// How the memory of each kind of switch is divided.
    pub memory: Vec<MemoryFinding>,
    /// Whether pauses can wait for each other in a circle; none where that was not looked into.
    pub buffer_dependency: Option<DependencyFinding>,
    /// Whether marks come before pauses, for each kind of switch port.
    pub marking: Vec<MarkingFinding>,
    /// What was not looked into, and why.
    pub not_checked: Vec<String>,
}

impl Proof {
    /// Proves or refutes. Of a plan of the profile `hpcc-ns3`, whose rules for memory, pauses and
    /// routes are its own, nothing.
    pub fn of(plan: &Plan) -> Self {
        let mut proof = Self::default();
        if plan.profile.hpcc_ns3().is_some() {
            return proof;
        }
        if !plan.topology.switches().any(|switch| headroom::is_lossless(plan, switch)) {
            proof.not_checked.push("no priority is lossless".into());
            return proof;
        }
        (proof.headroom, proof.memory) = headroom::find(plan);
        if plan.topology.switches().any(|switch| plan.cuts_through(switch)) {
            let message = "headroom of switches that cut through: the sum is for store and forward";
            proof.not_checked.push(message.into());
        }
        match dependency::find(plan) {
            Ok(finding) => proof.buffer_dependency = Some(finding),
            Err(error) => proof.not_checked.push(format!("buffer dependency: {error}")),
        }
        proof.marking = marking::find(plan);
        if proof.marking.is_empty() {
            let message = match &plan.switch.ecn {
                None => "marks before pauses: `switch.ecn` is not set",
                Some(_) => "marks before pauses: queues are not marked, or by an average",
            };
            proof.not_checked.push(message.into());
        }
        proof
    }

    /// How many things were found wrong.
    pub fn faults(&self) -> usize {
        let headroom = self.headroom.iter().filter(|finding| !finding.is_enough()).count();
        let marking = self.marking.iter().filter(|finding| !finding.marks_first).count();
        let dependency = self.buffer_dependency.as_ref().map_or(0, DependencyFinding::faults);
        headroom + marking + dependency
    }
}
