//! What looks have met.

use std::collections::BTreeMap;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::Backlog;
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

/// Packet times of its rate after which a queue pair that sends nothing is told of.
pub(in crate::network) const PACKET_TIMES: u64 = 20;

/// Slower than this share of its link's rate, a queue pair is meant to be nearly silent.
pub(in crate::network) const LEAST_SHARE: u64 = 100;

/// Networks of more hosts are looked at less often, so that looks take no time there either.
pub(in crate::network) const HOSTS_PER_LOOK: u64 = 4_096;

/// Which looks at a network of so many hosts are made: every one, every second one, and so on.
pub(crate) fn every_nth_look(hosts: u64) -> u64 {
    hosts.div_ceil(HOSTS_PER_LOOK).max(1)
}

/// What is kept of one host, at the most; it tells of the first ones.
pub(in crate::network) const KEPT: usize = 16;

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

/// By place among the hosts: of those alone at which a look has met something.
#[derive(Debug, Default)]
pub(in crate::network) struct IdleBacklogs {
    pub(in crate::network) by_host: BTreeMap<u32, HostBacklogs>,
    /// What the last look met at its last host. Kept for its memory: looks come as long as a run lasts.
    pub(in crate::network) met: Vec<Backlog>,
}

/// What was seen of one host.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct HostBacklogs {
    /// Its port at the last look.
    pub(in crate::network) port: PortUse,
    /// The queue pairs that could send at the last look.
    pub(in crate::network) waiting: Vec<Waiting>,
    pub(in crate::network) found: Vec<IdleBacklog>,
}

/// How a port had been used up to a look.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct PortUse {
    pub(in crate::network) at: SimTime,
    /// What it had sent, preambles and gaps included (bytes).
    pub(in crate::network) sent: u64,
    /// The time that it had been paused, summed over priorities.
    pub(in crate::network) paused: Duration,
}

/// A queue pair that could send at a look.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct Waiting {
    pub(in crate::network) qpn: u32,
    /// How much of its data had left (packets).
    pub(in crate::network) departures: u32,
    /// The first look that saw it.
    pub(in crate::network) since: SimTime,
}

impl PortUse {
    /// Whether a queue pair could have sent since the look `before`: no pause, and no other traffic for
    /// most of the time.
    pub(in crate::network) fn had_room_since(&self, before: &Self, rate: Bandwidth) -> bool {
        let sending = rate.transmission_time(Bytes::new(self.sent.saturating_sub(before.sent)));
        self.paused == before.paused && sending * 2 <= self.at.since(before.at)
    }
}

impl IdleBacklogs {
    /// Nothing could be sent at a look, or the port was not idle.
    pub(in crate::network) fn forget_waiting(&mut self, host: u32) {
        if let Some(seen) = self.by_host.get_mut(&host) {
            seen.waiting.clear();
        }
    }
}

impl HostBacklogs {
    /// The idle port of `rate`, and what could be sent there. Nothing happens before `until`.
    pub(in crate::network) fn look(
        &mut self,
        port: PortUse,
        rate: Bandwidth,
        backlogs: &[Backlog],
        until: SimTime,
    ) {
        // Those of the look before stay at the front until these are behind them.
        let mut before = self.waiting.len();
        if !port.had_room_since(&self.port, rate) {
            self.waiting.clear();
            before = 0;
        }
        self.port = port;
        for backlog in backlogs {
            let Backlog { qpn, departures, .. } = *backlog;
            let same = |known: &&Waiting| (known.qpn, known.departures) == (qpn, departures);
            let known = self.waiting[..before].iter().find(same);
            let since = known.map_or(port.at, |known| known.since);
            self.waiting.push(Waiting { qpn, departures, since });
            let limit = backlog.packet_time * PACKET_TIMES;
            if until.since(since) > limit {
                // Where nothing ever happens again, there is no other end.
                let until = if until == SimTime::LATEST { port.at + limit } else { until };
                let rate_bps = backlog.rate.bits_per_second();
                self.keep(IdleBacklog { qpn, since, until, rate_bps });
            }
        }
        self.waiting.drain(..before);
    }

