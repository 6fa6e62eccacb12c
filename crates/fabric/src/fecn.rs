//! Forward marks of InfiniBand's congestion control, at a port of a switch (IBTA Annex A10).

use rocelab_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flow_control::blocks_of;

/// The largest threshold weight, and so the lowest threshold.
const MOST: u8 = 15;

/// `[infiniband.congestion_control]`: when switches set FECN in packets. Needs `[congestion_control.infiniband]`, or another
/// that follows marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FecnConfig {
    /// From how much on of what came in by one port and waits in a lane of another this one is congested: a weight w from 0 (never) to
    /// 15, for (16 - w) / 16 of the buffer that the input port has for the lane.
    pub threshold: u8,
    /// How many packets that could be marked are not, on average, between two that are; 0: all are marked.
    pub marking_rate: u16,
    /// Packets of fewer blocks of 64 bytes are not marked.
    pub packet_size: u8,
    /// The ports that mark where they are congested and have no credits: there somebody further on is the cause.
    pub victim_mask: VictimMask,
    /// More ports of switches that do so: `leaf-0:3`, or all of `leaf-0`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub victim_ports: Vec<String>,
}

/// Which ports mark without credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VictimMask {
    /// Ports to channel adapters: where one gives no credits, it is the cause itself.
    #[default]
    Adapters,
    /// All ports.
    All,
    /// None.
    None,
}

impl Default for FecnConfig {
    /// Those of Gran et al. (IPDPS 2010) on hardware, but for the threshold: they had 15, with the memory of a chip behind it. A sixteenth
    /// of the few packets that lanes have here by default would mark any two packets of one input.
    fn default() -> Self {
        Self {
            threshold: 8,
            marking_rate: 0,
            packet_size: 8,
            victim_mask: VictimMask::default(),
            victim_ports: Vec::new(),
        }
    }
}

impl FecnConfig {
    /// Whether the threshold weight is one.
    pub const fn has_valid_threshold(&self) -> bool {
        self.threshold <= MOST
    }

    /// How much may wait in a lane with an input buffer of this size before a port is congested; none: it never is.
    pub fn threshold_of(&self, buffer: Bytes) -> Option<Bytes> {
        let weight = self.threshold.min(MOST);
        let sixteenth = |bytes: u64| bytes * u64::from(MOST + 1 - weight) / u64::from(MOST + 1);
        (weight > 0).then(|| Bytes::new(sixteenth(buffer.get())))
    }
}

/// A packet that starts at a port with credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartingPacket {
    /// Its bytes, delimiters included.
    pub len: u32,
    /// The port of the switch that it came in by.
    pub input: u16,
    /// Its bytes, and those that wait behind it in its lane and came in by that port.
    pub waiting: u32,
    /// Whether the lane [is short of credits](crate::FlowControl::is_short_of_credits).
    pub lacks_credits: bool,
}

/// The marks of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FecnMarker {
    /// By input port: above this (bytes) a lane is congested.
    thresholds: Box<[u32]>,
    packet_size: u32,
    marking_rate: u16,
    marks_as_victim: bool,
}

