//! One host of a capture is replaced by ours.
//!
//! Ours gets what the captured host got, when it got it. What the captured host's application
//! decided (to connect, accept, disconnect) is decided at the time of the message that shows it.
//! Then each message of ours must be the captured one, byte for byte but for the names that hosts
//! choose: communication IDs, and the transaction IDs that follow from them. A message that the
//! captured host repeated must be repeated by our timer, within [`TOLERANCE`] of its time.
//!
//! Deviations, all of them:
//!
//! 1. Times. Ours are 4.096 us x 2^n, Linux's 2^(n - 8) ms, late by up to a sixteenth (the
//!    granularity of its timer wheel) and by what an emulated guest takes. Hence the tolerance.
//! 2. RTU: ours follows the REP at once, Linux's when the application wants it, up to 15 ms later.
//! 3. In `fault_cm_drop_rtu` the passive host gets data, and repeats its REP in spite of that:
//!    Soft-RoCE does not report the first packet to the CM. Nor does the replay; a NIC of ours does
//!    (`on_data_received`).
//! 4. Answers about connections from before the capture cannot be had: they are counted.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::Path;

use rocelab_transport::cm::{
    AcceptReply, CmConfig, CmEvent, ConnectRequest, ConnectionId, ConnectionManager,
};
use rocelab_units::SimTime;
use rocelab_wire::Gid;
use rocelab_wire::cm::{CmMessage, CmaHeader, Mad, RejectReason, Rep, Req};

use crate::capture::{Captured, messages};

/// How far a timer may be from the captured one: one part in so many.
const TOLERANCE: u64 = 20;

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Captures, once for each host.
    pub(crate) replays: usize,
    /// Messages of ours that are the captured ones.
    pub(crate) compared: usize,
    /// Those of them that are repetitions.
    pub(crate) timers: usize,
    /// Captured messages of connections from before the capture.
    pub(crate) earlier: usize,
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.replays += other.replays;
        self.compared += other.compared;
        self.timers += other.timers;
        self.earlier += other.earlier;
    }
}

/// Replays a capture with ours in the place of `host`. Nothing happens if it has no CM messages.
pub(crate) fn replay(path: &Path, host: u8) -> Outcome {
    let messages = messages(path);
    if messages.is_empty() {
        return Outcome::default();
    }
    let mut replay = Replay::new(path, host, &messages);
    for (at, message) in messages.iter().enumerate() {
        if message.source == host {
            let again = messages[..at].iter().any(|earlier| earlier.mad == message.mad);
            replay.expect(message, again && waits_for_answer(message));
        } else if message.delivered {
            replay.deliver(message);
        }
    }
    replay.outcome
}

struct Replay<'a> {
    path: &'a Path,
    host: u8,
    manager: ConnectionManager,
    now: SimTime,
    /// When each connection, by its captured name, last sent something that is repeated.
    last_sent: BTreeMap<Vec<u8>, SimTime>,
    /// Our names by captured names.
    ours: BTreeMap<u32, u32>,
    outcome: Outcome,
}

impl<'a> Replay<'a> {
    fn new(path: &'a Path, host: u8, messages: &[Captured]) -> Self {
        let gid = Gid::from_ipv4([10, 0, 0, host]);
        let config = CmConfig {
            first_communication_id: 0x1000,
            ..CmConfig::new(gid, 0x5054_00ff_fe00_0000 | u64::from(host))
        };
        let mut manager = ConnectionManager::new(config);
        // The services that someone listened for: those that were not rejected.
        let rejected: Vec<u32> = messages.iter().filter_map(rejected_id).collect();
        for message in messages {
            if let CmMessage::Req(req) = parse(&message.mad).message
                && !rejected.contains(&req.local_communication_id)
            {
                manager.listen(req.service_id);
            }
        }
        Self {
            path,
            host,
            manager,
            now: SimTime::ZERO,
            last_sent: BTreeMap::new(),
            ours: BTreeMap::new(),
            outcome: Outcome { replays: 1, ..Outcome::default() },
        }
    }

