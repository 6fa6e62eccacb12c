//! Priorities that strict scheduling leaves nothing for a while.

mod filling;
mod paths;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use rocelab_fabric::NodeId;
use rocelab_units::{Bandwidth, Bytes, Duration};
use serde::Serialize;

use crate::{FlowPlan, Plan};

use filling::{Filled, FilledTimes, Filling, Interval, Waiting};
use paths::{Paths, Place, Port, Visit};

/// A priority whose frames wait at ports where higher ones, scheduled strictly before it, can together send at the
/// line rate for long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StarvedPriority {
    /// The priority with which hosts send what waits.
    pub priority: u8,
    /// Whether that is TCP.
    pub is_tcp: bool,
    /// Flows of it that are at such a port in that time, and connections of applications through it; each once.
    pub flows: u64,
    /// Where that lasts longest: the priorities of those flows that go first and fill the port together.
    pub behind: Vec<u8>,
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
        let first = priorities
            .next()
            .or(crate::plan::network_connections(plan).next().map(|(_, one)| one.priority));
        let of_connections = crate::plan::network_connections(plan).map(|(_, one)| one.priority);
        let is_one = priorities.chain(of_connections).all(|priority| Some(priority) == first);
        // How much of a flow each port gets is not known where its packets take several paths,
        // where bridges and routers are in one network, or where trees of multicast groups are.
        let is_unknown =
            plan.spreads_packets() || plan.roce.domains.is_some() || plan.roce.multicast.is_some();
        if plan.profile.hpcc_ns3().is_some() || is_one || is_unknown {
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
        if filled.is_empty() {
            return Vec::new();
        }
        let apart = search.with_one_shared(&order, search.who_waits_for_itself(&filled));
        search.starved(&order, &Levels { filled, apart })
    }
}

/// Follows all flows, up to five times. What is kept of each flow and port would be large, so each time
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

    /// Levels with work for [`LEAST`] in all the run, and with others of lower queues behind them. A queue that
    /// a shaper holds back adds no work.
    fn busy_for_long(&self) -> Vec<Level> {
        let mut work: BTreeMap<Level, u64> = BTreeMap::new();
        for flow in self.flows() {
            self.paths.follow_flow(flow, |visit| {
                let work = work.entry(Level::of(visit.place)).or_default();
                let lasts = if visit.is_shaped { 0 } else { time_of(flow, visit.port_rate) };
                *work = work.saturating_add(lasts);
            });
        }
        for (_, connection) in crate::plan::network_connections(self.plan) {
            self.paths.follow_connection(connection, |visit| {
                work.entry(Level::of(visit.place)).or_default();
            });
        }
        busy_levels(&work)
    }

    /// When those that send to these levels can fill the ports, for [`LEAST`] or longer.
    fn filled(&self, order: &[&FlowPlan], busy: Vec<Level>) -> FilledLevels {
        let mut levels: BTreeMap<Level, Option<Filling>> =
            busy.into_iter().map(|level| (level, None)).collect();
        for flow in order {
            self.paths.follow_flow(flow, |visit| {
                let own = Level::of(visit.place);
                for (_, level) in levels.range_mut(own.lowest()..=own) {
                    let new = || Filling::new(visit.port_rate.bits_per_second(), LEAST.ps());
                    add(level.get_or_insert_with(new), flow, &visit);
                }
            });
        }
        let filled = levels.into_iter().filter_map(|(level, filling)| Some((level, filling?)));
        let filled = filled.map(|(level, filling)| (level, filling.finish()));
        filled.filter(|(_, filled)| !filled.times.is_empty()).collect()
    }

    /// The levels that a source sends to and waits behind, each with as many such sources as are affordable.
    fn who_waits_for_itself(&self, filled: &FilledLevels) -> Apart<Filling> {
        /// Of a level with more of them it is taken that none shares its link.
        const MOST_SOURCES: usize = 64;
        /// Each flow is added once for each of these sources; some seconds of that are affordable.
        const MOST_ADDED: usize = 2_000_000;
        let most_sources = MOST_SOURCES.min(MOST_ADDED / self.flows().count().max(1));
        let mut apart: Apart<Filling> = BTreeMap::new();
        let mut note = |visit: Visit| {
            for (&level, filled) in filled.range(above(visit.place)) {
                if filled.sources.contains(&visit.source) {
                    let sources = apart.entry(level).or_default();
                    if sources.len() <= most_sources {
                        let filling = Filling::new(visit.port_rate.bits_per_second(), LEAST.ps());
                        sources.entry(visit.source).or_insert(filling);
                    }
                }
            }
        };
        self.flows().for_each(|flow| self.paths.follow_flow(flow, &mut note));
        for (_, connection) in crate::plan::network_connections(self.plan) {
            self.paths.follow_connection(connection, &mut note);
        }
        apart.retain(|_, sources| sources.len() <= most_sources);
        apart
    }

    /// When levels are filled if one source has half of its link for them: it shares the link with what it sends
    /// itself to the queue that waits.
    fn with_one_shared(
        &self,
        order: &[&FlowPlan],
        mut apart: Apart<Filling>,
    ) -> Apart<Vec<Filled>> {
        let order = if apart.is_empty() { &[][..] } else { order };
        for flow in order {
            self.paths.follow_flow(flow, |visit| {
                let own = Level::of(visit.place);
                for (_, sources) in apart.range_mut(own.lowest()..=own) {
                    for (&source, filling) in sources {
                        let shares = source == visit.source;
                        let visit = if shares { visit.with_half_of_its_link() } else { visit };
                        add(filling, flow, &visit);
                    }
                }
            });
        }
        let finished = |(source, filling): (NodeId, Filling)| (source, filling.finish().times);
        let of_level = |sources: BTreeMap<NodeId, Filling>| sources.into_iter().map(finished);
        apart.into_iter().map(|(level, sources)| (level, of_level(sources).collect())).collect()
    }

    /// Those that are there meanwhile, in lower queues.
    fn starved(&self, order: &[&FlowPlan], levels: &Levels) -> Vec<StarvedPriority> {
        let mut findings = Findings { levels, found: BTreeMap::new(), user: 0 };
        let mut waiting: BTreeMap<Place, Waiting> = BTreeMap::new();
        for flow in order {
            findings.user += 1;
            self.paths.follow_flow(flow, |visit| {
                if levels.filled_before(&visit).next().is_some() {
                    let place = waiting.entry(visit.place).or_default();
                    let lasts =
                        [visit.source_rate, visit.port_rate].map(|rate| time_of(flow, rate));
                    let time = place.add(flow.start.ps(), &visit, lasts[0], lasts[1]);
                    findings.add(&visit, time);
                }
            });
        }
        for (_, connection) in crate::plan::network_connections(self.plan) {
            findings.user += 1;
            let always = Interval { since: 0, until: u64::MAX };
            self.paths.follow_connection(connection, |visit| findings.add(&visit, always));
        }
        let found = findings.found.into_iter();
        found.map(|(of, finding)| finding.named(of, self.plan)).collect()
    }
}

