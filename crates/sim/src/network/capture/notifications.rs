//! Notifications of congestion in captures: what they say of the frame that was sampled is kept
//! beside them.

use rocelab_fabric::PacketId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_wire::{
    Body as FrameBody, CnTag, Cnm, EtherType, Ethernet, Frame, MacAddress, VlanTag,
};

use super::Capturing;
use crate::address::host_mac;
use crate::network::packet::{Body, Packet, PacketOf};
use crate::profile::{HostPacket, Profile};

impl<P: Profile> Capturing<'_, P> {
    /// In runs with captures: keeps the first bytes of a sampled frame's MSDU for the notification
    /// about it.
    pub(in crate::network) fn note_sampled(
        &mut self,
        port: u32,
        sampled: PacketId,
        notification: PacketId,
        msdu_len: u16,
    ) {
        if self.0.features.capture.is_none() {
            return;
        }
        let packet = *self.0.pool.get(sampled);
        let Body::Rdma(body) = packet.body else { return };
        let Some(rdma) = body.as_rdma() else { return };
        let mut changed = Vec::new();
        let Ok(frame) = self.frame_of(port, sampled, &packet, rdma, &mut changed) else { return };
        let mut bytes = vec![0; frame.wire_len()];
        if frame.emit(&mut bytes).is_err() {
            return;
        }
        let start = bytes.len().min(Ethernet::LEN + self.tags_len());
        let end = bytes.len().min(start + usize::from(msdu_len));
        if let Some(notes) = &mut self.0.side.notes {
            notes.put_sampled(notification, bytes[start..end].into());
        }
    }

    /// The frame of a notification.
    pub(super) fn notification_frame<'a>(
        &self,
        packet: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
        cnm: Cnm,
        msdu: &'a [u8],
    ) -> Frame<'a> {
        let [a, b, c, d, e, f, ..] = cnm.cpid.to_be_bytes();
        let [.., high, low] = rdma.dest_qp().to_be_bytes();
        Frame {
            ethernet: Ethernet {
                destination: host_mac(packet.destination),
                source: MacAddress([a, b, c, d, e, f]),
                ether_type: EtherType::CNM,
            },
            vlan: [self.vlan_tag(rdma.priority(), packet.destination), None],
            cn_tag: Some(CnTag { flow_id: u16::from_be_bytes([high, low]) }),
            body: FrameBody::Cnm {
                cnm: Cnm { encapsulated_destination: host_mac(packet.source), ..cnm },
                msdu,
            },
            padding: &[],
            fcs: None,
        }
    }

    /// The CN-TAG of a data packet's frame, if it has one.
    pub(super) fn cn_tag(&self, packet: &Packet<PacketOf<P>>, rdma: &RdmaPacket) -> Option<CnTag> {
        let (ends, owners) =
            ((packet.source, packet.destination), self.0.features.owners.as_ref()?);
        let qpn = owners.sending_queue_pair(&self.0.plan, ends, rdma.dest_qp());
        let qpn = qpn.filter(|_| rdma.has_cn_tag())?;
        let [.., high, low] = qpn.to_be_bytes();
        Some(CnTag { flow_id: u16::from_be_bytes([high, low]) })
    }

    fn tags_len(&self) -> usize {
        CnTag::LEN + if self.0.plan.roce.tagged { VlanTag::LEN } else { 0 }
    }
}
