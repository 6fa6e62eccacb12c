//! BTH opcodes: their names, and the headers and payload of packets with them.

use core::fmt;

/// The transport service in the high three bits of an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Transport {
    /// Reliable connection.
    Rc = 0b000,
    /// Unreliable connection.
    Uc = 0b001,
    /// Unreliable datagram.
    Ud = 0b011,
    /// Congestion notification, a service of its own.
    Cnp = 0b100,
    /// Extended reliable connection.
    Xrc = 0b101,
}

impl Transport {
    /// The service's usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "RC",
            Self::Uc => "UC",
            Self::Ud => "UD",
            Self::Cnp => "CNP",
            Self::Xrc => "XRC",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! opcodes {
    ($($variant:ident = $value:literal $name:literal,)*) => {
        /// A defined BTH opcode.
        ///
        /// The high three bits are the [`Transport`], the low five the operation (Linux
        /// `include/rdma/ib_pack.h`; `FLUSH` and `ATOMIC_WRITE` came with IBTA 1.5). Reliable
        /// datagram is not listed, nor are the manufacturers' own opcodes, some of which mean
        /// [telemetry](crate::TelemetryKind); of these only `RC_SELECTIVE_ACKNOWLEDGE` has a name,
        /// which is [ours](crate::Sack).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = concat!("`", $name, "`")] $variant = $value,)*
        }

        impl Opcode {
            /// Every defined opcode, in numeric order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The standard name, such as `RC_RDMA_WRITE_ONLY`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The opcode of this number, if it is defined.
            #[must_use]
            pub const fn from_u8(value: u8) -> Option<Self> {
                match value {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    RcSendFirst = 0x00 "RC_SEND_FIRST",
    RcSendMiddle = 0x01 "RC_SEND_MIDDLE",
    RcSendLast = 0x02 "RC_SEND_LAST",
    RcSendLastWithImmediate = 0x03 "RC_SEND_LAST_WITH_IMMEDIATE",
    RcSendOnly = 0x04 "RC_SEND_ONLY",
    RcSendOnlyWithImmediate = 0x05 "RC_SEND_ONLY_WITH_IMMEDIATE",
    RcRdmaWriteFirst = 0x06 "RC_RDMA_WRITE_FIRST",
    RcRdmaWriteMiddle = 0x07 "RC_RDMA_WRITE_MIDDLE",
    RcRdmaWriteLast = 0x08 "RC_RDMA_WRITE_LAST",
    RcRdmaWriteLastWithImmediate = 0x09 "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
    RcRdmaWriteOnly = 0x0a "RC_RDMA_WRITE_ONLY",
    RcRdmaWriteOnlyWithImmediate = 0x0b "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
    RcRdmaReadRequest = 0x0c "RC_RDMA_READ_REQUEST",
    RcRdmaReadResponseFirst = 0x0d "RC_RDMA_READ_RESPONSE_FIRST",
    RcRdmaReadResponseMiddle = 0x0e "RC_RDMA_READ_RESPONSE_MIDDLE",
    RcRdmaReadResponseLast = 0x0f "RC_RDMA_READ_RESPONSE_LAST",
    RcRdmaReadResponseOnly = 0x10 "RC_RDMA_READ_RESPONSE_ONLY",
    RcAcknowledge = 0x11 "RC_ACKNOWLEDGE",
    RcAtomicAcknowledge = 0x12 "RC_ATOMIC_ACKNOWLEDGE",
    RcCompareSwap = 0x13 "RC_COMPARE_SWAP",
    RcFetchAdd = 0x14 "RC_FETCH_ADD",
    RcSendLastWithInvalidate = 0x16 "RC_SEND_LAST_WITH_INVALIDATE",
    RcSendOnlyWithInvalidate = 0x17 "RC_SEND_ONLY_WITH_INVALIDATE",
    RcFlush = 0x1c "RC_FLUSH",
    RcAtomicWrite = 0x1d "RC_ATOMIC_WRITE",
    UcSendFirst = 0x20 "UC_SEND_FIRST",
    UcSendMiddle = 0x21 "UC_SEND_MIDDLE",
    UcSendLast = 0x22 "UC_SEND_LAST",
    UcSendLastWithImmediate = 0x23 "UC_SEND_LAST_WITH_IMMEDIATE",
    UcSendOnly = 0x24 "UC_SEND_ONLY",
    UcSendOnlyWithImmediate = 0x25 "UC_SEND_ONLY_WITH_IMMEDIATE",
    UcRdmaWriteFirst = 0x26 "UC_RDMA_WRITE_FIRST",
    UcRdmaWriteMiddle = 0x27 "UC_RDMA_WRITE_MIDDLE",
    UcRdmaWriteLast = 0x28 "UC_RDMA_WRITE_LAST",
    UcRdmaWriteLastWithImmediate = 0x29 "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
    UcRdmaWriteOnly = 0x2a "UC_RDMA_WRITE_ONLY",
    UcRdmaWriteOnlyWithImmediate = 0x2b "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
    UdSendOnly = 0x64 "UD_SEND_ONLY",
    UdSendOnlyWithImmediate = 0x65 "UD_SEND_ONLY_WITH_IMMEDIATE",
    Cn = 0x80 "CN",
    Cnp = 0x81 "CNP",
    XrcSendFirst = 0xa0 "XRC_SEND_FIRST",
    XrcSendMiddle = 0xa1 "XRC_SEND_MIDDLE",
    XrcSendLast = 0xa2 "XRC_SEND_LAST",
    XrcSendLastWithImmediate = 0xa3 "XRC_SEND_LAST_WITH_IMMEDIATE",
    XrcSendOnly = 0xa4 "XRC_SEND_ONLY",
    XrcSendOnlyWithImmediate = 0xa5 "XRC_SEND_ONLY_WITH_IMMEDIATE",
    XrcRdmaWriteFirst = 0xa6 "XRC_RDMA_WRITE_FIRST",
    XrcRdmaWriteMiddle = 0xa7 "XRC_RDMA_WRITE_MIDDLE",
    XrcRdmaWriteLast = 0xa8 "XRC_RDMA_WRITE_LAST",
    XrcRdmaWriteLastWithImmediate = 0xa9 "XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
    XrcRdmaWriteOnly = 0xaa "XRC_RDMA_WRITE_ONLY",
    XrcRdmaWriteOnlyWithImmediate = 0xab "XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
    XrcRdmaReadRequest = 0xac "XRC_RDMA_READ_REQUEST",
    XrcRdmaReadResponseFirst = 0xad "XRC_RDMA_READ_RESPONSE_FIRST",
    XrcRdmaReadResponseMiddle = 0xae "XRC_RDMA_READ_RESPONSE_MIDDLE",
    XrcRdmaReadResponseLast = 0xaf "XRC_RDMA_READ_RESPONSE_LAST",
    XrcRdmaReadResponseOnly = 0xb0 "XRC_RDMA_READ_RESPONSE_ONLY",
    XrcAcknowledge = 0xb1 "XRC_ACKNOWLEDGE",
    XrcAtomicAcknowledge = 0xb2 "XRC_ATOMIC_ACKNOWLEDGE",
    XrcCompareSwap = 0xb3 "XRC_COMPARE_SWAP",
    XrcFetchAdd = 0xb4 "XRC_FETCH_ADD",
    XrcSendLastWithInvalidate = 0xb6 "XRC_SEND_LAST_WITH_INVALIDATE",
    XrcSendOnlyWithInvalidate = 0xb7 "XRC_SEND_ONLY_WITH_INVALIDATE",
    RcSelectiveAcknowledge = 0xd5 "RC_SELECTIVE_ACKNOWLEDGE",
}

/// The result of [`Opcode::operation`] for a congestion notification, whose low bits have another
/// meaning.
const NO_OPERATION: u8 = 0xff;

/// [`Opcode::operation`] of a selective acknowledge; the standard reserves the number.
const SELECTIVE_ACKNOWLEDGE: u8 = 0x15;

impl Opcode {
    /// The transport service.
    #[must_use]
    pub const fn transport(self) -> Transport {
        match self as u8 >> 5 {
            0b000 => Transport::Rc,
            0b001 => Transport::Uc,
            0b011 => Transport::Ud,
            0b100 => Transport::Cnp,
            0b101 => Transport::Xrc,
            // The only manufacturer's opcode with a name is for reliable connections.
            _ => Transport::Rc,
        }
    }

    /// The same operation on another transport service, if that service has it.
    ///
    /// ```
    /// # use rocelab_wire::{Opcode, Transport};
    /// let uc = Opcode::RcSendFirst.with_transport(Transport::Uc);
    /// assert_eq!(uc, Some(Opcode::UcSendFirst));
    /// assert_eq!(Opcode::RcFetchAdd.with_transport(Transport::Uc), None);
    /// ```
    #[must_use]
    pub const fn with_transport(self, transport: Transport) -> Option<Self> {
        match (self, transport) {
            (Self::Cn | Self::Cnp, Transport::Cnp) => Some(self),
            (Self::RcSelectiveAcknowledge, Transport::Rc) => Some(self),
            (Self::Cn | Self::Cnp | Self::RcSelectiveAcknowledge, _) | (_, Transport::Cnp) => None,
            _ => Self::from_u8((transport as u8) << 5 | self.operation()),
        }
    }

    /// Whether the packet starts a message of several packets.
    #[must_use]
    pub const fn is_first(self) -> bool {
        matches!(self.operation(), 0x00 | 0x06 | 0x0d)
    }

    /// Whether the packet continues a message.
    #[must_use]
    pub const fn is_middle(self) -> bool {
        matches!(self.operation(), 0x01 | 0x07 | 0x0e)
    }

    /// Whether the packet ends a message of several packets.
    #[must_use]
    pub const fn is_last(self) -> bool {
        matches!(self.operation(), 0x02 | 0x03 | 0x08 | 0x09 | 0x0f | 0x16)
    }

    /// Whether the packet is a whole message.
    #[must_use]
    pub const fn is_only(self) -> bool {
        !(self.is_first() || self.is_middle() || self.is_last())
    }

    /// Whether the packet is a congestion notification: CN in native InfiniBand, CNP in RoCE.
    #[must_use]
    pub const fn is_congestion_notification(self) -> bool {
        matches!(self, Self::Cn | Self::Cnp)
    }

    /// Whether the packet goes from requester to responder. A congestion notification is neither
    /// request nor response.
    #[must_use]
    pub const fn is_request(self) -> bool {
        !self.is_congestion_notification() && !self.is_response()
    }

    /// Whether the packet goes from responder to requester.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(self.operation(), 0x0d..=0x12 | SELECTIVE_ACKNOWLEDGE)
    }

    /// Whether the packet is (part of) a SEND.
    #[must_use]
    pub const fn is_send(self) -> bool {
        matches!(self.operation(), 0x00..=0x05 | 0x16 | 0x17)
    }

    /// Whether the packet is (part of) an RDMA WRITE.
    #[must_use]
    pub const fn is_rdma_write(self) -> bool {
        matches!(self.operation(), 0x06..=0x0b)
    }

    /// Whether the packet is an RDMA READ request.
    #[must_use]
    pub const fn is_rdma_read_request(self) -> bool {
        self.operation() == 0x0c
    }

    /// Whether the packet is (part of) an RDMA READ response.
    #[must_use]
    pub const fn is_rdma_read_response(self) -> bool {
        matches!(self.operation(), 0x0d..=0x10)
    }

    /// Whether the packet is a `COMPARE_SWAP` or `FETCH_ADD` request.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self.operation(), 0x13 | 0x14)
    }

    /// Whether packets with this opcode may carry payload.
    #[must_use]
    pub const fn has_payload(self) -> bool {
        !matches!(self.operation(), 0x0c | 0x11..=0x15 | 0x1c | NO_OPERATION)
    }

    /// Whether a [`Deth`](crate::Deth) follows the BTH.
    #[must_use]
    pub const fn has_deth(self) -> bool {
        matches!(self.transport(), Transport::Ud)
    }

    /// Whether an [`Xrceth`](crate::Xrceth) follows the BTH: on requests only.
    #[must_use]
    pub const fn has_xrceth(self) -> bool {
        matches!(self.transport(), Transport::Xrc) && self.is_request()
    }

    /// Whether there is a [`Feth`](crate::Feth).
    #[must_use]
    pub const fn has_feth(self) -> bool {
        self.operation() == 0x1c
    }

    /// Whether there is a [`Reth`](crate::Reth).
    #[must_use]
    pub const fn has_reth(self) -> bool {
        matches!(self.operation(), 0x06 | 0x0a | 0x0b | 0x0c | 0x1c | 0x1d)
    }

    /// Whether there is an [`AtomicEth`](crate::AtomicEth).
    #[must_use]
    pub const fn has_atomic_eth(self) -> bool {
        self.is_atomic()
    }

    /// Whether there is an [`Aeth`](crate::Aeth).
    #[must_use]
    pub const fn has_aeth(self) -> bool {
        matches!(self.operation(), 0x0d | 0x0f..=0x12 | SELECTIVE_ACKNOWLEDGE)
    }

    /// Whether there is a [`Sack`](crate::Sack).
    #[must_use]
    pub const fn has_sack(self) -> bool {
        self.operation() == SELECTIVE_ACKNOWLEDGE
    }

    /// Whether there is an [`AtomicAckEth`](crate::AtomicAckEth).
    #[must_use]
    pub const fn has_atomic_ack_eth(self) -> bool {
        self.operation() == 0x12
    }

    /// Whether there is an [`ImmDt`](crate::ImmDt).
    #[must_use]
    pub const fn has_immdt(self) -> bool {
        matches!(self.operation(), 0x03 | 0x05 | 0x09 | 0x0b)
    }

    /// Whether there is an [`Ieth`](crate::Ieth).
    #[must_use]
    pub const fn has_ieth(self) -> bool {
        matches!(self.operation(), 0x16 | 0x17)
    }

    /// Whether there is a [`Cnp`](crate::Cnp) body: in RoCE only, the CN of InfiniBand ends after its
    /// BTH.
    #[must_use]
    pub const fn has_cnp(self) -> bool {
        matches!(self, Self::Cnp)
    }

    /// The low five bits, which mean the same on every transport service but that of congestion
    /// notifications.
    const fn operation(self) -> u8 {
        if self.is_congestion_notification() { NO_OPERATION } else { self as u8 & 0x1f }
    }
}

/// The number is not that of a defined [`Opcode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{0:#04x} is not a defined opcode")]
pub struct UnknownOpcode(pub u8);

impl TryFrom<u8> for Opcode {
    type Error = UnknownOpcode;

    fn try_from(value: u8) -> Result<Self, UnknownOpcode> {
        Self::from_u8(value).ok_or(UnknownOpcode(value))
    }
}

impl From<Opcode> for u8 {
    fn from(opcode: Opcode) -> Self {
        opcode as Self
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!(Opcode::ALL.len(), 65);
        assert!(Opcode::ALL.is_sorted());
        for value in 0..=u8::MAX {
            match Opcode::try_from(value) {
                Ok(opcode) => assert_eq!(u8::from(opcode), value),
                Err(error) => assert_eq!(error, UnknownOpcode(value)),
            }
        }
        for opcode in Opcode::ALL {
            let prefix = if *opcode == Opcode::Cn { "CN" } else { opcode.transport().name() };
            assert!(opcode.name().starts_with(prefix));
        }
        assert_eq!(Opcode::RcRdmaWriteOnly.to_string(), "RC_RDMA_WRITE_ONLY");
    }

    #[test]
    fn position_follows_the_name() {
        for opcode in Opcode::ALL {
            let name = opcode.name();
            assert_eq!(opcode.is_first(), name.ends_with("_FIRST"), "{name}");
            assert_eq!(opcode.is_middle(), name.ends_with("_MIDDLE"), "{name}");
            assert_eq!(opcode.is_last(), name.contains("_LAST"), "{name}");
        }
    }

    #[test]
    fn headers_follow_the_name() {
        for opcode in Opcode::ALL {
            let name = opcode.name();
            assert_eq!(opcode.has_immdt(), name.contains("_WITH_IMMEDIATE"), "{name}");
            assert_eq!(opcode.has_ieth(), name.contains("_WITH_INVALIDATE"), "{name}");
            assert_eq!(opcode.is_send(), name.contains("_SEND_"), "{name}");
            assert_eq!(opcode.is_rdma_write(), name.contains("_RDMA_WRITE_"), "{name}");
            assert_eq!(opcode.is_rdma_read_response(), name.contains("_READ_RESPONSE_"), "{name}");
            let is_notification = matches!(name, "CN" | "CNP");
            assert_eq!(opcode.is_congestion_notification(), is_notification, "{name}");
            assert_ne!(opcode.is_request() || opcode.is_response(), is_notification, "{name}");
        }
    }

    #[test]
    fn a_selective_acknowledge_is_a_response_of_reliable_connections() {
        let sack = Opcode::RcSelectiveAcknowledge;
        assert!(sack.is_response() && sack.has_aeth() && sack.has_sack() && sack.is_only());
        assert!(!sack.has_payload() && !sack.is_rdma_read_response());
        assert_eq!((u8::from(sack), sack.transport()), (0xd5, Transport::Rc));
        assert_eq!(sack.with_transport(Transport::Rc), Some(sack));
        assert_eq!(sack.with_transport(Transport::Xrc), None);
        let others = Opcode::ALL.iter().filter(|opcode| **opcode != sack);
        assert_eq!(others.filter(|opcode| opcode.has_sack()).count(), 0);
    }

    #[test]
    fn an_optional_opcode_costs_no_byte() {
        assert_eq!(size_of::<Option<Opcode>>(), 1);
    }
}
