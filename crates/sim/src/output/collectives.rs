//! Collective operations: of what each rank did, what all of them come to.

use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_collective::Kind;
use rocelab_fabric::NodeId;
use rocelab_results::{
    CollectiveRecord, CollectiveSummary, Distribution, OperationRecord, OperationStatus,
    ResultsError, Sink,
};
use rocelab_transport::program::CollectiveFacts;
use rocelab_units::SimTime;

use crate::{Plan, ProgramPlan};

/// The collective operations of a run.
pub(super) struct Collectives {
    /// Those of applications that have any.
    facts: BTreeMap<u32, CollectiveFacts>,
    /// By application, group and number.
    of_groups: BTreeMap<(u32, u32, u64), OfGroup>,
}

rocelab_state::state!(Collectives { values: of_groups; kept: facts });

/// What the ranks of a group did in one operation.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct OfGroup {
    first_start: u64,
    last_start: u64,
    first_end: u64,
    last_end: u64,
    /// Ranks that are done.
    done: u32,
    /// The first that failed.
    failure: Option<Failure>,
}

/// How an operation failed.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
enum Failure {
    RetryExceeded,
    RnrRetryExceeded,
    RemoteInvalidRequest,
    RemoteAccess,
    Flushed,
}

impl Collectives {
    pub(super) fn new(plan: &Plan) -> Self {
        let programs = (0..).zip(&plan.apps).filter_map(|(app, known)| {
            let ProgramPlan { definition, members, .. } = known.program.as_ref()?;
            Some((app, definition.collective(members)?))
        });
        Self { facts: programs.collect(), of_groups: BTreeMap::new() }
    }

    /// Counts the part of one rank.
    pub(super) fn add(&mut self, plan: &Plan, record: &OperationRecord<'_>) {
        let connection = &plan.connections[record.connection as usize];
        let Some(facts) = self.facts.get(&connection.app) else { return };
        let group = connection.members[0] / facts.ranks.max(1);
        let place = (connection.app, group, record.operation);
        self.of_groups.entry(place).or_default().add(record);
    }

    /// Writes a row for each, and gives what those of each workload come to.
    pub(super) fn finish(
        &self,
        plan: &Plan,
        sink: Sink<'_>,
    ) -> Result<Vec<CollectiveSummary>, ResultsError> {
        if self.facts.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = sink.records()?;
        let mut summaries = Vec::new();
        for (&app, facts) in &self.facts {
            let mut of_app = Summed::default();
            let name = &plan.apps[app as usize].name;
            let rates = rates(plan, app);
            let bounds: Vec<_> = rates
                .chunks(facts.ranks.max(1) as usize)
                .map(|rates| bound(facts, rates))
                .collect();
            for ((_, group, number), of_group) in
                self.of_groups.range((app, 0, 0)..=(app, u32::MAX, u64::MAX))
            {
                let bound = bounds.get(*group as usize).copied().flatten();
                let row = of_group.row(plan, facts, (name, *group, *number), bound);
                of_app.add(&row);
                rows.write(&row)?;
            }
            summaries.push(of_app.summary(name, facts));
        }
        rows.finish()?;
        Ok(summaries)
    }
}

impl Default for OfGroup {
    fn default() -> Self {
        Self {
            first_start: u64::MAX,
            last_start: 0,
            first_end: u64::MAX,
            last_end: 0,
            done: 0,
            failure: None,
        }
    }
}

impl OfGroup {
    fn add(&mut self, record: &OperationRecord<'_>) {
        self.first_start = self.first_start.min(record.start_ps);
        self.last_start = self.last_start.max(record.start_ps);
        match (record.status, record.end_ps) {
            (OperationStatus::Completed, Some(end)) => {
                self.first_end = self.first_end.min(end);
                self.last_end = self.last_end.max(end);
                self.done += 1;
            }
            (status, _) => self.failure = self.failure.or_else(|| Failure::of(status)),
        }
    }

