//! The algorithm, protocol and channels that NCCL would choose, and why.
//!
//! NCCL estimates a time for each algorithm with each protocol, t = latency + S / bandwidth, from constants that were tuned on
//! its makers' machines, and takes the shortest. Here is that model, of NCCL 2.30, for rings, trees and NVLS.

mod tables;

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::collective::{Collective, Kind};
use crate::error::Error;
use crate::options::Options;
use crate::protocol::Protocol;
use tables::Hop;

/// A generation of GPUs, whose constants NCCL takes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// V100.
    Volta,
    /// A100.
    Ampere,
    /// H100, H200, H800.
    #[default]
    Hopper,
    /// B200, GB200, B300.
    Blackwell,
}

/// What NCCL finds of the machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// The generation of its GPUs.
    pub generation: Generation,
    /// Ranks of a server; they divide the ranks.
    pub ranks_per_server: u32,
    /// Channels of a ring, at least 1. Trees have as many.
    pub channels: u32,
    /// What a channel reaches inside a server (GB/s, 10^9 bytes).
    pub intra_bandwidth: f64,
    /// What a channel reaches between servers (GB/s).
    pub inter_bandwidth: f64,
    /// Whether GPUs of a server have NVLink, not PCIe alone.
    pub nvlink: bool,
    /// Whether the switches of NVLink add up (NVLS).
    pub nvls: bool,
    /// Whether hosts have AMD's processors, which post messages slower than Intel's.
    pub amd: bool,
    /// Whether messages go to another rail through the rank there (PXN).
    pub pxn: bool,
}

/// An algorithm of NCCL that is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Ring,
    Tree,
    Nvls,
    NvlsTree,
}

impl Way {
    const ALL: [Self; 4] = [Self::Ring, Self::Tree, Self::Nvls, Self::NvlsTree];

    const fn algorithm(self) -> Algorithm {
        match self {
            Self::Ring => Algorithm::Ring,
            Self::Tree => Algorithm::DoubleBinaryTree,
            Self::Nvls | Self::NvlsTree => Algorithm::Nvls,
        }
    }
}

/// What an algorithm with a protocol is estimated to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// The time (us).
    pub microseconds: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (algorithm, protocol) = (self.algorithm.name(), self.protocol.name());
        write!(f, "{algorithm}, {protocol}: {:.1} us", self.microseconds)
    }
}

/// What NCCL would choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Channels, chunks and slices for [`Algorithm::schedule`].
    pub options: Options,
    /// Messages of a connection that may be posted and not yet consumed by the receiver.
    pub window: u32,
    /// All that was estimated, the shortest time first; empty where NCCL has no choice.
    pub estimates: Vec<Estimate>,
    /// Why, as text.
    pub reason: String,
}

/// What NCCL would choose for a collective.
///
/// # Errors
/// A cluster whose numbers are out of range.
pub fn choose(collective: &Collective, cluster: &Cluster) -> Result<Choice, Error> {
    cluster.check(collective)?;
    let servers = collective.ranks() / cluster.ranks_per_server;
    let has_estimates = matches!(
        collective.kind(),
        Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter | Kind::Broadcast | Kind::Reduce
    );
    if !has_estimates || collective.ranks() == 1 {
        return Ok(cluster.without_choice(collective, servers));
    }
    let model = Model { collective, cluster, servers };
    let mut found: Vec<_> = Way::ALL
        .into_iter()
        .flat_map(|way| Protocol::ALL.iter().map(move |protocol| (way, *protocol)))
        .filter_map(|(way, protocol)| Some((way, model.estimate(way, protocol)?)))
        .collect();
    // The first of equal ones, in the order of the lists.
    found.sort_by(|(_, one), (_, other)| one.microseconds.total_cmp(&other.microseconds));
    let Some((way, best)) = found.first().copied() else {
        return Ok(cluster.without_choice(collective, servers));
    };
    let estimates: Vec<_> = found.into_iter().map(|(_, estimate)| estimate).collect();
    let listed: Vec<_> = estimates.iter().map(ToString::to_string).collect();
    let channels = model.channels(way, best.protocol);
    let reason = format!("{}; {channels} of {} channels", listed.join("; "), cluster.channels);
    // A channel of a double tree here is two of NCCL's.
    let channels = if way == Way::Tree { channels.div_ceil(2) } else { channels };
    let choice = cluster.choice(collective, best.algorithm, best.protocol, channels);
    Ok(Choice { estimates, reason, ..choice })
}

