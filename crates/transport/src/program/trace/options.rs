//! How the collective operations of a trace are carried out.

use rocelab_collective::{Algorithm, Collective, Error, Kind, Options, Protocol, Schedule};
use rocelab_trace::CollectiveKind;
use rocelab_units::{Bandwidth, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::exchange::{Rules, Split};

/// `collective`: how the collective operations of a trace are carried out. The keys are those of `[workload.collective]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TraceCollective")]
pub struct CollectiveOptions {
    /// The algorithm of each kind of operation.
    pub algorithm: Algorithms,
    /// Parts of the data that go at the same time, each over connections of its own. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// How NCCL lays data out on the wire and cuts them. Default: data as they are, and no cuts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The most bytes of a block that a channel sends at once. Default: as `protocol` says; without it, a block is not cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Bytes>,
    /// Messages that each chunk is cut into. Default: as `protocol` says; without it, 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub slices: Option<u32>,
    /// Whether a message is sent only when its receiver has said that there is room. Default: true.
    pub receiver_ready: bool,
    /// Messages from one rank to a channel of another that are posted and not yet done. Default: as `protocol` says; without it, 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub window: Option<u64>,
    /// Queue pairs for each direction of a pair of ranks, and each channel: 1 to 128. Default: 1.
    #[schemars(range(min = 1, max = 128))]
    pub queue_pairs: u32,
    /// How messages use these queue pairs. Default: `round-robin`.
    pub split: Split,
    /// How fast a channel of a rank adds up what has arrived. Default: in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_rate: Option<Bandwidth>,
}

impl Default for CollectiveOptions {
    fn default() -> Self {
        Self {
            algorithm: Algorithms::default(),
            channels: 1,
            protocol: None,
            chunk: None,
            slices: None,
            receiver_ready: true,
            window: None,
            queue_pairs: 1,
            split: Split::default(),
            reduce_rate: None,
        }
    }
}

/// The algorithm of each kind of operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[schemars(rename = "TraceAlgorithms")]
pub struct Algorithms {
    /// Default: `ring`.
    pub all_reduce: Algorithm,
    /// Default: `ring`.
    pub all_gather: Algorithm,
    /// Default: `ring`.
    pub reduce_scatter: Algorithm,
    /// Default: `nccl-send-receive`.
    pub all_to_all: Algorithm,
    /// Default: `ring`.
    pub broadcast: Algorithm,
    /// Default: `ring`.
    pub reduce: Algorithm,
    /// Default: `bruck`.
    pub barrier: Algorithm,
}

impl Default for Algorithms {
    fn default() -> Self {
        Self {
            all_reduce: Algorithm::Ring,
            all_gather: Algorithm::Ring,
            reduce_scatter: Algorithm::Ring,
            all_to_all: Algorithm::NcclSendReceive,
            broadcast: Algorithm::Ring,
            reduce: Algorithm::Ring,
            barrier: Algorithm::Bruck,
        }
    }
}

/// Messages that are posted and not done, without a protocol: the slots of NCCL's buffers.
const WINDOW: u64 = 8;

impl CollectiveOptions {
    /// How an operation of so many ranks and bytes is carried out: its schedule, and what holds for its messages.
    pub(super) fn plan(
        &self,
        kind: CollectiveKind,
        ranks: u32,
        bytes: u64,
    ) -> Result<(Box<dyn Schedule>, Rules), Error> {
        let (kind, algorithm) = self.algorithm.of(kind);
        let bytes = if kind == Kind::Barrier { 0 } else { bytes };
        let collective = Collective::new(kind, ranks, bytes)?;
        let cut = self.protocol.and_then(|one| one.cut(algorithm, &collective, self.channels));
        let options = Options {
            channels: self.channels,
            chunk: self.chunk.map(Bytes::get).or(cut.map(|cut| cut.chunk)),
            slices: self.slices.or(cut.map(|cut| cut.slices)).unwrap_or(1),
            ..Options::default()
        };
        let rules = Rules {
            reduce_rate: self.reduce_rate,
            receiver_ready: self.receiver_ready,
            window: self.window.or(cut.map(|cut| cut.window.into())).unwrap_or(WINDOW),
            protocol: self.protocol.unwrap_or(Protocol::Simple),
            queue_pairs: self.queue_pairs,
            split: self.split,
        };
        if rules.receiver_ready && u64::from(options.slices) > rules.window {
            let reason =
                "ranks would wait for each other before they have received: it is above `window`";
            let fix = "give at most `window`, or a larger `window`".to_owned();
            let value = options.slices.to_string();
            return Err(Error { key: "slices", value, reason: reason.to_owned(), fix });
        }
        Ok((algorithm.schedule(&collective, &options)?, rules))
    }

    /// Queue pairs of each ordered pair of ranks that exchanges data.
    pub(super) const fn queue_pairs_of_pair(&self) -> u32 {
        self.channels * self.queue_pairs
    }
}

impl Algorithms {
    fn of(&self, kind: CollectiveKind) -> (Kind, Algorithm) {
        match kind {
            CollectiveKind::AllReduce => (Kind::AllReduce, self.all_reduce),
            CollectiveKind::AllGather => (Kind::AllGather, self.all_gather),
            CollectiveKind::ReduceScatter => (Kind::ReduceScatter, self.reduce_scatter),
            CollectiveKind::AllToAll => (Kind::AllToAll, self.all_to_all),
            CollectiveKind::Broadcast => (Kind::Broadcast, self.broadcast),
            CollectiveKind::Reduce => (Kind::Reduce, self.reduce),
            CollectiveKind::Barrier => (Kind::Barrier, self.barrier),
        }
    }
}
