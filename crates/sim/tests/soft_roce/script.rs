//! What a capture does not hold: one small file for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rocelab_transport::{Access, MemoryRegion, Operation, Service, WorkRequest};
use serde::{Deserialize, Deserializer};

use crate::capture::Side;
use crate::deviation::Deviation;

/// A capture's script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    #[serde(default = "default_path_mtu")]
    pub(crate) path_mtu: u32,
    #[serde(default)]
    pub(crate) service: Service,
    pub(crate) connection: Vec<Connection>,
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
    #[serde(default = "default_ack_timeout")]
    pub(crate) ack_timeout: u8,
    #[serde(default = "default_retry_count")]
    pub(crate) retry_count: u8,
    /// Packets that the requester may have in flight.
    #[serde(default = "default_max_outstanding")]
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
    #[serde(default)]
    work: Vec<Post>,
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

/// Work requests, alike but for their addresses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    verb: Verb,
    #[serde(default)]
    bytes: u32,
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
    #[serde(default)]
    r_key: u32,
    immediate: Option<u32>,
    #[serde(default)]
    add: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verb {
    Send,
    Write,
    Read,
    FetchAdd,
}

impl Script {
    /// Reads the script of capture `name`.
    pub(crate) fn read(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.toml"));
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
    pub(crate) fn arriving(&self, side: Side) -> Vec<WorkRequest> {
        let mut work = self.end(side.other()).work();
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
    pub(crate) fn work(&self) -> Vec<WorkRequest> {
        let rounds = (0..self.rounds).flat_map(|_| &self.work);
        let requests = rounds.flat_map(|post| (0..post.times).map(|index| post.request(index)));
        (0..).zip(requests).map(|(id, request)| WorkRequest { id, ..request }).collect()
    }
}

impl Post {
    fn request(&self, index: u32) -> WorkRequest {
        let operation = match (self.verb, self.immediate) {
            (Verb::Send, None) => Operation::Send,
            (Verb::Send, Some(data)) => Operation::SendWithImmediate(data),
            (Verb::Write, None) => Operation::Write,
            (Verb::Write, Some(data)) => Operation::WriteWithImmediate(data),
            (Verb::Read, _) => Operation::Read,
            (Verb::FetchAdd, _) => Operation::FetchAdd { add: self.add },
        };
        let place = if self.cycle == 0 { index } else { index % self.cycle };
        WorkRequest {
            id: 0,
            operation,
            length: self.bytes,
            remote_address: self.address + self.stride * u64::from(place),
            r_key: self.r_key,
            local_address: 0,
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

const fn default_path_mtu() -> u32 {
    1024
}

/// 67.1 ms, what perftest and the pingpong programs ask for.
const fn default_ack_timeout() -> u8 {
    14
}

const fn default_retry_count() -> u8 {
    7
}

/// What Soft-RoCE has in flight at most.
const fn default_max_outstanding() -> u32 {
    129
}
