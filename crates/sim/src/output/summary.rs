//! The summary of a run.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::{FlowControl, LoadBalancing, NodeId};
use rocelab_results::{
    CongestionCounts, DeliveryLog, EcnCounts, FaultRuleCounts, FlowStatistics, Goodput,
    IdleQueuePairRecord, InfiniBandCounts, IntegrityResult, IntegrityViolation, Layer2Counts,
    LinkTraversals, NeighbourCounts, PathMigrationRecord, PfcCounts, RefusedEngine, RefusedReroute,
    RunSpan, SampleInterval, SlowReceiverRecord, StreamRecord, Summary, TcpCounts, is_most,
};
use rocelab_transport::stack::StreamCounts;
use rocelab_transport::{Counters, PathMigration};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use crate::network::{Accepted, FaultCounts, IdleBacklog, IntegrityReport, ReceiverCounts, Totals};
use crate::plan::{InfiniBandPlan, Resweep, StreamPlan};
use crate::profile::Profile;
use crate::record::NeighbourTotals;
use crate::scenario::Transport;
use crate::simulation::{Ending, Simulation, WholeNetwork};
use crate::{FaultRule, Plan};

/// Broken promises that `summary.json` describes, at the most; it counts all.
const VIOLATIONS_SHOWN: usize = 16;

/// Queue pairs that could send and did not that `summary.json` describes, at the most.
const IDLE_QUEUE_PAIRS_SHOWN: usize = 16;

/// The content of `summary.json` as far as the network knows it.
pub(super) fn summary<P: Profile>(
    plan: &Plan,
    simulation: &Simulation<P>,
    statistics: &FlowStatistics,
    accepted: &Accepted,
    ending: Ending,
) -> Summary {
    let network = simulation.network();
    let totals = network.totals(simulation.now());
    let goodput = goodput(plan, statistics, None, &accepted.all_flows(), simulation.now());
    let nics = network.nic_counters();
    let mut drops = rocelab_results::DropCounts::default();
    for (reason, &frames) in &totals.drops {
        drops.add_frames(reason, frames);
    }
    Summary {
        scenario: plan.name.clone(),
        labels: plan.labels.clone(),
        branch: None,
        seed: plan.seed,
        roce_version: match plan.roce.encapsulation {
            _ if plan.infiniband.is_some() => 0,
            Encapsulation::V1 => 1,
            _ => 2,
        },
        infiniband: plan.infiniband.as_ref().map(|own| InfiniBandCounts {
            refused_reroutes: refused_reroutes(plan, simulation.now()),
            ..infiniband((plan, own), network, &totals, &nics)
        }),
        incomplete: ending == Ending::Interrupted,
        digest: format!("{:016x}", network.digest()),
        simulated_ps: simulation.now().ps(),
        ns3_rdma: None,
        link_traversals: LinkTraversals {
            total: totals.traversals.total(),
            data: totals.traversals.data,
            ack: totals.traversals.ack,
            control: totals.traversals.control,
        },
        flows: statistics.counts(),
        goodput_bps: goodput.map(|goodput| goodput.bps()),
        goodput,
        fct_ps: statistics.fct_ps(simulation.now().ps()),
        slowdown: statistics.slowdown(simulation.now().ps()),
        messages: counts_messages(plan).then(|| statistics.messages()),
        drops,
        lossless_drops: BTreeMap::new(),
        failures: failures(plan, simulation.now()),
        faults: fault_rules(plan, network),
        integrity: network.integrity().map(integrity),
        flow_controls: flow_controls(plan),
        storms: totals.storms,
        slow_receivers: slow_receivers(plan, network),
        deadlocks: Vec::new(),
        layer2: (!plan.all_switches_follow_routes()).then(|| layer2(&totals)),
        neighbours: plan.roce.neighbours.as_ref().map(|_| neighbours(&totals)),
        pfc: PfcCounts {
            pauses: totals.pauses,
            resumes: totals.resumes,
            paused_ps: totals.paused_time.ps(),
        },
        ecn: EcnCounts { marks: totals.ecn_marks },
        cnps: nics.cnps_sent.packets,
        cnms: totals.notifications.cnms,
        multicast_copies: totals.multicast_copies,
        switch_cnps: totals.notifications.cnps,
        naks: nics.naks_sent.packets,
        rnr_naks: nics.rnr_naks_received,
        late_connections: nics.late_connections,
        path_migrations: path_migrations(plan, network),
        completion_events: nics.completion_events,
        completions_after_events: nics.completions_after_events,
        timeouts: nics.timeouts,
        retransmissions: nics.retransmitted.packets,
        measured: None,
        sample_intervals: intervals(plan),
        opcodes: totals.opcodes.iter().map(|(&name, &count)| (name.to_owned(), count)).collect(),
        operations: Vec::new(),
        stalled: None,
        idle_queue_pairs: idle_queue_pairs(plan, network),
        frozen: None,
        transports: BTreeMap::new(),
        tcp: plan.tcp.is_some().then(|| tcp_counts(network)),
        streams: streams(plan, network),
        monitoring: None,
        collectives: Vec::new(),
        nvlink: None,
    }
}

