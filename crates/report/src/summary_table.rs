//! A run's results as a table for a terminal.

use std::fmt::Write as _;
use std::path::Path;

use rocelab_results::{
    BranchRecord, CollectiveSummary, CongestionCounts, FrozenRecord, InfiniBandCounts,
    IntegrityViolation, MeasuredWindow, MessageCounts, MonitoredPair, MonitoringSummary,
    NvlinkCounts, OperationCounts, RefusedEngine, RefusedReroute, RunInfo, Summary,
};

use rocelab_units::Bytes;

use crate::frozen::{held, roots};
use crate::numbers::{count, counted, in_unit, memory, ratio, rounded_count, time, time_unit};
use crate::percentiles::{completed_of, operations_of, percentile_texts};
use crate::{goodput, idle_queue_pair_texts};

/// Width of the labels on the left.
const LABEL: usize = 17;
/// Width of the labels of percentiles, and of each of their seven columns.
const NARROW: usize = 10;

/// Width of a terminal.
const COLUMNS: usize = 80;

/// A run's results in at most 80 columns, for texts of usual length: flows, goodput, percentiles of
/// completion time and slowdown, flow and congestion control, losses, speed, digest, and the path
/// of the `results`. Ends with a newline.
pub fn summary_table(summary: &Summary, run: &RunInfo, results: &Path) -> String {
    let mut table = heading(summary);
    table += &percentiles(summary);
    for app in &summary.operations {
        table += &latencies(app);
    }
    if let Some(window) = &summary.measured {
        line(&mut table, "Measured", &measured(window));
    }
    if summary.flows.total > 0 || summary.operations.is_empty() {
        line(&mut table, "Flows", &flows(summary));
        for (label, text) in goodput::lines(summary.goodput_bps, summary.goodput.as_ref()) {
            line(&mut table, label, &text);
        }
    }
    if let Some(frozen) = &summary.frozen {
        line(&mut table, "Frozen", &frozen_line(frozen));
    }
    if let Some(messages) = &summary.messages {
        line(&mut table, "Messages", &message_counts(messages));
    }
    transports(&mut table, summary);
    operations(&mut table, summary);
    for collective in &summary.collectives {
        collectives(&mut table, collective);
    }
    streams(&mut table, summary);
    if let Some(monitoring) = &summary.monitoring {
        pings(&mut table, monitoring);
    }
    if let Some(nvlink) = &summary.nvlink {
        line(&mut table, "NVLink", &nvlink_line(nvlink));
    }
    if let Some(infiniband) = &summary.infiniband {
        line(&mut table, "Subnet", &subnet(infiniband));
    }
    let marks = summary.infiniband.as_ref().map(|own| own.congestion_control);
    let (marking, marked) = match marks {
        None => ("ECN", Some(ecn(summary))),
        Some(marks) => ("FECN", marks.map(fecn)),
    };
    for (label, text) in [
        (summary.flow_control().as_str(), pfc(summary)),
        (marking, marked.unwrap_or_default()),
        ("Drops", drops(summary)),
        ("Retransmissions", retransmissions(summary)),
        ("Link traversals", traversals(summary)),
        ("Speed", speed(run)),
        ("Cost", cost(run)),
    ] {
        // Where nothing marks, nothing is said.
        if !text.is_empty() {
            line(&mut table, label, &text);
        }
        if label == "Drops" {
            failures(&mut table, summary);
            faults(&mut table, summary);
            integrity(&mut table, summary);
            idle_queue_pairs(&mut table, summary);
        }
    }
    // These texts are not cut into lines, however long they are, so that they can be copied.
    unbroken_line(&mut table, "Digest", &summary.digest);
    unbroken_line(&mut table, "Results", &results.display().to_string());
    table
}

fn heading(summary: &Summary) -> String {
    let interrupted = if summary.incomplete { ", INTERRUPTED there" } else { "" };
    let labels = summary.labels.iter().map(|(name, text)| format!("{name} = {text}"));
    let labels = labels.collect::<Vec<_>>().join(", ");
    let labels = if labels.is_empty() { labels } else { format!(" ({labels})") };
    let branch = summary.branch.as_ref().map(|branch| format!("{}\n", branch_text(branch)));
    format!(
        "{}{labels}: {}, seed {}, {} simulated{interrupted}\n{}\n",
        summary.scenario,
        link_layer(summary),
        summary.seed,
        time(summary.simulated_ps),
        branch.unwrap_or_default()
    )
}

