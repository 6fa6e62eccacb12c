//! From records to the results directory.

mod checkpointing;
mod deadlocks;
mod error;
mod links;
mod lossless;
mod ranked;
mod reference_files;
mod samples;
mod summary;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_results::{
    DropRecord, FlowRecord, FlowStatistics, FlowStatus, FlowWriter, OperationCounts,
    OperationRecord, OperationStatistics, OperationStatus, PauseEvent as PauseKind, PauseRecord,
    RecordWriter, ResultsDir, ResultsError, StormEvent, StormRecord, Summary, TransportFlows,
};
use rocelab_transport::CompletionStatus;
use rocelab_units::{Duration, SimTime};

pub use self::checkpointing::{branch, fits, resume, run_with_checkpoints};
pub(crate) use self::deadlocks::deadlock_records;
pub use self::error::RunError;
use self::lossless::LosslessDrops;
pub use self::ranked::{follow, lead};
use self::reference_files::{PauseLine, ReferenceOutput};
use self::samples::SampleFiles;
use self::summary::{goodput, summary};
use crate::frozen::frozen;
use crate::ideal::UnloadedNetwork;
use crate::network::{
    Accepted, Cut, DropCause, FlowEnd, FlowFailure, FrameDropped, OpenOperation, OperationEnd,
    PauseChange, PauseEvent, QueueStorm, Record, RecordKind,
};
use crate::pause_tree::PauseTree;
use crate::profile::Profile;
use crate::profile::hpcc_ns3::HpccNs3;
use crate::profile::roce::Roce;
use crate::scenario::Transport;
use crate::simulation::{Ending, Execution, Progress, Simulation};
use crate::stall::stall;
use crate::{AppPlan, FlowPlan, Plan, ProfilePlan, Side};

/// Events between two calls of the observer: some tens of milliseconds of work.
const EVENTS_A_STEP: u64 = 200_000;

/// What a run came to. Results are in the directory, but for what the caller adds to finish it.
#[derive(Debug)]
pub struct Outcome {
    /// Why the run is over.
    pub ending: Ending,
    /// The content of `summary.json`.
    pub summary: Summary,
    /// Events executed.
    pub events: u64,
    /// Of these events, and of the link traversals, those that were before the checkpoint that the run went
    /// on from: another process executed them.
    pub before: Before,
    /// How it was carried out.
    pub execution: Execution,
}

/// What there was before a run went on from a checkpoint; nothing for one that began at time zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Events executed.
    pub events: u64,
    /// Frames over links.
    pub traversals: u64,
}

/// Runs `plan` and streams its records into `directory`, which does not depend on the `execution`.
/// The observer is called every now and then and may break the run off.
///
/// # Errors
/// If the plan cannot become a network, results cannot be written, or conservation is violated.
pub fn run(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    execution: Execution,
    observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    match plan.profile {
        ProfilePlan::Roce => {
            let simulation = Simulation::<Roce>::with_execution(plan, execution)?;
            record(simulation, directory, Nothing, observe)
        }
        ProfilePlan::HpccNs3(_) => {
            let simulation = Simulation::<HpccNs3>::with_execution(plan, execution)?;
            record(simulation, directory, Nothing, observe)
        }
    }
}

/// Like [`run`], of a native network that is cut like this, and with so many parts at once as there are
/// `workers`, even where that takes longer.
///
/// # Errors
/// As those of [`run`].
pub fn run_in_parts(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    cut: &Arc<Cut>,
    workers: usize,
) -> Result<Outcome, RunError> {
    let simulation = Simulation::in_parts(plan, cut, workers)?;
    record(simulation, directory, Nothing, |_| ControlFlow::Continue(()))
}

/// What is done beside a run.
trait Aside<P: Profile> {
    /// Whether a run that is broken off can go on later, so that its results are not to be finished.
    const CAN_GO_ON: bool;

    /// Before anything happens: captures begin, in `folder`.
    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        folder: &Path,
        output: &mut Output<'_>,
    ) -> Result<(), RunError>;

    /// Between two steps, when all records have been written.
    fn between(
        &mut self,
        simulation: &mut Simulation<P>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError>;
}

/// Nothing more.
struct Nothing;