    fn row<'a>(
        &self,
        plan: &Plan,
        facts: &CollectiveFacts,
        (name, group, iteration): (&'a str, u32, u64),
        bound_ps: Option<u64>,
    ) -> CollectiveRecord<'a> {
        let is_done = self.done == facts.ranks;
        let time_ps = is_done.then_some(self.last_end.saturating_sub(self.first_start));
        let algbw = time_ps.and_then(|time| bytes_per_second(facts.bytes, time));
        let start = SimTime::from_ps(self.first_start);
        let is_in_window = plan.measure.is_none_or(|window| window.counts(start));
        CollectiveRecord {
            name: name.into(),
            group,
            iteration,
            kind: facts.kind.name().into(),
            algorithm: facts.algorithm.into(),
            protocol: facts.protocol.into(),
            channels: facts.channels,
            ranks: facts.ranks,
            bytes: facts.bytes,
            start_ps: self.first_start,
            end_ps: is_done.then_some(self.last_end),
            start_skew_ps: self.last_start - self.first_start,
            end_skew_ps: is_done.then(|| self.last_end - self.first_end),
            time_ps,
            algbw_bytes_per_s: algbw,
            busbw_bytes_per_s: algbw.map(|algbw| bus_bandwidth(algbw, facts)),
            bound_ps,
            status: self.status(is_done),
            measured: (is_in_window && iteration >= facts.warmup).into(),
        }
    }

    const fn status(&self, is_done: bool) -> OperationStatus {
        match self.failure {
            None if is_done => OperationStatus::Completed,
            None => OperationStatus::Unfinished,
            Some(Failure::RetryExceeded) => OperationStatus::RetryExceeded,
            Some(Failure::RnrRetryExceeded) => OperationStatus::RnrRetryExceeded,
            Some(Failure::RemoteInvalidRequest) => OperationStatus::RemoteInvalidRequest,
            Some(Failure::RemoteAccess) => OperationStatus::RemoteAccess,
            Some(Failure::Flushed) => OperationStatus::Flushed,
        }
    }
}

impl Failure {
    const fn of(status: OperationStatus) -> Option<Self> {
        Some(match status {
            OperationStatus::Completed | OperationStatus::Unfinished => return None,
            OperationStatus::RetryExceeded => Self::RetryExceeded,
            OperationStatus::RnrRetryExceeded => Self::RnrRetryExceeded,
            OperationStatus::RemoteInvalidRequest => Self::RemoteInvalidRequest,
            OperationStatus::RemoteAccess => Self::RemoteAccess,
            OperationStatus::Flushed => Self::Flushed,
        })
    }
}

/// The operations of a workload that count.
#[derive(Default)]
struct Summed {
    measured: u64,
    times: Vec<u64>,
    bus_bandwidths: Vec<u64>,
}

impl Summed {
    fn add(&mut self, row: &CollectiveRecord<'_>) {
        if row.measured == 1 {
            self.measured += 1;
            self.times.extend(row.time_ps);
            self.bus_bandwidths.extend(row.busbw_bytes_per_s);
        }
    }

    fn summary(mut self, name: &str, facts: &CollectiveFacts) -> CollectiveSummary {
        CollectiveSummary {
            name: name.to_owned(),
            kind: facts.kind.name().to_owned(),
            algorithm: facts.algorithm.to_owned(),
            ranks: facts.ranks,
            bytes: facts.bytes,
            measured: self.measured,
            completed: self.times.len() as u64,
            time_ps: Distribution::of(&mut self.times),
            busbw_bytes_per_s: Distribution::of(&mut self.bus_bandwidths),
        }
    }
}

/// So many bytes in so many picoseconds, rounded down; `None` in no time, and for nothing.
fn bytes_per_second(bytes: u64, time_ps: u64) -> Option<u64> {
    let rate = (u128::from(bytes) * 1_000_000_000_000).checked_div(time_ps.into())?;
    u64::try_from(rate).ok().filter(|&rate| rate > 0)
}

