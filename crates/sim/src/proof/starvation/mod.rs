//! Priorities that strict scheduling leaves nothing for a while.

mod filling;
mod paths;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use rocelab_fabric::NodeId;
use rocelab_units::{Bandwidth, Bytes, Duration};
use serde::Serialize;

use crate::{FlowPlan, Plan};

use filling::{Filling, Interval, Waiting};
use paths::{Paths, Place, Visit};

/// A priority whose frames wait at ports where a higher one, scheduled strictly before it, can send at the line
/// rate for long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StarvedPriority {
    /// The priority with which hosts send what waits.
    pub priority: u8,
    /// Whether that is TCP.
    pub is_tcp: bool,
    /// Flows of it that are at such a port in that time, and connections of applications through it; each once.
    pub flows: u64,
    /// The priority of those flows that go first.
    pub behind: u8,
    /// Where that lasts longest: the egress port.
    pub port: String,
    /// For how long those that go first can fill that port (ps).
    pub longest_ps: u64,
    /// How many such ports there are.
    pub ports: u64,
}

/// What goes first for less is told of nobody: a round trip through full buffers takes as long.
const LEAST: Duration = Duration::from_ms(1);

impl StarvedPriority {
    /// Those of a plan. What applications send counts as what may wait at any time, and not as what fills a port:
    /// how much it is follows from the run.
    pub fn all_of(plan: &Plan) -> Vec<Self> {
        let mut priorities = plan.flows.iter().map(|flow| flow.priority);
        let first = priorities.next().or(plan.connections.first().map(|one| one.priority));
        let of_connections = plan.connections.iter().map(|connection| connection.priority);
        let is_one = priorities.chain(of_connections).all(|priority| Some(priority) == first);
        if plan.profile.hpcc_ns3().is_some() || is_one {
            return Vec::new();
        }
        let Ok(routes) = plan.routes(&plan.active_links) else { return Vec::new() };
        let search = Search { plan, paths: Paths::new(plan, routes) };
        let busy = search.busy_for_long();
        if busy.is_empty() {
            return Vec::new();
        }
        let order = search.flows_by_start();
        let filled = search.filled(&order, busy);
        if filled.is_empty() { Vec::new() } else { search.starved(&order, &filled) }
    }
}

/// Follows all flows, up to three times. What is kept of each flow and port would be large, so each time
/// looks only at those places that the one before has left.
struct Search<'a> {
    plan: &'a Plan,
    paths: Paths<'a>,
}

impl Search<'_> {
    fn flows(&self) -> impl Iterator<Item = &FlowPlan> {
        let stop = self.plan.stop;
        self.plan.flows.iter().filter(move |flow| stop.is_none_or(|stop| flow.start < stop))
    }

    /// The flows of the run, in the order of their starts.
    fn flows_by_start(&self) -> Vec<&FlowPlan> {
        let mut order: Vec<_> = self.flows().collect();
        order.sort_by_key(|flow| flow.start);
        order
    }

    /// Places with work for [`LEAST`] in all the run, and others of lower queues behind them.
    fn busy_for_long(&self) -> Vec<Place> {
        let mut work: BTreeMap<Place, u64> = BTreeMap::new();
        for flow in self.flows() {
            self.paths.follow_flow(flow, |visit| {
                let work = work.entry(visit.place).or_default();
                *work = work.saturating_add(time_of(flow, visit.port_rate));
            });
        }
        for connection in &self.plan.connections {
            self.paths.follow_connection(connection, |visit| {
                work.entry(visit.place).or_default();
            });
        }
        let is_first = |place: Place| {
            let lower = Place::first_of(place.port, 0)..Place::first_of(place.port, place.queue);
            work.range(lower).next().is_some()
        };
        let long = work.iter().filter(|&(_, &work)| work >= LEAST.ps()).map(|(&place, _)| place);
        long.filter(|&place| is_first(place) && !self.paths.is_shaped(place)).collect()
    }

    /// When those that send to these places can fill the ports, for [`LEAST`] or longer.
    fn filled(&self, order: &[&FlowPlan], busy: Vec<Place>) -> BTreeMap<Place, Vec<Interval>> {
        let mut places: BTreeMap<Place, Option<Filling>> =
            busy.into_iter().map(|place| (place, None)).collect();
        for flow in order {
            self.paths.follow_flow(flow, |visit| {
                let Some(place) = places.get_mut(&visit.place) else { return };
                let new = || Filling::new(visit.port_rate.bits_per_second(), LEAST.ps());
                let (rate, lasts) = (visit.source_rate, time_of(flow, visit.source_rate));
                let filling = place.get_or_insert_with(new);
                filling.add(flow.start.ps(), visit.source, rate.bits_per_second(), lasts);
            });
        }
        let filled = places.into_iter().filter_map(|(place, filling)| Some((place, filling?)));
        let filled = filled.map(|(place, filling)| (place, filling.finish()));
        filled.filter(|(_, intervals)| !intervals.is_empty()).collect()
    }

    /// Those that are there meanwhile, in lower queues.
    fn starved(
        &self,
        order: &[&FlowPlan],
        filled: &BTreeMap<Place, Vec<Interval>>,
    ) -> Vec<StarvedPriority> {
        let mut findings = Findings { filled, found: BTreeMap::new(), user: 0 };
        let mut waiting: BTreeMap<Place, Waiting> = BTreeMap::new();
        for flow in order {
            findings.user += 1;
            self.paths.follow_flow(flow, |visit| {
                if findings.filled_before(visit.place).next().is_some() {
                    let place = waiting.entry(visit.place).or_default();
                    let lasts =
                        [visit.source_rate, visit.port_rate].map(|rate| time_of(flow, rate));
                    let time = place.add(flow.start.ps(), &visit, lasts[0], lasts[1]);
                    findings.add(&visit, time);
                }
            });
        }
        for connection in &self.plan.connections {
            findings.user += 1;
            let always = Interval { since: 0, until: u64::MAX };
            self.paths.follow_connection(connection, |visit| findings.add(&visit, always));
        }
        let found = findings.found.into_iter();
        found.map(|(of, finding)| finding.named(of, self.plan)).collect()
    }
}

