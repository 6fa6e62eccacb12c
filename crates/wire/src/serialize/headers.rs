//! Headers as serialized objects.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::serialize_fields;
use super::text::{Hex, OpcodeName, Text};
use crate::{Aeth, Cnp, ImmDt, IntHeader, Psn};

serialize_fields! {
    Ethernet { destination, source, ether_type }
    VlanTag { tpid, pcp, dei, vid }
    CnTag { flow_id }
    Ipv4 {
        dscp,
        ecn,
        total_len,
        identification,
        reserved_flag,
        dont_fragment,
        more_fragments,
        fragment_offset,
        time_to_live,
        protocol,
        header_checksum,
        source: Text,
        destination: Text,
    }
    Ipv6 {
        dscp,
        ecn,
        flow_label,
        payload_len,
        next_header,
        hop_limit,
        source: Text,
        destination: Text,
    }
    Udp { source_port, destination_port, length, checksum }
    Lrh { vl, lver, sl, resv2, lnh, dlid, resv5, pkt_len, slid }
    Grh {
        ip_version,
        traffic_class,
        flow_label,
        pay_len,
        next_header,
        hop_limit,
        sgid,
        dgid,
    }
    Bth {
        opcode: OpcodeName,
        solicited_event,
        migreq,
        pad_count,
        transport_version,
        p_key,
        fecn,
        becn,
        resv6,
        dest_qp,
        ack_req,
        resv7,
        psn,
    }
    Deth { q_key, resv8, src_qp }
    EndpointReport { hops, delay_ns, held_ns }
    Xrceth { resv8, xrc_srq }
    Feth { reserved, selectivity_level, placement_type }
    Reth { virtual_address: Hex, r_key, dma_length }
    AtomicEth { virtual_address: Hex, r_key, swap_or_add: Hex, compare: Hex }
    Sack { resv8, first, arrived: Hex }
    AtomicAckEth { original_remote_data: Hex }
    Ieth { r_key }
    Pfc { reserved, class_enable_vector, quanta }
    Pause { quanta }
    Cnm {
        version,
        resv6,
        quantized_feedback,
        cpid: Hex,
        q_offset,
        q_delta,
        encapsulated_priority,
        resv13,
        encapsulated_destination,
        encapsulated_msdu_len,
    }
}

impl Serialize for Aeth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { syndrome, msn } = self;
        let mut object = serializer.serialize_struct("Aeth", 3)?;
        object.serialize_field("syndrome", &syndrome.to_u8())?;
        object.serialize_field("meaning", &Text(syndrome))?;
        object.serialize_field("msn", msn)?;
        object.end()
    }
}

/// Serialized as a number.
impl Serialize for ImmDt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

/// Serialized as an array of the 16 reserved bytes.
impl Serialize for Cnp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Cnp", 1)?;
        object.serialize_field("reserved", &self.reserved)?;
        object.end()
    }
}

/// Serialized as a list of records, each a number of 64 bits.
impl Serialize for IntHeader {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.hops().iter().map(|hop| Hex(hop.to_bits())))
    }
}

/// Serialized as its number.
impl Serialize for Psn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.value())
    }
}
