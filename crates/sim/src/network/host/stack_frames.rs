//! Frames of other stacks out of a host and into one.

use rocelab_engine::{EventKey, mix};
use rocelab_fabric::PacketId;

use crate::network::other_frames::OtherFrames;
use crate::network::packet::{Body, Packet};
use crate::profile::{
    EndHost, HostPacket, NeighbourKind, OtherStacks, Profile, StackDeparture, StackFrame,
};
use crate::record::DropCause;

impl<P: Profile> OtherFrames<'_, P> {
    /// Sends the frame that another stack of a host has next; its port is free.
    #[cold]
    #[inline(never)]
    pub(super) fn pump_stack(&mut self, key: EventKey, host: u32) {
        let state = &mut self.0.hosts[host as usize];
        let port = state.port;
        let paused = self.0.ports[port as usize].port.blocked();
        if let Some(StackDeparture { frame: departing, sack }) =
            state.end_host.poll_frame(key.time, paused)
        {
            let more = state.end_host.is_ready(paused);
            let body = Body::Stack(departing.packet);
            let mut packet =
                Packet::new(state.node, departing.destination, departing.frame_len, body);
            packet.flow_hash = departing.flow_hash;
            let network = &mut *self.0;
            let known = (&*network.plan, &*network.layout.adjacency);
            packet.path = network.layout.paths.of(host, packet.ends(), &*network.routing, known);
            let totals = &mut self.0.course.totals;
            totals.frames_created += 1;
            if let StackFrame::Neighbour(frame) = &departing.packet {
                match frame.kind {
                    NeighbourKind::Solicitation => totals.layer2.neighbours.solicitations += 1,
                    NeighbourKind::Advertisement => totals.layer2.neighbours.advertisements += 1,
                }
            }
            let id = self.0.pool.insert(packet);
            if let Some(notes) = &mut self.0.side.notes {
                notes.start(host, id);
            }
            if let Some(blocks) = sack {
                self.0.side.sacks.put(id, blocks);
            }
            self.0.transmit(key, port, id);
            if more {
                self.0.arm_free(port);
            }
        }
        self.0.arm_host_timeout(key, host);
    }

    /// Delivers such a frame to a host and acts on what follows.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn receive_frame(
        &mut self,
        key: EventKey,
        host: u32,
        id: PacketId,
        frame: &StackFrame,
    ) {
        let destination = self.0.pool.get(id).destination;
        let state = &mut self.0.hosts[host as usize];
        if destination != state.node {
            let port = state.port;
            return self.0.drop_frame(key, port, None, id, DropCause::ForeignDestination);
        }
        let sack = frame.as_segment().and_then(|segment| self.0.side.sacks.of(id, segment));
        self.0.pool.remove(id);
        self.0.course.totals.frames_delivered += 1;
        let what = frame.fingerprint();
        state.digest = mix(state.digest ^ key.time.ps() ^ what.rotate_left(17));
        state.end_host.receive_frame(&self.0.plan, key.time, frame, sack);
        let sampling = &mut self.0.features.sampling;
        self.0.course.deliveries.note_frames::<P>(key.time, &mut state.end_host, sampling);
        self.0.after_host(key, host, true);
    }
}
