//! The figures that are compared, and how each is read from a run's summary.

use std::collections::BTreeMap;
use std::fmt;

use rocelab_results::{
    Distribution, FlowCounts, Goodput, GoodputRule, InfiniBandCounts, Millionths,
    MonitoringSummary, OperationCounts, Statistic, Summary,
};

use crate::goodput;
use crate::numbers::{count, memory, rate, ratio, time};

/// A figure of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The value; `None` if the run has no such figure.
    pub(super) value: Option<u64>,
    /// Whether the value is only a lower bound.
    pub(super) is_lower_bound: bool,
    /// The rule of a goodput; `None` for other figures. Results of older builds have goodput without a
    /// rule.
    pub(super) rule: Option<Option<GoodputRule>>,
    /// Words in place of the value with its unit.
    pub(super) words: Option<String>,
    /// What the value holds for, such as `of 560`: not the same as a value without it.
    pub(super) qualifier: Option<String>,
}

impl Reading {
    fn of(value: Option<u64>) -> Self {
        Self { value, ..Self::default() }
    }

    /// The value in the form for people.
    pub(super) fn text(&self, unit: &str) -> String {
        let mark = if self.is_lower_bound && self.value.is_some() { ">=" } else { "" };
        match &self.words {
            Some(words) => words.clone(),
            None => format!("{mark}{}", text(self.value, unit)),
        }
    }
}

type Read = Box<dyn Fn(&Summary) -> Reading>;

/// A figure, before it is read.
pub(super) struct Definition {
    pub(super) name: String,
    /// As [`Figure::unit`](super::Figure::unit).
    pub(super) unit: &'static str,
    pub(super) read: Read,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("name", &self.name).finish_non_exhaustive()
    }
}

fn define(
    name: impl Into<String>,
    unit: &'static str,
    read: impl Fn(&Summary) -> Reading + 'static,
) -> Definition {
    Definition { name: name.into(), unit, read: Box::new(read) }
}

/// The figures of these runs, in the order in which they are shown: of the run, of flows if any run
/// has some, of each transport, of each application and its kinds of operations, of the network.
pub(super) fn of(runs: &[&Summary]) -> Vec<Definition> {
    if runs.is_empty() {
        return Vec::new();
    }
    let mut all = vec![define("Simulated", "ps", simulated)];
    if runs.iter().any(|run| has_flows(run)) {
        all.extend(of_flows(None));
    }
    let transports: BTreeMap<&String, ()> =
        runs.iter().flat_map(|run| run.transports.keys()).map(|name| (name, ())).collect();
    for (transport, ()) in transports {
        all.extend(of_flows(Some(transport.clone())));
    }
    for (app, kinds) in applications(runs) {
        all.extend(of_operations(&app, None));
        all.extend(kinds.iter().flat_map(|kind| of_operations(&app, Some(kind))));
    }
    all.extend(of_network());
    if runs.iter().any(|run| run.infiniband.is_some()) {
        all.extend(of_credits());
    }
    if runs.iter().any(|run| run.monitoring.is_some()) {
        all.extend(of_pings());
    }
    all
}

fn simulated(run: &Summary) -> Reading {
    let words = run.incomplete.then(|| format!("{}, INTERRUPTED", time(run.simulated_ps)));
    let qualifier = run.incomplete.then(|| "INTERRUPTED".to_owned());
    Reading { words, qualifier, ..Reading::of(Some(run.simulated_ps)) }
}

/// Whether a run is one of flows. One of applications alone has no counts of flows to compare.
fn has_flows(run: &Summary) -> bool {
    run.flows.total > 0 || run.operations.is_empty()
}

/// The names of all applications in the order of the runs, each with its kinds of operations.
fn applications(runs: &[&Summary]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for app in runs.iter().flat_map(|run| &run.operations) {
        let place = found.iter().position(|(name, _)| *name == app.app);
        let place = place.unwrap_or_else(|| {
            found.push((app.app.clone(), Vec::new()));
            found.len() - 1
        });
        let kinds = &mut found[place].1;
        for kind in app.kinds.keys() {
            if !kinds.contains(kind) {
                kinds.push(kind.clone());
            }
        }
    }
    found
}

