//! How a run goes: what has come of flows and operations, what is counted, and what is recorded.

use std::collections::BTreeMap;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

use super::deliveries::Deliveries;
use super::digest::Records;
use crate::Plan;
use crate::profile::Profile;
use crate::record::{OperationEnd, Totals};

/// How far everything has come.
#[derive(Debug)]
pub(super) struct Course<P: Profile> {
    /// The flows that are to start.
    pub(super) starts: P::Starts,
    pub(super) flows: Flows,
    pub(super) operations: Operations,
    pub(super) deliveries: Deliveries,
    /// In integrity mode, and where messages may be lost.
    pub(super) flow_ends: Option<FlowEnds>,
    pub(super) records: Records,
    pub(super) totals: Totals,
    /// RDMA packets that hosts sent, by opcode.
    pub(super) opcodes: Box<[u64; 256]>,
}

impl<P: Profile> Course<P> {
    /// Nothing has happened.
    pub(super) fn new(plan: &Plan, starts: P::Starts) -> Self {
        Self {
            starts,
            flows: Flows::default(),
            operations: Operations::default(),
            deliveries: Deliveries::new(plan),
            flow_ends: (plan.integrity || !plan.service().is_reliable()).then(FlowEnds::default),
            records: Records::of(plan.topology.nodes.len()),
            totals: Totals::default(),
            opcodes: Box::new([0; 256]),
        }
    }
}

/// The progress of all flows.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Flows {
    pub(super) started: u64,
    pub(super) completed: u32,
    pub(super) failed: u32,
    /// Payload of flows of TCP that failed before they began (bytes).
    pub(super) unopened_bytes: u64,
    pub(super) last_end: SimTime,
}

/// The progress of all applications.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Operations {
    /// Connections, and members of programs, with operations that are open or to come.
    pub(super) open_connections: u32,
    pub(super) completed: u64,
    pub(super) failed: u64,
    /// Payload of those that completed (bytes).
    pub(super) payload: u64,
}

/// How each flow ended that has ended here.
#[derive(Debug, Default)]
pub(super) struct FlowEnds {
    pub(super) by_flow: BTreeMap<u32, CompletionStatus>,
}

impl FlowEnds {
    pub(super) fn note(&mut self, flow: u32, status: CompletionStatus) {
        self.by_flow.insert(flow, status);
    }
}

impl Operations {
    #[cold]
    pub(super) fn count(&mut self, end: &OperationEnd) {
        if end.status == CompletionStatus::Success {
            self.completed += 1;
            self.payload += end.payload;
        } else {
            self.failed += 1;
        }
    }

    /// No operation is open any longer, nor to come, on one of the connections, or at a member of a program.
    #[cold]
    pub(super) const fn close(&mut self) {
        self.open_connections -= 1;
    }
}
