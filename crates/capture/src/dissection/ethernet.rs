//! Ethernet frames.

use rocelab_wire::{
    Body, Bth, CnTag, Encapsulation, Ethernet, Frame, VlanTag, crc_from_wire, fcs, icrc,
};

use super::{Checksum, Contents, Dissection, FCS_LEN, HeadersRead, Protocol};
use crate::CapturedFrame;

/// Longest original length of a cut frame that is parsed, in bytes: more than an Ethernet frame
/// around the longest IP packet.
const LONGEST: usize = 0x1_0000 + 64;

/// Length of the shortest Ethernet frame without its FCS, in bytes.
const SHORTEST: usize = 60;

/// Parses Ethernet frames.
#[derive(Debug, Default)]
pub(super) struct EthernetDissector {
    /// A cut frame, completed with zeros.
    completed: Vec<u8>,
    /// Interfaces on which a frame ended with a right FCS that was not declared.
    undeclared_fcs: Vec<usize>,
}

impl EthernetDissector {
    /// Parses a frame that was captured by itself.
    pub(super) fn dissect<'a>(&'a mut self, captured: &CapturedFrame<'a>) -> Dissection<'a> {
        let has_fcs = usize::from(captured.fcs_length) == FCS_LEN;
        if captured.bytes.len() < captured.original_length as usize {
            return self.dissect_cut(captured, has_fcs);
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
        with_icrc(dissection, captured.bytes)
    }

    /// Parses a frame that something is around, so that its end is known, and it has no FCS.
    pub(super) fn dissect_inner<'a>(&'a mut self, captured: &CapturedFrame<'a>) -> Dissection<'a> {
        if captured.bytes.len() < captured.original_length as usize {
            return self.dissect_cut(captured, false);
        }
        with_icrc(parse(captured.bytes, captured), captured.bytes)
    }

    /// Parses a frame of which only the beginning was captured.
    fn dissect_cut<'a>(
        &'a mut self,
        captured: &CapturedFrame<'a>,
        has_fcs: bool,
    ) -> Dissection<'a> {
        let whole_len = captured.original_length as usize;
        if whole_len > LONGEST {
            let nothing = Dissection::nothing(Protocol::of_bytes(captured.bytes), captured);
            return with_headers(nothing, captured.bytes);
        }
        self.completed.clear();
        self.completed.extend_from_slice(captured.bytes);
        self.completed.resize(whole_len, 0);
        let dissection = dissect_cut(&self.completed, captured, has_fcs);
        with_headers(dissection, captured.bytes)
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

/// With the headers that can be read, if it was not parsed.
fn with_headers<'a>(mut dissection: Dissection<'a>, bytes: &[u8]) -> Dissection<'a> {
    if matches!(dissection.contents, Contents::Opaque) {
        dissection.headers_read = Some(HeadersRead::of_ethernet(bytes));
    }
    dissection
}

/// With the verdict on its ICRC, if it has one, or the headers that can be read.
fn with_icrc<'a>(dissection: Dissection<'a>, bytes: &[u8]) -> Dissection<'a> {
    let mut dissection = with_headers(dissection, bytes);
    if let Some(roce) = dissection.frame().and_then(Frame::roce) {
        dissection.icrc = Checksum::of(roce.icrc, icrc(roce));
    }
    dissection
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
            let nothing = Dissection::nothing(protocol, captured);
            match protocol {
                Protocol::Other => Dissection { stopped: Some(error), ..nothing },
                _ => Dissection { error: Some(error), ..nothing },
            }
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
            beginning: Contents::Ethernet(*frame),
            ..Dissection::nothing(parsed.protocol, captured)
        },
        // The parser read zeros in place of headers, so its result has no meaning.
        _ => Dissection::nothing(Protocol::of_bytes(captured.bytes), captured),
    }
}

fn extensions_len(frame: &Frame<'_>) -> usize {
    frame.roce().map_or(0, |roce| roce.extensions.len())
}

/// Length of all headers up to the payload, in bytes.
pub(super) fn headers_len(frame: &Frame<'_>) -> usize {
    let tags = frame.vlan.iter().flatten().count() * VlanTag::LEN;
    let cn_tag = if frame.cn_tag.is_some() { CnTag::LEN } else { 0 };
    Ethernet::LEN
        + tags
        + cn_tag
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
