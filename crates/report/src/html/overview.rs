//! The most important numbers of a run.

use std::borrow::Cow;

use rocelab_results::{Distribution, Millionths, OperationCounts, RunInfo, Summary};
use serde::Serialize;

use super::verdicts::{Verdict, verdicts};
use crate::goodput;
use crate::numbers::{count, rate, time};
use crate::percentiles::{completed_of, operations_of, percentile_texts};

/// A number with its name.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fact {
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: String,
}

/// A row of percentiles.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) name: String,
    /// Least, mean, median, 95th, 99th, 99.9th percentile, greatest.
    pub(crate) values: Vec<String>,
}

/// The first part of the page.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) percentiles: Vec<Percentiles>,
    /// Numbers of flows and operations behind the percentiles, if not all completed.
    pub(crate) completed: Vec<String>,
}

impl Overview {
    /// With further verdicts, problems first.
    pub(crate) fn with(mut self, more: Vec<Verdict>) -> Self {
        self.verdicts.extend(more);
        self.verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.level));
        self
    }
}

/// The overview of `summary.json` and `run.json`.
pub(crate) fn overview(summary: &Summary, run: &RunInfo) -> Overview {
    Overview {
        verdicts: verdicts(summary),
        facts: facts(summary, run),
        percentiles: percentiles(summary),
        completed: completed(summary),
    }
}

fn completed(summary: &Summary) -> Vec<String> {
    let flows = completed_of(summary).map(|text| format!("Percentiles of flows: {text}."));
    let of_app = |app: &OperationCounts| {
        operations_of(app).map(|text| format!("Percentiles of {}: {text}.", app.app))
    };
    flows.into_iter().chain(summary.operations.iter().filter_map(of_app)).collect()
}

fn facts(summary: &Summary, run: &RunInfo) -> Vec<Fact> {
    let flows = &summary.flows;
    let mut list = Vec::new();
    let mut say = |name: &'static str, value| list.push(Fact { name: name.into(), value });
    say("Simulated", time(summary.simulated_ps));
    match &summary.infiniband {
        Some(infiniband) => {
            say("Network", "InfiniBand".to_owned());
            say("Routing engine", infiniband.engine.clone());
        }
        None => say("RoCE version", format!("v{}", summary.roce_version)),
    }
    say("Seed", summary.seed.to_string());
    // A run of applications alone has no flows, and so none of them is missing.
    if flows.total > 0 || summary.operations.is_empty() {
        say("Flows completed", format!("{} of {}", count(flows.completed), count(flows.total)));
        for (name, text) in goodput::lines(summary.goodput_bps, summary.goodput.as_ref()) {
            say(name, text);
        }
    }
    for (transport, of) in &summary.transports {
        let done = format!("{} of {}", count(of.flows.completed), count(of.flows.total));
        let rate = of.goodput_bps.map_or_else(String::new, |bps| format!(", {}", rate(bps)));
        say("Flows of a transport", format!("{}: {done}{rate}", transport.to_uppercase()));
    }
    for app in &summary.operations {
        let done = format!("{}: {} of {}", app.app, count(app.completed), count(app.total));
        say("Operations completed", done);
        say("Operations per second", format!("{}: {}", app.app, count(app.per_second)));
        if let Some(bps) = app.goodput_bps {
            say("Goodput of operations", format!("{}: {}", app.app, rate(bps)));
        }
    }
    say("Pauses", count(summary.pfc.pauses));
    match summary.infiniband.as_ref().map(|own| own.congestion_control) {
        None => {
            say("ECN marks", count(summary.ecn.marks));
            say("CNPs", count(summary.cnps));
        }
        Some(Some(counts)) => {
            say("FECN marks", count(counts.fecn));
            say("CN packets received", count(counts.cn_received));
            say("Acknowledgements with BECN", count(counts.becn_acks_received));
        }
        Some(None) => {} // Nothing marks.
    }
    for (name, value) in [
        ("CNMs (QCN)", summary.cnms),
        ("CNPs of switches", summary.switch_cnps),
        ("Storms", summary.storms),
        ("Path migrations", summary.path_migrations.len() as u64),
        ("Completion events", summary.completion_events),
        ("Completions found after events", summary.completions_after_events),
    ] {
        if value > 0 {
            say(name, count(value));
        }
    }
    say("Drops", count(summary.drops.total));
    say("Retransmissions", count(summary.retransmissions));
    say("NAKs", count(summary.naks));
    say("Timeouts", count(summary.timeouts));
    say("Link traversals", count(summary.link_traversals.total));
    say("Computed in", format!("{:.2} s of CPU time", run.cpu_s));
    say("Digest", summary.digest.clone());
    list
}

