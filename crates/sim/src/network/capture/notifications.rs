//! Notifications of congestion in captures: what they say of the frame that was sampled is kept
//! beside them.

use rocelab_fabric::PacketId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_wire::{
    Body as FrameBody, CnTag, Cnm, EtherType, Ethernet, Frame, MacAddress, VlanTag,
};

use super::{Capture, Capturing};
use crate::network::feature::{Frames, Sight};
use crate::network::packet::{Body, Packet, PacketOf};
use crate::profile::{HostPacket, Profile};

impl Capture {
    /// Keeps the first bytes of a sampled frame's MSDU for the notification about it.
    pub(in crate::network) fn note_sampled<P: Profile>(
        &self,
        sight: &Sight<'_, P>,
        frames: &mut Frames<'_, P>,
        (port, (sampled, notification)): (u32, (PacketId, PacketId)),
        msdu_len: u16,
    ) {
        let packet = *frames.get(sampled);
        let Body::Rdma(body) = packet.body else { return };
        let Some(rdma) = body.as_rdma() else { return };
        let view = Capturing { sight, frames: &*frames, owners: self.owners.as_deref() };
        let mut changed = Vec::new();
        let Ok(frame) = view.frame_of(port, sampled, &packet, rdma, &mut changed) else { return };
        let mut bytes = vec![0; frame.wire_len()];
        if frame.emit(&mut bytes).is_err() {
            return;
        }
        let start = bytes.len().min(Ethernet::LEN + view.tags_len());
        let end = bytes.len().min(start + usize::from(msdu_len));
        if let Some(notes) = &mut frames.side.notes {
            notes.put_sampled(notification, bytes[start..end].into());
        }
    }
}

impl<P: Profile> Capturing<'_, '_, P> {
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
                destination: self.mac(packet.destination),
                source: MacAddress([a, b, c, d, e, f]),
                ether_type: EtherType::CNM,
            },
            vlan: [self.vlan_tag(rdma.marking(), packet.destination), None],
            cn_tag: Some(CnTag { flow_id: u16::from_be_bytes([high, low]) }),
            body: FrameBody::Cnm {
                cnm: Cnm { encapsulated_destination: self.mac(packet.source), ..cnm },
                msdu,
            },
            padding: &[],
            fcs: None,
        }
    }

    /// The CN-TAG of a data packet's frame, if it has one.
    pub(super) fn cn_tag(&self, packet: &Packet<PacketOf<P>>, rdma: &RdmaPacket) -> Option<CnTag> {
        let (ends, owners) = ((packet.source, packet.destination), self.owners?);
        let qpn = owners.sending_queue_pair(self.sight.plan, ends, rdma.dest_qp());
        let qpn = qpn.filter(|_| rdma.has_cn_tag())?;
        let [.., high, low] = qpn.to_be_bytes();
        Some(CnTag { flow_id: u16::from_be_bytes([high, low]) })
    }

    fn tags_len(&self) -> usize {
        CnTag::LEN + if self.sight.plan.roce.tagged { VlanTag::LEN } else { 0 }
    }
}
