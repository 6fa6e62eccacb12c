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

/// The value that a switch mixes into every flow's hash.
#[inline]
pub(crate) fn switch_seed(seed: u64, switch: NodeId) -> u64 {
    // The switch number is above the 32 bits of the hash, so that two different (hash, switch)
    // pairs never have the same input.
    seed.wrapping_add(GAMMA) ^ (u64::from(switch) << 32)
}

/// A flow's hash as the switch with this seed sees it.
#[inline]
pub(crate) fn mix(hash: u32, seed: u64) -> u32 {
    let [high, _] = words(finalise(seed ^ u64::from(hash)));
    high
}

/// An index below `count` from a hash: the high half of their product, which is as even as the
/// remainder and needs no division (D. Lemire, "Fast Random Integer Generation in an Interval",
/// ACM TOMACS 29(1), 2019).
#[inline]
pub(crate) fn reduce(hash: u32, count: usize) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    const FLOWS: u32 = 1 << 16;

    /// Flows between two hosts that differ in their UDP source port alone.
    fn five_tuple(flow: u32) -> u32 {
        let [.., high, low] = flow.to_be_bytes();
        let source_port = u16::from_be_bytes([high, low]);
        let (source, destination) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let fields =
            FiveTuple { source, destination, source_port, destination_port: 4791, protocol: 17 };
        fields.flow_hash()
    }

    /// Flows that differ in their flow label alone.
    fn layer_two(flow: u32) -> u32 {
        let source = [2, 0, 0, 0, 0, 1];
        LayerTwoFlow { source, destination: [2, 0, 0, 0, 0, 2], flow_label: flow }.flow_hash()
    }

    /// The sum over bins of (count - mean)^2 / mean.
    fn chi_square(bins: &[u32]) -> f64 {
        let mean = f64::from(bins.iter().sum::<u32>()) / bins.len() as f64;
        bins.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum()
    }

    /// Asserts that the bins are as even as random choices make them: for n + 1 bins, chi-square
    /// has mean n and standard deviation sqrt(2 n); five of these are allowed on either side. (Too
    /// even would be as suspicious as too uneven.)
    fn assert_even(bins: &[u32], what: &str) {
        let freedom = bins.len() as f64 - 1.0;
        let distance = (chi_square(bins) - freedom) / (2.0 * freedom).sqrt();
        assert!(distance.abs() < 5.0, "{what}: {distance} standard deviations off: {bins:?}");
    }

    #[test]
    fn flows_spread_evenly_over_any_number_of_paths() {
        for flow_hash in [five_tuple, layer_two] {
            for paths in [2, 3, 4, 7, 16, 32, 64] {
                let seed = switch_seed(0, 340);
                let mut bins = vec![0; paths];
                (0..FLOWS).for_each(|flow| bins[reduce(mix(flow_hash(flow), seed), paths)] += 1);
                assert_even(&bins, &format!("{paths} paths"));
            }
        }
    }

    #[test]
    fn switches_choose_independently() {
        const PATHS: usize = 4;
        for (first, second) in [(0, 1), (320, 340), (340, 360), (5, 5 + (1 << 16))] {
            let seeds = [first, second].map(|switch| switch_seed(9, switch));
            let mut pairs = vec![0; PATHS * PATHS];
            for flow in 0..FLOWS {
                let [a, b] = seeds.map(|seed| reduce(mix(five_tuple(flow), seed), PATHS));
                pairs[a * PATHS + b] += 1;
            }
            assert_even(&pairs, &format!("switches {first} and {second}"));
        }
    }

    #[test]
    fn without_seeds_of_their_own_switches_would_choose_alike() {
        let seed = switch_seed(0, 1);
        let chosen: Vec<_> =
            (0..FLOWS).map(|flow| reduce(mix(five_tuple(flow), seed), 4)).collect();
        let taken = (0..FLOWS).filter(|&flow| chosen[flow as usize] == 2);
        let mut bins = [0u32; 4];
        taken.for_each(|flow| bins[reduce(mix(five_tuple(flow), seed), 4)] += 1);
        assert_eq!(bins.iter().filter(|&&count| count > 0).count(), 1, "hash polarisation");
    }

    #[test]
    fn every_field_counts() {
        let v4 = FiveTuple {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: 0xc000,
            destination_port: 4791,
            protocol: 17,
        };
        let variants = [
            v4,
            FiveTuple { source: v4.destination, destination: v4.source, ..v4 },
            FiveTuple { source: [10, 0, 0, 3].into(), ..v4 },
            FiveTuple { source_port: 0xc001, ..v4 },
            FiveTuple { source_port: 4791, destination_port: 0xc000, ..v4 },
            FiveTuple { protocol: 6, ..v4 },
            FiveTuple { source: IpAddr::V6(1.into()), destination: IpAddr::V6(2.into()), ..v4 },
            FiveTuple {
                source: IpAddr::V6((1 << 64).into()),
                destination: IpAddr::V6(2.into()),
                ..v4
            },
        ];
        let l2 = LayerTwoFlow { source: [1; 6], destination: [2; 6], flow_label: 0 };
        let layer_two = [
            l2,
            LayerTwoFlow { source: [2; 6], destination: [1; 6], ..l2 },
            LayerTwoFlow { flow_label: 1, ..l2 },
        ];
        let mut hashes: Vec<_> = variants.iter().map(FiveTuple::flow_hash).collect();
        hashes.extend(layer_two.iter().map(LayerTwoFlow::flow_hash));
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }

    #[test]
    fn reduction_stays_below_the_count() {
        assert_eq!([reduce(0, 3), reduce(u32::MAX, 3), reduce(u32::MAX, 1)], [0, 2, 0]);
        assert_eq!(reduce(u32::MAX, 65_535), 65_534);
    }
}
