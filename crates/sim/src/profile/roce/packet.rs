//! The packets of a NIC, as the network sees them.

use rocelab_transport::{Packet as RdmaPacket, QueuePairProfile, marked, marking_of};
use rocelab_wire::{Cnm, Ecn, Opcode, TelemetryKind, encapsulation_len};

use crate::Plan;
use crate::profile::HostPacket;
use crate::record::TrafficKind;

impl HostPacket for RdmaPacket {
    #[inline]
    fn priority(&self) -> u8 {
        Self::priority(self)
    }

    #[inline]
    fn marking(&self) -> u8 {
        marking_of(self)
    }

    fn deliver_to(&mut self, qpn: u32) {
        *self = self.with_dest_qp(qpn);
    }

    #[inline]
    fn kind(&self) -> TrafficKind {
        TrafficKind::of(self.opcode())
    }

    #[inline]
    fn is_markable(&self) -> bool {
        self.ecn().is_capable()
    }

    #[inline]
    fn mark(&mut self) {
        self.set_ce();
    }

    #[inline]
    fn is_marked(&self) -> bool {
        self.is_ce()
    }

    #[inline]
    fn fingerprint(&self) -> u64 {
        u64::from(self.dest_qp()) << 40
            ^ u64::from(self.psn()) << 16
            ^ u64::from(self.opcode() as u8) << 8
            ^ u64::from(self.is_ce())
    }

    #[inline]
    fn telemetry(&self) -> Option<TelemetryKind> {
        Self::telemetry(self)
    }

    #[inline]
    fn has_company(&self) -> bool {
        Self::has_company(self)
    }

    #[inline]
    fn has_content(&self) -> bool {
        Self::has_content(self)
    }

    fn congestion_notification(qpn: u32, priority: u8, cnm: &Cnm) -> Option<Self> {
        Some(Self::congestion_notification(qpn, cnm).with_class(priority, Ecn::NotEct))
    }

    /// As the receiver's NIC would make it.
    fn congestion_notification_packet(
        qpn: u32,
        plan: &Plan,
        profile: &QueuePairProfile,
    ) -> Option<(Self, u16)> {
        let ecn = if profile.ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        let cnp = Self::new(Opcode::Cnp, qpn, 0).with_becn(true);
        let cnp = marked(cnp.with_class(profile.cnp_priority, ecn), profile.cnp_marking);
        let beside = encapsulation_len(plan.roce.encapsulation, plan.roce.tagged);
        Some((cnp, cnp.frame_len(u16::try_from(beside).unwrap_or(u16::MAX))))
    }

    #[inline]
    fn as_rdma(&self) -> Option<&RdmaPacket> {
        Some(self)
    }
}
