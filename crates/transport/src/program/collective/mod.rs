//! Collective operations of groups of ranks: all-reduce and others, by the schedules of the crate `rocelab-collective`.
//!
//! A rank does the steps of each of its lanes in order. A step begins as soon as what it receives has arrived here; no
//! rank knows anything of another but by messages. A message of data is an RDMA WRITE with immediate data, as NCCL sends it; with
//! `receiver_ready` it is not sent before its receiver has written that there is room (NCCL's "clear to send").

mod rank;
mod tag;

use std::collections::BTreeSet;
use std::sync::Arc;

use rocelab_collective::{Algorithm, Collective, Cut, Kind, Options, Protocol, Schedule, Step};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::rank::{Progress, Rank, Times};
use self::tag::MOST_LANES;
pub use super::exchange::Split;
use super::exchange::{Asks, Part, READY_BYTES, Rules};
use super::{CollectiveFacts, Common, Definition, Members, Operations, Program};
use crate::MarkingConfig;
use crate::congestion_control::{self, InvalidParameter};
use crate::work::MAX_MESSAGE_LENGTH;

/// `[workload.collective]`: ranks exchange data as collective operations do, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CollectiveParameters")]
pub struct Parameters {
    /// What the results call it. Default: `collective[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is done.
    pub kind: Kind,
    /// How.
    pub algorithm: Algorithm,
    /// The hosts of the ranks, rank 0 first: names, or ranges such as `host-0..host-7`. Rings go in this order.
    pub hosts: Vec<String>,
    /// Consecutive ranks that form a group with operations of its own. Default: all ranks are one group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub group: Option<u32>,
    /// Consecutive ranks that are in one server, for algorithms that go by it. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub ranks_per_server: u32,
    /// Size of an operation, as nccl-tests counts it for the kind: the whole output of a rank for all-gather, its whole input for
    /// reduce-scatter and all-to-all, else its buffer.
    pub bytes: Bytes,
    /// An element of the data, which is not cut: 1B to 64B. Default: 4B.
    #[serde(default = "element")]
    pub element: Bytes,
    /// The rank that has, or gets, the data of a broadcast, reduce, gather or scatter: its number in the group. Default: 0.
    #[serde(default)]
    pub root: u32,
    /// Parts of the data that go at the same time, each over connections of its own. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// How NCCL lays data out on the wire and cuts them: sets the defaults of `chunk`, `slices` and `window` as NCCL has them for the
    /// algorithm. `ll` sends twice the bytes, `ll128` 16/15 of them. Default: data as they are, and no cuts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The most bytes of a block that a channel sends at once; the rest follows in further passes. Default: as `protocol` says;
    /// without it, a block is not cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Bytes>,
    /// Messages that each chunk is cut into. Default: as `protocol` says; without it, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub slices: Option<u32>,
    /// Queue pairs for each direction of a pair of ranks, and each channel: 1 to 128. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 128))]
    pub queue_pairs: u32,
    /// How messages use these queue pairs. Default: `round-robin`.
    #[serde(default)]
    pub split: Split,
    /// Whether a message is sent only when its receiver has said that there is room, by a message of 64 bytes the other way, as
    /// NCCL does. Default: true.
    #[serde(default = "yes")]
    pub receiver_ready: bool,
    /// Messages from one rank to a channel of another that are posted and not yet done: in the sender's window, and in the receiver's
    /// room. Default: as `protocol` says; without it, 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub window: Option<u64>,
    /// How fast a channel of a rank adds up what has arrived. Default: in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_rate: Option<Bandwidth>,
    /// How long the processor of a rank takes for each message of data that it posts, one after the other. Default: 0s.
    #[serde(default)]
    pub host_overhead: Duration,
    /// How often it is done, at least once. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub iterations: u64,
    /// Of these, the first ones that `collectives.csv` does not count as measured. Default: 0.
    #[serde(default)]
    pub warmup: u64,
    /// How long a rank computes from its own end of an operation to its start of the next one. Default: not at all.
    #[serde(default)]
    pub compute_time: Duration,
    /// When the first one starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<congestion_control::Algorithm>,
    /// The code points of its frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
}

