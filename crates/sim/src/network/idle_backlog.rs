//! Queue pairs that could send and do not. No law of congestion control asks for that, so it tells of a
//! fault in the model: a departure that was forgotten, or a pacing gap that does not follow the rate.
//!
//! Looks are at fixed times of the simulation, and cost nothing in between. A host is looked at where its
//! port is idle. What is seen twice, with no frame and no pause in between, lasted from one look to the
//! next.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, Serialisation};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::Backlog;
use rocelab_units::{Duration, SimTime};

use super::stuck::is_up;
use super::{Host, Network, Role};
use crate::profile::{EndHost, Profile};

/// Packet times of its rate after which a queue pair that sends nothing is told of.
const PACKET_TIMES: u64 = 20;

/// Slower than this share of its link's rate, a queue pair is meant to be nearly silent.
const LEAST_SHARE: u64 = 100;

/// Networks of more hosts are looked at less often, so that looks take no time there either.
const HOSTS_PER_LOOK: u64 = 4_096;

/// Which looks at a network of so many hosts are made: every one, every second one, and so on.
pub(crate) fn every_nth_look(hosts: u64) -> u64 {
    hosts.div_ceil(HOSTS_PER_LOOK).max(1)
}

/// What is kept of one host, at the most; it tells of the first ones.
const KEPT: usize = 16;

/// A queue pair that had data, an open window and a rate, at an idle port that was not paused, and sent
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct IdleBacklog {
    pub(crate) qpn: u32,
    /// The first look that saw it.
    pub(crate) since: SimTime,
    /// Up to when nothing had changed.
    pub(crate) until: SimTime,
    /// The rate that its congestion control allowed (bit/s).
    pub(crate) rate_bps: u64,
}

/// By place among the hosts: of those alone that have something to be told.
#[derive(Debug, Default)]
pub(super) struct IdleBacklogs {
    pub(super) by_host: BTreeMap<u32, HostBacklogs>,
}

/// What was seen of one host.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct HostBacklogs {
    /// Frames that its port had sent at the last look, and the time that it had been paused.
    port: (u64, Duration),
    /// The queue pairs that could send at the last look, and when that was first seen.
    waiting: Vec<(u32, SimTime)>,
    found: Vec<IdleBacklog>,
}

impl<P: Profile> Network<P> {
    /// Looks at every host that is here, at `now`. Nothing happens anywhere before `until`.
    #[cold]
    pub(crate) fn look_for_idle_backlogs(&mut self, now: SimTime, until: SimTime) {
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            let backlogs = self.idle_backlogs_of(&self.hosts[number as usize], now);
            if backlogs.is_empty() {
                self.idle_backlogs.forget_waiting(number);
                continue;
            }
            let port = &self.ports[self.hosts[number as usize].port as usize];
            let standing = (port.counters.frames, port.port.paused_time(now));
            let seen = self.idle_backlogs.by_host.entry(number).or_default();
            seen.look(standing, &backlogs, (now, until));
        }
    }

    /// What could be sent at `now` by a host whose port is idle.
    fn idle_backlogs_of(&self, host: &Host<P>, now: SimTime) -> Vec<Backlog> {
        let port = &self.ports[host.port as usize];
        let is_idle = port.port.free_at() <= now && host.down == 0 && is_up(port);
        if !is_idle || !host.end_host.has_backlogs() {
            return Vec::new();
        }
        let (paused, line_rate) = (port.port.paused(), port.port.link().rate());
        let idle = now.since(port.port.free_at());
        // One that is paced as it should be has sent within a packet time.
        let is_late = |backlog: &Backlog| {
            let rate = backlog.rate.bits_per_second();
            idle > backlog.packet_time
                && paused & 1 << backlog.priority == 0
                && rate > line_rate.bits_per_second() / LEAST_SHARE
        };
        let mut backlogs: Vec<Backlog> = host.end_host.backlogs().filter(is_late).collect();
        backlogs.sort_unstable_by_key(|backlog| backlog.qpn);
        backlogs.dedup_by_key(|backlog| backlog.qpn);
        backlogs
    }

    /// All that was found at hosts that are here, with their nodes.
    pub(crate) fn idle_backlogs(&self) -> impl Iterator<Item = (NodeId, IdleBacklog)> {
        self.idle_backlogs.by_host.iter().flat_map(|(&host, seen)| {
            let node = self.hosts[host as usize].node;
            seen.found.iter().map(move |&found| (node, found))
        })
    }
}

