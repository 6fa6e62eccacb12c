//! Laws that hold for every run, whatever its scenario.

use std::io::Cursor;

use rocelab_capture::{CaptureReader, CapturedFrame, Survey, Verifier};
use rocelab_fabric::DropReason;
use rocelab_results::{
    FlowRecord, FlowStatus, LinkRecord, OperationRecord, OperationStatus, RateSample, RunInfo,
    UtilisationSample,
};
use rocelab_sim::Scenario;
use rocelab_sim::proof::Verdict;
use rocelab_sim::{Ending, Planning};
use rocelab_units::Bandwidth;
use serde::de::DeserializeOwned;
use toml::Value;

use crate::Violation;
use crate::carry_out::{Bench, Ran, guarded};
use crate::scenario::Made;

/// Reasons of drops of flooded copies that nobody needs.
const HARMLESS: [&str; 2] = ["foreign_destination", "filtered"];
/// Faults of captures that do not have all packets of a host.
const GAPS: [&str; 3] = ["psn_gap", "answers_nothing", "answered_early"];
/// The lowest default rate of any algorithm (bit/s).
const DEFAULT_FLOOR: u64 = 1_000_000;
/// The largest overhead of a frame (bytes).
const OVERHEAD: u64 = 300;

/// A run with its results.
struct Seen<'a> {
    ran: &'a Ran,
    made: &'a Made,
    flows: Vec<FlowRecord<'static>>,
    operations: Vec<OperationRecord<'static>>,
    links: Vec<LinkRecord<'static>>,
}

