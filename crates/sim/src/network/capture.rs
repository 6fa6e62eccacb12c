//! Frames to bytes, at the ports that are captured and nowhere else. Files are made of them
//! [elsewhere](crate::simulation), for they have frames of all parts of a network.

mod notifications;
mod segments;

mod kept;

use std::collections::BTreeMap;
use std::io;

use rocelab_capture::Direction;
use rocelab_engine::EventKey;
use rocelab_fabric::{NodeId, PacketId};
use rocelab_transport::{AtomicOperands, Content, Packet as RdmaPacket};
use rocelab_wire::{
    Bth, BuildError, Cnp, Encapsulation, Extensions, Frame, MacAddress, Opcode, RoceFrame,
    TelemetryHeader, VlanTag, ZEROS,
};

pub(in crate::network) use self::kept::Capture;
pub(crate) use self::kept::CapturedFrame;
use super::core::Network;
use super::notes::{Note, corrupt};
use super::owners::Owner;
use super::packet::{Body, Packet, PacketOf};
use crate::address::{host_gid, host_mac, switch_port_mac};
use crate::profile::roce::GSI_QPN;
use crate::profile::{HostPacket, Profile, Routing};

/// A network of which frames are captured.
#[derive(Debug)]
pub(crate) struct Capturing<'a, P: Profile>(pub(crate) &'a mut Network<P>);

