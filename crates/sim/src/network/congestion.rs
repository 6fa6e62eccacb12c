//! Congestion notification messages: what a congestion point says about a frame that it sampled
//! goes back to the host that sent the frame, as a frame like any other.

use std::sync::Arc;

use rocelab_engine::EventKey;
use rocelab_fabric::{CongestionSample, PacketId};
use rocelab_transport::Packet as RdmaPacket;
use rocelab_wire::{CRC_LEN, CnTag, Cnm, Ethernet, VlanTag};

use super::feature::Scene;
use super::own_frames::Emitting;
use super::owners::Owners;
use super::packet::{Body, Packet, PacketOf};
use crate::address::switch_port_mac;
use crate::profile::{HostPacket, Marking, Profile};

impl<P: Profile> Emitting<'_, P> {
    /// The frame `id`, which joins a queue of the switch's port `egress`, was sampled and the queue
    /// is congested: its sender is notified, if the frame has a CN-TAG and is no notification.
    #[cold]
    pub(super) fn notify_congestion(
        &mut self,
        key: EventKey,
        switch: u32,
        egress: u32,
        id: PacketId,
    ) {
        let marking = self.0.ports[egress as usize].marking.as_mut();
        let Some(sample) = marking.and_then(|marking| marking.take_sample()) else { return };
        let sampled = *self.0.pool.get(id);
        let Body::Rdma(body) = sampled.body else { return };
        let Some(rdma) = body.as_rdma().filter(|rdma| rdma.has_cn_tag() && rdma.cnm().is_none())
        else {
            return;
        };
        let (ends, owners) =
            ((sampled.source, sampled.destination), self.0.features.owners.as_ref());
        let sender =
            |owners: &Arc<Owners>| owners.sending_queue_pair(&self.0.plan, ends, rdma.dest_qp());
        let Some(qpn) = owners.and_then(sender) else { return };
        let cnm = self.message(egress, &sampled, rdma, &sample);
        let node = self.0.switches[switch as usize].node;
        let priority = self.0.plan.cnm_priority(node, self.0.ports[egress as usize].number);
        let Some(message) = PacketOf::<P>::congestion_notification(qpn, priority, &cnm) else {
            return;
        };
        let len = self.notification_len(cnm.encapsulated_msdu_len);
        let mut packet = Packet::new(sampled.destination, sampled.source, len, Body::Rdma(message));
        packet.flow_hash = sampled.flow_hash;
        let notification = self.make(packet);
        self.0.course.totals.notifications.cnms += 1;
        let (features, mut scene) = self.0.scene();
        if let Some(capture) = &features.capture {
            let (Scene { sight, frames, .. }, pair) = (&mut scene, (id, notification));
            capture.note_sampled(sight, frames, (egress, pair), cnm.encapsulated_msdu_len);
        }
        self.send(key, switch, egress, notification);
    }

    /// What the congestion point says.
    fn message(
        &self,
        congested: u32,
        sampled: &Packet<PacketOf<P>>,
        rdma: &RdmaPacket,
        sample: &CongestionSample,
    ) -> Cnm {
        let port = &self.0.ports[congested as usize];
        let (q_offset, q_delta) = sample.in_units();
        let beside = self.layer2_len() + CRC_LEN;
        let msdu_len = usize::from(sampled.frame_len).saturating_sub(beside);
        let [low, high, ..] = msdu_len.min(Cnm::MAX_MSDU_LEN).to_le_bytes();
        Cnm {
            quantized_feedback: sample.feedback,
            cpid: congestion_point_id(port.node, port.number, rdma.priority()),
            q_offset,
            q_delta,
            encapsulated_priority: rdma.priority(),
            encapsulated_msdu_len: u16::from_le_bytes([low, high]),
            ..Cnm::default()
        }
    }

    /// Bytes of addresses, tags and EtherType of a frame with a CN-TAG.
    fn layer2_len(&self) -> usize {
        let vlan = if self.0.plan.roce.tagged { VlanTag::LEN } else { 0 };
        Ethernet::LEN + vlan + CnTag::LEN
    }

    /// Bytes of a notification's frame, FCS included.
    fn notification_len(&self, msdu_len: u16) -> u16 {
        let fixed = self.layer2_len() + Cnm::LEN + CRC_LEN;
        u16::try_from(fixed).unwrap_or(u16::MAX).saturating_add(msdu_len)
    }
}

/// The identifier of a congestion point: the MAC address of its port, and its priority.
pub(super) fn congestion_point_id(node: u32, port: u16, priority: u8) -> u64 {
    let [a, b, c, d, e, f] = switch_port_mac(node, port).0;
    u64::from_be_bytes([a, b, c, d, e, f, 0, priority])
}
