//! Flow hashing: which of several equal paths a flow takes.
//!
//! Real switches hash the header fields of every packet, mostly with a CRC. Here the fields are
//! hashed once per queue pair, when it is made, and each switch mixes the result with a seed of
//! its own: two multiplications a hop instead of a pass over 13 or 37 bytes (measured: below 1 ns
//! against 3 to 15 ns). The packets of a flow have equal fields, so the outcome is the same: every
//! packet of a flow takes the same way, and flows spread evenly.
//!
//! The mixing matters. If a second tier reduced the same hash again, all flows that reach it
//! would have chosen the same way in the first tier, so they would choose alike: some links would
//! stay empty ("hash polarisation"). The seed enters before a finaliser in which every input bit
//! changes every output bit with probability 1/2, so choices at different switches are as good as
//! independent.

use std::net::IpAddr;

use crate::topology::NodeId;

/// The fields that name a flow to a layer-3 switch: RoCE v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiveTuple {
    /// IP source address.
    pub source: IpAddr,
    /// IP destination address.
    pub destination: IpAddr,
    /// UDP source port, which RoCE v2 varies between queue pairs for this purpose.
    pub source_port: u16,
    /// UDP destination port: 4791.
    pub destination_port: u16,
    /// IP protocol or last next header: 17.
    pub protocol: u8,
}

impl FiveTuple {
    /// The flow's hash, for [`Routes::egress`](crate::Routes::egress).
    pub fn flow_hash(&self) -> u32 {
        let ports = u64::from(self.source_port) << 24
            | u64::from(self.destination_port) << 8
            | u64::from(self.protocol);
        Fields::new().address(self.source).address(self.destination).word(ports).finish()
    }
}

/// The fields that name a flow to a layer-2 multipath fabric: RoCE v1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerTwoFlow {
    /// Source MAC address.
    pub source: [u8; 6],
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// The GRH's flow label, 20 bits.
    pub flow_label: u32,
}

impl LayerTwoFlow {
    /// The flow's hash, for [`Routes::egress`](crate::Routes::egress).
    pub fn flow_hash(&self) -> u32 {
        let word = |[a, b, c, d, e, f]: [u8; 6]| u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let fields = Fields::new().word(word(self.source)).word(word(self.destination));
        fields.word(self.flow_label.into()).finish()
    }
}

/// Fields in the order in which they are hashed.
struct Fields(u64);

impl Fields {
    fn new() -> Self {
        Self(GAMMA)
    }

    fn word(self, word: u64) -> Self {
        Self(finalise(self.0.wrapping_add(GAMMA) ^ word))
    }

    fn address(self, address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => self.word(address.to_bits().into()),
            IpAddr::V6(address) => {
                let [high, low] = halves(address.to_bits());
                self.word(high).word(low)
            }
        }
    }

    fn finish(self) -> u32 {
        let [high, _] = words(self.0);
        high
    }
}

/// What a switch mixes into every flow's hash.
#[inline]
pub(super) fn switch_seed(seed: u64, switch: NodeId) -> u64 {
    // The switch above the hash's 32 bits, so that no two (hash, switch) start alike.
    seed.wrapping_add(GAMMA) ^ (u64::from(switch) << 32)
}

/// A flow's hash as the switch with this seed sees it.
#[inline]
pub(super) fn mix(hash: u32, seed: u64) -> u32 {
    let [high, _] = words(finalise(seed ^ u64::from(hash)));
    high
}

/// An index below `count` from a hash: the high half of their product, which is as even as the
/// remainder and needs no division (D. Lemire, "Fast Random Integer Generation in an Interval",
/// ACM TOMACS 29(1), 2019).
#[inline]
pub(super) fn reduce(hash: u32, count: usize) -> usize {
    ((u64::from(hash) * count as u64) >> 32) as usize
}

/// 2^64 divided by the golden ratio, as in SplitMix64: keeps zero from being a fixed point.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014), with the constants of its common 64-bit variant.
#[inline]
const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "takes the value apart")]
const fn words(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

#[expect(clippy::cast_possible_truncation, reason = "takes the value apart")]
const fn halves(value: u128) -> [u64; 2] {
    [(value >> 64) as u64, value as u64]
}
