//! Packets of native InfiniBand.

use rocelab_wire::{FlowControlPacket, InfiniBandPacket, ParseError};

use super::{
    Checksum, Contents, Dissection, FrameExtent, HeadersRead, LinkLayer, Protocol, placed,
};
use crate::CapturedFrame;
use crate::erf::{self, Content};

/// Longest link packet in a capture without records, in bytes: with what fills it up. No packet with an
/// LRH and a VCRC is as short.
const LONGEST_LINK_PACKET: usize = 8;

/// Parses packets of native InfiniBand.
#[derive(Debug, Default)]
pub(super) struct InfiniBandDissector {
    /// A cut packet, completed with zeros.
    completed: Vec<u8>,
}

impl InfiniBandDissector {
    /// Parses a packet. Of a cut one that has its BTH nothing but that is known.
    pub(super) fn dissect<'a>(
        &'a mut self,
        layer: LinkLayer,
        captured: &CapturedFrame<'a>,
    ) -> Dissection<'a> {
        let record = match record_of(layer, captured) {
            Ok(record) => record,
            Err(error) => {
                // Of a record that was not captured whole, nobody knows how it goes on.
                let error = Some(error).filter(|_| !captured.is_cut());
                return Dissection { error, ..Dissection::nothing(Protocol::Other, captured) };
            }
        };
        let nothing = |protocol| Dissection {
            offset: record.offset,
            extent: FrameExtent { cut: record.cut, ..FrameExtent::of(captured) },
            ..Dissection::nothing(protocol, captured)
        };
        match record.content {
            Content::Other => nothing(Protocol::Other),
            Content::LinkPacket => link_packet(&record, nothing(Protocol::InfiniBandLink)),
            Content::Packet if record.cut => {
                self.cut_packet(record.packet, nothing(Protocol::InfiniBand))
            }
            Content::Packet => packet(&record, nothing(Protocol::InfiniBand)),
        }
    }

    fn cut_packet<'a>(&'a mut self, captured: &[u8], nothing: Dissection<'a>) -> Dissection<'a> {
        let headers_read = HeadersRead::of_infiniband(captured);
        let nothing = Dissection { headers_read: Some(headers_read), ..nothing };
        let (Some(lrh), Some(bth)) = (headers_read.lrh, headers_read.bth) else { return nothing };
        self.completed.clear();
        self.completed.extend_from_slice(captured);
        self.completed.resize(usize::from(lrh.pkt_len) * 4, 0);
        match InfiniBandPacket::parse(&self.completed) {
            Ok(packet) => Dissection {
                cut_bth: Some(bth),
                beginning: Contents::InfiniBand(packet),
                ..nothing
            },
            Err(_) => nothing,
        }
    }
}

/// What was captured, as a record.
fn record_of<'a>(
    layer: LinkLayer,
    captured: &CapturedFrame<'a>,
) -> Result<erf::Record<'a>, ParseError> {
    if layer == LinkLayer::Erf {
        return erf::Record::parse(captured.bytes);
    }
    let is_link_packet = is_link_packet(captured);
    let content = if is_link_packet { Content::LinkPacket } else { Content::Packet };
    Ok(erf::Record { content, offset: 0, packet: captured.bytes, cut: captured.is_cut() })
}

/// Whether the bytes without record are those of a link packet. Only their length tells; one that is
/// filled up must have a right LPCRC, too.
fn is_link_packet(captured: &CapturedFrame<'_>) -> bool {
    let len = captured.original_length as usize;
    match captured.bytes.split_at_checked(FlowControlPacket::LEN) {
        _ if len == FlowControlPacket::LEN => true,
        Some((packet, [0, 0])) if len == LONGEST_LINK_PACKET => {
            FlowControlPacket::parse(packet).is_ok_and(|packet| packet.lpcrc_ok())
        }
        _ => false,
    }
}

fn link_packet<'a>(record: &erf::Record<'a>, nothing: Dissection<'a>) -> Dissection<'a> {
    match FlowControlPacket::parse(record.packet) {
        Ok(packet) => Dissection { contents: Contents::FlowControl(packet), ..nothing },
        Err(_) if record.cut => nothing,
        Err(error) => Dissection { error: Some(placed(error, record.offset, 0)), ..nothing },
    }
}

fn packet<'a>(record: &erf::Record<'a>, nothing: Dissection<'a>) -> Dissection<'a> {
    let headers_read = Some(HeadersRead::of_infiniband(record.packet));
    match InfiniBandPacket::parse(record.packet) {
        Ok(packet) => {
            let icrc = match (packet.transport(), packet.computed_icrc()) {
                (Some(transport), Some(computed)) => Checksum::of(transport.icrc, computed),
                _ => Checksum::Absent,
            };
            Dissection { contents: Contents::InfiniBand(packet), icrc, ..nothing }
        }
        Err(error) => {
            let error = Some(placed(error, record.offset, 0));
            Dissection { error, headers_read, ..nothing }
        }
    }
}
