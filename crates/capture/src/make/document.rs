//! The description, as the user writes it.

use serde::Deserialize;
use toml::Spanned;

use super::values::or;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// RoCE version, 1 or 2, or `infiniband`.
    #[serde(default = "two")]
    pub(super) version: Spanned<toml::Value>,
    pub(super) path_mtu: Option<Spanned<u16>>,
    /// Whether frames end with their FCS.
    pub(super) fcs: Option<Spanned<bool>>,
    /// Time between two frames (ns).
    pub(super) interval_ns: Option<Spanned<u64>>,
    pub(super) source: Option<Spanned<String>>,
    pub(super) destination: Option<Spanned<String>>,
    pub(super) source_mac: Option<Spanned<String>>,
    pub(super) destination_mac: Option<Spanned<String>>,
    /// The queue pair to which requests go.
    pub(super) dest_qp: Option<Spanned<u32>>,
    /// The queue pair to which answers go.
    pub(super) answer_qp: Option<Spanned<u32>>,
    /// First PSN.
    pub(super) psn: Option<Spanned<u32>>,
    pub(super) vlan: Option<Spanned<Vlan>>,
    pub(super) dscp: Option<Spanned<u8>>,
    /// In place of `dscp` and `ecn`.
    pub(super) traffic_class: Option<Spanned<u8>>,
    pub(super) ecn: Option<Spanned<String>>,
    pub(super) flow_label: Option<Spanned<u32>>,
    pub(super) udp_source_port: Option<Spanned<u16>>,
    pub(super) hop_limit: Option<Spanned<u8>>,
    pub(super) source_lid: Option<Spanned<u16>>,
    pub(super) destination_lid: Option<Spanned<u16>>,
    /// Service level of InfiniBand.
    pub(super) sl: Option<Spanned<u8>>,
    /// Virtual lane of InfiniBand.
    pub(super) vl: Option<Spanned<u8>>,
    #[serde(default)]
    pub(super) message: Vec<Message>,
}

impl Document {
    /// Whether frames end with their FCS.
    pub(super) fn has_fcs(&self) -> bool {
        or(&self.fcs, false)
    }
}

fn two() -> Spanned<toml::Value> {
    Spanned::new(0..0, toml::Value::Integer(2))
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vlan {
    #[serde(default)]
    pub(super) pcp: u8,
    #[serde(default)]
    pub(super) vid: u16,
}

/// One `[[message]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// The message's operation: a verb, or the standard name of an opcode for a single packet.
    pub(super) verb: Spanned<String>,
    pub(super) transport: Option<Spanned<String>>,
    pub(super) bytes: Option<Spanned<u64>>,
    /// `zeros`, `counting`, or bytes in hex.
    pub(super) payload: Option<Spanned<String>>,
    pub(super) immediate: Option<Spanned<u32>>,
    pub(super) invalidate: Option<Spanned<u32>>,
    pub(super) virtual_address: Option<Spanned<u64>>,
    pub(super) r_key: Option<Spanned<u32>>,
    pub(super) swap_or_add: Option<Spanned<u64>>,
    pub(super) compare: Option<Spanned<u64>>,
    pub(super) original: Option<Spanned<u64>>,
    pub(super) syndrome: Option<Spanned<u8>>,
    pub(super) msn: Option<Spanned<u32>>,
    pub(super) q_key: Option<Spanned<u32>>,
    pub(super) src_qp: Option<Spanned<u32>>,
    pub(super) xrc_srq: Option<Spanned<u32>>,
    pub(super) dest_qp: Option<Spanned<u32>>,
    pub(super) psn: Option<Spanned<u32>>,
    pub(super) p_key: Option<Spanned<u16>>,
    pub(super) ack_req: Option<Spanned<bool>>,
    pub(super) solicited_event: Option<Spanned<bool>>,
    pub(super) migreq: Option<Spanned<bool>>,
    pub(super) fecn: Option<Spanned<bool>>,
    pub(super) becn: Option<Spanned<bool>>,
    /// Whether it goes from the destination to the source; this is the default for answers.
    pub(super) reverse: Option<Spanned<bool>>,
    pub(super) vlan: Option<Spanned<Vlan>>,
    pub(super) dscp: Option<Spanned<u8>>,
    /// In place of `dscp` and `ecn`.
    pub(super) traffic_class: Option<Spanned<u8>>,
    pub(super) ecn: Option<Spanned<String>>,
    /// The priorities in a PFC frame.
    pub(super) priorities: Option<Spanned<Vec<u8>>>,
    pub(super) quanta: Option<Spanned<u16>>,
    pub(super) sl: Option<Spanned<u8>>,
    pub(super) vl: Option<Spanned<u8>>,
    /// Fields of a flow control packet of InfiniBand.
    pub(super) op: Option<Spanned<u8>>,
    pub(super) fctbs: Option<Spanned<u16>>,
    pub(super) fccl: Option<Spanned<u16>>,
    /// Packets of the message, from 0, that are not written, as if they were lost.
    pub(super) omit: Option<Spanned<Vec<usize>>>,
    /// The defects.
    #[serde(default)]
    pub(super) faults: Vec<Spanned<String>>,
    /// Packets of the message, from 0, that have the defects; by default all.
    pub(super) faulty: Option<Spanned<Vec<usize>>>,
}
