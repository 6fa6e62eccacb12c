//! `[[faults]]`: what links do to frames that they should deliver as they are.

use std::fmt;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One rule: which frames, on which links, and what becomes of them. `docs/faults.md` says how
/// rules work together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// What the results call it. Default: `faults[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What becomes of the frames.
    pub action: FaultVerb,
    /// With `corrupt`: which part of the frame. Default: `payload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<CorruptedPart>,
    /// With `reorder`: behind how many of the following packets, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub behind: Option<u32>,
    /// With `delay`: by how long. With `reorder`: for how long at the most (with `behind`: 1ms by
    /// default). Above zero and at most 1s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The node that the link direction begins at. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node that the link direction ends at. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Opcodes by their standard names, or classes: `data`, `request`, `response`, `ack`, `nak`;
    /// `PFC` for pause frames, `flow-control` for those of InfiniBand. One name or several. Default: all RDMA packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcode: Option<OpcodeNames>,
    /// Packets of this flow, in both directions, by its number in the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// Packets for this queue pair number, 24 bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 0x00ff_ffff))]
    pub dest_qp: Option<u32>,
    /// Packets with this sequence number, or in the range `"FIRST..LAST"`, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psn: Option<PsnRange>,
    /// Only the n-th frame that matches on each link direction, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nth: Option<u64>,
    /// Every n-th frame that matches on each link direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub every: Option<u64>,
    /// Each frame that matches with this probability, above 0 and at most 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub probability: Option<f64>,
    /// Frames that match and are picked by what they carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<FaultPattern>,
    /// How often the rule acts at the most on each link direction, at least 1. Default: without
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Frames that arrive at this time or later. Default: from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<SimTime>,
    /// Frames that arrive before this time. Default: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SimTime>,
}

impl FaultConfig {
    /// A rule for every RDMA packet.
    pub fn new(action: FaultVerb) -> Self {
        Self {
            name: None,
            action,
            part: None,
            behind: None,
            delay: None,
            from: None,
            to: None,
            opcode: None,
            flow: None,
            dest_qp: None,
            psn: None,
            nth: None,
            every: None,
            probability: None,
            pattern: None,
            count: None,
            after: None,
            until: None,
        }
    }
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultVerb {
    /// It does not arrive.
    Drop,
    /// It arrives twice, the copy right behind it.
    Duplicate,
    /// It arrives behind frames that were sent after it.
    Reorder,
    /// It arrives later, and so do all behind it: order is kept.
    Delay,
    /// It arrives with changed bytes and a right FCS; the ICRC tells the NIC that it goes to.
    Corrupt,
}

impl FaultVerb {
    /// The name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Delay => "delay",
            Self::Corrupt => "corrupt",
        }
    }
}

/// Where a corrupted frame's bytes differ: one bit of one byte.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    BorshSerialize,
    BorshDeserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum CorruptedPart {
    /// The first byte of the payload; frames without payload do not match.
    #[default]
    Payload,
    /// The last bit of the BTH's packet sequence number.
    Header,
    /// The ICRC itself.
    Icrc,
    /// The FCS: the port at the other end drops the frame, whatever it carries.
    Fcs,
}

/// A way to pick frames by what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultPattern {
    /// The low byte of the IPv4 identification is 0xff, and the identification counts the frames
    /// that a host transmits (Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016,
    /// section 4.1). Frames without one are counted alike: every 256th of each host.
    IpIdentification,
}

/// One name or several, as they were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(schema_with = "one_or_several_names")]
pub struct OpcodeNames(pub Vec<String>);

fn one_or_several_names(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
    })
}

impl<'de> Deserialize<'de> for OpcodeNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = OpcodeNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an opcode's name or an array of them")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<OpcodeNames, E> {
                Ok(OpcodeNames(vec![name.into()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<OpcodeNames, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = all.next_element()? {
                    names.push(name);
                }
                Ok(OpcodeNames(names))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

/// Packet sequence numbers from `first` to `last`, both included; a range may go over the end of
/// the 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsnRange {
    first: u32,
    last: u32,
}

impl PsnRange {
    /// The largest packet sequence number.
    const MAX: u32 = 0x00ff_ffff;

    /// Whether `psn` (24 bits) is one of them.
    pub const fn contains(self, psn: u32) -> bool {
        psn.wrapping_sub(self.first) & Self::MAX <= self.last.wrapping_sub(self.first) & Self::MAX
    }

    fn new(first: u64, last: u64) -> Result<Self, String> {
        let psn = |number: u64| {
            let psn = u32::try_from(number).ok().filter(|psn| *psn <= Self::MAX);
            psn.ok_or_else(|| format!("PSN {number} does not exist: use 0 to {}", Self::MAX))
        };
        Ok(Self { first: psn(first)?, last: psn(last)? })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no PSN: write a number, or a range such as \"10..20\"");
        let number = |part: &str| part.trim().parse().map_err(|_| wrong());
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        Self::new(number(first)?, number(last)?)
    }
}

impl Serialize for PsnRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.first == self.last {
            serializer.serialize_u32(self.first)
        } else {
            serializer.collect_str(&format_args!("{}..{}", self.first, self.last))
        }
    }
}

impl<'de> Deserialize<'de> for PsnRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Range;

        impl Visitor<'_> for Range {
            type Value = PsnRange;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a packet sequence number, or a range such as \"10..20\"")
            }

            fn visit_i64<E: Error>(self, psn: i64) -> Result<PsnRange, E> {
                let psn = u64::try_from(psn)
                    .map_err(|_| E::custom(format!("PSN {psn} does not exist: use 0 and up")))?;
                PsnRange::new(psn, psn).map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, psn: u64) -> Result<PsnRange, E> {
                PsnRange::new(psn, psn).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PsnRange, E> {
                PsnRange::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Range)
    }
}

impl JsonSchema for PsnRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PsnRange".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A packet sequence number, or a range of them.",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": Self::MAX },
                { "type": "string", "pattern": "^\\s*[0-9]+\\s*(\\.\\.\\s*[0-9]+\\s*)?$" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_both_ends_and_go_over_the_end() {
        let range = PsnRange::parse("10..12").unwrap();
        assert_eq!([9, 10, 12, 13].map(|psn| range.contains(psn)), [false, true, true, false]);
        let over = PsnRange::parse("16777214 .. 1").unwrap();
        let inside = [0xff_fffd, 0xff_fffe, 0xff_ffff, 0, 1, 2].map(|psn| over.contains(psn));
        assert_eq!(inside, [false, true, true, true, true, false]);
        let one = PsnRange::parse("7").unwrap();
        assert!(one.contains(7) && !one.contains(8) && !one.contains(6));
        assert!(PsnRange::parse("16777216").unwrap_err().contains("use 0 to 16777215"));
        assert!(PsnRange::parse("a..b").unwrap_err().contains("10..20"));
    }
}
