//! All-reduce in a ring (Patarasuk and Yuan, Journal of Parallel and Distributed Computing 69, 2009).
//!
//! With n hosts, data are cut into n chunks. Each host sends a chunk to the next host in the ring. When one has arrived
//! from the host before it, it sends that on: added to its own in the first n-1 steps (reduce-scatter), as it is in the
//! n-1 steps after them (all-gather). After 2(n-1) steps, every host has the sum of all data.

use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Common, Definition, Members, Message, Operations, Posts, Program, Verb};
use crate::MarkingConfig;
use crate::congestion_control::{Algorithm, InvalidParameter};
use crate::work::MAX_MESSAGE_LENGTH;

/// `[workload.all-reduce]`: hosts in a ring add their data up, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AllReduceParameters")]
pub struct Parameters {
    /// What the results call it. Default: `all-reduce[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts of the ring, at least two, in this order: names, or ranges such as `host-0..host-7`.
    pub hosts: Vec<String>,
    /// Data of each host. A chunk is the n-th part of them, rounded up to a byte.
    pub bytes: Bytes,
    /// How often they are added up, at least once. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub iterations: u64,
    /// How long a host computes from the end of one all-reduce to its start of the next. Default: not at all.
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
    pub congestion_control: Option<Algorithm>,
    /// The code points of its frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
}

const fn once() -> u64 {
    1
}

/// The longest that a host computes.
const LONGEST: Duration = Duration::from_ms(1_000_000);

impl Parameters {
    /// Bytes of a chunk; too many for a message if data are.
    fn chunk(&self, members: &Members) -> u32 {
        let count = u64::from(members.count().max(1));
        u32::try_from(self.bytes.get().div_ceil(count)).unwrap_or(u32::MAX)
    }
}

impl Definition for Parameters {
    fn congestion_control_mut(&mut self) -> Option<&mut Algorithm> {
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
        let unless = InvalidParameter::unless;
        let count = members.count();
        unless(count > 1, "hosts", &count, "is no ring", "name at least two hosts")?;
        let fix = "give at least 1B";
        unless(self.bytes.get() > 0, "bytes", &self.bytes, "is nothing to add up", fix)?;
        let holds = self.chunk(members) <= MAX_MESSAGE_LENGTH;
        let problem = "makes chunks that are longer than a message";
        unless(
            holds,
            "bytes",
            &self.bytes,
            problem,
            "give at most 2GiB times the number of hosts",
        )?;
        let fix = "give at least 1, or leave it out";
        unless(self.iterations > 0, "iterations", &self.iterations, "adds nothing up", fix)?;
        let (key, time) = ("compute_time", self.compute_time);
        unless(time <= LONGEST, key, &time, "is longer than any run", "give at most 1000s")
    }

    fn connections<'a>(
        &'a self,
        members: &'a Members,
    ) -> Box<dyn Iterator<Item = (u32, u32)> + 'a> {
        let count = members.count();
        Box::new((0..count).map(move |member| (member, (member + 1) % count)))
    }

    fn operations(&self, members: &Members) -> Operations {
        let (count, chunk) = (u64::from(members.count()), u64::from(self.chunk(members)));
        Operations {
            kind: "all-reduce",
            payload: steps(members) * chunk,
            planned: Some(self.iterations.saturating_mul(count)),
        }
    }

    fn largest_message(&self, members: &Members) -> u32 {
        self.chunk(members)
    }

    fn member(&self, members: &Members, number: u32) -> Box<dyn Program> {
        Box::new(Host {
            previous: (number + members.count() - 1) % members.count(),
            next: (number + 1) % members.count(),
            chunk: self.chunk(members),
            steps: steps(members),
            iterations: self.iterations,
            compute_time: self.compute_time,
            iteration: 0,
            is_open: false,
            taken: 0,
            waiting: 0,
        })
    }
}

/// Chunks that a host sends in an all-reduce, and gets.
fn steps(members: &Members) -> u64 {
    2 * u64::from(members.count().saturating_sub(1))
}

/// A host of the ring.
#[derive(Debug)]
struct Host {
    previous: u32,
    next: u32,
    chunk: u32,
    steps: u64,
    iterations: u64,
    compute_time: Duration,
    /// The present one, or the next if this one is not open yet.
    iteration: u64,
    is_open: bool,
    /// Chunks of it that have arrived and were sent on.
    taken: u64,
    /// Chunks that have arrived before it: the host before this one computes less, or began earlier.
    waiting: u64,
}

// A checkpoint has the values; what is kept comes from the scenario.
rocelab_state::state!(Host {
    values: iteration, is_open, taken, waiting;
    kept: previous, next, chunk, steps, iterations, compute_time
});

impl Host {
    fn begin(&mut self, posts: &mut Posts<'_>) {
        (self.is_open, self.taken) = (true, 0);
        posts.begin(self.next, self.iteration);
        self.send(posts);
        self.take(posts);
    }

    fn send(&self, posts: &mut Posts<'_>) {
        posts.post(self.next, Verb::WriteWithImmediate, self.chunk, self.taken);
    }

