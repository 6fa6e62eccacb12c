//! ASTRA-sim's analytical networks, made again for tests: collectives as steps of messages, over links that know of other
//! messages ("aware") or do not ("unaware"). Times are nanoseconds inside.
//!
//! The rules are those that reproduce the recorded results; they say nothing about real networks.

use std::collections::{BTreeMap, VecDeque};

use rocelab_trace::{CollectiveKind, Event, Join, Message, Network};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Ring,
    Switch,
    FullyConnected,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    pub(crate) shape: Shape,
    pub(crate) ranks: u32,
    pub(crate) gib_s: f64,
    pub(crate) latency_ns: f64,
}

impl Dimension {
    /// The time of so many bytes on a link, without the latency (ns, not cut).
    fn bytes(&self, bytes: u64) -> f64 {
        bytes as f64 / (self.gib_s * f64::from(1 << 30) / 1e9)
    }

    fn hops(&self) -> u32 {
        if self.shape == Shape::Switch { 2 } else { 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    Ring,
    Direct,
    HalvingDoubling,
    Tree,
}

/// What a run is configured with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) is_aware: bool,
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) algorithm: Algorithm,
    /// Chunks of a collective, and how many of them run at once.
    pub(crate) splits: u64,
    pub(crate) active: usize,
    pub(crate) endpoint_ns: u64,
    pub(crate) memory_b_per_ns: u64,
}

/// A step of a rank in a chunk: it sends, waits for messages, and then takes some time.
#[derive(Clone, Debug, Default)]
struct Step {
    /// Time before the first message (ns).
    before: u64,
    /// Receiver, its step, and bytes.
    sends: Vec<(u32, usize, u64)>,
    dimension: usize,
    receives: u32,
    after: u64,
}

/// A collective operation of one rank.
#[derive(Debug)]
struct Part {
    program: Vec<Step>,
    /// Chunks that have not begun.
    waiting: VecDeque<u64>,
    running: usize,
    /// The step of each chunk that runs.
    at: BTreeMap<u64, usize>,
    /// Whether the messages of that step were sent.
    has_sent: BTreeMap<u64, bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A step of a chunk of an operation begins.
    Step {
        token: u32,
        rank: u32,
        chunk: u64,
    },
    /// A message of such a step is behind its first link.
    Hop {
        message: usize,
    },
    Arrival {
        message: usize,
    },
}

#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// A send of the trace.
    Trace(u32),
    /// Of a chunk of an operation, for a step.
    Chunk { token: u32, chunk: u64, step: usize },
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    to: u32,
    bytes: u64,
    dimension: usize,
    purpose: Purpose,
}

#[derive(Debug)]
pub(crate) struct Analytical {
    setup: Setup,
    due: BTreeMap<(u64, u64), What>,
    count: u64,
    parts: BTreeMap<(u32, u32), Part>,
    /// Messages that have arrived, by operation, rank, chunk and step.
    arrived: BTreeMap<(u32, u32, u64, usize), u32>,
    messages: Vec<Sent>,
    /// From when on a link is free: (from, to), where `SWITCH` is a switch.
    free: BTreeMap<(u32, u32), u64>,
    events: Vec<(u64, Event)>,
}

/// Whole nanoseconds, cut as the tool cuts them.
fn cut(time: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = time as u64;
    whole
}

const SWITCH: u32 = u32::MAX;
const NANOSECOND: u64 = 1_000;

impl Analytical {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            due: BTreeMap::new(),
            count: 0,
            parts: BTreeMap::new(),
            arrived: BTreeMap::new(),
            messages: Vec::new(),
            free: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    fn push(&mut self, time: u64, what: What) {
        self.due.insert((time, self.count), what);
        self.count += 1;
    }

    fn send(&mut self, now: u64, from: u32, sent: Sent) {
        let dimension = self.setup.dimensions[sent.dimension];
        let message = self.messages.len();
        self.messages.push(sent);
        if !self.setup.is_aware {
            let time =
                dimension.latency_ns * f64::from(dimension.hops()) + dimension.bytes(sent.bytes);
            self.push(now + cut(time), What::Arrival { message });
        } else if dimension.shape == Shape::Switch {
            let end = self.occupy(now, (from, SWITCH), sent);
            self.push(end, What::Hop { message });
        } else {
            let end = self.occupy(now, (from, sent.to), sent);
            self.push(end, What::Arrival { message });
        }
    }

