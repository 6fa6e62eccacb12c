//! Frames to bytes, at the ports that are captured and nowhere else.

mod notifications;
mod segments;

use std::io;
use std::path::Path;

use rocelab_capture::{CaptureWriter, Direction, Format, Interface};
use rocelab_fabric::{NodeId, PacketId, Serialisation};
use rocelab_transport::{AtomicOperands, Content, Packet as RdmaPacket};
use rocelab_units::SimTime;
use rocelab_wire::{
    Bth, BuildError, Cnp, Encapsulation, Extensions, Frame, MacAddress, Opcode, RoceFrame,
    TelemetryHeader, VlanTag, ZEROS,
};

use super::notes::{Note, corrupt};
use super::packet::{Body, Packet};
use super::{Network, PacketOf, Role};
use crate::address::{host_gid, host_mac, switch_port_mac};
use crate::profile::roce::GSI_QPN;
use crate::profile::{EndHost, HostPacket, Profile, Routing};
use crate::{CaptureFormat, CapturePlan};

/// The capture files of a run.
#[derive(Debug)]
pub(super) struct Capture {
    /// One for all ports (pcapng), or one a port (pcap).
    writers: Vec<CaptureWriter>,
    fcs: bool,
    one_file_a_port: bool,
    buffer: Vec<u8>,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl Capture {
    fn create(folder: &Path, plan: &CapturePlan, interfaces: Vec<Interface>) -> io::Result<Self> {
        let one_file_a_port = plan.format == CaptureFormat::Pcap;
        let writers = if one_file_a_port {
            interfaces
                .into_iter()
                .map(|interface| {
                    let name = interface.name.replace(':', "-port-");
                    let path = folder.join(format!("capture-{name}.pcap"));
                    CaptureWriter::create(Format::Pcap, path, &[interface])
                })
                .collect::<io::Result<_>>()?
        } else {
            let path = folder.join("capture.pcapng");
            vec![CaptureWriter::create(Format::PcapNg, path, &interfaces)?]
        };
        Ok(Self { writers, fcs: plan.fcs, one_file_a_port, buffer: Vec::new(), error: None })
    }

    fn write(&mut self, interface: u16, time: SimTime, direction: Direction, frame: &Frame<'_>) {
        if self.error.is_some() {
            return;
        }
        let frame = if self.fcs { frame.with_fcs() } else { *frame };
        self.buffer.resize(frame.wire_len(), 0);
        let written = frame.emit(&mut self.buffer).map_err(io::Error::other).and_then(|len| {
            let (writer, interface) = if self.one_file_a_port {
                (usize::from(interface), 0)
            } else {
                (0, usize::from(interface))
            };
            let original_len = u32::try_from(len).map_err(io::Error::other)?;
            let bytes = &self.buffer[..len];
            self.writers[writer].write_frame(interface, time, direction, bytes, original_len)
        });
        self.error = written.err();
    }
}

impl<P: Profile> Network<P> {
    /// Starts capturing the plan's ports into files in `folder`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn start_capture(&mut self, folder: &Path) -> io::Result<()> {
        let Some(plan) = self.plan.capture.clone() else { return Ok(()) };
        self.notes.get_or_insert_default();
        let mut interfaces = Vec::with_capacity(plan.ports.len());
        for (index, &(node, number)) in (0u16..).zip(&plan.ports) {
            let port = self.nodes[node as usize].first_port + u32::from(number);
            self.ports[port as usize].captured = Some(index);
            let sender = self.ports[port as usize].far.port;
            self.ports[sender as usize].far.special = true;
            interfaces.push(self.interface(&plan, port));
        }
        self.capture = Some(Capture::create(folder, &plan, interfaces)?);
        Ok(())
    }

    /// Writes out what is buffered and closes the files.
    ///
    /// # Errors
    /// The first thing that went wrong since the start.
    pub fn finish_capture(&mut self) -> io::Result<()> {
        let Some(capture) = self.capture.take() else { return Ok(()) };
        if let Some(error) = capture.error {
            return Err(error);
        }
        capture.writers.into_iter().try_for_each(|writer| writer.finish().map(drop))
    }