impl<P: Profile> Aside<P> for Nothing {
    const CAN_GO_ON: bool = false;

    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        folder: &Path,
        _: &mut Output<'_>,
    ) -> Result<(), RunError> {
        Ok(simulation.start_capture(folder)?)
    }

    fn between(&mut self, _: &mut Simulation<P>, _: &mut Output<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// Runs to the end, and streams records into `directory`.
fn record<P: Profile, A: Aside<P>>(
    mut simulation: Simulation<P>,
    directory: &ResultsDir,
    mut aside: A,
    mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    let plan = Arc::clone(simulation.network().plan());
    let mut output = Output::create(&plan, directory)?;
    aside.begin(&mut simulation, directory.working_path(), &mut output)?;
    let Progress { events, traversals, .. } = simulation.progress();
    let before = Before { events, traversals };
    let ending = loop {
        let ending = simulation.advance(EVENTS_A_STEP);
        let records = simulation.take_records();
        output.write(records)?;
        if let Some(ending) = ending {
            break ending;
        }
        if simulation.capture_failed() {
            break Ending::Interrupted;
        }
        aside.between(&mut simulation, &mut output)?;
        if observe(&simulation.progress()).is_break() {
            if A::CAN_GO_ON {
                return Err(RunError::BrokenOff { time: simulation.window_end() });
            }
            break Ending::Interrupted;
        }
    };
    Ok(Outcome { before, ..conclude(simulation, output, ending)? })
}

/// Makes results of a run that is over.
fn conclude<P: Profile>(
    mut simulation: Simulation<P>,
    mut output: Output<'_>,
    ending: Ending,
) -> Result<Outcome, RunError> {
    simulation.finish_samples();
    let records = simulation.take_records();
    output.write(records)?;
    simulation.finish_capture()?;
    simulation.network().audit()?;
    let summary = output.finish(&simulation, ending)?;
    let (events, execution) = (simulation.events(), simulation.execution());
    Ok(Outcome { ending, summary, events, before: Before::default(), execution })
}

/// The open files of a results directory.
struct Output<'a> {
    plan: &'a Plan,
    directory: &'a ResultsDir,
    flows: FlowWriter<'a>,
    pauses: RecordWriter<PauseRecord<'a>>,
    drops: RecordWriter<DropRecord<'a>>,
    samples: SampleFiles<'a>,
    /// Where watchdogs watch.
    storms: Option<RecordWriter<StormRecord<'a>>>,
    /// Where there are applications.
    operations: Option<RecordWriter<OperationRecord<'a>>>,
    /// By application.
    operation_statistics: Vec<OperationStatistics>,
    /// The files of HPCC's ns-3 simulator, where its rules hold.
    reference: Option<ReferenceOutput>,
    statistics: FlowStatistics,
    /// Where there is TCP: by what carries the flows.
    by_transport: BTreeMap<Transport, FlowStatistics>,
    ideal: UnloadedNetwork,
    /// Flows whose end has been written.
    ended: Vec<bool>,
    pause_tree: PauseTree<'a>,
    lossless_drops: LosslessDrops<'a>,
}