/// The sampling intervals by the names of their sections.
fn intervals(plan: &Plan) -> BTreeMap<String, SampleInterval> {
    let named = plan.sampling.intervals();
    named.map(|(name, interval)| (name.to_owned(), interval)).collect()
}

/// What the subnet manager did, and credits.
fn infiniband<P: Profile>(
    (whole, plan): (&Plan, &InfiniBandPlan),
    network: WholeNetwork<'_, P>,
    totals: &Totals,
    nics: &Counters,
) -> InfiniBandCounts {
    let adaptive_routing = match whole.switch.load_balancing {
        LoadBalancing::AdaptiveGreedy => Some("greedy"),
        LoadBalancing::AdaptiveBounded => Some("bounded"),
        _ => None,
    };
    let routing = &plan.routed.routing;
    let mut counts = InfiniBandCounts {
        engine: routing.engine.name().to_owned(),
        refused: routing.refused.as_ref().map(|reason| RefusedEngine {
            engine: plan.manager.engine.name().to_owned(),
            reason: reason.clone(),
        }),
        adaptive_routing: adaptive_routing.map(str::to_owned),
        congestion_control: plan.congestion_control.as_ref().map(|_| CongestionCounts {
            fecn: totals.ecn_marks,
            cn_received: nics.cnps_received,
            becn_acks_received: nics.becn_acks_received,
        }),
        data_vls: plan.data_vls,
        lanes_needed: routing.tables.lanes,
        credit_wait_ps: totals.paused_time.ps(),
        ..InfiniBandCounts::default()
    };
    for view in network.ports() {
        let of_port = view.port.flow_control().credit_counts();
        counts.flow_control_packets += of_port.updates;
        counts.credit_waits += of_port.waits;
    }
    counts
}

/// What the routing engine refused after failures, and who routed in its place.
fn refused_reroutes(plan: &Plan, end: SimTime) -> Vec<RefusedReroute> {
    /// Sets of links that are looked at.
    const MOST: usize = 64;
    let refused = |Resweep { at, routed }: Resweep| {
        let (engine, reason) = match routed {
            Ok(routed) => (Some(routed.routing.engine.name().to_owned()), routed.routing.refused?),
            Err(reason) => (None, reason),
        };
        Some(RefusedReroute { at_ps: at.ps(), engine, reason })
    };
    plan.resweeps(end, MOST).filter_map(refused).collect()
}

/// The names of the frames that stop links, if some are not those of PFC.
fn flow_controls(plan: &Plan) -> Vec<String> {
    let own = plan.ports_of_their_own().map(|(node, port)| plan.port_at(node, port));
    let names = own.chain([&plan.switch]).map(|config| config.flow_control.frame_name());
    let names: BTreeSet<_> = names.collect();
    if names == BTreeSet::from(["PFC"]) || plan.infiniband.is_some() {
        return Vec::new();
    }
    names.into_iter().map(str::to_owned).collect()
}

/// The first queue pairs that could send and did not.
fn idle_queue_pairs<P: Profile>(
    plan: &Plan,
    network: WholeNetwork<'_, P>,
) -> Vec<IdleQueuePairRecord> {
    let found = network.idle_backlogs();
    let record = |&(node, IdleBacklog { qpn, since, until, rate_bps }): &(NodeId, IdleBacklog)| {
        IdleQueuePairRecord {
            host: plan.topology.nodes[node as usize].name.clone(),
            qpn,
            flow: network.flow_of(node, qpn).map(u64::from),
            since_ps: since.ps(),
            until_ps: until.ps(),
            rate_bps,
        }
    };
    found.iter().take(IDLE_QUEUE_PAIRS_SHOWN).map(record).collect()
}

/// Goodput of the flows that something carries, or of all, at the end of a run.
pub(super) fn goodput(
    plan: &Plan,
    statistics: &FlowStatistics,
    transport: Option<Transport>,
    accepted: &DeliveryLog,
    end: SimTime,
) -> Option<Goodput> {
    if let Some(window) = plan.measure {
        let (from, to) = window.within(end);
        return Goodput::of_window(accepted, from.ps(), to.ps());
    }
    let flows = plan.flows.iter().filter(|flow| flow.start <= end);
    let flows = flows.filter(|flow| transport.is_none_or(|transport| flow.transport == transport));
    let mut offered = 0_u64;
    let started = flows
        .inspect(|flow| offered = offered.saturating_add(flow.bytes))
        .map(|flow| RunSpan::starting_at(flow.start.ps()))
        .reduce(RunSpan::with);
    let end = statistics.end_ps(end.ps()).unwrap_or(end.ps());
    Goodput::of(accepted, started?.until(end), is_most(accepted.total(), offered))
}