const fn one() -> u32 {
    1
}

const fn once() -> u64 {
    1
}

const fn yes() -> bool {
    true
}

const fn element() -> Bytes {
    Bytes::new(4)
}

/// Messages that are posted and not done, without a protocol: the slots of NCCL's buffers.
const WINDOW: u64 = 8;

/// The most of them: each has a receive request.
const MOST_WINDOW: u64 = 4096;

/// The longest that a rank computes, or its processor takes for a message.
const LONGEST: Duration = Duration::from_ms(1_000_000);

/// The most queue pairs of a connection and channel (NCCL's limit).
const MOST_QUEUE_PAIRS: u32 = 128;

impl Parameters {
    /// Ranks of a group.
    fn ranks(&self, members: &Members) -> u32 {
        self.group.unwrap_or_else(|| members.count())
    }

    /// The operation of a group.
    fn operation(&self, members: &Members) -> Result<Collective, rocelab_collective::Error> {
        let element = u32::try_from(self.element.get()).unwrap_or(u32::MAX);
        Collective::new(self.kind, self.ranks(members), self.bytes.get())?
            .with_element(element)?
            .with_root(self.root)
    }

    /// How the protocol cuts it.
    fn cut(&self, collective: &Collective) -> Option<Cut> {
        self.protocol?.cut(self.algorithm, collective, self.channels)
    }

    /// Messages of a chunk.
    fn slices_of(&self, members: &Members) -> u32 {
        let cut = || self.operation(members).ok().and_then(|collective| self.cut(&collective));
        self.slices.or_else(|| Some(cut()?.slices)).unwrap_or(1)
    }

    /// What each group does.
    fn schedule(&self, members: &Members) -> Result<Box<dyn Schedule>, rocelab_collective::Error> {
        let collective = self.operation(members)?;
        let cut = self.cut(&collective);
        let options = Options {
            channels: self.channels,
            chunk: self.chunk.map(Bytes::get).or(cut.map(|cut| cut.chunk)),
            slices: self.slices_of(members),
            ranks_per_server: self.ranks_per_server,
            rings: Vec::new(),
        };
        self.algorithm.schedule(&collective, &options)
    }

    /// The same; only for keys that are valid.
    fn valid_schedule(&self, members: &Members) -> Option<Box<dyn Schedule>> {
        self.schedule(members).ok()
    }

    /// Bytes that are posted for so many bytes of data.
    fn wire_bytes(&self, data: u64) -> u64 {
        self.protocol.map_or(data, |protocol| protocol.wire_bytes(data))
    }

    /// Queue pairs of each ordered pair of ranks that exchanges data.
    fn queue_pairs_of_pair(&self) -> u32 {
        self.channels * self.queue_pairs
    }

    fn rules(&self, members: &Members) -> Rules {
        let cut = self.operation(members).ok().and_then(|collective| self.cut(&collective));
        let window = self.window.or(cut.map(|cut| cut.window.into())).unwrap_or(WINDOW);
        Rules {
            reduce_rate: self.reduce_rate,
            receiver_ready: self.receiver_ready,
            window,
            protocol: self.protocol.unwrap_or(Protocol::Simple),
            queue_pairs: self.queue_pairs,
            split: self.split,
        }
    }