    /// Has a message follow those before it on a link: when it is behind it.
    fn occupy(&mut self, now: u64, link: (u32, u32), sent: Sent) -> u64 {
        let dimension = self.setup.dimensions[sent.dimension];
        let free = self.free.entry(link).or_insert(0);
        let begin = now.max(*free);
        let bytes = dimension.bytes(sent.bytes);
        *free = begin + cut(bytes);
        begin + cut(dimension.latency_ns + bytes)
    }

    fn begin_chunks(&mut self, now: u64, token: u32, rank: u32) {
        let active = self.setup.active;
        loop {
            let part = self.parts.get_mut(&(token, rank)).unwrap();
            if part.running == active {
                return;
            }
            let Some(chunk) = part.waiting.pop_front() else { return };
            part.running += 1;
            part.at.insert(chunk, 0);
            part.has_sent.insert(chunk, false);
            let before = part.program[0].before;
            self.push(now + before, What::Step { token, rank, chunk });
        }
    }

    fn step(&mut self, now: u64, token: u32, rank: u32, chunk: u64) {
        let part = self.parts.get_mut(&(token, rank)).unwrap();
        let at = part.at[&chunk];
        part.has_sent.insert(chunk, true);
        let step = part.program[at].clone();
        for (to, its, bytes) in step.sends {
            let purpose = Purpose::Chunk { token, chunk, step: its };
            self.send(now, rank, Sent { to, bytes, dimension: step.dimension, purpose });
        }
        self.go_on(now, token, rank, chunk);
    }

    /// Ends the step of a chunk if all has arrived.
    fn go_on(&mut self, now: u64, token: u32, rank: u32, chunk: u64) {
        let Some(part) = self.parts.get_mut(&(token, rank)) else { return };
        let Some(&at) = part.at.get(&chunk) else { return };
        let arrived = self.arrived.get(&(token, rank, chunk, at)).copied().unwrap_or(0);
        if !part.has_sent[&chunk] || arrived < part.program[at].receives {
            return;
        }
        let end = now + part.program[at].after;
        part.has_sent.insert(chunk, false);
        // Beyond the last step there is the end of the chunk.
        part.at.insert(chunk, at + 1);
        let before = part.program.get(at + 1).map_or(0, |next| next.before);
        self.push(end + before, What::Step { token, rank, chunk });
    }

    fn end_chunk(&mut self, now: u64, token: u32, rank: u32, chunk: u64) {
        let part = self.parts.get_mut(&(token, rank)).unwrap();
        part.at.remove(&chunk);
        part.running -= 1;
        let is_over = part.running == 0 && part.waiting.is_empty();
        if is_over {
            self.events.push((now, Event::Over { token, rank }));
        } else {
            self.begin_chunks(now, token, rank);
        }
    }

    fn arrive(&mut self, now: u64, message: usize) {
        let sent = self.messages[message];
        match sent.purpose {
            Purpose::Trace(token) => {
                self.events.push((now, Event::Sent { token }));
                self.events.push((now, Event::Arrived { token }));
            }
            Purpose::Chunk { token, chunk, step } => {
                *self.arrived.entry((token, sent.to, chunk, step)).or_insert(0) += 1;
                self.go_on(now, token, sent.to, chunk);
            }
        }
    }
}

impl Network for Analytical {
    fn message(&mut self, now: u64, message: Message) {
        let Message { token, from, to, bytes } = message;
        let sent = Sent { to, bytes, dimension: 0, purpose: Purpose::Trace(token) };
        self.send(now / NANOSECOND, from, sent);
    }

    fn join(&mut self, now: u64, join: Join<'_>) {
        let program = program(&self.setup, &join);
        let part = Part {
            program,
            waiting: (0..self.setup.splits).collect(),
            running: 0,
            at: BTreeMap::new(),
            has_sent: BTreeMap::new(),
        };
        self.parts.insert((join.token, join.rank), part);
        self.begin_chunks(now / NANOSECOND, join.token, join.rank);
    }

