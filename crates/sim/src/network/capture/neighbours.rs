//! Questions for MAC addresses, and answers, in captures.

use std::net::IpAddr;

use rocelab_fabric::NodeId;
use rocelab_wire::{
    Arp, ArpOperation, Body as FrameBody, CRC_LEN, Ecn, EtherType, Ethernet, Frame, Ipv6,
    MIN_FRAME_LEN, MacAddress, NeighbourMessage, PROTOCOL_ICMPV6, VlanTag, ZEROS, ipv6_group_mac,
    solicited_node,
};

use super::Capturing;
use crate::address::switch_port_mac;
use crate::network::forwarding::place_of_neighbour;
use crate::network::packet::{Packet, PacketOf};
use crate::profile::{NeighbourFrame, NeighbourKind, Profile};

/// RFC 4861, section 7.1: what has passed a router is no message of a neighbour.
const HOP_LIMIT: u8 = 255;

/// Who sends a question or an answer, and whom it is about or for.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeighbourEnds {
    from: IpAddr,
    to: IpAddr,
    near: MacAddress,
    far: MacAddress,
    /// Whether the address that is asked for is a router's.
    is_of_router: bool,
    /// Whether a router answers in place of a host.
    is_proxy: bool,
}

impl<P: Profile> Capturing<'_, '_, P> {
    /// The ends of a frame on the link that `sender` sends on; none where nobody asks.
    pub(super) fn neighbour_ends(
        &self,
        sender: u32,
        packet: &Packet<PacketOf<P>>,
        carried: &NeighbourFrame,
    ) -> Option<NeighbourEnds> {
        let plan = self.sight.plan;
        let neighbours = plan.roce.neighbours.as_ref()?;
        let asks = carried.kind == NeighbourKind::Solicitation;
        let (from, to) =
            if asks { (carried.asker, carried.asked) } else { (carried.asked, carried.asker) };
        let macs = [packet.source, if asks { carried.asked } else { carried.asker }];
        let [near, far] = match &plan.roce.domains {
            Some(domains) => {
                let place = place_of_neighbour(domains, packet.source, carried)?;
                macs.map(|node| self.mac_in(node, domains.interface(node, place.segment)))
            }
            // A router at the link answers, for itself or in place of a host.
            None => {
                [sender, self.sight.ports[sender as usize].far.port].map(|port| self.port_mac(port))
            }
        };
        let address = |node: NodeId, is_near: bool| {
            neighbours.address(plan, (carried.asker, node), if is_near { near } else { far })
        };
        Some(NeighbourEnds {
            from: address(from, true),
            to: address(to, false),
            near,
            far,
            is_of_router: plan.topology.is_switch(carried.asked),
            is_proxy: packet.source != carried.asked,
        })
    }

    /// MAC address of a host, or of a router's interface that has the address of a port.
    fn mac_in(&self, node: NodeId, port: Option<u16>) -> MacAddress {
        if self.sight.plan.topology.is_host(node) {
            self.mac(node)
        } else {
            switch_port_mac(node, port.unwrap_or(u16::MAX))
        }
    }

    /// What is behind the Ethernet header.
    pub(super) fn neighbour_bytes(
        &self,
        ends: &NeighbourEnds,
        carried: &NeighbourFrame,
    ) -> Vec<u8> {
        let &NeighbourEnds { from, to, near, far, is_of_router, is_proxy } = ends;
        let asks = carried.kind == NeighbourKind::Solicitation;
        match (from, to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => Arp {
                operation: if asks { ArpOperation::REQUEST } else { ArpOperation::REPLY },
                sender_mac: near,
                sender: from,
                target_mac: if asks { MacAddress([0; 6]) } else { far },
                target: to,
            }
            .to_bytes()
            .to_vec(),
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let destination = if carried.to_all { solicited_node(to) } else { to };
                let message = if asks {
                    NeighbourMessage::solicitation(to, near)
                } else {
                    let told = NeighbourMessage::advertisement(from, near, is_of_router);
                    // RFC 4861, section 7.2.8: the host itself would be believed in place of a proxy.
                    let unless = if is_proxy { NeighbourMessage::OVERRIDE } else { 0 };
                    NeighbourMessage { flags: told.flags & !unless, ..told }
                };
                let header = Ipv6 {
                    payload_len: u16::try_from(NeighbourMessage::LEN).unwrap_or(u16::MAX),
                    next_header: PROTOCOL_ICMPV6,
                    hop_limit: HOP_LIMIT,
                    source: from,
                    destination,
                    dscp: self.sight.plan.markings.of(carried.marking).dscp(),
                    ecn: Ecn::NotEct,
                    flow_label: 0,
                };
                let message = message.with_checksum(from, destination);
                [&header.to_bytes()[..], &message.to_bytes()].concat()
            }
            _ => Vec::new(), // Both have the version of the plan.
        }
    }

    /// The frame around that.
    pub(super) fn neighbour_frame<'a>(
        &self,
        ends: &NeighbourEnds,
        carried: &NeighbourFrame,
        bytes: &'a [u8],
    ) -> Frame<'a> {
        let ether_type = if ends.to.is_ipv4() { EtherType::ARP } else { EtherType::IPV6 };
        let destination = match ends.to {
            IpAddr::V4(_) if carried.to_all => MacAddress::BROADCAST,
            IpAddr::V6(target) if carried.to_all => ipv6_group_mac(solicited_node(target)),
            _ => ends.far,
        };
        // Who asks is in the VLAN of the domain.
        let vlan = self.vlan_tag(carried.marking, carried.asker);
        let tag = if vlan.is_some() { VlanTag::LEN } else { 0 };
        let missing = (MIN_FRAME_LEN - CRC_LEN).saturating_sub(Ethernet::LEN + tag + bytes.len());
        Frame {
            ethernet: Ethernet { destination, source: ends.near, ether_type },
            vlan: [vlan, None],
            cn_tag: None,
            body: FrameBody::Other(bytes),
            padding: &ZEROS[..missing],
            fcs: None,
        }
    }
}