/// How many failures of each kind began.
fn failures(plan: &Plan, end: SimTime) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (_, kind) in plan.failures.begins.iter().filter(|(at, _)| *at <= end) {
        *counts.entry(kind.name().to_owned()).or_default() += 1;
    }
    counts
}

/// What TCP did in the words of the results.
fn tcp_counts<P: Profile>(network: WholeNetwork<'_, P>) -> TcpCounts {
    let counters = network.tcp_counters();
    TcpCounts {
        segments: counters.data_sent.packets,
        acknowledgements: counters.acks_sent.packets,
        retransmissions: counters.retransmitted.packets,
        fast_retransmits: counters.fast_retransmits,
        timeouts: counters.timeouts,
        ecn_reductions: counters.ecn_reductions,
    }
}

fn streams<P: Profile>(plan: &Plan, network: WholeNetwork<'_, P>) -> Vec<StreamRecord> {
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
    let record = |(stream, counts): (&StreamPlan, StreamCounts)| StreamRecord {
        stack: stream.config.stack().to_owned(),
        source: name(stream.source),
        destination: name(stream.destination),
        sent_packets: counts.sent_packets,
        sent_bytes: counts.sent_bytes,
        delivered_packets: counts.delivered_packets,
        delivered_bytes: counts.delivered_bytes,
    };
    plan.streams.all.iter().zip(network.stream_counts()).map(record).collect()
}

fn neighbours(totals: &Totals) -> NeighbourCounts {
    let NeighbourTotals { solicitations, advertisements } = totals.layer2.neighbours;
    NeighbourCounts { solicitations, advertisements }
}

fn layer2(totals: &Totals) -> Layer2Counts {
    Layer2Counts {
        floods: totals.layer2.floods,
        flooded_frames: totals.layer2.flooded_frames,
        mac_learnt: totals.layer2.mac_entries.learnt,
        mac_aged: totals.layer2.mac_entries.aged,
    }
}

/// Whether a summary counts messages: those of flows, where nothing is sent again.
fn counts_messages(plan: &Plan) -> bool {
    !plan.service().is_reliable() && !plan.flows.is_empty()
}

/// What integrity mode found; of what is wrong the first [`VIOLATIONS_SHOWN`].
fn integrity(report: IntegrityReport) -> IntegrityResult {
    let shown = report.violations.iter().take(VIOLATIONS_SHOWN);
    IntegrityResult {
        flows: report.flows,
        bytes: report.bytes,
        failed: report.failed.iter().copied().map(u64::from).collect(),
        violations: report.violations.len() as u64,
        found: shown
            .map(|violation| IntegrityViolation {
                flow: violation.flow.into(),
                kind: violation.promise.broken().into(),
                offset: violation.offset,
                expected: violation.expected.clone(),
                found: violation.found.clone(),
            })
            .collect(),
    }
}

/// What each fault rule did, in the order of the scenario.
fn fault_rules<P: Profile>(plan: &Plan, network: WholeNetwork<'_, P>) -> Vec<FaultRuleCounts> {
    let rules = plan.faults.iter().zip(network.fault_counts());
    let counts = |(rule, counts): (&FaultRule, FaultCounts)| FaultRuleCounts {
        rule: rule.name.clone(),
        action: rule.action.name().into(),
        matched: counts.matched,
        acted: counts.acted,
    };
    rules.map(counts).collect()
}

/// What slow receivers did, in the words of the results.
fn path_migrations<P: Profile>(
    plan: &Plan,
    network: WholeNetwork<'_, P>,
) -> Vec<PathMigrationRecord> {
    let record = |(node, migration): (NodeId, PathMigration)| PathMigrationRecord {
        time_ps: migration.time.ps(),
        host: plan.topology.nodes[node as usize].name.clone(),
        qpn: migration.qpn,
        flow: network.flow_of(node, migration.qpn).map(u64::from),
    };
    network.path_migrations().into_iter().map(record).collect()
}

fn slow_receivers<P: Profile>(
    plan: &Plan,
    network: WholeNetwork<'_, P>,
) -> Vec<SlowReceiverRecord> {
    let record = |(node, counts): (NodeId, ReceiverCounts)| SlowReceiverRecord {
        host: plan.topology.nodes[node as usize].name.clone(),
        frames: counts.frames,
        max_bytes: counts.max_bytes,
        pauses: counts.pauses,
        translations: counts.translations,
        misses: counts.misses,
    };
    network.slow_receivers().map(record).collect()
}
