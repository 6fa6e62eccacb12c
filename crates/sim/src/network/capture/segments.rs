//! Frames of other stacks in captures: TCP segments, and packets of streams.

use std::net::IpAddr;

use rocelab_fabric::PacketId;
use rocelab_transport::stack::StreamPacket;
use rocelab_transport::tcp::{SackBlocks, TcpSegment, window_shift};
use rocelab_wire::{
    Body as FrameBody, CRC_LEN, Ecn, EtherType, Ethernet, Frame, Ipv4, Ipv6, MIN_FRAME_LEN,
    PROTOCOL_TCP, Tcp, TcpOptions, VlanTag, ZEROS,
};

use super::Capturing;
use crate::network::notes::Note;
use crate::network::packet::{Packet, PacketOf};
use crate::profile::Profile;
use crate::scenario::IpVersion;

impl<P: Profile> Capturing<'_, '_, P> {
    /// The IP packet of a segment on the link that `sender` sends on; its payload is zeros.
    pub(super) fn segment_bytes(
        &self,
        sender: u32,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        segment: &TcpSegment,
    ) -> Vec<u8> {
        let Some(tcp) = &self.sight.plan.tcp else { return Vec::new() };
        let payload = vec![0; segment.payload_len.into()];
        let (from, to) = (tcp.address(packet.source), tcp.address(packet.destination));
        let header = self.tcp_header(id, packet, segment, tcp.parameters.receive_window.get());
        let checksum = header.computed_checksum(from, to, &payload);
        let len = segment.header_len() + segment.payload_len;
        let marks = (segment.priority(), segment.ecn());
        let mut bytes = self.ip_header(sender, id, packet, marks, (PROTOCOL_TCP, len), (from, to));
        let start = bytes.len();
        bytes.resize(start + header.header_len(), 0);
        let emitted = Tcp { checksum, ..header }.emit(&mut bytes[start..]);
        debug_assert!(emitted.is_ok(), "the room was just made: {emitted:?}");
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// The IP packet of a stream's packet on the link that `sender` sends on.
    pub(super) fn stream_bytes(
        &self,
        sender: u32,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        carried: &StreamPacket,
    ) -> Vec<u8> {
        let streams = &self.sight.plan.streams;
        let Some(stream) = streams.all.get(carried.stream as usize) else { return Vec::new() };
        let (from, to) = (streams.address(packet.source), streams.address(packet.destination));
        let carried_bytes = stream.config.to_bytes(carried, from, to);
        let what =
            (stream.config.format().protocol, u16::try_from(carried_bytes.len()).unwrap_or(0));
        let marks = (carried.priority, Ecn::NotEct);
        let mut bytes = self.ip_header(sender, id, packet, marks, what, (from, to));
        bytes.extend_from_slice(&carried_bytes);
        bytes
    }

    /// The frame of that priority whose IP packet is `bytes`.
    pub(super) fn stack_frame<'a>(
        &self,
        (sender, id): (u32, PacketId),
        packet: &Packet<PacketOf<P>>,
        priority: u8,
        (ip, bytes): (IpVersion, &'a [u8]),
    ) -> Frame<'a> {
        let (source, destination) = self.link_addresses((sender, id), packet);
        let vlan = self.vlan_tag_at(priority, id, packet);
        let ether_type = match ip {
            IpVersion::Ipv4 => EtherType::IPV4,
            IpVersion::Ipv6 => EtherType::IPV6,
        };
        let tag = if vlan.is_some() { VlanTag::LEN } else { 0 };
        let missing = (MIN_FRAME_LEN - CRC_LEN).saturating_sub(Ethernet::LEN + tag + bytes.len());
        Frame {
            ethernet: Ethernet { destination, source, ether_type },
            vlan: [vlan, None],
            cn_tag: None,
            body: FrameBody::Other(bytes),
            padding: &ZEROS[..missing],
            fcs: None,
        }
    }

    fn tcp_header(
        &self,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        segment: &TcpSegment,
        receive_window: u64,
    ) -> Tcp {
        let (source_port, destination_port) = self.ports_of(packet, segment);
        let shift = window_shift(u32::try_from(receive_window).unwrap_or(u32::MAX));
        let blocks = self.frames.side.sacks.of(id, segment).map_or(&[][..], SackBlocks::as_slice);
        Tcp {
            source_port,
            destination_port,
            sequence_number: segment.seq,
            acknowledgement_number: segment.ack,
            reserved: 0,
            flags: segment.flags.0,
            window: u16::try_from(segment.window >> shift).unwrap_or(u16::MAX),
            checksum: 0,
            urgent_pointer: 0,
            options: TcpOptions::sack(blocks),
        }
    }

    /// The ports of a segment: where it comes from, and where it goes.
    fn ports_of(&self, packet: &Packet<PacketOf<P>>, segment: &TcpSegment) -> (u16, u16) {
        let owners = self.owners;
        let number = owners
            .and_then(|owners| owners.of_tcp_connection(packet.destination, segment.connection));
        let Some(flow) = number.map(|number| &self.sight.plan.flows[number as usize]) else {
            return (0, 0);
        };
        let (near, far) = flow.tcp_ports();
        if packet.source == flow.source { (near, far) } else { (far, near) }
    }

    /// An IP header; `len` bytes of a protocol follow.
    fn ip_header(
        &self,
        sender: u32,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        (priority, ecn): (u8, Ecn),
        (protocol, len): (u8, u16),
        addresses: (IpAddr, IpAddr),
    ) -> Vec<u8> {
        let note = self.frames.side.notes.as_ref().map_or_else(Note::default, |notes| notes.of(id));
        let counted = self.frames.side.notes.as_ref().and_then(|notes| notes.hop_limit(id));
        let hops = counted.unwrap_or_else(|| self.hop_limit(sender, packet));
        let dscp = self.sight.plan.markings.of(priority).dscp();
        match addresses {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = Ipv4 {
                    dscp,
                    ecn,
                    total_len: len + u16::try_from(Ipv4::LEN).unwrap_or(0),
                    identification: note.identification,
                    reserved_flag: false,
                    dont_fragment: true,
                    more_fragments: false,
                    fragment_offset: 0,
                    time_to_live: hops,
                    protocol,
                    header_checksum: 0,
                    source,
                    destination,
                };
                let header_checksum = header.computed_checksum();
                Ipv4 { header_checksum, ..header }.to_bytes().to_vec()
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => Ipv6 {
                dscp,
                ecn,
                flow_label: 0,
                payload_len: len,
                next_header: protocol,
                hop_limit: hops,
                source,
                destination,
            }
            .to_bytes()
            .to_vec(),
            _ => Vec::new(), // Both have the version of the plan.
        }
    }
}
