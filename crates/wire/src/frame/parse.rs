//! Parses frames.

use super::network::Network;
use super::roce::{Roce, icrc};
use super::{Body, Frame};
use crate::error::{Layer, ParseError};
use crate::fcs::{CRC_LEN, crc_from_wire};
use crate::ipv4::PROTOCOL_UDP;
use crate::reader::Reader;
use crate::udp::ROCE_V2_PORT;
use crate::{
    CnTag, Cnm, EtherType, Ethernet, Grh, Ipv4, Ipv6, Pause, Pfc, TransportPacket, Udp, VlanTag,
};

impl<'a> Frame<'a> {
    /// Parses a frame without its FCS, as captures usually have it.
    ///
    /// A frame that is neither RoCE nor flow control is [`Body::Other`]: unknown EtherTypes, other
    /// IP protocols and UDP ports, fragments, and IPv4 with options. Fields that only a receiver
    /// checks, such as the versions of BTH and GRH, may have any value.
    ///
    /// # Errors
    ///
    /// A RoCE or flow-control frame that ends too early, or whose length fields contradict each
    /// other; an IP header that is incomplete or invalid.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(bytes);
        let mut vlan = [None; 2];
        let mut ethernet = ethernet(bytes, &mut vlan, &mut reader)?;
        let cn_tag = cn_tag(&mut ethernet, &mut reader)?;
        let body = body(ethernet.ether_type, &mut reader)?;
        Ok(Self { ethernet, vlan, cn_tag, body, padding: reader.take_rest(), fcs: None })
    }

    /// Parses a frame whose last four bytes are its FCS.
    ///
    /// # Errors
    ///
    /// As [`Frame::parse`]; [`ParseError::Truncated`] if there is no room for the FCS.
    pub fn parse_with_fcs(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let Some((frame, fcs)) = bytes.split_last_chunk() else {
            return Err(truncated(Layer::Fcs, CRC_LEN, bytes.len(), 0));
        };
        Ok(Self { fcs: Some(crc_from_wire(*fcs)), ..Self::parse(frame)? })
    }
}

/// The right ICRC of a complete frame, given from its Ethernet header on; `None` if it is not a
/// RoCE frame.
///
/// # Errors
///
/// As [`Frame::parse`].
pub fn icrc_of_frame(frame: &[u8]) -> Result<Option<u32>, ParseError> {
    Ok(Frame::parse(frame)?.roce().map(icrc))
}

/// Reads both addresses and up to two tags, but not the EtherType after them.
fn ethernet(
    bytes: &[u8],
    vlan: &mut [Option<VlanTag>; 2],
    reader: &mut Reader<'_>,
) -> Result<Ethernet, ParseError> {
    let mut ethernet = Ethernet::parse(bytes)?;
    reader.take(Ethernet::LEN - ETHER_TYPE_LEN);
    for slot in vlan {
        if !ethernet.ether_type.is_vlan() {
            break;
        }
        *slot = Some(reader.header()?);
        ethernet.ether_type = peek_ether_type(reader)?;
    }
    Ok(ethernet)
}

/// Reads a congestion notification tag, if there is one, and the EtherType after it.
fn cn_tag(ethernet: &mut Ethernet, reader: &mut Reader<'_>) -> Result<Option<CnTag>, ParseError> {
    let tag = match ethernet.ether_type {
        EtherType::CN_TAG => Some(reader.header()?),
        _ => None,
    };
    ethernet.ether_type = peek_ether_type(reader)?;
    reader.take(ETHER_TYPE_LEN);
    Ok(tag)
}

fn peek_ether_type(reader: &Reader<'_>) -> Result<EtherType, ParseError> {
    let bytes = reader.peek::<ETHER_TYPE_LEN>(Layer::Ethernet)?;
    Ok(EtherType(u16::from_be_bytes(bytes)))
}

const ETHER_TYPE_LEN: usize = 2;

fn body<'a>(ether_type: EtherType, reader: &mut Reader<'a>) -> Result<Body<'a>, ParseError> {
    let start = *reader;
    let known = match ether_type {
        EtherType::ROCE_V1 => Some(Body::Roce(v1(reader)?)),
        EtherType::IPV4 => v2_ipv4(reader)?.map(Body::Roce),
        EtherType::IPV6 => v2_ipv6(reader)?.map(Body::Roce),
        EtherType::MAC_CONTROL => mac_control(reader)?,
        EtherType::CNM => Some(cnm(reader)?),
        _ => None,
    };
    Ok(known.unwrap_or_else(|| {
        *reader = start;
        Body::Other(reader.take_rest())
    }))
}