    /// Takes the chunks that have arrived, as far as they are of the present all-reduce.
    fn take(&mut self, posts: &mut Posts<'_>) {
        while self.is_open && self.waiting > 0 {
            self.waiting -= 1;
            self.taken += 1;
            if self.taken < self.steps {
                self.send(posts);
            } else {
                self.end(posts);
            }
        }
    }

    fn end(&mut self, posts: &mut Posts<'_>) {
        posts.end(self.iteration);
        self.is_open = false;
        self.iteration += 1;
        if !self.is_over() {
            posts.wait(self.compute_time, 0);
        }
    }
}

impl Program for Host {
    fn on_start(&mut self, posts: &mut Posts<'_>) {
        self.begin(posts);
    }

    fn on_arrival(&mut self, _: Message, posts: &mut Posts<'_>) {
        self.waiting += 1;
        self.take(posts);
    }

    fn on_timer(&mut self, _: u64, posts: &mut Posts<'_>) {
        self.begin(posts);
    }

    fn waits_for(&self) -> Option<u32> {
        self.is_open.then_some(self.previous)
    }

    fn is_over(&self) -> bool {
        self.iteration == self.iterations
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, End, Over};
    use super::*;

    fn parameters(hosts: usize, bytes: u64, iterations: u64) -> (Parameters, Members) {
        let parameters = Parameters {
            name: None,
            hosts: vec![String::new(); hosts],
            bytes: Bytes::new(bytes),
            iterations,
            compute_time: Duration::from_us(3),
            start: SimTime::ZERO,
            priority: None,
            congestion_control: None,
            marking: None,
        };
        (parameters, Members::new([hosts]))
    }

    fn called(
        program: &mut dyn Program,
        call: impl FnOnce(&mut dyn Program, &mut Posts<'_>),
    ) -> Vec<Action> {
        let mut actions = Vec::new();
        call(program, &mut Posts::new(SimTime::from_ps(7), &mut actions, &mut || 0.0));
        actions
    }

    const CHUNK: Message = Message { from: 1, tag: 0, bytes: 34 };

    fn sent(tag: u64) -> Action {
        let over = Over { to: 0, number: 0, end: End::Either };
        Action::Post { over, verb: Verb::WriteWithImmediate, bytes: 34, tag }
    }

    /// Three hosts: 2 x 2 steps with chunks of a third of 100 bytes.
    #[test]
    fn a_chunk_is_sent_on_when_the_one_before_it_has_arrived() {
        let (parameters, members) = parameters(3, 100, 2);
        let connections: Vec<_> = parameters.connections(&members).collect();
        assert_eq!(connections, [(0, 1), (1, 2), (2, 0)]);
        let operations = parameters.operations(&members);
        assert_eq!((operations.payload, operations.planned), (4 * 34, Some(6)));
        let mut host = parameters.member(&members, 2);
        let host = &mut *host;
        let begin = |number| Action::Begin { with: 0, number };
        assert_eq!(called(host, |host, posts| host.on_start(posts)), [begin(0), sent(0)]);
        for step in 1..4 {
            let arrived = called(host, |host, posts| host.on_arrival(CHUNK, posts));
            assert_eq!(arrived, [sent(step)]);
        }
        let wait = Action::Wait { until: SimTime::from_ps(7 + 3_000_000), tag: 0 };
        let last = called(host, |host, posts| host.on_arrival(CHUNK, posts));
        assert_eq!(last, [Action::End { number: 0 }, wait]);
        // The host before it computes less: chunks wait until this one begins.
        for _ in 0..2 {
            assert_eq!(called(host, |host, posts| host.on_arrival(CHUNK, posts)), []);
        }
        let begun = called(host, |host, posts| host.on_timer(0, posts));
        assert_eq!(begun, [begin(1), sent(0), sent(1), sent(2)]);
        called(host, |host, posts| host.on_arrival(CHUNK, posts));
        assert!(!host.is_over());
        let last = called(host, |host, posts| host.on_arrival(CHUNK, posts));
        assert_eq!((last, host.is_over()), (vec![Action::End { number: 1 }], true));
    }

    #[test]
    fn two_hosts_have_a_connection_each() {
        let (parameters, members) = parameters(2, 1, 1);
        let connections: Vec<_> = parameters.connections(&members).collect();
        assert_eq!(connections, [(0, 1), (1, 0)]);
        assert_eq!((parameters.chunk(&members), steps(&members)), (1, 2));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |parameters: &Parameters, members: &Members| {
            parameters.validate(members).map_err(|error| error.key)
        };
        let (good, members) = parameters(4, 1 << 33, 1);
        assert_eq!(refused(&good, &members), Ok(()), "2 GiB a chunk");
        assert_eq!(refused(&good, &Members::new([1])), Err("hosts"));
        assert_eq!(
            refused(&Parameters { bytes: Bytes::new((1 << 33) + 1), ..good.clone() }, &members),
            Err("bytes")
        );
        assert_eq!(
            refused(&Parameters { bytes: Bytes::new(0), ..good.clone() }, &members),
            Err("bytes")
        );
        assert_eq!(
            refused(&Parameters { iterations: 0, ..good.clone() }, &members),
            Err("iterations")
        );
        let compute_time = Duration::from_ms(1_000_001);
        assert_eq!(refused(&Parameters { compute_time, ..good }, &members), Err("compute_time"));
    }
}
