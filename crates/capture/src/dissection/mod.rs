//! Parses a captured frame and checks its checksums.

mod ethernet;
mod headers_read;
mod infiniband;
mod link;
mod not_looked_into;
mod outer;
mod packet;
mod protocol;

use rocelab_wire::cm::Mad;
use rocelab_wire::{
    Body, Bth, EtherType, Ethernet, FlowControlPacket, Frame, InfiniBandPacket, MacAddress,
    ParseError, crc_from_wire, fcs,
};

use ethernet::EthernetDissector;
pub use headers_read::HeadersRead;
use infiniband::InfiniBandDissector;
pub use link::LinkLayer;
pub use not_looked_into::NotLookedInto;
pub(crate) use not_looked_into::link_type_named;
pub use outer::{ErspanII, ErspanIII, Gre, LinuxCooked, OuterHeader, OuterLayer, Vxlan};
pub use packet::{Address, OpcodeName, Packet};
pub use protocol::Protocol;

use crate::CapturedFrame;

/// Length of an FCS, in bytes.
const FCS_LEN: usize = 4;

/// The result of checking a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The checksum is right.
    Ok,
    /// The checksum is wrong.
    Bad {
        /// The value in the frame.
        found: u32,
        /// The right value.
        computed: u32,
    },
    /// There is no checksum to check: the protocol has none, it was not captured, or the frame is
    /// cut.
    Absent,
}

impl Checksum {
    fn of(found: u32, computed: u32) -> Self {
        if found == computed { Self::Ok } else { Self::Bad { found, computed } }
    }

    /// `ok`, `bad` or `absent`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Bad { .. } => "bad",
            Self::Absent => "absent",
        }
    }
}

/// The parsed content of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Contents<'a> {
    /// An Ethernet frame.
    Ethernet(Frame<'a>),
    /// A packet of native InfiniBand.
    InfiniBand(InfiniBandPacket<'a>),
    /// A link packet of native InfiniBand, which carries credits.
    FlowControl(FlowControlPacket),
    /// Bytes that could not be parsed, or whose headers were not captured.
    Opaque,
}

impl Contents<'_> {
    /// The packet of the InfiniBand transport.
    fn packet(&self) -> Option<Packet<'_>> {
        match self {
            Self::Ethernet(frame) => frame.roce().map(Packet::of_roce),
            Self::InfiniBand(packet) => Packet::of_infiniband(packet),
            Self::FlowControl(_) | Self::Opaque => None,
        }
    }
}

/// A frame, parsed as far as possible.
#[derive(Clone, Copy, Debug)]
pub struct Dissection<'a> {
    /// What the frame carries, in tunnels too.
    pub protocol: Protocol,
    /// The headers around the parsed frame, the outermost first: of a capture without Ethernet headers, and of tunnels.
    pub outer: &'a [OuterLayer],
    /// Where the parsed frame begins in the captured bytes: after the outer headers.
    pub offset: usize,
    /// Whether the captured packet has no Ethernet header, so that the frame's one has no meaning.
    pub without_ethernet: bool,
    /// The parsed frame, if its headers were captured completely.
    pub contents: Contents<'a>,
    /// The base transport header, if the capture ends after it and before the payload.
    pub cut_bth: Option<Bth>,
    /// In that case: the frame, with zeros in place of everything after that header; else opaque.
    pub(crate) beginning: Contents<'a>,
    /// Why the frame could not be parsed, if its protocol is known here. Places count from the beginning of what was captured.
    pub error: Option<ParseError>,
    /// Why a frame of another protocol was read only to its last header that is valid. This is no error of the frame: only who
    /// knows its protocol can tell.
    pub stopped: Option<ParseError>,
    /// Why the frame was not looked into, if it may have a RoCE packet in it nevertheless.
    pub not_looked_into: Option<NotLookedInto>,
    /// The headers that could be read, if the contents are opaque.
    pub headers_read: Option<HeadersRead>,
    /// The invariant CRC.
    pub icrc: Checksum,
    /// The Ethernet frame check sequence.
    pub fcs: Checksum,
    /// Whether the frame ends with an FCS although the file does not declare one.
    pub fcs_undeclared: bool,
    /// How much of the frame there is.
    pub extent: FrameExtent,
}

/// How long a frame is, and how much of it was captured.
#[derive(Clone, Copy, Debug)]
pub struct FrameExtent {
    /// Whether only the beginning of the frame was captured, so that its end cannot be checked.
    pub cut: bool,
    /// Length of the frame as captured, in bytes, with everything around it.
    pub captured_len: usize,
    /// Length of the frame on the wire, in bytes, as the file gives it: more than was captured if the frame is cut.
    pub original_len: usize,
    /// Length of the parsed frame as captured, in bytes: without what is around it.
    pub(crate) frame_len: usize,
}