type Law = fn(&Seen<'_>) -> Result<(), String>;

/// Laws by name, in the order in which they are checked.
const LAWS: &[(&str, Law)] = &[
    ("counts", counts),
    ("integrity", integrity),
    ("failed", failed),
    ("unfinished", unfinished),
    ("deadlock", deadlock),
    ("lossless", lossless),
    ("slowdown", slowdown),
    ("rate", rate),
    ("samples", samples),
    ("capture", capture),
];

/// Checks all laws.
pub(crate) fn check(bench: &Bench, made: &Made, ran: &Ran) -> Result<(), Violation> {
    guarded(|| {
        resolved(bench).map_err(|text| Violation::new("resolved", text))?;
        // The table is only made because it must not panic.
        let table = rocelab_report::summary_table(&ran.summary, &RunInfo::default(), &bench.file);
        if table.is_empty() {
            return Err(Violation::new("report", "the table of the run is empty"));
        }
        let seen = Seen {
            ran,
            made,
            flows: rows(ran, "flows.csv")?,
            operations: rows(ran, "operations.csv")?,
            links: rows(ran, "links.csv")?,
        };
        LAWS.iter()
            .try_for_each(|&(name, law)| law(&seen).map_err(|text| Violation::new(name, text)))
    })
}

/// The rows of a file of the results; empty if there is no such file.
fn rows<T: DeserializeOwned>(ran: &Ran, file: &str) -> Result<Vec<T>, Violation> {
    let bytes = ran.files.get(file).map(Vec::as_slice).unwrap_or_default();
    let rows: Result<Vec<T>, csv::Error> = csv::Reader::from_reader(bytes).deserialize().collect();
    rows.map_err(|error| Violation::new("counts", format!("{file}: {error}")))
}

impl Seen<'_> {
    fn key(&self, section: &str, key: &str) -> Option<&Value> {
        self.made.table.get(section)?.get(key)
    }

    /// Whether frames were lost or overtook each other, or may be late for longer than any timeout.
    fn has_trouble(&self) -> bool {
        let summary = &self.ran.summary;
        let acted = summary.faults.iter().any(|rule| rule.acted > 0);
        let stuck = !summary.deadlocks.is_empty() || summary.storms > 0;
        let reorders = self.may_reorder();
        self.lost() > 0 || reorders || acted || !summary.failures.is_empty() || stuck
    }

    /// Whether packets of one queue pair may take several paths.
    fn may_reorder(&self) -> bool {
        let sm = self.key("infiniband", "sm");
        self.key("roce", "path_entropy").is_some()
            || self.key("switch", "load_balancing").is_some()
            || sm.is_some_and(|sm| sm.get("adaptive_routing").is_some())
    }

    /// Number of lost frames that somebody needs.
    fn lost(&self) -> u64 {
        let drops = &self.ran.summary.drops.by_reason;
        let floods = self.ran.summary.layer2.is_some_and(|layer2| layer2.floods > 0);
        let counts = |reason: &str| !(floods && HARMLESS.contains(&reason));
        drops.iter().filter(|(reason, _)| counts(reason)).map(|(_, frames)| frames).sum()
    }

    /// An upper bound of the time that a frame and the answer to it wait (ps): all queues, pauses,
    /// cables and switches in sequence, with all payload ahead of it.
    fn longest_wait(&self) -> u64 {
        // Then links.csv does not have all of the run, or hosts let frames wait that no table tells of.
        if self.ran.plan.measure.is_some() || !self.ran.plan.host_models.is_empty() {
            return u64::MAX;
        }
        let slowest = self.slowest_rate();
        let time = |bytes: u64, rate: u64| {
            let bits = u128::from(bytes) * 8_000_000_000_000;
            u64::try_from(bits / u128::from(rate.max(1))).unwrap_or(u64::MAX)
        };
        let sum = |total: u64, more: u64| total.saturating_add(more);
        let slow = |link: &LinkRecord<'_>| time(link.max_queue_bytes, link.rate_bps.min(slowest));
        let queues = self.links.iter().map(slow);
        let pauses = self.links.iter().map(|link| link.paused_ps);
        let busiest =
            self.links.iter().map(|link| time(link.bytes + 20 * link.frames, link.rate_bps));
        let topology = &self.ran.plan.topology;
        let cables = topology.links.iter().map(|link| 2 * link.delay.ps());
        let switches = topology.switches().count() as u64 * 2 * 20_000_000;
        let all = queues.chain(pauses).chain(cables).fold(switches, sum);
        // Payload that a host sends at the lowest rate before it requests an acknowledgement, or
        // that a slow receiver holds.
        let interval = self.key("roce", "ack_interval").and_then(Value::as_integer).unwrap_or(1);
        let packets = interval.unsigned_abs().saturating_add(8);
        let packets = packets * (u64::from(self.ran.plan.path_mtu()) + OVERHEAD);
        let receivers = self.ran.summary.slow_receivers.iter().map(|one| one.max_bytes);
        let paced = time(packets + receivers.max().unwrap_or(0), slowest.min(DEFAULT_FLOOR));
        [all, paced, busiest.max().unwrap_or(0)].into_iter().fold(all, sum)
    }

    /// The lowest rate in the scenario: of links, shapers, receivers and algorithms (bit/s).
    fn slowest_rate(&self) -> u64 {
        fn lowest(value: &Value) -> u64 {
            match value {
                Value::Table(table) => table.values().map(lowest).min().unwrap_or(u64::MAX),
                Value::Array(array) => array.iter().map(lowest).min().unwrap_or(u64::MAX),
                Value::String(text) => {
                    text.parse().map_or(u64::MAX, |rate: Bandwidth| rate.bits_per_second())
                }
                _ => u64::MAX,
            }
        }
        self.made.table.values().map(lowest).min().unwrap_or(u64::MAX)
    }

    /// The total time that a requester waits for an acknowledgement (ps); unlimited without a
    /// timer. With go-back-0, a late acknowledgement does not count for a message that was started
    /// again.
    fn patience(&self) -> u64 {
        let number = |key, default| {
            self.key("roce", key).and_then(Value::as_integer).unwrap_or(default).unsigned_abs()
        };
        let timer = number("ack_timeout", 14);
        let one = match timer {
            0 => u64::MAX,
            _ => 4_096_000 << timer,
        };
        let one = if self.key("roce", "timeouts").is_some() { 100_000_000 } else { one };
        let recovery = self.key("roce", "recovery").and_then(Value::as_str);
        if recovery == Some("go-back-0") {
            one
        } else {
            one.saturating_mul(1 + number("retry_count", 7))
        }
    }

    /// The total time that a host waits for a MAC address (ps), if it asks for any.
    fn neighbour_patience(&self) -> Option<u64> {
        let neighbours = self.ran.plan.roce.neighbours.as_ref()?;
        Some(neighbours.retransmit.ps().saturating_mul(neighbours.attempts.into()))
    }

    /// The total time that a host waits for a connection (ps).
    fn connection_patience(&self) -> u64 {
        let cm = self.key("roce", "cm");
        let number = |key, default| {
            let value = cm.and_then(|cm| cm.get(key)).and_then(Value::as_integer);
            value.unwrap_or(default).unsigned_abs()
        };
        // This is the time to wait for a REP. For a REQ it is longer, by two packet lifetimes.
        let one = 4_096_000_u64 << number("response_timeout", 20);
        one.saturating_mul(1 + number("retries", 15))
    }
}

