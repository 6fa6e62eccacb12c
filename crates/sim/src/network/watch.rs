//! A network looked at while it runs: before and after every event, from outside. A run that nobody
//! looks at knows nothing of it, but for four notes in functions that hot paths do not reach.

use std::sync::Arc;

use rocelab_engine::EventKey;
use rocelab_fabric::{NodeId, PacketId};
use rocelab_transport::Nic;
use rocelab_transport::tcp::TcpHost;
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::Psn;

use super::core::Network;
use super::event::Event;
use super::multicast::{Ways, is_to_group};
use super::node::Role;
use super::packet::{ANY, Body, NO_ROUTE};
pub(crate) use super::passed::{Carried, Passed};
use crate::profile::roce::{Roce, SlotView};
use crate::profile::{Inspect, StackFrame};
use crate::record::Record;
use crate::{Plan, Side};

/// Who looks.
pub(crate) trait Watch {
    /// An event is about to happen.
    fn before(&mut self, network: View<'_>, key: EventKey, event: &Event);

    /// It has happened. `passed` says, in their order, which frames came through a link where they may
    /// be lost, delayed or doubled (of all other links [the event](Event::arriving) says it), and which were
    /// dropped.
    fn after(
        &mut self,
        network: View<'_>,
        key: EventKey,
        event: &Event,
        passed: &[Passed],
        new: &[Record],
    );
}

/// A frame, as one who looks sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameView {
    /// Its place in the pool: that of a later frame, when it is gone.
    pub(crate) id: PacketId,
    /// The host that it goes to, or the next node for a pause frame.
    pub(crate) destination: NodeId,
    /// What it carries; none for a pause frame.
    pub(crate) packet: Option<Carried>,
    /// On a link to a switch: number of the port that it will leave by.
    pub(crate) egress: u16,
    /// Whether it is on its way to a multicast group.
    pub(crate) is_to_group: bool,
}

/// The transmitter of a port, as one who looks sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransmitterView {
    /// Frames that it has started.
    pub(crate) started: u64,
    /// When it is free; never, while its link or its host is down.
    pub(crate) free_at: SimTime,
    /// Whether its host is down.
    pub(crate) is_dead: bool,
    /// The last frame that it started, if that is still on the link.
    pub(crate) last: Option<FrameView>,
    /// Bit q: queue q must not start a frame.
    pub(crate) blocked: u8,
    /// Bit p: priority p is paused.
    pub(crate) paused: u8,
}

/// A network to one who watches it: frames, ports and hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a>(pub(crate) &'a Network<Roce>);

