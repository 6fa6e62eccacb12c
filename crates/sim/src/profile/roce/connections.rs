//! Connections that are made by messages: a host's connection manager, and queue pair 1, through
//! which it speaks.

use std::collections::{BTreeMap, VecDeque};

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::cm::{
    AcceptReply, CmConfig, CmEvent, ConnectRequest, ConnectionId, ConnectionManager,
    ConnectionParameters, IncomingRequest,
};
use rocelab_transport::{Content, Packet as RdmaPacket, Transmit};
use rocelab_units::SimTime;
use rocelab_wire::cm::{RejectReason, TCP_PORT_SPACE, service_id};
use rocelab_wire::{Deth, Ecn, Opcode};

use crate::record::FlowFailure;
use crate::{CmPlan, FlowPlan, Plan};

/// The queue pair of management datagrams (the general service interface).
pub(crate) const GSI_QPN: u32 = 1;

/// The service that hosts listen for: the port of the usual performance tests.
const SERVICE_PORT: u16 = 18_515;

/// What became of a connection: what its host has to do.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) enum Change {
    /// The flow's source may create its queue pair and send.
    Established(u32, ConnectionParameters),
    /// The flow's destination creates its queue pair.
    Accepted(u32, ConnectionParameters),
    /// There is no connection for the flow.
    Failed(u32, FlowFailure),
    /// The connection of the flow is over.
    Over(u32),
    /// An answer came when its connection had been given up.
    AnsweredLate,
}

/// A host's connections.
#[derive(Debug)]
pub(super) struct Connections {
    node: NodeId,
    manager: ConnectionManager,
    /// The flow of each connection that exists.
    flows: BTreeMap<ConnectionId, u32>,
    /// The connection of each flow of which this host is the source.
    active: BTreeMap<u32, ConnectionId>,
    /// Flows that others will ask for, by their source and its queue pair number.
    expected: BTreeMap<(NodeId, u32), u32>,
    /// PSN of the next datagram, 24 bits.
    next_psn: u32,
    priority: u8,
    encapsulation_len: u16,
    changes: VecDeque<Change>,
}

// Which flows are expected is known from the beginning.
rocelab_state::state!(Connections {
    values: flows, active, next_psn, changes;
    states: manager;
    kept: node, expected, priority, encapsulation_len
});

impl Connections {
    pub(super) fn new(plan: &Plan, cm: &CmPlan, node: NodeId) -> Self {
        let name = &plan.topology.nodes[node as usize].name;
        let mut stream = RngStream::new(plan.seed, &format!("connection manager/{name}"));
        let mut draw = |bound: u64| u32::try_from(stream.below(bound)).unwrap_or(0);
        let gid = plan.roce.gid_of(node);
        let mut manager = ConnectionManager::new(CmConfig {
            first_communication_id: draw(1 << 32),
            response_timeout: cm.response_timeout,
            max_cm_retries: cm.retries,
            packet_lifetime: cm.packet_lifetime,
            hop_limit: plan.roce.hop_limit,
            ..CmConfig::new(gid, guid(plan, node))
        });
        manager.listen(service_id(TCP_PORT_SPACE, SERVICE_PORT));
        let encapsulation_len = plan.roce.encapsulation_len(node);
        Self {
            node,
            manager,
            flows: BTreeMap::new(),
            active: BTreeMap::new(),
            expected: BTreeMap::new(),
            next_psn: draw(1 << 24),
            priority: cm.priority,
            encapsulation_len,
            changes: VecDeque::new(),
        }
    }

    /// Another host will ask for this flow's connection.
    pub(super) fn expect(&mut self, number: u32, flow: &FlowPlan) {
        self.expected.insert((flow.source, flow.source_qpn), number);
    }

    /// Asks the other end of a flow for a connection.
    pub(super) fn connect(&mut self, plan: &Plan, now: SimTime, number: u32) {
        let flow = &plan.flows[number as usize];
        let profile = plan.queue_pairs_of(flow);
        let gid = plan.roce.gid_of(flow.destination);
        let service = service_id(TCP_PORT_SPACE, SERVICE_PORT);
        let request = ConnectRequest {
            path_mtu: u16::try_from(profile.path_mtu.bytes()).unwrap_or(u16::MAX),
            responder_resources: in_8_bits(profile.max_dest_rd_atomic),
            initiator_depth: in_8_bits(profile.max_rd_atomic),
            retry_count: profile.retry_count,
            rnr_retry_count: profile.rnr_retry,
            p_key: plan.p_key(flow.queue_pairs, flow.source),
            // What the peer sends first, which this end expects.
            ..ConnectRequest::new(
                flow.destination,
                gid,
                service,
                flow.source_qpn,
                flow.destination_psn,
            )
        };
        match self.manager.connect(now, &request) {
            Ok(connection) => {
                self.flows.insert(connection, number);
                self.active.insert(number, connection);
            }
            Err(_) => {
                self.changes.push_back(Change::Failed(number, FlowFailure::ConnectionRefused));
            }
        }
    }

    /// The flow is over: so is its connection.
    pub(super) fn disconnect(&mut self, now: SimTime, number: u32) {
        if let Some(&connection) = self.active.get(&number) {
            // One that has gone already needs no end.
            let _ = self.manager.disconnect(now, connection);
        }
    }

