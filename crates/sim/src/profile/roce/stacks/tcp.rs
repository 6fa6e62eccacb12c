//! A host's TCP beside its NIC, on the same port.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, State, load_value, save_value};
use rocelab_transport::tcp::{
    SackBlocks, TcpConnectionConfig, TcpCounters, TcpEnd, TcpHost, TcpHostConfig, TcpRole,
};
use rocelab_transport::{CompletionStatus, Offer};
use rocelab_units::{Bandwidth, SimTime};

use super::Stack;
use crate::profile::{AcceptedPayload, Departing, FlowProgress, StackDeparture, StackFrame};
use crate::record::{Allowed, FlowAcknowledged, FlowEnd, HostEnd};
use crate::{FlowPlan, Plan};

/// The TCP of a host, and the flows of its connections.
#[derive(Debug)]
pub(in crate::profile::roce) struct HostTcp {
    node: NodeId,
    host: TcpHost,
    /// By connection.
    flows: Vec<Option<Expected>>,
    /// Frame bytes of segments that have left.
    sent: u64,
}

/// A flow of which this host is one end.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Expected {
    number: u32,
    /// Whether this end has all: data at the destination, acknowledgements at the source. Its
    /// connection is forgotten as soon as it owes nothing.
    is_over: bool,
}

impl HostTcp {
    /// The TCP of `node`, if any host has one.
    pub(in crate::profile::roce) fn new(plan: &Plan, node: NodeId) -> Option<Self> {
        let tcp = plan.tcp.as_ref()?;
        let name = &plan.topology.nodes[node as usize].name;
        let host = TcpHost::new(TcpHostConfig {
            parameters: tcp.parameters.clone(),
            encapsulation_len: tcp.encapsulation_len(plan.roce.tagged),
            ip_header_len: tcp.ip_header_len(),
            seed: RngStream::new(plan.seed, &format!("tcp stack/{name}")).bits(),
        });
        let flows = Vec::new();
        Some(Self { node, host, flows, sent: 0 })
    }

    fn accept(&mut self, plan: &Plan, now: SimTime, Expected { number, is_over }: Expected) {
        let Some(flow) = plan.flows.get(number as usize) else { return };
        if flow.destination != self.node {
            return; // A late acknowledgement of a flow that is over.
        }
        if is_over {
            let config = self.config_of(plan, flow, TcpRole::Receiver);
            return self.host.open_again(config, flow.bytes);
        }
        self.open(plan, flow, TcpRole::Receiver);
        let posted = self.host.post_receive(now, flow.destination_qpn, number.into(), flow.bytes);
        debug_assert!(posted.is_ok(), "the connection was just opened: {posted:?}");
    }

    fn open(&mut self, plan: &Plan, flow: &FlowPlan, role: TcpRole) {
        let config = self.config_of(plan, flow, role);
        self.host.open(config);
    }

    fn config_of(&self, plan: &Plan, flow: &FlowPlan, role: TcpRole) -> TcpConnectionConfig {
        let (near, far) = (flow.source_qpn, flow.destination_qpn);
        let sends = role == TcpRole::Sender;
        let (number, peer) = if sends { (near, far) } else { (far, near) };
        TcpConnectionConfig {
            number,
            peer,
            role,
            destination: if sends { flow.destination } else { flow.source },
            entropy: plan.segment_hash(flow, sends),
            initial_sequence: flow.source_psn,
        }
    }

    pub(in crate::profile::roce) const fn host(&self) -> &TcpHost {
        &self.host
    }

    fn expected(&self, connection: u32) -> Option<Expected> {
        self.flows.get(connection as usize).copied().flatten()
    }

    fn forget_if_over(&mut self, connection: u32) {
        if self.expected(connection).is_some_and(|expected| expected.is_over) {
            self.host.close(connection);
        }
    }

    /// The flow that a connection belongs to.
    pub(in crate::profile::roce) fn flow_of(&self, connection: u32) -> Option<u32> {
        self.expected(connection).map(|expected| expected.number)
    }

    /// Ends of connections that are kept.
    pub(in crate::profile::roce) fn connections(&self) -> usize {
        self.host.connections().count()
    }

    pub(in crate::profile::roce) fn counters(&self) -> &TcpCounters {
        self.host.counters()
    }

    fn number_of(&self, flow: &FlowPlan) -> u32 {
        if flow.source == self.node { flow.source_qpn } else { flow.destination_qpn }
    }
}

impl Stack for HostTcp {
    /// What it has to send.
    fn offer(&self, paused: u8) -> Offer {
        self.host.offer(paused, self.sent)
    }

    fn is_ready(&self, paused: u8) -> bool {
        self.host.is_ready(paused)
    }

