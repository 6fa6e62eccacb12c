//! What can be proved of a plan before it runs: that nothing lossless is dropped, that no pauses
//! can wait for each other in a circle, and that senders are told before they are stopped.
//!
//! [`Proof::of`] does so for a plan; [`HeadroomQuestion`] is the calculator of headroom alone. All
//! findings come with their numbers; `docs/check.md` has the formulas and their sources.

mod calculator;
mod dependency;
mod egress_limit;
mod flooding;
mod headroom;
mod hosts;
mod infiniband;
mod lossy;
mod marking;
mod own_failures;
mod pauses;
mod pings;
mod ports_towards;
mod priorities;
mod receivers;
mod routing_loop;
mod starvation;
mod text;

use serde::Serialize;

use crate::plan::SentMarkings;
use crate::{LinkPlan, Plan};

pub use calculator::{
    COMMON_CELL, HeadroomAnswer, HeadroomQuestion, OtherCount, QuestionError, frame_of_mtu,
};
pub use dependency::{CycleAfterFailure, DependencyFinding, FailureProof};
pub use egress_limit::EgressLimitFinding;
pub use headroom::{HeadroomDoubt, HeadroomFinding, HeadroomSum, MemoryFinding};
pub use hosts::{HostFinding, HostLimit};
pub use infiniband::{LaneBuffer, LaneLoop, SubnetAfterFailures, SubnetFinding};
pub use lossy::LossyPriority;
pub use marking::{MarkingFinding, ThresholdInput, kmin_limit, xoff_with};
pub use own_failures::OwnFailures;
pub use pauses::{PauseFinding, ShortPause, UnheardPause};
pub use pings::PingFinding;
pub use receivers::ReceiverFinding;
pub use routing_loop::RoutingLoop;
pub use starvation::StarvedPriority;
// What questions and answers are made of, for callers that have no other use for quantities.
pub use rocelab_units::{Bandwidth, Bytes, Duration, Length, Ratio};

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds whatever the traffic, as long as nothing fails.
    Proved,
    /// The inequality that it takes does not hold.
    Refuted,
    /// Neither: it depends on the traffic, or on what is not looked into.
    Open,
}

/// What is looked into, in this order: in large networks the two of buffer dependency take longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofStage {
    /// Static routes, and what flows meet.
    Traffic,
    /// Headroom, limits and pauses.
    Memory,
    /// Buffer dependency.
    Dependency,
    /// Buffer dependency after failures.
    Failures,
    /// Marks before pauses.
    Marking,
}

impl ProofStage {
    /// All, in their order.
    pub const ALL: [Self; 5] =
        [Self::Traffic, Self::Memory, Self::Dependency, Self::Failures, Self::Marking];

    /// What it is about.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Traffic => "ways of flows",
            Self::Memory => "headroom",
            Self::Dependency => "buffer dependency",
            Self::Failures => "buffer dependency after failures",
            Self::Marking => "marks before pauses",
        }
    }
}

/// What was proved of a plan, and what was refuted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Proof {
    /// Headroom of each kind of switch port.
    pub headroom: Vec<HeadroomFinding>,
    /// How the memory of each kind of switch is divided.
    pub memory: Vec<MemoryFinding>,
    /// Limits of lossless egress queues, for each kind of switch that has one.
    pub egress_limits: Vec<EgressLimitFinding>,
    /// Pauses that do not stop those who fill a lossless priority.
    pub pauses: Vec<PauseFinding>,
    /// Memory of the slow receivers.
    pub receivers: Vec<ReceiverFinding>,
    /// Whether pauses can wait for each other in a circle; none where that was not looked into.
    pub buffer_dependency: Option<DependencyFinding>,
    /// Whether marks come before pauses, for each kind of switch port.
    pub marking: Vec<MarkingFinding>,
    /// Static routes that lead in a circle: no fault, but seldom what was meant.
    pub routing_loops: Vec<RoutingLoop>,
    /// RDMA that is not lossless: no fault, but seldom what was meant.
    pub lossy_priorities: Vec<LossyPriority>,
    /// Priorities that others leave nothing for a while.
    pub starved: Vec<StarvedPriority>,
    /// Hosts that take time, and are slower than their links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFinding>,
    /// Pings that nothing but the end of the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pings: Option<PingFinding>,
    /// Routes, loops of credits and buffers of InfiniBand; none on Ethernet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet: Option<SubnetFinding>,
    /// What was not looked into, and why.
    pub not_checked: Vec<String>,
}

impl Proof {
    /// Proves or refutes. Of a plan of the profile `hpcc-ns3`, whose rules for memory, pauses and
    /// routes are its own, nothing.
    pub fn of(plan: &Plan) -> Self {
        Self::watched(plan, &mut |_| ())
    }