impl FecnMarker {
    /// The marks of a port, of a switch whose input ports have `buffers` of these sizes for each lane (bytes).
    pub fn new(
        config: &FecnConfig,
        buffers: impl IntoIterator<Item = u32>,
        leads_to_adapter: bool,
    ) -> Self {
        let threshold = |buffer: u32| {
            let threshold = config.threshold_of(Bytes::new(buffer.into()));
            threshold.map_or(u32::MAX, |bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX))
        };
        Self {
            thresholds: buffers.into_iter().map(threshold).collect(),
            packet_size: config.packet_size.into(),
            marking_rate: config.marking_rate,
            marks_as_victim: match config.victim_mask {
                VictimMask::Adapters => leads_to_adapter,
                VictimMask::All => true,
                VictimMask::None => false,
            },
        }
    }

    /// The same, of a port that marks without credits too.
    #[must_use]
    pub fn marking_as_victim(self) -> Self {
        Self { marks_as_victim: true, ..self }
    }

    /// Whether a packet is marked; `draw` gives 64 random bits, and is called only if not every packet is.
    pub fn marks(&self, packet: &StartingPacket, draw: impl FnOnce() -> u64) -> bool {
        // One that nothing waits behind is no congestion.
        let threshold = self.thresholds.get(usize::from(packet.input)).copied();
        let is_congested = threshold.is_some_and(|above| packet.waiting > above.max(packet.len));
        let is_eligible = is_congested
            && (self.marks_as_victim || !packet.lacks_credits)
            && blocks_of(packet.len) >= self.packet_size;
        // One of `marking_rate` + 1 packets.
        is_eligible
            && (self.marking_rate == 0
                || (draw() >> 32) * (u64::from(self.marking_rate) + 1) < 1 << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: StartingPacket =
        StartingPacket { len: 600, input: 0, waiting: 16_000, lacks_credits: false };

    fn marker(config: FecnConfig, leads_to_adapter: bool) -> FecnMarker {
        FecnMarker::new(&config, [16_000, 32_000], leads_to_adapter)
    }

    fn marks(marker: &FecnMarker, packet: StartingPacket) -> bool {
        marker.marks(&packet, || panic!("every packet is marked"))
    }

    #[test]
    fn the_weight_is_a_share_of_the_buffer() {
        for (threshold, above) in [(15, 1_000), (8, 8_000), (1, 15_000)] {
            let marker = marker(FecnConfig { threshold, ..FecnConfig::default() }, false);
            let is_marked = |waiting| marks(&marker, StartingPacket { waiting, ..PACKET });
            assert_eq!([above, above + 1].map(is_marked), [false, true], "{threshold}");
        }
        let low = marker(FecnConfig { threshold: 15, ..FecnConfig::default() }, false);
        let alone = StartingPacket { len: 4124, waiting: 4124, ..PACKET };
        assert!(!marks(&low, alone), "nothing waits behind it");
        let far = marker(FecnConfig { threshold: 8, ..FecnConfig::default() }, false);
        let is_marked = |waiting| marks(&far, StartingPacket { waiting, input: 1, ..PACKET });
        assert_eq!([16_000, 16_001].map(is_marked), [false, true], "the larger buffer of port 1");
        let never = marker(FecnConfig { threshold: 0, ..FecnConfig::default() }, true);
        assert!(!marks(&never, StartingPacket { waiting: u32::MAX, ..PACKET }));
    }

    #[test]
    fn a_port_without_credits_is_a_victim_unless_an_adapter_is_behind_it() {
        let victim = StartingPacket { lacks_credits: true, ..PACKET };
        for (victim_mask, expected) in [
            (VictimMask::Adapters, [false, true]),
            (VictimMask::All, [true, true]),
            (VictimMask::None, [false, false]),
        ] {
            let config = FecnConfig { victim_mask, ..FecnConfig::default() };
            let found = [false, true].map(|leads| marks(&marker(config.clone(), leads), victim));
            assert_eq!(found, expected, "{victim_mask:?}");
            let unless_named = marker(config, false);
            assert!(marks(&unless_named, PACKET), "it is the root");
            assert!(marks(&unless_named.marking_as_victim(), victim), "{victim_mask:?}");
        }
    }

    #[test]
    fn short_packets_are_not_marked() {
        // 7 blocks are 448 bytes, and two delimiters on the link.
        let marker = marker(FecnConfig::default(), false);
        let is_marked = |len| marks(&marker, StartingPacket { len, ..PACKET });
        assert_eq!([32, 450, 451].map(is_marked), [false, false, true]);
    }

    #[test]
    fn so_many_packets_are_not_marked_between_two_that_are() {
        for rate in [1, 3, 99] {
            let marker = marker(FecnConfig { marking_rate: rate, ..FecnConfig::default() }, false);
            let draws = (0..10_000_u64).map(|one| ((one << 32) / 10_000) << 32);
            let marked = draws.filter(|&draw| marker.marks(&PACKET, || draw)).count();
            let expected = 10_000 / (usize::from(rate) + 1);
            assert!(marked.abs_diff(expected) <= 1, "{rate}: {marked}");
        }
    }
}
