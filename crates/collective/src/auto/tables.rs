//! The constants of NCCL's choice (2.30). They are for choosing alone: no measurements of a network.

use super::{Generation, Way};
use crate::protocol::Protocol;

/// One value for each protocol: LL, LL128, Simple.
type ByProtocol = [f64; 3];

const fn of(values: ByProtocol, protocol: Protocol) -> f64 {
    values[protocol as usize]
}

/// What kind of a link a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    NvLink,
    Pcie,
    Network,
}

/// Latency of an operation before its first step (us).
pub(super) const fn base_latency(way: Way, protocol: Protocol) -> f64 {
    match way {
        Way::Tree => of([6.8, 14.0, 8.4], protocol),
        Way::Ring => of([6.6, 14.0, 8.4], protocol),
        Way::Nvls | Way::NvlsTree => 0.0,
    }
}

/// Latency of a step (us).
pub(super) const fn hop_latency(way: Way, hop: Hop, protocol: Protocol) -> f64 {
    match (way, hop) {
        (Way::Tree, Hop::NvLink) => of([0.6, 1.25, 4.0], protocol),
        (Way::Tree, Hop::Pcie) => of([1.0, 1.9, 4.0], protocol),
        (Way::Tree, Hop::Network) => of([5.0, 8.5, 14.0], protocol),
        (Way::Ring, Hop::NvLink) => of([0.6, 1.9, 3.4], protocol),
        (Way::Ring, Hop::Pcie) => of([1.0, 2.5, 5.7], protocol),
        (Way::Ring, Hop::Network) => of([2.7, 4.0, 14.0], protocol),
        (Way::Nvls, Hop::Network) => 18.0,
        (Way::NvlsTree, Hop::Network) => 20.9,
        (Way::Nvls | Way::NvlsTree, _) => 25.0,
    }
}

/// By generation, the most that something reaches (GB/s) in one server, in two, and in more.
type ByServers = [[f64; 3]; 4];

const fn at(table: &ByServers, generation: Generation, servers: u32) -> f64 {
    let column = if servers <= 2 { servers.saturating_sub(1) } else { 2 };
    table[generation as usize][column as usize]
}

/// All channels with LL (GB/s). Between servers, rows 0 and 1 are those of Intel's and AMD's hosts.
pub(super) const fn ll_most(generation: Generation, servers: u32, is_amd: bool) -> f64 {
    const MOST: ByServers =
        [[39.0, 39.0, 20.4], [87.7, 22.5, 19.0], [141.0, 45.0, 35.0], [282.0, 90.0, 70.0]];
    match (servers, is_amd) {
        (..=1, _) => at(&MOST, generation, servers),
        (_, false) => at(&MOST, Generation::Volta, servers),
        (_, true) => at(&MOST, Generation::Ampere, servers),
    }
}

/// A channel of a ring with LL128 (GB/s).
pub(super) const fn ring_ll128_most(generation: Generation, servers: u32) -> f64 {
    const MOST: ByServers = [[20.0; 3], [20.0; 3], [36.7; 3], [73.4; 3]];
    at(&MOST, generation, servers)
}

/// A channel of a tree with LL128 (GB/s).
pub(super) const fn tree_ll128_most(generation: Generation, servers: u32) -> f64 {
    const MOST: ByServers = [[20.0; 3], [20.0; 3], [36.7, 36.7, 29.0], [73.4, 73.4, 58.0]];
    at(&MOST, generation, servers)
}

/// A channel of a tree (GB/s).
pub(super) const fn tree_most(generation: Generation, servers: u32) -> f64 {
    const MOST: ByServers =
        [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [77.4, 82.8, 72.0]];
    at(&MOST, generation, servers)
}

/// By how much an all-reduce by trees is slower than its rate: for 64 bytes, 128 bytes, and so on.
pub(super) fn tree_correction(protocol: Protocol, bytes: u64) -> f64 {
    const LL: [f64; 23] = [
        1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8,
        0.9, 1.0, 1.0, 1.0, 1.0,
    ];
    const LL128: [f64; 23] = [
        1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9,
        0.9, 0.9, 0.9, 1.0, 1.0,
    ];
    const SIMPLE: [f64; 23] = [
        0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8,
        0.7, 0.7, 0.8, 0.9, 0.9,
    ];
    let table = match protocol {
        Protocol::Ll => LL,
        Protocol::Ll128 => LL128,
        Protocol::Simple => SIMPLE,
    };
    let place = (bytes >> 6).checked_ilog2();
    place.and_then(|place| table.get(place as usize)).copied().unwrap_or(1.0)
}

/// The share of its rate that NVLS reaches.
pub(super) const fn nvls_share(generation: Generation) -> f64 {
    match generation {
        Generation::Volta | Generation::Ampere => 0.0,
        Generation::Hopper => 0.85,
        Generation::Blackwell => 0.74,
    }
}

/// Bytes of a thread below which a channel is given up.
pub(super) const fn thread_bytes(way: Way, protocol: Protocol, ranks: u32) -> u64 {
    match (protocol, way) {
        (Protocol::Ll, Way::Ring) => 8 * ranks as u64,
        (Protocol::Ll | Protocol::Ll128, _) => 8,
        (Protocol::Simple, _) => 64,
    }
}

/// Threads of a channel.
pub(super) const fn threads(protocol: Protocol) -> u64 {
    match protocol {
        Protocol::Ll | Protocol::Simple => 512,
        Protocol::Ll128 => 640,
    }
}