    /// What is wrong with groups and numbers, apart from the schedule.
    fn check_numbers(&self, members: &Members) -> Result<(), InvalidParameter> {
        let unless = InvalidParameter::unless;
        let count = members.count();
        unless(
            count > 1,
            "hosts",
            &count,
            "has nobody to exchange data with",
            "name at least two hosts",
        )?;
        if let Some(group) = self.group {
            let fix = "give a divisor of the number of hosts, at least 2";
            let fits = group > 1 && count.is_multiple_of(group);
            unless(fits, "group", &group, "does not divide the hosts into groups", fix)?;
        }
        let fix = "give at least 1, or leave it out";
        unless(self.iterations > 0, "iterations", &self.iterations, "does nothing", fix)?;
        let fix = "give fewer than `iterations`";
        unless(
            self.warmup < self.iterations,
            "warmup",
            &self.warmup,
            "leaves nothing to measure",
            fix,
        )?;
        let window = self.window.unwrap_or(WINDOW);
        let fits = (1..=MOST_WINDOW).contains(&window);
        unless(fits, "window", &window, "is out of range", "give 1 to 4096")?;
        let kind = self.kind.name();
        let problem = "needs a matrix of sizes, which a scenario cannot give";
        unless(self.kind != Kind::AllToAllV, "kind", &kind, problem, "use \"all-to-all\"")?;
        let fits = (1..=MOST_QUEUE_PAIRS).contains(&self.queue_pairs);
        unless(fits, "queue_pairs", &self.queue_pairs, "is out of range", "give 1 to 128")?;
        let positive = self.reduce_rate.is_none_or(|rate| rate.bits_per_second() > 0);
        let rate = self.reduce_rate.unwrap_or(Bandwidth::from_bps(0));
        unless(
            positive,
            "reduce_rate",
            &rate,
            "never adds anything up",
            "give more, or leave it out",
        )?;
        for (key, time) in
            [("compute_time", self.compute_time), ("host_overhead", self.host_overhead)]
        {
            unless(time <= LONGEST, key, &time, "is longer than any run", "give at most 1000s")?;
        }
        Ok(())
    }
}

impl Definition for Parameters {
    fn congestion_control_mut(&mut self) -> Option<&mut congestion_control::Algorithm> {
        self.congestion_control.as_mut()
    }

