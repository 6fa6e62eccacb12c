//! The headers between BTH and payload.

mod aeth;
mod atomic_ack_eth;
mod atomic_eth;
mod cnp;
mod deth;
mod feth;
mod ieth;
mod imm_dt;
mod reth;
mod xrceth;

use core::fmt;

pub use aeth::{Aeth, NakCode, Syndrome, credit_code, credits, rnr_timer_ns};
pub use atomic_ack_eth::AtomicAckEth;
pub use atomic_eth::AtomicEth;
pub use cnp::Cnp;
pub use deth::Deth;
pub use feth::Feth;
pub use ieth::Ieth;
pub use imm_dt::ImmDt;
pub use reth::Reth;
pub use xrceth::Xrceth;

use crate::Opcode;
use crate::error::ParseError;
use crate::header::Header;
use crate::reader::Reader;

/// The extension headers of one packet, in the order in which they follow the BTH.
///
/// The opcode says which there are. With a struct update one names only those:
///
/// ```
/// # use rocelab_wire::{Extensions, ImmDt, Reth};
/// let reth = Reth { virtual_address: 0x1000, r_key: 7, dma_length: 256 };
/// let write_with_immediate =
///     Extensions { reth: Some(reth), imm_dt: Some(ImmDt(1)), ..Extensions::NONE };
/// assert_eq!(write_with_immediate.len(), 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Extensions {
    /// In UD packets.
    pub deth: Option<Deth>,
    /// In XRC requests.
    pub xrceth: Option<Xrceth>,
    /// In FLUSH requests.
    pub feth: Option<Feth>,
    /// In the first packet of an RDMA operation.
    pub reth: Option<Reth>,
    /// In atomic requests.
    pub atomic_eth: Option<AtomicEth>,
    /// In acknowledges and read responses.
    pub aeth: Option<Aeth>,
    /// In atomic acknowledges.
    pub atomic_ack_eth: Option<AtomicAckEth>,
    /// In packets `WITH_IMMEDIATE`.
    pub imm_dt: Option<ImmDt>,
    /// In packets `WITH_INVALIDATE`.
    pub ieth: Option<Ieth>,
    /// In CNPs.
    pub cnp: Option<Cnp>,
}

impl Extensions {
    /// No extension headers.
    pub const NONE: Self = Self {
        deth: None,
        xrceth: None,
        feth: None,
        reth: None,
        atomic_eth: None,
        aeth: None,
        atomic_ack_eth: None,
        imm_dt: None,
        ieth: None,
        cnp: None,
    };

    /// Length of all headers together, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.for_each(|header| len += header.len());
        len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether these are the headers that `opcode` announces: none for an undefined one.
    #[must_use]
    pub fn fit(&self, opcode: Option<Opcode>) -> bool {
        let Some(opcode) = opcode else { return self.is_empty() };
        self.deth.is_some() == opcode.has_deth()
            && self.xrceth.is_some() == opcode.has_xrceth()
            && self.feth.is_some() == opcode.has_feth()
            && self.reth.is_some() == opcode.has_reth()
            && self.atomic_eth.is_some() == opcode.has_atomic_eth()
            && self.aeth.is_some() == opcode.has_aeth()
            && self.atomic_ack_eth.is_some() == opcode.has_atomic_ack_eth()
            && self.imm_dt.is_some() == opcode.has_immdt()
            && self.ieth.is_some() == opcode.has_ieth()
            && self.cnp.is_some() == opcode.has_cnp()
    }

    /// Reads the headers that `opcode` announces from the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if `bytes` end before them.
    pub fn parse(opcode: Opcode, bytes: &[u8]) -> Result<Self, ParseError> {
        Self::read(opcode, &mut Reader::new(bytes))
    }

    pub(crate) fn read(opcode: Opcode, reader: &mut Reader<'_>) -> Result<Self, ParseError> {
        fn header<H: Header>(
            present: bool,
            reader: &mut Reader<'_>,
        ) -> Result<Option<H>, ParseError> {
            if present { reader.header().map(Some) } else { Ok(None) }
        }
        Ok(Self {
            deth: header(opcode.has_deth(), reader)?,
            xrceth: header(opcode.has_xrceth(), reader)?,
            feth: header(opcode.has_feth(), reader)?,
            reth: header(opcode.has_reth(), reader)?,
            atomic_eth: header(opcode.has_atomic_eth(), reader)?,
            aeth: header(opcode.has_aeth(), reader)?,
            atomic_ack_eth: header(opcode.has_atomic_ack_eth(), reader)?,
            imm_dt: header(opcode.has_immdt(), reader)?,
            ieth: header(opcode.has_ieth(), reader)?,
            cnp: header(opcode.has_cnp(), reader)?,
        })
    }

    /// Gives the bytes of each header to `sink`, in wire order.
    pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
        macro_rules! give {
            ($($header:ident)*) => {
                $(if let Some(header) = &self.$header { sink(&header.to_bytes()); })*
            };
        }
        give!(deth xrceth feth reth atomic_eth aeth atomic_ack_eth imm_dt ieth cnp);
    }
}

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        macro_rules! headers {
            ($($header:ident)*) => {
                [$(self.$header.as_ref().map(|header| header as &dyn fmt::Display),)*]
            };
        }
        let headers =
            headers!(deth xrceth feth reth atomic_eth aeth atomic_ack_eth imm_dt ieth cnp);
        for (i, header) in headers.into_iter().flatten().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{header}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;

    #[test]
    fn every_opcode_reads_its_headers_and_gives_them_back() {
        let bytes: [u8; 64] = core::array::from_fn(|i| u8::try_from(i).unwrap());
        for opcode in Opcode::ALL {
            let extensions = Extensions::parse(*opcode, &bytes).unwrap();
            assert!(extensions.fit(Some(*opcode)), "{opcode}");
            assert_eq!(extensions.len(), opcode.extension_len(), "{opcode}");
            let mut back = Vec::new();
            extensions.for_each(|header| back.extend_from_slice(header));
            assert_eq!(back, bytes[..opcode.extension_len()], "{opcode}");
        }
    }

    #[test]
    fn the_offset_of_a_missing_header_is_told() {
        let error = Extensions::parse(Opcode::XrcRdmaWriteOnlyWithImmediate, &[0; 22]);
        let expected = ParseError::Truncated { layer: Layer::ImmDt, needed: 4, had: 2, offset: 20 };
        assert_eq!(error, Err(expected));
    }

    #[test]
    fn undefined_opcodes_announce_nothing() {
        assert!(Extensions::NONE.fit(None));
        assert!(!Extensions { imm_dt: Some(ImmDt(0)), ..Extensions::NONE }.fit(None));
        assert!(Extensions::NONE.is_empty());
    }

    #[test]
    fn display_joins_the_headers() {
        let extensions = Extensions {
            imm_dt: Some(ImmDt(1)),
            xrceth: Some(Xrceth { resv8: 0, xrc_srq: 2 }),
            ..Extensions::NONE
        };
        assert_eq!(extensions.to_string(), "XRCETH srq 0x000002, ImmDt 0x00000001");
    }
}
