//! Frames to bytes, at the ports that are captured and nowhere else. Files are made of them
//! [elsewhere](crate::simulation), for they have frames of all parts of a network.

mod infiniband;
mod notifications;
mod segments;

mod kept;
mod neighbours;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use rocelab_capture::Direction;
use rocelab_engine::EventKey;
use rocelab_fabric::{ControlFrame, DomainPlace, Domains, NodeId, PacketId};
use rocelab_transport::{AtomicOperands, Content, Packet as RdmaPacket, has_alternate_path};
use rocelab_wire::{
    Bth, BuildError, Cnp, Encapsulation, Extensions, Frame, ImmDt, MacAddress, Opcode, RoceFrame,
    TelemetryHeader, TelemetryKind, VlanTag, ZEROS, group_mac,
};

pub(in crate::network) use self::kept::Capture;
pub(crate) use self::kept::CapturedFrame;
use super::feature::{Arrival, Feature, Frames, Scene, SetUp, Sight, Verdict};
use super::forwarding::frame_of;
use super::notes::{Note, corrupt};
use super::owners::{Owner, Owners};
use super::packet::{Body, Packet, PacketOf};
use crate::address::switch_port_mac;
use crate::plan::Pings;
use crate::profile::roce::GSI_QPN;
use crate::profile::{HostPacket, Profile, Routing, StackFrame};
use crate::scenario::IpVersion;

impl<P: Profile> Feature<P> for Capture {
    /// None: captures [start](Capture::start) where somebody takes the frames.
    fn set_up(_: SetUp<'_, P>) -> Option<Box<Self>> {
        None
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        if scene.sight.ports[arrival.far.port as usize].rare.captured.is_some() {
            let link = (arrival.far.port, arrival.port);
            self.capture_frame(arrival.key, link, arrival.id, &scene, Direction::Inbound);
        }
        Verdict::Continue
    }
}

impl Capture {
    /// The plan's ports are captured from now on.
    pub(super) fn start<P: Profile>(
        network: &mut SetUp<'_, P>,
        owners: Option<Arc<Owners>>,
    ) -> Option<Box<Self>> {
        let plan = network.plan.capture.as_ref()?;
        network.side.notes.get_or_insert_default();
        for (index, &(node, number)) in (0u16..).zip(&plan.ports) {
            if network.layout.part.has(node) {
                let port = network.nodes[node as usize].first_port + u32::from(number);
                network.ports[port as usize].rare.captured = Some(index);
                network.ports[port as usize].departs_specially = true;
                let sender = network.ports[port as usize].far.port;
                network.ports[sender as usize].far.look_at_arrivals();
            }
        }
        Some(Box::new(Self {
            fcs: plan.fcs,
            frames: Vec::new(),
            latest: BTreeMap::new(),
            error: None,
            owners,
        }))
    }

    /// A port puts a frame on its link now.
    #[cold]
    pub(super) fn capture_sent<P: Profile>(
        &mut self,
        key: EventKey,
        port: u32,
        id: PacketId,
        scene: &Scene<'_, P>,
    ) {
        self.capture_frame(key, (port, port), id, scene, Direction::Outbound);
    }