/// The resolved scenario, with all defaults, is valid and gives itself.
fn resolved(bench: &Bench) -> Result<(), String> {
    let scenario = Scenario::load(&bench.file, &[]).map_err(|error| error.to_string())?;
    let text = scenario.resolved().to_toml().map_err(|error| error.to_string())?;
    let again = Scenario::parse(&text, &bench.file, &[]).map_err(|error| error.to_string())?;
    again.plan().map_err(|error| format!("the resolved scenario is refused: {error}"))?;
    let twice = again.resolved().to_toml().map_err(|error| error.to_string())?;
    if text == twice { Ok(()) } else { Err("the resolved scenario resolves otherwise".to_owned()) }
}

/// Files and summary have the same counts.
fn counts(seen: &Seen<'_>) -> Result<(), String> {
    let summary = &seen.ran.summary;
    let with = |wanted: fn(FlowStatus) -> bool| {
        seen.flows.iter().filter(|flow| wanted(flow.status)).count() as u64
    };
    let completed = with(|status| status == FlowStatus::Completed);
    let unfinished = with(|status| status == FlowStatus::Unfinished);
    let all = seen.flows.len() as u64;
    let found = (all, completed, all - completed - unfinished, unfinished);
    let flows = summary.all_flows();
    let told = (flows.total, flows.completed, flows.failed, flows.unfinished);
    if found != told {
        return Err(format!("flows.csv has {found:?} flows, the summary {told:?}"));
    }
    let drops = seen.ran.files.get("drops.csv").map(Vec::as_slice).unwrap_or_default();
    let drops = csv::Reader::from_reader(drops).into_records().count() as u64;
    if drops != summary.drops.total {
        return Err(format!("drops.csv has {drops} drops, the summary {}", summary.drops.total));
    }
    let late = |end: Option<u64>| end.is_some_and(|end| end > summary.simulated_ps);
    let ends = seen.flows.iter().map(|flow| flow.fct_ps.map(|fct| flow.start_ps + fct));
    if ends.chain(seen.operations.iter().map(|operation| operation.end_ps)).any(late) {
        return Err(format!("something ended after the run, at {} ps", summary.simulated_ps));
    }
    Ok(())
}

/// No guarantee of the transport is violated.
fn integrity(seen: &Seen<'_>) -> Result<(), String> {
    match &seen.ran.summary.integrity {
        Some(integrity) if integrity.violations > 0 => Err(format!("{:?}", integrity.found)),
        _ => Ok(()),
    }
}

/// Every failure has a cause in the scenario.
fn failed(seen: &Seen<'_>) -> Result<(), String> {
    let trouble = seen.has_trouble();
    for flow in &seen.flows {
        let has_cause = match flow.status {
            FlowStatus::Completed | FlowStatus::Unfinished => true,
            FlowStatus::RetryExceeded => trouble || gives_up(seen),
            FlowStatus::ConnectionTimedOut => {
                trouble || seen.connection_patience() < seen.longest_wait()
            }
            FlowStatus::MessagesLost => trouble,
            FlowStatus::AddressUnresolved => seen
                .neighbour_patience()
                .is_some_and(|patience| trouble || patience < seen.longest_wait()),
            _ => false,
        };
        if !has_cause {
            return Err(format!(
                "flow {} failed without a cause: {}",
                flow.flow,
                flow.status.name()
            ));
        }
    }
    let mut flushed = None;
    for operation in &seen.operations {
        let has_cause = match operation.status {
            OperationStatus::Completed | OperationStatus::Unfinished => true,
            OperationStatus::RetryExceeded => trouble || gives_up(seen),
            OperationStatus::RnrRetryExceeded => {
                let retries = seen.key("roce", "rnr_retry").and_then(Value::as_integer);
                seen.ran.summary.rnr_naks > 0 && retries.is_some_and(|retries| retries < 7)
            }
            OperationStatus::Flushed => {
                flushed = flushed.or(Some(operation.connection));
                true
            }
            OperationStatus::RemoteInvalidRequest | OperationStatus::RemoteAccess => false,
        };
        if !has_cause {
            let name = operation.status.name();
            let (connection, number) = (operation.connection, operation.operation);
            return Err(format!("operation {connection}:{number} failed without a cause: {name}"));
        }
    }
    // When one operation fails, other operations of its connection end.
    let first = |connection: u32| {
        seen.operations.iter().any(|operation| {
            let is_end = !matches!(
                operation.status,
                OperationStatus::Completed | OperationStatus::Unfinished | OperationStatus::Flushed
            );
            operation.connection == connection && is_end
        })
    };
    // The server's queue pair may have failed, or work that belongs to no operation.
    match flushed.filter(|&connection| !trouble && !first(connection)) {
        Some(connection) => Err(format!("connection {connection} was flushed for no reason")),
        None => Ok(()),
    }
}

