//! Packets that take credits of InfiniBand's lanes, and give them back.
//!
//! A packet takes blocks of the buffer of its lane as it arrives at a port, and gives them back as it has left the switch, or at
//! once where it has come to its host. A channel adapter has room for a packet of each lane between its queue pairs and its
//! port: there a packet waits for credits.

use rocelab_engine::EventKey;
use rocelab_fabric::{LeavingFrame, PacketId};

use super::core::Network;
use super::next_frames::{has_more, held_at};
use super::node::Role;
use super::packet::{PacketOf, PacketPool};
use super::pauses::PortPauses;
use super::port::FarEnd;

use crate::profile::Profile;
use crate::record::DropCause;

/// Bytes of a packet on its link.
fn len_of<P: Profile>(pool: &PacketPool<PacketOf<P>>, id: PacketId) -> u32 {
    u32::from(pool.get(id).frame_len)
}

/// Credits are to InfiniBand what pauses are to Ethernet.
impl<P: Profile> PortPauses<'_, P> {
    /// A frame reaches the node at the far end of a link with credits.
    #[cold]
    pub(super) fn deliver_with_credits(&mut self, key: EventKey, far: &FarEnd, id: PacketId) {
        let packet = self.0.pool.get(id);
        let Some(level) = packet.body.priority() else {
            return self.0.deliver(key, far, id);
        };
        let (lane, len) = (self.0.plan.lane_of(level), u32::from(packet.frame_len));
        let counted = self.0.ports[far.port as usize].port.counted();
        let is_due = counted.is_some_and(|mut port| port.note_arrived(lane, len));
        match far.role {
            Role::Host(_) => {
                if let Some(mut port) = self.0.ports[far.port as usize].port.counted() {
                    port.note_freed(lane, len);
                }
                self.0.deliver(key, far, id);
                if self.0.ports[far.port as usize].port.has_control_frame() {
                    self.0.pump(key, far.port);
                }
            }
            _ if far.way_of(packet).is_none() => {
                self.0.deliver(key, far, id);
                self.note_freed(key, far.port, (lane, len));
            }
            _ => {
                self.0.deliver(key, far, id);
                if is_due {
                    self.0.pump(key, far.port);
                }
            }
        }
    }

    /// A frame starts at a port of a switch: its memory is free once it is over. The one before it is over, if it is so at this
    /// very instant and its end has not come to its turn.
    #[cold]
    pub(super) fn note_leaving(&mut self, key: EventKey, port: u32, frame: LeavingFrame) {
        self.set_leaving(key, port, Some(frame));
        self.0.arm_free(port);
    }

    /// The transmitter of a port of a switch is free, or its link is gone: what it has sent leaves its memory.
    #[cold]
    pub(super) fn free_what_left(&mut self, key: EventKey, port: u32) {
        self.set_leaving(key, port, None);
    }

    fn set_leaving(&mut self, key: EventKey, port: u32, frame: Option<LeavingFrame>) {
        let state = &mut self.0.ports[port as usize];
        let number = state.number;
        let left = state.port.counted().and_then(|mut counted| counted.set_leaving(frame));
        if let Some(LeavingFrame { input, priority, len }) = left {
            let receiving = port - u32::from(number) + u32::from(input);
            self.note_freed(key, receiving, (priority, len));
        }
    }

    /// Drops a frame that came to the far end of a link and is not wanted there. Its credits, if it took any, are given back.
    #[cold]
    pub(super) fn discard_with_credits(
        &mut self,
        key: EventKey,
        far: &FarEnd,
        id: PacketId,
        cause: DropCause,
    ) {
        let packet = self.0.pool.get(id);
        let (level, len) = (packet.body.priority(), u32::from(packet.frame_len));
        self.0.drop_frame(key, far.port, None, id, cause);
        let Some(level) = level else { return };
        let lane = self.0.plan.lane_of(level);
        if matches!(cause, DropCause::FcsError | DropCause::Fault(_)) {
            return; // The link lost it: the next flow control packet makes up for it.
        }
        if let Some(mut port) = self.0.ports[far.port as usize].port.counted() {
            port.note_arrived(lane, len);
        }
        self.note_freed(key, far.port, (lane, len));
    }

    /// Sends what a channel adapter has next; its port is free.
    #[cold]
    pub(super) fn pump_adapter(&mut self, key: EventKey, host: u32) {
        let port = self.0.hosts[host as usize].port;
        self.fill_lanes(key, host, port);
        let Network { ports, pool, .. } = &mut *self.0;
        let transmitter = &mut ports[port as usize].port;
        let next = transmitter.counted();
        let next = next.and_then(|mut port| port.dequeue(key.time, pool, len_of::<P>));
        if let Some((id, _)) = next {
            self.0.transmit(key, port, id);
            if has_more(self.0, port) {
                self.0.arm_free(port);
            }
        } else if let Some(frame) = transmitter.take_last_control_frame(key.time) {
            self.transmit_control(key, port, frame);
        }
        self.0.arm_host_timeout(key, host);
    }

    /// Takes a packet of each lane that none waits of, as far as queue pairs have such.
    fn fill_lanes(&mut self, key: EventKey, host: u32, port: u32) {
        loop {
            let held = held_at::<P>(&self.0.ports[port as usize].port, &self.0.plan);
            let Some((id, level, _)) = self.0.take_departing(key, host, held) else { return };
            let (lane, len) = (self.0.plan.lane_of(level), len_of::<P>(&self.0.pool, id));
            let Network { ports, pool, .. } = &mut *self.0;
            ports[port as usize].port.enqueue(pool, id, lane, len);
        }
    }
}