/// The flows of a run, or of one of its transports.
struct Flows<'s> {
    counts: &'s FlowCounts,
    goodput_bps: Option<u64>,
    goodput: Option<&'s Goodput>,
    fct: Option<&'s Distribution<u64>>,
    slowdown: Option<&'s Distribution<Millionths>>,
}

fn flows<'s>(run: &'s Summary, transport: Option<&str>) -> Option<Flows<'s>> {
    let Some(transport) = transport else {
        return has_flows(run).then_some(Flows {
            counts: &run.flows,
            goodput_bps: run.goodput_bps,
            goodput: run.goodput.as_ref(),
            fct: run.fct_ps.as_ref(),
            slowdown: run.slowdown.as_ref(),
        });
    };
    run.transports.get(transport).map(|own| Flows {
        counts: &own.flows,
        goodput_bps: own.goodput_bps,
        goodput: own.goodput.as_ref(),
        fct: own.fct_ps.as_ref(),
        slowdown: own.slowdown.as_ref(),
    })
}

/// The name of a statistic in a table.
fn statistic_name(statistic: Statistic) -> &'static str {
    if statistic == Statistic::P999 { "p99.9" } else { statistic.name() }
}

const STATISTICS: [Statistic; 6] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P95,
    Statistic::P99,
    Statistic::P999,
    Statistic::Max,
];

/// A statistic of a distribution that a run may have.
fn statistic<T: Copy>(
    of: Option<&Distribution<T>>,
    statistic: Statistic,
    number: fn(T) -> u64,
) -> Reading {
    let Some(of) = of else { return Reading::default() };
    let is_lower_bound = of.is_lower_bound(statistic);
    Reading { is_lower_bound, ..Reading::of(of.supported(statistic).map(number)) }
}

/// Figures of flows: of all, or of one transport.
fn of_flows(transport: Option<String>) -> Vec<Definition> {
    let prefix =
        transport.as_ref().map_or_else(String::new, |name| format!("{} ", name.to_uppercase()));
    let is_all = transport.is_none();
    let mut all = Vec::new();
    let mut add = |name: &str, unit, read: Box<dyn Fn(&Flows<'_>) -> Reading>| {
        let transport = transport.clone();
        all.push(define(format!("{prefix}{name}"), unit, move |run| {
            flows(run, transport.as_deref()).map_or_else(Reading::default, |flows| read(&flows))
        }));
    };
    add("Flows completed", "", Box::new(|flows| Reading::of(Some(flows.counts.completed))));
    add("Flows failed", "", Box::new(|flows| Reading::of(Some(flows.counts.failed))));
    add("Flows unfinished", "", Box::new(|flows| Reading::of(Some(flows.counts.unfinished))));
    add("Goodput", "bit/s", Box::new(goodput_of));
    add("Goodput over", "ps", Box::new(|flows| ruled(flows, |one| Some(one.duration_ps))));
    add("Goodput tail", "byte", Box::new(|flows| ruled(flows, |one| Some(one.tail?.bytes))));
    add("Tail time", "ps", Box::new(|flows| ruled(flows, |one| Some(one.tail?.duration_ps))));
    add("FCT of", "", Box::new(fct_of));
    for one in STATISTICS {
        let name = format!("FCT {}", statistic_name(one));
        add(&name, "ps", Box::new(move |flows| statistic(flows.fct, one, |ps| ps)));
    }
    for one in STATISTICS {
        let name = format!("Slowdown {}", statistic_name(one));
        let read = move |flows: &Flows<'_>| statistic(flows.slowdown, one, |ratio| ratio.0);
        add(&name, "millionths", Box::new(read));
    }
    if is_all {
        let frozen = |run: &Summary| {
            let frozen = run.frozen.as_ref().map_or(0, |frozen| frozen.flows);
            Reading::of(has_flows(run).then_some(frozen))
        };
        all.insert(3, define("Flows frozen", "", frozen));
    }
    all
}

fn goodput_of(flows: &Flows<'_>) -> Reading {
    by_rule(flows.goodput_bps, flows.goodput)
}