rocelab_state::state!(['a] Output<'a> {
    values: operation_statistics, statistics, by_transport, ended;
    states: pause_tree, lossless_drops;
    kept: plan, directory, flows, pauses, drops, samples, storms, operations, reference, ideal
});

impl<'a> Output<'a> {
    fn create(plan: &'a Plan, directory: &'a ResultsDir) -> Result<Self, RunError> {
        Ok(Self {
            plan,
            directory,
            flows: directory.flows()?,
            pauses: directory.pauses()?,
            drops: directory.drops()?,
            samples: SampleFiles::create(plan, directory)?,
            storms: plan
                .failures
                .switch_watchdog
                .as_ref()
                .map(|_| directory.records())
                .transpose()?,
            operations: (!plan.apps.is_empty()).then(|| directory.operations()).transpose()?,
            operation_statistics: vec![OperationStatistics::default(); plan.apps.len()],
            reference: plan
                .profile
                .hpcc_ns3()
                .map(|_| ReferenceOutput::create(directory.working_path()))
                .transpose()
                .map_err(RunError::Reference)?,
            statistics: FlowStatistics::default(),
            by_transport: BTreeMap::new(),
            ideal: UnloadedNetwork::new(plan),
            ended: vec![false; plan.flows.len()],
            pause_tree: PauseTree::new(plan),
            lossless_drops: LosslessDrops::new(plan),
        })
    }

    /// Writes out what is buffered.
    fn flush(&mut self) -> Result<(), ResultsError> {
        self.flows.flush()?;
        self.pauses.flush()?;
        self.drops.flush()?;
        self.samples.flush()?;
        self.storms.as_mut().map_or(Ok(()), RecordWriter::flush)?;
        self.operations.as_mut().map_or(Ok(()), RecordWriter::flush)
    }

    fn write(&mut self, records: Vec<Record>) -> Result<(), RunError> {
        for Record { key, kind } in records {
            match kind {
                RecordKind::FlowEnd(end) => self.flow_end(&end)?,
                RecordKind::FlowAcknowledged(_) => {} // The end of the flow says it.
                RecordKind::Pause(change) => self.pause(key.time, &change)?,
                RecordKind::PauseRequest(request) => self.pause_tree.request(request),
                RecordKind::Drop(dropped) => self.drop(key.time, &dropped)?,
                RecordKind::Queue(length) => self.samples.queue(key.time, &length)?,
                RecordKind::Marks(counted) => self.samples.marks(key.time, &counted)?,
                RecordKind::Use(port) => self.samples.port_use(key.time, &port)?,
                RecordKind::Rate(rate) => self.samples.rate(key.time, &rate)?,
                RecordKind::Goodput(goodput) => self.samples.goodput(key.time, &goodput)?,
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
        let record = FlowRecord {
            flow: u64::from(flow),
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
        };
        self.statistics.add(&record);
        if self.plan.tcp.is_some() {
            self.by_transport.entry(plan.transport).or_default().add(&record);
        }
        self.flows.write(&record)
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
        }
    }

    fn write_operation(
        &mut self,
        connection: u32,
        record: &OperationRecord<'a>,
    ) -> Result<(), ResultsError> {
        let app = self.plan.connections[connection as usize].app as usize;
        self.operation_statistics[app].add(record);
        self.operations.as_mut().map_or(Ok(()), |operations| operations.write(record))
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
        Ok(self.pauses.write(&PauseRecord {
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
        self.drops.write(&DropRecord {
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
        let Some(storms) = &mut self.storms else { return Ok(()) };
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

    fn finish<P: Profile>(
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
        links::write(self.plan, self.directory, simulation.network(), now)?;
        let accepted = simulation.network().accepted();
        let mut summary = Summary {
            operations: self.operation_counts(&accepted, now),
            transports: self.transports(&accepted, now),
            lossless_drops: self.lossless_drops.finish(),
            ..summary(self.plan, simulation, &self.statistics, &accepted, ending)
        };
        self.directory.write_nodes(crate::topology_map(&self.plan.topology).nodes)?;
        let is_native = self.reference.is_none();
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
        if self.reference.is_none() && !causes.pauses.is_empty() {
            self.directory.write_pause_causes(&causes)?;
        }
        self.flows.finish()?;
        self.pauses.finish()?;
        self.drops.finish()?;
        self.samples.finish()?;
        self.storms.map_or(Ok(()), RecordWriter::finish)?;
        self.operations.map_or(Ok(()), RecordWriter::finish)?;
        self.reference.map_or(Ok(()), ReferenceOutput::finish).map_err(RunError::Reference)?;
        Ok(summary)
    }

    /// What the summary says of flows by what carries them, where there is TCP.
    fn transports(&self, accepted: &Accepted, now: SimTime) -> BTreeMap<String, TransportFlows> {
        let of = |(&transport, statistics): (&Transport, &FlowStatistics)| {
            let log = match transport {
                Transport::Rdma => &accepted.flows,
                Transport::Tcp => &accepted.segments,
            };
            let goodput = goodput(self.plan, statistics, Some(transport), log, now);
            (transport.name().to_owned(), TransportFlows::of(statistics, goodput, now.ps()))
        };
        self.by_transport.iter().map(of).collect()
    }

    /// What the summary says of applications.
    fn operation_counts(&self, accepted: &Accepted, now: SimTime) -> Vec<OperationCounts> {
        let counts = |(number, (app, statistics)): (u32, (&AppPlan, &OperationStatistics))| {
            let connections = &self.plan.connections;
            let own = connections.iter().filter(|connection| connection.app == number).count();
            let planned = app.operations.map(|each| each.saturating_mul(own as u64));
            let log = &accepted.apps[number as usize];
            statistics.counts(&app.name, planned, log, now.ps())
        };
        (0u32..).zip(self.plan.apps.iter().zip(&self.operation_statistics)).map(counts).collect()
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

/// How a flow ended, as the results name it.
pub(crate) fn flow_status(end: &FlowEnd) -> FlowStatus {
    match (end.failure, end.status) {
        (Some(FlowFailure::ConnectionTimedOut), _) => FlowStatus::ConnectionTimedOut,
        (Some(FlowFailure::MessagesLost(_)), _) => FlowStatus::MessagesLost,
        (Some(_), _) => FlowStatus::ConnectionRejected,
        (None, CompletionStatus::Success) => FlowStatus::Completed,
        (None, CompletionStatus::RetryExceeded) => FlowStatus::RetryExceeded,
        (None, CompletionStatus::RnrRetryExceeded) => FlowStatus::RnrRetryExceeded,
        (None, CompletionStatus::RemoteInvalidRequest) => FlowStatus::RemoteInvalidRequest,
        (None, CompletionStatus::RemoteAccess) => FlowStatus::RemoteAccessError,
        (None, CompletionStatus::RemoteOperational) => FlowStatus::RemoteOperationalError,
        (None, _) => FlowStatus::Failed,
    }
}

/// How an operation ended, as the results name it.
pub(crate) fn operation_status(status: CompletionStatus) -> OperationStatus {
    match status {
        CompletionStatus::Success => OperationStatus::Completed,
        CompletionStatus::RetryExceeded => OperationStatus::RetryExceeded,
        CompletionStatus::RnrRetryExceeded => OperationStatus::RnrRetryExceeded,
        CompletionStatus::RemoteInvalidRequest => OperationStatus::RemoteInvalidRequest,
        CompletionStatus::RemoteAccess => OperationStatus::RemoteAccess,
        _ => OperationStatus::Flushed,
    }
}