/// RoCE of a version, or InfiniBand.
pub(crate) fn link_layer(summary: &Summary) -> String {
    match summary.infiniband {
        Some(_) => "InfiniBand".to_owned(),
        None => format!("RoCE v{}", summary.roce_version),
    }
}

/// What a run is a branch of, and what was set there.
pub(crate) fn branch_text(branch: &BranchRecord) -> String {
    format!("branch of {} at {}: {}", branch.of, time(branch.at_ps), branch.set.join(", "))
}

/// A label and its text, in as many lines as needed.
fn line(table: &mut String, label: &str, text: &str) {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    for (label, text) in labels.zip(wrapped(text, COLUMNS - LABEL)) {
        unbroken_line(table, label, &text);
    }
}

/// A label and its text on one line, however long it is.
fn unbroken_line(table: &mut String, label: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(table, "{}", format!("{label:LABEL$}{text}").trim_end());
}

/// Lines of at most `width` columns, unless a single word is wider. A text that fits is not
/// changed.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            let _ = write!(line, " {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The measuring window, and what the figures of flows and operations leave out.
fn measured(window: &MeasuredWindow) -> String {
    let mut text = format!("from {} to {}", time(window.from_ps), time(window.to_ps));
    let outside = [(window.flows_outside.total, "flow"), (window.operations_outside, "operation")];
    let outside = outside.iter().filter(|(all, _)| *all > 0);
    let outside: Vec<_> = outside.map(|&(all, noun)| counted(all, noun)).collect();
    if !outside.is_empty() {
        let _ = write!(text, "; outside, and not counted: {}", outside.join(", "));
    }
    text
}

fn percentiles(summary: &Summary) -> String {
    let (Some(fct), Some(slowdown)) = (&summary.fct_ps, &summary.slowdown) else {
        return String::new();
    };
    let unit = time_unit(fct.p50);
    let completed = completed_of(summary);
    let fct = percentile_texts(fct, |ps| in_unit(ps, unit));
    let slowdown = percentile_texts(slowdown, |ratio| format!("{ratio:.2}"));
    let mut rows = percentile_row("", &NAMES.map(str::to_owned));
    rows += &percentile_row(&format!("FCT [{}]", unit.name), &fct);
    rows += &percentile_row("Slowdown", &slowdown);
    for text in completed.iter().flat_map(|text| wrapped(text, COLUMNS)) {
        let _ = writeln!(rows, "{text}");
    }
    rows.push('\n');
    rows
}

/// The names of the seven columns.
const NAMES: [&str; 7] = ["min", "mean", "p50", "p95", "p99", "p99.9", "max"];

/// A label and seven texts.
fn percentile_row(label: &str, cells: &[String; 7]) -> String {
    let mut row = format!("{label:NARROW$}");
    for cell in cells {
        let _ = write!(row, " {cell:>width$}", width = NARROW - 1);
    }
    row.push('\n');
    row
}

/// The percentiles of an application's latencies: of all operations, and of each kind if there are
/// several.
fn latencies(app: &OperationCounts) -> String {
    let Some(all) = &app.latency_ps else { return String::new() };
    let unit = time_unit(all.p50);
    // In a unit of which the least latency is less than a hundredth, it would be 0.00.
    let is_wide = all.min > 0 && all.min.saturating_mul(100) < unit.scale;
    let cell = |ps| if is_wide { time(ps) } else { in_unit(ps, unit) };
    let title = if is_wide { app.app.clone() } else { format!("{} [{}]", app.app, unit.name) };
    // A long name has a line of its own.
    let mut rows = if title.chars().count() > NARROW {
        format!("{title}\n{}", percentile_row("", &NAMES.map(str::to_owned)))
    } else {
        percentile_row(&title, &NAMES.map(str::to_owned))
    };
    let mut add = |name: &str, latency| {
        rows += &percentile_row(name, &percentile_texts(latency, cell));
    };
    add("latency", all);
    for (name, kind) in &app.kinds {
        if let Some(latency) = &kind.latency_ps {
            add(&format!("  {name}"), latency);
        }
    }
    rows.push('\n');
    rows
}

fn flows(summary: &Summary) -> String {
    let flows = &summary.flows;
    let mut text = format!("{} of {} completed", count(flows.completed), count(flows.total));
    for (number, name) in [(flows.failed, "failed"), (flows.unfinished, "unfinished")] {
        if number > 0 {
            let _ = write!(text, ", {} {name}", count(number));
        }
    }
    text
}