    /// The captured host got this.
    fn deliver(&mut self, message: &Captured) {
        self.advance(message.at);
        let mut mad = parse(&message.mad);
        if let Some(remote) = remote_id(&mut mad.message) {
            *remote = self.ours.get(remote).copied().unwrap_or(*remote);
        }
        self.manager.receive(self.now, u32::from(message.source), &mad.to_bytes());
        while let Some(event) = self.manager.poll_event() {
            if let CmEvent::ConnectRequested { connection, .. } = event
                && let CmMessage::Req(req) = mad.message
            {
                // Our name is known before the captured host has said its own.
                self.ours.insert(req.local_communication_id, connection.0);
            }
        }
    }

    /// The captured host sent this: ours must do the same.
    fn expect(&mut self, message: &Captured, repeated: bool) {
        if repeated {
            self.expect_timer(message);
        } else {
            self.advance(message.at);
            if !self.decide(message) {
                self.outcome.earlier += 1;
                return;
            }
        }
        let name = self.path.display();
        let Some(sent) = self.manager.poll_transmit() else {
            panic!("{name}: host {} should send {}", self.host, parse(&message.mad));
        };
        let mut ours = parse(&sent.mad);
        self.rename(&mut ours, &parse(&message.mad));
        assert_eq!(ours.to_string(), parse(&message.mad).to_string(), "{name}");
        assert_eq!(ours.to_bytes(), message.mad[..], "{name}");
        assert_ne!(sent.destination, u32::from(self.host));
        self.last_sent.insert(message.mad.clone(), self.now);
        self.outcome.compared += 1;
    }

    /// It is a repetition: so our timer must be due, at about that time.
    fn expect_timer(&mut self, message: &Captured) {
        let due = self.manager.poll_timeout();
        let sent = self.last_sent[&message.mad];
        let [ours, captured] = [due, message.at].map(|time| time.since(sent).ps());
        let name = self.path.display();
        assert!(
            ours.abs_diff(captured) <= captured / TOLERANCE,
            "{name}: again after {ours} ps, captured {captured} ps"
        );
        // What follows is timed by the captured message.
        self.now = due.max(message.at);
        self.manager.handle_timeout(self.now);
        self.outcome.timers += 1;
    }

    /// Time passes, in which ours sends nothing that the captured host did not send.
    fn advance(&mut self, to: SimTime) {
        self.now = self.now.max(to);
        self.manager.handle_timeout(self.now);
        let repeated = self.manager.counters().repeated;
        let expected = u64::try_from(self.outcome.timers).expect("few");
        assert_eq!(repeated, expected, "{}: repeated too early", self.path.display());
    }

    /// What the application must have decided for this to be sent; false if there is nothing that
    /// it could be about.
    fn decide(&mut self, message: &Captured) -> bool {
        let mad = parse(&message.mad);
        match &mad.message {
            CmMessage::Req(req) => {
                let destination = if self.host == 1 { 2 } else { 1 };
                let request = connect_request(destination, req);
                let connection = self.manager.connect(self.now, &request).expect("as captured");
                self.ours.insert(req.local_communication_id, connection.0);
            }
            CmMessage::Rep(rep) => {
                let connection = self.ours[&rep.remote_communication_id];
                self.ours.insert(rep.local_communication_id, connection);
                let reply = accept_reply(rep);
                self.manager
                    .accept(self.now, ConnectionId(connection), &reply)
                    .expect("as captured");
            }
            CmMessage::Dreq(m) => return self.disconnect(m.local_communication_id),
            CmMessage::Drep(m) => return self.disconnect(m.local_communication_id),
            // RTU, MRA and REJ of an unknown service are the CM's own.
            _ => {}
        }
        true
    }

    fn disconnect(&mut self, captured_id: u32) -> bool {
        let Some(ours) = self.ours.get(&captured_id) else { return false };
        self.manager.disconnect(self.now, ConnectionId(*ours)).expect("as captured");
        true
    }

