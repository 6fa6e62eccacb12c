//! The connection manager: what goes in and out, and its timers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rocelab_units::SimTime;
use rocelab_wire::cm::{CmAttribute, CmMessage, MAD_LEN, Mad};

use super::config::time;
use super::connection::{Connection, State};
use super::{CmConfig, CmCounters, CmError, CmEvent, ConnectionId, ConnectionParameters};

/// A message to send: the payload of a UD SEND_ONLY from queue pair 1 to queue pair 1, with the
/// queue key [`Deth::GSI_Q_KEY`](rocelab_wire::Deth::GSI_Q_KEY).
#[derive(Clone, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct CmTransmit {
    /// The host that it goes to, as the network names it.
    pub destination: u32,
    /// The management datagram.
    pub mad: [u8; MAD_LEN],
}

/// The connection manager of one NIC: see the [module](super).
#[derive(Clone, Debug)]
pub struct ConnectionManager {
    pub(super) config: CmConfig,
    /// Services that are listened for.
    pub(super) listeners: BTreeSet<u64>,
    /// All connections by their own communication ID.
    pub(super) connections: BTreeMap<u32, Connection>,
    /// The passive ones by host and that host's communication ID.
    pub(super) by_peer: BTreeMap<(u32, u32), u32>,
    /// Those that wait for the application's decision.
    pub(super) undecided: BTreeSet<u32>,
    /// Those that wait for an RTU, by queue pair number.
    pub(super) awaiting_rtu: BTreeMap<u32, u32>,
    /// Active ones that were given up, whose answer may still come, and who is to give it.
    pub(super) given_up: BTreeMap<u32, u32>,
    /// When which connection has something to do.
    timers: BTreeSet<(SimTime, u32)>,
    pub(super) next_id: u32,
    outbox: VecDeque<CmTransmit>,
    pub(super) events: VecDeque<CmEvent>,
    pub(super) counters: CmCounters,
}

rocelab_state::state!(ConnectionManager {
    values: listeners, connections, by_peer, undecided, awaiting_rtu, given_up, timers, next_id, outbox,
        events, counters;
    kept: config
});