/// What pauses held at the end, and their roots.
fn frozen_line(frozen: &FrozenRecord) -> String {
    let (what, since) = (held(frozen), time(frozen.since_ps));
    format!("{what} since {since}, held by {}", roots(frozen, 1))
}

fn message_counts(messages: &MessageCounts) -> String {
    let mut text = format!("{} of {} delivered", count(messages.delivered), count(messages.total));
    if messages.lost > 0 {
        let _ = write!(text, ", {} lost", count(messages.lost));
    }
    text
}

/// The operations of each application: how they ended, how many per second, and their latencies.
fn operations(table: &mut String, summary: &Summary) {
    let labels = std::iter::once("Operations").chain(std::iter::repeat(""));
    for (label, app) in labels.zip(&summary.operations) {
        let mut text =
            format!("{}: {} of {} completed", app.app, count(app.completed), count(app.total));
        for (number, name) in [(app.failed, "failed"), (app.unfinished, "unfinished")] {
            if number > 0 {
                let _ = write!(text, ", {} {name}", count(number));
            }
        }
        line(table, label, &text);
        let goodput = goodput::headline(app.goodput_bps, app.goodput.as_ref());
        if app.latency_ps.is_some() {
            let open = app.open_mean.map(|open| format!(", {open:.2} open on average"));
            let open = open.unwrap_or_default();
            line(table, "", &format!("{}/s{open}", rounded_count(app.per_second)));
        }
        if app.latency_ps.is_some() || app.goodput.is_some() {
            line(table, "", &goodput);
        }
        for (name, kind) in &app.kinds {
            if let Some(per_second) = kind.per_second {
                let (completed, rate) = (count(kind.completed), rounded_count(per_second));
                line(table, "", &format!("{name}: {completed} completed, {rate}/s"));
            }
        }
        for text in operations_of(app).iter().flat_map(|text| wrapped(text, COLUMNS - NARROW)) {
            line(table, "", &text);
        }
    }
}

/// How many streams have a line.
const STREAMS: usize = 5;

/// A line for each of the first streams of hosts' stacks.
fn streams(table: &mut String, summary: &Summary) {
    let labels = std::iter::once("Streams").chain(std::iter::repeat(""));
    for (label, stream) in labels.zip(summary.streams.iter().take(STREAMS)) {
        let (delivered, sent) = (count(stream.delivered_packets), count(stream.sent_packets));
        let (stack, from, to) = (&stream.stack, &stream.source, &stream.destination);
        let text = format!("{stack} {from} to {to}: {delivered} of {sent} packets delivered");
        line(table, label, &text);
    }
    if let Some(more @ 1..) = summary.streams.len().checked_sub(STREAMS) {
        line(table, "", &format!("and {} more; see summary.json", count(more as u64)));
    }
}

/// The collective operations of a workload: their size and number, then bandwidth and time of those that count.
fn collectives(table: &mut String, collective: &CollectiveSummary) {
    let CollectiveSummary { name, kind, algorithm, ranks, bytes, measured, completed, .. } =
        collective;
    let (bytes, ranks) = (memory(*bytes), count((*ranks).into()));
    line(table, "Collective", &format!("{name}: {kind} of {bytes} by {algorithm}, {ranks} ranks"));
    let done = format!("{} of {} done", count(*completed), count(*measured));
    let (Some(busbw), Some(took)) = (&collective.busbw_bytes_per_s, &collective.time_ps) else {
        return line(table, "", &done);
    };
    let gigabytes = |rate: u64| format!("{}.{:02}", rate / GIGA, rate % GIGA / (GIGA / 100));
    let [least, middle, most] = [busbw.min, busbw.p50, busbw.max].map(gigabytes);
    let text = format!("{done}; bus bandwidth p50 {middle} GB/s ({least} to {most})");
    line(table, "", &text);
    let [p50, max] = [took.p50, took.max].map(time);
    line(table, "", &format!("time p50 {p50}, max {max}"));
}

/// Bytes of a gigabyte, as nccl-tests has it.
const GIGA: u64 = 1_000_000_000;

/// What went over NVLink.
fn nvlink_line(nvlink: &NvlinkCounts) -> String {
    let messages = counted(nvlink.messages, "message");
    let (bytes, servers) = (Bytes::new(nvlink.bytes), counted(nvlink.servers, "server"));
    let mut text = format!("{messages} of {bytes} in {servers}");
    if let Some(share) = nvlink.busiest_share {
        _ = write!(text, ", busiest host {:.1} %", share.as_f64() * 100.0);
    }
    if let Some(efficiency) = nvlink.efficiency {
        _ = write!(text, ", efficiency {}", ratio(efficiency));
    }
    text
}

