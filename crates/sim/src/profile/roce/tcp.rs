//! A host's TCP beside its NIC, on the same port.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, State as _, load_value, save_value};
use rocelab_transport::tcp::{
    SackBlocks, TcpConnectionConfig, TcpCounters, TcpEnd, TcpHost, TcpHostConfig, TcpRole,
    TcpSegment,
};
use rocelab_transport::{CompletionStatus, HostScheduler, Offer};
use rocelab_units::{Bandwidth, SimTime};

use crate::profile::{Departing, FlowProgress};
use crate::record::{Allowed, FlowAcknowledged, FlowEnd, HostEnd};
use crate::{FlowPlan, Plan};

/// The TCP of a host, and the flows of its connections.
#[derive(Debug)]
pub(super) struct HostTcp {
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
    /// Appends its state, and that of the scheduler of its host.
    pub(super) fn save(&self, scheduler: &HostScheduler, to: &mut Vec<u8>) -> Result {
        let Self { node: _, host, flows, sent } = self;
        save_value(&(flows, sent), to)?;
        scheduler.save(to)?;
        host.save(to)
    }

    /// Takes what was [saved](Self::save) from the beginning of `from`.
    pub(super) fn load(&mut self, scheduler: &mut HostScheduler, from: &mut &[u8]) -> Result {
        (self.flows, self.sent) = load_value(from)?;
        scheduler.load(from)?;
        self.host.load(from)
    }

    /// The TCP of `node`, if any host has one.
    pub(super) fn new(plan: &Plan, node: NodeId) -> Option<Box<Self>> {
        let tcp = plan.tcp.as_ref()?;
        let name = &plan.topology.nodes[node as usize].name;
        let host = TcpHost::new(TcpHostConfig {
            parameters: tcp.parameters.clone(),
            encapsulation_len: tcp.encapsulation_len(plan.roce.tagged),
            ip_header_len: tcp.ip_header_len(),
            seed: RngStream::new(plan.seed, &format!("tcp stack/{name}")).bits(),
        });
        let flows = Vec::new();
        Some(Box::new(Self { node, host, flows, sent: 0 }))
    }

    /// A flow of which this host is one end will start.
    pub(super) fn expect(&mut self, number: u32, flow: &FlowPlan) {
        let place = self.number_of(flow) as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, None);
        }
        self.flows[place] = Some(Expected { number, is_over: false });
    }

    /// A flow starts here: its connection exists, and all its data is posted.
    pub(super) fn start(&mut self, plan: &Plan, now: SimTime, number: u32) {
        let flow = &plan.flows[number as usize];
        self.open(plan, flow, TcpRole::Sender);
        let posted = self.host.post_send(now, flow.source_qpn, number.into(), flow.bytes);
        debug_assert!(posted.is_ok(), "the connection was just opened: {posted:?}");
    }

    /// A segment arrived. At the first one of a flow its destination comes to know of the
    /// connection, and it does again where one comes after the end.
    pub(super) fn receive(
        &mut self,
        plan: &Plan,
        now: SimTime,
        segment: &TcpSegment,
        sack: Option<&SackBlocks>,
    ) {
        let connection = segment.connection;
        if let (None, Some(expected)) =
            (self.host.connection(connection), self.expected(connection))
        {
            self.accept(plan, now, expected);
        }
        self.host.receive(now, segment, sack);
        self.forget_if_over(connection);
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

    /// What it has to send.
    pub(super) fn offer(&self, paused: u8) -> Offer {
        self.host.offer(paused, self.sent)
    }

    /// The next segment, with its SACK blocks.
    pub(super) fn poll_transmit(
        &mut self,
        now: SimTime,
        paused: u8,
    ) -> Option<(Departing<TcpSegment>, Option<SackBlocks>)> {
        let transmit = self.host.poll_transmit(now, paused)?;
        self.sent += u64::from(transmit.frame_len);
        self.forget_if_over(transmit.connection);
        let sack = self.host.sack_blocks(&transmit.segment);
        let departing = Departing {
            packet: transmit.segment,
            destination: transmit.destination,
            flow_hash: transmit.entropy,
            frame_len: transmit.frame_len,
        };
        Some((departing, sack))
    }

    /// What a flow has accepted, as the stack handed it on: which, and how much (bytes).
    pub(super) fn poll_accepted(&mut self) -> Option<(Option<u32>, u64)> {
        let (connection, bytes) = self.host.poll_accepted()?;
        Some((self.flow_of(connection), bytes))
    }

    pub(super) const fn host(&self) -> &TcpHost {
        &self.host
    }

    pub(super) fn is_ready(&self, paused: u8) -> bool {
        self.host.is_ready(paused)
    }

    pub(super) fn poll_timeout(&self) -> SimTime {
        self.host.poll_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        self.host.handle_timeout(now);
    }

    /// The next flow that has ended: at its destination, when the application has all of it; and at its
    /// source, when it knows. Each end forgets the connection when nothing is left to be done for it.
    pub(super) fn poll_end(&mut self, now: SimTime) -> Option<HostEnd> {
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

    /// Segments that the source of a flow sent again, as long as it knows the connection.
    pub(super) fn retransmissions(&self, flow: &FlowPlan) -> u64 {
        let connection = self.host.connection(flow.source_qpn);
        connection.map_or(0, |connection| connection.retransmissions())
    }

    /// How far a flow has come that starts here, and its congestion window: nothing but the line
    /// bounds its rate.
    pub(super) fn progress(&self, flow: &FlowPlan, line_rate: Bandwidth) -> Option<FlowProgress> {
        let TcpEnd::Sender(sender) = self.host.connection(flow.source_qpn)?.end() else {
            return None;
        };
        let allowed = Allowed { rate: line_rate, window: Some(sender.congestion_window()) };
        Some(FlowProgress { acknowledged: sender.acknowledged(), allowed: Some(allowed) })
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
    pub(super) fn flow_of(&self, connection: u32) -> Option<u32> {
        self.expected(connection).map(|expected| expected.number)
    }

    /// Ends of connections that are kept.
    pub(super) fn connections(&self) -> usize {
        self.host.connections().count()
    }

    pub(super) fn counters(&self) -> &TcpCounters {
        self.host.counters()
    }

    fn number_of(&self, flow: &FlowPlan) -> u32 {
        if flow.source == self.node { flow.source_qpn } else { flow.destination_qpn }
    }
}
