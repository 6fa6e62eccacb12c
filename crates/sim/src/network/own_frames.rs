//! Frames that switches make themselves: notifications of congestion, and what features have switches send.

use rocelab_engine::EventKey;
use rocelab_fabric::{Admission, Arrival, BufferPolicy, PacketId};

use super::core::Network;
use super::emission::Emission;
use super::packet::{Body, Packet, PacketOf};
use super::pauses::PortPauses;
use crate::profile::{HostPacket, Profile, Routing};
use crate::record::DropCause;

/// A network in which switches send frames that they have made.
#[derive(Debug)]
pub(super) struct Emitting<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Emitting<'_, P> {
    /// Sends what features have asked for since the last time, in that order.
    #[cold]
    pub(super) fn emit(&mut self, key: EventKey) {
        for Emission { switch, port, packet } in std::mem::take(&mut self.0.features.emissions) {
            let id = self.make(packet);
            self.send(key, switch, port, id);
        }
    }

    /// A new frame of a switch.
    pub(super) fn make(&mut self, packet: Packet<PacketOf<P>>) -> PacketId {
        let id = self.0.pool.insert(packet);
        if let Some(notes) = &mut self.0.side.notes {
            notes.forget(id);
        }
        self.0.course.totals.frames_created += 1;
        id
    }

    /// Stores and queues a switch's frame at the port towards its host, by routes and hash, whatever the switch's
    /// forwarding plane and load balancing. It counts as what came in by `ingress`, a port of
    /// the switch by its number of all.
    pub(super) fn send(&mut self, key: EventKey, switch: u32, ingress: u32, id: PacketId) {
        let number_in = self.0.ports[ingress as usize].number;
        self.0.pool.get_mut(id).switch_port = number_in;
        let packet = *self.0.pool.get(id);
        let Body::Rdma(body) = packet.body else { return };
        let state = &mut self.0.switches[switch as usize];
        let way =
            self.0.routing.egress(state.node, state.node, packet.destination, packet.flow_hash);
        let Some(number) = way else {
            return self.0.drop_frame(key, ingress, None, id, DropCause::NoRoute);
        };
        let priority = state.priorities.of(body.marking());
        let port = self.0.nodes[state.node as usize].first_port + u32::from(number);
        let out = &mut self.0.ports[port as usize];
        let Some(waits_in) = out.port.place_of(priority) else {
            let cause = if out.port.is_up() { DropCause::Watchdog } else { DropCause::LinkDown };
            return self.0.drop_frame(key, ingress, Some(number), id, cause);
        };
        let (len, egress_queue) = (u32::from(packet.frame_len), out.port.queued(waits_in));
        let arrival = Arrival { ingress: number_in, egress: number, priority, len, egress_queue };
        let admission = state.buffer.admit(arrival);
        match admission {
            Admission::Dropped(reason) | Admission::DroppedAndPause(reason) => {
                self.0.drop_frame(key, ingress, Some(number), id, DropCause::Buffer(reason));
            }
            Admission::Stored | Admission::StoredAndPause => {
                let queued = egress_queue + len;
                out.rare.max_queue_bytes = out.rare.max_queue_bytes.max(queued);
                out.port.enqueue(&mut self.0.pool, id, waits_in, len);
            }
        }
        if matches!(admission, Admission::StoredAndPause | Admission::DroppedAndPause(_)) {
            PortPauses(self.0).pause_sender(key, ingress, number, priority);
        }
        self.0.pump(key, port);
    }
}