    fn next(&mut self) -> Option<u64> {
        self.due.first_key_value().map(|((time, _), _)| time * NANOSECOND)
    }

    fn advance(&mut self, now: u64, events: &mut Vec<Event>) {
        let now = now / NANOSECOND;
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                What::Step { token, rank, chunk } => {
                    let part = &self.parts[&(token, rank)];
                    if part.at[&chunk] == part.program.len() {
                        self.end_chunk(now, token, rank, chunk);
                    } else {
                        self.step(now, token, rank, chunk);
                    }
                }
                What::Hop { message } => {
                    let sent = self.messages[message];
                    let end = self.occupy(now, (SWITCH, sent.to), sent);
                    self.push(end, What::Arrival { message });
                }
                What::Arrival { message } => self.arrive(now, message),
            }
        }
        events.extend(self.events.drain(..).map(|(time, event)| {
            assert_eq!(time, now);
            event
        }));
    }
}

/// The ranks with which a rank communicates in a dimension, and its place among them.
fn members(setup: &Setup, join: &Join<'_>, dimension: usize) -> (Vec<u32>, usize) {
    let ranks = if setup.dimensions.len() == 1 {
        join.group.ranks.clone()
    } else {
        let stride: u32 = setup.dimensions[..dimension].iter().map(|one| one.ranks).product();
        let count = setup.dimensions[dimension].ranks;
        let own = join.rank / stride % count;
        (0..count).map(|place| join.rank - own * stride + place * stride).collect()
    };
    let place = ranks.iter().position(|rank| *rank == join.rank).unwrap();
    (ranks, place)
}

/// The steps of a rank in one chunk: phases over the dimensions.
fn program(setup: &Setup, join: &Join<'_>) -> Vec<Step> {
    let last = setup.dimensions.len() - 1;
    let chunk = join.bytes / setup.splits;
    let count = |dimension: usize| members(setup, join, dimension).0.len() as u64;
    let mut phases = Vec::new();
    let mut data = chunk;
    match join.kind {
        CollectiveKind::AllReduce => {
            for dimension in 0..last {
                phases.push((CollectiveKind::ReduceScatter, dimension, data));
                data /= count(dimension);
            }
            phases.push((CollectiveKind::AllReduce, last, data));
            for dimension in (0..last).rev() {
                phases.push((CollectiveKind::AllGather, dimension, data));
                data *= count(dimension);
            }
        }
        CollectiveKind::ReduceScatter => {
            for dimension in 0..=last {
                phases.push((CollectiveKind::ReduceScatter, dimension, data));
                data /= count(dimension);
            }
        }
        CollectiveKind::AllGather => {
            data = chunk / join.group.ranks.len() as u64;
            for dimension in (0..=last).rev() {
                phases.push((CollectiveKind::AllGather, dimension, data));
                data *= count(dimension);
            }
        }
        CollectiveKind::AllToAll => {
            phases.extend((0..=last).map(|dimension| (CollectiveKind::AllToAll, dimension, data)));
        }
        other => panic!("{other}"),
    }
    let mut steps = Vec::new();
    for (kind, dimension, data) in phases {
        let first = steps.len();
        let phase = Phase { setup, members: members(setup, join, dimension), kind, data, first };
        let mut more = match setup.algorithm {
            Algorithm::Ring => phase.ring(),
            Algorithm::Direct => phase.direct(),
            Algorithm::HalvingDoubling => phase.halving_doubling(),
            Algorithm::Tree => phase.tree(),
        };
        more[0].before = setup.endpoint_ns;
        more.iter_mut().for_each(|step| step.dimension = dimension);
        steps.extend(more);
    }
    steps
}

/// One collective operation in one dimension. `data` is what a rank has at first.
struct Phase<'a> {
    setup: &'a Setup,
    members: (Vec<u32>, usize),
    kind: CollectiveKind,
    data: u64,
    /// The number of its first step.
    first: usize,
}

