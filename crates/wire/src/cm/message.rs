//! The messages of communication management.

use core::fmt;

use super::{Body, CmAttribute, Drep, Dreq, Mra, Rej, Rep, Req, Rtu, SidrRep, SidrReq, put_padded};

/// A CM message: what follows the header of a MAD, 232 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CmMessage<'a> {
    /// Connection request.
    Req(Req<'a>),
    /// Message receipt acknowledgement.
    Mra(Mra<'a>),
    /// Connection reject.
    Rej(Rej<'a>),
    /// Connection reply.
    Rep(Rep<'a>),
    /// Ready to use.
    Rtu(Rtu<'a>),
    /// Disconnection request.
    Dreq(Dreq<'a>),
    /// Disconnection reply.
    Drep(Drep<'a>),
    /// Service ID resolution request.
    SidrReq(SidrReq<'a>),
    /// Service ID resolution reply.
    SidrRep(SidrRep<'a>),
    /// The bytes of any other message: LAP and APR, whose layouts are not needed here, and messages
    /// of other classes.
    Other(&'a [u8]),
}

impl<'a> CmMessage<'a> {
    pub(super) fn parse(attribute: Option<CmAttribute>, body: &'a Body) -> Self {
        match attribute {
            Some(CmAttribute::Req) => Self::Req(Req::parse(body)),
            Some(CmAttribute::Mra) => Self::Mra(Mra::parse(body)),
            Some(CmAttribute::Rej) => Self::Rej(Rej::parse(body)),
            Some(CmAttribute::Rep) => Self::Rep(Rep::parse(body)),
            Some(CmAttribute::Rtu) => Self::Rtu(Rtu::parse(body)),
            Some(CmAttribute::Dreq) => Self::Dreq(Dreq::parse(body)),
            Some(CmAttribute::Drep) => Self::Drep(Drep::parse(body)),
            Some(CmAttribute::SidrReq) => Self::SidrReq(SidrReq::parse(body)),
            Some(CmAttribute::SidrRep) => Self::SidrRep(SidrRep::parse(body)),
            Some(CmAttribute::Lap | CmAttribute::Apr) | None => Self::Other(body),
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        match self {
            Self::Req(message) => message.to_bytes(),
            Self::Mra(message) => message.to_bytes(),
            Self::Rej(message) => message.to_bytes(),
            Self::Rep(message) => message.to_bytes(),
            Self::Rtu(message) => message.to_bytes(),
            Self::Dreq(message) => message.to_bytes(),
            Self::Drep(message) => message.to_bytes(),
            Self::SidrReq(message) => message.to_bytes(),
            Self::SidrRep(message) => message.to_bytes(),
            Self::Other(bytes) => {
                let mut body = [0; super::BODY_LEN];
                put_padded(&mut body, bytes);
                body
            }
        }
    }

    /// The attribute of the message; `None` for [`Self::Other`].
    #[must_use]
    pub const fn attribute(&self) -> Option<CmAttribute> {
        Some(match self {
            Self::Req(_) => CmAttribute::Req,
            Self::Mra(_) => CmAttribute::Mra,
            Self::Rej(_) => CmAttribute::Rej,
            Self::Rep(_) => CmAttribute::Rep,
            Self::Rtu(_) => CmAttribute::Rtu,
            Self::Dreq(_) => CmAttribute::Dreq,
            Self::Drep(_) => CmAttribute::Drep,
            Self::SidrReq(_) => CmAttribute::SidrReq,
            Self::SidrRep(_) => CmAttribute::SidrRep,
            Self::Other(_) => return None,
        })
    }
}

/// The fields without the message's name, which the MAD's header displays.
impl fmt::Display for CmMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Req(message) => message.fmt(f),
            Self::Mra(message) => message.fmt(f),
            Self::Rej(message) => message.fmt(f),
            Self::Rep(message) => message.fmt(f),
            Self::Rtu(message) => message.fmt(f),
            Self::Dreq(message) => message.fmt(f),
            Self::Drep(message) => message.fmt(f),
            Self::SidrReq(message) => message.fmt(f),
            Self::SidrRep(message) => message.fmt(f),
            Self::Other(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}
