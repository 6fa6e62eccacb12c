//! The side that connects: REQ out, REP in, RTU out.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::cm::{AnsweredMessage, CmMessage, CmPath, CmaHeader, Mra, Rep, Req, Rtu};

use super::config::time;
use super::connection::{Connection, State};
use super::manager::Taken;
use super::{
    CmConfig, CmError, CmEvent, ConnectRequest, ConnectionId, ConnectionManager,
    ConnectionParameters,
};

impl ConnectionManager {
    /// Begins to connect: sends a REQ. [`CmEvent::Established`], [`CmEvent::Rejected`] or
    /// [`CmEvent::TimedOut`] will follow.
    ///
    /// # Errors
    ///
    /// [`CmError::PathMtu`], [`CmError::PrivateDataTooLong`] or [`CmError::TooManyConnections`].
    pub fn connect(
        &mut self,
        now: SimTime,
        request: &ConnectRequest,
    ) -> Result<ConnectionId, CmError> {
        let path_mtu_code = path_mtu_code(request.path_mtu)?;
        check_private_data(&request.private_data, Req::PRIVATE_DATA_LEN - CmaHeader::LEN)?;
        let id = self.new_id()?;
        let transaction_id = self.transaction_id(id);
        let parameters = offered(&self.config, request, path_mtu_code);
        let connection = Connection {
            state: State::ReqSent,
            remote_id: 0,
            transaction_id,
            parameters,
            response_timeout: self.config.request_timeout(),
            wait: Duration::ZERO,
            max_cm_retries: self.config.max_cm_retries,
            unanswered: None,
            retries_left: 0,
            deadline: SimTime::NEVER,
        };
        self.connections.insert(id, connection);
        let private_data = private_data(&self.config, request);
        let req = req(&self.config, id, request, &parameters, &private_data);
        self.send_until_answered(now, id, transaction_id, CmMessage::Req(req));
        Ok(ConnectionId(id))
    }

    pub(super) fn receive_rep(&mut self, source: u32, rep: &Rep<'_>) -> Taken {
        let id = rep.remote_communication_id;
        let Some(connection) = self.connections.get_mut(&id) else {
            self.note_late_answer(source, id);
            return Taken::Discarded;
        };
        if connection.parameters.peer != source {
            return Taken::Discarded;
        }
        match connection.state {
            State::ReqSent => {
                connection.state = State::Established;
                connection.remote_id = rep.local_communication_id;
                agree(&mut connection.parameters, rep);
                let parameters = connection.parameters;
                self.answered(id);
                self.send_rtu(id);
                self.events.push_back(CmEvent::Established {
                    connection: ConnectionId(id),
                    parameters,
                    private_data: rep.private_data.to_vec(),
                });
                Taken::Yes
            }
            State::Established if connection.remote_id == rep.local_communication_id => {
                self.send_rtu(id);
                Taken::Duplicate
            }
            _ => Taken::Discarded,
        }
    }

    /// A REP or REJ that names no connection: tells, once, if it answers a REQ that was given up.
    pub(super) fn note_late_answer(&mut self, source: u32, id: u32) {
        if self.given_up.get(&id) == Some(&source) {
            self.given_up.remove(&id);
            self.events.push_back(CmEvent::AnsweredLate { connection: ConnectionId(id) });
        }
    }

    fn send_rtu(&mut self, id: u32) {
        let Some(connection) = self.connections.get(&id) else { return };
        let rtu = Rtu {
            local_communication_id: id,
            remote_communication_id: connection.remote_id,
            private_data: &[],
        };
        let (peer, transaction_id) = (connection.parameters.peer, connection.transaction_id);
        self.send(peer, transaction_id, CmMessage::Rtu(rtu));
    }