/// Whether requesters give up although nothing is lost, because their timers are shorter than the
/// round-trip time.
fn gives_up(seen: &Seen<'_>) -> bool {
    seen.ran.summary.timeouts > 0 && seen.patience() < seen.longest_wait()
}

/// An unfinished flow was in progress, or something was lost.
fn unfinished(seen: &Seen<'_>) -> Result<(), String> {
    let summary = &seen.ran.summary;
    let operations: u64 = summary.operations.iter().map(|app| app.unfinished).sum();
    let unfinished = summary.all_flows().unfinished;
    let open = unfinished + operations;
    // A server whose queue pair has failed does not answer its client, which then starts nothing
    // more.
    let alone = seen.has_trouble() || summary.operations.iter().any(|app| app.failed > 0);
    match seen.ran.ending {
        Ending::Finished if unfinished > 0 || operations > 0 && !alone => {
            Err(format!("{open} are open, and the run has finished"))
        }
        Ending::Stalled
            if !seen.has_trouble() && summary.rnr_naks == 0 && summary.timeouts == 0 =>
        {
            let stalled = summary.stalled.as_ref().map(ToString::to_string).unwrap_or_default();
            Err(format!("{open} are open, and nothing moves: {stalled}"))
        }
        _ => Ok(()),
    }
}

/// There is no deadlock if it is proved that none is possible.
fn deadlock(seen: &Seen<'_>) -> Result<(), String> {
    let proof = &seen.ran.proof;
    let is_proved = proof.not_checked.iter().all(|text| text.starts_with("marks before"))
        && proof.buffer_dependency.as_ref().is_some_and(|found| {
            let own = found.own_failures.as_ref();
            let may_close =
                own.is_some_and(|own| own.cycle.is_some() || own.cycle_of_mixed.is_some());
            found.cycle.is_none() && found.cycle_of_silent.is_none() && !may_close
        })
        && proof.pauses.is_empty();
    match seen.ran.summary.deadlocks.first() {
        Some(deadlock) if is_proved => Err(format!("`check` finds no cycle; {deadlock}")),
        _ => Ok(()),
    }
}

/// No frame of a lossless priority is dropped if this is proved.
fn lossless(seen: &Seen<'_>) -> Result<(), String> {
    let proof = &seen.ran.proof;
    let verdicts = (proof.headroom.iter().map(|finding| finding.verdict()))
        .chain(proof.egress_limits.iter().map(|finding| finding.verdict()))
        .chain(proof.receivers.iter().map(|finding| finding.verdict()));
    let is_proved = proof.not_checked.iter().all(|text| text.starts_with("marks before"))
        && proof.pauses.is_empty()
        && verdicts.into_iter().all(|verdict| verdict == Verdict::Proved)
        && !proof.headroom.is_empty();
    let for_want_of_memory =
        |reason: &str| DropReason::NAMES.contains(&reason) || reason == "receiver_full";
    let dropped: Vec<String> = (seen.ran.summary.lossless_drops.iter())
        .filter(|(reason, _)| for_want_of_memory(reason))
        .map(|(reason, frames)| format!("{reason} {frames}"))
        .collect();
    if is_proved && !dropped.is_empty() {
        return Err(format!("`check` proves that nothing is dropped: {}", dropped.join(", ")));
    }
    Ok(())
}

/// Nothing is faster than in an empty network, whichever links fail.
fn slowdown(seen: &Seen<'_>) -> Result<(), String> {
    for flow in &seen.flows {
        let Some(fct) = flow.fct_ps else { continue };
        if fct < flow.ideal_fct_ps {
            let (number, ideal) = (flow.flow, flow.ideal_fct_ps);
            return Err(format!("flow {number} took {fct} ps, and ideally takes {ideal} ps"));
        }
    }
    Ok(())
}

/// No host receives more than its link can carry.
fn rate(seen: &Seen<'_>) -> Result<(), String> {
    let rate_of = |node: &str| {
        let own = seen.links.iter().filter(|link| link.from == node);
        own.map(|link| link.rate_bps).max().unwrap_or(0)
    };
    for flow in &seen.flows {
        let most = rate_of(&flow.source).min(rate_of(&flow.destination));
        if flow.goodput_bps().is_some_and(|goodput| goodput > most) {
            return Err(format!("flow {} got more than {most} bit/s", flow.flow));
        }
    }
    for link in &seen.links {
        if link.utilisation.as_f64() > 1.000_001 {
            let (from, port) = (&link.from, link.from_port);
            return Err(format!("{from}:{port} is used by {}", link.utilisation));
        }
    }
    Ok(())
}

