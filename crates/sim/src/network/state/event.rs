//! What is to happen, in names that hold in every part.

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, unfit};

use super::Checkpoint;
use crate::network::event::Event;
use crate::network::node::Role;
use crate::profile::FlowStarts;

/// An event of a network. Ports are named by their nodes and numbers.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) enum SavedEvent {
    PortFree(NodeId, u16),
    PortTimeout(NodeId, u16),
    NicTimeout(NodeId),
    /// At the host whose flows start.
    FlowStart(NodeId),
    LineDue(NodeId, u16),
    HoldDue(NodeId, u16),
    Watchdog,
    Handled(NodeId),
    Entered(NodeId, bool),
    /// By its place among the samplers of its node.
    Sample(NodeId, u32),
    /// At the host that it comes to, and over which connection.
    Transfer(NodeId, u32),
}

impl Checkpoint<'_> {
    /// An event as it is saved; none of what breaks, which the plan knows, and of what happens in every
    /// part if this is not the `first`.
    pub(super) fn saved_event(&self, event: Event, is_first: bool) -> Option<SavedEvent> {
        let port =
            |port: u32| (self.0.ports[port as usize].node, self.0.ports[port as usize].number);
        let host = |host: u32| self.0.hosts[host as usize].node;
        Some(match event {
            Event::PortFree { port: free } => {
                let (node, number) = port(free);
                SavedEvent::PortFree(node, number)
            }
            Event::PortTimeout { port: due } => {
                let (node, number) = port(due);
                SavedEvent::PortTimeout(node, number)
            }
            Event::NicTimeout { host: due } => SavedEvent::NicTimeout(host(due)),
            Event::FlowStart { ticket } => {
                SavedEvent::FlowStart(self.0.course.starts.host_of(&self.0.plan, ticket)?)
            }
            Event::LineDue { port: sender } => {
                let (node, number) = port(sender);
                SavedEvent::LineDue(node, number)
            }
            Event::HoldDue { port: sender } => {
                let (node, number) = port(sender);
                SavedEvent::HoldDue(node, number)
            }
            Event::Handled { host: busy } => SavedEvent::Handled(host(busy)),
            Event::Entered { host: busy, has_room } => SavedEvent::Entered(host(busy), has_room),
            Event::Transfer { host: to, connection } => SavedEvent::Transfer(host(to), connection),
            Event::Sample { sampler } => {
                let sampling = &self.0.features.sampling;
                let node = sampling.samplers[sampler as usize].node;
                let before = sampling.of_node(node).partition_point(|&one| one < sampler);
                SavedEvent::Sample(node, u32::try_from(before).unwrap_or(u32::MAX))
            }
            Event::Watchdog => return is_first.then_some(SavedEvent::Watchdog),
            // It is saved with its packet.
            Event::Forward { .. } | Event::Deliver { .. } | Event::Arrive { .. } => return None,
            // By the rules of HPCC's simulator links fail so; there are no checkpoints by them.
            Event::Failure { .. } | Event::LinkFailure { .. } => return None,
        })
    }

    /// A saved event as it is here, if it is.
    pub(super) fn event_of(&self, saved: SavedEvent) -> Result<Option<Event>> {
        Ok(match saved {
            SavedEvent::PortFree(node, number) => {
                self.own_port(node, number)?.map(|port| Event::PortFree { port })
            }
            SavedEvent::PortTimeout(node, number) => {
                self.own_port(node, number)?.map(|port| Event::PortTimeout { port })
            }
            SavedEvent::NicTimeout(node) => {
                self.host_at(node)?.map(|host| Event::NicTimeout { host })
            }
            SavedEvent::Handled(node) => self.host_at(node)?.map(|host| Event::Handled { host }),
            SavedEvent::Entered(node, has_room) => {
                self.host_at(node)?.map(|host| Event::Entered { host, has_room })
            }
            SavedEvent::FlowStart(node) => match self.host_at(node)? {
                None => None,
                Some(_) => {
                    let ticket = self.0.course.starts.ticket_of(&self.0.plan, node);
                    Some(Event::FlowStart { ticket: ticket.ok_or_else(|| unfit("a flow"))? })
                }
            },
            SavedEvent::LineDue(node, number) => {
                self.arriving_at(node, number)?.map(|port| Event::LineDue { port })
            }
            SavedEvent::HoldDue(node, number) => {
                self.arriving_at(node, number)?.map(|port| Event::HoldDue { port })
            }
            SavedEvent::Watchdog => Some(Event::Watchdog),
            SavedEvent::Sample(node, place) => self.sampler(node, place)?,
            SavedEvent::Transfer(node, connection) => self.transfer(node, connection)?,
        })
    }

    fn sampler(&self, node: NodeId, place: u32) -> Result<Option<Event>> {
        if !self.0.layout.part.has(self.known(node)?) {
            return Ok(None);
        }
        let of_node = self.0.features.sampling.of_node(node);
        let sampler = of_node.get(place as usize).copied();
        let sampler = sampler.ok_or_else(|| unfit("what is sampled"))?;
        Ok(Some(Event::Sample { sampler }))
    }

    /// What comes over NVLink, if it comes to a host here.
    fn transfer(&self, node: NodeId, connection: u32) -> Result<Option<Event>> {
        let known = self.0.plan.connections.get(connection as usize);
        let is_end = known.is_some_and(|connection| {
            connection.is_nvlink && connection.ends.iter().any(|end| end.host == node)
        });
        if !is_end {
            return Err(unfit("the connections over NVLink"));
        }
        Ok(self.host_at(node)?.map(|host| Event::Transfer { host, connection }))
    }

    /// A node that there is.
    fn known(&self, node: NodeId) -> Result<NodeId> {
        if (node as usize) < self.0.nodes.len() { Ok(node) } else { Err(unfit("the nodes")) }
    }

    /// A host, if it is here.
    fn host_at(&self, node: NodeId) -> Result<Option<u32>> {
        match self.0.nodes[self.known(node)? as usize].role {
            Role::Host(host) => Ok(Some(host)),
            Role::Elsewhere(_) => Ok(None),
            Role::Switch(_) => Err(unfit("the hosts")),
        }
    }

    /// A port, if its node is here.
    fn own_port(&self, node: NodeId, number: u16) -> Result<Option<u32>> {
        let node = self.known(node)?;
        if usize::from(number) >= self.0.layout.adjacency.ports_of(node).len() {
            return Err(unfit("the ports"));
        }
        let here = self.0.layout.part.has(node);
        Ok(here.then(|| self.0.nodes[node as usize].first_port + u32::from(number)))
    }

    /// A port, if its frames arrive here.
    fn arriving_at(&self, node: NodeId, number: u16) -> Result<Option<u32>> {
        let neighbour =
            self.0.layout.adjacency.ports_of(self.known(node)?).get(usize::from(number));
        let neighbour = neighbour.ok_or_else(|| unfit("the ports"))?;
        let here = self.0.layout.part.has(neighbour.node);
        Ok(here.then(|| self.0.layout.port_at_link(node, neighbour.link)).flatten())
    }
}
