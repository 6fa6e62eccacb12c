//! The network as a whole.

use std::sync::Arc;

use rocelab_engine::{EventQueue, Tie, TieOrder};
use rocelab_fabric::NodeId;

use super::course::Course;
use super::event::Event;
use super::failure::Failures;
use super::features::Features;
use super::layout::Layout;
use super::node::{Host, Node, Role, Switch};
use super::packet::{PacketOf, PacketPool};
use super::part::Part;
use super::port::NetworkPort;
use super::side::SideData;
use crate::Plan;
use crate::profile::Profile;
use crate::profile::roce::Roce;

/// All state of a part of a run: of all of it, if the network is not cut.
#[derive(Debug)]
pub struct Network<P: Profile = Roce> {
    pub(super) plan: Arc<Plan>,
    pub(super) routing: Arc<P::Routing>,
    /// What is to happen.
    pub(super) queue: EventQueue<Event>,
    pub(super) pool: PacketPool<PacketOf<P>>,
    pub(super) nodes: Vec<Node<P>>,
    pub(super) ports: Vec<NetworkPort<P>>,
    pub(super) hosts: Vec<Host<P>>,
    pub(super) switches: Vec<Switch<P>>,
    pub(super) order: P::Order,
    pub(super) shared: P::Shared,
    pub(super) course: Course<P>,
    pub(super) side: SideData,
    pub(super) layout: Layout,
    pub(super) failures: Failures<P>,
    pub(super) features: Features<P>,
}

impl<P: Profile> Network<P> {
    /// Whether a port belongs to a host that is dead.
    pub(super) fn is_dead(&self, port: u32) -> bool {
        match self.nodes[self.ports[port as usize].node as usize].role {
            Role::Host(host) => self.hosts[host as usize].down > 0,
            Role::Switch(_) | Role::Elsewhere(_) => false,
        }
    }

    /// Which part of the network it is.
    pub(crate) fn part(&self) -> &Part {
        &self.layout.part
    }

    /// The ports of the nodes that are here.
    pub(super) fn own_ports(&self) -> &[NetworkPort<P>] {
        &self.ports[..self.layout.places.own]
    }

    /// The plan that this network runs.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Reserves a place in the order for an event that `node` causes.
    #[inline]
    pub(super) fn reserve(&mut self, node: NodeId) -> Tie {
        self.order.reserve(&mut self.nodes[node as usize].order)
    }

    /// Reserves a place in the order for what no node causes: it comes before all that nodes cause
    /// at the same instant.
    pub(super) fn reserve_outside(&mut self) -> Tie {
        self.order.reserve(&mut self.features.outside)
    }
}
