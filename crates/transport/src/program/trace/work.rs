//! What the ranks of a trace do, as it was read: graphs, groups, and how collective operations are carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocelab_collective::{Error, Schedule};
use rocelab_trace::check::check;
use rocelab_trace::{CollectiveKind, Operation, RankGraph, Trace};

use super::Parameters;
use super::tag::Layout;
use crate::congestion_control::InvalidParameter;
use crate::program::exchange::{Part, READY_BYTES, Rules};
use crate::work::MAX_MESSAGE_LENGTH;

/// The longest computation (ps): 1000 s.
const LONGEST_PS: u64 = 1_000_000_000_000_000;

/// What the ranks of a trace do.
#[derive(Debug)]
pub(super) struct Work {
    ranks: u32,
    pub(super) graphs: Vec<Arc<RankGraph>>,
    pub(super) groups: Vec<Group>,
    pub(super) classes: Vec<Class>,
    /// The number of each class, by group, kind and size.
    numbers: BTreeMap<(u32, CollectiveKind, u64), u32>,
    pub(super) layout: Layout,
    pub(super) pairs: Pairs,
    /// Channels of the collective operations.
    channels: u32,
    /// Queue pairs of the collective operations, of each ordered pair of ranks that exchanges data.
    pub(super) copies: u32,
    /// The largest message (bytes).
    pub(super) largest_message: u32,
    /// Messages of a queue pair for which receivers say at most that they are ready.
    pub(super) receive_depth: u32,
    /// Payload that the busiest rank sends at least in an iteration (bytes).
    pub(super) payload: u64,
}

/// A group of ranks.
#[derive(Debug)]
pub(super) struct Group {
    /// Its ranks, in the order of their numbers in the group.
    pub(super) ranks: Vec<u32>,
    /// The number of each.
    numbers: BTreeMap<u32, u32>,
}

impl Group {
    /// The number of a rank in the group.
    pub(super) fn number(&self, rank: u32) -> Option<u32> {
        self.numbers.get(&rank).copied()
    }
}

/// Collective operations that are carried out in the same way by the same ranks.
#[derive(Debug)]
pub(super) struct Class {
    /// The group.
    pub(super) group: u32,
    schedule: Arc<dyn Schedule>,
    rules: Arc<Rules>,
    /// The most pieces of messages from one rank to a lane, or more.
    pieces: u64,
    /// How many of them a rank begins in an iteration.
    count: u64,
}

/// Ordered pairs of ranks that need queue pairs.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Those of nodes that send: one queue pair, behind those of collective operations.
    messages: BTreeSet<(u32, u32)>,
    /// Those of collective operations.
    collectives: BTreeSet<(u32, u32)>,
    /// Those of ranks that are the first of no other pair: their operations are shown with it.
    listeners: BTreeSet<(u32, u32)>,
}

impl Work {
    /// What a trace has, if it can be carried out.
    pub(super) fn new(trace: Trace, keys: &Parameters) -> Result<Self, InvalidParameter> {
        refuse_problems(&trace, keys)?;
        let numbers =
            |ranks: &[u32]| ranks.iter().zip(0..).map(|(rank, number)| (*rank, number)).collect();
        let groups = trace
            .groups
            .iter()
            .map(|group| Group { numbers: numbers(&group.ranks), ranks: group.ranks.clone() });
        let mut work = Self {
            ranks: u32::try_from(trace.ranks().len()).unwrap_or(u32::MAX),
            graphs: Vec::new(),
            groups: groups.collect(),
            classes: Vec::new(),
            numbers: BTreeMap::new(),
            layout: Layout::default(),
            pairs: Pairs::default(),
            channels: keys.collective.channels,
            copies: keys.collective.queue_pairs_of_pair(),
            largest_message: READY_BYTES,
            receive_depth: 0,
            payload: 0,
        };
        for rank in 0..work.ranks {
            work.add_rank(&trace, keys, rank)?;
        }
        work.lay_out(keys)?;
        work.connect();
        work.graphs = trace.ranks.into_iter().map(Arc::new).collect();
        Ok(work)
    }

    /// The number of the class of an operation; `None` in a group of one rank, where there is nothing to do.
    pub(super) fn class(&self, group: u32, kind: CollectiveKind, bytes: u64) -> Option<u32> {
        self.numbers.get(&(group, kind, bytes)).copied()
    }

    /// The part of a rank in each class of which it is.
    pub(super) fn parts(&self, rank: u32) -> BTreeMap<u32, Part> {
        let classes = (0..).zip(&self.classes);
        let own = classes.filter_map(|(number, class)| {
            let place = self.groups[class.group as usize].number(rank)?;
            let (rules, schedule) = (Arc::clone(&class.rules), Arc::clone(&class.schedule));
            Some((number, Part::new(rules, schedule, self.channels, place)))
        });
        own.collect()
    }