    /// A datagram for queue pair 1 arrived.
    pub(super) fn receive(&mut self, plan: &Plan, now: SimTime, source: NodeId, mad: &[u8]) {
        self.manager.receive(now, source, mad);
        self.drain(plan, now);
    }

    /// A request for a flow's queue pair arrived: it is as good as an RTU.
    pub(super) fn on_data(&mut self, plan: &Plan, now: SimTime, qpn: u32) {
        self.manager.on_data_received(qpn);
        self.drain(plan, now);
    }

    /// When it wants to be woken.
    pub(super) fn poll_timeout(&self) -> SimTime {
        self.manager.poll_timeout()
    }

    /// Serves what is due.
    pub(super) fn handle_timeout(&mut self, plan: &Plan, now: SimTime) {
        self.manager.handle_timeout(now);
        self.drain(plan, now);
    }

    /// What happened to a connection.
    pub(super) fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// The next datagram, with its content, for the NIC to send.
    pub(super) fn poll_transmit(&mut self, plan: &Plan) -> Option<(Transmit, Content)> {
        let transmit = self.manager.poll_transmit()?;
        let len = u16::try_from(transmit.mad.len()).unwrap_or(u16::MAX);
        let destination = transmit.destination;
        let (ends, entropy) = ((self.node, destination), plan.roce.management_entropy());
        let level = plan.service_level(ends, (self.priority, entropy));
        let packet = RdmaPacket::new(Opcode::UdSendOnly, GSI_QPN, self.next_psn)
            .with_payload_len(len)
            .with_deth(Deth::GSI_Q_KEY, GSI_QPN)
            .with_ack_req(true)
            .with_class(level, Ecn::NotEct)
            .with_content(true);
        self.next_psn = (self.next_psn + 1) & 0x00ff_ffff;
        let datagram = Transmit {
            packet,
            destination,
            entropy: plan.flow_hash(self.node, destination, entropy),
            frame_len: packet.frame_len(self.encapsulation_len),
        };
        Some((datagram, Content::Payload(transmit.mad.into())))
    }

    /// Acts on what the manager reports.
    fn drain(&mut self, plan: &Plan, now: SimTime) {
        while let Some(event) = self.manager.poll_event() {
            match event {
                CmEvent::ConnectRequested { connection, request } => {
                    self.answer(plan, now, connection, &request);
                }
                CmEvent::Established { connection, parameters, .. } => {
                    if let Some(number) = self.flow_of_active(connection) {
                        self.changes.push_back(Change::Established(number, parameters));
                    }
                }
                CmEvent::Rejected { connection, .. } => {
                    self.fail(connection, FlowFailure::ConnectionRejected);
                }
                CmEvent::TimedOut { connection, .. } => {
                    self.fail(connection, FlowFailure::ConnectionTimedOut);
                }
                CmEvent::AnsweredLate { .. } => self.changes.push_back(Change::AnsweredLate),
                CmEvent::DisconnectRequested { connection } => {
                    let _ = self.manager.disconnect(now, connection);
                }
                CmEvent::Disconnected { connection, .. } => {
                    let over = self.flows.get(&connection).copied().map(Change::Over);
                    self.changes.extend(over);
                }
                CmEvent::Released { connection } => self.forget(connection),
                _ => {}
            }
        }
    }

    /// Accepts a request for a flow that is known, and rejects all others.
    fn answer(
        &mut self,
        plan: &Plan,
        now: SimTime,
        connection: ConnectionId,
        request: &IncomingRequest,
    ) {
        let Some(&number) = self.expected.get(&(request.source, request.remote_qpn)) else {
            let _ = self.manager.reject(connection, RejectReason::CONSUMER_DEFINED, &[]);
            return;
        };
        let flow = &plan.flows[number as usize];
        let profile = plan.queue_pairs_of(flow);
        let reply = AcceptReply {
            responder_resources: in_8_bits(profile.max_dest_rd_atomic),
            initiator_depth: in_8_bits(profile.max_rd_atomic),
            rnr_retry_count: profile.rnr_retry,
            ..AcceptReply::new(flow.destination_qpn, flow.source_psn)
        };
        if let Ok(parameters) = self.manager.accept(now, connection, &reply) {
            self.flows.insert(connection, number);
            self.changes.push_back(Change::Accepted(number, parameters));
        }
    }

    fn flow_of_active(&self, connection: ConnectionId) -> Option<u32> {
        let number = *self.flows.get(&connection)?;
        (self.active.get(&number) == Some(&connection)).then_some(number)
    }

    fn fail(&mut self, connection: ConnectionId, failure: FlowFailure) {
        if let Some(number) = self.flow_of_active(connection) {
            self.changes.push_back(Change::Failed(number, failure));
        }
        self.forget(connection);
    }

    fn forget(&mut self, connection: ConnectionId) {
        if let Some(number) = self.flows.remove(&connection)
            && self.active.get(&number) == Some(&connection)
        {
            self.active.remove(&number);
        }
    }
}

fn in_8_bits(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// An adapter's GUID: the modified EUI-64 of its MAC, as adapters have it.
fn guid(plan: &Plan, node: NodeId) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = rocelab_wire::Gid::from_mac(plan.roce.addresses.mac(node)).0;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}