    /// As [`of`](Self::of), and tells each stage as it begins.
    pub fn watched(plan: &Plan, tell: &mut dyn FnMut(ProofStage)) -> Self {
        tell(ProofStage::Traffic);
        let mut proof = Self::default();
        if plan.profile.hpcc_ns3().is_some() {
            return proof;
        }
        proof.hosts = HostFinding::all_of(plan);
        proof.pings = PingFinding::of(plan);
        if plan.infiniband.is_some() {
            // Nothing of it pauses, marks or has a headroom.
            tell(ProofStage::Dependency);
            proof.subnet = SubnetFinding::of(plan);
            proof.not_checked.extend(beside_the_proof(plan).into_iter().map(Into::into));
            return proof;
        }
        proof.routing_loops = RoutingLoop::all_of(plan);
        proof.lossy_priorities = LossyPriority::all_of(plan);
        proof.starved = StarvedPriority::all_of(plan);
        if !plan.topology.switches().any(|switch| headroom::is_lossless(plan, switch)) {
            proof.not_checked.push("no priority is lossless".into());
            return proof;
        }
        tell(ProofStage::Memory);
        (proof.headroom, proof.memory) = headroom::find(plan);
        proof.egress_limits = egress_limit::find(plan);
        let sent = SentMarkings::of(plan);
        proof.pauses = pauses::find(plan, &sent);
        proof.receivers = receivers::find(plan, &sent);
        match dependency::find(plan, tell) {
            Ok(finding) => proof.buffer_dependency = Some(finding),
            Err(error) => proof.not_checked.push(format!("buffer dependency: {error}")),
        }
        tell(ProofStage::Marking);
        proof.not_checked.extend(beside_the_proof(plan).into_iter().map(Into::into));
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

    /// How many things are worth a warning.
    pub fn warnings(&self) -> usize {
        let dependency = self.buffer_dependency.as_ref().map_or(0, DependencyFinding::doubts);
        let subnet = self.subnet.as_ref().map_or(0, SubnetFinding::warnings);
        subnet
            + dependency
            + self.routing_loops.len()
            + self.lossy_priorities.len()
            + self.starved.len()
            + self.hosts.len()
            + usize::from(self.pings.as_ref().is_some_and(PingFinding::are_too_many))
    }

    /// How many things were found wrong.
    pub fn faults(&self) -> usize {
        let headroom = self.headroom.iter().map(HeadroomFinding::verdict);
        let limits = self.egress_limits.iter().map(EgressLimitFinding::verdict);
        let receivers = self.receivers.iter().map(ReceiverFinding::verdict);
        let verdicts = headroom.chain(limits).chain(receivers);
        let refuted = verdicts.filter(|&verdict| verdict == Verdict::Refuted).count();
        let marking = self.marking.iter().filter(|finding| !finding.marks_first).count();
        let dependency = self.buffer_dependency.as_ref().map_or(0, DependencyFinding::faults);
        let subnet = self.subnet.as_ref().map_or(0, SubnetFinding::faults);
        refuted + self.pauses.len() + marking + dependency + subnet
    }
}

/// What happens in a scenario and is not part of what is proved of it.
fn beside_the_proof(plan: &Plan) -> Vec<&'static str> {
    let failures = "the scenario's failures and faults: the proofs are for a network without them, but \
                    for buffer dependency, which follows its routes";
    let watchdog = "`watchdog.switch`: it drops lossless frames of queues that are paused for long";
    let ingress =
        "`ingress`: ports of switches drop what does not meet its conditions, lossless frames too";
    let unknown = "`bridge-no-flood`: such switches drop frames for hosts that they do not know, lossless ones too";
    let multicast = "`[[multicast_group]]`: of priorities that starve nothing is said, as the trees of groups do not follow the \
                     paths of flows";
    let has_errors = |link: &LinkPlan| link.bit_error_rate.is_some();
    let loses = plan.topology.links.iter().any(|link| link.loss > 0.0)
        || plan.links.values().any(has_errors);
    let largest = plan.largest_frame_of_all().get();
    let is_short =
        |link: &LinkPlan| link.largest_frame.is_some_and(|most| u64::from(most) < largest);
    let too_long = "`link.mtu`: ports drop frames that are longer, lossless ones too";
    let mut switches = plan.topology.switches();
    let forgets = !plan.known_hosts.are_complete()
        && switches.any(|switch| !plan.forwarding_plane_of(switch).floods());
    let happens = [
        (!plan.failures.steps.is_empty() || !plan.faults.is_empty() || loses, failures),
        (plan.failures.switch_watchdog.is_some(), watchdog),
        (plan.ingress.iter().any(|planned| planned.condition.drops()), ingress),
        (plan.links.values().any(is_short), too_long),
        (forgets, unknown),
        (plan.roce.multicast.is_some(), multicast),
    ];
    happens.into_iter().filter(|&(happens, _)| happens).map(|(_, message)| message).collect()
}