    fn common(&self) -> Common<'_> {
        Common {
            name: self.name.as_deref(),
            start: self.start,
            priority: self.priority,
            congestion_control: self.congestion_control.as_ref(),
        }
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        self.marking.as_ref()
    }

    fn hosts(&self) -> Vec<(&'static str, &[String])> {
        vec![("hosts", &self.hosts)]
    }

    fn validate(&self, members: &Members) -> Result<(), InvalidParameter> {
        self.check_numbers(members)?;
        let schedule = self.schedule(members).map_err(|error| InvalidParameter {
            key: error.key,
            value: error.value,
            problem: error.reason.into(),
            fix: error.fix.into(),
        })?;
        let unless = InvalidParameter::unless;
        let lanes = schedule.lanes();
        unless(
            lanes <= MOST_LANES,
            "channels",
            &self.channels,
            "makes too many lanes",
            "give fewer",
        )?;
        let largest = self.wire_bytes(schedule.largest_message());
        let fits = largest <= MAX_MESSAGE_LENGTH.into();
        let problem = "makes messages that are longer than 2GiB";
        unless(fits, "bytes", &self.bytes, problem, "give a `chunk`, such as \"2MiB\"")?;
        let (rules, slices) = (self.rules(members), self.slices_of(members));
        let fits = !rules.receiver_ready || u64::from(slices) <= rules.window;
        let problem =
            "are more than `window`: ranks would wait for each other before they have received";
        unless(fits, "slices", &slices, problem, "give at most `window`, or a larger `window`")?;
        let switches = schedule.switches();
        let problem = "needs switches that add up, which an Ethernet fabric has not";
        unless(switches == 0, "algorithm", &self.algorithm.name(), problem, "use `ring`")
    }

    fn connections<'a>(
        &'a self,
        members: &'a Members,
    ) -> Box<dyn Iterator<Item = (u32, u32)> + 'a> {
        let Some(schedule) = self.valid_schedule(members) else {
            return Box::new(core::iter::empty());
        };
        let ranks = self.ranks(members);
        let mut pairs: Vec<_> = schedule.connections().collect();
        pairs.extend(listeners(&*schedule, &pairs));
        let copies = self.queue_pairs_of_pair();
        Box::new((0..members.count() / ranks.max(1)).flat_map(move |group| {
            let first = group * ranks;
            let pairs = pairs.clone();
            pairs
                .into_iter()
                .flat_map(move |(from, to)| (0..copies).map(move |_| (first + from, first + to)))
        }))
    }

    fn operations(&self, members: &Members) -> Operations {
        let planned = self.iterations.saturating_mul(members.count().into());
        Operations { kind: self.kind.name(), payload: self.bytes.get(), planned: Some(planned) }
    }

    fn collective(&self, members: &Members) -> Option<CollectiveFacts> {
        Some(CollectiveFacts {
            kind: self.kind,
            algorithm: self.algorithm.name(),
            protocol: self.protocol.map_or("none", Protocol::name),
            channels: self.channels,
            ranks: self.ranks(members),
            root: self.root,
            bytes: self.bytes.get(),
            warmup: self.warmup,
        })
    }

    /// Those that it says it is ready for, and their word of it, of all lanes that share a queue pair.
    fn receive_depth(&self, members: &Members) -> u32 {
        let lanes = self.valid_schedule(members).map_or(1, |schedule| schedule.lanes());
        let window = u32::try_from(self.rules(members).window).unwrap_or(u32::MAX);
        let streams = (lanes / self.channels.max(1)).max(1);
        window.saturating_mul(streams).max(super::RECEIVE_DEPTH)
    }

    fn largest_message(&self, members: &Members) -> u32 {
        let largest = self.valid_schedule(members).map_or(0, |schedule| schedule.largest_message());
        let largest = self.wire_bytes(largest);
        u32::try_from(largest).unwrap_or(MAX_MESSAGE_LENGTH).max(READY_BYTES)
    }

    fn member(&self, members: &Members, number: u32) -> Box<dyn Program> {
        let ranks = self.ranks(members).max(1);
        let rank = number % ranks;
        let first = number - rank;
        let schedule: Arc<dyn Schedule> = match self.valid_schedule(members) {
            Some(schedule) => schedule.into(),
            None => unreachable!("it was valid as the scenario was read"),
        };
        let partner = partner(&*schedule, rank).unwrap_or((rank + 1) % ranks);
        let rules = Arc::new(self.rules(members));
        Box::new(Rank {
            part: Part::new(rules, schedule, self.channels, rank),
            times: Times {
                iterations: self.iterations,
                compute_time: self.compute_time,
                host_overhead: self.host_overhead,
            },
            first,
            shown_with: first + partner,
            progress: Progress::default(),
            asks: Asks::default(),
        })
    }
}

/// Steps of a lane among which a rank that sends at all has sent.
const FIRST_STEPS: u64 = 4096;

/// The rank with whose connection the operations of `rank` are shown: the first that it sends to, or else receives from.
fn partner(schedule: &dyn Schedule, rank: u32) -> Option<u32> {
    let mut step = Step::default();
    let mut heard = None;
    for lane in 0..schedule.lanes() {
        for number in 0..schedule.steps(rank, lane).min(FIRST_STEPS) {
            schedule.step(rank, lane, number, &mut step);
            if let Some(sent) = step.sends.first() {
                return Some(sent.peer);
            }
            heard = heard.or_else(|| step.receives.first().map(|message| message.peer));
        }
    }
    heard
}

/// Connections for ranks that only receive: operations are shown with a connection of their own.
fn listeners(schedule: &dyn Schedule, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let ranks = schedule.collective().ranks();
    let senders: BTreeSet<u32> = pairs.iter().map(|&(from, _)| from).collect();
    let listening = (0..ranks).filter(|rank| !senders.contains(rank));
    listening.filter_map(|rank| Some((rank, partner(schedule, rank)?))).collect()
}