/// The same for every interval, except for the frame at its edge.
fn samples(seen: &Seen<'_>) -> Result<(), String> {
    let interval = |what: &str| {
        let text = seen.key("sample", what)?.get("interval")?.as_str()?;
        Some(text.strip_suffix("ns")?.parse::<u64>().ok()?.saturating_mul(1_000))
    };
    let frame = |interval_ps: u64, bytes: u64| bytes as f64 * 8e12 / interval_ps.max(1) as f64;
    let mtu = u64::from(seen.ran.plan.path_mtu().max(9_000)) + OVERHEAD;
    let failed = |violation: Violation| violation.text;
    if let Some(interval) = interval("utilisation") {
        let rows: Vec<UtilisationSample<'_>> =
            rows(seen.ran, "samples/utilisation.csv").map_err(failed)?;
        for row in rows {
            let used = row.rate_bps as f64;
            let rate = used / row.utilisation.as_f64().max(1e-9);
            // The last interval may be shorter than the others.
            let is_whole = row.time_ps.is_multiple_of(interval);
            if is_whole && used > rate * 1.001 + frame(interval, mtu) {
                return Err(format!(
                    "{}:{} sent {used} bit/s at {} ps",
                    row.node, row.port, row.time_ps
                ));
            }
        }
    }
    // A message that may be discarded counts only when it is complete.
    let recovery = seen.key("roce", "recovery").and_then(Value::as_str);
    let is_gradual = recovery != Some("go-back-0") && !seen.has_trouble();
    let Some(interval) = interval("rates").filter(|_| is_gradual) else { return Ok(()) };
    let rows: Vec<RateSample<'_>> = rows(seen.ran, "samples/rates.csv").map_err(failed)?;
    for row in rows.iter().filter(|row| row.time_ps.is_multiple_of(interval)) {
        let flow = &seen.ran.plan.flows[usize::try_from(row.flow).unwrap_or(0)];
        let hosts = [flow.source, flow.destination];
        let names = hosts.map(|host| seen.ran.plan.topology.nodes[host as usize].name.as_str());
        let own = seen.links.iter().filter(|link| names.contains(&&*link.from));
        let most = own.map(|link| link.rate_bps).min().unwrap_or(0) as f64;
        let Some(goodput) = row.goodput_bps else { continue };
        let goodput = goodput as f64;
        if goodput > most + frame(interval, mtu) {
            return Err(format!(
                "flow {} got {goodput} bit/s at {} ps of {most}",
                row.flow, row.time_ps
            ));
        }
    }
    Ok(())
}

/// A capture of a correct network has no faults. If frames were lost, it may have gaps; if fault
/// rules changed frames, it has the faults that they made. If packets take several paths, none of these
/// ports sees all packets of a message, or sees them in order.
fn capture(seen: &Seen<'_>) -> Result<(), String> {
    let floods = seen.ran.summary.layer2.is_some_and(|layer2| layer2.floods > 0);
    // If all packets are to or from one host, a port to which they are flooded looks like that
    // host's port.
    let has_gaps = floods || seen.has_trouble();
    let acted = seen.ran.summary.faults.iter().any(|rule| rule.acted > 0);
    let is_changed = acted || seen.may_reorder();
    let captures = seen.ran.files.iter().filter(|(name, _)| name.contains(".pcap"));
    for (name, bytes) in captures {
        let failed = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let mut survey = Survey::default();
        each_frame(bytes, |frame| {
            survey.note(frame);
            Ok(())
        })
        .map_err(|error| failed(&error))?;
        let mut verifier = Verifier::with(survey);
        each_frame(bytes, |frame| {
            let verified = verifier.verify(frame);
            let faults = verified.faults.iter().map(ToString::to_string);
            let is_excused = |fault: &String| {
                is_changed || has_gaps && GAPS.iter().any(|name| fault.starts_with(name))
            };
            match faults.into_iter().find(|fault| !is_excused(fault)) {
                Some(fault) => Err(format!("frame {}: {fault}", verified.number)),
                None => Ok(()),
            }
        })
        .map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Calls a function for each frame of a capture.
fn each_frame(
    capture: &[u8],
    mut shown: impl FnMut(&CapturedFrame<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = CaptureReader::new(Cursor::new(capture)).map_err(|error| error.to_string())?;
    while let Some(frame) = reader.next_frame() {
        shown(&frame.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}
