//! TCP segments beside RDMA packets.
//!
//! What a segment and a packet have in common is written once and compiled for each
//! ([`Kind`]), so that a run without TCP pays nothing.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_transport::tcp::TcpSegment;
use rocelab_wire::TelemetryKind;

use super::core::Network;
use super::node::Role;
use super::packet::{Body, PacketOf};
use super::pauses::PortPauses;
use super::port::FarEnd;
use crate::profile::{HostPacket, Profile};
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

/// Frames of TCP.
pub(super) struct Segments;

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

impl<P: Profile> Kind<P> for Segments {
    type Packet = TcpSegment;

    fn packet_in(body: &mut Body<PacketOf<P>>) -> Option<&mut TcpSegment> {
        match body {
            Body::Tcp(segment) => Some(segment),
            _ => None,
        }
    }
}

impl HostPacket for TcpSegment {
    fn priority(&self) -> u8 {
        Self::priority(self)
    }

    fn kind(&self) -> TrafficKind {
        if self.payload_len > 0 { TrafficKind::Data } else { TrafficKind::Ack }
    }

    fn is_markable(&self) -> bool {
        self.ecn().is_capable()
    }

    fn mark(&mut self) {
        self.set_ce();
    }

    fn fingerprint(&self) -> u64 {
        u64::from(self.connection) << 40
            ^ u64::from(self.seq) << 20
            ^ u64::from(self.ack) << 4
            ^ u64::from(self.payload_len) << 1
            ^ u64::from(self.is_ce())
    }

    fn telemetry(&self) -> Option<TelemetryKind> {
        None
    }

    fn as_rdma(&self) -> Option<&RdmaPacket> {
        None
    }
}

impl Totals {
    /// Counts a frame that is no packet of the profile's own hosts as it starts on a link.
    #[cold]
    #[inline(never)]
    pub(super) fn count_other<R>(&mut self, body: &Body<R>) {
        match body {
            Body::Tcp(segment) if segment.kind() == TrafficKind::Data => self.traversals.data += 1,
            Body::Tcp(_) => self.traversals.ack += 1,
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
            (Body::Pfc(frame), _) => PortPauses(self.0).receive_pfc(key, far.port, id, &frame),
            (Body::Tcp(segment), Role::Host(host)) => {
                self.receive_segment(key, host, id, &segment);
            }
            (_, Role::Switch(_)) => match far.way_of(self.0.pool.get(id)) {
                Some(egress) => {
                    self.0.switch_receive::<Segments>(key, (far.number, egress), id);
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
        if matches!(self.0.pool.get(id).body, Body::Tcp(_)) {
            self.0.send::<Segments>(key, switch, port, id);
        }
    }
}
