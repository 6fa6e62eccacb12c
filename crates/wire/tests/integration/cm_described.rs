//! CM messages as Wireshark's dissector describes them: `name: value`, in its words and order.

use rocelab_wire::Gid;
use rocelab_wire::cm::{
    CmMessage, CmPath, CmaHeader, Dreq, Mad, MadHeader, Rej, Rep, Req, ip_service,
};

use crate::described::hex;

/// Number of bytes of a field that the dissector shows.
const SHOWN: usize = 36;

/// The dissector's description of a MAD. Of messages that it does not know (MRA, SIDR), it shows
/// only the first bytes.
pub(crate) fn describe(mad: &Mad<'_>) -> Vec<String> {
    let mut lines = header(&mad.header);
    lines.push(format!("MAD Data Payload: {}", shown(&mad.to_bytes()[MadHeader::LEN..])));
    match &mad.message {
        CmMessage::Req(message) => lines.extend(req(message)),
        CmMessage::Rep(message) => lines.extend(rep(message)),
        CmMessage::Rej(message) => lines.extend(rej(message)),
        CmMessage::Dreq(message) => lines.extend(dreq(message)),
        CmMessage::Rtu(m) => {
            lines.extend(ids(m.local_communication_id, m.remote_communication_id));
            lines.push(private_data(m.private_data));
        }
        CmMessage::Drep(m) => {
            lines.extend(ids(m.local_communication_id, m.remote_communication_id));
            lines.push(private_data(m.private_data));
        }
        _ => {}
    }
    lines
}

fn header(header: &MadHeader) -> Vec<String> {
    vec![
        format!("Base Version: {:#04x}", header.base_version),
        format!("Management Class: {:#04x}", header.management_class),
        format!("Class Version: {:#04x}", header.class_version),
        format!("Method: Send() ({:#04x})", header.method),
        format!("Status: {:#06x}", header.status),
        format!("Class Specific: {:#06x}", header.class_specific),
        format!("Transaction ID: {:#018x}", header.transaction_id),
        format!("Attribute ID: {:#06x}", header.attribute_id),
        format!("Reserved: {:04x}", header.resv),
        format!("Attribute Modifier: {:#010x}", header.attribute_modifier),
    ]
}

fn req(m: &Req<'_>) -> Vec<String> {
    let (protocol, port) = ip_service(m.service_id).expect("a port");
    let mut lines = vec![
        format!("Local Communication ID: {:#010x}", m.local_communication_id),
        format!("Reserved: {:08x}", m.resv4),
        format!("Prefix: {:010x}", m.service_id >> 24),
        format!("Protocol: {protocol:#04x}"),
        format!("Destination Port: {port:#06x}"),
        format!("Local CA GUID: {:#018x}", m.local_ca_guid),
        format!("Reserved: {:08x}", m.resv24),
        format!("Local Q_Key: {:#010x}", m.local_q_key),
        format!("Local QPN: {:#08x}", m.local_qpn),
        format!("Responder Resources: {:#04x}", m.responder_resources),
        format!("Local EECN: {:#08x}", m.local_eecn),
        format!("Initiator Depth: {:#04x}", m.initiator_depth),
        format!("Remote EECN: {:#08x}", m.remote_eecn),
        format!("Remote CM Response Timeout: {:#04x}", m.remote_cm_response_timeout),
        format!("Transport Service Type: {:#03x}", m.transport_service_type),
        format!("End-to-End Flow Control: {:#03x}", u8::from(m.end_to_end_flow_control)),
        format!("Starting PSN: {:#08x}", m.starting_psn),
        format!("Local CM Response Timeout: {:#04x}", m.local_cm_response_timeout),
        format!("Retry Count: {:#03x}", m.retry_count),
        format!("Partition Key: {:#06x}", m.p_key),
        format!("Path Packet Payload MTU: {:#03x}", m.path_mtu),
        format!("RDC Exists: {:#03x}", u8::from(m.rdc_exists)),
        format!("RNR Retry Count: {:#03x}", m.rnr_retry_count),
        format!("Max CM Retries: {:#03x}", m.max_cm_retries),
        format!("SRQ: {:#03x}", u8::from(m.srq)),
        format!("Extended Transport: {:#03x}", m.extended_transport_type),
    ];
    lines.extend(path("Primary", &m.primary_path));
    lines.extend(path("Alternate", &m.alternate_path));
    lines.extend(cma(m.private_data));
    lines
}

