//! The headers of a frame that cannot be parsed to its end.

use rocelab_wire::{
    Body, Bth, CnTag, EtherType, Ethernet, Frame, Grh, InfiniBandPacket, Ipv4, Ipv6, Lrh, Network,
    PROTOCOL_UDP, ROCE_V2_PORT, Udp, VlanTag,
};
use serde::{Serialize, Serializer};

/// The headers at the beginning of a frame, up to the first one that is incomplete, invalid or not known here.
///
/// A frame whose lengths contradict each other has them nevertheless: their places do not depend on the lengths. In JSON each
/// header has the name that it has in a whole frame, and headers that are not there have no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeadersRead {
    /// Local route header, of native InfiniBand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lrh: Option<Lrh>,
    /// Ethernet, with the last EtherType that could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ethernet: Option<Ethernet>,
    /// 802.1Q tags, the outer one first.
    #[serde(serialize_with = "tags", skip_serializing_if = "is_untagged")]
    pub vlan: [Option<VlanTag>; 2],
    /// Congestion notification tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cn_tag: Option<CnTag>,
    /// IPv4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<Ipv4>,
    /// IPv6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Ipv6>,
    /// UDP, to any port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<Udp>,
    /// Global route header, of RoCE v1 and InfiniBand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grh: Option<Grh>,
    /// Base transport header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bth: Option<Bth>,
}

impl HeadersRead {
    /// The headers of an Ethernet frame.
    pub(crate) fn of_ethernet(bytes: &[u8]) -> Self {
        let mut headers = Self::default();
        headers.read_ethernet(bytes);
        headers
    }

    /// The headers of a packet of native InfiniBand.
    pub(crate) fn of_infiniband(bytes: &[u8]) -> Self {
        let mut headers = Self { lrh: Lrh::parse(bytes).ok(), ..Self::default() };
        let after_lrh = bytes.get(Lrh::LEN..).unwrap_or_default();
        match headers.lrh.map(|lrh| lrh.lnh) {
            Some(Lrh::LNH_BTH) => headers.bth = Bth::parse(after_lrh).ok(),
            Some(Lrh::LNH_GRH) => headers.read_grh(after_lrh),
            _ => {}
        }
        headers
    }

    /// The headers of a frame that was parsed.
    pub(super) fn of_frame(frame: &Frame<'_>) -> Self {
        let Frame { ethernet, vlan, cn_tag, .. } = *frame;
        let mut headers = Self { ethernet: Some(ethernet), vlan, cn_tag, ..Self::default() };
        match &frame.body {
            Body::Roce(roce) => {
                headers.bth = Some(roce.bth);
                match roce.network {
                    Network::V1 { grh } => headers.grh = Some(grh),
                    Network::V2Ipv4 { ip, udp } => {
                        (headers.ipv4, headers.udp) = (Some(ip), Some(udp));
                    }
                    Network::V2Ipv6 { ip, udp } => {
                        (headers.ipv6, headers.udp) = (Some(ip), Some(udp));
                    }
                }
            }
            Body::Other(bytes) => headers.read_packet(ethernet.ether_type, bytes),
            _ => {}
        }
        headers
    }

    /// The headers of a packet of native InfiniBand that was parsed.
    pub(super) fn of_infiniband_packet(packet: &InfiniBandPacket<'_>) -> Self {
        Self {
            lrh: Some(packet.lrh),
            grh: packet.grh().copied(),
            bth: packet.transport().map(|transport| transport.bth),
            ..Self::default()
        }
    }

    /// Returns early where the headers end.
    fn read_ethernet(&mut self, bytes: &[u8]) -> Option<()> {
        let mut ethernet = Ethernet::parse(bytes).ok()?;
        self.ethernet = Some(ethernet);
        // A tag begins with the EtherType that announces it.
        let mut at = Ethernet::LEN - 2;
        let mut slots = self.vlan.iter_mut();
        while ethernet.ether_type.is_vlan()
            && let Some(slot) = slots.next()
        {
            *slot = Some(VlanTag::parse(bytes.get(at..)?).ok()?);
            at += VlanTag::LEN;
            ethernet.ether_type = ether_type_at(bytes, at)?;
            self.ethernet = Some(ethernet);
        }
        if ethernet.ether_type == EtherType::CN_TAG {
            self.cn_tag = Some(CnTag::parse(bytes.get(at..)?).ok()?);
            at += CnTag::LEN;
            ethernet.ether_type = ether_type_at(bytes, at)?;
            self.ethernet = Some(ethernet);
        }
        self.read_packet(ethernet.ether_type, bytes.get(at + 2..)?);
        Some(())
    }

