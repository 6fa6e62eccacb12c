//! Statistics of flows and operations, as they end.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_results::{
    FlowRecord, FlowStatistics, OperationCounts, OperationRecord, OperationStatistics,
    TransportFlows,
};
use rocelab_units::SimTime;

use super::summary::goodput;
use crate::network::Accepted;
use crate::scenario::Transport;
use crate::{AppPlan, Plan};

/// What is counted of flows and operations.
#[derive(BorshSerialize, BorshDeserialize)]
pub(super) struct RunStatistics {
    /// By application.
    operations: Vec<OperationStatistics>,
    flows: FlowStatistics,
    /// Where there is TCP: by what carries the flows.
    by_transport: BTreeMap<Transport, FlowStatistics>,
}

impl RunStatistics {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            operations: vec![OperationStatistics::default(); plan.apps.len()],
            flows: FlowStatistics::default(),
            by_transport: BTreeMap::new(),
        }
    }

    /// Those of all flows.
    pub(super) const fn flows(&self) -> &FlowStatistics {
        &self.flows
    }

    /// Counts a flow.
    pub(super) fn add_flow(&mut self, plan: &Plan, transport: Transport, flow: &FlowRecord<'_>) {
        self.flows.add(flow);
        if plan.tcp.is_some() {
            self.by_transport.entry(transport).or_default().add(flow);
        }
    }

    /// Counts an operation of an application.
    pub(super) fn add_operation(&mut self, app: usize, operation: &OperationRecord<'_>) {
        self.operations[app].add(operation);
    }

    /// What the summary says of flows by what carries them, where there is TCP.
    pub(super) fn transports(
        &self,
        plan: &Plan,
        accepted: &Accepted,
        now: SimTime,
    ) -> BTreeMap<String, TransportFlows> {
        let of = |(&transport, statistics): (&Transport, &FlowStatistics)| {
            let log = match transport {
                Transport::Rdma => &accepted.flows,
                Transport::Tcp => &accepted.segments,
            };
            let goodput = goodput(plan, statistics, Some(transport), log, now);
            (transport.name().to_owned(), TransportFlows::of(statistics, goodput, now.ps()))
        };
        self.by_transport.iter().map(of).collect()
    }

    /// What the summary says of applications.
    pub(super) fn operation_counts(
        &self,
        plan: &Plan,
        accepted: &Accepted,
        now: SimTime,
    ) -> Vec<OperationCounts> {
        let counts = |(number, (app, statistics)): (u32, (&AppPlan, &OperationStatistics))| {
            let connections = &plan.connections;
            let own = connections.iter().filter(|connection| connection.app == number).count();
            let planned = app.planned(own as u64);
            let log = &accepted.apps[number as usize];
            statistics.counts(&app.name, planned, log, now.ps())
        };
        (0u32..).zip(plan.apps.iter().zip(&self.operations)).map(counts).collect()
    }
}