    /// Gives our names the captured host's, if it is they that ours stand for.
    fn rename(&self, ours: &mut Mad<'_>, captured: &Mad<'_>) {
        let mut captured_message = captured.message;
        if let (Some(id), Some(name)) =
            (local_id(&mut ours.message), local_id(&mut captured_message))
            && self.ours.get(name) == Some(id)
        {
            if ours.header.transaction_id == u64::from(*id) | 2 << 32 {
                // Linux makes it of the communication ID, whose bytes it reads the other way.
                let low = captured.header.transaction_id & u64::from(u32::MAX);
                assert_eq!(low, u64::from(name.swap_bytes()));
                ours.header.transaction_id = captured.header.transaction_id;
            }
            *id = *name;
        }
    }
}

fn parse(mad: &[u8]) -> Mad<'_> {
    Mad::parse(mad).expect("a whole MAD")
}

/// Whether the message is repeated by a timer; others follow again upon a repeated one.
fn waits_for_answer(message: &Captured) -> bool {
    let message = parse(&message.mad).message;
    matches!(message, CmMessage::Req(_) | CmMessage::Rep(_) | CmMessage::Dreq(_))
}

/// The connection that a message rejects for want of a service.
fn rejected_id(message: &Captured) -> Option<u32> {
    match parse(&message.mad).message {
        CmMessage::Rej(rej) if rej.reason == RejectReason::INVALID_SERVICE_ID => {
            Some(rej.remote_communication_id)
        }
        _ => None,
    }
}

fn connect_request(destination: u32, req: &Req<'_>) -> ConnectRequest {
    let header = CmaHeader::parse(req.private_data).expect("92 bytes");
    let path = &req.primary_path;
    ConnectRequest {
        source_port: header.source_port,
        path_mtu: 128 << req.path_mtu,
        responder_resources: req.responder_resources,
        initiator_depth: req.initiator_depth,
        retry_count: req.retry_count,
        rnr_retry_count: req.rnr_retry_count,
        srq: req.srq,
        end_to_end_flow_control: req.end_to_end_flow_control,
        flow_label: path.flow_label,
        traffic_class: path.traffic_class,
        private_data: req.private_data[CmaHeader::LEN..].to_vec(),
        ..ConnectRequest::new(
            destination,
            path.remote_gid,
            req.service_id,
            req.local_qpn,
            req.starting_psn,
        )
    }
}

fn accept_reply(rep: &Rep<'_>) -> AcceptReply {
    AcceptReply {
        responder_resources: rep.responder_resources,
        initiator_depth: rep.initiator_depth,
        rnr_retry_count: rep.rnr_retry_count,
        srq: rep.srq,
        end_to_end_flow_control: rep.end_to_end_flow_control,
        private_data: rep.private_data.to_vec(),
        ..AcceptReply::new(rep.local_qpn, rep.starting_psn)
    }
}

/// The sender's name for the connection.
fn local_id<'m>(message: &'m mut CmMessage<'_>) -> Option<&'m mut u32> {
    match message {
        CmMessage::Req(m) => Some(&mut m.local_communication_id),
        CmMessage::Mra(m) => Some(&mut m.local_communication_id),
        CmMessage::Rej(m) => Some(&mut m.local_communication_id),
        CmMessage::Rep(m) => Some(&mut m.local_communication_id),
        CmMessage::Rtu(m) => Some(&mut m.local_communication_id),
        CmMessage::Dreq(m) => Some(&mut m.local_communication_id),
        CmMessage::Drep(m) => Some(&mut m.local_communication_id),
        _ => None,
    }
}

/// The receiver's name for the connection.
fn remote_id<'m>(message: &'m mut CmMessage<'_>) -> Option<&'m mut u32> {
    match message {
        CmMessage::Mra(m) => Some(&mut m.remote_communication_id),
        CmMessage::Rej(m) => Some(&mut m.remote_communication_id),
        CmMessage::Rep(m) => Some(&mut m.remote_communication_id),
        CmMessage::Rtu(m) => Some(&mut m.remote_communication_id),
        CmMessage::Dreq(m) => Some(&mut m.remote_communication_id),
        CmMessage::Drep(m) => Some(&mut m.remote_communication_id),
        _ => None,
    }
}