/// The queues of a port from one on, all of which go before those below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Level {
    port: Port,
    lowest_queue: u8,
}

/// For each level when it fills its port.
type FilledLevels = BTreeMap<Level, FilledTimes>;

/// For some levels what holds of them without each of some sources.
type Apart<T> = BTreeMap<Level, BTreeMap<NodeId, T>>;

/// The levels that fill their ports.
struct Levels {
    filled: FilledLevels,
    /// The same for a source that waits behind it, and shares its link with what it sends there.
    apart: Apart<Vec<Filled>>,
}

impl Levels {
    /// The times for which the port of a place is filled in higher queues: for each level above it.
    fn filled_before(&self, visit: &Visit) -> impl Iterator<Item = &[Filled]> {
        let source = visit.source;
        self.filled.range(above(visit.place)).map(move |(level, filled)| {
            let apart = self.apart.get(level).and_then(|sources| sources.get(&source));
            apart.unwrap_or(&filled.times).as_slice()
        })
    }
}

/// The levels of a port that go before a place.
fn above(place: Place) -> RangeInclusive<Level> {
    let level = |lowest_queue| Level { port: place.port, lowest_queue };
    level(place.queue + 1)..=level(u8::MAX)
}

impl Visit {
    /// The same of a source that shares its own link with another queue.
    fn with_half_of_its_link(self) -> Self {
        let half = Bandwidth::from_bps(self.host_rate.bits_per_second() / 2);
        Self { source_rate: self.source_rate.min(half), ..self }
    }
}

/// Adds what a flow brings to a port; nothing from a queue that a shaper holds back.
fn add(filling: &mut Filling, flow: &FlowPlan, visit: &Visit) {
    if !visit.is_shaped {
        let (rate, lasts) = (visit.source_rate, time_of(flow, visit.source_rate));
        let from = (visit.source, flow.priority);
        filling.add(flow.start.ps(), from, rate.bits_per_second(), lasts);
    }
}

impl Level {
    /// The highest one that a place belongs to.
    fn of(place: Place) -> Self {
        Self { port: place.port, lowest_queue: place.queue }
    }

