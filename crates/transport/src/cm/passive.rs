//! The side that is connected to: REQ in, REP or REJ out, RTU in.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::cm::{AnsweredMessage, CmMessage, Mra, Rej, RejectReason, Rep, Req, Rtu};

use super::active::check_private_data;
use super::config::time;
use super::connection::{Connection, State};
use super::manager::Taken;
use super::{
    AcceptReply, CmError, CmEvent, ConnectionId, ConnectionManager, ConnectionParameters,
    IncomingRequest,
};

impl ConnectionManager {
    /// Accepts a request: sends a REP. The queue pair must be ready to receive from now on, with
    /// the parameters that this returns. [`CmEvent::Established`], [`CmEvent::Rejected`],
    /// [`CmEvent::TimedOut`] or [`CmEvent::DisconnectRequested`] will follow.
    ///
    /// # Errors
    ///
    /// [`CmError::UnknownConnection`], [`CmError::WrongState`] if it was decided on before, or
    /// [`CmError::PrivateDataTooLong`].
    pub fn accept(
        &mut self,
        now: SimTime,
        connection: ConnectionId,
        reply: &AcceptReply,
    ) -> Result<ConnectionParameters, CmError> {
        check_private_data(&reply.private_data, Rep::PRIVATE_DATA_LEN)?;
        let id = connection.0;
        let (ca_guid, target_ack_delay) = (self.config.ca_guid, self.config.target_ack_delay);
        let requested = self.requested(connection)?;
        agree(&mut requested.parameters, reply);
        requested.state = State::RepSent;
        let parameters = requested.parameters;
        let (transaction_id, remote_id) = (requested.transaction_id, requested.remote_id);
        self.undecided.remove(&id);
        let rep = Rep {
            local_communication_id: id,
            remote_communication_id: remote_id,
            local_qpn: reply.qpn,
            starting_psn: reply.starting_psn,
            responder_resources: parameters.responder_resources,
            initiator_depth: parameters.initiator_depth,
            target_ack_delay,
            rnr_retry_count: reply.rnr_retry_count,
            srq: reply.srq,
            end_to_end_flow_control: reply.end_to_end_flow_control,
            local_ca_guid: ca_guid,
            private_data: &reply.private_data,
            ..Rep::default()
        };
        self.awaiting_rtu.insert(reply.qpn, id);
        self.send_until_answered(now, id, transaction_id, CmMessage::Rep(rep));
        Ok(parameters)
    }

    /// Rejects a request: sends a REJ. The connection no longer exists. What an application
    /// decides has the reason [`RejectReason::CONSUMER_DEFINED`].
    ///
    /// # Errors
    ///
    /// [`CmError::UnknownConnection`], [`CmError::WrongState`] if it was decided on before, or
    /// [`CmError::PrivateDataTooLong`] (at most 148 bytes).
    pub fn reject(
        &mut self,
        connection: ConnectionId,
        reason: RejectReason,
        private_data: &[u8],
    ) -> Result<(), CmError> {
        check_private_data(private_data, Rej::PRIVATE_DATA_LEN)?;
        let requested = self.requested(connection)?;
        let (source, remote_id) = (requested.parameters.peer, requested.remote_id);
        let transaction_id = requested.transaction_id;
        self.remove(connection.0);
        let rej = Rej { private_data, ..rejected_req(connection.0, remote_id, reason) };
        self.send(source, transaction_id, CmMessage::Rej(rej));
        Ok(())
    }

    /// Data arrived for queue pair `qpn`: the active side has the REP, although its RTU did not
    /// come yet (Linux `ib_cm_notify`, for adapters that report a first packet). Costs one branch
    /// if no RTU is missing.
    pub fn on_data_received(&mut self, qpn: u32) {
        if !self.awaiting_rtu.is_empty()
            && let Some(id) = self.awaiting_rtu.get(&qpn).copied()
        {
            self.establish(id);
        }
    }

    pub(super) fn receive_req(&mut self, source: u32, transaction_id: u64, req: &Req<'_>) -> Taken {
        let remote_id = req.local_communication_id;
        if let Some(id) = self.by_peer.get(&(source, remote_id)).copied() {
            self.receive_req_again(source, transaction_id, id, remote_id);
            return Taken::Duplicate;
        }
        if let Err(reason) = self.acceptable(req) {
            let rej = rejected_req(0, remote_id, reason);
            self.send(source, transaction_id, CmMessage::Rej(rej));
            return Taken::Yes;
        }
        let Ok(id) = self.new_id() else {
            let rej = rejected_req(0, remote_id, RejectReason::NO_RESOURCES);
            self.send(source, transaction_id, CmMessage::Rej(rej));
            return Taken::Yes;
        };
        self.connections.insert(id, requested(source, transaction_id, req));
        self.by_peer.insert((source, remote_id), id);
        self.undecided.insert(id);
        self.events.push_back(CmEvent::ConnectRequested {
            connection: ConnectionId(id),
            request: incoming(source, req),
        });
        Taken::Yes
    }