impl ConnectionManager {
    /// A manager without connections that listens for nothing.
    #[must_use]
    pub fn new(config: CmConfig) -> Self {
        Self {
            next_id: config.first_communication_id,
            config,
            listeners: BTreeSet::new(),
            connections: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            undecided: BTreeSet::new(),
            awaiting_rtu: BTreeMap::new(),
            given_up: BTreeMap::new(),
            timers: BTreeSet::new(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
            counters: CmCounters::default(),
        }
    }

    /// Reports requests for this service from now on; requests for others are rejected.
    pub fn listen(&mut self, service_id: u64) {
        self.listeners.insert(service_id);
    }

    /// The next message to send.
    pub fn poll_transmit(&mut self) -> Option<CmTransmit> {
        self.outbox.pop_front()
    }

    /// Whether [`Self::poll_transmit`] has something.
    #[must_use]
    pub fn wants_to_transmit(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<CmEvent> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] is to be called; [`SimTime::NEVER`] if nothing waits.
    #[must_use]
    pub fn poll_timeout(&self) -> SimTime {
        self.timers.first().map_or(SimTime::NEVER, |(deadline, _)| *deadline)
    }

    /// What was repeated, and what was ignored.
    #[must_use]
    pub const fn counters(&self) -> CmCounters {
        self.counters
    }

    /// How many connections exist, those that are just going included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Takes what arrived at queue pair 1: the payload of a packet from host `source`. What makes
    /// no sense is counted and otherwise ignored.
    pub fn receive(&mut self, now: SimTime, source: u32, mad: &[u8]) {
        let Ok(Mad { header, message }) = Mad::parse(mad) else {
            self.counters.discarded += 1;
            return;
        };
        let transaction_id = header.transaction_id;
        let taken = match message {
            CmMessage::Req(req) => self.receive_req(source, transaction_id, &req),
            CmMessage::Mra(mra) => self.receive_mra(now, source, &mra),
            CmMessage::Rej(rej) => self.receive_rej(now, source, &rej),
            CmMessage::Rep(rep) => self.receive_rep(source, &rep),
            CmMessage::Rtu(rtu) => self.receive_rtu(source, &rtu),
            CmMessage::Dreq(dreq) => self.receive_dreq(source, transaction_id, &dreq),
            CmMessage::Drep(drep) => self.receive_drep(now, source, &drep),
            _ => Taken::Discarded,
        };
        match taken {
            Taken::Yes => {}
            Taken::Duplicate => self.counters.duplicates += 1,
            Taken::Discarded => self.counters.discarded += 1,
        }
    }

    /// Does what is due at `now`, or nothing.
    pub fn handle_timeout(&mut self, now: SimTime) {
        while let Some((deadline, id)) = self.timers.first().copied()
            && deadline <= now
        {
            self.time_out(now, id);
        }
    }

    fn time_out(&mut self, now: SimTime, id: u32) {
        self.set_deadline(id, SimTime::NEVER);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.state == State::TimeWait {
            self.remove(id);
            self.events.push_back(CmEvent::Released { connection: ConnectionId(id) });
            return;
        }
        if let (Some(message), 1..) = (&connection.unanswered, connection.retries_left) {
            connection.retries_left -= 1;
            let (mad, destination) = (**message, connection.parameters.peer);
            let deadline = now.saturating_add(connection.wait);
            self.counters.repeated += 1;
            self.outbox.push_back(CmTransmit { destination, mad });
            self.set_deadline(id, deadline);
            return;
        }
        self.give_up(now, id);
    }

    /// No answer came, however often the message was sent.
    fn give_up(&mut self, now: SimTime, id: u32) {
        let Some(connection) = self.connections.get(&id) else { return };
        let message = match connection.state {
            State::ReqSent => CmAttribute::Req,
            State::RepSent => CmAttribute::Rep,
            State::DreqSent => {
                self.end(now, id, false);
                return;
            }
            State::ReqReceived | State::Established | State::DreqReceived | State::TimeWait => {
                return;
            }
        };
        let peer = connection.parameters.peer;
        self.remove(id);
        if message == CmAttribute::Req {
            self.given_up.insert(id, peer);
        }
        self.events.push_back(CmEvent::TimedOut { connection: ConnectionId(id), message });
    }

    /// A communication ID that is not in use.
    pub(super) fn new_id(&mut self) -> Result<u32, CmError> {
        if u32::try_from(self.connections.len()).is_ok_and(|len| len < u32::MAX) {
            loop {
                let id = self.next_id;
                self.next_id = self.next_id.wrapping_add(1);
                if id != 0 && !self.connections.contains_key(&id) {
                    self.given_up.remove(&id);
                    return Ok(id);
                }
            }
        }
        Err(CmError::TooManyConnections)
    }

    /// The transaction ID of what connection `id` begins.
    pub(super) fn transaction_id(&self, id: u32) -> u64 {
        u64::from(self.config.transaction_id_prefix) << 32 | u64::from(id)
    }

    /// The connection `id`, if it is one with `source`, and `remote_id` is the peer's name for it.
    pub(super) fn of_peer(
        &mut self,
        id: u32,
        source: u32,
        remote_id: u32,
    ) -> Option<&mut Connection> {
        self.connections.get_mut(&id).filter(|connection| {
            connection.parameters.peer == source && connection.remote_id == remote_id
        })
    }

    /// Sends a message that is not repeated.
    pub(super) fn send(&mut self, destination: u32, transaction_id: u64, message: CmMessage<'_>) {
        let mad = Mad::new(transaction_id, message).to_bytes();
        self.outbox.push_back(CmTransmit { destination, mad });
    }

    /// Sends a message, and again until [`Self::answered`].
    pub(super) fn send_until_answered(
        &mut self,
        now: SimTime,
        id: u32,
        transaction_id: u64,
        message: CmMessage<'_>,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let mad = Mad::new(transaction_id, message).to_bytes();
        connection.unanswered = Some(Box::new(mad));
        connection.retries_left = connection.max_cm_retries;
        connection.wait = connection.response_timeout;
        let deadline = now.saturating_add(connection.wait);
        self.outbox.push_back(CmTransmit { destination: connection.parameters.peer, mad });
        self.set_deadline(id, deadline);
    }

    /// The message needs not be sent again.
    pub(super) fn answered(&mut self, id: u32) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.unanswered = None;
        }
        self.set_deadline(id, SimTime::NEVER);
    }

    /// Waits until nothing of the connection can be on its way, and reports that it is over.
    pub(super) fn end(&mut self, now: SimTime, id: u32, confirmed: bool) {
        self.enter_time_wait(now, id);
        self.events.push_back(CmEvent::Disconnected { connection: ConnectionId(id), confirmed });
    }

    /// Linux waits for the ACK timeout (`cm_enter_timewait`).
    pub(super) fn enter_time_wait(&mut self, now: SimTime, id: u32) {
        self.answered(id);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.state = State::TimeWait;
        self.undecided.remove(&id);
        let ConnectionParameters { ack_timeout, local_qpn, .. } = connection.parameters;
        self.stop_awaiting_rtu(local_qpn, id);
        self.set_deadline(id, now.saturating_add(time(ack_timeout)));
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.set_deadline(id, SimTime::NEVER);
        self.undecided.remove(&id);
        if let Some(connection) = self.connections.remove(&id) {
            let peer = (connection.parameters.peer, connection.remote_id);
            if self.by_peer.get(&peer) == Some(&id) {
                self.by_peer.remove(&peer);
            }
            self.stop_awaiting_rtu(connection.parameters.local_qpn, id);
        }
    }

    pub(super) fn stop_awaiting_rtu(&mut self, qpn: u32, id: u32) {
        if self.awaiting_rtu.get(&qpn) == Some(&id) {
            self.awaiting_rtu.remove(&qpn);
        }
    }

    pub(super) fn set_deadline(&mut self, id: u32, deadline: SimTime) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        self.timers.remove(&(connection.deadline, id));
        connection.deadline = deadline;
        if deadline < SimTime::NEVER {
            self.timers.insert((deadline, id));
        }
    }
}

/// What became of a message.
pub(super) enum Taken {
    /// It changed something, or was answered for the first time.
    Yes,
    /// It had come before.
    Duplicate,
    /// It makes no sense here and now.
    Discarded,
}
