//! What happens in each event.

use rocelab_engine::{EventKey, EventQueue, World};
use rocelab_fabric::NodeId;

use super::core::Network;
use super::event::Event;
use super::failure::Failing;
use super::other_frames::OtherFrames;
use super::pauses::PortPauses;
use super::receiver::Receiving;
use super::watchdog::Watching;
use crate::profile::{FlowStarts, Profile};

impl<P: Profile> World for Network<P> {
    type Event = Event;

    const ONLY_LOOKS: fn(&Event) -> bool = Event::only_looks;

    #[inline(always)]
    fn queue(&self) -> &EventQueue<Event> {
        &self.queue
    }

    #[inline(always)]
    fn queue_mut(&mut self) -> &mut EventQueue<Event> {
        &mut self.queue
    }

    #[inline(always)] // Into the loop over events: a call for each costs ten instructions.
    fn handle(&mut self, key: EventKey, event: Event) {
        match event {
            Event::Forward { egress, ingress, packet } => {
                self.forward(key, (ingress, egress), packet);
            }
            Event::Deliver { host, packet } => {
                self.pool.get_mut(packet).end_on_link();
                self.host_receive(key, host, packet);
            }
            Event::Arrive { port, packet } => self.arrive(key, port, packet),
            Event::PortFree { port } => self.port_free(key, port),
            Event::PortTimeout { port } => PortPauses(self).port_timeout(key, port),
            Event::NicTimeout { host } => self.host_timeout(key, host),
            Event::FlowStart { ticket } => self.flow_start(key, ticket),
            Event::LineDue { port } => self.line_due(key, port),
            Event::HoldDue { port } => self.hold_due(key, port),
            Event::LinkFailure { link } => Failing(self).link_failure(key, link),
            Event::Failure { step } => Failing(self).failure_step(key, step),
            Event::Watchdog => Watching(self).watchdog(key),
            Event::Handled { host } => Receiving(self).handled(key, host),
            Event::Entered { host, has_room: false } => Receiving(self).entered(key, host),
            Event::Entered { host, has_room: true } => Receiving(self).has_room(key, host),
            Event::Transfer { host, connection } => {
                OtherFrames(self).transfer_arrives(key, host, connection);
            }
            Event::Sample { sampler } => self.measuring().sample(key, sampler),
        }
    }

    #[inline(always)]
    fn prefetch<const STEP: usize>(&self, event: &Event) {
        match STEP {
            0 => self.prefetch_named(event),
            1 => self.prefetch_behind(event),
            _ => self.prefetch_farther(event),
        }
    }

    fn unit_of(&self, event: &Event) -> Option<u32> {
        self.layout.units.get(self.scene_of(event)? as usize).copied()
    }
}

impl<P: Profile> Network<P> {
    /// The node at which an event happens, if it happens at one.
    pub(crate) fn scene_of(&self, event: &Event) -> Option<NodeId> {
        let host = |host: u32| self.hosts[host as usize].node;
        match *event {
            Event::Arrive { port, .. } | Event::LineDue { port } | Event::HoldDue { port } => {
                Some(self.ports[port as usize].far.node)
            }
            Event::Forward { egress: port, .. }
            | Event::PortFree { port }
            | Event::PortTimeout { port } => Some(self.ports[port as usize].node),
            Event::NicTimeout { host: here }
            | Event::Handled { host: here }
            | Event::Entered { host: here, .. }
            | Event::Transfer { host: here, .. }
            | Event::Deliver { host: here, .. } => Some(host(here)),
            Event::FlowStart { ticket } => self.course.starts.host_of(&self.plan, ticket),
            Event::Sample { sampler } => {
                Some(self.features.sampling.samplers[sampler as usize].node)
            }
            Event::LinkFailure { .. } | Event::Failure { .. } | Event::Watchdog => None,
        }
    }
}
