//! Parses a captured frame and checks its checksums.

mod link;
mod packet;
mod protocol;

use rocelab_wire::{
    Body, Bth, Encapsulation, Ethernet, Frame, InfiniBandPacket, ParseError, VlanTag,
    crc_from_wire, fcs, icrc,
};

pub use link::LinkLayer;
pub use packet::{Address, OpcodeName, Packet};
pub use protocol::Protocol;

use crate::CapturedFrame;

/// Longest original length of a cut frame that is parsed, in bytes: more than an Ethernet frame
/// around the longest IP packet.
const LONGEST: usize = 0x1_0000 + 64;

/// Length of the shortest Ethernet frame without its FCS, in bytes.
const SHORTEST: usize = 60;

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
    /// Bytes that could not be parsed, or whose headers were not captured.
    Opaque,
}

/// A frame, parsed as far as possible.
#[derive(Clone, Copy, Debug)]
pub struct Dissection<'a> {
    /// What the frame carries.
    pub protocol: Protocol,
    /// The parsed frame, if its headers were captured completely.
    pub contents: Contents<'a>,
    /// The base transport header, if the capture ends after it and before the payload.
    pub cut_bth: Option<Bth>,
    /// In that case: the frame, with zeros in place of everything after that header.
    pub(crate) beginning: Option<Frame<'a>>,
    /// Why the frame could not be parsed, if its protocol is known here.
    pub error: Option<ParseError>,
    /// The invariant CRC.
    pub icrc: Checksum,
    /// The Ethernet frame check sequence.
    pub fcs: Checksum,
    /// Whether the frame ends with an FCS although the file does not declare one.
    pub fcs_undeclared: bool,
    /// Whether only the beginning of the frame was captured, so that its end cannot be checked.
    pub cut: bool,
    /// Length of the frame as captured, in bytes.
    pub captured_len: usize,
}

impl<'a> Dissection<'a> {
    /// The packet of the InfiniBand transport that the frame carries.
    #[must_use]
    pub fn packet(&self) -> Option<Packet<'_>> {
        match &self.contents {
            Contents::Ethernet(frame) => frame.roce().map(Packet::of_roce),
            Contents::InfiniBand(packet) => Packet::of_infiniband(packet),
            Contents::Opaque => None,
        }
    }

    /// As [`Self::packet`], for a frame whose capture ends after the base transport header. Nothing
    /// after that header has a meaning.
    pub(crate) fn beginning(&self) -> Option<Packet<'_>> {
        self.beginning.as_ref().and_then(Frame::roce).map(Packet::of_roce)
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

    fn set_fcs(&mut self, found: u32, verdict: Checksum) {
        self.fcs = verdict;
        if let Contents::Ethernet(frame) = &mut self.contents {
            frame.fcs = Some(found);
        }
    }

    fn nothing(protocol: Protocol, captured: &CapturedFrame<'a>) -> Self {
        Self {
            protocol,
            contents: Contents::Opaque,
            cut_bth: None,
            beginning: None,
            error: None,
            icrc: Checksum::Absent,
            fcs: Checksum::Absent,
            fcs_undeclared: false,
            cut: captured.is_cut(),
            captured_len: captured.bytes.len(),
        }
    }
}

/// Parses frames, and remembers which interfaces capture an FCS without declaring it.
///
/// Memory: one frame, and a number for each such interface.
#[derive(Debug, Default)]
pub struct Dissector {
    /// A cut frame, completed with zeros.
    completed: Vec<u8>,
    /// Interfaces on which a frame ended with a right FCS that was not declared.
    undeclared_fcs: Vec<usize>,
}

impl Dissector {
    /// Parses a frame.
    ///
    /// A cut frame can be parsed if its headers were captured completely: its lengths are valid,
    /// its checksums are [absent](Checksum::Absent).
    pub fn dissect<'a>(&'a mut self, captured: &CapturedFrame<'a>) -> Dissection<'a> {
        match LinkLayer::of_type(captured.link_type) {
            Some(LinkLayer::Ethernet) => {}
            Some(layer) => return dissect_infiniband(layer, captured),
            None => return Dissection::nothing(Protocol::Other, captured),
        }
        let has_fcs = usize::from(captured.fcs_length) == FCS_LEN;
        let whole_len = captured.original_length as usize;
        if captured.bytes.len() < whole_len {
            if whole_len > LONGEST {
                return Dissection::nothing(Protocol::of_bytes(captured.bytes), captured);
            }
            self.completed.clear();
            self.completed.extend_from_slice(captured.bytes);
            self.completed.resize(whole_len, 0);
            return dissect_cut(&self.completed, captured, has_fcs);
        }
        let mut dissection = match captured.bytes.split_last_chunk() {
            Some((bytes, found)) if has_fcs => {
                let found = crc_from_wire(*found);
                let mut dissection = parse(bytes, captured);
                dissection.set_fcs(found, Checksum::of(found, fcs(bytes)));
                dissection
            }
            _ => parse(captured.bytes, captured),
        };
        if !has_fcs {
            self.look_for_fcs(&mut dissection, captured);
        }
        if let Some(roce) = dissection.frame().and_then(Frame::roce) {
            dissection.icrc = Checksum::of(roce.icrc, icrc(roce));
        }
        dissection
    }