impl<P: Profile> Network<P> {
    /// The flow that a queue pair of a host that is here belongs to.
    pub(crate) fn flow_of(&self, host: NodeId, qpn: u32) -> Option<u32> {
        let Role::Host(host) = self.nodes[host as usize].role else { return None };
        self.hosts[host as usize].end_host.flow_of(qpn)
    }
}

impl IdleBacklogs {
    /// Nothing could be sent at a look, or the port was not idle.
    fn forget_waiting(&mut self, host: u32) {
        if let Some(seen) = self.by_host.get_mut(&host) {
            seen.waiting.clear();
            if seen.found.is_empty() {
                self.by_host.remove(&host);
            }
        }
    }
}

impl HostBacklogs {
    fn look(
        &mut self,
        port: (u64, Duration),
        backlogs: &[Backlog],
        (now, until): (SimTime, SimTime),
    ) {
        let before = if self.port == port { std::mem::take(&mut self.waiting) } else { Vec::new() };
        self.port = port;
        self.waiting.clear();
        for backlog in backlogs {
            let known = before.iter().find(|(qpn, _)| *qpn == backlog.qpn);
            let since = known.map_or(now, |(_, since)| *since);
            self.waiting.push((backlog.qpn, since));
            if until.since(since) > backlog.packet_time * PACKET_TIMES {
                let rate_bps = backlog.rate.bits_per_second();
                self.keep(IdleBacklog { qpn: backlog.qpn, since, until, rate_bps });
            }
        }
    }

    fn keep(&mut self, found: IdleBacklog) {
        let same = |kept: &IdleBacklog| (kept.qpn, kept.since) == (found.qpn, found.since);
        if let Some(place) = self.found.iter().position(same) {
            self.found[place] = found;
        } else if self.found.len() < KEPT {
            self.found.push(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use rocelab_units::Bandwidth;

    use super::*;
    use crate::{Scenario, Simulation};

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    fn backlog(qpn: u32) -> Backlog {
        let rate = Bandwidth::from_gbps(1);
        Backlog { qpn, priority: 3, rate, packet_time: Duration::from_us(10) }
    }

    #[test]
    fn what_lasts_for_more_than_20_packet_times_is_kept_once() {
        let mut seen = HostBacklogs::default();
        for look in [100, 200, 300, 400] {
            seen.look((7, Duration::ZERO), &[backlog(17)], (at(look), at(look)));
            assert_eq!(seen.found.is_empty(), look <= 300, "200 us are not more than 200 us");
        }
        seen.look((7, Duration::ZERO), &[backlog(17), backlog(18)], (at(500), at(512)));
        let expected =
            IdleBacklog { qpn: 17, since: at(100), until: at(512), rate_bps: 1_000_000_000 };
        assert_eq!(seen.found, [expected]);
    }

    #[test]
    fn a_frame_or_a_pause_in_between_begins_it_anew() {
        for other in [(8, Duration::ZERO), (7, Duration::from_ns(1))] {
            let mut seen = HostBacklogs::default();
            seen.look((7, Duration::ZERO), &[backlog(17)], (at(100), at(100)));
            seen.look(other, &[backlog(17)], (at(250), at(250)));
            seen.look(other, &[backlog(17)], (at(400), at(400)));
            assert!(seen.found.is_empty());
        }
    }

    const INCAST: &str = r#"
        topology = { single-switch = { hosts = 5, link = { rate = "400Gbps", cable = "3m" } } }
        roce = { path_mtu = 4096 }
        congestion_control = { dcqcn = { preset = "nvidia" } }
        workload = { incast = [{ senders = 4, bytes = "8MB" }] }
    "#;

    fn incast() -> Simulation {
        let scenario = Scenario::parse(INCAST, Path::new("incast.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network")
    }

    /// Rates rise and fall, queue pairs wait for credit, and their ports are paused.
    #[test]
    fn nothing_is_found_where_pacing_follows_the_rate() {
        let mut simulation = incast();
        simulation.run_to_end();
        assert_eq!(simulation.network().idle_backlogs(), []);
    }

    /// Departures that are forgotten: events stand still while time goes on.
    #[test]
    fn what_does_not_send_is_found() {
        let mut simulation = incast();
        simulation.advance(2_000);
        let now = simulation.now();
        let network = simulation.network_mut();
        let looks = [1_u64, 2, 3].map(|ms| now + Duration::from_ms(ms));
        for look in looks {
            network.look_for_idle_backlogs(look, look);
        }
        let found = simulation.network().idle_backlogs();
        assert!(!found.is_empty());
        for (node, idle) in found {
            assert!((1..=4).contains(&node), "the senders");
            assert_eq!((idle.since, idle.until), (looks[0], looks[2]));
        }
    }
}