fn mac_control<'a>(reader: &mut Reader<'a>) -> Result<Option<Body<'a>>, ParseError> {
    match u16::from_be_bytes(reader.peek(Layer::MacControl)?) {
        Pause::OPCODE => reader.header().map(|pause| Some(Body::Pause(pause))),
        Pfc::OPCODE => reader.header().map(|pfc| Some(Body::Pfc(pfc))),
        _ => Ok(None),
    }
}

fn cnm<'a>(reader: &mut Reader<'a>) -> Result<Body<'a>, ParseError> {
    let cnm: Cnm = reader.header()?;
    let mut msdu = contents(Layer::Cnm, Cnm::LEN, cnm.encapsulated_msdu_len.into(), reader)?;
    Ok(Body::Cnm { cnm, msdu: msdu.take_rest() })
}

fn v1<'a>(reader: &mut Reader<'a>) -> Result<Roce<'a>, ParseError> {
    let grh: Grh = reader.header()?;
    let packet = contents(Layer::Grh, Grh::LEN, grh.pay_len.into(), reader)?;
    roce(Network::V1 { grh }, packet)
}

fn v2_ipv4<'a>(reader: &mut Reader<'a>) -> Result<Option<Roce<'a>>, ParseError> {
    let [version_and_ihl] = reader.peek(Layer::Ipv4)?;
    if matches!(version_and_ihl, 0x46..=0x4f) {
        return Ok(None);
    }
    let offset = reader.offset();
    let ip: Ipv4 = reader.header()?;
    if ip.protocol != PROTOCOL_UDP || ip.is_fragment() || !is_to_roce(reader)? {
        return Ok(None);
    }
    let Some(len) = usize::from(ip.total_len).checked_sub(Ipv4::LEN) else {
        let value = ip.total_len.into();
        return Err(ParseError::Field { layer: Layer::Ipv4, field: "total length", value, offset });
    };
    let (udp, packet) = datagram(contents(Layer::Ipv4, Ipv4::LEN, len, reader)?)?;
    roce(Network::V2Ipv4 { ip, udp }, packet).map(Some)
}

fn v2_ipv6<'a>(reader: &mut Reader<'a>) -> Result<Option<Roce<'a>>, ParseError> {
    let ip: Ipv6 = reader.header()?;
    if ip.next_header != PROTOCOL_UDP || !is_to_roce(reader)? {
        return Ok(None);
    }
    let (udp, packet) = datagram(contents(Layer::Ipv6, Ipv6::LEN, ip.payload_len.into(), reader)?)?;
    roce(Network::V2Ipv6 { ip, udp }, packet).map(Some)
}

/// Whether the UDP header that comes next has the port of RoCE v2. It is not consumed.
fn is_to_roce(reader: &Reader<'_>) -> Result<bool, ParseError> {
    reader.peek_header().map(|udp: Udp| udp.destination_port == ROCE_V2_PORT)
}

/// The `len` bytes that follow a header of `header_len` bytes, which was just read, as its length
/// field says.
fn contents<'a>(
    layer: Layer,
    header_len: usize,
    len: usize,
    reader: &mut Reader<'a>,
) -> Result<Reader<'a>, ParseError> {
    if len <= reader.len() {
        return Ok(reader.take_reader(len));
    }
    let offset = reader.offset() - header_len;
    Err(truncated(layer, header_len + len, header_len + reader.len(), offset))
}

/// Reads a UDP header and its data, which must fill the IP packet.
fn datagram(mut reader: Reader<'_>) -> Result<(Udp, Reader<'_>), ParseError> {
    let (len, offset) = (reader.len(), reader.offset());
    let udp: Udp = reader.header()?;
    if usize::from(udp.length) == len {
        Ok((udp, reader))
    } else {
        let value = udp.length.into();
        Err(ParseError::Field { layer: Layer::Udp, field: "length", value, offset })
    }
}

/// Reads a packet from BTH to ICRC.
fn roce(network: Network, reader: Reader<'_>) -> Result<Roce<'_>, ParseError> {
    let TransportPacket { bth, extensions, payload, pad, icrc } = TransportPacket::read(reader)?;
    Ok(Roce { network, bth, extensions, payload, pad, icrc })
}

const fn truncated(layer: Layer, needed: usize, had: usize, offset: usize) -> ParseError {
    ParseError::Truncated { layer, needed, had, offset }
}
