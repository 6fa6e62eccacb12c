//! What all applications have in common, and what of it can be wrong.

use rocelab_fabric::NodeId;
use rocelab_units::{Duration, SimTime};

use super::Peers;
use super::operations::{AppPlan, OperationKind};
use crate::scenario::workload::app::{CompletionEventsConfig, Side};
use crate::scenario::{Fault, ensure};
use crate::workload::rules::FlowRules;
use crate::workload::site::Site;

/// The longest that a side works or thinks.
const LONGEST: Duration = Duration::from_ms(1_000_000);

/// An application as a workload asks for it.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) plan: AppPlan,
    /// Client and server of each connection.
    pub(crate) connections: Vec<(NodeId, NodeId)>,
    /// Of a program, the members at the ends of each.
    pub(crate) members: Vec<(u32, u32)>,
    pub(crate) priority: u8,
}

/// The keys that all applications have.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Common<'a> {
    pub(in crate::workload) name: Option<&'a str>,
    pub(in crate::workload) peers: Peers<'a>,
    pub(in crate::workload) pace: Pace,
    pub(in crate::workload) receive_depth: Option<u32>,
    pub(in crate::workload) completion_events: Option<CompletionEventsConfig>,
    pub(in crate::workload) priority: Option<u8>,
}

/// When operations start, and how many.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Pace {
    pub(in crate::workload) count: Option<u64>,
    /// The key that gives `count`.
    pub(in crate::workload) count_key: &'static str,
    pub(in crate::workload) until: Option<SimTime>,
    pub(in crate::workload) start: SimTime,
    pub(in crate::workload) think_time: Duration,
    pub(in crate::workload) queue_depth: u16,
}

impl Common<'_> {
    /// The application with operations of these kinds.
    pub(in crate::workload) fn app(
        &self,
        site: &Site<'_>,
        kinds: Vec<OperationKind>,
    ) -> Result<App, Fault> {
        ensure(site.rules == FlowRules::Roce, || {
            Fault::at("", "HPCC's simulator knows flows and no verbs")
                .help("use `[workload.flows]`, or leave the profile out")
        })?;
        let priority = site.priority_or_default(self.priority)?;
        self.pace.check()?;
        ensure(self.receive_depth != Some(0), || {
            Fault::at("receive_depth", "no message would find a receive request")
                .help("give at least 1, or leave it out")
        })?;
        let connections = self.peers.connections(site)?;
        let open = self.pace.count.unwrap_or(u64::MAX).min(self.pace.queue_depth.into());
        let enough = u32::try_from(open).unwrap_or(u32::MAX).saturating_mul(longest_turn(&kinds));
        let plan = AppPlan {
            name: named(self.name, site.name)?,
            kinds,
            queue_depth: self.pace.queue_depth,
            operations: self.pace.count,
            start: self.pace.start,
            until: self.pace.until,
            think_time: self.pace.think_time,
            // More would never be taken.
            receive_depth: self.receive_depth.map_or(enough, |depth| depth.min(enough)),
            completion_events: self.completion_events,
            program: None,
        };
        Ok(App { plan, connections, members: Vec::new(), priority })
    }
}

/// What the results call the workload with this key: its name, or `app[0]` of `workload.app[0]`.
pub(in crate::workload) fn named(name: Option<&str>, key: &str) -> Result<String, Fault> {
    let Some(name) = name else {
        return Ok(key.split_once('.').map_or(key, |(_, name)| name).to_owned());
    };
    ensure(!name.trim().is_empty() && !name.contains(char::is_control), || {
        Fault::at("name", "results have it in tables, and could not show it")
            .help("give a word or two on one line, or leave it out")
    })?;
    Ok(name.to_owned())
}

impl Pace {
    fn check(&self) -> Result<(), Fault> {
        let count_key = self.count_key;
        ensure(self.queue_depth > 0, || {
            Fault::at("queue_depth", "no operation would ever be open").help("give at least 1")
        })?;
        ensure(self.count != Some(0), || {
            Fault::at(count_key, "an application without operations does nothing")
                .help("give at least 1")
        })?;
        ensure(self.count.is_some() != self.until.is_some(), || {
            let given = if self.count.is_some() { "both" } else { "none" };
            Fault::at(
                count_key,
                format!("exactly one of `{count_key}` and `until` says when to end"),
            )
            .value(given)
            .help(format!("give one of the two, such as `{count_key} = 1000`"))
        })?;
        for (key, time) in [("start", Some(self.start)), ("until", self.until)] {
            ensure(time.is_none_or(|time| time <= SimTime::LATEST), || {
                Fault::at(key, "simulated time does not reach that far")
                    .help(format!("give at most {}", SimTime::LATEST))
            })?;
        }
        ensure(self.until.is_none_or(|until| until > self.start), || {
            Fault::at("until", "that is not after the start").help("give a later time")
        })?;
        check_work_time("think_time", self.think_time)
    }
}

/// Whether a side may work, or think, that long.
pub(in crate::workload) fn check_work_time(key: &str, time: Duration) -> Result<(), Fault> {
    ensure(time <= LONGEST, || {
        Fault::at(key, "nobody waits that long").help(format!("give at most {LONGEST}"))
    })
}

/// The most messages that one side sends, each into a receive request, before the other side
/// answers: its receive requests come back with the answer.
fn longest_turn(kinds: &[OperationKind]) -> u32 {
    let mut longest = 1;
    for kind in kinds {
        for side in [Side::Client, Side::Server] {
            let mut turn = 0;
            for step in &kind.steps {
                turn = match (step.by == side, step.verb.is_noticed()) {
                    (true, true) => turn + 1,
                    (true, false) => turn,
                    (false, _) => 0,
                };
                longest = longest.max(turn);
            }
        }
    }
    longest
}
