//! The summary of a run.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_results::{
    EcnCounts, FaultRuleCounts, FlowStatistics, IntegrityResult, IntegrityViolation, Layer2Counts,
    LinkTraversals, PfcCounts, SlowReceiverRecord, Summary, TcpCounts,
};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use crate::network::{FaultCounts, IntegrityReport, ReceiverCounts, Totals};
use crate::profile::Profile;
use crate::simulation::{Ending, Simulation, WholeNetwork};
use crate::{FaultRule, Plan};

/// Broken promises that `summary.json` describes, at the most; it counts all.
const VIOLATIONS_SHOWN: usize = 16;

/// The content of `summary.json` as far as the network knows it.
pub(super) fn summary<P: Profile>(
    plan: &Plan,
    simulation: &Simulation<P>,
    statistics: &FlowStatistics,
    ending: Ending,
) -> Summary {
    let network = simulation.network();
    let totals = network.totals(simulation.now());
    let nics = network.nic_counters();
    let mut drops = rocelab_results::DropCounts::default();
    for (reason, &frames) in &totals.drops {
        drops.add_frames(reason, frames);
    }
    Summary {
        scenario: plan.name.clone(),
        seed: plan.seed,
        roce_version: if plan.roce.encapsulation == Encapsulation::V1 { 1 } else { 2 },
        incomplete: ending == Ending::Interrupted,
        digest: format!("{:016x}", network.digest()),
        simulated_ps: simulation.now().ps(),
        link_traversals: LinkTraversals {
            total: totals.traversals.total(),
            data: totals.traversals.data,
            ack: totals.traversals.ack,
            control: totals.traversals.control,
        },
        flows: statistics.counts(),
        goodput_bps: statistics.goodput_bps(),
        fct_ps: statistics.fct_ps(),
        slowdown: statistics.slowdown(),
        messages: counts_messages(plan).then(|| statistics.messages()),
        drops,
        lossless_drops: BTreeMap::new(),
        failures: failures(plan, simulation.now()),
        faults: fault_rules(plan, network),
        integrity: network.integrity().map(integrity),
        storms: totals.storms,
        slow_receivers: slow_receivers(plan, network),
        deadlocks: Vec::new(),
        layer2: (!plan.tables.are_complete()).then(|| layer2(&totals)),
        pfc: PfcCounts {
            pauses: totals.pauses,
            resumes: totals.resumes,
            paused_ps: totals.paused_time.ps(),
        },
        ecn: EcnCounts { marks: totals.ecn_marks },
        cnps: nics.cnps_sent.packets,
        cnms: totals.cnms,
        naks: nics.naks_sent.packets,
        rnr_naks: nics.rnr_naks_received,
        timeouts: nics.timeouts,
        retransmissions: nics.retransmitted.packets,
        opcodes: totals.opcodes.iter().map(|(&name, &count)| (name.to_owned(), count)).collect(),
        operations: Vec::new(),
        stalled: None,
        transports: BTreeMap::new(),
        tcp: plan.tcp.is_some().then(|| tcp_counts(network)),
    }
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

fn layer2(totals: &Totals) -> Layer2Counts {
    Layer2Counts {
        floods: totals.floods,
        flooded_frames: totals.flooded_frames,
        mac_learnt: totals.mac_entries.learnt,
        mac_aged: totals.mac_entries.aged,
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