    pub(in crate::network) fn keep(&mut self, found: IdleBacklog) {
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

    use rocelab_fabric::NodeId;
    use rocelab_transport::Standing;

    use super::*;
    use crate::network::core::Network;
    use crate::network::node::Host;
    use crate::profile::Inspect;
    use crate::profile::roce::Roce;
    use crate::{Planning, Scenario, Simulation};

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    const LINE: Bandwidth = Bandwidth::from_gbps(100);

    fn backlog(qpn: u32) -> Backlog {
        let rate = Bandwidth::from_gbps(1);
        let packet_time = Duration::from_us(10);
        Backlog { qpn, priority: 3, rate, packet_time, departures: 5 }
    }

    /// A look at a time (us) at a port that has sent so much (bytes).
    fn look(seen: &mut HostBacklogs, us: u64, sent: u64, backlogs: &[Backlog]) {
        let port = PortUse { at: at(us), sent, paused: Duration::ZERO };
        seen.look(port, LINE, backlogs, at(us));
    }

    #[test]
    fn what_lasts_for_more_than_20_packet_times_is_kept_once() {
        let mut seen = HostBacklogs::default();
        for us in [100, 200, 300, 400] {
            look(&mut seen, us, 7, &[backlog(17)]);
            assert_eq!(seen.found.is_empty(), us <= 300, "200 us are not more than 200 us");
        }
        let port = PortUse { at: at(500), sent: 7, paused: Duration::ZERO };
        seen.look(port, LINE, &[backlog(17), backlog(18)], at(512));
        let expected =
            IdleBacklog { qpn: 17, since: at(100), until: at(512), rate_bps: 1_000_000_000 };
        assert_eq!(seen.found, [expected]);
    }

    #[test]
    fn a_departure_a_pause_or_a_busy_port_begins_it_anew() {
        let departed = Backlog { departures: 6, ..backlog(17) };
        // 625 kB are 50 us at 100 Gb/s, a third of the time; twice as much is more than half.
        for (sent, paused, then, is_found) in [
            (625_000, 0, backlog(17), true),
            (1_250_000, 0, backlog(17), false),
            (0, 1, backlog(17), false),
            (0, 0, departed, false),
        ] {
            let mut seen = HostBacklogs::default();
            look(&mut seen, 100, 0, &[backlog(17)]);
            for us in [250, 400] {
                let port = PortUse { at: at(us), sent, paused: Duration::from_ns(paused) };
                seen.look(port, LINE, &[then], at(us));
            }
            assert_eq!(!seen.found.is_empty(), is_found, "{sent} {paused} {then:?}");
        }
    }

    /// One sends at every look, another one does not.
    #[test]
    fn others_that_send_hide_nothing() {
        let mut seen = HostBacklogs::default();
        for (departures, us) in [(5, 100), (6, 200), (7, 300), (8, 400)] {
            let sends = Backlog { departures, ..backlog(17) };
            look(&mut seen, us, us * 1_000, &[sends, backlog(18)]);
        }
        let found: Vec<_> = seen.found.iter().map(|found| (found.qpn, found.since)).collect();
        assert_eq!(found, [(18, at(100))]);
    }

    /// One look is enough, and the end that is told is a time of the run.
    #[test]
    fn what_never_ends_is_found_at_once() {
        let mut seen = HostBacklogs::default();
        let port = PortUse { at: at(100), ..PortUse::default() };
        seen.look(port, LINE, &[backlog(17)], SimTime::LATEST);
        let expected =
            IdleBacklog { qpn: 17, since: at(100), until: at(300), rate_bps: 1_000_000_000 };
        assert_eq!(seen.found, [expected]);
    }

    const INCAST: &str = r#"
        topology = { single-switch = { hosts = 5, link = { rate = "400Gbps", cable = "3m" } } }
        roce = { path_mtu = 4096 }
        congestion_control = { dcqcn = { preset = "nvidia" } }
        workload = { incast = [{ senders = 4, bytes = "8MB" }] }
    "#;

    /// Each of the four senders has two queue pairs, and data comes to it, too.
    const TWO_WAYS: &str = r#"
        topology = { single-switch = { hosts = 5, link = { rate = "400Gbps", cable = "3m" } } }
        roce = { path_mtu = 4096 }
        switch = { lossless = [3, 4] }
        congestion_control = { dcqcn = { preset = "nvidia" } }
        workload.incast = [{ senders = 4, bytes = "8MB" }, { senders = 4, bytes = "8MB" }]
        workload.permutation = { bytes = "16MB" }
    "#;

    fn simulation(text: &str) -> Simulation {
        let scenario = Scenario::parse(text, Path::new("idle.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network")
    }

    /// Rates rise and fall, queue pairs wait for credit, and their ports are paused; both ways, with
    /// several priorities and slow receivers.
    #[test]
    fn nothing_is_found_where_pacing_follows_the_rate() {
        let paper = |text: &str| text.replace("nvidia", "paper");
        let slow = |text: &str| {
            format!("{text}\nslow_receiver = [{{ hosts = [\"host-1\"], rate = \"50Gbps\" }}]\n")
        };
        let classes = TWO_WAYS.replace("[{", "[{ priority = 4,");
        let permutation = INCAST.replace(
            r#"incast = [{ senders = 4, bytes = "8MB" }]"#,
            r#"permutation = { bytes = "8MB" }"#,
        );
        assert_ne!(permutation, INCAST);
        for text in [
            INCAST.to_owned(),
            paper(INCAST),
            permutation.clone(),
            paper(&permutation),
            TWO_WAYS.to_owned(),
            slow(TWO_WAYS),
            slow(&paper(TWO_WAYS)),
            classes,
        ] {
            let mut simulation = simulation(&text);
            simulation.run_to_end();
            assert_eq!(simulation.network().idle_backlogs(), [], "{text}");
        }
    }

    /// Departures that are forgotten: events stand still while time goes on.
    #[test]
    fn what_does_not_send_is_found() {
        let mut simulation = simulation(INCAST);
        simulation.advance(2_000);
        let now = simulation.now();
        let network = simulation.network_mut();
        let looks = [1_u64, 2, 3].map(|ms| now + Duration::from_ms(ms));
        for look in looks {
            network.backlog_search().look_for_idle_backlogs(look, look);
        }
        let found = simulation.network().idle_backlogs();
        assert!(!found.is_empty());
        for (node, idle) in found {
            assert!((1..=4).contains(&node), "the senders");
            assert_eq!((idle.since, idle.until), (looks[0], looks[2]));
        }
    }

    /// Nothing is left that could happen, and there is one look.
    #[test]
    fn what_is_forgotten_for_ever_is_found() {
        let mut simulation = simulation(INCAST);
        simulation.advance(2_000);
        let look = simulation.now() + Duration::from_us(50);
        simulation.network_mut().backlog_search().look_for_idle_backlogs(look, SimTime::LATEST);
        let found = simulation.network().idle_backlogs();
        assert!(!found.is_empty());
        for (_, idle) in found {
            assert!(idle.since == look && idle.until < look + Duration::from_ms(1));
        }
    }

    /// Puts off the departure of a queue pair that waits for pacing credit, by hours, and tells whose.
    /// The state of its host holds the time in each place that says when it may send.
    fn withhold(network: &mut Network<Roce>, now: SimTime) -> Option<(NodeId, u32)> {
        let waits = |host: &Host<Roce>| {
            let times = host.end_host.backlogs().filter_map(|backlog| {
                let Standing::MaySend(due) = host.end_host.standing(backlog.qpn)? else {
                    return None;
                };
                (due > now).then_some((backlog.qpn, due))
            });
            times.min()
        };
        let (number, (qpn, due)) =
            network.hosts.iter().enumerate().find_map(|(n, host)| Some((n, waits(host)?)))?;
        let host = &mut network.hosts[number];
        let mut state = Vec::new();
        host.end_host.save(&mut network.shared, &mut state).expect("a state");
        let later = (due + Duration::from_ms(10_000_000)).ps().to_le_bytes();
        let due = due.ps().to_le_bytes();
        for place in 0..state.len() - due.len() {
            if state[place..].starts_with(&due) {
                state[place..place + due.len()].copy_from_slice(&later);
            }
        }
        host.end_host.load(&network.plan, &mut network.shared, &mut &state[..]).expect("it fits");
        Some((host.node, qpn))
    }

    /// One of two queue pairs of a host, to which data comes: acknowledgements and the other one's data
    /// leave its port.
    #[test]
    fn a_departure_that_is_withheld_is_found_beside_other_traffic() {
        let mut simulation = simulation(TWO_WAYS);
        let withheld = loop {
            assert_eq!(simulation.advance(1_000), None, "some queue pair is paced");
            let now = simulation.now();
            if let Some(withheld) = withhold(simulation.network_mut(), now) {
                break withheld;
            }
        };
        let since = simulation.now();
        let end = since + Duration::from_ms(5);
        while simulation.now() < end && simulation.advance(1_000).is_none() {}
        let found = simulation.network().idle_backlogs();
        assert!(!found.is_empty());
        for (node, idle) in found {
            assert_eq!((node, idle.qpn), withheld);
            assert!(idle.since > since);
        }
    }
}