/// A goodput with its rule.
fn by_rule(bps: Option<u64>, goodput: Option<&Goodput>) -> Reading {
    Reading {
        words: Some(goodput::headline(bps, goodput)),
        rule: Some(goodput.map(|goodput| goodput.rule)),
        qualifier: bps.map(|_| goodput::rule_words(goodput).to_owned()),
        ..Reading::of(bps)
    }
}

/// A figure that depends on the rule of goodput.
fn ruled(flows: &Flows<'_>, read: fn(&Goodput) -> Option<u64>) -> Reading {
    let rule = Some(flows.goodput.map(|goodput| goodput.rule));
    let value = flows.goodput.and_then(read);
    let qualifier = value.map(|_| goodput::rule_words(flows.goodput).to_owned());
    Reading { rule, qualifier, ..Reading::of(value) }
}

/// How many flows have a completion time, of how many.
fn fct_of(flows: &Flows<'_>) -> Reading {
    let words = flows.fct.map(|of| format!("{} of {}", count(of.values), count(of.total())));
    let incomplete = flows.fct.filter(|of| of.values < of.total());
    let qualifier = incomplete.map(|of| format!("of {}", count(of.total())));
    Reading { words, qualifier, ..Reading::of(flows.fct.map(|of| of.values)) }
}

/// Figures of an application's operations: of all, or of one kind.
fn of_operations(app: &str, kind: Option<&String>) -> Vec<Definition> {
    let prefix = kind.map_or_else(|| app.to_owned(), |kind| format!("{app} {kind}"));
    let mut all = Vec::new();
    let mut add = |name: &str, unit, read: Box<dyn Fn(&Operations<'_>) -> Reading>| {
        let (app, kind) = (app.to_owned(), kind.cloned());
        all.push(define(format!("{prefix}: {name}"), unit, move |run| {
            let found = operations(run, &app, kind.as_deref());
            found.map_or_else(Reading::default, |found| read(&found))
        }));
    };
    add("completed", "", Box::new(|own| Reading::of(Some(own.completed))));
    if kind.is_none() {
        add("failed", "", Box::new(|own| Reading::of(Some(own.all.failed))));
        add("unfinished", "", Box::new(|own| Reading::of(Some(own.all.unfinished))));
    }
    add("IOPS", "1/s", Box::new(|own| Reading::of(own.per_second)));
    if kind.is_none() {
        add("goodput", "bit/s", Box::new(operations_goodput));
        add("bytes", "byte", Box::new(|own| Reading::of(accepted(own.all))));
    }
    add("open on average", "millionths", Box::new(|own| Reading::of(own.open.map(|open| open.0))));
    for one in STATISTICS {
        let name = format!("latency {}", statistic_name(one));
        add(&name, "ps", Box::new(move |own| statistic(own.latency, one, |ps| ps)));
    }
    all
}

/// Operations of a run: all of an application, or those of one kind.
struct Operations<'s> {
    all: &'s OperationCounts,
    completed: u64,
    per_second: Option<u64>,
    latency: Option<&'s Distribution<u64>>,
    open: Option<Millionths>,
}

fn operations<'s>(run: &'s Summary, app: &str, kind: Option<&str>) -> Option<Operations<'s>> {
    let all = run.operations.iter().find(|one| one.app == app)?;
    let Some(kind) = kind else {
        return Some(Operations {
            all,
            completed: all.completed,
            per_second: (all.completed > 0).then_some(all.per_second),
            latency: all.latency_ps.as_ref(),
            open: all.open_mean,
        });
    };
    let own = all.kinds.get(kind)?;
    Some(Operations {
        all,
        completed: own.completed,
        per_second: own.per_second,
        latency: own.latency_ps.as_ref(),
        open: own.open_mean,
    })
}

fn operations_goodput(own: &Operations<'_>) -> Reading {
    by_rule(own.all.goodput_bps, own.all.goodput.as_ref())
}

/// The payload of all steps that receivers accepted.
fn accepted(app: &OperationCounts) -> Option<u64> {
    let goodput = app.goodput.as_ref()?;
    Some(goodput.bytes.saturating_add(goodput.tail.map_or(0, |tail| tail.bytes)))
}