impl<P: Profile> Capturing<'_, P> {
    /// Captures the plan's ports from now on.
    pub(crate) fn start_capture(&mut self) {
        let Some(plan) = self.0.plan.capture.clone() else { return };
        self.0.side.notes.get_or_insert_default();
        for (index, &(node, number)) in (0u16..).zip(&plan.ports) {
            if self.0.layout.part.has(node) {
                let port = self.0.nodes[node as usize].first_port + u32::from(number);
                self.0.ports[port as usize].rare.captured = Some(index);
                self.0.ports[port as usize].departs_specially = true;
                let sender = self.0.ports[port as usize].far.port;
                self.0.ports[sender as usize].far.look_at_arrivals();
            }
        }
        self.0.features.capture = Some(Capture {
            fcs: plan.fcs,
            frames: Vec::new(),
            latest: BTreeMap::new(),
            error: None,
        });
    }

    /// A port puts a frame on its link now.
    #[cold]
    pub(super) fn capture_sent(&mut self, key: EventKey, port: u32, id: PacketId) {
        self.capture_frame(key, port, port, id, Direction::Outbound);
    }

    /// The last bit of a frame has reached a port now.
    #[cold]
    pub(super) fn capture_received(&mut self, key: EventKey, port: u32, id: PacketId) {
        let sender = self.0.ports[port as usize].far.port;
        self.capture_frame(key, port, sender, id, Direction::Inbound);
    }

    fn capture_frame(
        &mut self,
        key: EventKey,
        port: u32,
        sender: u32,
        id: PacketId,
        direction: Direction,
    ) {
        let (Some(mut capture), Some(interface)) =
            (self.0.features.capture.take(), self.0.ports[port as usize].rare.captured)
        else {
            return;
        };
        let key = capture.in_order(self.0.ports[port as usize].node, key);
        let packet = *self.0.pool.get(id);
        match packet.body {
            Body::Pfc(pfc) => {
                let frame = pfc.to_frame(self.port_mac(sender));
                capture.keep(key, interface, direction, &frame);
            }
            Body::Tcp(ref segment) => {
                let bytes = self.segment_bytes(sender, id, &packet, segment);
                let frame = self.segment_frame(sender, &packet, segment, &bytes);
                capture.keep(key, interface, direction, &frame);
            }
            Body::Rdma(ref body) => {
                // Plans capture nothing where frames have no bytes.
                let Some(rdma) = body.as_rdma() else { return };
                let mut changed = Vec::new();
                match self.frame_of(sender, id, &packet, rdma, &mut changed) {
                    Ok(frame) => capture.keep(key, interface, direction, &frame),
                    Err(error) => {
                        capture.error.get_or_insert(io::Error::other(error));
                    }
                }
            }
        }
        self.0.features.capture = Some(capture);
    }

    /// The frame of a packet, on the link that `sender` sends on. A payload that was changed on its
    /// way is put into `changed`.
    fn frame_of<'a>(
        &'a self,
        sender: u32,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
        changed: &'a mut Vec<u8>,
    ) -> Result<Frame<'a>, BuildError> {
        if let Some(cnm) = rdma.cnm() {
            let msdu = self.0.side.notes.as_ref().map_or(&[][..], |notes| notes.sampled(id));
            return Ok(self.notification_frame(packet, rdma, cnm, msdu));
        }
        let telemetry = self.0.side.telemetry.as_ref();
        let carried = HostPacket::telemetry(rdma);
        let telemetry = telemetry.and_then(|all| all.of(id, carried).copied());
        let note = self.0.side.notes.as_ref().map_or_else(Note::default, |notes| notes.of(id));
        let counted = self.0.side.notes.as_ref().and_then(|notes| notes.hop_limit(id));
        let hop_limit = counted.unwrap_or_else(|| self.hop_limit(sender, packet));
        let mut frame = RoceFrame {
            identification: note.identification,
            ..self.roce_frame(sender, packet, rdma, telemetry, hop_limit)
        };
        if note.flooded {
            frame.destination = host_mac(packet.destination);
        }
        let mut frame = with_content(frame, rdma, self.0.side.contents.of(id)).to_frame()?;
        if let Some(part) = note.corrupted {
            corrupt(&mut frame, part, changed);
        }
        Ok(Frame { cn_tag: self.cn_tag(packet, rdma), ..frame })
    }

    fn vlan_tag(&self, priority: u8, host: NodeId) -> Option<VlanTag> {
        let roce = &self.0.plan.roce;
        let vlan = roce.vlans.get(host as usize).copied().unwrap_or(0);
        roce.tagged.then(|| VlanTag::new(priority, vlan))
    }

    /// The frame as it is on the link that `sender` sends on.
    fn roce_frame(
        &self,
        sender: u32,
        packet: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
        telemetry: Option<TelemetryHeader>,
        hop_limit: u8,
    ) -> RoceFrame<'static> {
        let roce = &self.0.plan.roce;
        let encapsulation = roce.encapsulation;
        let (source, destination) = self.link_addresses(sender, packet);
        let entropy = self.entropy(packet, rdma.dest_qp());
        RoceFrame {
            destination,
            source,
            vlan: self.vlan_tag(rdma.priority(), packet.source),
            sgid: host_gid(encapsulation, roce.gid, packet.source),
            dgid: host_gid(encapsulation, roce.gid, packet.destination),
            dscp: rdma.priority() << 3,
            ecn: rdma.ecn(),
            flow_label: if encapsulation == Encapsulation::V1 { entropy } else { 0 },
            hop_limit,
            udp_source_port: (entropy & 0xffff) as u16,
            extensions: Extensions { telemetry, ..extensions(rdma) },
            payload: &ZEROS[..usize::from(rdma.payload_len())],
            ..RoceFrame::new(encapsulation, base_transport_header(rdma))
        }
    }

    /// MAC addresses on one link. Layer 2 (v1) leaves them as they are from end to end; in v2 every
    /// switch is a router and puts in those of the two ports.
    fn link_addresses(
        &self,
        sender: u32,
        packet: &Packet<PacketOf<P>>,
    ) -> (MacAddress, MacAddress) {
        match self.0.plan.roce.encapsulation {
            Encapsulation::V1 => (host_mac(packet.source), host_mac(packet.destination)),
            _ => (self.port_mac(sender), self.port_mac(self.0.ports[sender as usize].far.port)),
        }
    }

    fn port_mac(&self, port: u32) -> MacAddress {
        let port = &self.0.ports[port as usize];
        if self.0.plan.topology.is_host(port.node) {
            host_mac(port.node)
        } else {
            switch_port_mac(port.node, port.number)
        }
    }

    /// In v2 every router on the way so far has taken one off. Where nobody counts, routes are shortest paths, so what
    /// has been travelled is the whole way less what remains.
    fn hop_limit(&self, sender: u32, packet: &Packet<PacketOf<P>>) -> u8 {
        let initial = self.0.plan.roce.hop_limit;
        if self.0.plan.roce.encapsulation == Encapsulation::V1 {
            return initial;
        }
        let here = self.0.ports[sender as usize].node;
        let destination = packet.destination;
        let routers =
            self.links_between(packet.source, destination) - self.links_between(here, destination);
        initial.saturating_sub(u8::try_from(routers).unwrap_or(u8::MAX))
    }

    /// Links on the way from a node to a host.
    fn links_between(&self, mut node: NodeId, host: NodeId) -> usize {
        let mut links = 0;
        while node != host {
            let number = if self.0.plan.topology.is_host(node) {
                Some(0)
            } else {
                self.0.routing.egress(node, node, host, 0)
            };
            let port = number.map(usize::from);
            let Some(next) = port.and_then(|port| self.0.layout.adjacency.ports_of(node).get(port))
            else {
                break;
            };
            node = next.node;
            links += 1;
        }
        links
    }

    /// UDP source port or flow label of a packet of the connection that ends at its destination's queue
    /// pair: of those that it may have, the one that the packet has the hash of.
    fn entropy(&self, packet: &Packet<PacketOf<P>>, qpn: u32) -> u32 {
        if qpn == GSI_QPN {
            return self.0.plan.roce.management_entropy();
        }
        let &Packet { source, destination, flow_hash, .. } = packet;
        let (plan, owners) = (&self.0.plan, self.0.features.owners.as_ref());
        let first = match owners.and_then(|owners| owners.of_queue_pair(destination, qpn)) {
            Some(Owner::Connection(number)) => plan.connections[number as usize].entropy,
            Some(Owner::Flow(number)) => plan.flows[number as usize].entropy,
            None => return 0,
        };
        let mut more = plan.entropies(first).skip(1);
        more.find(|&entropy| plan.flow_hash(source, destination, entropy) == flow_hash)
            .unwrap_or(first)
    }
}