    /// Captures a frame at a port, on the link that another port, or the same, sends on.
    fn capture_frame<P: Profile>(
        &mut self,
        key: EventKey,
        (port, sender): (u32, u32),
        id: PacketId,
        scene: &Scene<'_, P>,
        direction: Direction,
    ) {
        let state = &scene.sight.ports[port as usize];
        let Some(interface) = state.rare.captured else { return };
        let key = self.in_order(state.node, key);
        let owners = self.owners.clone();
        let view =
            Capturing { sight: &scene.sight, frames: &scene.frames, owners: owners.as_deref() };
        let packet = *scene.frames.get(id);
        match packet.body {
            Body::Control(control) => match (control.to_frame(view.port_mac(sender)), control) {
                (Some(frame), _) => self.keep(key, interface, direction, &frame),
                (None, ControlFrame::Credits(packet)) => {
                    self.keep_bytes(key, interface, direction, packet.to_bytes().to_vec());
                }
                (None, _) => {}
            },
            Body::Stack(StackFrame::Tcp(ref segment)) => {
                let bytes = view.segment_bytes(sender, id, &packet, segment);
                let ip = scene.sight.plan.tcp.as_ref().map_or(IpVersion::Ipv4, |tcp| tcp.ip);
                let frame =
                    view.stack_frame((sender, id), &packet, segment.priority(), (ip, &bytes));
                self.keep(key, interface, direction, &frame);
            }
            Body::Stack(StackFrame::Stream(ref carried)) => {
                let bytes = view.stream_bytes(sender, id, &packet, carried);
                let ip = scene.sight.plan.streams.ip;
                let frame = view.stack_frame((sender, id), &packet, carried.priority, (ip, &bytes));
                self.keep(key, interface, direction, &frame);
            }
            Body::Stack(StackFrame::Neighbour(ref carried)) => {
                let Some(ends) = view.neighbour_ends(sender, &packet, carried) else { return };
                let bytes = view.neighbour_bytes(&ends, carried);
                let frame = view.neighbour_frame(&ends, carried, &bytes);
                self.keep(key, interface, direction, &frame);
            }
            Body::Rdma(ref body) => {
                // Plans capture nothing where frames have no bytes.
                let Some(rdma) = body.as_rdma() else { return };
                if scene.sight.plan.infiniband.is_some() {
                    match view.infiniband_bytes(sender, id, &packet, rdma) {
                        Ok(bytes) => self.keep_bytes(key, interface, direction, bytes),
                        Err(error) => {
                            self.error.get_or_insert(error);
                        }
                    }
                    return;
                }
                let mut changed = Vec::new();
                match view.frame_of(sender, id, &packet, rdma, &mut changed) {
                    Ok(frame) => self.keep(key, interface, direction, &frame),
                    Err(error) => {
                        self.error.get_or_insert(io::Error::other(error));
                    }
                }
            }
        }
    }
}

/// What the bytes of a frame are made from.
#[derive(Debug)]
struct Capturing<'a, 'b, P: Profile> {
    sight: &'a Sight<'b, P>,
    frames: &'a Frames<'b, P>,
    owners: Option<&'a Owners>,
}

