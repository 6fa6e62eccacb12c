//! Frames of other stacks beside the packets of the profile's own hosts.
//!
//! What both have in common is written once and compiled for each ([`Kind`]), so that a run without
//! other stacks pays nothing.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;

use super::core::Network;
use super::node::Role;
use super::packet::{Body, PacketOf};
use super::pauses::PortPauses;
use super::port::FarEnd;
use crate::profile::{HostPacket, Profile, StackFrame};
use crate::record::{Totals, TrafficKind};

/// A kind of frame that goes from host to host.
pub(super) trait Kind<P: Profile> {
    /// What it carries.
    type Packet: HostPacket;

    /// What a frame carries, if it is of this kind.
    fn packet_in(body: &mut Body<PacketOf<P>>) -> Option<&mut Self::Packet>;
}

/// Frames of the profile's own hosts.
pub(super) struct Packets;

/// Frames of other stacks.
pub(super) struct StackFrames;

impl<P: Profile> Kind<P> for Packets {
    type Packet = PacketOf<P>;

    #[inline(always)] // It is one comparison.
    fn packet_in(body: &mut Body<PacketOf<P>>) -> Option<&mut PacketOf<P>> {
        match body {
            Body::Rdma(packet) => Some(packet),
            _ => None,
        }
    }
}

impl<P: Profile> Kind<P> for StackFrames {
    type Packet = StackFrame;

    fn packet_in(body: &mut Body<PacketOf<P>>) -> Option<&mut StackFrame> {
        match body {
            Body::Stack(frame) => Some(frame),
            _ => None,
        }
    }
}

impl Totals {
    /// Counts a frame that is no packet of the profile's own hosts as it starts on a link.
    #[cold]
    #[inline(never)]
    pub(super) fn count_other<R>(&mut self, body: &Body<R>) {
        match body {
            Body::Stack(frame) if frame.kind() == TrafficKind::Data => self.traversals.data += 1,
            Body::Stack(frame) if frame.kind() == TrafficKind::Ack => self.traversals.ack += 1,
            _ => self.traversals.control += 1,
        }
    }
}

/// A network that handles frames which are no packets of the profile's own hosts.
#[derive(Debug)]
pub(super) struct OtherFrames<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> OtherFrames<'_, P> {
    /// A frame that is no packet of the profile's own hosts reaches the node at the far end of a
    /// link.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_other(&mut self, key: EventKey, far: &FarEnd, id: PacketId) {
        match (self.0.pool.get(id).body, far.role) {
            (Body::Control(frame), _) => {
                PortPauses(self.0).receive_control(key, far.port, id, &frame);
            }
            (Body::Stack(frame), Role::Host(host)) => {
                self.receive_frame(key, host, id, &frame);
            }
            (_, Role::Switch(_)) => match far.way_of(self.0.pool.get(id)) {
                Some(egress) => {
                    self.0.switch_receive::<StackFrames>(key, (far.number, egress), id);
                }
                None => self.0.drop_without_way(key, far, id),
            },
            (Body::Rdma(_), Role::Host(_)) | (_, Role::Elsewhere(_)) => {}
        }
    }

    /// Sends a frame from a switch that is no packet of the profile's own hosts.
    #[cold]
    #[inline(never)]
    pub(super) fn send_other(&mut self, key: EventKey, switch: u32, port: u32, id: PacketId) {
        if matches!(self.0.pool.get(id).body, Body::Stack(_)) {
            self.0.send::<StackFrames>(key, switch, port, id);
        }
    }
}