/// Rows for all flows, for each transport if there are several, and for each application and its kinds of operations.
fn percentiles(summary: &Summary) -> Vec<Percentiles> {
    let mut rows = Vec::new();
    let mut flows =
        |of: &str, fct: Option<&Distribution<u64>>, slowdown: Option<&Distribution<_>>| {
            if let Some(fct) = fct {
                let values = percentile_texts(fct, time).to_vec();
                rows.push(Percentiles { name: format!("Flow completion time{of}"), values });
            }
            if let Some(slowdown) = slowdown {
                let text = |ratio: Millionths| format!("{ratio:.2}");
                let values = percentile_texts(slowdown, text).to_vec();
                rows.push(Percentiles { name: format!("Slowdown{of}"), values });
            }
        };
    flows("", summary.fct_ps.as_ref(), summary.slowdown.as_ref());
    for (name, one) in &summary.transports {
        let of = format!(", {}", name.to_uppercase());
        flows(&of, one.fct_ps.as_ref(), one.slowdown.as_ref());
    }
    for app in &summary.operations {
        let Some(latency) = &app.latency_ps else { continue };
        let values = percentile_texts(latency, time).to_vec();
        rows.push(Percentiles { name: format!("Latency of {}", app.app), values });
        for (kind, of) in &app.kinds {
            let Some(latency) = &of.latency_ps else { continue };
            let values = percentile_texts(latency, time).to_vec();
            rows.push(Percentiles { name: format!("Latency of {}, {kind}", app.app), values });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use rocelab_results::{FlowCounts, TransportFlows};

    use super::*;

    #[test]
    fn rare_counts_are_said_if_there_are_any() {
        let summary = Summary { storms: 2, cnms: 7, ..Summary::default() };
        let facts = facts(&summary, &RunInfo::default());
        let value = |name| facts.iter().find(|fact| fact.name == name).map(|fact| &*fact.value);
        assert_eq!((value("CNMs (QCN)"), value("Storms")), (Some("7"), Some("2")));
        assert_eq!(value("Path migrations"), None);
    }

    #[test]
    fn every_transport_has_a_headline() {
        let flows = FlowCounts { total: 3, completed: 2, failed: 0, unfinished: 1 };
        let fct_ps = Distribution::of(&mut [1_000, 2_000]);
        let tcp = TransportFlows {
            flows,
            goodput_bps: Some(5_000_000_000),
            fct_ps,
            ..Default::default()
        };
        let transports = [("rdma".to_owned(), TransportFlows::default()), ("tcp".to_owned(), tcp)];
        let summary = Summary { transports: transports.into(), ..Summary::default() };
        let rows = percentiles(&summary);
        assert_eq!(rows[0].name, "Flow completion time, TCP");
        assert_eq!((&*rows[0].values[0], &*rows[0].values[6]), ("1.00 ns", "2.00 ns"));
        let facts = facts(&summary, &RunInfo::default());
        let said: Vec<_> =
            facts.iter().filter(|fact| fact.name == "Flows of a transport").collect();
        assert_eq!(said[0].value, "RDMA: 0 of 0");
        assert_eq!(said[1].value, "TCP: 2 of 3, 5.00 Gbit/s");
    }
}
