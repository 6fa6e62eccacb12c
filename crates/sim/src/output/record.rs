//! Records of a run into rows, and into what is told at its end.

use rocelab_fabric::NodeId;
use rocelab_results::{
    DropRecord, FlowRecord, FlowStatus, OperationRecord, OperationStatus, PauseEvent as PauseKind,
    PauseRecord, ResultsError, Sink, StormEvent, StormRecord, Summary,
};
use rocelab_units::{Duration, SimTime};

use super::collectives::Collectives;
use super::deadlocks::deadlock_records;
use super::error::RunError;
use super::flow_counters;
use super::flow_paths::FlowPaths;
use super::links;
use super::lossless::LosslessDrops;
use super::reference_files::{PauseLine, ReferenceOutput};
use super::statistics::RunStatistics;
use super::status::{flow_status, operation_status};
use super::summary::summary;
use super::tables::Tables;
use super::{hosts, monitoring, nvlink, switches};
use crate::frozen::frozen;
use crate::ideal::UnloadedNetwork;
use crate::network::{
    DropCause, FlowEnd, FlowFailure, FrameDropped, OpenOperation, OperationEnd, PauseChange,
    PauseEvent, QueueStorm, Record, RecordKind,
};
use crate::pause_tree::PauseTree;
use crate::profile::Profile;
use crate::simulation::{Ending, Simulation};
use crate::stall::stall;
use crate::{FlowPlan, Plan, Side};

/// What becomes of a run's records: rows of tables, and what is told at its end.
pub(super) struct Output<'a> {
    plan: &'a Plan,
    sink: Sink<'a>,
    tables: Tables<'a>,
    /// The files of HPCC's ns-3 simulator, where its rules hold and there is a folder.
    reference: Option<ReferenceOutput>,
    statistics: RunStatistics,
    ideal: UnloadedNetwork,
    paths: FlowPaths<'a>,
    /// Flows whose end has been written.
    ended: Vec<bool>,
    pause_tree: PauseTree<'a>,
    lossless_drops: LosslessDrops<'a>,
    collectives: Collectives,
}