impl Cluster {
    fn check(&self, collective: &Collective) -> Result<(), Error> {
        let positive = |key, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(Error::new(key, value, "it is no bandwidth", "write GB/s above 0"))
        };
        positive("intra_bandwidth", self.intra_bandwidth)?;
        positive("inter_bandwidth", self.inter_bandwidth)?;
        self.options(self.channels).check(collective)
    }

    fn options(&self, channels: u32) -> Options {
        Options { channels, ranks_per_server: self.ranks_per_server, ..Options::default() }
    }

    fn choice(
        &self,
        collective: &Collective,
        algorithm: Algorithm,
        protocol: Protocol,
        channels: u32,
    ) -> Choice {
        let options = self.options(channels);
        let cut = protocol.cut(algorithm, collective, channels);
        Choice {
            algorithm,
            protocol,
            options: cut.map_or(options.clone(), |cut| options.with_cut(cut)),
            window: cut.map_or(1, |cut| cut.window),
            estimates: Vec::new(),
            reason: String::new(),
        }
    }

    /// What has one way only.
    fn without_choice(&self, collective: &Collective, servers: u32) -> Choice {
        let (kind, ranks) = (collective.kind(), u64::from(collective.ranks()));
        let relays = self.pxn && servers > 1 && self.ranks_per_server > 1;
        let (algorithm, why) = match kind {
            Kind::AllToAll | Kind::AllToAllV if relays => {
                (Algorithm::Pxn, "sends and receives, through the rank on the destination's rail")
            }
            Kind::AllToAll | Kind::AllToAllV => {
                (Algorithm::NcclSendReceive, "sends and receives of all in a group")
            }
            Kind::Gather | Kind::Scatter => (Algorithm::Linear, "sends and receives of the root"),
            Kind::Barrier => (Algorithm::Bruck, "NCCL has no barrier: dissemination"),
            _ => (Algorithm::Ring, "there is no other way"),
        };
        // Sends and receives take LL for up to 16 KiB a channel.
        let message = match kind {
            Kind::SendReceive => collective.bytes(),
            _ => collective.bytes() / ranks,
        };
        let small = message <= u64::from(self.channels) * 16_384;
        let protocol = if small { Protocol::Ll } else { Protocol::Simple };
        let channels = if kind == Kind::Barrier { 1 } else { self.channels };
        let reason = format!("{why}; {} for {message} bytes a message", protocol.name());
        let choice = self.choice(collective, algorithm, protocol, channels);
        Choice { reason, ..choice }
    }
}

/// The model of one collective on one cluster.
struct Model<'a> {
    collective: &'a Collective,
    cluster: &'a Cluster,
    servers: u32,
}