/// What the mesh of pings has seen.
fn pings(table: &mut String, monitoring: &MonitoringSummary) {
    let MonitoringSummary { pairs, sent, answered, lost, undecided, .. } = *monitoring;
    let open = match undecided {
        0 => String::new(),
        open => format!(", {} not decided", count(open)),
    };
    let [pairs, sent, answered, lost] = [pairs, sent, answered, lost].map(count);
    line(
        table,
        "Pings",
        &format!("{sent} of {pairs} pairs, {answered} answered, {lost} lost{open}"),
    );
    if let Some(took) = &monitoring.round_trip_ps {
        let [p50, p99, max] = [took.p50, took.p99, took.max].map(time);
        line(table, "", &format!("round trip p50 {p50}, p99 {p99}, max {max}"));
    }
    let named = |pair: &MonitoredPair| format!("{} to {}", pair.source, pair.destination);
    if let Some(pair) = &monitoring.most_lost {
        let (lost, decided) = (count(pair.lost), count(pair.sent.saturating_sub(pair.undecided)));
        line(table, "", &format!("most lost: {}, {lost} of {decided}", named(pair)));
    }
    if let Some((pair, p50)) = monitoring.slowest.as_ref().and_then(|one| Some((one, one.p50_ps?)))
    {
        line(table, "", &format!("slowest: {}, p50 {}", named(pair), time(p50)));
    }
}

/// Queue pairs that could send but did not.
fn idle_queue_pairs(table: &mut String, summary: &Summary) {
    for text in idle_queue_pair_texts(summary) {
        line(table, "Warning", &text);
    }
}

fn pfc(summary: &Summary) -> String {
    if let Some(infiniband) = &summary.infiniband {
        return credits(infiniband);
    }
    let pfc = &summary.pfc;
    if pfc.pauses == 0 {
        return "no pauses".to_owned();
    }
    let mut text = format!(
        "{}, {}, {} paused in all",
        counted(pfc.pauses, "pause"),
        counted(pfc.resumes, "resume"),
        time(pfc.paused_ps)
    );
    if summary.storms > 0 {
        let _ = write!(text, ", {}", counted(summary.storms, "storm"));
    }
    text
}

/// Credits of InfiniBand.
fn credits(infiniband: &InfiniBandCounts) -> String {
    let packets = counted(infiniband.flow_control_packets, "flow control packet");
    match infiniband.credit_waits {
        0 => format!("{packets}; no lane waited for credits"),
        waits => format!(
            "{packets}; lanes waited {} for credits, {} in all",
            counted(waits, "time"),
            time(infiniband.credit_wait_ps)
        ),
    }
}

/// How the subnet manager routed.
fn subnet(infiniband: &InfiniBandCounts) -> String {
    let InfiniBandCounts { engine, data_vls, lanes_needed, refused, .. } = infiniband;
    let lanes = counted(u64::from(*data_vls), "data lane");
    let mut text = format!("{engine}, {lanes}");
    if let Some(choice) = &infiniband.adaptive_routing {
        let _ = write!(text, ", {choice} adaptive routing");
    }
    if *lanes_needed > 1 {
        let _ = write!(text, ", of which the engine needs {lanes_needed}");
    }
    if let Some(RefusedEngine { engine, reason }) = refused {
        let _ = write!(text, "; `{engine}` refused the subnet: {reason}");
    }
    let reroutes = &infiniband.refused_reroutes;
    if let Some(RefusedReroute { at_ps, engine, reason }) = reroutes.first() {
        let _ = write!(text, "; from {} on, after a failure, ", time(*at_ps));
        let _ = match engine {
            Some(engine) => write!(text, "{engine} in its place: {reason}"),
            None => write!(text, "tables stay as they were: {reason}"),
        };
    }
    if reroutes.len() > 1 {
        let _ = write!(text, " (and {} more)", counted(reroutes.len() as u64 - 1, "refusal"));
    }
    text
}

fn fecn(counts: CongestionCounts) -> String {
    let CongestionCounts { fecn, cn_received, becn_acks_received } = counts;
    let mut text = format!("{}, {}", counted(fecn, "mark"), counted(cn_received, "CN packet"));
    if becn_acks_received > 0 {
        let acks = counted(becn_acks_received, "acknowledgement");
        let _ = write!(text, ", {acks} with BECN");
    }
    text
}