impl FrameExtent {
    fn of(captured: &CapturedFrame<'_>) -> Self {
        Self {
            cut: captured.is_cut(),
            captured_len: captured.bytes.len(),
            original_len: captured.original_length as usize,
            frame_len: captured.bytes.len(),
        }
    }
}

impl<'a> Dissection<'a> {
    /// The packet of the InfiniBand transport that the frame carries.
    #[must_use]
    pub fn packet(&self) -> Option<Packet<'_>> {
        self.contents.packet()
    }

    /// As [`Self::packet`], for a frame whose capture ends after the base transport header. Nothing
    /// after that header has a meaning.
    pub(crate) fn beginning(&self) -> Option<Packet<'_>> {
        self.beginning.packet()
    }

    /// The base transport header and the opcode's name, also if nothing after it was captured.
    #[must_use]
    pub fn bth(&self) -> Option<(Bth, OpcodeName)> {
        let packet = self.packet().map(|packet| (*packet.bth, packet.opcode_name()));
        packet.or_else(|| self.cut_bth.map(|bth| (bth, OpcodeName::of_bth(&bth))))
    }

    /// The Ethernet frame, if it is one and could be parsed.
    #[must_use]
    pub const fn frame(&self) -> Option<&Frame<'a>> {
        match &self.contents {
            Contents::Ethernet(frame) => Some(frame),
            _ => None,
        }
    }

    /// Where the ICRC of a RoCE packet begins in the captured bytes; `None` if there is none, or it was not captured.
    pub(crate) fn place_of_icrc(&self) -> Option<usize> {
        let frame = self.frame().filter(|_| !self.extent.cut)?;
        let roce = frame.roce()?;
        Some(self.place_of_payload(frame) + roce.payload.len() + roce.pad.len())
    }

    /// Where the base transport header of a RoCE packet begins in the captured bytes.
    pub(crate) fn place_of_bth(&self) -> Option<usize> {
        let frame = self.frame()?;
        let headers_len = Bth::LEN + frame.roce()?.extensions.len();
        self.place_of_payload(frame).checked_sub(headers_len)
    }

    /// Where what follows the headers of the frame begins in its bytes.
    fn place_of_payload(&self, frame: &Frame<'_>) -> usize {
        let made = if self.without_ethernet { Ethernet::LEN } else { 0 };
        self.offset + ethernet::headers_len(frame) - made
    }

    /// The headers before the payload, as far as they could be read; a made Ethernet header is none of them.
    pub(crate) fn headers(&self) -> HeadersRead {
        let headers = match &self.contents {
            Contents::Ethernet(frame) => HeadersRead::of_frame(frame),
            Contents::InfiniBand(packet) => HeadersRead::of_infiniband_packet(packet),
            Contents::FlowControl(_) => HeadersRead::default(),
            Contents::Opaque => self.headers_read.unwrap_or_default(),
        };
        HeadersRead { ethernet: headers.ethernet.filter(|_| !self.without_ethernet), ..headers }
    }

    /// With the reason why it was not looked into, if there is one.
    fn with_reason(mut self) -> Self {
        if let Contents::Ethernet(Frame { ethernet, body: Body::Other(bytes), .. }) = &self.contents
        {
            self.not_looked_into = NotLookedInto::of_packet(ethernet.ether_type, bytes, self.outer);
        }
        self
    }

    /// The variant CRC of a packet of native InfiniBand.
    #[must_use]
    pub fn vcrc(&self) -> Checksum {
        let Contents::InfiniBand(packet) = &self.contents else { return Checksum::Absent };
        packet.vcrc.map_or(Checksum::Absent, |found| {
            Checksum::of(found.into(), packet.computed_vcrc().into())
        })
    }

    /// The link packet CRC of a link packet of native InfiniBand.
    #[must_use]
    pub fn lpcrc(&self) -> Checksum {
        let Contents::FlowControl(packet) = &self.contents else { return Checksum::Absent };
        Checksum::of(packet.lpcrc.into(), packet.computed_lpcrc().into())
    }

    /// The management datagram in the packet, if it was captured to its end.
    #[must_use]
    pub fn mad(&self) -> Option<Mad<'_>> {
        let packet = self.packet()?;
        let end =
            self.frame().map_or(0, |frame| self.place_of_payload(frame) + packet.payload.len());
        packet.mad().filter(|_| !self.extent.cut || end <= self.extent.captured_len)
    }

    fn set_fcs(&mut self, found: u32, verdict: Checksum) {
        self.fcs = verdict;
        if let Contents::Ethernet(frame) = &mut self.contents {
            frame.fcs = Some(found);
        }
    }

    fn nothing(protocol: Protocol, captured: &CapturedFrame<'a>) -> Self {
        Self {
            protocol,
            outer: &[],
            offset: 0,
            without_ethernet: false,
            contents: Contents::Opaque,
            cut_bth: None,
            beginning: Contents::Opaque,
            error: None,
            stopped: None,
            not_looked_into: None,
            headers_read: None,
            icrc: Checksum::Absent,
            fcs: Checksum::Absent,
            fcs_undeclared: false,
            extent: FrameExtent::of(captured),
        }
    }
}