fn path(name: &str, path: &CmPath) -> Vec<String> {
    vec![
        format!("{name} Local Port LID: {}", path.local_lid),
        format!("{name} Remote Port LID: {}", path.remote_lid),
        format!("{name} Local Port GID: {}", gid(path.local_gid)),
        format!("{name} Remote Port GID: {}", gid(path.remote_gid)),
        // Wireshark 4.0 reads wrong bits: for the label the first twelve of its twenty, for the
        // reserved bits and the rate the first eight.
        format!("{name} Flow Label: {:#07x}", path.flow_label >> 8),
        format!("Reserved: {:#04x}", path.flow_label >> 18),
        format!("{name} Packet Rate: {:#04x}", path.flow_label >> 12 & 0x3f),
        format!("{name} Traffic Class: {:#04x}", path.traffic_class),
        format!("{name} Hop Limit: {:#04x}", path.hop_limit),
        format!("{name} SL: {:#03x}", path.service_level),
        format!("{name} Subnet Local: {:#03x}", u8::from(path.subnet_local)),
        format!("Reserved: {:#03x}", path.resv3),
        format!("{name} Local ACK Timeout: {:#04x}", path.local_ack_timeout),
        format!("Reserved: {:#03x}", path.last_resv3),
    ]
}

fn gid(gid: Gid) -> String {
    gid.to_ipv4().map_or_else(|| hex(&gid.0), |address| address.to_string())
}

fn cma(private_data: &[u8]) -> Vec<String> {
    let header = CmaHeader::parse(private_data).expect("enough private data");
    vec![
        format!("IP CM Major Version: {:#03x}", header.version >> 4),
        format!("IP CM Minor Version: {:#03x}", header.version & 0xf),
        format!("IP CM IP Version: {:#03x}", header.ip_version),
        format!("IP CM Reserved: {:#03x}", header.resv4),
        format!("IP CM Source Port: {:#06x}", header.source_port),
        format!("IP CM Source IP: {}", header.source().expect("IPv4")),
        format!("IP CM Destination IP: {}", header.destination().expect("IPv4")),
        format!("IP CM Consumer PrivateData: {}", shown(&private_data[CmaHeader::LEN..])),
    ]
}

fn rep(m: &Rep<'_>) -> Vec<String> {
    let mut lines = ids(m.local_communication_id, m.remote_communication_id).to_vec();
    lines.extend([
        format!("Local Q_Key: {:#010x}", m.local_q_key),
        format!("Local QPN: {:#08x}", m.local_qpn),
        format!("Reserved: {:02x}", m.resv15),
        format!("Local EE Context Number: {:#08x}", m.local_eecn),
        format!("Reserved: {:02x}", m.resv19),
        format!("Starting PSN: {:#08x}", m.starting_psn),
        format!("Reserved: {:02x}", m.resv23),
        format!("Responder Resources: {:#04x}", m.responder_resources),
        format!("Initiator Depth: {:#04x}", m.initiator_depth),
        format!("Target ACK Delay: {:#04x}", m.target_ack_delay),
        format!("Failover Accepted: {:#03x}", m.failover_accepted),
        format!("End-To-End Flow Control: {:#03x}", u8::from(m.end_to_end_flow_control)),
        format!("RNR Retry Count: {:#03x}", m.rnr_retry_count),
        format!("SRQ: {:#03x}", u8::from(m.srq)),
        format!("Reserved: {:#03x}", m.resv4),
        format!("Local CA GUID: {:#018x}", m.local_ca_guid),
        private_data(m.private_data),
    ]);
    lines
}

fn rej(m: &Rej<'_>) -> Vec<String> {
    let mut lines = ids(m.local_communication_id, m.remote_communication_id).to_vec();
    lines.extend([
        format!("Message REJected: {:#03x}", m.message as u8),
        format!("Reserved: {:#03x}", m.resv6),
        format!("Reject Info Length: {:#04x}", m.information_length),
        format!("Reserved: {:#03x}", u8::from(m.resv1)),
        format!("Reason: {:#06x}", m.reason.0),
        format!("Additional Reject Information (ARI): {}", shown(m.additional_information)),
        private_data(m.private_data),
    ]);
    lines
}

fn dreq(m: &Dreq<'_>) -> Vec<String> {
    let mut lines = ids(m.local_communication_id, m.remote_communication_id).to_vec();
    lines.push(format!("Remote QPN/EECN: {:#08x}", m.remote_qpn));
    lines.push(format!("Reserved: {:02x}", m.resv11));
    lines.push(private_data(m.private_data));
    lines
}

fn ids(local: u32, remote: u32) -> [String; 2] {
    [
        format!("Local Communication ID: {local:#010x}"),
        format!("Remote Communication ID: {remote:#010x}"),
    ]
}

fn private_data(bytes: &[u8]) -> String {
    format!("PrivateData: {}", shown(bytes))
}

fn shown(bytes: &[u8]) -> String {
    format!("{}…", hex(&bytes[..SHOWN]))
}
