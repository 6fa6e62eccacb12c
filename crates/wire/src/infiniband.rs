//! Whole packets of native InfiniBand.

use core::fmt;

use crate::emit::Writer;
use crate::error::{BuildError, EmitError, Layer, ParseError};
use crate::icrc::native_icrc;
use crate::reader::Reader;
use crate::size::pad_len;
use crate::vcrc::Vcrc;
use crate::{Bth, Extensions, Grh, Lrh, TransportPacket, ZEROS};

/// A packet of native InfiniBand, parsed down to the last byte, as in captures of link type 247
/// (`LINKTYPE_INFINIBAND`).
///
/// [`InfiniBandPacket::parse`] and [`InfiniBandPacket::emit`] are inverse. Payload and padding
/// borrow the parsed bytes; nothing is copied or allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfiniBandPacket<'a> {
    /// Local route header.
    pub lrh: Lrh,
    /// The content of the packet.
    pub body: InfiniBandBody<'a>,
    /// Variant CRC as found, if there is one.
    pub vcrc: Option<u16>,
    /// The bytes after the packet, in captures that pad their records.
    pub padding: &'a [u8],
}

/// The content of an InfiniBand packet after its LRH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "packets live on the stack; there is no allocator")]
pub enum InfiniBandBody<'a> {
    /// A packet of the InfiniBand transport.
    Transport {
        /// Global route header, if the packet may leave its subnet.
        grh: Option<Grh>,
        /// From BTH to ICRC.
        packet: TransportPacket<'a>,
    },
    /// A raw packet: all bytes within the LRH's length.
    Raw(&'a [u8]),
}

/// Unit of [`Lrh::pkt_len`], in bytes.
const WORD: usize = 4;

impl<'a> InfiniBandPacket<'a> {
    /// Parses a packet, from its LRH on. The two bytes after the ICRC are the VCRC; a packet that
    /// ends before them has none.
    ///
    /// Fields that only a receiver checks, such as versions, may have any value.
    ///
    /// # Errors
    ///
    /// A packet that ends before its [`Lrh::pkt_len`], or whose length fields contradict each
    /// other.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(bytes);
        let lrh: Lrh = reader.header()?;
        let body = body(&lrh, contents(&lrh, &mut reader)?)?;
        let rest = reader.take_rest();
        let (vcrc, padding) = match rest.split_first_chunk() {
            Some((vcrc, padding)) => (Some(u16::from_le_bytes(*vcrc)), padding),
            None => (None, rest),
        };
        Ok(Self { lrh, body, vcrc, padding })
    }

    /// Builds a packet from these headers and this payload, without VCRC. Link next header,
    /// lengths, pad and ICRC are computed; the values in `lrh`, `grh` and `bth` are ignored.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if opcode and extension headers do not match, or if the packet is too long.
    pub fn build(
        lrh: Lrh,
        grh: Option<Grh>,
        bth: Bth,
        extensions: Extensions,
        payload: &'a [u8],
    ) -> Result<Self, BuildError> {
        if !extensions.fit(bth.opcode) {
            return Err(BuildError::Extensions { opcode: bth.opcode });
        }
        let pad = &ZEROS[..pad_len(payload.len())];
        let [pad_count, ..] = pad.len().to_le_bytes();
        let bth = Bth { pad_count, ..bth };
        let packet = TransportPacket { bth, extensions, payload, pad, icrc: 0 };

        let (lnh, grh_len) = match grh {
            Some(_) => (Lrh::LNH_GRH, Grh::LEN),
            None => (Lrh::LNH_BTH, 0),
        };
        let len = packet.wire_len();
        let (pkt_len, pay_len) = lengths(Lrh::LEN + grh_len + len, len)?;
        let lrh = Lrh { lnh, pkt_len, ..lrh };
        let grh = grh.map(|grh| Grh { pay_len, ..grh });
        let icrc = native_icrc(&lrh, grh.as_ref(), &packet);
        let body = InfiniBandBody::Transport { grh, packet: TransportPacket { icrc, ..packet } };
        Ok(Self { lrh, body, vcrc: None, padding: &[] })
    }

    /// The name of the protocol, as in this project's reports: `infiniband`.
    #[must_use]
    pub const fn proto(&self) -> &'static str {
        "infiniband"
    }

    /// The packet from BTH to ICRC, if it is not raw.
    #[must_use]
    pub const fn transport(&self) -> Option<&TransportPacket<'a>> {
        match &self.body {
            InfiniBandBody::Transport { packet, .. } => Some(packet),
            InfiniBandBody::Raw(_) => None,
        }
    }

    /// The global route header, if there is one.
    #[must_use]
    pub const fn grh(&self) -> Option<&Grh> {
        match &self.body {
            InfiniBandBody::Transport { grh, .. } => grh.as_ref(),
            InfiniBandBody::Raw(_) => None,
        }
    }

    /// The right ICRC of the packet; `None` if it is raw, because raw packets have none.
    #[must_use]
    pub fn computed_icrc(&self) -> Option<u32> {
        self.transport().map(|packet| native_icrc(&self.lrh, self.grh(), packet))
    }

    /// Whether there is an ICRC and it is right.
    #[must_use]
    pub fn icrc_ok(&self) -> bool {
        self.transport().is_some_and(|packet| self.computed_icrc() == Some(packet.icrc))
    }

    /// The right VCRC of the packet.
    #[must_use]
    pub fn computed_vcrc(&self) -> u16 {
        let mut vcrc = Vcrc::new();
        self.for_each_before_vcrc(&mut |part| vcrc.update(part));
        vcrc.finish()
    }

    /// Whether the VCRC is right; `None` if there is none.
    #[must_use]
    pub fn vcrc_ok(&self) -> Option<bool> {
        self.vcrc.map(|vcrc| vcrc == self.computed_vcrc())
    }

    /// The same packet with the right VCRC.
    #[must_use]
    pub fn with_vcrc(self) -> Self {
        Self { vcrc: Some(self.computed_vcrc()), ..self }
    }

    /// The same packet on another virtual lane, as a switch sends it on: with a new VCRC, because that
    /// covers the lane, and with the same ICRC, which does not.
    #[must_use]
    pub fn on_lane(self, vl: u8) -> Self {
        Self { lrh: Lrh { vl, ..self.lrh }, ..self }.with_vcrc()
    }

    /// The same packet as a switch whose port is congested sends it on: with FECN in its BTH and a new
    /// VCRC. The ICRC does not cover FECN. A raw packet has no BTH, and stays as it is.
    #[must_use]
    pub fn with_fecn(mut self) -> Self {
        if let InfiniBandBody::Transport { packet, .. } = &mut self.body {
            packet.bth.fecn = true;
            return self.with_vcrc();
        }
        self
    }

    /// Length of the packet in bytes, with its VCRC if it has one.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        let mut len = 0;
        self.for_each(|part| len += part.len());
        len
    }

    /// Writes the packet to the start of `out`, and returns its length. A parsed packet gives
    /// exactly the bytes from which it was parsed.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if `out` is shorter than [`Self::wire_len`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let len = self.wire_len();
        let mut writer = Writer::new(out, len)?;
        self.for_each(|part| writer.put(part));
        Ok(len)
    }

    /// Passes the bytes of the packet to `sink`, piece by piece in wire order.
    pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
        self.for_each_before_vcrc(&mut sink);
        if let Some(vcrc) = self.vcrc {
            sink(&vcrc.to_le_bytes());
        }
        sink(self.padding);
    }

    fn for_each_before_vcrc(&self, sink: &mut impl FnMut(&[u8])) {
        sink(&self.lrh.to_bytes());
        match &self.body {
            InfiniBandBody::Transport { grh, packet } => {
                if let Some(grh) = grh {
                    sink(&grh.to_bytes());
                }
                packet.for_each(sink);
            }
            InfiniBandBody::Raw(bytes) => sink(bytes),
        }
    }
}