impl Model<'_> {
    fn estimate(&self, way: Way, protocol: Protocol) -> Option<Estimate> {
        if !self.is_possible(way, protocol) {
            return None;
        }
        let mut bandwidth = self.bandwidth(way, protocol);
        let mut latency = self.latency(way, protocol);
        let bytes = self.collective.bytes();
        let is_all_reduce = self.collective.kind() == Kind::AllReduce;
        if way == Way::Tree && is_all_reduce {
            bandwidth *= tables::tree_correction(protocol, bytes);
        }
        let parts = u64::from(self.cluster.channels) * u64::from(self.collective.ranks());
        let is_ring = way == Way::Ring && protocol == Protocol::Simple;
        if is_ring && self.servers > 1 && is_all_reduce && bytes / parts >= 64 {
            latency *= if self.cluster.generation == Generation::Volta { 1.9 } else { 1.4 };
        }
        let microseconds = latency + as_f64(bytes) / (1000.0 * bandwidth);
        Some(Estimate { algorithm: way.algorithm(), protocol, microseconds })
    }

    fn is_possible(&self, way: Way, protocol: Protocol) -> bool {
        let (kind, generation) = (self.collective.kind(), self.cluster.generation);
        let is_known = match way {
            Way::Ring => true,
            Way::Tree => kind == Kind::AllReduce,
            Way::Nvls => {
                let moves = matches!(kind, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter);
                // Between servers it needs switches that add up there too.
                moves && self.servers == 1
            }
            Way::NvlsTree => kind == Kind::AllReduce && self.servers > 1,
        };
        let has_hardware = match way {
            Way::Ring | Way::Tree => true,
            Way::Nvls | Way::NvlsTree => {
                self.cluster.nvls
                    && tables::nvls_share(generation) > 0.0
                    && protocol == Protocol::Simple
            }
        };
        let keeps_lines =
            if self.servers == 1 { self.cluster.nvlink } else { generation >= Generation::Hopper };
        is_known && has_hardware && (protocol != Protocol::Ll128 || keeps_lines)
    }

    /// The bandwidth for S (GB/s).
    fn bandwidth(&self, way: Way, protocol: Protocol) -> f64 {
        let (cluster, servers) = (self.cluster, self.servers);
        let generation = cluster.generation;
        let channels = f64::from(cluster.channels);
        let all = channels
            * if servers == 1 {
                cluster.intra_bandwidth
            } else {
                cluster.intra_bandwidth.min(cluster.inter_bandwidth)
            };
        let ll_most = tables::ll_most(generation, servers, cluster.amd);
        match way {
            Way::Ring => {
                let bus = match protocol {
                    Protocol::Ll => ll_most.min(all * 0.5),
                    Protocol::Ll128 => {
                        let most = channels * tables::ring_ll128_most(generation, servers);
                        most.min(all * 0.92)
                    }
                    Protocol::Simple => all,
                };
                bus * f64::from(self.collective.ranks()) / f64::from(self.steps())
            }
            Way::Tree => {
                let simple = (all * 0.92).min(channels * tables::tree_most(generation, servers));
                let bus = match protocol {
                    Protocol::Ll => (simple / 3.8).min(ll_most),
                    Protocol::Ll128 => {
                        let share = if servers == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 };
                        let most = channels * tables::tree_ll128_most(generation, servers);
                        (simple * share).min(most)
                    }
                    Protocol::Simple => simple,
                };
                bus * 0.5
            }
            Way::Nvls | Way::NvlsTree => all * tables::nvls_share(generation),
        }
    }

    /// Steps of a ring.
    fn steps(&self) -> u32 {
        let ranks = self.collective.ranks();
        match self.collective.kind() {
            Kind::AllReduce => 2 * (ranks - 1),
            Kind::AllGather | Kind::ReduceScatter => ranks - 1,
            _ => ranks,
        }
    }

    /// The latency (us).
    fn latency(&self, way: Way, protocol: Protocol) -> f64 {
        let (local, servers) = (self.cluster.ranks_per_server, self.servers);
        let inside = if self.cluster.nvlink { Hop::NvLink } else { Hop::Pcie };
        let hop = |way, hop| tables::hop_latency(way, hop, protocol);
        let intra = hop(way, inside);
        // One rank in a server shows all of the latency, which is that of trees.
        let inter = hop(if local == 1 { Way::Tree } else { way }, Hop::Network);
        let base = tables::base_latency(way, protocol);
        let depth = f64::from(servers.ilog2());
        match way {
            Way::Ring => base + self.ring_latency(protocol, intra, inter),
            Way::Tree => base + 2.0 * (f64::from(local - 1) * intra + depth * inter),
            Way::Nvls => intra,
            Way::NvlsTree => intra + 2.0 * depth * hop(way, Hop::Network),
        }
    }

    fn ring_latency(&self, protocol: Protocol, intra: f64, inter: f64) -> f64 {
        let steps = self.steps();
        if matches!(self.collective.kind(), Kind::Broadcast | Kind::Reduce) {
            // Channels pass the ranks in the same order: chunks follow each other.
            return if self.servers == 1 { intra } else { inter };
        }
        let crossing = match (self.servers, self.collective.kind()) {
            (1, _) => 0,
            (servers, Kind::AllReduce) => 2 * (servers - 1),
            (servers, _) => servers - 1,
        };
        let post = match (self.servers, protocol) {
            (1, _) => 0.0,
            (_, Protocol::Simple) => 3.0 * self.post_latency(),
            _ => self.post_latency(),
        };
        f64::from(steps - crossing) * intra.max(post) + f64::from(crossing) * inter
    }

    /// What a host takes for a message (us).
    const fn post_latency(&self) -> f64 {
        if self.cluster.amd { 2.0 } else { 1.0 }
    }

    /// Channels are given up while there are fewer bytes than their threads need.
    fn channels(&self, way: Way, protocol: Protocol) -> u32 {
        let threads = tables::threads(protocol);
        let each = threads * tables::thread_bytes(way, protocol, self.collective.ranks());
        let full = u32::try_from(self.collective.bytes() / each).unwrap_or(u32::MAX);
        full.clamp(1, self.cluster.channels)
    }
}

/// Bytes as a number that may be rounded: for an estimate.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}