    /// All of its port.
    fn lowest(self) -> Self {
        Self { lowest_queue: 0, ..self }
    }
}

/// The levels of ports with work for [`LEAST`] or longer, and a queue below; by the work of each queue (ps).
fn busy_levels(work: &BTreeMap<Level, u64>) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut above: Option<(Port, u64)> = None;
    let mut queues = work.iter().rev().peekable();
    while let Some((&level, &own)) = queues.next() {
        let higher = above.filter(|(port, _)| *port == level.port).map_or(0, |(_, work)| work);
        let all = own.saturating_add(higher);
        above = Some((level.port, all));
        if all >= LEAST.ps() && queues.peek().is_some_and(|(lower, _)| lower.port == level.port) {
            levels.push(level);
        }
    }
    levels
}

/// How long a flow's bytes take at a rate (ps).
fn time_of(flow: &FlowPlan, rate: Bandwidth) -> u64 {
    rate.transmission_time(Bytes::new(flow.bytes)).ps()
}

/// What was found of those that wait.
struct Findings<'a> {
    levels: &'a Levels,
    /// By their priority, and whether that is TCP.
    found: BTreeMap<(u8, bool), Finding>,
    /// The number of the flow or connection that is followed.
    user: u64,
}

#[derive(Default)]
struct Finding {
    users: u64,
    last_user: u64,
    /// How long each port is full at the longest (ps), and the priorities that fill it (bit p).
    ports: BTreeMap<Port, (u64, u8)>,
}

impl Findings<'_> {
    /// What is there for this time.
    fn add(&mut self, visit: &Visit, time: Interval) {
        let place = visit.place;
        let all = self.levels.filled_before(visit).flat_map(|filled| {
            // They are in their order, and apart.
            let begin = filled.partition_point(|one| one.interval.until <= time.since);
            let met = filled[begin..].iter().take_while(move |one| time.overlaps(one.interval));
            met.map(|one| (one.interval.length(), one.priorities))
        });
        let Some(longest) = all.max() else { return };
        let finding = self.found.entry((place.priority, place.is_tcp)).or_default();
        // Users are followed one after the other.
        finding.users += u64::from(finding.last_user != self.user);
        finding.last_user = self.user;
        let before = finding.ports.entry(place.port).or_default();
        *before = longest.max(*before);
    }
}

impl Finding {
    fn named(self, (priority, is_tcp): (u8, bool), plan: &Plan) -> StarvedPriority {
        let ports = self.ports.iter();
        let longest = ports.max_by_key(|&(&port, &(length, _))| (length, Reverse(port)));
        let ((node, port), (longest_ps, behind)) =
            longest.map_or(((0, 0), (0, 0)), |(&port, &longest)| (port, longest));
        StarvedPriority {
            priority,
            is_tcp,
            flows: self.users,
            behind: (0..8).filter(|priority| behind >> priority & 1 == 1).collect(),
            port: format!("{}:{port}", plan.topology.nodes[node as usize].name),
            longest_ps,
            ports: self.ports.len() as u64,
        }
    }
}

/// Such as `priority 3`, or `priorities 3 and 4 together`.
fn named_priorities(priorities: &[u8]) -> String {
    match priorities {
        [] => "what goes first".to_owned(),
        [one] => format!("priority {one}"),
        [others @ .., last] => {
            let others: Vec<String> = others.iter().map(u8::to_string).collect();
            format!("priorities {} and {last} together", others.join(", "))
        }
    }
}

/// A time in words, to four digits and more (ps).
fn rounded(time_ps: u64) -> Duration {
    let mut step = 1;
    while time_ps / step >= 100_000 {
        step *= 10;
    }
    Duration::from_ps(time_ps / step * step)
}

impl fmt::Display for StarvedPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { priority, port, .. } = self;
        let behind = named_priorities(&self.behind);
        let what = match (self.is_tcp, self.flows) {
            (true, 1) => "a flow of TCP".to_owned(),
            (true, flows) => format!("{flows} flows of TCP"),
            (false, 1) => "a flow or connection of RDMA".to_owned(),
            (false, flows) => format!("{flows} flows or connections of RDMA"),
        };
        write!(
            f,
            "`switch.scheduler` is strict, and {behind} can fill {port} for {}: meanwhile priority \
             {priority} ({what}) gets nothing there",
            rounded(self.longest_ps)
        )?;
        match self.ports {
            0 | 1 => {}
            ports => write!(f, ", nor at {} more ports like it", ports - 1)?,
        }
        f.write_str("; give weights, such as `scheduler = { dwrr = { weights = [1, 1, 1, 8] } }`, or a shaper")
    }
}
