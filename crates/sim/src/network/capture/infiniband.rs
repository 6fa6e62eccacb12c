//! Packets of InfiniBand as bytes.

use std::io;

use rocelab_fabric::PacketId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_wire::{InfiniBandPacket, Lrh};

use super::{Capturing, with_content};
use crate::network::packet::{Packet, PacketOf};
use crate::profile::Profile;

impl<P: Profile> Capturing<'_, '_, P> {
    /// The packet from LRH to VCRC, on the link that `sender` sends on. Of one that was changed on its way the VCRC is
    /// wrong.
    pub(super) fn infiniband_bytes(
        &self,
        sender: u32,
        id: PacketId,
        packet: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
    ) -> io::Result<Vec<u8>> {
        let plan = self.sight.plan;
        let routed = plan.infiniband.as_ref().map(|own| &own.routed);
        let lid_of = |node| routed?.lid_of_path(node, packet.flow_hash);
        let lid = |node| lid_of(node).unwrap_or(0);
        let level = rdma.priority();
        let lrh = Lrh {
            vl: plan.lane_of(level),
            sl: level,
            dlid: lid(packet.destination),
            slid: lid(packet.source),
            ..Lrh::default()
        };
        let telemetry = self.telemetry_of(id, rdma);
        let frame = self.roce_frame((sender, id), packet, rdma, telemetry, 0);
        let frame = with_content(frame, rdma, self.frames.side.contents.of(id));
        let built = InfiniBandPacket::build(lrh, None, frame.bth, frame.extensions, frame.payload);
        let mut built = built.map_err(io::Error::other)?.with_vcrc();
        let note = self.frames.side.notes.as_ref().and_then(|notes| notes.of(id).corrupted);
        if note.is_some() {
            built.vcrc = built.vcrc.map(|vcrc| vcrc ^ 1);
        }
        let mut bytes = vec![0; built.wire_len()];
        let len = built.emit(&mut bytes).map_err(io::Error::other)?;
        bytes.truncate(len);
        Ok(bytes)
    }
}