/// The length fields of LRH and GRH for a packet of `total` bytes, `len` of which are from the BTH
/// on.
fn lengths(total: usize, len: usize) -> Result<(u16, u16), BuildError> {
    let too_long = BuildError::TooLong { len: total };
    let pkt_len = u16::try_from(total / WORD).map_err(|_| too_long)?;
    let pay_len = u16::try_from(len).map_err(|_| too_long)?;
    if pkt_len > Lrh::MAX_PKT_LEN { Err(too_long) } else { Ok((pkt_len, pay_len)) }
}

/// The bytes after the LRH that are within its length.
fn contents<'a>(lrh: &Lrh, reader: &mut Reader<'a>) -> Result<Reader<'a>, ParseError> {
    let (needed, had) = (usize::from(lrh.pkt_len) * WORD, Lrh::LEN + reader.len());
    let Some(len) = needed.checked_sub(Lrh::LEN) else {
        let value = lrh.pkt_len.into();
        return Err(ParseError::Field { layer: Layer::Lrh, field: "PktLen", value, offset: 0 });
    };
    if needed > had {
        return Err(ParseError::Truncated { layer: Layer::Lrh, needed, had, offset: 0 });
    }
    Ok(reader.take_reader(len))
}

fn body<'a>(lrh: &Lrh, mut reader: Reader<'a>) -> Result<InfiniBandBody<'a>, ParseError> {
    let grh = match lrh.lnh {
        Lrh::LNH_BTH => None,
        Lrh::LNH_GRH => Some(grh(&mut reader)?),
        _ => return Ok(InfiniBandBody::Raw(reader.take_rest())),
    };
    Ok(InfiniBandBody::Transport { grh, packet: TransportPacket::read(reader)? })
}

/// Reads a GRH, and checks that it and the LRH agree on the end of the packet.
fn grh(reader: &mut Reader<'_>) -> Result<Grh, ParseError> {
    let offset = reader.offset();
    let grh: Grh = reader.header()?;
    if usize::from(grh.pay_len) == reader.len() {
        Ok(grh)
    } else {
        let value = grh.pay_len.into();
        Err(ParseError::Field { layer: Layer::Grh, field: "PayLen", value, offset })
    }
}

impl fmt::Display for InfiniBandPacket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.lrh)?;
        match &self.body {
            InfiniBandBody::Transport { grh, packet } => {
                if let Some(grh) = grh {
                    write!(f, ", {grh}")?;
                }
                write!(f, ": {packet}")?;
                f.write_str(if self.icrc_ok() { "" } else { ", bad ICRC" })?;
            }
            InfiniBandBody::Raw(bytes) => write!(f, ": raw, length {}", bytes.len())?,
        }
        f.write_str(if self.vcrc_ok() == Some(false) { ", bad VCRC" } else { "" })
    }
}