    fn read_packet(&mut self, ether_type: EtherType, bytes: &[u8]) {
        match ether_type {
            EtherType::ROCE_V1 => self.read_grh(bytes),
            EtherType::IPV4 => self.ipv4 = Ipv4::parse(bytes).ok(),
            EtherType::IPV6 => self.ipv6 = Ipv6::parse(bytes).ok(),
            _ => {}
        }
        let (protocol, len, end) = match (&self.ipv4, &self.ipv6) {
            (Some(ip), _) if !ip.is_fragment() => (ip.protocol, Ipv4::LEN, ip.total_len.into()),
            (_, Some(ip)) => (ip.next_header, Ipv6::LEN, Ipv6::LEN + usize::from(ip.payload_len)),
            _ => return,
        };
        if protocol == PROTOCOL_UDP {
            self.read_udp(bytes.get(len..).unwrap_or_default(), end.saturating_sub(len));
        }
    }

    /// Reads UDP, and the BTH in it. Of the two lengths, `len` of IP and that of UDP, one may be wrong: the BTH must be within
    /// the longer one, because what is after both is padding.
    fn read_udp(&mut self, bytes: &[u8], len: usize) {
        self.udp = Udp::parse(bytes).ok();
        if let Some(udp) = self.udp.filter(|udp| udp.destination_port == ROCE_V2_PORT) {
            let end = len.max(udp.length.into()).min(bytes.len());
            self.bth = bytes.get(Udp::LEN..end).and_then(|bytes| Bth::parse(bytes).ok());
        }
    }

    fn read_grh(&mut self, bytes: &[u8]) {
        self.grh = Grh::parse(bytes).ok();
        self.bth = bytes.get(Grh::LEN..).and_then(|bytes| Bth::parse(bytes).ok());
    }
}

fn ether_type_at(bytes: &[u8], at: usize) -> Option<EtherType> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(EtherType(u16::from_be_bytes(*bytes)))
}

fn tags<S: Serializer>(tags: &[Option<VlanTag>; 2], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tags.iter().flatten())
}

fn is_untagged(tags: &[Option<VlanTag>; 2]) -> bool {
    tags.iter().flatten().next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with a tag, IPv4, UDP to RoCE's port and the beginning of a BTH; the length of IPv4 is wrong.
    fn frame() -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([0x81, 0, 0, 5, 8, 0]);
        bytes.extend([0x45, 0, 0, 3, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0xc0, 0, 0x12, 0xb7, 0, 24, 0, 0]);
        bytes.extend([0x0a, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 1, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn headers_are_read_whatever_the_lengths_say() {
        let headers = HeadersRead::of_ethernet(&frame());
        assert_eq!(headers.ethernet.map(|header| header.ether_type), Some(EtherType::IPV4));
        assert!(headers.vlan[0].is_some() && headers.vlan[1].is_none());
        assert_eq!(headers.bth.map(|bth| bth.dest_qp), Some(0x11));
        let json = serde_json::to_value(headers).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys.len(), 5, "{keys:?}");
    }

    #[test]
    fn each_length_has_the_headers_that_are_whole() {
        let frame = frame();
        for len in 0..frame.len() {
            let headers = HeadersRead::of_ethernet(&frame[..len]);
            assert_eq!(headers.ethernet.is_some(), len >= 14, "{len}");
            assert_eq!(headers.vlan[0].is_some(), len >= 16, "{len}");
            assert_eq!(headers.ipv4.is_some(), len >= 38, "{len}");
            assert_eq!(headers.udp.is_some(), len >= 46, "{len}");
            assert_eq!(headers.bth.is_some(), len >= 58, "{len}");
        }
    }

    /// What follows a datagram without data is padding of Ethernet.
    #[test]
    fn padding_is_no_header() {
        let mut frame = frame();
        frame[43] = 8;
        assert_eq!(HeadersRead::of_ethernet(&frame).bth, None);
    }

    #[test]
    fn headers_of_infiniband_are_read() {
        let mut packet = vec![0, 2, 0, 1, 0, 5, 0, 2];
        packet.extend([4, 0, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 1]);
        let headers = HeadersRead::of_infiniband(&packet);
        assert_eq!(headers.bth.map(|bth| bth.dest_qp), Some(9));
        assert_eq!(HeadersRead::of_infiniband(&packet[..19]).bth, None);
        assert!(HeadersRead::of_infiniband(&packet[..8]).lrh.is_some());
    }
}