/// A figure that every run has: its name, its unit, and how it is read.
type Always = (&'static str, &'static str, fn(&Summary) -> u64);

/// Figures of the network.
fn of_network() -> Vec<Definition> {
    let all: [Always; 12] = [
        ("Pauses", "", |run| run.pfc.pauses),
        ("Time paused", "ps", |run| run.pfc.paused_ps),
        ("ECN marks", "", |run| run.ecn.marks),
        ("CNPs", "", |run| run.cnps),
        ("Failures", "", |run| sum(&run.failures)),
        ("Pause storms", "", |run| run.failures.get("pause-storm").copied().unwrap_or(0)),
        ("Queues in storms", "", |run| run.storms),
        ("Deadlocks", "", |run| run.deadlocks.len() as u64),
        ("Drops", "", |run| run.drops.total),
        ("Lossless drops", "", |run| sum(&run.lossless_drops)),
        ("Watchdog drops", "", |run| run.drops.by_reason.get("watchdog").copied().unwrap_or(0)),
        ("Retransmissions", "", |run| run.retransmissions),
    ];
    let each = all.into_iter();
    each.map(|(name, unit, read)| define(name, unit, move |run| Reading::of(Some(read(run)))))
        .collect()
}

/// A figure of runs on InfiniBand.
type OfInfiniBand = (&'static str, &'static str, fn(&InfiniBandCounts) -> u64);
type OfPings = (&'static str, &'static str, fn(&MonitoringSummary) -> Option<u64>);

/// Figures of credits.
fn of_credits() -> Vec<Definition> {
    let all: [OfInfiniBand; 3] = [
        ("Credit waits", "", |own| own.credit_waits),
        ("Time without credits", "ps", |own| own.credit_wait_ps),
        ("Flow control packets", "", |own| own.flow_control_packets),
    ];
    let each = all.into_iter().map(|(name, unit, read)| {
        define(name, unit, move |run| Reading::of(run.infiniband.as_ref().map(read)))
    });
    each.collect()
}

fn of_pings() -> Vec<Definition> {
    let all: [OfPings; 6] = [
        ("Pings answered", "", |own| Some(own.answered)),
        ("Pings lost", "", |own| Some(own.lost)),
        ("Pings not decided", "", |own| Some(own.undecided)),
        ("Ping p50", "ps", |own| Some(own.round_trip_ps.as_ref()?.p50)),
        ("Ping p99", "ps", |own| Some(own.round_trip_ps.as_ref()?.p99)),
        ("Ping max", "ps", |own| Some(own.round_trip_ps.as_ref()?.max)),
    ];
    let each = all.into_iter().map(|(name, unit, read)| {
        define(name, unit, move |run| Reading::of(run.monitoring.as_ref().and_then(read)))
    });
    each.collect()
}

/// The sum, which saturates because a damaged file may have any values.
fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}

/// A value with its unit; a dash if there is none.
fn text(value: Option<u64>, unit: &str) -> String {
    match (value, unit) {
        (None, _) => "-".to_owned(),
        (Some(value), "ps") => time(value),
        (Some(value), "bit/s") => rate(value),
        (Some(value), "byte") => memory(value),
        (Some(value), "millionths") => ratio(Millionths(value)),
        (Some(value), _) => count(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_have_rows_where_any_run_has_a_mesh() {
        let without = Summary::default();
        let mut with = Summary::default();
        let seen = MonitoringSummary { answered: 7, lost: 2, undecided: 1, ..Default::default() };
        with.monitoring = Some(seen);
        let named = |runs: &[&Summary]| -> Vec<Definition> {
            of(runs).into_iter().filter(|one| one.name.starts_with("Ping")).collect()
        };
        assert!(named(&[&without]).is_empty());
        let rows = named(&[&without, &with]);
        let values = rows.iter().map(|row| (row.read)(&with).value).collect::<Vec<_>>();
        assert_eq!(values, [Some(7), Some(2), Some(1), None, None, None]);
        assert!(rows.iter().all(|row| (row.read)(&without).value.is_none()));
    }
}
