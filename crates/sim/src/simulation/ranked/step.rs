//! What ranks tell the first one after a step.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

use super::super::running::Running;
use crate::Plan;
use crate::network::{CapturedFrame, Overview, Record, Traversals};
use crate::profile::roce::Roce;

/// What a rank has recorded and captured in a step, and how far it has come.
#[derive(Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Step {
    pub(super) records: Vec<Record>,
    pub(super) captured: Vec<CapturedFrame>,
    /// Why nothing is captured any more.
    pub(super) capture_error: Option<String>,
    pub(super) tally: Tally,
}

/// How far some parts have come.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Tally {
    pub(super) now: SimTime,
    pub(super) last_flow_end: SimTime,
    pub(super) flows_ended: u32,
    pub(super) operations_ended: u64,
    pub(super) traversals: Traversals,
    pub(super) has_open_connections: bool,
    pub(super) frames: u64,
}

impl Step {
    /// Whether it can be of a run of `plan`.
    pub(super) fn fits(&self, plan: &Plan) -> bool {
        let ports = plan.capture.as_ref().map_or(0, |capture| capture.ports.len());
        self.records.iter().all(|record| record.kind.fits(plan))
            && self.captured.iter().all(|frame| usize::from(frame.interface) < ports)
    }
}

impl Tally {
    /// How far a part has come.
    pub(super) fn of(Running { engine, network, .. }: &Running<Roce>) -> Self {
        let network = Overview(network);
        let (flows_completed, flows_failed, _) = network.flow_counts();
        let (completed, failed) = network.operation_counts();
        Self {
            now: engine.now(),
            last_flow_end: network.last_flow_end(),
            flows_ended: flows_completed + flows_failed,
            operations_ended: completed + failed,
            traversals: network.traversals(),
            has_open_connections: network.has_open_connections(),
            frames: network.frames_in_network().into(),
        }
    }

    /// Both together.
    pub(super) fn with(self, other: Self) -> Self {
        let mut traversals = self.traversals;
        traversals += other.traversals;
        Self {
            now: self.now.max(other.now),
            last_flow_end: self.last_flow_end.max(other.last_flow_end),
            flows_ended: self.flows_ended.saturating_add(other.flows_ended),
            operations_ended: self.operations_ended.saturating_add(other.operations_ended),
            traversals,
            has_open_connections: self.has_open_connections | other.has_open_connections,
            frames: self.frames.saturating_add(other.frames),
        }
    }
}
