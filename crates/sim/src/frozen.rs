//! What is frozen at the end of a run that came to its `stop`: held by pauses that do not end.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;
use rocelab_results::{FrozenRecord, FrozenRoot};
use rocelab_transport::Standing;
use rocelab_units::{Bytes, Duration, SimTime};

use crate::network::{StuckQueue, StuckQueuePair};
use crate::pause_tree::{PauseTree, Root};
use crate::profile::Profile;
use crate::simulation::Simulation;
use crate::{FailureChange, Plan};

/// No congestion holds a queue for so long without a break.
const LONG: Duration = Duration::from_ms(10);

/// What cannot move any more, of flows those that have not `ended`; none if all can.
///
/// Frozen is a flow of RDMA, or the connection of an open operation, whose host's port is paused, or of which
/// packets wait in a queue that is, by a pause that does not end: it comes of a storm of a NIC that goes
/// on, or of a deadlock, or it has gone on for [`LONG`] and ten times as long as one frame can ask for.
pub(crate) fn frozen<P: Profile>(
    plan: &Plan,
    simulation: &Simulation<P>,
    pauses: &PauseTree<'_>,
    ended: &[bool],
) -> Option<FrozenRecord> {
    let now = simulation.now();
    let judge = Judge { plan, simulation, pauses, now, long: long(plan) };
    let mut subjects = BTreeSet::new();
    let mut held: BTreeMap<String, u64> = BTreeMap::new();
    let mut since = now.ps();
    for stuck in simulation.network().stuck_queue_pairs(now, ended) {
        let Some((root, began)) = judge.endless_pause(&stuck) else { continue };
        since = since.min(began);
        if subjects.insert((stuck.flow, stuck.connection)) {
            *held.entry(root.to_string()).or_default() += 1;
        }
    }
    let flows = subjects.iter().filter(|(flow, _)| flow.is_some()).count() as u64;
    let connections = subjects.len() as u64 - flows;
    let mut roots: Vec<_> =
        held.into_iter().map(|(root, held)| FrozenRoot { root, held }).collect();
    roots.sort_by_key(|root| std::cmp::Reverse(root.held));
    (!subjects.is_empty()).then_some(FrozenRecord { flows, connections, since_ps: since, roots })
}

/// How long a pause lasts that is taken for one without end, whatever it comes of. A failure may lower a rate.
fn long(plan: &Plan) -> Duration {
    let whole = plan.topology.links.iter().map(|link| link.rate);
    let lowered = plan.failures.steps.iter().filter_map(|step| match step.change {
        FailureChange::LinkRate(_, rate) => Some(rate),
        _ => None,
    });
    let slowest = whole.chain(lowered).filter(|rate| rate.bits_per_second() > 0).min();
    let pause = u64::from(u16::MAX) * u64::from(rocelab_fabric::QUANTUM_BITS / 8);
    slowest.map_or(LONG, |rate| LONG.max(rate.transmission_time(Bytes::new(pause)) * 10))
}

struct Judge<'a, P: Profile> {
    plan: &'a Plan,
    simulation: &'a Simulation<P>,
    pauses: &'a PauseTree<'a>,
    now: SimTime,
    long: Duration,
}

impl<P: Profile> Judge<'_, P> {
    /// A pause that holds a queue pair, or what it sent or waits for, and does not end: where its chain
    /// begins, and when it began itself (ps).
    fn endless_pause(&self, stuck: &StuckQueuePair) -> Option<(Root<'_>, u64)> {
        let may_send = matches!(stuck.standing, Standing::MaySend(_));
        let port = StuckQueue { node: stuck.host, port: 0, priority: stuck.priority };
        let own = (may_send && stuck.is_paused).then_some(port);
        own.iter().chain(&stuck.held_at).find_map(|queue| {
            let (root, began) = self.pauses.holding(queue)?;
            let lasted = self.now.ps().saturating_sub(began);
            let is_endless = match self.pauses.asking_host(queue) {
                _ if lasted >= self.long.ps() => true,
                Some(host) => self.storms(host),
                None => matches!(root, Root::Deadlock(_)),
            };
            is_endless.then_some((root, began))
        })
    }

    /// Whether a NIC is in a storm.
    fn storms(&self, host: NodeId) -> bool {
        self.plan.topology.is_host(host) && self.simulation.network().is_in_storm(host)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    #[test]
    fn a_pause_is_long_by_the_lowest_rate_that_a_link_ever_has() {
        let plan = |failure: &str| {
            let text = format!(
                "topology = {{ single-switch = {{ hosts = 3, link = {{ rate = \"100Gbps\", cable = \"3m\" }} }} }}\n\
                 workload = {{ incast = [{{ senders = 2, bytes = \"8MB\" }}] }}\n{failure}"
            );
            let scenario = Scenario::parse(&text, Path::new("slow.toml"), &[]);
            scenario.and_then(|scenario| scenario.plan()).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(long(&plan("")), LONG);
        let failure = "[[failure]]\nkind = \"link-rate\"\nport = \"host-0\"\nrate = \"1Gbps\"\nat = \"1ms\"\n\
                       lasts = \"9ms\"\n";
        // Ten pauses of 65535 quanta of 512 bits, at 1 Gbit/s.
        assert_eq!(long(&plan(failure)), Duration::from_ns(335_539_200));
    }
}
