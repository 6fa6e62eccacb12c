//! The ECN field of IP, and the octet that it shares with the DSCP.

use core::fmt;

/// The two ECN bits of the IPv4 TOS octet or the IPv6 traffic class (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
#[cfg_attr(feature = "state", borsh(use_discriminant = false))]
pub enum Ecn {
    /// Not ECN-capable transport.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport, codepoint 1.
    Ect1 = 0b01,
    /// ECN-capable transport, codepoint 0: what RoCE senders use.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint in the low two bits of `octet`.
    #[must_use]
    pub const fn from_bits(octet: u8) -> Self {
        match octet & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a switch may mark the packet instead of dropping it.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotEct => "Not-ECT",
            Self::Ect1 => "ECT(1)",
            Self::Ect0 => "ECT(0)",
            Self::Ce => "CE",
        })
    }
}

/// The octet with a DSCP (6 bits) and an ECN codepoint (2 bits): IPv4 TOS, and traffic class of
/// IPv6 and GRH.
#[must_use]
pub const fn traffic_class(dscp: u8, ecn: Ecn) -> u8 {
    dscp << 2 | ecn as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octet_splits_and_joins() {
        for octet in 0..=u8::MAX {
            assert_eq!(traffic_class(octet >> 2, Ecn::from_bits(octet)), octet);
        }
        assert_eq!(traffic_class(26, Ecn::Ect0), 106);
        assert!(Ecn::Ce.is_capable() && !Ecn::NotEct.is_capable());
    }
}