fn ecn(summary: &Summary) -> String {
    let mut text =
        format!("{}, {}", counted(summary.ecn.marks, "mark"), counted(summary.cnps, "CNP"));
    if summary.switch_cnps > 0 {
        let _ = write!(text, ", {} of switches", counted(summary.switch_cnps, "CNP"));
    }
    if summary.cnms > 0 {
        let _ = write!(text, ", {} of QCN", counted(summary.cnms, "CNM"));
    }
    text
}

fn drops(summary: &Summary) -> String {
    if summary.drops.total == 0 {
        return "none".to_owned();
    }
    let reasons: Vec<_> = summary
        .drops
        .by_reason
        .iter()
        .filter(|(_, frames)| **frames > 0)
        .map(|(reason, frames)| format!("{reason} {}", count(*frames)))
        .collect();
    format!("{}: {}", counted(summary.drops.total, "frame"), reasons.join(", "))
}

/// The scenario's failures that happened, if any.
fn failures(table: &mut String, summary: &Summary) {
    if !summary.failures.is_empty() {
        line(table, "Failures", &by_kind(summary));
    }
}

/// The number of failures of each kind that began.
pub(crate) fn by_kind(summary: &Summary) -> String {
    let each = summary.failures.iter().map(|(kind, number)| format!("{} {kind}", count(*number)));
    each.collect::<Vec<_>>().join(", ")
}

/// A line for each fault rule, even if it matched no frame.
fn faults(table: &mut String, summary: &Summary) {
    let labels = std::iter::once("Faults").chain(std::iter::repeat(""));
    for (label, rule) in labels.zip(&summary.faults) {
        let (acted, matched) = (count(rule.acted), count(rule.matched));
        let text = format!("{}: {} {acted} of {matched} frames", rule.rule, rule.action);
        line(table, label, &text);
    }
}

/// A line for integrity mode, and one for each violation.
fn integrity(table: &mut String, summary: &Summary) {
    let Some(integrity) = &summary.integrity else { return };
    let mut text = match integrity.violations {
        0 if integrity.flows == 0 => "nothing was compared".to_owned(),
        0 => "kept".to_owned(),
        violations => counted(violations, "VIOLATION"),
    };
    let (flows, bytes) = (counted(integrity.flows, "flow"), counted(integrity.bytes, "byte"));
    if integrity.flows > 0 {
        let _ = write!(text, ": {flows}, {bytes} compared");
    }
    if !integrity.failed.is_empty() {
        let _ = write!(text, ", {} failed", count(integrity.failed.len() as u64));
    }
    line(table, "Integrity", &text);
    for violation in &integrity.found {
        let IntegrityViolation { flow, kind, offset, expected, found } = violation;
        line(table, "", &format!("flow {flow}, byte {offset}, {kind}:"));
        line(table, "", &format!("  expected {expected}"));
        line(table, "", &format!("  found    {found}"));
    }
}

fn retransmissions(summary: &Summary) -> String {
    let mut text = format!(
        "{}, {}, {}",
        counted(summary.retransmissions, "packet"),
        counted(summary.naks, "NAK"),
        counted(summary.timeouts, "timeout")
    );
    if summary.rnr_naks > 0 {
        let _ = write!(text, ", {}", counted(summary.rnr_naks, "RNR NAK"));
    }
    let migrations = summary.path_migrations.len() as u64;
    if migrations > 0 {
        let _ = write!(text, ", {}", counted(migrations, "path migration"));
    }
    text
}

/// If TCP carries flows beside RDMA: a line for each transport, and TCP's retransmissions.
fn transports(table: &mut String, summary: &Summary) {
    for (name, own) in &summary.transports {
        let mut text = format!(
            "{}, {}",
            counted(own.flows.total, "flow"),
            goodput::headline(own.goodput_bps, own.goodput.as_ref())
        );
        if let Some(fct) = &own.fct_ps {
            let [_, _, p50, _, p99, _, _] = percentile_texts(fct, time);
            let _ = write!(text, ", FCT p50 {p50}, p99 {p99}");
        }
        line(table, &format!("  {}", name.to_uppercase()), &text);
    }
    if let Some(tcp) = &summary.tcp {
        let again = count(tcp.retransmissions);
        let timeouts = counted(tcp.timeouts, "timeout");
        let text = format!("{}, {again} sent again, {timeouts}", counted(tcp.segments, "segment"));
        line(table, "  TCP sent", &text);
    }
}

