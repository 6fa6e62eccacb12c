//! Management datagrams as serialized objects.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::serialize_fields;
use super::text::{Hex, HexBytes, Text};
use crate::cm::{CmMessage, RejectReason};

serialize_fields! {
    cm::MadHeader {
        base_version,
        management_class,
        class_version,
        method,
        status,
        class_specific,
        transaction_id: Hex,
        attribute_id,
        resv,
        attribute_modifier,
    }
    cm::CmaHeader {
        version,
        ip_version,
        resv4,
        source_port,
        source_address: HexBytes,
        destination_address: HexBytes,
    }
    cm::CmPath {
        local_lid,
        remote_lid,
        local_gid,
        remote_gid,
        flow_label,
        resv6,
        packet_rate,
        traffic_class,
        hop_limit,
        service_level,
        subnet_local,
        resv3,
        local_ack_timeout,
        last_resv3,
    }
    cm::Req<'_> {
        local_communication_id,
        resv4,
        service_id: Hex,
        local_ca_guid: Hex,
        resv24,
        local_q_key,
        local_qpn,
        responder_resources,
        local_eecn,
        initiator_depth,
        remote_eecn,
        remote_cm_response_timeout,
        transport_service_type,
        end_to_end_flow_control,
        starting_psn,
        local_cm_response_timeout,
        retry_count,
        p_key,
        path_mtu,
        rdc_exists,
        rnr_retry_count,
        max_cm_retries,
        srq,
        extended_transport_type,
        primary_path,
        alternate_path,
        private_data: HexBytes,
    }
    cm::Mra<'_> {
        local_communication_id,
        remote_communication_id,
        message: Text,
        resv6,
        service_timeout,
        resv3,
        private_data: HexBytes,
    }
    cm::Rej<'_> {
        local_communication_id,
        remote_communication_id,
        message: Text,
        resv6,
        information_length,
        resv1,
        reason,
        additional_information: HexBytes,
        private_data: HexBytes,
    }
    cm::Rep<'_> {
        local_communication_id,
        remote_communication_id,
        local_q_key,
        local_qpn,
        resv15,
        local_eecn,
        resv19,
        starting_psn,
        resv23,
        responder_resources,
        initiator_depth,
        target_ack_delay,
        failover_accepted,
        end_to_end_flow_control,
        rnr_retry_count,
        srq,
        resv4,
        local_ca_guid: Hex,
        private_data: HexBytes,
    }
    cm::Rtu<'_> {
        local_communication_id,
        remote_communication_id,
        private_data: HexBytes,
    }
    cm::Dreq<'_> {
        local_communication_id,
        remote_communication_id,
        remote_qpn,
        resv11,
        private_data: HexBytes,
    }
    cm::Drep<'_> {
        local_communication_id,
        remote_communication_id,
        private_data: HexBytes,
    }
    cm::SidrReq<'_> {
        request_id,
        p_key,
        resv6,
        service_id: Hex,
        private_data: HexBytes,
    }
    cm::SidrRep<'_> {
        request_id,
        status,
        information_length,
        resv6,
        qpn,
        resv11,
        service_id: Hex,
        q_key,
        additional_information: HexBytes,
        private_data: HexBytes,
    }
    cm::Mad<'_> { header, message }
}

/// Serialized as its number.
impl Serialize for RejectReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.0)
    }
}

/// Serialized as an object with one entry: the message under its name in lower case, or `other`
/// with all bytes.
impl Serialize for CmMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Req(message) => map.serialize_entry("req", message),
            Self::Mra(message) => map.serialize_entry("mra", message),
            Self::Rej(message) => map.serialize_entry("rej", message),
            Self::Rep(message) => map.serialize_entry("rep", message),
            Self::Rtu(message) => map.serialize_entry("rtu", message),
            Self::Dreq(message) => map.serialize_entry("dreq", message),
            Self::Drep(message) => map.serialize_entry("drep", message),
            Self::SidrReq(message) => map.serialize_entry("sidr_req", message),
            Self::SidrRep(message) => map.serialize_entry("sidr_rep", message),
            Self::Other(bytes) => map.serialize_entry("other", &HexBytes(bytes)),
        }?;
        map.end()
    }
}
