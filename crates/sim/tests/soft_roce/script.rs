//! What a capture does not hold: one small file for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rocelab_transport::{Access, MemoryRegion, Operation, Service, WorkRequest};
use serde::{Deserialize, Deserializer};

use crate::capture::Side;
use crate::deviation::Deviation;

/// A capture's script. What it says of all connections, each may say otherwise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    path_mtu: Option<u32>,
    service: Option<Service>,
    ack_timeout: Option<u8>,
    retry_count: Option<u8>,
    rnr_timer: Option<u8>,
    pub(crate) connection: Vec<Connection>,
    /// Work that is the same in several connections, by name.
    #[serde(default)]
    work: BTreeMap<String, Vec<Post>>,
    /// Packets for queue pairs that no connection has.
    #[serde(default)]
    pub(crate) strays: usize,
    /// Which host is not Soft-RoCE, but a Python program.
    pub(crate) python: Option<Side>,
    /// How often Soft-RoCE does otherwise than we do: exactly.
    #[serde(default)]
    pub(crate) deviations: BTreeMap<Deviation, usize>,
}

/// A pair of queue pairs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Connection {
    pub(crate) server: End,
    pub(crate) client: End,
    path_mtu: Option<u32>,
    service: Option<Service>,
    pub(crate) ack_timeout: Option<u8>,
    pub(crate) retry_count: Option<u8>,
    rnr_timer: Option<u8>,
    /// Packets that the requester may have in flight.
    #[serde(default = "default_max_outstanding")]
    pub(crate) max_outstanding: u32,
}

/// How a pair of queue pairs is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// 1024 if nothing is said (bytes).
    pub(crate) path_mtu: u32,
    /// Reliable connection if nothing is said.
    pub(crate) service: Service,
    /// 14 if nothing is said: 67.1 ms, what perftest and the pingpong programs ask for.
    pub(crate) ack_timeout: u8,
    /// 7 if nothing is said.
    pub(crate) retry_count: u8,
    /// 12 if nothing is said: 0.64 ms.
    pub(crate) rnr_timer: u8,
    pub(crate) max_outstanding: u32,
}

/// One queue pair, its memory, and what its program does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) qpn: u32,
    /// The first PSN that it sends.
    #[serde(default)]
    pub(crate) psn: u32,
    /// The first PSN that it expects, if not the first that the other sends.
    pub(crate) expects: Option<u32>,
    #[serde(default)]
    pub(crate) q_key: u32,
    /// Receive requests: some at once, and the next after each RNR NAK.
    #[serde(default)]
    pub(crate) receives: Vec<u32>,
    #[serde(default)]
    pub(crate) regions: Vec<Region>,
    /// What is in memory before the first atomic operation.
    #[serde(default)]
    pub(crate) words: Vec<Word>,
    /// Room in each (bytes).
    #[serde(default = "default_receive_bytes")]
    pub(crate) receive_bytes: u32,
    #[serde(default)]
    work: Work,
    /// What the addresses in `work` count from.
    #[serde(default)]
    base: u64,
    /// The key of the work requests that name none.
    #[serde(default)]
    r_key: u32,
    /// How often all of `work` is posted.
    #[serde(default = "one")]
    rounds: u32,
    /// How the requester ends.
    #[serde(default)]
    pub(crate) outcome: Outcome,
    /// Answers at the end of a capture for requests after it.
    #[serde(default)]
    pub(crate) answers_after_the_end: usize,
    /// Requests at the end of a capture that its queue pair, being disconnected, does not see.
    #[serde(default)]
    pub(crate) unseen_requests: usize,
    /// Its program changes the memory that the peer reads: what is read is not compared.
    #[serde(default)]
    pub(crate) changes_memory: bool,
    /// SENDs and WRITEs at the end of the peer's work that do not arrive.
    #[serde(default)]
    pub(crate) undelivered: usize,
}

/// How a requester ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// All work succeeds.
    #[default]
    Success,
    /// The capture ends first.
    Unfinished,
    /// The peer stays silent.
    RetryExceeded,
    /// The peer refuses the key.
    RemoteAccess,
    /// The peer refuses the operation.
    RemoteInvalidRequest,
    /// The peer cannot do it.
    RemoteOperational,
}

/// What a program posts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Work {
    /// What the script has under this name.
    Named(String),
    These(Vec<Post>),
}

impl Default for Work {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// A registered memory region.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    r_key: u32,
    address: u64,
    bytes: u64,
    access: Vec<Right>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Right {
    Read,
    Write,
    Atomic,
}

/// Eight bytes of memory, as the number that an atomic operation finds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    pub(crate) address: u64,
    #[serde(deserialize_with = "hexadecimal")]
    pub(crate) value: u64,
}

/// Work requests, alike but for their addresses. Numbers of 64 bits that are no addresses are
/// texts, in hexadecimal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    verb: Verb,
    /// Length, beyond `packets` (bytes).
    #[serde(default)]
    bytes: u32,
    /// Length in path MTUs.
    #[serde(default)]
    packets: u32,
    /// How much shorter it is (bytes).
    #[serde(default)]
    short: u32,
    #[serde(default = "one")]
    times: u32,
    #[serde(default)]
    address: u64,
    /// From one address to the next (bytes).
    #[serde(default)]
    stride: u64,
    /// After how many the first address comes again; never if 0.
    #[serde(default)]
    cycle: u32,
    r_key: Option<u32>,
    immediate: Option<u32>,
    /// The key that the peer shall make useless.
    invalidate: Option<u32>,
    #[serde(default, deserialize_with = "hexadecimal")]
    add: u64,
    #[serde(default, deserialize_with = "hexadecimal")]
    compare: u64,
    #[serde(default, deserialize_with = "hexadecimal")]
    swap: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verb {
    Send,
    Write,
    Read,
    CompareSwap,
    FetchAdd,
}