    /// The next segment, with its SACK blocks.
    fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<StackDeparture> {
        let transmit = self.host.poll_transmit(now, paused)?;
        self.sent += u64::from(transmit.frame_len);
        self.forget_if_over(transmit.connection);
        let sack = self.host.sack_blocks(&transmit.segment);
        let frame = Departing {
            packet: StackFrame::Tcp(transmit.segment),
            destination: transmit.destination,
            flow_hash: transmit.entropy,
            frame_len: transmit.frame_len,
        };
        Some(StackDeparture { frame, sack })
    }

    fn takes(&self, frame: &StackFrame) -> bool {
        matches!(frame, StackFrame::Tcp(_))
    }

    /// A segment arrived. At the first one of a flow its destination comes to know of the
    /// connection, and it does again where one comes after the end.
    fn receive(
        &mut self,
        plan: &Plan,
        now: SimTime,
        frame: &StackFrame,
        sack: Option<&SackBlocks>,
    ) {
        let StackFrame::Tcp(segment) = frame else { return };
        let connection = segment.connection;
        if let (None, Some(expected)) =
            (self.host.connection(connection), self.expected(connection))
        {
            self.accept(plan, now, expected);
        }
        self.host.receive(now, segment, sack);
        self.forget_if_over(connection);
    }

    fn poll_timeout(&self) -> SimTime {
        self.host.poll_timeout()
    }

    fn handle_timeout(&mut self, now: SimTime) {
        self.host.handle_timeout(now);
    }

    fn carries(&self, flow: &FlowPlan) -> bool {
        flow.is_tcp()
    }

    /// A flow of which this host is one end will start.
    fn expect(&mut self, number: u32, flow: &FlowPlan) {
        let place = self.number_of(flow) as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, None);
        }
        self.flows[place] = Some(Expected { number, is_over: false });
    }

    /// A flow starts here: its connection exists, and all its data is posted.
    fn start(&mut self, plan: &Plan, now: SimTime, number: u32) {
        let flow = &plan.flows[number as usize];
        self.open(plan, flow, TcpRole::Sender);
        let posted = self.host.post_send(now, flow.source_qpn, number.into(), flow.bytes);
        debug_assert!(posted.is_ok(), "the connection was just opened: {posted:?}");
    }

    /// The next flow that has ended: at its destination, when the application has all of it; and at its
    /// source, when it knows. Each end forgets the connection when nothing is left to be done for it.
    fn poll_end(&mut self, now: SimTime) -> Option<HostEnd> {
        if let Some(completion) = self.host.poll_completion() {
            let flow = u32::try_from(completion.id).unwrap_or(u32::MAX);
            let connection = self.host.connection(completion.connection);
            let retransmitted_packets =
                connection.map_or(0, |connection| connection.retransmissions());
            if let Some(Some(expected)) = self.flows.get_mut(completion.connection as usize) {
                expected.is_over = true;
            }
            self.forget_if_over(completion.connection);
            if completion.role == TcpRole::Sender {
                let end = FlowAcknowledged { flow, retransmitted_packets };
                return Some(HostEnd::Acknowledged(end));
            }
            return Some(HostEnd::Flow(FlowEnd {
                flow,
                status: CompletionStatus::Success,
                finished: now,
                retransmitted_packets: 0,
                failure: None,
            }));
        }
        None
    }

    /// What a flow has accepted, as the stack handed it on: which, and how much (bytes).
    fn poll_accepted(&mut self) -> Option<AcceptedPayload> {
        let (connection, bytes) = self.host.poll_accepted()?;
        Some(AcceptedPayload { flow: self.flow_of(connection), bytes })
    }

    /// How far a flow has come that starts here, and its congestion window: nothing but the line
    /// bounds its rate.
    fn progress(&self, flow: &FlowPlan, line_rate: Bandwidth) -> Option<FlowProgress> {
        let TcpEnd::Sender(sender) = self.host.connection(flow.source_qpn)?.end() else {
            return None;
        };
        let allowed = Allowed { rate: line_rate, window: Some(sender.congestion_window()) };
        let acknowledged = sender.acknowledged();
        // Nobody asks: flows of TCP are not looked at closely.
        Some(FlowProgress { acknowledged, allowed: Some(allowed), in_flight: 0 })
    }

    /// Segments that the source of a flow sent again, as long as it knows the connection.
    fn retransmissions(&self, flow: &FlowPlan) -> u64 {
        let connection = self.host.connection(flow.source_qpn);
        connection.map_or(0, |connection| connection.retransmissions())
    }
}

impl State for HostTcp {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { node: _, host, flows, sent } = self;
        save_value(&(flows, sent), to)?;
        host.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        (self.flows, self.sent) = load_value(from)?;
        self.host.load(from)
    }
}
