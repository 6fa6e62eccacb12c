//! The rules of native InfiniBand that hold for the headers of one packet together.

use core::fmt;

use crate::cm::MAD_LEN;
use crate::{InfiniBandPacket, LidKind, Lrh, Opcode, TransportPacket};

/// A rule for the local route header that a packet breaks: each field may be right by itself, but the
/// headers do not fit each other (IBTA 4.1.3, 7.6, 7.7, 13.5.3, 14.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LocalRouteRule {
    /// The link version must be 0.
    LinkVersion,
    /// The destination must not be LID 0.
    ReservedDestination,
    /// The source must be a unicast LID, or the permissive one on the lane of subnet management.
    Source,
    /// Only subnet management may send to the permissive LID.
    PermissiveDestination,
    /// A packet of the InfiniBand transport to a multicast LID must have a GRH.
    MulticastWithoutGrh,
    /// Only unreliable datagrams may go to a multicast LID.
    MulticastService,
    /// The lane of subnet management carries only its management datagrams: unreliable datagrams of
    /// 256 bytes without GRH to queue pair 0.
    ManagementLane,
    /// Queue pair 0, that of subnet management, must be reached on its lane.
    ManagementQueuePair,
}

/// The queue pair of subnet management.
const SMI_QPN: u32 = 0;

impl LocalRouteRule {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::LinkVersion,
        Self::ReservedDestination,
        Self::Source,
        Self::PermissiveDestination,
        Self::MulticastWithoutGrh,
        Self::MulticastService,
        Self::ManagementLane,
        Self::ManagementQueuePair,
    ];

    /// Whether the packet keeps the rule.
    #[must_use]
    pub fn holds_for(self, packet: &InfiniBandPacket<'_>) -> bool {
        let Lrh { vl, lver, dlid, slid, .. } = packet.lrh;
        let is_management = vl == Lrh::MANAGEMENT_VL;
        let transport = packet.transport();
        let is_multicast = LidKind::of(dlid) == LidKind::Multicast;
        match self {
            Self::LinkVersion => lver == 0,
            Self::ReservedDestination => LidKind::of(dlid) != LidKind::Reserved,
            Self::Source => match LidKind::of(slid) {
                LidKind::Unicast => true,
                LidKind::Permissive => is_management,
                LidKind::Reserved | LidKind::Multicast => false,
            },
            Self::PermissiveDestination => {
                LidKind::of(dlid) != LidKind::Permissive || is_management
            }
            Self::MulticastWithoutGrh => {
                !is_multicast || transport.is_none() || packet.grh().is_some()
            }
            Self::MulticastService => !is_multicast || transport.is_none_or(is_datagram),
            Self::ManagementLane => {
                !is_management
                    || packet.grh().is_none() && transport.is_some_and(is_subnet_management)
            }
            Self::ManagementQueuePair => {
                is_management
                    || transport
                        .is_none_or(|packet| !is_datagram(packet) || packet.bth.dest_qp != SMI_QPN)
            }
        }
    }
}

fn is_datagram(packet: &TransportPacket<'_>) -> bool {
    matches!(packet.bth.opcode(), Some(Opcode::UdSendOnly | Opcode::UdSendOnlyWithImmediate))
}

fn is_subnet_management(packet: &TransportPacket<'_>) -> bool {
    packet.bth.opcode() == Some(Opcode::UdSendOnly)
        && packet.bth.dest_qp == SMI_QPN
        && packet.payload.len() == MAD_LEN
}

impl fmt::Display for LocalRouteRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LinkVersion => "the link version is not 0",
            Self::ReservedDestination => "the DLID is 0, which is reserved",
            Self::Source => "the SLID is no unicast LID",
            Self::PermissiveDestination => "the DLID is permissive, but this is no VL 15",
            Self::MulticastWithoutGrh => "the DLID is multicast, but there is no GRH",
            Self::MulticastService => "the DLID is multicast, but this is no UD packet",
            Self::ManagementLane => {
                "VL 15 carries only UD_SEND_ONLY of 256 bytes to queue pair 0, without GRH"
            }
            Self::ManagementQueuePair => "queue pair 0 is reached on VL 15 only",
        })
    }
}

impl InfiniBandPacket<'_> {
    /// The rules that the packet breaks.
    pub fn broken_rules(&self) -> impl Iterator<Item = LocalRouteRule> + '_ {
        LocalRouteRule::ALL.into_iter().filter(|rule| !rule.holds_for(self))
    }
}