impl<P: Profile> Capturing<'_, '_, P> {
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
            let msdu = self.frames.side.notes.as_ref().map_or(&[][..], |notes| notes.sampled(id));
            return Ok(self.notification_frame(packet, rdma, cnm, msdu));
        }
        let telemetry = self.telemetry_of(id, rdma);
        let note = self.frames.side.notes.as_ref().map_or_else(Note::default, |notes| notes.of(id));
        let counted = self.frames.side.notes.as_ref().and_then(|notes| notes.hop_limit(id));
        let hop_limit = counted.unwrap_or_else(|| self.hop_limit(sender, packet));
        let mut frame = RoceFrame {
            identification: note.identification,
            ..self.roce_frame((sender, id), packet, rdma, telemetry, hop_limit)
        };
        if note.flooded {
            frame.destination = self.mac(packet.destination);
        }
        let mut frame = with_content(frame, rdma, self.frames.side.contents.of(id)).to_frame()?;
        if let Some(part) = note.corrupted {
            corrupt(&mut frame, part, changed);
        }
        Ok(Frame { cn_tag: self.cn_tag(packet, rdma), ..frame })
    }

    /// The telemetry that a packet carries as a header of its own.
    fn telemetry_of(&self, id: PacketId, rdma: &RdmaPacket) -> Option<TelemetryHeader> {
        self.frames.side.telemetry.as_ref()?.of(id, shown(rdma)).copied()
    }

    fn vlan_tag(&self, marking: u8, host: NodeId) -> Option<VlanTag> {
        let roce = &self.sight.plan.roce;
        let vlan = roce.vlans.get(host as usize).copied().unwrap_or(0);
        let pcp = self.sight.plan.markings.of(marking).pcp;
        roce.tagged.then(|| VlanTag::new(pcp, vlan))
    }

    /// The tag of a frame where it is now: with the VLAN of its host, or, where routers join VLANs, of its domain.
    fn vlan_tag_at(
        &self,
        marking: u8,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
    ) -> Option<VlanTag> {
        let tag = self.vlan_tag(marking, packet.source)?;
        let place = self.place_of(id, packet);
        Some(place.map_or(tag, |(_, place)| VlanTag::new(tag.pcp, place.vlan)))
    }

    /// Where a frame is among bridges and routers.
    fn place_of(
        &self,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
    ) -> Option<(&Domains, DomainPlace)> {
        let domains = self.sight.plan.roce.domains.as_ref()?;
        let frame = frame_of(self.sight.plan, self.frames, id, packet);
        Some((domains, domains.place(&frame)?))
    }

    /// The frame as it is on the link that `sender` sends on.
    fn roce_frame(
        &self,
        (sender, id): (u32, PacketId),
        packet: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
        telemetry: Option<TelemetryHeader>,
        hop_limit: u8,
    ) -> RoceFrame<'static> {
        let roce = &self.sight.plan.roce;
        let encapsulation = roce.encapsulation_of(packet.source);
        let (source, destination) = self.link_addresses((sender, id), packet);
        let group = self.sight.plan.sending(rdma.dest_qp(), packet.flow_hash);
        let group = group.map(|(group, _)| group.gid);
        let destination = group.map_or(destination, group_mac);
        let entropy = self.entropy(packet, rdma);
        let marking = self.sight.plan.markings.of(rdma.marking());
        // The GRH has a traffic class without an ECN field.
        let is_v1 = encapsulation == Encapsulation::V1;
        let ecn = if is_v1 { marking.low_bits() } else { rdma.ecn() };
        RoceFrame {
            destination,
            source,
            vlan: self.vlan_tag_at(rdma.marking(), id, packet),
            sgid: roce.gid_of(packet.source),
            dgid: group.unwrap_or_else(|| roce.gid_at_peer(packet.source, packet.destination)),
            dscp: marking.dscp(),
            ecn,
            flow_label: if encapsulation == Encapsulation::V1 { entropy } else { 0 },
            hop_limit,
            udp_source_port: (entropy & 0xffff) as u16,
            extensions: Extensions { telemetry, ..extensions(rdma) },
            payload: &ZEROS[..usize::from(rdma.payload_len())],
            ..RoceFrame::new(encapsulation, self.base_transport_header(packet, rdma))
        }
    }

    /// MAC addresses on one link. Layer 2 (v1) leaves them as they are from end to end; in v2 every
    /// switch is a router and puts in those of the two ports.
    fn link_addresses(
        &self,
        (sender, id): (u32, PacketId),
        packet: &Packet<PacketOf<P>>,
    ) -> (MacAddress, MacAddress) {
        if let Some((domains, place)) = self.place_of(id, packet) {
            let of_router = |router| {
                // The interfaces of a multilayer switch are in VLANs: they have an address of its own.
                let port = domains.interface(router, place.segment).unwrap_or(u16::MAX);
                switch_port_mac(router, port)
            };
            let source = place.sender.map_or_else(|| self.mac(packet.source), of_router);
            let is_host = self.sight.plan.topology.is_host(place.target);
            let target = place.target;
            let destination = if is_host { self.mac(target) } else { of_router(target) };
            return (source, destination);
        }
        match self.sight.plan.roce.encapsulation_of(packet.source) {
            Encapsulation::V1 => (self.mac(packet.source), self.mac(packet.destination)),
            _ => (self.port_mac(sender), self.port_mac(self.sight.ports[sender as usize].far.port)),
        }
    }

    /// MAC address of a host.
    fn mac(&self, host: NodeId) -> MacAddress {
        self.sight.plan.roce.addresses.mac(host)
    }

    fn port_mac(&self, port: u32) -> MacAddress {
        let port = &self.sight.ports[port as usize];
        if self.sight.plan.topology.is_host(port.node) {
            self.mac(port.node)
        } else {
            switch_port_mac(port.node, port.number)
        }
    }

    /// In v2 every router on the way so far has taken one off. Where nobody counts, routes are shortest paths, so what
    /// has been travelled is the whole way less what remains.
    fn hop_limit(&self, sender: u32, packet: &Packet<PacketOf<P>>) -> u8 {
        let initial = self.sight.plan.roce.hop_limit;
        if self.sight.plan.roce.encapsulation == Encapsulation::V1 {
            return initial;
        }
        let here = self.sight.ports[sender as usize].node;
        let destination = packet.destination;
        let routers =
            self.links_between(packet.source, destination) - self.links_between(here, destination);
        initial.saturating_sub(u8::try_from(routers).unwrap_or(u8::MAX))
    }

    /// Links on the way from a node to a host.
    fn links_between(&self, mut node: NodeId, host: NodeId) -> usize {
        let mut links = 0;
        while node != host {
            let number = if self.sight.plan.topology.is_host(node) {
                Some(0)
            } else {
                self.sight.routing.egress(node, node, host, 0)
            };
            let port = number.map(usize::from);
            let Some(next) =
                port.and_then(|port| self.sight.layout.adjacency.ports_of(node).get(port))
            else {
                break;
            };
            node = next.node;
            links += 1;
        }
        links
    }

    fn base_transport_header(&self, packet: &Packet<PacketOf<P>>, rdma: &RdmaPacket) -> Bth {
        let plan = self.sight.plan;
        let receiving = plan.receiving_queue_pair(rdma.dest_qp(), packet.flow_hash);
        let place = self
            .owners
            .and_then(|owners| owners.place(plan, packet.destination, receiving))
            .filter(|_| plan.roce.partitions.are_named());
        let p_key = match place {
            Some(place) => plan.p_key(place, packet.source),
            None => plan.roce.partitions.table(packet.source)[0],
        };
        base_transport_header(rdma, p_key, plan.infiniband.is_some())
    }

    /// UDP source port or flow label of a packet of the connection that ends at its destination's queue
    /// pair: of those that it may have, the one that the packet has the hash of.
    fn entropy(&self, packet: &Packet<PacketOf<P>>, rdma: &RdmaPacket) -> u32 {
        let qpn = rdma.dest_qp();
        if qpn == GSI_QPN {
            return self.sight.plan.roce.management_entropy();
        }
        let &Packet { source, destination, flow_hash, .. } = packet;
        let (plan, owners) = (self.sight.plan, self.owners);
        if let Some((_, first)) = plan.sending(qpn, flow_hash) {
            return first.entropy;
        }
        let (first, place) = match owners.and_then(|owners| owners.of_queue_pair(destination, qpn))
        {
            Some(Owner::Connection(number)) => {
                let connection = &plan.connections[number as usize];
                (connection.entropy, connection.queue_pairs)
            }
            Some(Owner::Flow(number)) => {
                let flow = &plan.flows[number as usize];
                (flow.entropy, flow.queue_pairs)
            }
            None => {
                let is_ping = Pings(plan).has(destination, qpn);
                let ping = rdma.immdt().filter(|_| is_ping);
                let entropy = |data: ImmDt| Pings(plan).entropy((source, destination), data.0);
                return ping.map_or(0, entropy);
            }
        };
        let alternate = plan.keys(place).alternate_path;
        let alternate = alternate.map(|path| plan.alternate_entropy(first, &path));
        let mut more = plan.entropies(first).skip(1).chain(alternate);
        more.find(|&entropy| plan.flow_hash(source, destination, entropy) == flow_hash)
            .unwrap_or(first)
    }
}

fn base_transport_header(rdma: &RdmaPacket, p_key: u16, is_infiniband: bool) -> Bth {
    let plain = Bth {
        opcode: rdma.opcode() as u8,
        solicited_event: rdma.solicited_event(),
        // Adapters set it on data and acknowledgements and leave it clear on CNPs.
        migreq: !rdma.opcode().is_congestion_notification() && !has_alternate_path(rdma),
        pad_count: rdma.pad_count(),
        transport_version: 0,
        p_key,
        fecn: rdma.fecn() || is_infiniband && rdma.is_ce(),
        becn: rdma.becn(),
        resv6: 0,
        dest_qp: rdma.dest_qp(),
        ack_req: rdma.ack_req(),
        resv7: 0,
        psn: rdma.psn(),
    };
    shown(rdma).map_or(plain, |kind| plain.with_telemetry(kind))
}

/// The telemetry that a frame shows.
fn shown(rdma: &RdmaPacket) -> Option<TelemetryKind> {
    let carries = |kind: &TelemetryKind| kind.len_in(rdma.opcode()) > 0;
    HostPacket::telemetry(rdma).filter(carries)
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
