//! What events will touch is prefetched ahead of their turn, in up to three steps: each follows what the one before it
//! brought. A timing wheel makes as many as its network is large, the windows of units make the first two.

use rocelab_engine::Place;
use rocelab_fabric::{BufferPolicy, PacketId};

use super::core::Network;
use super::event::Event;
use super::node::Role;
use super::packet::{Body, Packet, PacketOf};
use super::port::NetworkPort;
use crate::profile::{EndHost, Profile, Routing};

impl<P: Profile> Network<P> {
    /// What the event itself names.
    #[inline(always)]
    pub(super) fn prefetch_named(&self, event: &Event) {
        match *event {
            Event::Forward { egress: port, packet, .. } | Event::Arrive { port, packet } => {
                self.pool.place_of(packet).prefetch::<1>();
                Place::of_element(&self.ports, port).prefetch::<2>();
            }
            Event::Deliver { host, packet } => {
                self.pool.place_of(packet).prefetch::<1>();
                Place::of_element(&self.hosts, host).prefetch::<4>();
            }
            Event::NicTimeout { host } => Place::of_element(&self.hosts, host).prefetch::<4>(),
            Event::PortFree { port } => Place::of_element(&self.ports, port).prefetch::<4>(),
            _ => {}
        }
    }

    /// What is behind that: the queue pair, the packet that waits, the port of a host.
    #[inline(always)]
    pub(super) fn prefetch_behind(&self, event: &Event) {
        match *event {
            Event::Deliver { host, packet } => {
                if let Body::Rdma(packet) = &self.pool.get(packet).body {
                    self.hosts[host as usize].end_host.prefetch(packet);
                }
            }
            Event::PortFree { port } => {
                let waiting = self.ports[port as usize].port.first_waiting();
                self.pool.place_of(waiting.unwrap_or(PacketId(0))).prefetch::<1>();
            }
            Event::NicTimeout { host } => {
                let host = &self.hosts[host as usize];
                Place::of_element(&self.ports, host.port).prefetch::<4>();
                host.end_host.prefetch_wake_up::<0>();
            }
            _ => {}
        }
    }

    /// What a switch counts of the packet and where it goes on, or the queue pair.
    #[inline(always)]
    pub(super) fn prefetch_farther(&self, event: &Event) {
        match *event {
            Event::Forward { egress, ingress, packet } => {
                if let Some(egress) = self.ports.get(egress as usize) {
                    self.prefetch_way(egress, ingress, self.pool.get(packet));
                }
            }
            Event::PortFree { port } => {
                let port = &self.ports[port as usize];
                if let Some(waiting) = port.port.first_waiting() {
                    let packet = self.pool.get(waiting);
                    self.prefetch_way(port, packet.switch_port, packet);
                }
            }
            Event::NicTimeout { host } => {
                self.hosts[host as usize].end_host.prefetch_wake_up::<1>();
            }
            _ => {}
        }
    }

    /// What the switch counts of an ingress port and the priority of a packet, and the route from the next switch on.
    #[inline(always)]
    fn prefetch_way(&self, egress: &NetworkPort<P>, ingress: u16, packet: &Packet<PacketOf<P>>) {
        if let Role::Switch(switch) = egress.role {
            let buffer = &self.switches[switch as usize].buffer;
            let priority = packet.body.priority().unwrap_or(0);
            if let Some(account) = buffer.account(ingress, priority) {
                Place::of(account).prefetch::<1>();
            }
        }
        if let Role::Switch(_) = egress.far.role {
            self.routing.prefetch(egress.far.node, packet.destination);
        }
    }
}