/// Parses frames, also in tunnels and captures without Ethernet headers, and remembers which interfaces capture an FCS
/// without declaring it.
///
/// Memory: two frames, and a number for each such interface.
#[derive(Debug, Default)]
pub struct Dissector {
    ethernet: EthernetDissector,
    infiniband: InfiniBandDissector,
    /// The headers around the frame.
    outer: Vec<OuterLayer>,
    /// A packet without Ethernet header, after one that is made for it.
    made: Vec<u8>,
}

impl Dissector {
    /// Parses a frame.
    ///
    /// A cut frame can be parsed if its headers were captured completely: its lengths are valid,
    /// its checksums are [absent](Checksum::Absent).
    pub fn dissect<'a>(&'a mut self, captured: &CapturedFrame<'a>) -> Dissection<'a> {
        let Some(layer) = LinkLayer::of_type(captured.link_type) else {
            let reason = NotLookedInto::LinkType(captured.link_type);
            let nothing = Dissection::nothing(Protocol::Other, captured);
            return Dissection { not_looked_into: Some(reason), ..nothing };
        };
        if matches!(layer, LinkLayer::InfiniBand | LinkLayer::Erf) {
            return self.infiniband.dissect(layer, captured);
        }
        let whole_len = (captured.original_length as usize).max(captured.bytes.len());
        let whole_len = whole_len.saturating_sub(captured.fcs_length.into());
        self.outer.clear();
        let Some(inner) = outer::find(layer, captured.bytes, whole_len, &mut self.outer) else {
            if layer == LinkLayer::Ethernet {
                return self.ethernet.dissect(captured).with_reason();
            }
            let outer = &self.outer;
            return Dissection { outer, ..Dissection::nothing(Protocol::Other, captured) };
        };
        let start = inner.start.min(captured.bytes.len());
        let bytes = &captured.bytes[start..inner.end.clamp(start, captured.bytes.len())];
        let mut len = inner.end.saturating_sub(start);
        let bytes = match inner.ether_type {
            None => bytes,
            Some(ether_type) => {
                len += Ethernet::LEN;
                self.made.clear();
                self.made.extend_from_slice(&made_header(ether_type));
                self.made.extend_from_slice(bytes);
                &self.made
            }
        };
        let original_length = u32::try_from(len).unwrap_or(u32::MAX);
        let frame =
            CapturedFrame { bytes, original_length, fcs_length: 0, link_type: 1, ..*captured };
        let without_ethernet = inner.ether_type.is_some();
        let inner = self.ethernet.dissect_inner(&frame);
        let made = if without_ethernet { Ethernet::LEN } else { 0 };
        let placed = |error: ParseError| placed(error, start, made);
        Dissection {
            outer: &self.outer,
            offset: start,
            without_ethernet,
            error: inner.error.map(placed),
            stopped: inner.stopped.map(placed),
            headers_read: inner.headers_read.map(|headers| HeadersRead {
                ethernet: headers.ethernet.filter(|_| !without_ethernet),
                ..headers
            }),
            fcs: fcs_of(captured),
            extent: FrameExtent {
                captured_len: captured.bytes.len(),
                original_len: captured.original_length as usize,
                ..inner.extent
            },
            ..inner
        }
        .with_reason()
    }
}

/// The error of a frame that begins at `start` of the captured bytes; `made` bytes before it were not captured.
fn placed(mut error: ParseError, start: usize, made: usize) -> ParseError {
    if let ParseError::Truncated { offset, .. } | ParseError::Field { offset, .. } = &mut error {
        *offset = (*offset + start).saturating_sub(made);
    }
    error
}

/// An Ethernet header for a packet that was captured without one.
fn made_header(ether_type: EtherType) -> [u8; Ethernet::LEN] {
    let [destination, source] = [MacAddress([0; 6]); 2];
    Ethernet { destination, source, ether_type }.to_bytes()
}

/// Checks the FCS around a tunnel, if the file declares one.
fn fcs_of(captured: &CapturedFrame<'_>) -> Checksum {
    match captured.bytes.split_last_chunk() {
        Some((bytes, found))
            if usize::from(captured.fcs_length) == FCS_LEN && !captured.is_cut() =>
        {
            Checksum::of(crc_from_wire(*found), fcs(bytes))
        }
        _ => Checksum::Absent,
    }
}
