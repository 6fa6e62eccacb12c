//! Invariant CRC.

use crc32fast::Hasher;

use crate::frame::Network;
use crate::ipv6::MAX_FLOW_LABEL;
use crate::{Bth, Ecn, Grh, Ipv4, Ipv6, Lrh, TransportPacket, Udp};

/// CRC-32 of eight bytes 0xff. They stand for the local route header, which RoCE does not have, and
/// which is not covered if there is a GRH.
const SEED: u32 = 0x2144_df1c;

/// The ICRC of a RoCE packet.
pub(crate) fn roce_icrc(network: &Network, packet: &TransportPacket<'_>) -> u32 {
    let mut hasher = Hasher::new_with_initial(SEED);
    match network {
        Network::V1 { grh } => hasher.update(&masked_grh(grh)),
        Network::V2Ipv4 { ip, udp } => {
            hasher.update(&masked_ipv4(ip));
            hasher.update(&masked_udp(udp));
        }
        Network::V2Ipv6 { ip, udp } => {
            hasher.update(&masked_ipv6(ip));
            hasher.update(&masked_udp(udp));
        }
    }
    finish(hasher, packet)
}

/// The ICRC of a native InfiniBand packet: with a GRH, as in RoCE v1; otherwise it covers the LRH
/// except its virtual lane (IBTA 7.8.1; MindShare, "InfiniBand Network Architecture", chapter 25).
pub(crate) fn native_icrc(lrh: &Lrh, grh: Option<&Grh>, packet: &TransportPacket<'_>) -> u32 {
    let hasher = match grh {
        Some(grh) => {
            let mut hasher = Hasher::new_with_initial(SEED);
            hasher.update(&masked_grh(grh));
            hasher
        }
        None => {
            let mut hasher = Hasher::new();
            hasher.update(&Lrh { vl: 0x0f, ..*lrh }.to_bytes());
            hasher
        }
    };
    finish(hasher, packet)
}

/// Adds the bytes from BTH to pad.
fn finish(mut hasher: Hasher, packet: &TransportPacket<'_>) -> u32 {
    hasher.update(&masked_bth(&packet.bth));
    packet.extensions.for_each(|header| hasher.update(header));
    hasher.update(packet.payload);
    hasher.update(packet.pad);
    hasher.finalize()
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