/// Times the bus factor of nccl-tests, rounded down.
fn bus_bandwidth(algbw: u64, facts: &CollectiveFacts) -> u64 {
    let (times, over) = facts.kind.bus_ratio(facts.ranks);
    let product = u128::from(algbw) * u128::from(times) / u128::from(over.max(1));
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// The rates of ranks, by member: their ports and NVLink together.
fn rates(plan: &Plan, app: u32) -> Vec<u64> {
    let Some(program) = &plan.apps[app as usize].program else { return Vec::new() };
    let mut of_host: BTreeMap<NodeId, u64> = program.hosts.iter().map(|&host| (host, 0)).collect();
    for link in &plan.topology.links {
        for node in [link.a, link.b] {
            if let Some(rate) = of_host.get_mut(&node) {
                *rate = rate.saturating_add(link.rate.bits_per_second());
            }
        }
    }
    let nvlink = |host| plan.nvlink.of(host).map_or(0, |domain| domain.link.rate.bits_per_second());
    let rate =
        |host: &NodeId| of_host.get(host).copied().unwrap_or(0).saturating_add(nvlink(*host));
    program.hosts.iter().map(rate).collect()
}

/// The least time between the first rank's beginning and the last one's end, by the rates of the ranks of a group, headers left out.
fn bound(facts: &CollectiveFacts, rates: &[u64]) -> Option<u64> {
    let bytes = u128::from(facts.bytes);
    let others = u128::from(facts.ranks).checked_sub(1).filter(|&others| others > 0)?;
    let slowest = u128::from(rates.iter().copied().min()?);
    let all: u128 = rates.iter().copied().map(u128::from).sum();
    let share = bytes * others / (others + 1);
    let time = |bytes: u128, rate: u128| (bytes * 8 * 1_000_000_000_000).checked_div(rate);
    let least = match facts.kind {
        // The data of each rank leave it, and of all of them each byte is added and given n-1 times.
        Kind::AllReduce => time(bytes, slowest)?.max(time(2 * others * bytes, all)?),
        Kind::Gather | Kind::Scatter => {
            let root = u128::from(*rates.get(facts.root as usize)?);
            time(share, root)?.max(time(bytes / (others + 1), slowest)?)
        }
        Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll => time(share, slowest)?,
        Kind::Broadcast | Kind::Reduce | Kind::SendReceive => time(bytes, slowest)?,
        Kind::AllToAllV | Kind::Barrier => return None,
    };
    u64::try_from(least).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(kind: Kind) -> CollectiveFacts {
        CollectiveFacts {
            kind,
            algorithm: "ring",
            protocol: "none",
            channels: 1,
            ranks: 4,
            root: 1,
            bytes: 4_000,
            warmup: 0,
        }
    }

    /// At 8 Gb/s a byte takes 1 ns.
    #[test]
    fn what_no_algorithm_goes_below() {
        let even = [8_000_000_000; 4];
        let bound = |kind, rates: &[u64]| bound(&facts(kind), rates);
        assert_eq!(bound(Kind::AllReduce, &even), Some(6_000_000));
        assert_eq!(bound(Kind::AllGather, &even), Some(3_000_000));
        assert_eq!(bound(Kind::Broadcast, &even), Some(4_000_000));
        assert_eq!(bound(Kind::Barrier, &even), None);
        // One slow rank of an all-reduce sends its data once; a fast root of a gather gets them all.
        let slow = [4_000_000_000, 400_000_000_000, 400_000_000_000, 400_000_000_000];
        assert_eq!(bound(Kind::AllReduce, &slow), Some(8_000_000));
        assert_eq!(bound(Kind::Gather, &slow), Some(2_000_000));
    }

    #[test]
    fn rates_are_rounded_down() {
        assert_eq!(bytes_per_second(1_000, 1_000_000), Some(1_000_000_000));
        assert_eq!(bytes_per_second(10, 3), Some(3_333_333_333_333));
        assert_eq!(bytes_per_second(10, 0), None);
        assert_eq!(bytes_per_second(0, 10), None);
    }
}