/// How long a flow's bytes take at a rate (ps).
fn time_of(flow: &FlowPlan, rate: Bandwidth) -> u64 {
    rate.transmission_time(Bytes::new(flow.bytes)).ps()
}

/// What was found of those that wait.
struct Findings<'a> {
    filled: &'a BTreeMap<Place, Vec<Interval>>,
    /// By their priority, whether that is TCP, and the priority of those that go first.
    found: BTreeMap<(u8, bool, u8), Finding>,
    /// The number of the flow or connection that is followed.
    user: u64,
}

#[derive(Default)]
struct Finding {
    users: u64,
    last_user: u64,
    ports: BTreeMap<(NodeId, u16), u64>,
}

impl<'a> Findings<'a> {
    /// The times for which higher queues fill the port of a place.
    fn filled_before(&self, place: Place) -> impl Iterator<Item = (&'a Place, &'a Vec<Interval>)> {
        let higher = Place::first_of(place.port, place.queue + 1)..Place::first_of(place.port, 8);
        self.filled.range(higher)
    }

    /// What is there for this time.
    fn add(&mut self, visit: &Visit, time: Interval) {
        let place = visit.place;
        let all = self.filled_before(place).flat_map(|(first, intervals)| {
            // They are in their order, and apart.
            let begin = intervals.partition_point(|interval| interval.until <= time.since);
            let met =
                intervals[begin..].iter().take_while(move |interval| time.overlaps(**interval));
            met.map(move |interval| (interval.length(), first.priority))
        });
        let Some((length, behind)) = all.max() else { return };
        let finding = self.found.entry((place.priority, place.is_tcp, behind)).or_default();
        // Users are followed one after the other.
        finding.users += u64::from(finding.last_user != self.user);
        finding.last_user = self.user;
        let longest = finding.ports.entry(place.port).or_default();
        *longest = length.max(*longest);
    }
}

impl Finding {
    fn named(self, (priority, is_tcp, behind): (u8, bool, u8), plan: &Plan) -> StarvedPriority {
        let longest = self.ports.iter().max_by_key(|&(&port, &length)| (length, Reverse(port)));
        let ((node, port), longest_ps) = longest.map_or(((0, 0), 0), |(&port, &ps)| (port, ps));
        StarvedPriority {
            priority,
            is_tcp,
            flows: self.users,
            behind,
            port: format!("{}:{port}", plan.topology.nodes[node as usize].name),
            longest_ps,
            ports: self.ports.len() as u64,
        }
    }
}

impl fmt::Display for StarvedPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { priority, behind, port, .. } = self;
        let what = match (self.is_tcp, self.flows) {
            (true, 1) => "a flow of TCP".to_owned(),
            (true, flows) => format!("{flows} flows of TCP"),
            (false, 1) => "a flow or connection of RDMA".to_owned(),
            (false, flows) => format!("{flows} flows or connections of RDMA"),
        };
        write!(
            f,
            "`switch.scheduler` is strict, and priority {behind} can fill {port} for {}: meanwhile priority \
             {priority} ({what}) gets nothing there",
            Duration::from_ps(self.longest_ps)
        )?;
        match self.ports {
            0 | 1 => {}
            ports => write!(f, ", nor at {} more ports like it", ports - 1)?,
        }
        f.write_str("; give weights, such as `scheduler = { dwrr = { weights = [1, 1, 1, 8] } }`, or a shaper")
    }
}