fn traversals(summary: &Summary) -> String {
    let traversals = &summary.link_traversals;
    format!(
        "{} ({} data, {} ACK, {} control)",
        count(traversals.total),
        count(traversals.data),
        count(traversals.ack),
        count(traversals.control)
    )
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn speed(run: &RunInfo) -> String {
    format!("{} traversals per CPU second", rounded_count(run.traversals_per_cpu_s as u64))
}

fn cost(run: &RunInfo) -> String {
    let (wall, cpu, memory) = (run.wall_s, run.cpu_s, memory(run.peak_memory_bytes));
    match run.ranks {
        Some(ranks @ 2..) => {
            format!(
                "{wall:.2} s wall, {cpu:.2} s CPU of {ranks} ranks, {memory} of memory in one at the most"
            )
        }
        _ => format!("{wall:.2} s wall, {cpu:.2} s CPU, {memory} of memory"),
    }
}

#[cfg(test)]
mod tests {
    use rocelab_results::{Distribution, IntegrityResult};

    use super::*;

    fn integrity_line(result: IntegrityResult) -> String {
        let summary = Summary { integrity: Some(result), ..Summary::default() };
        let table = summary_table(&summary, &RunInfo::default(), Path::new("results"));
        table.lines().find(|line| line.starts_with("Integrity")).unwrap_or_default().to_owned()
    }

    #[test]
    fn what_several_ranks_cost_is_told_of_all() {
        let run =
            RunInfo { wall_s: 1.0, cpu_s: 3.5, peak_memory_bytes: 2_000_000, ..RunInfo::default() };
        assert_eq!(cost(&RunInfo { ranks: Some(1), ..run.clone() }), cost(&run));
        let several = cost(&RunInfo { ranks: Some(4), ..run });
        assert_eq!(
            several,
            "1.00 s wall, 3.50 s CPU of 4 ranks, 2.00 MB of memory in one at the most"
        );
    }

    #[test]
    fn watchdogs_and_qcn_are_told_where_they_did_something() {
        let mut summary = Summary { storms: 2, cnms: 1_052, ..Summary::default() };
        summary.pfc.pauses = 7;
        let table = summary_table(&summary, &RunInfo::default(), Path::new("results"));
        assert!(table.contains("0 ps paused in all, 2 storms\n"), "{table}");
        assert!(table.contains("0 marks, 0 CNPs, 1,052 CNMs of QCN\n"), "{table}");
    }

    #[test]
    fn latencies_that_differ_much_have_units_of_their_own() {
        let mut latencies = [vec![3_740_000], vec![2_560_000_000; 30]].concat();
        let latency_ps = Distribution::of(&mut latencies);
        let app = OperationCounts { app: "kv".to_owned(), latency_ps, ..<_>::default() };
        let expected = "kv               min      mean       p50       p95       p99     p99.9       max\n\
                        latency      3.74 us   2.48 ms   2.56 ms   2.56 ms         -         -   2.56 ms\n\n";
        assert_eq!(super::latencies(&app), expected);
    }

    #[test]
    fn of_many_streams_the_first_five_have_lines() {
        let lines = |number: usize| {
            let summary = Summary { streams: vec![<_>::default(); number], ..Summary::default() };
            let table = summary_table(&summary, &RunInfo::default(), Path::new("results"));
            (
                table.matches("packets delivered").count(),
                table.contains("and 1,995 more; see summary.json\n"),
            )
        };
        assert_eq!([5, 2_000].map(lines), [(5, false), (5, true)]);
    }

    #[test]
    fn failures_are_told_by_kind() {
        let failures = [("link-down".to_owned(), 12), ("pause-storm".to_owned(), 1)];
        let summary = Summary { failures: failures.into(), ..Summary::default() };
        let table = summary_table(&summary, &RunInfo::default(), Path::new("results"));
        assert!(table.contains("\nFailures         12 link-down, 1 pause-storm\n"), "{table}");
        let table = summary_table(&Summary::default(), &RunInfo::default(), Path::new("results"));
        assert!(!table.contains("Failures"), "{table}");
    }

    #[test]
    fn integrity_is_kept_only_where_something_was_compared() {
        let failed = IntegrityResult { failed: vec![0], ..IntegrityResult::default() };
        assert_eq!(integrity_line(failed), "Integrity        nothing was compared, 1 failed");
        let kept = IntegrityResult { flows: 1, bytes: 5, ..IntegrityResult::default() };
        assert_eq!(integrity_line(kept), "Integrity        kept: 1 flow, 5 bytes compared");
    }
}