    /// The peer has the REQ, or the REP, and wants more time: its service timeout, and the ACK
    /// timeout for the way (Linux `cm_mra_handler`).
    pub(super) fn receive_mra(&mut self, now: SimTime, source: u32, mra: &Mra<'_>) -> Taken {
        let id = mra.remote_communication_id;
        let Some(connection) = self.connections.get_mut(&id) else { return Taken::Discarded };
        let expected = match mra.message {
            AnsweredMessage::Req => State::ReqSent,
            AnsweredMessage::Rep => State::RepSent,
            AnsweredMessage::Other | AnsweredMessage::Reserved => return Taken::Discarded,
        };
        if connection.parameters.peer != source || connection.state != expected {
            return Taken::Discarded;
        }
        connection.wait = time(mra.service_timeout) + time(connection.parameters.ack_timeout);
        let deadline = now.saturating_add(connection.wait);
        self.set_deadline(id, deadline);
        Taken::Yes
    }
}

/// What the peer's REP adds to what was offered.
fn agree(parameters: &mut ConnectionParameters, rep: &Rep<'_>) {
    parameters.remote_qpn = rep.local_qpn;
    parameters.send_psn = rep.starting_psn;
    parameters.rnr_retry_count = rep.rnr_retry_count;
    parameters.end_to_end_flow_control = rep.end_to_end_flow_control;
    parameters.responder_resources = parameters.responder_resources.min(rep.initiator_depth);
    parameters.initiator_depth = parameters.initiator_depth.min(rep.responder_resources);
}

/// What is known before the REP.
fn offered(config: &CmConfig, request: &ConnectRequest, path_mtu_code: u8) -> ConnectionParameters {
    ConnectionParameters {
        peer: request.destination,
        remote_gid: request.remote_gid,
        local_qpn: request.qpn,
        remote_qpn: 0,
        send_psn: 0,
        receive_psn: request.starting_psn,
        path_mtu_code,
        ack_timeout: config.ack_timeout(),
        retry_count: request.retry_count,
        rnr_retry_count: request.rnr_retry_count,
        responder_resources: request.responder_resources,
        initiator_depth: request.initiator_depth,
        p_key: request.p_key,
        flow_label: request.flow_label,
        traffic_class: request.traffic_class,
        hop_limit: config.hop_limit,
        unreliable: false,
        end_to_end_flow_control: false,
    }
}

fn private_data(config: &CmConfig, request: &ConnectRequest) -> Vec<u8> {
    let header = CmaHeader::between(request.source_port, config.gid, request.remote_gid);
    [header.to_bytes().as_slice(), &request.private_data].concat()
}

fn req<'a>(
    config: &CmConfig,
    id: u32,
    request: &ConnectRequest,
    parameters: &ConnectionParameters,
    private_data: &'a [u8],
) -> Req<'a> {
    Req {
        local_communication_id: id,
        service_id: request.service_id,
        local_ca_guid: config.ca_guid,
        local_qpn: request.qpn,
        responder_resources: request.responder_resources,
        initiator_depth: request.initiator_depth,
        remote_cm_response_timeout: config.response_timeout,
        starting_psn: request.starting_psn,
        local_cm_response_timeout: config.response_timeout,
        retry_count: request.retry_count,
        p_key: request.p_key,
        path_mtu: parameters.path_mtu_code,
        rnr_retry_count: request.rnr_retry_count,
        max_cm_retries: config.max_cm_retries,
        srq: request.srq,
        end_to_end_flow_control: request.end_to_end_flow_control,
        primary_path: CmPath {
            local_lid: CmPath::PERMISSIVE_LID,
            remote_lid: CmPath::PERMISSIVE_LID,
            local_gid: config.gid,
            remote_gid: request.remote_gid,
            flow_label: request.flow_label,
            traffic_class: request.traffic_class,
            hop_limit: config.hop_limit,
            local_ack_timeout: parameters.ack_timeout,
            ..CmPath::default()
        },
        private_data,
        ..Req::default()
    }
}

fn path_mtu_code(path_mtu: u16) -> Result<u8, CmError> {
    (1..=5).find(|code| 128 << code == path_mtu).ok_or(CmError::PathMtu(path_mtu))
}

/// Whether private data fits into `max` bytes.
pub(super) fn check_private_data(data: &[u8], max: usize) -> Result<(), CmError> {
    let len = data.len();
    if len > max { Err(CmError::PrivateDataTooLong { len, max }) } else { Ok(()) }
}