    /// Whether writing a capture has failed.
    pub fn capture_failed(&self) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.error.is_some())
    }

    /// A port puts a frame on its link at `now`.
    #[cold]
    pub(super) fn capture_sent(&mut self, now: SimTime, port: u32, id: PacketId) {
        self.capture_frame(now, port, port, id, Direction::Outbound);
    }

    /// The last bit of a frame has reached a port at `now`.
    #[cold]
    pub(super) fn capture_received(&mut self, now: SimTime, port: u32, id: PacketId) {
        let sender = self.ports[port as usize].far.port;
        self.capture_frame(now, port, sender, id, Direction::Inbound);
    }

    fn capture_frame(
        &mut self,
        now: SimTime,
        port: u32,
        sender: u32,
        id: PacketId,
        direction: Direction,
    ) {
        let (Some(mut capture), Some(interface)) =
            (self.capture.take(), self.ports[port as usize].captured)
        else {
            return;
        };
        let packet = *self.pool.get(id);
        match packet.body {
            Body::Pfc(pfc) => {
                let frame = pfc.to_frame(self.port_mac(sender));
                capture.write(interface, now, direction, &frame);
            }
            Body::Tcp(ref segment) => {
                let bytes = self.segment_bytes(sender, id, &packet, segment);
                let frame = self.segment_frame(sender, &packet, segment, &bytes);
                capture.write(interface, now, direction, &frame);
            }
            Body::Rdma(ref body) => {
                // Plans capture nothing where frames have no bytes.
                let Some(rdma) = body.as_rdma() else { return };
                let mut changed = Vec::new();
                match self.frame_of(sender, id, &packet, rdma, &mut changed) {
                    Ok(frame) => capture.write(interface, now, direction, &frame),
                    Err(error) => {
                        capture.error.get_or_insert(io::Error::other(error));
                    }
                }
            }
        }
        self.totals.frames_captured += 1;
        self.capture = Some(capture);
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
            let msdu = self.notes.as_ref().map_or(&[][..], |notes| notes.sampled(id));
            return Ok(self.notification_frame(packet, rdma, cnm, msdu));
        }
        let telemetry = self.telemetry.as_ref();
        let carried = HostPacket::telemetry(rdma);
        let telemetry = telemetry.and_then(|all| all.of(id, carried).to_header());
        let note = self.notes.as_ref().map_or_else(Note::default, |notes| notes.of(id));
        let counted = self.notes.as_ref().and_then(|notes| notes.hop_limit(id));
        let hop_limit = counted.unwrap_or_else(|| self.hop_limit(sender, packet));
        let mut frame = RoceFrame {
            identification: note.identification,
            ..self.roce_frame(sender, packet, rdma, telemetry, hop_limit)
        };
        if note.flooded {
            frame.destination = host_mac(packet.destination);
        }
        let mut frame = with_content(frame, rdma, self.contents.of(id)).to_frame()?;
        if let Some(part) = note.corrupted {
            corrupt(&mut frame, part, changed);
        }
        Ok(Frame { cn_tag: self.cn_tag(packet, rdma), ..frame })
    }

    fn vlan_tag(&self, priority: u8, host: NodeId) -> Option<VlanTag> {
        let roce = &self.plan.roce;
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
        let roce = &self.plan.roce;
        let encapsulation = roce.encapsulation;
        let (source, destination) = self.link_addresses(sender, packet);
        let entropy = self.entropy(packet.destination, rdma.dest_qp());
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
        match self.plan.roce.encapsulation {
            Encapsulation::V1 => (host_mac(packet.source), host_mac(packet.destination)),
            _ => (self.port_mac(sender), self.port_mac(self.ports[sender as usize].far.port)),
        }
    }

    fn port_mac(&self, port: u32) -> MacAddress {
        let port = &self.ports[port as usize];
        match self.nodes[port.node as usize].role {
            Role::Host(_) => host_mac(port.node),
            Role::Switch(_) => switch_port_mac(port.node, port.number),
        }
    }

    /// In v2 every router on the way so far has taken one off. Where nobody counts, routes are shortest paths, so what
    /// has been travelled is the whole way less what remains.
    fn hop_limit(&self, sender: u32, packet: &Packet<PacketOf<P>>) -> u8 {
        let initial = self.plan.roce.hop_limit;
        if self.plan.roce.encapsulation == Encapsulation::V1 {
            return initial;
        }
        let here = self.ports[sender as usize].node;
        let destination = packet.destination;
        let routers =
            self.links_between(packet.source, destination) - self.links_between(here, destination);
        initial.saturating_sub(u8::try_from(routers).unwrap_or(u8::MAX))
    }

    /// Links on the way from a node to a host.
    fn links_between(&self, mut node: NodeId, host: NodeId) -> usize {
        let mut links = 0;
        while node != host {
            let number = match self.nodes[node as usize].role {
                Role::Host(_) => Some(0),
                Role::Switch(_) => self.routing.egress(node, node, host, 0),
            };
            let Some(number) = number else { break };
            let port = self.nodes[node as usize].first_port + u32::from(number);
            let far = self.ports[port as usize].far.port;
            node = self.ports[far as usize].node;
            links += 1;
        }
        links
    }

    /// UDP source port or flow label of the connection that ends at a host's queue pair.
    fn entropy(&self, destination: NodeId, qpn: u32) -> u32 {
        let Role::Host(host) = self.nodes[destination as usize].role else { return 0 };
        if qpn == GSI_QPN {
            return self.plan.roce.management_entropy();
        }
        let end_host = &self.hosts[host as usize].end_host;
        if let Some(connection) = end_host.connection_of(qpn) {
            return self.plan.connections[connection as usize].entropy;
        }
        let flow = end_host.flow_of(qpn);
        flow.map_or(0, |flow| self.plan.flows[flow as usize].entropy)
    }

    fn interface(&self, plan: &CapturePlan, port: u32) -> Interface {
        let state = &self.ports[port as usize];
        let peer = &self.ports[state.far.port as usize];
        let name = |node: NodeId| &self.plan.topology.nodes[node as usize].name;
        Interface {
            name: match self.nodes[state.node as usize].role {
                Role::Host(_) => name(state.node).clone(),
                Role::Switch(_) => format!("{}:{}", name(state.node), state.number),
            },
            description: format!("to {}:{}", name(peer.node), peer.number),
            speed: state.port.link().rate(),
            fcs: plan.fcs,
            snap_length: plan.snap_length,
        }
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