    /// Finds an FCS that the file does not declare, as in many captures. The bytes after the packet
    /// are an FCS if their value is right. After one such frame on an interface, the last bytes of
    /// its other frames are taken as an FCS too, even if it is wrong.
    fn look_for_fcs(&mut self, dissection: &mut Dissection<'_>, captured: &CapturedFrame<'_>) {
        let trailing = dissection.frame().map_or(0, |frame| frame.padding.len());
        if trailing < FCS_LEN || captured.bytes.len() < SHORTEST + FCS_LEN {
            return;
        }
        let Some((bytes, found)) = captured.bytes.split_last_chunk() else { return };
        let found = crc_from_wire(*found);
        let verdict = Checksum::of(found, fcs(bytes));
        let known = self.undeclared_fcs.contains(&captured.interface);
        if verdict == Checksum::Ok && !known && self.undeclared_fcs.len() < 1_024 {
            self.undeclared_fcs.push(captured.interface);
        }
        if verdict == Checksum::Ok || known {
            dissection.set_fcs(found, verdict);
            dissection.fcs_undeclared = true;
            if let Contents::Ethernet(frame) = &mut dissection.contents {
                frame.padding = &frame.padding[..trailing - FCS_LEN];
            }
        }
    }
}

fn parse<'a>(bytes: &'a [u8], captured: &CapturedFrame<'a>) -> Dissection<'a> {
    match Frame::parse(bytes) {
        Ok(frame) => {
            let protocol = Protocol::of_frame(&frame);
            Dissection {
                contents: Contents::Ethernet(frame),
                ..Dissection::nothing(protocol, captured)
            }
        }
        Err(error) => {
            let protocol = Protocol::of_bytes(bytes);
            let error = Some(error).filter(|_| protocol != Protocol::Other);
            Dissection { error, ..Dissection::nothing(protocol, captured) }
        }
    }
}

/// Parses a frame whose end was replaced by zeros.
fn dissect_cut<'a>(
    completed: &'a [u8],
    captured: &CapturedFrame<'a>,
    has_fcs: bool,
) -> Dissection<'a> {
    let end = completed.len() - if has_fcs { FCS_LEN.min(completed.len()) } else { 0 };
    let parsed = parse(&completed[..end], captured);
    let had = captured.bytes.len();
    match parsed.frame() {
        Some(frame) if headers_len(frame) <= had => parsed,
        Some(frame) if headers_len(frame) - extensions_len(frame) <= had => Dissection {
            cut_bth: frame.roce().map(|roce| roce.bth),
            beginning: Some(*frame),
            ..Dissection::nothing(parsed.protocol, captured)
        },
        // The parser read zeros in place of headers, so its result has no meaning.
        _ => Dissection::nothing(Protocol::of_bytes(captured.bytes), captured),
    }
}

/// Parses a packet of native InfiniBand. A cut packet cannot be parsed, because its length field
/// must match its bytes.
fn dissect_infiniband<'a>(layer: LinkLayer, captured: &CapturedFrame<'a>) -> Dissection<'a> {
    let nothing = Dissection::nothing(Protocol::InfiniBand, captured);
    let bytes = match layer.packet(captured.bytes) {
        Some(bytes) if !captured.is_cut() => bytes,
        Some(_) => return nothing,
        None => return Dissection { protocol: Protocol::Other, ..nothing },
    };
    match InfiniBandPacket::parse(bytes) {
        Ok(packet) => {
            let icrc = match (packet.transport(), packet.computed_icrc()) {
                (Some(transport), Some(computed)) => Checksum::of(transport.icrc, computed),
                _ => Checksum::Absent,
            };
            Dissection { contents: Contents::InfiniBand(packet), icrc, ..nothing }
        }
        Err(error) => Dissection { error: Some(error), ..nothing },
    }
}

fn extensions_len(frame: &Frame<'_>) -> usize {
    frame.roce().map_or(0, |roce| roce.extensions.len())
}

/// Length of all headers up to the payload, in bytes.
fn headers_len(frame: &Frame<'_>) -> usize {
    let tags = frame.vlan.iter().flatten().count() * VlanTag::LEN;
    Ethernet::LEN
        + tags
        + match &frame.body {
            Body::Roce(roce) => {
                let network: Encapsulation = roce.network.encapsulation();
                network.network_len() + Bth::LEN + roce.extensions.len()
            }
            Body::Pfc(_) => rocelab_wire::Pfc::LEN,
            Body::Pause(_) => rocelab_wire::Pause::LEN,
            _ => 0,
        }
}
