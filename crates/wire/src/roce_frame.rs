//! Outgoing RoCE frames.

use crate::ecn::traffic_class;
use crate::error::BuildError;
use crate::frame::{Body, Frame, Network, Roce};
use crate::ipv4::PROTOCOL_UDP;
use crate::size::{MIN_UNCHECKED_FRAME_LEN, pad_len};
use crate::udp::ROCE_V2_PORT;
use crate::zeros::ZEROS;
use crate::{
    Bth, Ecn, Encapsulation, EtherType, Ethernet, Extensions, Gid, Grh, Ipv4, Ipv6, MacAddress,
    Udp, VlanTag, icrc,
};

/// The values of a RoCE frame that its sender chooses. Lengths, checksums, pad, ICRC and Ethernet
/// padding are computed from them: [`RoceFrame::to_frame`].
///
/// The same fields are for v1 and v2; fields that an encapsulation does not have are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoceFrame<'a> {
    /// MAC address of the receiver, or of the next router.
    pub destination: MacAddress,
    /// MAC address of the sender.
    pub source: MacAddress,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// v1 or v2, and which IP.
    pub encapsulation: Encapsulation,
    /// Address of the sender; IPv4-mapped for IPv4.
    pub sgid: Gid,
    /// Address of the receiver; IPv4-mapped for IPv4.
    pub dgid: Gid,
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Flow label, 20 bits. Not in IPv4.
    pub flow_label: u32,
    /// Hop limit, or TTL.
    pub hop_limit: u8,
    /// Identification. Only in IPv4.
    pub identification: u16,
    /// UDP source port: see [`udp_source_port`](crate::udp_source_port). Not in v1.
    pub udp_source_port: u16,
    /// Base transport header. Its pad count is ignored.
    pub bth: Bth,
    /// The extension headers that the opcode requires.
    pub extensions: Extensions,
    /// Payload.
    pub payload: &'a [u8],
}

impl<'a> RoceFrame<'a> {
    /// Initial hop limit of hosts.
    pub const DEFAULT_HOP_LIMIT: u8 = 64;

    /// A frame without addresses, tag, extension headers and payload, to fill in.
    #[must_use]
    pub const fn new(encapsulation: Encapsulation, bth: Bth) -> Self {
        Self {
            destination: MacAddress([0; 6]),
            source: MacAddress([0; 6]),
            vlan: None,
            encapsulation,
            sgid: Gid([0; 16]),
            dgid: Gid([0; 16]),
            dscp: 0,
            ecn: Ecn::NotEct,
            flow_label: 0,
            hop_limit: Self::DEFAULT_HOP_LIMIT,
            identification: 0,
            udp_source_port: crate::flow_label::MIN_UDP_SOURCE_PORT,
            bth,
            extensions: Extensions::NONE,
            payload: &[],
        }
    }

    /// The complete frame without FCS, padded to the 60 bytes that Ethernet requires.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if opcode and extension headers do not match, if IPv4 addresses are missing,
    /// or if the packet is too long.
    pub fn to_frame(&self) -> Result<Frame<'a>, BuildError> {
        let roce = self.to_roce()?;
        let frame = Frame {
            ethernet: Ethernet {
                destination: self.destination,
                source: self.source,
                ether_type: self.ether_type(),
            },
            vlan: [self.vlan, None],
            cn_tag: None,
            body: Body::Roce(roce),
            padding: &[],
            fcs: None,
        };
        let missing = MIN_UNCHECKED_FRAME_LEN.saturating_sub(frame.wire_len());
        Ok(Frame { padding: &ZEROS[..missing], ..frame })
    }

    fn to_roce(self) -> Result<Roce<'a>, BuildError> {
        if !self.extensions.fit(self.bth.opcode) {
            return Err(BuildError::Extensions { opcode: self.bth.opcode });
        }
        let pad = &ZEROS[..pad_len(self.payload.len())];
        let packet_len =
            Bth::LEN + self.extensions.len() + self.payload.len() + pad.len() + crate::CRC_LEN;
        let [pad_count, ..] = pad.len().to_le_bytes();
        let roce = Roce {
            network: self.network(packet_len)?,
            bth: Bth { pad_count, ..self.bth },
            extensions: self.extensions,
            payload: self.payload,
            pad,
            icrc: 0,
        };
        Ok(Roce { icrc: icrc(&roce), ..roce })
    }

    const fn ether_type(&self) -> EtherType {
        match self.encapsulation {
            Encapsulation::V1 => EtherType::ROCE_V1,
            Encapsulation::V2Ipv4 => EtherType::IPV4,
            Encapsulation::V2Ipv6 => EtherType::IPV6,
        }
    }

    fn network(&self, packet_len: usize) -> Result<Network, BuildError> {
        Ok(match self.encapsulation {
            Encapsulation::V1 => Network::V1 { grh: self.grh(length(packet_len)?) },
            Encapsulation::V2Ipv4 => {
                let ip = self.ipv4(length(Ipv4::LEN + Udp::LEN + packet_len)?)?;
                Network::V2Ipv4 { ip, udp: self.udp(length(Udp::LEN + packet_len)?) }
            }
            Encapsulation::V2Ipv6 => {
                let payload_len = length(Udp::LEN + packet_len)?;
                Network::V2Ipv6 { ip: self.ipv6(payload_len), udp: self.udp(payload_len) }
            }
        })
    }

    const fn grh(&self, pay_len: u16) -> Grh {
        Grh {
            ip_version: Grh::IP_VERSION,
            traffic_class: traffic_class(self.dscp, self.ecn),
            flow_label: self.flow_label,
            pay_len,
            next_header: Grh::NEXT_HEADER_IBA,
            hop_limit: self.hop_limit,
            sgid: self.sgid,
            dgid: self.dgid,
        }
    }

    fn ipv4(&self, total_len: u16) -> Result<Ipv4, BuildError> {
        let address = |gid: Gid| gid.to_ipv4().ok_or(BuildError::NotIpv4(gid));
        let ip = Ipv4 {
            dscp: self.dscp,
            ecn: self.ecn,
            total_len,
            identification: self.identification,
            reserved_flag: false,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: self.hop_limit,
            protocol: PROTOCOL_UDP,
            header_checksum: 0,
            source: address(self.sgid)?,
            destination: address(self.dgid)?,
        };
        Ok(Ipv4 { header_checksum: ip.computed_checksum(), ..ip })
    }

    const fn ipv6(&self, payload_len: u16) -> Ipv6 {
        Ipv6 {
            dscp: self.dscp,
            ecn: self.ecn,
            flow_label: self.flow_label,
            payload_len,
            next_header: PROTOCOL_UDP,
            hop_limit: self.hop_limit,
            source: self.sgid.to_ipv6(),
            destination: self.dgid.to_ipv6(),
        }
    }

    const fn udp(&self, length: u16) -> Udp {
        Udp {
            source_port: self.udp_source_port,
            destination_port: ROCE_V2_PORT,
            length,
            checksum: 0,
        }
    }
}

fn length(len: usize) -> Result<u16, BuildError> {
    u16::try_from(len).map_err(|_| BuildError::TooLong { len })
}