impl Phase<'_> {
    fn reduction(&self, bytes: u64) -> u64 {
        3 * (bytes / self.setup.memory_b_per_ns)
    }

    fn count(&self) -> u64 {
        self.members.0.len() as u64
    }

    /// The bytes of a message that carries one block.
    fn block(&self) -> u64 {
        if self.kind == CollectiveKind::AllGather { self.data } else { self.data / self.count() }
    }

    fn ring(&self) -> Vec<Step> {
        let (ranks, place) = &self.members;
        let (n, bytes) = (ranks.len(), self.block());
        let (steps, reductions) = match self.kind {
            CollectiveKind::AllReduce => (2 * (n - 1), n - 1),
            CollectiveKind::ReduceScatter => (n - 1, n - 1),
            CollectiveKind::AllToAll => (n * (n - 1) / 2, 0),
            _ => (n - 1, 0),
        };
        let step = |number: usize| {
            let reduction = if number < reductions { self.reduction(bytes) } else { 0 };
            Step {
                sends: vec![(ranks[(place + 1) % n], self.first + number, bytes)],
                receives: 1,
                after: reduction + self.setup.endpoint_ns,
                ..Step::default()
            }
        };
        (0..steps).map(step).collect()
    }

    fn direct(&self) -> Vec<Step> {
        let (ranks, place) = &self.members;
        let (n, bytes) = (ranks.len(), self.block());
        let reductions: &[bool] = match self.kind {
            CollectiveKind::AllReduce => &[true, false],
            CollectiveKind::ReduceScatter => &[true],
            _ => &[false],
        };
        let step = |(number, reduces): (usize, &bool)| Step {
            sends: (1..n).map(|by| (ranks[(place + by) % n], self.first + number, bytes)).collect(),
            receives: u32::try_from(n - 1).unwrap(),
            after: if *reduces { self.reduction(bytes) } else { 0 } + self.setup.endpoint_ns,
            ..Step::default()
        };
        reductions.iter().enumerate().map(step).collect()
    }

    fn halving_doubling(&self) -> Vec<Step> {
        let (ranks, place) = &self.members;
        let rounds = ranks.len().ilog2();
        assert!(ranks.len().is_power_of_two());
        let halves = (1..=rounds).map(|round| self.data >> round);
        let doubles = (0..rounds).map(|round| self.block() << round);
        let sizes: Vec<u64> = match self.kind {
            CollectiveKind::AllReduce => halves.chain(doubles).collect(),
            CollectiveKind::ReduceScatter => halves.collect(),
            _ => doubles.collect(),
        };
        let is_reducing = self.kind != CollectiveKind::AllGather;
        let step = |(number, bytes): (usize, &u64)| {
            // What is added after a step has the size of the next step; after the last halving nothing is.
            let reduces = is_reducing && number + 1 < rounds as usize;
            let reduction = if reduces { self.reduction(bytes / 2) } else { 0 };
            let distance = number % rounds as usize;
            Step {
                sends: vec![(ranks[place ^ (1 << distance)], self.first + number, *bytes)],
                receives: 1,
                after: reduction + self.setup.endpoint_ns,
                ..Step::default()
            }
        };
        sizes.iter().enumerate().map(step).collect()
    }

    /// One tree that carries all data: rank 0 has one child, below it is a complete binary tree.
    fn tree(&self) -> Vec<Step> {
        let (ranks, place) = &self.members;
        let (n, place) = (ranks.len(), *place);
        assert!(self.kind == CollectiveKind::AllReduce && n.is_power_of_two() && n > 1);
        let is_leaf = place >= n / 2;
        let children: Vec<usize> = match place {
            0 => vec![1],
            _ if is_leaf => Vec::new(),
            _ => vec![2 * place, 2 * place + 1],
        };
        let both = self.setup.endpoint_ns + self.reduction(self.data);
        // What goes up reaches a parent in its first step, what goes down a child in its second.
        let up = |step: Step| Step { sends: vec![(ranks[place / 2], 0, self.data)], ..step };
        let down = |step: Step| Step {
            sends: children.iter().map(|child| (ranks[*child], 1, self.data)).collect(),
            ..step
        };
        let waits = |receives: usize, after| Step {
            receives: u32::try_from(receives).unwrap(),
            after,
            ..Step::default()
        };
        match place {
            0 => vec![waits(1, both), down(Step::default())],
            _ if is_leaf => vec![up(Step::default()), waits(1, self.setup.endpoint_ns)],
            _ => vec![waits(2, both), up(waits(1, both)), down(Step::default())],
        }
    }
}