    /// Whether the request may be shown to the application.
    fn acceptable(&self, req: &Req<'_>) -> Result<(), RejectReason> {
        if !self.listeners.contains(&req.service_id) {
            return Err(RejectReason::INVALID_SERVICE_ID);
        }
        if req.transport_service_type > UNRELIABLE_CONNECTION {
            return Err(RejectReason::INVALID_TRANSPORT_TYPE);
        }
        if self.undecided.len() >= self.config.max_pending {
            return Err(RejectReason::NO_RESOURCES);
        }
        Ok(())
    }

    /// As in Linux (`cm_dup_req_handler`): more time if the application has not decided, stale if
    /// the connection is over, and else nothing, as the REP is repeated anyway.
    fn receive_req_again(&mut self, source: u32, transaction_id: u64, id: u32, remote_id: u32) {
        let Some(connection) = self.connections.get(&id) else { return };
        match connection.state {
            State::ReqReceived => {
                let mra = Mra {
                    local_communication_id: id,
                    remote_communication_id: remote_id,
                    message: AnsweredMessage::Req,
                    service_timeout: self.config.service_timeout,
                    ..Mra::default()
                };
                self.send(source, transaction_id, CmMessage::Mra(mra));
            }
            State::TimeWait => {
                let rej = Rej {
                    message: AnsweredMessage::Other,
                    ..rejected_req(id, remote_id, RejectReason::STALE_CONNECTION)
                };
                self.send(source, transaction_id, CmMessage::Rej(rej));
            }
            _ => {}
        }
    }

    pub(super) fn receive_rtu(&mut self, source: u32, rtu: &Rtu<'_>) -> Taken {
        let id = rtu.remote_communication_id;
        match self.of_peer(id, source, rtu.local_communication_id).map(|c| c.state) {
            Some(State::RepSent) => {
                self.establish(id);
                Taken::Yes
            }
            Some(State::Established) => Taken::Duplicate,
            _ => Taken::Discarded,
        }
    }

    fn establish(&mut self, id: u32) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.state = State::Established;
        let parameters = connection.parameters;
        self.stop_awaiting_rtu(parameters.local_qpn, id);
        self.answered(id);
        self.events.push_back(CmEvent::Established {
            connection: ConnectionId(id),
            parameters,
            private_data: Vec::new(),
        });
    }

    /// The connection, if its request still waits for a decision.
    fn requested(&mut self, connection: ConnectionId) -> Result<&mut Connection, CmError> {
        let found = self.connections.get_mut(&connection.0);
        let found = found.ok_or(CmError::UnknownConnection(connection))?;
        match found.state {
            State::ReqReceived => Ok(found),
            _ => Err(CmError::WrongState(connection)),
        }
    }
}

/// The transport service type of UC; below it is RC, above it are RD and the extended ones.
const UNRELIABLE_CONNECTION: u8 = 1;

fn rejected_req(id: u32, remote_id: u32, reason: RejectReason) -> Rej<'static> {
    Rej {
        local_communication_id: id,
        remote_communication_id: remote_id,
        message: AnsweredMessage::Req,
        reason,
        ..Rej::default()
    }
}

/// What the application's reply adds to what was requested.
fn agree(parameters: &mut ConnectionParameters, reply: &AcceptReply) {
    parameters.local_qpn = reply.qpn;
    parameters.receive_psn = reply.starting_psn;
    parameters.responder_resources = parameters.responder_resources.min(reply.responder_resources);
    parameters.initiator_depth = parameters.initiator_depth.min(reply.initiator_depth);
}

/// A connection whose request has just come.
fn requested(source: u32, transaction_id: u64, req: &Req<'_>) -> Connection {
    let path = &req.primary_path;
    let parameters = ConnectionParameters {
        peer: source,
        remote_gid: path.local_gid,
        local_qpn: 0,
        remote_qpn: req.local_qpn,
        send_psn: req.starting_psn,
        receive_psn: 0,
        path_mtu_code: req.path_mtu,
        ack_timeout: path.local_ack_timeout,
        retry_count: req.retry_count,
        rnr_retry_count: req.rnr_retry_count,
        // What the peer begins, this side answers, and the other way round.
        responder_resources: req.initiator_depth,
        initiator_depth: req.responder_resources,
        p_key: req.p_key,
        flow_label: path.flow_label,
        traffic_class: path.traffic_class,
        hop_limit: path.hop_limit,
        unreliable: req.transport_service_type == UNRELIABLE_CONNECTION,
        end_to_end_flow_control: req.end_to_end_flow_control,
    };
    Connection {
        state: State::ReqReceived,
        remote_id: req.local_communication_id,
        transaction_id,
        parameters,
        response_timeout: time(req.local_cm_response_timeout),
        wait: Duration::ZERO,
        max_cm_retries: req.max_cm_retries,
        unanswered: None,
        retries_left: 0,
        deadline: SimTime::NEVER,
    }
}

fn incoming(source: u32, req: &Req<'_>) -> IncomingRequest {
    IncomingRequest {
        source,
        remote_gid: req.primary_path.local_gid,
        service_id: req.service_id,
        remote_qpn: req.local_qpn,
        unreliable: req.transport_service_type == UNRELIABLE_CONNECTION,
        responder_resources: req.responder_resources,
        initiator_depth: req.initiator_depth,
        private_data: req.private_data.to_vec(),
    }
}