impl Script {
    /// Reads the script of capture `name`.
    pub(crate) fn read(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.toml"));
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let script = toml::from_str(&text);
        let mut script: Self = script.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for connection in &mut script.connection {
            for end in [&mut connection.server, &mut connection.client] {
                end.resolve(&script.work);
            }
        }
        script
    }

    /// Says another path MTU.
    pub(crate) const fn set_path_mtu(&mut self, bytes: u32) {
        self.path_mtu = Some(bytes);
    }

    /// How `connection` is set up.
    pub(crate) fn setup(&self, connection: &Connection) -> Setup {
        Setup {
            path_mtu: connection.path_mtu.or(self.path_mtu).unwrap_or(1024),
            service: connection.service.or(self.service).unwrap_or_default(),
            ack_timeout: connection.ack_timeout.or(self.ack_timeout).unwrap_or(14),
            retry_count: connection.retry_count.or(self.retry_count).unwrap_or(7),
            rnr_timer: connection.rnr_timer.or(self.rnr_timer).unwrap_or(12),
            max_outstanding: connection.max_outstanding,
        }
    }
}

impl Connection {
    pub(crate) const fn end(&self, side: Side) -> &End {
        match side {
            Side::Server => &self.server,
            Side::Client => &self.client,
        }
    }

    /// The SENDs and WRITEs that arrive at `side`, in order.
    pub(crate) fn arriving(&self, side: Side, setup: &Setup) -> Vec<WorkRequest> {
        let mut work = self.end(side.other()).work(setup);
        work.retain(|work| !work.operation.awaits_response());
        work.truncate(work.len() - self.end(side).undelivered);
        work
    }
}

impl End {
    /// Whether it is the queue pair of all multicast groups (IBTA: QP 0xffffff), which nobody has.
    pub(crate) const fn is_multicast(&self) -> bool {
        self.qpn == 0xff_ffff
    }

    /// What its program posts, in order.
    pub(crate) fn work(&self, setup: &Setup) -> Vec<WorkRequest> {
        let Work::These(posts) = &self.work else { unreachable!("it was resolved") };
        let rounds = (0..self.rounds).flat_map(|_| posts);
        let requests =
            rounds.flat_map(|post| (0..post.times).map(|index| post.request(index, self, setup)));
        let numbered = (0..).zip(requests);
        // Each has local memory of its own: lengths have 31 bits.
        let numbered =
            numbered.map(|(id, request)| WorkRequest { id, local_address: id << 32, ..request });
        numbered.collect()
    }

    fn resolve(&mut self, named: &BTreeMap<String, Vec<Post>>) {
        if let Work::Named(name) = &self.work {
            let posts = named.get(name).unwrap_or_else(|| panic!("no work is named {name}"));
            self.work = Work::These(posts.clone());
        }
    }
}

impl Post {
    fn request(&self, index: u32, end: &End, setup: &Setup) -> WorkRequest {
        let place = if self.cycle == 0 { index } else { index % self.cycle };
        WorkRequest {
            id: 0,
            operation: self.operation(),
            length: self.packets * setup.path_mtu + self.bytes - self.short,
            remote_address: end.base + self.address + self.stride * u64::from(place),
            r_key: self.r_key.unwrap_or(end.r_key),
            local_address: 0,
            solicited: false,
        }
    }

    fn operation(&self) -> Operation {
        match (self.verb, self.immediate, self.invalidate) {
            (Verb::Send, Some(data), _) => Operation::SendWithImmediate(data),
            (Verb::Send, None, Some(r_key)) => Operation::SendWithInvalidate(r_key),
            (Verb::Send, None, None) => Operation::Send,
            (Verb::Write, Some(data), _) => Operation::WriteWithImmediate(data),
            (Verb::Write, None, _) => Operation::Write,
            (Verb::Read, ..) => Operation::Read,
            (Verb::CompareSwap, ..) => {
                Operation::CompareSwap { compare: self.compare, swap: self.swap }
            }
            (Verb::FetchAdd, ..) => Operation::FetchAdd { add: self.add },
        }
    }
}

impl Region {
    pub(crate) fn registered(&self) -> MemoryRegion {
        let allows = |right| self.access.contains(&right);
        let access = Access {
            remote_read: allows(Right::Read),
            remote_write: allows(Right::Write),
            remote_atomic: allows(Right::Atomic),
        };
        MemoryRegion { r_key: self.r_key, address: self.address, length: self.bytes, access }
    }
}

fn hexadecimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(deserializer)?;
    u64::from_str_radix(&digits, 16).map_err(serde::de::Error::custom)
}

const fn one() -> u32 {
    1
}

const fn default_receive_bytes() -> u32 {
    1 << 20
}

/// What Soft-RoCE has in flight at most.
const fn default_max_outstanding() -> u32 {
    129
}
