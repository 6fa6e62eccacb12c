//! What the mesh of pings has seen.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_results::{
    Distribution, MonitoredPair, MonitoringRecord, MonitoringSummary, ResultsError, Sink,
};
use rocelab_units::{Duration, SimTime};

use crate::Plan;
use crate::plan::PingRules;
use crate::profile::Profile;
use crate::record::Ping;
use crate::simulation::WholeNetwork;

/// What became of some pings.
#[derive(Debug, Default)]
struct Pings {
    sent: u64,
    lost: u64,
    /// Of those that were answered in time [ps].
    took: Vec<u64>,
}

/// Writes a row for each pair and window, if there is a mesh, and gives what all of them come to.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
    end: SimTime,
) -> Result<Option<MonitoringSummary>, ResultsError> {
    let Some(mesh) = &plan.monitoring else { return Ok(None) };
    let mut windows: BTreeMap<(u64, NodeId, NodeId), Pings> = BTreeMap::new();
    let mut pairs: BTreeMap<(NodeId, NodeId), Pings> = BTreeMap::new();
    for (from, pings) in network.pings() {
        for ping in pings.iter().filter(|ping| ping.sent < SimTime::NEVER) {
            let number = ping.sent.since(mesh.rules.start).ps() / mesh.rules.window.ps().max(1);
            windows.entry((number, from, ping.to)).or_default().add(ping, &mesh.rules, end);
            pairs.entry((from, ping.to)).or_default().add(ping, &mesh.rules, end);
        }
    }
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.as_str();
    let mut rows = sink.records()?;
    for ((number, from, to), pings) in &mut windows {
        let since = Duration::from_ps(number.saturating_mul(mesh.rules.window.ps()));
        pings.took.sort_unstable();
        rows.write(&MonitoringRecord {
            window_ps: mesh.rules.start.saturating_add(since).ps(),
            source: name(*from).into(),
            destination: name(*to).into(),
            sent: pings.sent,
            answered: pings.took.len() as u64,
            lost: pings.lost,
            min_ps: pings.took.first().copied(),
            p50_ps: pings.at_rank(50),
            p99_ps: pings.at_rank(99),
            max_ps: pings.took.last().copied(),
        })?;
    }
    rows.finish()?;
    Ok(Some(summary(plan, pairs)))
}

fn summary(plan: &Plan, mut pairs: BTreeMap<(NodeId, NodeId), Pings>) -> MonitoringSummary {
    pairs.values_mut().for_each(|pings| pings.took.sort_unstable());
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
    let named = |(&(from, to), pings): (&(NodeId, NodeId), &Pings)| MonitoredPair {
        source: name(from),
        destination: name(to),
        sent: pings.sent,
        lost: pings.lost,
        undecided: pings.undecided(),
        p50_ps: pings.at_rank(50),
    };
    // Of equal pairs the first: one that is no greater does not take its place.
    let lossy = pairs.iter().filter(|(_, pings)| pings.lost > 0).reduce(|best, one| {
        let share = |pings: &Pings, of: &Pings| u128::from(pings.lost) * u128::from(of.decided());
        if share(one.1, best.1) > share(best.1, one.1) { one } else { best }
    });
    let slowest = pairs
        .iter()
        .filter(|(_, pings)| !pings.took.is_empty())
        .reduce(|best, one| if one.1.at_rank(50) > best.1.at_rank(50) { one } else { best });
    let mut took: Vec<u64> = pairs.values().flat_map(|pings| &pings.took).copied().collect();
    MonitoringSummary {
        pairs: plan.monitoring.as_ref().map_or(0, |mesh| mesh.pairs().count() as u64),
        sent: pairs.values().map(|pings| pings.sent).sum(),
        answered: took.len() as u64,
        lost: pairs.values().map(|pings| pings.lost).sum(),
        undecided: pairs.values().map(Pings::undecided).sum(),
        most_lost: lossy.map(named),
        slowest: slowest.map(named),
        round_trip_ps: Distribution::of(&mut took),
    }
}

impl Pings {
    fn add(&mut self, ping: &Ping, rules: &PingRules, end: SimTime) {
        self.sent += 1;
        match ping.took.filter(|&took| took <= rules.timeout) {
            Some(took) => self.took.push(took.ps()),
            None => {
                let is_over = ping.took.is_some() || end.since(ping.sent) > rules.timeout;
                self.lost += u64::from(is_over);
            }
        }
    }

    /// Those of which it is known whether they were answered in time.
    const fn decided(&self) -> u64 {
        self.took.len() as u64 + self.lost
    }

    /// Those that were under way when the run ended, for no longer than the timeout.
    const fn undecided(&self) -> u64 {
        self.sent - self.decided()
    }

    /// A percentile of the times, by nearest rank. They are in order.
    fn at_rank(&self, percent: usize) -> Option<u64> {
        let rank = (self.took.len() * percent).div_ceil(100);
        self.took.get(rank.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_is_answered_or_lost_or_under_way() {
        let rules = PingRules {
            start: SimTime::ZERO,
            until: None,
            interval: Duration::from_us(1),
            timeout: Duration::from_us(10),
            window: Duration::from_us(100),
            bytes: 64,
            priority: 0,
        };
        let at = |us: u64| SimTime::from_ps(us * 1_000_000);
        let mut pings = Pings::default();
        for (sent, took) in [(0, Some(10)), (1, Some(11)), (2, None), (90, None), (91, Some(3))] {
            let ping = Ping { to: 1, sent: at(sent), took: took.map(Duration::from_us) };
            pings.add(&ping, &rules, at(100));
        }
        assert_eq!((pings.sent, pings.lost), (5, 2), "the fourth is 10 us old, and no more");
        assert_eq!((pings.decided(), pings.undecided()), (4, 1));
        pings.took.sort_unstable();
        assert_eq!(pings.took, [3_000_000, 10_000_000]);
        assert_eq!((pings.at_rank(50), pings.at_rank(99)), (Some(3_000_000), Some(10_000_000)));
        assert_eq!(Pings::default().at_rank(50), None);
    }
}