    fn add_rank(
        &mut self,
        trace: &Trace,
        keys: &Parameters,
        rank: u32,
    ) -> Result<(), InvalidParameter> {
        let mut payload = 0_u64;
        for (node, what) in (0..).zip(trace.ranks()[rank as usize].nodes()) {
            match what.operation {
                Operation::Send { peer, bytes, .. } => {
                    self.add_send(trace, keys, (rank, node), (peer, bytes))?;
                    payload = payload.saturating_add(bytes);
                }
                Operation::Collective { kind, group, bytes } => {
                    let ranks = self.groups[group as usize].ranks.len() as u64;
                    payload = payload.saturating_add(kind.least_sent(bytes, ranks));
                    self.add_collective(trace, keys, (rank, node), (kind, group, bytes))?;
                }
                Operation::Compute { duration_ps } if duration_ps > LONGEST_PS => {
                    let name = trace.name(rank, node);
                    let fix = "give a smaller `compute_scale`, or mend the trace";
                    return Err(keys.refused(format!("{name}: it takes more than 1000s"), fix));
                }
                _ => {}
            }
        }
        self.payload = self.payload.max(payload);
        Ok(())
    }

    fn add_send(
        &mut self,
        trace: &Trace,
        keys: &Parameters,
        (rank, node): (u32, u32),
        (peer, bytes): (u32, u64),
    ) -> Result<(), InvalidParameter> {
        let wrong = |problem: String, fix: &str| {
            keys.refused(format!("{}: {problem}", trace.name(rank, node)), fix)
        };
        if peer >= self.ranks {
            let problem = format!("it sends to rank {peer}, which there is not");
            return Err(wrong(problem, "mend the trace"));
        }
        let fitting = u32::try_from(bytes).ok().filter(|bytes| *bytes <= MAX_MESSAGE_LENGTH);
        let Some(length) = fitting else {
            let problem = format!("it sends {bytes} bytes, and a message has at most 2GiB");
            return Err(wrong(problem, "write several nodes in the trace"));
        };
        self.largest_message = self.largest_message.max(length);
        if peer != rank {
            self.pairs.messages.insert((rank, peer));
        }
        Ok(())
    }

