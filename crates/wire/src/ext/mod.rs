//! The headers between BTH and payload.

mod aeth;
mod announced;
mod atomic_ack_eth;
mod atomic_eth;
mod cnp;
mod deth;
mod feth;
mod ieth;
mod imm_dt;
mod reth;
mod sack;
mod telemetry;
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
pub use sack::Sack;
pub use telemetry::{
    EgressPort, EndpointReport, IntHeader, IntHop, IntUnits, PintUnits, TelemetryHeader,
    TelemetryKind, TelemetryUnits, TelemetryWriter, pint_utilization,
};
pub use xrceth::Xrceth;

use crate::Opcode;
use crate::error::ParseError;
use crate::reader::Reader;

/// Makes [`Extensions`] from one list: for each header its field, its type, and the method of
/// `Opcode` that says whether it is present. The order of the list is the order on the wire.
macro_rules! extensions {
    ($($(#[$doc:meta])* $field:ident: $header:ident if $present:ident,)*) => {
        /// The extension headers of one packet, in their order after the BTH.
        ///
        /// The opcode determines which are present. With a struct update, only those need to be
        /// written:
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
            /// Telemetry, in packets whose opcode says so. It comes before all others.
            pub telemetry: Option<TelemetryHeader>,
            $($(#[$doc])* pub $field: Option<$header>,)*
        }

        impl Extensions {
            /// No extension headers.
            pub const NONE: Self = Self { telemetry: None, $($field: None,)* };

            /// Whether these are the headers that `opcode` requires, not counting telemetry.
            fn fit_plain(&self, opcode: Opcode) -> bool {
                $(self.$field.is_some() == opcode.$present())&&*
            }

            /// Passes the bytes of each header to `sink`, in wire order.
            pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
                if let Some(header) = &self.telemetry {
                    header.for_each(&mut sink);
                }
                $(if let Some(header) = &self.$field {
                    sink(&header.to_bytes());
                })*
            }

            pub(crate) fn read(
                opcode: Opcode,
                reader: &mut Reader<'_>,
            ) -> Result<Self, ParseError> {
                Ok(Self {
                    telemetry: None,
                    $($field: if opcode.$present() { Some(reader.header()?) } else { None },)*
                })
            }

            /// Length of the headers that `opcode` requires, in bytes.
            pub(crate) const fn announced_len(opcode: Opcode) -> usize {
                0 $(+ if opcode.$present() { $header::LEN } else { 0 })*
            }

            fn displayed(&self) -> impl Iterator<Item = &dyn fmt::Display> {
                let headers = [self.telemetry.as_ref().map(|header| header as _), $(self.$field.as_ref().map(|header| header as _),)*];
                headers.into_iter().flatten()
            }
        }
    };
}

extensions! {
    /// In UD packets.
    deth: Deth if has_deth,
    /// In XRC requests.
    xrceth: Xrceth if has_xrceth,
    /// In FLUSH requests.
    feth: Feth if has_feth,
    /// In the first packet of an RDMA operation.
    reth: Reth if has_reth,
    /// In atomic requests.
    atomic_eth: AtomicEth if has_atomic_eth,
    /// In acknowledges and read responses.
    aeth: Aeth if has_aeth,
    /// In selective acknowledges, after the AETH.
    sack: Sack if has_sack,
    /// In atomic acknowledges.
    atomic_ack_eth: AtomicAckEth if has_atomic_ack_eth,
    /// In packets `WITH_IMMEDIATE`.
    imm_dt: ImmDt if has_immdt,
    /// In packets `WITH_INVALIDATE`.
    ieth: Ieth if has_ieth,
    /// In CNPs.
    cnp: Cnp if has_cnp,
}

impl Extensions {
    /// Whether these are the headers of a packet with this opcode. An undefined opcode requires
    /// none. A manufacturer's opcode may stand for [telemetry](TelemetryKind), or may be another
    /// manufacturer's and require none.
    #[must_use]
    pub fn fit(&self, opcode: u8) -> bool {
        match (self.telemetry, TelemetryKind::operation(opcode), Opcode::from_u8(opcode)) {
            (Some(header), Some(plain), _) => {
                header.kind().is_of_opcode(opcode) && self.fit_plain(plain)
            }
            (None, None, Some(opcode)) => {
                self.fit_plain(opcode) || opcode.has_sack() && self.is_empty()
            }
            _ => self.is_empty(),
        }
    }

    /// Reads the headers that `opcode` requires from the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if `bytes` end before them.
    pub fn parse(opcode: Opcode, bytes: &[u8]) -> Result<Self, ParseError> {
        Self::read(opcode, &mut Reader::new(bytes))
    }

    /// Reads the telemetry that a packet with this opcode carries, and the headers that its operation
    /// requires, if they come next; otherwise reads nothing.
    pub(crate) fn read_with_telemetry(opcode: u8, reader: &mut Reader<'_>) -> Option<Self> {
        let mut ahead = *reader;
        let operation = TelemetryKind::operation(opcode)?;
        let kind = TelemetryKind::of_packet(opcode, ahead.rest())?;
        let telemetry = TelemetryHeader::parse(kind, ahead.take(kind.header_len()))?;
        let plain = Self::read(operation, &mut ahead).ok()?;
        *reader = ahead;
        Some(Self { telemetry: Some(telemetry), ..plain })
    }

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
}

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, header) in self.displayed().enumerate() {
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
            assert!(extensions.fit((*opcode).into()), "{opcode}");
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
        let immediate = Extensions { imm_dt: Some(ImmDt(0)), ..Extensions::NONE };
        for undefined in [0x1f, 0x40, 0xdf] {
            assert!(Extensions::NONE.fit(undefined));
            assert!(!immediate.fit(undefined));
        }
        assert!(Extensions::NONE.is_empty());
    }

    #[test]
    fn telemetry_comes_with_the_headers_of_its_operation() {
        let telemetry = Some(TelemetryHeader::Pint(7));
        let value = Extensions { telemetry, ..Extensions::NONE };
        let both = Extensions { imm_dt: Some(ImmDt(0)), ..value };
        assert!(value.fit(0xe0 | 0x04) && both.fit(0xe0 | 0x05));
        assert!(!value.fit(0xe0 | 0x05) && !both.fit(0xe0 | 0x04));
        assert!(!value.fit(0xc0 | 0x04) && !value.fit(0x04), "of the other kind, of none");
        // Another manufacturer's packet of the same opcode.
        assert!(Extensions::NONE.fit(0xe4));
        assert!(!Extensions { telemetry: None, ..both }.fit(0xe5));
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
