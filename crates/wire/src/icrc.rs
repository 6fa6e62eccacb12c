//! Invariant CRC.

use crc32fast::Hasher;

use crate::frame::Network;
use crate::ipv6::MAX_FLOW_LABEL;
use crate::{Bth, Ecn, Grh, Ipv4, Ipv6, Lrh, TransportPacket, Udp};

/// CRC-32 of eight bytes 0xff. They stand for the local route header, which RoCE does not have, and
/// which is not covered if there is a GRH.
const SEED: u32 = 0x2144_df1c;

/// A part of a packet that its ICRC covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcrcPart<'a> {
    /// What it is.
    pub name: &'static str,
    /// Its bytes as they count: what may change on the way is ones.
    pub bytes: &'a [u8],
    /// What may change on the way; empty if nothing may.
    pub ones: &'static str,
    /// The CRC of all parts up to this one.
    pub crc: u32,
}

/// A CRC that a packet's parts are added to, one after the other, each told to somebody.
struct Parts<F> {
    hasher: Hasher,
    tell: F,
}

impl<F: FnMut(IcrcPart<'_>)> Parts<F> {
    #[inline]
    fn add(&mut self, name: &'static str, bytes: &[u8], ones: &'static str) {
        self.hasher.update(bytes);
        // Whoever wants to know nothing pays nothing for it.
        (self.tell)(IcrcPart { name, bytes, ones, crc: self.hasher.clone().finalize() });
    }

    /// Instead of the local route header, which RoCE does not have, and which is not covered if there is a GRH.
    fn begin_without_lrh(&mut self) {
        self.hasher = Hasher::new_with_initial(SEED);
        let bytes = &[0xff; 8];
        (self.tell)(IcrcPart { name: "in place of the LRH", bytes, ones: "all", crc: SEED });
    }

    fn add_grh(&mut self, grh: &Grh) {
        self.add("GRH", &masked_grh(grh), "traffic class, flow label, hop limit");
    }

    fn add_network(&mut self, network: &Network) {
        match network {
            Network::V1 { grh } => self.add_grh(grh),
            Network::V2Ipv4 { ip, udp } => {
                self.add("IPv4", &masked_ipv4(ip), "DSCP, ECN, TTL, header checksum");
                self.add("UDP", &masked_udp(udp), "checksum");
            }
            Network::V2Ipv6 { ip, udp } => {
                self.add("IPv6", &masked_ipv6(ip), "DSCP, ECN, flow label, hop limit");
                self.add("UDP", &masked_udp(udp), "checksum");
            }
        }
    }

    /// Adds the bytes from BTH to pad.
    fn add_transport(&mut self, packet: &TransportPacket<'_>) {
        self.add("BTH", &masked_bth(&packet.bth), "FECN, BECN, resv6");
        packet.extensions.for_each(|header| self.add("extension header", header, ""));
        self.add("payload", packet.payload, "");
        self.add("pad", packet.pad, "");
    }

    fn crc(self) -> u32 {
        self.hasher.finalize()
    }
}

/// The ICRC of a RoCE packet; `tell` hears of each part that it covers, in their order.
pub(crate) fn roce_icrc(
    network: &Network,
    packet: &TransportPacket<'_>,
    tell: impl FnMut(IcrcPart<'_>),
) -> u32 {
    let mut parts = Parts { hasher: Hasher::new(), tell };
    parts.begin_without_lrh();
    parts.add_network(network);
    parts.add_transport(packet);
    parts.crc()
}

/// The ICRC of a native InfiniBand packet: with a GRH, as in RoCE v1; otherwise it covers the LRH
/// except its virtual lane (IBTA 7.8.1; MindShare, "InfiniBand Network Architecture", chapter 25).
pub(crate) fn native_icrc(lrh: &Lrh, grh: Option<&Grh>, packet: &TransportPacket<'_>) -> u32 {
    let mut parts = Parts { hasher: Hasher::new(), tell: |_: IcrcPart<'_>| {} };
    match grh {
        Some(grh) => {
            parts.begin_without_lrh();
            parts.add_grh(grh);
        }
        None => parts.add("LRH", &Lrh { vl: 0x0f, ..*lrh }.to_bytes(), "virtual lane"),
    }
    parts.add_transport(packet);
    parts.crc()
}

fn masked_grh(grh: &Grh) -> [u8; Grh::LEN] {
    Grh { traffic_class: 0xff, flow_label: MAX_FLOW_LABEL, hop_limit: 0xff, ..*grh }.to_bytes()
}

fn masked_ipv4(ip: &Ipv4) -> [u8; Ipv4::LEN] {
    let ones =
        Ipv4 { dscp: 0x3f, ecn: Ecn::Ce, time_to_live: 0xff, header_checksum: 0xffff, ..*ip };
    ones.to_bytes()
}

fn masked_ipv6(ip: &Ipv6) -> [u8; Ipv6::LEN] {
    let ones =
        Ipv6 { dscp: 0x3f, ecn: Ecn::Ce, flow_label: MAX_FLOW_LABEL, hop_limit: 0xff, ..*ip };
    ones.to_bytes()
}

fn masked_udp(udp: &Udp) -> [u8; Udp::LEN] {
    Udp { checksum: 0xffff, ..*udp }.to_bytes()
}

fn masked_bth(bth: &Bth) -> [u8; Bth::LEN] {
    Bth { fecn: true, becn: true, resv6: 0x3f, ..*bth }.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_is_the_crc_of_eight_bytes_of_ones() {
        let mut hasher = Hasher::new();
        hasher.update(&[0xff; 8]);
        assert_eq!(hasher.finalize(), SEED);
        // The state before the final complement is the seed of the Linux driver.
        assert_eq!(!SEED, 0xdebb_20e3);
    }
}
