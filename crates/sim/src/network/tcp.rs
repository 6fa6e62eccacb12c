//! TCP segments beside RDMA packets.
//!
//! What a segment and a packet have in common is written once and compiled for each
//! ([`Kind`]), so that a run without TCP pays nothing.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_transport::tcp::{SackBlocks, TcpCounters, TcpSegment};

use super::packet::Body;
use super::{FarEnd, Network, PacketOf, Role};
use crate::profile::{Carries, EndHost, HostPacket, Profile};
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

    fn telemetry(&self) -> Carries {
        Carries::Nothing
    }

    fn value(&mut self) -> Option<&mut u64> {
        None
    }

    fn as_rdma(&self) -> Option<&RdmaPacket> {
        None
    }
}

/// What selective acknowledgements say, beside their segments: most have none.
#[derive(Debug, Default)]
pub(super) struct Sacks {
    /// By the segment's place in the pool; it says whether it has any.
    by_packet: Vec<SackBlocks>,
}

impl Sacks {
    /// A segment starts with these.
    pub(super) fn put(&mut self, id: PacketId, blocks: SackBlocks) {
        let place = id.0 as usize;
        if self.by_packet.len() <= place {
            self.by_packet.resize(place + 1, SackBlocks::default());
        }
        self.by_packet[place] = blocks;
    }

    /// `copy` has those of `original`, if it has any.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(&blocks) = self.by_packet.get(original.0 as usize) {
            self.put(copy, blocks);
        }
    }

    /// Those of a segment, if it has any.
    pub(super) fn of(&self, id: PacketId, segment: &TcpSegment) -> Option<&SackBlocks> {
        if segment.sack_count() == 0 {
            return None;
        }
        self.by_packet.get(id.0 as usize)
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

impl<P: Profile> Network<P> {
    /// A frame that is no packet of the profile's own hosts reaches the node at the far end of a
    /// link.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_other(&mut self, key: EventKey, far: &FarEnd, id: PacketId) {
        match (self.pool.get(id).body, far.role) {
            (Body::Pfc(frame), _) => self.receive_pfc(key, far.port, id, &frame),
            (Body::Tcp(segment), Role::Host(host)) => {
                self.receive_segment(key, host, id, &segment);
            }
            (_, Role::Switch(_)) => match far.way_of(self.pool.get(id)) {
                Some(egress) => {
                    self.switch_receive::<Segments>(key, (far.number, egress), id);
                }
                None => self.drop_without_way(key, far, id),
            },
            (Body::Rdma(_), Role::Host(_)) | (_, Role::Elsewhere(_)) => {}
        }
    }

    /// Sends a frame from a switch that is no packet of the profile's own hosts.
    #[cold]
    #[inline(never)]
    pub(super) fn send_other(&mut self, key: EventKey, switch: u32, port: u32, id: PacketId) {
        if matches!(self.pool.get(id).body, Body::Tcp(_)) {
            self.send::<Segments>(key, switch, port, id);
        }
    }

    /// The sum of what the TCP of every host counted.
    pub fn tcp_counters(&self) -> TcpCounters {
        let mut sum = TcpCounters::default();
        for counters in self.hosts.iter().filter_map(|host| host.end_host.tcp_counters()) {
            sum += counters;
        }
        sum
    }

    /// Ends of TCP connections that hosts keep: those of flows under way, and of flows that are over
    /// while something of them is to be sent or acknowledged.
    pub fn tcp_connections(&self) -> usize {
        self.hosts.iter().map(|host| host.end_host.tcp_connections()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_of_segments_that_say_so() {
        let mut sacks = Sacks::default();
        let mut blocks = SackBlocks::default();
        assert!(blocks.push(1, 2));
        sacks.put(PacketId(3), blocks);
        let segment = TcpSegment::new(0, 0, 0, 0);
        assert_eq!(sacks.of(PacketId(3), &segment), None);
        assert_eq!(sacks.of(PacketId(3), &segment.with_sack_count(1)), Some(&blocks));
        assert_eq!(sacks.of(PacketId(4), &segment.with_sack_count(1)), None);
    }
}
