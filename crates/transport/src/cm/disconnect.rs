//! The end of a connection: DREQ, DREP, and the REJ of what is no connection yet.

use rocelab_units::SimTime;
use rocelab_wire::cm::{AnsweredMessage, CmMessage, Drep, Dreq, Rej, RejectReason};

use super::connection::State;
use super::manager::Taken;
use super::{CmError, CmEvent, ConnectionId, ConnectionManager};

impl ConnectionManager {
    /// Ends a connection: sends a DREQ, or, upon [`CmEvent::DisconnectRequested`], the DREP that
    /// answers the peer's. [`CmEvent::Disconnected`] will follow.
    ///
    /// # Errors
    ///
    /// [`CmError::UnknownConnection`], or [`CmError::WrongState`] if it is not established or was
    /// ended before.
    pub fn disconnect(&mut self, now: SimTime, connection: ConnectionId) -> Result<(), CmError> {
        let id = connection.0;
        let found = self.connections.get(&id).ok_or(CmError::UnknownConnection(connection))?;
        match found.state {
            State::Established => {
                let (transaction_id, dreq) = self.dreq(id);
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.state = State::DreqSent;
                }
                self.send_until_answered(now, id, transaction_id, CmMessage::Dreq(dreq));
                Ok(())
            }
            State::DreqReceived => {
                self.send_drep(id);
                self.end(now, id, true);
                Ok(())
            }
            _ => Err(CmError::WrongState(connection)),
        }
    }

    /// Ends a connection in whatever state it is, as when a process exits: what the peer should
    /// know is sent once, and no answer is waited for. Only [`CmEvent::Released`] will follow, and
    /// that not if there was no connection yet.
    ///
    /// # Errors
    ///
    /// [`CmError::UnknownConnection`].
    pub fn abandon(&mut self, now: SimTime, connection: ConnectionId) -> Result<(), CmError> {
        let id = connection.0;
        let found = self.connections.get(&id).ok_or(CmError::UnknownConnection(connection))?;
        match found.state {
            State::ReqSent | State::ReqReceived => {
                self.send_rej(id);
                self.remove(id);
            }
            State::RepSent => {
                self.send_rej(id);
                self.enter_time_wait(now, id);
            }
            State::Established => {
                let peer = found.parameters.peer;
                let (transaction_id, dreq) = self.dreq(id);
                self.send(peer, transaction_id, CmMessage::Dreq(dreq));
                self.enter_time_wait(now, id);
            }
            State::DreqReceived => {
                self.send_drep(id);
                self.enter_time_wait(now, id);
            }
            State::DreqSent => self.enter_time_wait(now, id),
            State::TimeWait => {}
        }
        Ok(())
    }

    pub(super) fn receive_dreq(
        &mut self,
        source: u32,
        transaction_id: u64,
        dreq: &Dreq<'_>,
    ) -> Taken {
        let id = dreq.remote_communication_id;
        let Some(connection) = self.of_peer(id, source, dreq.local_communication_id) else {
            // Whoever asks must not ask for ever (Linux `cm_issue_drep`).
            let drep = Drep {
                local_communication_id: id,
                remote_communication_id: dreq.local_communication_id,
                private_data: &[],
            };
            self.send(source, transaction_id, CmMessage::Drep(drep));
            return Taken::Duplicate;
        };
        if connection.parameters.local_qpn != dreq.remote_qpn {
            return Taken::Discarded;
        }
        match connection.state {
            State::RepSent | State::Established | State::DreqSent => {
                connection.state = State::DreqReceived;
                connection.transaction_id = transaction_id;
                let qpn = connection.parameters.local_qpn;
                self.stop_awaiting_rtu(qpn, id);
                self.answered(id);
                let connection = ConnectionId(id);
                self.events.push_back(CmEvent::DisconnectRequested { connection });
                Taken::Yes
            }
            State::TimeWait => {
                connection.transaction_id = transaction_id;
                self.send_drep(id);
                Taken::Duplicate
            }
            State::DreqReceived => Taken::Duplicate,
            State::ReqSent | State::ReqReceived => Taken::Discarded,
        }
    }

    pub(super) fn receive_drep(&mut self, now: SimTime, source: u32, drep: &Drep<'_>) -> Taken {
        let id = drep.remote_communication_id;
        match self.of_peer(id, source, drep.local_communication_id).map(|c| c.state) {
            Some(State::DreqSent | State::DreqReceived) => {
                self.end(now, id, true);
                Taken::Yes
            }
            Some(State::TimeWait) => Taken::Duplicate,
            _ => Taken::Discarded,
        }
    }

    pub(super) fn receive_rej(&mut self, now: SimTime, source: u32, rej: &Rej<'_>) -> Taken {
        let Some(id) = self.rejected(source, rej) else {
            // Who gives up its own request answers none.
            if rej.reason != RejectReason::TIMEOUT {
                self.note_late_answer(source, rej.remote_communication_id);
            }
            return Taken::Discarded;
        };
        let Some(connection) = self.connections.get(&id) else { return Taken::Discarded };
        match connection.state {
            State::ReqSent | State::ReqReceived | State::RepSent => {
                self.remove(id);
                self.events.push_back(CmEvent::Rejected {
                    connection: ConnectionId(id),
                    reason: rej.reason,
                });
            }
            State::Established | State::DreqSent => self.end(now, id, true),
            State::DreqReceived | State::TimeWait => return Taken::Discarded,
        }
        Taken::Yes
    }

    /// Which connection is meant: a peer that gave up never heard our name for it.
    fn rejected(&self, source: u32, rej: &Rej<'_>) -> Option<u32> {
        if rej.reason == RejectReason::TIMEOUT {
            return self.by_peer.get(&(source, rej.local_communication_id)).copied();
        }
        let id = rej.remote_communication_id;
        let connection = self.connections.get(&id)?;
        let of_req = connection.state == State::ReqSent;
        let named = connection.remote_id == rej.local_communication_id;
        (connection.parameters.peer == source && (of_req || named)).then_some(id)
    }

    /// The DREQ of connection `id`, and the transaction that it begins.
    fn dreq(&self, id: u32) -> (u64, Dreq<'static>) {
        let (remote_communication_id, remote_qpn) = self
            .connections
            .get(&id)
            .map_or((0, 0), |connection| (connection.remote_id, connection.parameters.remote_qpn));
        let dreq = Dreq {
            local_communication_id: id,
            remote_communication_id,
            remote_qpn,
            ..Dreq::default()
        };
        (self.transaction_id(id), dreq)
    }

    fn send_drep(&mut self, id: u32) {
        let Some(connection) = self.connections.get(&id) else { return };
        let drep = Drep {
            local_communication_id: id,
            remote_communication_id: connection.remote_id,
            private_data: &[],
        };
        let (peer, transaction_id) = (connection.parameters.peer, connection.transaction_id);
        self.send(peer, transaction_id, CmMessage::Drep(drep));
    }

    /// Withdraws a request, or a reply. The active side names itself by its adapter's GUID, for
    /// its peer to find the request (Linux `ib_destroy_cm_id`).
    fn send_rej(&mut self, id: u32) {
        let Some(connection) = self.connections.get(&id) else { return };
        let guid = self.config.ca_guid.to_be_bytes();
        let rej = Rej {
            local_communication_id: id,
            remote_communication_id: connection.remote_id,
            ..Rej::default()
        };
        let rej = match connection.state {
            State::ReqSent => Rej {
                message: AnsweredMessage::Other,
                reason: RejectReason::TIMEOUT,
                information_length: 8,
                additional_information: &guid,
                ..rej
            },
            State::ReqReceived => Rej {
                local_communication_id: 0,
                message: AnsweredMessage::Req,
                reason: RejectReason::CONSUMER_DEFINED,
                ..rej
            },
            _ => Rej {
                message: AnsweredMessage::Other,
                reason: RejectReason::CONSUMER_DEFINED,
                ..rej
            },
        };
        let (peer, transaction_id) = (connection.parameters.peer, connection.transaction_id);
        self.send(peer, transaction_id, CmMessage::Rej(rej));
    }
}