    fn add_collective(
        &mut self,
        trace: &Trace,
        keys: &Parameters,
        (rank, node): (u32, u32),
        (kind, group, bytes): (CollectiveKind, u32, u64),
    ) -> Result<(), InvalidParameter> {
        let members = &self.groups[group as usize];
        if members.number(rank).is_none() {
            let name = trace.name(rank, node);
            let problem = format!("{name}: its group has not rank {rank}");
            return Err(keys.refused(problem, "name the ranks of the group in `groups`"));
        }
        let first = members.ranks.first() == Some(&rank);
        let count = u32::try_from(members.ranks.len()).unwrap_or(u32::MAX);
        if count < 2 {
            return Ok(());
        }
        let key = (group, kind, bytes);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let class = self.plan(keys, (kind, group, bytes)).map_err(|error| {
                    refused(error, &format!("{}: {kind}", trace.name(rank, node)))
                })?;
                let number = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
                self.add_class(trace, keys, (rank, node), class)?;
                self.numbers.insert(key, number);
                number
            }
        };
        // All ranks of the group have as many, or the trace is refused.
        self.classes[number as usize].count += u64::from(first);
        Ok(())
    }

    /// How an operation is carried out: as another one of the same kind, ranks and bytes, if there is one.
    fn plan(
        &self,
        keys: &Parameters,
        (kind, group, bytes): (CollectiveKind, u32, u64),
    ) -> Result<Class, Error> {
        let size = |group: u32| self.groups[group as usize].ranks.len();
        let alike = self.numbers.iter().find(|((other, its, length), _)| {
            *its == kind && *length == bytes && size(*other) == size(group)
        });
        if let Some((_, number)) = alike {
            let Class { schedule, rules, pieces, .. } = &self.classes[*number as usize];
            let (schedule, rules) = (Arc::clone(schedule), Arc::clone(rules));
            return Ok(Class { group, schedule, rules, pieces: *pieces, count: 0 });
        }
        let ranks = u32::try_from(size(group)).unwrap_or(u32::MAX);
        let (schedule, rules) = keys.collective.plan(kind, ranks, bytes)?;
        let pieces = most_messages(&*schedule).saturating_mul(rules.pieces());
        let (schedule, rules) = (schedule.into(), Arc::new(rules));
        Ok(Class { group, schedule, rules, pieces, count: 0 })
    }

    fn add_class(
        &mut self,
        trace: &Trace,
        keys: &Parameters,
        (rank, node): (u32, u32),
        class: Class,
    ) -> Result<(), InvalidParameter> {
        let schedule = &class.schedule;
        if schedule.switches() > 0 {
            return Err(InvalidParameter {
                key: "collective.algorithm",
                value: "nvls".to_owned(),
                problem: "needs switches that add up, which an Ethernet fabric has not".into(),
                fix: "use `ring`".into(),
            });
        }
        let largest = class.rules.protocol.wire_bytes(schedule.largest_message());
        let fitting = u32::try_from(largest).ok().filter(|bytes| *bytes <= MAX_MESSAGE_LENGTH);
        let Some(largest) = fitting else {
            let problem = format!(
                "{}: its messages have {largest} bytes, and a message has at most 2GiB",
                trace.name(rank, node)
            );
            return Err(keys.refused(problem, "give a `collective.chunk`, such as \"2MiB\""));
        };
        self.largest_message = self.largest_message.max(largest);
        let window = u32::try_from(class.rules.window).unwrap_or(u32::MAX);
        let streams = (schedule.lanes() / self.channels.max(1)).max(1);
        self.receive_depth = self.receive_depth.max(window.saturating_mul(streams));
        let ranks = &self.groups[class.group as usize].ranks;
        let pairs = schedule.connections();
        let pairs = pairs.map(|(from, to)| (ranks[from as usize], ranks[to as usize]));
        self.pairs.collectives.extend(pairs);
        self.classes.push(class);
        Ok(())
    }

    /// How tags tell messages of collective operations apart.
    fn lay_out(&mut self, keys: &Parameters) -> Result<(), InvalidParameter> {
        let most = |of: &dyn Fn(&Class) -> u64| self.classes.iter().map(of).max().unwrap_or(1);
        let numbers = most(&|class| class.count).saturating_mul(keys.iterations);
        let lanes = most(&|class| class.schedule.lanes().into());
        let sequences = most(&|class| class.pieces);
        let layout = Layout::new(self.classes.len() as u64, numbers, lanes, sequences);
        self.layout = layout.ok_or_else(|| InvalidParameter {
            key: "iterations",
            value: keys.iterations.to_string(),
            problem: "makes more messages of collective operations than can be told apart".into(),
            fix:
                "give fewer iterations, fewer `collective.channels` or a larger `collective.chunk`"
                    .into(),
        })?;
        Ok(())
    }

    /// Connections for ranks that send nothing: what they do is shown with one of their own.
    fn connect(&mut self) {
        // The first that sends to each rank.
        let mut heard = BTreeMap::new();
        for &(from, to) in self.pairs.messages.iter().chain(&self.pairs.collectives) {
            let first = heard.entry(to).or_insert(from);
            *first = from.min(*first);
        }
        for rank in 0..self.ranks {
            if self.pairs.first_of(rank).is_none() {
                let next = (rank + 1) % self.ranks;
                let partner = heard.get(&rank).copied().unwrap_or(next);
                self.pairs.listeners.insert((rank, partner));
            }
        }
    }

    /// Who is connected to whom: of a pair, the queue pairs of collective operations come first.
    pub(super) fn connections(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let Pairs { messages, collectives, listeners } = &self.pairs;
        let collectives =
            collectives.iter().flat_map(|pair| std::iter::repeat_n(*pair, self.copies as usize));
        collectives.chain(messages.iter().copied()).chain(listeners.iter().copied())
    }

    /// The queue pair of nodes that send from one rank to another, among those of the pair.
    pub(super) fn queue_pair_of_messages(&self, pair: (u32, u32)) -> u32 {
        if self.pairs.collectives.contains(&pair) { self.copies } else { 0 }
    }
}

impl Pairs {
    /// The rank that is the second of the first pair of `rank`.
    pub(super) fn first_of(&self, rank: u32) -> Option<u32> {
        let of_rank = |pairs: &BTreeSet<(u32, u32)>| {
            pairs.range((rank, 0)..=(rank, u32::MAX)).next().map(|(_, to)| *to)
        };
        let all = [&self.messages, &self.collectives, &self.listeners];
        all.into_iter().filter_map(of_rank).min()
    }
}

/// The most messages from one rank to a lane, or more: a bound by the steps of a lane. A step has at most a message for each block, of
/// which there are as many as ranks.
fn most_messages(schedule: &dyn Schedule) -> u64 {
    let ranks = schedule.collective().ranks();
    let lanes = schedule.lanes();
    let steps = (0..ranks).flat_map(|rank| (0..lanes).map(move |lane| (rank, lane)));
    let steps = steps.map(|(rank, lane)| schedule.steps(rank, lane)).max().unwrap_or(0);
    steps.saturating_mul(ranks.into())
}

/// Refuses a trace whose ranks do not fit together.
fn refuse_problems(trace: &Trace, keys: &Parameters) -> Result<(), InvalidParameter> {
    let problems = check(trace);
    let Some(first) = problems.first() else { return Ok(()) };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let fix = "mend the trace; `rocelab trace check` names all that is wrong";
    Err(keys.refused(format!("{first}{more}"), fix))
}

/// What is wrong with the schedule of an operation.
fn refused(error: Error, what: &str) -> InvalidParameter {
    let key = match error.key {
        "channels" => "collective.channels",
        "chunk" => "collective.chunk",
        "slices" => "collective.slices",
        "algorithm" => "collective.algorithm",
        _ => "path",
    };
    let problem = format!("does not fit {what}: {}", error.reason);
    InvalidParameter { key, value: error.value, problem: problem.into(), fix: error.fix.into() }
}
