//! A link that fails.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue};
use rocelab_fabric::{Chain, Fifo, PacketId};

use super::packet::{NO_ROUTE, PacketPool};
use super::{DropCause, Event, FrameDropped, Network, PacketOf, Record, RecordKind, Role};
use crate::profile::{Profile, Routing};

impl<P: Profile> Network<P> {
    /// Schedules the failures of the plan.
    pub(super) fn add_failures(&mut self, queue: &mut EventQueue<Event>) {
        let Some((time, link)) = self.plan.link_failure() else { return };
        let node = self.plan.topology.links[link as usize].a;
        let tie = self.reserve(node);
        queue.push(EventKey { time, tie }, Event::LinkFailure { link });
    }

    /// A link fails: what waits for it and what is on it is lost, and all routes are made anew
    /// without it at once.
    #[cold]
    pub(super) fn link_failure(&mut self, key: EventKey, link: u32) {
        self.active_links[link as usize] = false;
        let plan = Arc::clone(&self.plan);
        // A topology that had routes has them without one of its links too, if not to everywhere.
        if let Ok(routing) = P::routing(&plan, &self.active_links) {
            self.routing = routing;
        }
        let adjacency = plan.topology.adjacency();
        for end in [plan.topology.links[link as usize].a, plan.topology.links[link as usize].b] {
            let Some(number) = adjacency.port_of_link(end, link) else { continue };
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            self.shut_down(key, self.nodes[end as usize].first_port + number);
        }
        self.reroute_frames_under_way();
    }

    /// A port whose link is gone loses what waits in it. The switch's memory is not told, as in
    /// HPCC's ns-3 simulator: those bytes stay in use.
    fn shut_down(&mut self, key: EventKey, port: u32) {
        let len_of =
            |pool: &PacketPool<PacketOf<P>>, id: PacketId| u32::from(pool.get(id).frame_len);
        while let Some((id, priority)) =
            self.ports[port as usize].port.flush_one(&self.pool, len_of)
        {
            let packet = self.pool.get(id);
            let state = &self.ports[port as usize];
            let (frame_len, ingress) = (packet.frame_len, packet.switch_port);
            let (node, egress, cause) = (state.node, Some(state.number), DropCause::LinkDown);
            if let Role::Switch(switch) = self.nodes[node as usize].role {
                self.switches[switch as usize].unreturned += u64::from(frame_len);
            }
            let dropped = FrameDropped { node, ingress, egress, priority, frame_len, cause };
            self.records.push(Record { key, kind: RecordKind::Drop(dropped) });
            self.totals.frames_dropped += 1;
            *self.totals.drops.entry(cause.name()).or_default() += 1;
            self.contents.take(id);
            self.pool.remove(id);
        }
        let state = &mut self.ports[port as usize];
        state.port.shut_down();
        state.free_armed = true;
        state.far.special = true;
    }

    /// Where frames on links will be forwarded was looked up when they were sent.
    fn reroute_frames_under_way(&mut self) {
        for port in 0..self.ports.len() {
            let state = &self.ports[port];
            let Role::Switch(switch) = state.far.role else { continue };
            let node = self.switches[switch as usize].node;
            let mut id = Fifo::head(&state.in_flight);
            while id != PacketId::NONE {
                let packet = self.pool.get_mut(id);
                let (source, destination) = (packet.source, packet.destination);
                let egress = self.routing.egress(node, source, destination, packet.flow_hash);
                packet.switch_port = egress.unwrap_or(NO_ROUTE);
                id = self.pool.next(id);
            }
        }
    }
}