fn base_transport_header(rdma: &RdmaPacket) -> Bth {
    let plain = Bth {
        opcode: rdma.opcode() as u8,
        solicited_event: rdma.solicited_event(),
        // Adapters set it on data and acknowledgements and leave it clear on CNPs.
        migreq: rdma.opcode() != Opcode::Cnp,
        pad_count: rdma.pad_count(),
        transport_version: 0,
        p_key: 0xffff,
        fecn: rdma.fecn(),
        becn: rdma.becn(),
        resv6: 0,
        dest_qp: rdma.dest_qp(),
        ack_req: rdma.ack_req(),
        resv7: 0,
        psn: rdma.psn(),
    };
    rdma.telemetry().map_or(plain, |kind| plain.with_telemetry(kind))
}

/// The extension headers; of an atomic operation without its operands.
fn extensions(rdma: &RdmaPacket) -> Extensions {
    Extensions {
        deth: rdma.deth(),
        reth: rdma.reth(),
        atomic_eth: rdma.atomic_eth(AtomicOperands::default()),
        aeth: rdma.aeth(),
        sack: rdma.sack(),
        atomic_ack_eth: rdma.atomic_ack_eth(),
        imm_dt: rdma.immdt(),
        ieth: rdma.ieth(),
        cnp: (rdma.opcode() == Opcode::Cnp).then(Cnp::default),
        ..Extensions::NONE
    }
}

/// The frame with what the packet carries beyond its header words. Payload without bytes is zeros.
fn with_content<'a>(
    frame: RoceFrame<'a>,
    rdma: &RdmaPacket,
    content: Option<&'a Content>,
) -> RoceFrame<'a> {
    match content {
        None => frame,
        Some(Content::Payload(payload)) => RoceFrame { payload, ..frame },
        Some(&Content::Operands(operands)) => {
            let atomic_eth = rdma.atomic_eth(operands);
            RoceFrame { extensions: Extensions { atomic_eth, ..frame.extensions }, ..frame }
        }
    }
}