rocelab_state::state!(['a] Output<'a> {
    values: statistics, ended;
    states: paths, pause_tree, lossless_drops, collectives;
    kept: plan, sink, tables, reference, ideal
});

impl<'a> Output<'a> {
    pub(super) fn create(plan: &'a Plan, sink: Sink<'a>) -> Result<Self, RunError> {
        let folder = plan.profile.hpcc_ns3().and(sink.folder());
        Ok(Self {
            plan,
            sink,
            tables: Tables::create(plan, sink)?,
            reference: folder
                .map(ReferenceOutput::create)
                .transpose()
                .map_err(RunError::Reference)?,
            statistics: RunStatistics::new(plan),
            ideal: UnloadedNetwork::new(plan),
            paths: FlowPaths::new(plan),
            ended: vec![false; plan.flows.len()],
            pause_tree: PauseTree::new(plan),
            lossless_drops: LosslessDrops::new(plan),
            collectives: Collectives::new(plan),
        })
    }

    /// Writes out what is buffered.
    pub(super) fn flush(&mut self) -> Result<(), ResultsError> {
        self.tables.flush()
    }

    /// Takes what has been recorded since the last time.
    pub(super) fn write(&mut self, records: Vec<Record>) -> Result<(), RunError> {
        for Record { key, kind } in records {
            match kind {
                RecordKind::FlowEnd(end) => self.flow_end(&end)?,
                RecordKind::FlowAcknowledged(_) => {} // The end of the flow says it.
                RecordKind::Pause(change) => self.pause(key.time, &change)?,
                RecordKind::PauseRequest(request) => self.pause_tree.request(request),
                RecordKind::PauseWithdrawal(withdrawal) => self.pause_tree.withdraw(withdrawal),
                RecordKind::Drop(dropped) => self.drop(key.time, &dropped)?,
                RecordKind::Queue(length) => self.tables.samples.queue(key.time, &length)?,
                RecordKind::Marks(counted) => self.tables.samples.marks(key.time, &counted)?,
                RecordKind::Use(port) => self.tables.samples.port_use(key.time, &port)?,
                RecordKind::Rate(rate) => self.tables.samples.rate(key.time, &rate)?,
                RecordKind::Goodput(goodput) => self.tables.samples.goodput(key.time, &goodput)?,
                RecordKind::Ingress(held) => self.tables.samples.ingress(key.time, &held)?,
                RecordKind::Flow(state) => self.tables.samples.flow(key.time, &state)?,
                RecordKind::Memory(held) => self.tables.samples.memory(key.time, &held)?,
                RecordKind::Storm(storm) => self.storm(key.time, &storm)?,
                RecordKind::OperationEnd(end) => self.operation_end(key.time, &end)?,
            }
        }
        Ok(())
    }

    fn flow_end(&mut self, end: &FlowEnd) -> Result<(), RunError> {
        self.ended[end.flow as usize] = true;
        let status = flow_status(end);
        if let Some(reference) = &mut self.reference {
            let flow = &self.plan.flows[end.flow as usize];
            let fct = end.finished.since(flow.start);
            let standalone = self.ideal.completion_time(flow);
            reference.flow(flow, fct, standalone).map_err(RunError::Reference)?;
        }
        let undelivered = match end.failure {
            Some(FlowFailure::MessagesLost(messages)) => Some(messages),
            // Without a connection none was sent.
            Some(_) if !self.plan.service().is_reliable() => {
                Some(self.plan.flows[end.flow as usize].messages().count() as u64)
            }
            _ => None,
        };
        let repeated = end.retransmitted_packets;
        Ok(self.flow(end.flow, status, end.finished, repeated, undelivered)?)
    }

    /// Writes a flow that was over at `end`, or open until then; `undelivered` of its messages have not arrived,
    /// where that is known.
    fn flow(
        &mut self,
        flow: u32,
        status: FlowStatus,
        end: SimTime,
        retransmitted_packets: u64,
        undelivered: Option<u64>,
    ) -> Result<(), ResultsError> {
        let plan = &self.plan.flows[flow as usize];
        let messages = plan.messages().count() as u64;
        let messages_delivered = match status {
            FlowStatus::Completed => Some(messages),
            _ => undelivered.map(|undelivered| messages.saturating_sub(undelivered)),
        };
        let completed = (status == FlowStatus::Completed).then_some(end);
        let (source_qpn, destination_qpn) = numbers(plan);
        let workload = self.plan.workloads.of(flow);
        let (path, collisions) = match self.paths.end(plan, end) {
            Some(known) => (Some(known.path.into()), known.collisions),
            None => (None, None),
        };
        let record = FlowRecord {
            flow: u64::from(flow),
            workload: workload.map_or("", |labels| &labels.key).into(),
            name: workload.map_or("", |labels| &labels.name).into(),
            source: self.name(plan.source).into(),
            destination: self.name(plan.destination).into(),
            source_qpn,
            destination_qpn,
            transport: plan.transport.name().into(),
            verb: plan.verb.name().into(),
            priority: plan.priority,
            congestion_control: self.plan.congestion_control_of(plan).into(),
            bytes: plan.bytes,
            messages,
            packets: self.packets_of(plan),
            start_ps: plan.start.ps(),
            fct_ps: completed.map(|end| end.since(plan.start).ps()),
            ideal_fct_ps: self.ideal.completion_time_until(plan, end).ps(),
            retransmitted_packets,
            messages_delivered,
            status,
            measured: self.measured(plan.start),
            path,
            collisions,
        };
        self.statistics.add_flow(self.plan, plan.transport, &record);
        self.tables.flows.write(&record)
    }

    /// Whether what starts at a time is in the measuring window, as the tables have it.
    fn measured(&self, start: SimTime) -> u8 {
        self.plan.measure.is_none_or(|window| window.counts(start)).into()
    }

    /// Data packets or segments that a flow's payload needs.
    fn packets_of(&self, flow: &FlowPlan) -> u64 {
        let payload = match &self.plan.tcp {
            Some(tcp) if flow.is_tcp() => tcp.mss().into(),
            _ => u64::from(self.plan.path_mtu()),
        };
        flow.messages().map(|bytes| bytes.div_ceil(payload.max(1)).max(1)).sum()
    }

    fn operation_end(&mut self, time: SimTime, end: &OperationEnd) -> Result<(), ResultsError> {
        let OperationEnd { connection, slot, operation, kind, start, status, found, .. } = *end;
        let status = operation_status(status);
        let record = OperationRecord {
            end_ps: Some(time.ps()),
            latency_ps: (status == OperationStatus::Completed).then(|| time.since(start).ps()),
            found,
            status,
            ..self.operation(&OpenOperation { connection, slot, operation, kind, start })
        };
        self.write_operation(connection, &record)
    }

    /// An operation that has started, and of which nothing else is known.
    fn operation(&self, open: &OpenOperation) -> OperationRecord<'a> {
        let connection = &self.plan.connections[open.connection as usize];
        let app = self.plan.app_of(open.connection);
        OperationRecord {
            app: app.name.as_str().into(),
            kind: app.kinds[usize::from(open.kind)].name.as_str().into(),
            client: self.name(connection.end(Side::Client).host).into(),
            server: self.name(connection.end(Side::Server).host).into(),
            connection: open.connection,
            operation: open.operation,
            slot: open.slot,
            start_ps: open.start.ps(),
            end_ps: None,
            latency_ps: None,
            found: None,
            status: OperationStatus::Unfinished,
            measured: self.measured(open.start),
        }
    }

    fn write_operation(
        &mut self,
        connection: u32,
        record: &OperationRecord<'a>,
    ) -> Result<(), ResultsError> {
        let app = self.plan.connections[connection as usize].app as usize;
        self.statistics.add_operation(app, record);
        self.collectives.add(self.plan, record);
        self.tables.operations.as_mut().map_or(Ok(()), |operations| operations.write(record))
    }

    fn pause(&mut self, time: SimTime, change: &PauseChange) -> Result<(), RunError> {
        if let Some(reference) = &mut self.reference {
            let line = PauseLine {
                time,
                node: change.node,
                is_switch: !self.plan.topology.is_host(change.node),
                port: change.port,
                stop: matches!(change.event, PauseEvent::Pause | PauseEvent::Refresh),
            };
            reference.pause(&line).map_err(RunError::Reference)?;
        }
        self.pause_tree.change(time, change);
        let (event, duration) = match change.event {
            PauseEvent::Pause => (PauseKind::Pause, None),
            PauseEvent::Refresh => (PauseKind::Refresh, None),
            PauseEvent::Resume(paused) => (PauseKind::Resume, Some(paused)),
            PauseEvent::Expire(paused) => (PauseKind::Expire, Some(paused)),
        };
        Ok(self.tables.pauses.write(&PauseRecord {
            time_ps: time.ps(),
            node: self.name(change.node).into(),
            port: change.port,
            priority: change.priority,
            event,
            quanta: change.quanta,
            duration_ps: duration.map(Duration::ps),
        })?)
    }

    fn drop(&mut self, time: SimTime, dropped: &FrameDropped) -> Result<(), ResultsError> {
        self.lossless_drops.note(dropped);
        let inequality = match dropped.cause {
            DropCause::Buffer(reason) => reason.to_string(),
            DropCause::Fault(rule) => self.plan.faults[rule as usize].name.clone(),
            _ => String::new(),
        };
        self.tables.drops.write(&DropRecord {
            time_ps: time.ps(),
            node: self.name(dropped.node).into(),
            ingress_port: dropped.ingress,
            egress_port: dropped.egress,
            priority: dropped.priority,
            frame_bytes: u32::from(dropped.frame_len),
            reason: dropped.cause.name().into(),
            inequality: inequality.into(),
        })
    }

    fn storm(&mut self, time: SimTime, storm: &QueueStorm) -> Result<(), ResultsError> {
        self.pause_tree.storm(time, storm);
        let node = self.name(storm.place.node).into();
        let Some(storms) = &mut self.tables.storms else { return Ok(()) };
        storms.write(&StormRecord {
            time_ps: time.ps(),
            node,
            port: storm.place.port,
            priority: storm.place.priority,
            event: match storm.lasted {
                None => StormEvent::Detected,
                Some(_) => StormEvent::Restored,
            },
            duration_ps: storm.lasted.map(Duration::ps),
        })
    }

    /// The run is over: writes what is known only now.
    pub(super) fn finish<P: Profile>(
        mut self,
        simulation: &Simulation<P>,
        ending: Ending,
    ) -> Result<Summary, RunError> {
        let now = simulation.now();
        for (flow, ended) in (0u32..).zip(self.ended.clone()) {
            if !ended {
                let repeated = simulation.network().retransmitted_packets(flow);
                let undelivered = simulation.network().undelivered_messages(flow);
                self.flow(flow, FlowStatus::Unfinished, now, repeated, undelivered)?;
            }
        }
        for open in simulation.network().open_operations() {
            let record = self.operation(&open);
            self.write_operation(open.connection, &record)?;
        }
        links::write(self.plan, self.sink, simulation.network(), now)?;
        switches::write(self.plan, self.sink, simulation.network())?;
        hosts::write(self.plan, self.sink, simulation.network())?;
        flow_counters::write(self.plan, self.sink, simulation.network())?;
        let pings = monitoring::write(self.plan, self.sink, simulation.network(), now)?;
        let collectives = self.collectives.finish(self.plan, self.sink)?;
        let nvlink = nvlink::write(self.plan, self.sink, simulation.network(), now)?;
        let accepted = simulation.network().accepted();
        let mut summary = Summary {
            operations: self.statistics.operation_counts(self.plan, &accepted, now),
            transports: self.statistics.transports(self.plan, &accepted, now),
            lossless_drops: self.lossless_drops.finish(),
            measured: self.statistics.measured(self.plan, now),
            monitoring: pings,
            collectives,
            nvlink,
            ..summary(self.plan, simulation, self.statistics.flows(), &accepted, ending)
        };
        self.sink.nodes(crate::topology_map(&self.plan.topology).nodes)?;
        let is_native = self.plan.profile.hpcc_ns3().is_none();
        let stalls = is_native && matches!(ending, Ending::Stalled | Ending::Deadlocked);
        let deadlocks = simulation.network().deadlocks();
        self.pause_tree.note_deadlocks(deadlocks);
        summary.deadlocks = deadlock_records(self.plan, deadlocks, &self.pause_tree);
        summary.stalled =
            stalls.then(|| stall(self.plan, (simulation, ending), &self.pause_tree, &self.ended));
        if is_native && !stalls {
            summary.frozen = frozen(self.plan, simulation, &self.pause_tree, &self.ended);
        }
        let causes = self.pause_tree.finish();
        if is_native && !causes.pauses.is_empty() {
            self.sink.pause_causes(causes)?;
        }
        self.tables.finish()?;
        let rules = self.plan.profile.hpcc_ns3();
        let is_monitored = rules.is_some_and(|rules| rules.queue_monitor.is_some());
        if let Some(reference) = self.reference.as_mut().filter(|_| is_monitored) {
            let dumps = simulation.network().histogram_dumps();
            reference.queues(dumps).map_err(RunError::Reference)?;
        }
        self.reference.map_or(Ok(()), ReferenceOutput::finish).map_err(RunError::Reference)?;
        Ok(summary)
    }

    fn name(&self, node: NodeId) -> &'a str {
        &self.plan.topology.nodes[node as usize].name
    }
}

/// The numbers that a flow's ends are known by: queue pairs, or ports of TCP.
fn numbers(flow: &FlowPlan) -> (u32, u32) {
    let (source, destination) = flow.tcp_ports();
    if flow.is_tcp() {
        (source.into(), destination.into())
    } else {
        (flow.source_qpn, flow.destination_qpn)
    }
}