impl<'a> View<'a> {
    /// The plan that it runs.
    pub(crate) fn plan(self) -> &'a Arc<Plan> {
        &self.0.plan
    }

    /// The rate of a port at a time, if failures had lowered it.
    pub(crate) fn lowered_rate(self, port: u32, time: SimTime) -> Option<Bandwidth> {
        self.0.failures.link_rates.lowered(port, time)
    }

    /// The node at which something happens to frames, or is seen to, if it is one; none where flows start or
    /// something is measured.
    pub(crate) fn node_of(self, event: &Event) -> Option<NodeId> {
        match event {
            Event::FlowStart { .. } | Event::Sample { .. } => None,
            _ => self.0.scene_of(event),
        }
    }

    /// The frame that arrives in an event which has not happened yet, and the port that sent it.
    pub(crate) fn arriving(self, event: &Event) -> Option<(u32, PacketId)> {
        let packet = event.arriving()?;
        self.0.pool.link_of(packet).map(|port| (port, packet))
    }

    /// Whether an arrival over the link of `port` is told by [`Passed`].
    pub(crate) fn is_special(self, port: u32) -> bool {
        self.0.ports[port as usize].far.special
    }

    /// The node at the other end of the link of `port`.
    pub(crate) fn node_behind(self, port: u32) -> NodeId {
        self.0.ports[self.0.ports[port as usize].far.port as usize].node
    }

    /// All ports.
    pub(crate) fn port_count(self) -> u32 {
        u32::try_from(self.0.ports.len()).unwrap_or(u32::MAX)
    }

    /// Port `number` of a node among all ports.
    pub(crate) fn port_of(self, node: NodeId, number: u16) -> u32 {
        self.0.nodes[node as usize].first_port + u32::from(number)
    }

    /// The node and number of a port.
    pub(crate) fn place_of_port(self, port: u32) -> (NodeId, u16) {
        let state = &self.0.ports[port as usize];
        (state.node, state.number)
    }

    /// A frame in the pool.
    pub(crate) fn frame(self, id: PacketId) -> FrameView {
        let packet = self.0.pool.get(id);
        let body = match packet.body {
            Body::Rdma(body) => {
                // A frame for a multicast group is told as that of the flow that stands for all.
                let to = self.0.plan.receiving_queue_pair(body.dest_qp(), packet.flow_hash);
                Some(Carried::Rdma(body.with_dest_qp(to)))
            }
            Body::Stack(StackFrame::Tcp(segment)) => Some(Carried::Tcp(segment)),
            Body::Stack(StackFrame::Stream(packet)) => Some(Carried::Stream(packet)),
            Body::Stack(StackFrame::Neighbour(frame)) => Some(Carried::Neighbour(frame)),
            Body::Control(_) => None,
        };
        // A switch that chooses among paths has not chosen yet, and one that copies frames sends them by several.
        let is_to_group = is_to_group(packet);
        let is_open = packet.switch_port == ANY || is_to_group;
        let egress = if is_open { NO_ROUTE } else { packet.switch_port };
        let destination = packet.destination;
        FrameView { id, destination, packet: body, egress, is_to_group }
    }

    /// The transmitter of a port.
    pub(crate) fn transmitter(self, port: u32) -> TransmitterView {
        let state = &self.0.ports[port as usize];
        let is_on_link =
            state.last != PacketId::NONE && self.0.pool.link_of(state.last) == Some(port);
        TransmitterView {
            started: state.sent.frames,
            free_at: state.port.free_at(),
            is_dead: self.0.is_dead(port),
            last: is_on_link.then(|| self.frame(state.last)),
            blocked: state.port.blocked(),
            paused: state.port.paused(),
        }
    }

    /// The frames that wait between the queue pairs of a channel adapter and its port; none at other hosts.
    pub(crate) fn staged(self, port: u32) -> impl Iterator<Item = FrameView> + 'a {
        let port = &self.0.ports[port as usize].port;
        let lanes = if port.is_counted() { 0..8 } else { 0..0 };
        let frames = lanes.flat_map(move |lane| port.waiting_in(lane, &self.0.pool));
        frames.map(move |id| self.frame(id))
    }

    /// How long a bit takes over the link of a port.
    pub(crate) fn delay_of(self, port: u32) -> Duration {
        let state = &self.0.ports[port as usize];
        let link = self.0.layout.adjacency.ports_of(state.node).get(usize::from(state.number));
        link.map_or(Duration::ZERO, |port| self.0.plan.topology.links[port.link as usize].delay)
    }

    /// The queue of a port in which frames with the code points of that number wait.
    pub(crate) fn queue_at(self, port: u32, marking: u8) -> u8 {
        let state = &self.0.ports[port as usize];
        match self.0.nodes[state.node as usize].role {
            Role::Host(_) => self.0.plan.lane_of(self.0.plan.markings.of(marking).priority),
            Role::Switch(switch) => {
                let priorities = &self.0.switches[switch as usize].priorities;
                state.port.queue_of(priorities.of(marking))
            }
            Role::Elsewhere(_) => self.0.plan.markings.of(marking).priority,
        }
    }

    /// The priorities (bit p) whose frames wait in a queue of a port.
    pub(crate) fn priorities_of(self, port: u32, queue: u8) -> u8 {
        self.0.ports[port as usize].port.priorities_of(queue)
    }

    /// The NIC of a host.
    pub(crate) fn nic(self, host: NodeId) -> Option<&'a Nic> {
        match self.0.nodes[host as usize].role {
            Role::Host(host) => Some(self.0.hosts[host as usize].end_host.nic()),
            Role::Switch(_) | Role::Elsewhere(_) => None,
        }
    }

    /// Of a flow to a member of a multicast group: whether a frame of its sending comes to that member from a node on, by a port of it
    /// or as its tree says. Nothing of other flows.
    pub(crate) fn leads_to_member(
        self,
        flow: u32,
        (node, egress): (NodeId, Option<u16>),
    ) -> Option<bool> {
        Ways::new(self.0.sight()).leads_to_member(flow, (node, egress))
    }

    /// Whether a flow waits at its host for the MAC address of its next hop.
    pub(crate) fn waits_for_address(self, host: NodeId, flow: u32) -> bool {
        match self.0.nodes[host as usize].role {
            Role::Host(host) => self.0.hosts[host as usize].end_host.waits_for_address(flow),
            Role::Switch(_) | Role::Elsewhere(_) => false,
        }
    }

    /// The TCP of a host, if it has any.
    pub(crate) fn tcp(self, host: NodeId) -> Option<&'a TcpHost> {
        match self.0.nodes[host as usize].role {
            Role::Host(host) => self.0.hosts[host as usize].end_host.tcp(),
            Role::Switch(_) | Role::Elsewhere(_) => None,
        }
    }

    /// The flow, or else the connection of an application, whose packets go to a queue pair.
    pub(crate) fn owner(self, host: NodeId, qpn: u32) -> (Option<u32>, Option<u32>) {
        let Role::Host(host) = self.0.nodes[host as usize].role else { return (None, None) };
        let end_host = &self.0.hosts[host as usize].end_host;
        (end_host.flow_of(qpn), end_host.connection_of(qpn))
    }

    /// The flow whose segments go to a TCP connection of a host.
    pub(crate) fn flow_of_connection(self, host: NodeId, connection: u32) -> Option<u32> {
        let Role::Host(host) = self.0.nodes[host as usize].role else { return None };
        self.0.hosts[host as usize].end_host.flow_of_connection(connection)
    }

    /// The places of open operations at an end of an application's connection, in order.
    pub(crate) fn slots(
        self,
        connection: u32,
        side: Side,
    ) -> impl Iterator<Item = SlotView> + use<'a> {
        let end = self.0.plan.connections[connection as usize].end(side);
        let host = match self.0.nodes[end.host as usize].role {
            Role::Host(host) => self.0.hosts.get(host as usize),
            Role::Switch(_) | Role::Elsewhere(_) => None,
        };
        host.into_iter().flat_map(move |host| host.end_host.slots(end.qpn))
    }

    /// The packets of what is posted for one of them by its program's last turn, and not completed: the
    /// PSN of the first, and the one after the last.
    pub(crate) fn posted(self, connection: u32, side: Side, slot: usize) -> Option<(Psn, Psn)> {
        let end = self.0.plan.connections[connection as usize].end(side);
        match self.0.nodes[end.host as usize].role {
            Role::Host(host) => self.0.hosts.get(host as usize)?.end_host.posted(end.qpn, slot),
            Role::Switch(_) | Role::Elsewhere(_) => None,
        }
    }
}

impl Network<Roce> {
    /// Has `run` execute one event, with `watch` looking on. `run` is the loop that executes all
    /// others too: a second caller of [`World::handle`](rocelab_engine::World::handle) would take
    /// it out of that loop (2 % of a run's instructions).
    pub(crate) fn watched(
        &mut self,
        watch: &mut impl Watch,
        (key, event): (EventKey, Event),
        run: impl FnOnce(&mut Self),
    ) {
        watch.before(View(self), key, &event);
        self.features.passed.get_or_insert_default().clear();
        let known = self.course.records.len();
        run(self);
        let passed = self.features.passed.take().unwrap_or_default();
        watch.after(View(self), key, &event, &passed, self.course.records.since(known));
        self.features.passed = Some(passed);
    }
}
