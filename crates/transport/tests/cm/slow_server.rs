//! A server that took its time: of this connection there are Wireshark's descriptions only. They
//! have the first 36 bytes of each message, and no times.

use rocelab_transport::cm::{AcceptReply, CmConfig, CmEvent, ConnectionManager};
use rocelab_units::SimTime;
use rocelab_wire::Gid;
use rocelab_wire::cm::{CmMessage, Dreq, Mad, Req, Rtu, TCP_PORT_SPACE, service_id};

const CLIENT: u32 = 2;
const CLIENT_ID: u32 = 0xc3f1_0f4c;
const SERVER_ID: u32 = 0xe603_b729;
const TRANSACTION: u64 = 0x2_4c0f_f1c3;
const NOW: SimTime = SimTime::ZERO;

/// The REQ came a second time before the server accepted: MRA, REP, and at the end DREP.
#[test]
fn mra_rep_drep() {
    let service_id = service_id(TCP_PORT_SPACE, 7_174);
    let config = CmConfig {
        first_communication_id: SERVER_ID,
        ..CmConfig::new(Gid::from_ipv4([10, 0, 0, 1]), 0x5054_00ff_fe00_0001)
    };
    let mut server = ConnectionManager::new(config);
    server.listen(service_id);

    let req = Req {
        local_communication_id: CLIENT_ID,
        service_id,
        local_qpn: 0x23,
        responder_resources: 1,
        initiator_depth: 1,
        starting_psn: 0xe5_6135,
        ..Req::default()
    };
    receive(&mut server, CmMessage::Req(req));
    let Some(CmEvent::ConnectRequested { connection, .. }) = server.poll_event() else { panic!() };
    assert_eq!(server.poll_transmit(), None);
    receive(&mut server, CmMessage::Req(req));
    assert_eq!(payload(&mut server), described("0x0011"));

    server.accept(NOW, connection, &AcceptReply::new(0x20, 0x90_8985)).expect("it was asked");
    assert_eq!(payload(&mut server), described("0x0013"));
    let rtu = Rtu {
        local_communication_id: CLIENT_ID,
        remote_communication_id: SERVER_ID,
        private_data: &[],
    };
    receive(&mut server, CmMessage::Rtu(rtu));
    let dreq = Dreq {
        local_communication_id: CLIENT_ID,
        remote_communication_id: SERVER_ID,
        remote_qpn: 0x20,
        ..Dreq::default()
    };
    receive(&mut server, CmMessage::Dreq(dreq));
    server.disconnect(NOW, connection).expect("it was asked");
    assert_eq!(payload(&mut server), described("0x0016"));
}

fn receive(server: &mut ConnectionManager, message: CmMessage<'_>) {
    server.receive(NOW, CLIENT, &Mad::new(TRANSACTION, message).to_bytes());
}

/// Transaction ID, attribute ID and the first 36 bytes of the message that the server sends.
fn payload(server: &mut ConnectionManager) -> [String; 3] {
    let sent = server.poll_transmit().expect("an answer");
    let header = Mad::parse(&sent.mad).expect("a whole MAD").header;
    let payload: String = sent.mad[24..60].iter().map(|byte| format!("{byte:02x}")).collect();
    let transaction_id = format!("{:#018x}", header.transaction_id);
    [transaction_id, format!("{:#06x}", header.attribute_id), payload]
}

/// The same of the described message with this attribute ID.
fn described(attribute: &str) -> [String; 3] {
    let text = std::fs::read_to_string(format!("{}/decoded.txt", crate::OWN)).expect("a file");
    let values = |name: &str| -> Vec<String> {
        let value = |line: &str| line.trim().strip_prefix(name).map(ToOwned::to_owned);
        text.lines().filter_map(value).collect()
    };
    let at = values("Attribute ID: ").iter().position(|value| value == attribute);
    let at = at.expect("it is described");
    let payload = values("MAD Data Payload: ").swap_remove(at);
    let payload = payload.trim_end_matches('…').to_owned();
    [values("Transaction ID: ").swap_remove(at), attribute.to_owned(), payload]
}
