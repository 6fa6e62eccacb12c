//! Statistics of flows and operations, as they end.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_results::{
    FlowCounts, FlowRecord, FlowStatistics, MeasuredWindow, OperationCounts, OperationRecord,
    OperationStatistics, OperationStatus, TransportFlows,
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
    /// Flows outside the measuring window.
    flows_outside: FlowCounts,
    /// Operations outside.
    operations_outside: OperationsOutside,
}

/// Operations outside of the measuring window.
#[derive(Default, BorshSerialize, BorshDeserialize)]
struct OperationsOutside {
    all: u64,
    failed: u64,
    unfinished: u64,
}

impl RunStatistics {
    pub(super) fn new(plan: &Plan) -> Self {
        let of_app = plan.measure.map_or_else(OperationStatistics::default, |window| {
            let (from, to) = window.bounds_ps();
            OperationStatistics::of_window(from, to)
        });
        Self {
            operations: vec![of_app; plan.apps.len()],
            flows: FlowStatistics::default(),
            by_transport: BTreeMap::new(),
            flows_outside: FlowCounts::default(),
            operations_outside: OperationsOutside::default(),
        }
    }

    /// Those of all flows.
    pub(super) const fn flows(&self) -> &FlowStatistics {
        &self.flows
    }

    /// Counts a flow.
    pub(super) fn add_flow(&mut self, plan: &Plan, transport: Transport, flow: &FlowRecord<'_>) {
        if flow.measured == 0 {
            return self.flows_outside.add(flow.status);
        }
        self.flows.add(flow);
        if plan.tcp.is_some() {
            self.by_transport.entry(transport).or_default().add(flow);
        }
    }

    /// Counts an operation of an application.
    pub(super) fn add_operation(&mut self, app: usize, operation: &OperationRecord<'_>) {
        self.operations[app].add(operation);
        if operation.measured == 1 {
            return;
        }
        let OperationsOutside { all, failed, unfinished } = &mut self.operations_outside;
        *all += 1;
        match operation.status {
            OperationStatus::Completed => {}
            OperationStatus::Unfinished => *unfinished += 1,
            _ => *failed += 1,
        }
    }

    /// What the summary says of the measuring window of a run that is over `now`, if there is one.
    pub(super) fn measured(&self, plan: &Plan, now: SimTime) -> Option<MeasuredWindow> {
        let (from, to) = plan.measure?.within(now);
        let OperationsOutside { all, failed, unfinished } = self.operations_outside;
        Some(MeasuredWindow {
            from_ps: from.ps(),
            to_ps: to.ps(),
            flows_outside: self.flows_outside,
            operations_outside: all,
            failed_operations_outside: failed,
            unfinished_operations_outside: unfinished,
        })
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
            // It is not known when those would have started that have not.
            let planned = app.planned(own as u64).filter(|_| plan.measure.is_none());
            let log = &accepted.apps[number as usize];
            statistics.counts(&app.name, planned, log, now.ps())
        };
        (0u32..).zip(plan.apps.iter().zip(&self.operations)).map(counts).collect()
    }
}
