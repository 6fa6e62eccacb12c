//! RoCE packets.

use core::fmt;

use super::network::Network;
use crate::icrc::{IcrcPart, roce_icrc};
use crate::{Bth, Extensions, TransportPacket};

/// A RoCE packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roce<'a> {
    /// The network headers, of v1 or v2.
    pub network: Network,
    /// Base transport header.
    pub bth: Bth,
    /// The headers that the opcode requires; none for an undefined opcode, or a manufacturer's
    /// without our telemetry.
    pub extensions: Extensions,
    /// Payload, without pad.
    pub payload: &'a [u8],
    /// Pad bytes: as many as the BTH says.
    pub pad: &'a [u8],
    /// Invariant CRC as found.
    pub icrc: u32,
}

impl<'a> Roce<'a> {
    /// The part of the packet that native InfiniBand has too.
    #[must_use]
    pub const fn transport(&self) -> TransportPacket<'a> {
        let Self { bth, extensions, payload, pad, icrc, .. } = *self;
        TransportPacket { bth, extensions, payload, pad, icrc }
    }

    /// Whether the ICRC is right.
    #[must_use]
    pub fn icrc_ok(&self) -> bool {
        self.icrc == icrc(self)
    }
}

/// The invariant CRC (ICRC) of a packet: the CRC-32 of Ethernet over everything that no switch
/// or router may change, from the network header to the pad (IBTA 7.8.1, A16.4.4, A17.3.3;
/// Linux `drivers/infiniband/sw/rxe/rxe_icrc.c`).
///
/// What may change on the way counts as ones: DSCP, ECN, TTL or hop limit, flow label, the IPv4
/// and UDP checksums, and FECN, BECN and resv6 of the BTH. [`crc_to_wire`](crate::crc_to_wire)
/// gives the byte order of the wire.
#[must_use]
pub fn icrc(packet: &Roce<'_>) -> u32 {
    roce_icrc(&packet.network, &packet.transport(), |_| {})
}

/// Computes the [ICRC](icrc) of a packet, and tells `each` of the parts that it covers, in their order.
pub fn explain_icrc(packet: &Roce<'_>, each: impl FnMut(IcrcPart<'_>)) -> u32 {
    roce_icrc(&packet.network, &packet.transport(), each)
}

impl fmt::Display for Roce<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.network, self.transport())?;
        f.write_str(if self.icrc_ok() { "" } else { ", bad ICRC" })
    }
}
