//! Path entropy: IPv6 flow labels, and the UDP source ports that are computed from them.
//!
//! The rules are those of `ib_flow_label_to_udp_sport` and `rdma_calc_flow_label` in Linux
//! `include/rdma/ib_verbs.h`; captures of Soft-RoCE agree with them.

/// Lowest UDP source port of [`udp_source_port`]: the start of the dynamic ports.
pub const MIN_UDP_SOURCE_PORT: u16 = 0xc000;

/// The UDP source port of a RoCE v2 flow, so that ECMP spreads flows by their label.
///
/// Only the low 20 bits of `flow_label` count. A label of 0 means "none given": replace it by
/// [`default_flow_label`] first.
///
/// ```
/// # use rocelab_wire::udp_source_port;
/// assert_eq!(udp_source_port(0x12345), 0xe341);
/// ```
#[must_use]
pub const fn udp_source_port(flow_label: u32) -> u16 {
    let folded = (flow_label & 0x3fff) ^ ((flow_label & 0xf_c000) >> 14);
    let [_, _, high, low] = folded.to_be_bytes();
    u16::from_be_bytes([high, low]) | MIN_UDP_SOURCE_PORT
}

/// The flow label of a connection without a configured one, computed from its two queue pair
/// numbers.
///
/// Both ends compute the same label.
#[must_use]
pub const fn default_flow_label(local_qpn: u32, remote_qpn: u32) -> u32 {
    let mut v = local_qpn as u64 * remote_qpn as u64;
    v ^= v >> 20;
    v ^= v >> 40;
    let [_, _, _, _, _, a, b, c] = v.to_be_bytes();
    u32::from_be_bytes([0, a & 0x0f, b, c])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ports_match_soft_roce() {
        assert_eq!(udp_source_port(0x12345), 0xe341);
        assert_eq!(udp_source_port(0xfedcb), 0xedf4);
        assert_eq!(udp_source_port(1), 0xc001);
    }

    #[test]
    fn default_label_matches_the_published_value() {
        assert_eq!(udp_source_port(default_flow_label(0x12_3456, 0xab_cdef)), 0xc3c8);
    }

    proptest! {
        #[test]
        fn both_ends_agree(a in 0..1_u32 << 24, b in 0..1_u32 << 24) {
            let label = default_flow_label(a, b);
            prop_assert_eq!(label, default_flow_label(b, a));
            prop_assert!(label < 1 << 20);
            prop_assert!(udp_source_port(label) >= MIN_UDP_SOURCE_PORT);
        }
    }
}
