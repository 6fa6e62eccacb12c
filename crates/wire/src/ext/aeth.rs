//! ACK Extended Transport Header.

use core::fmt;

use crate::bits::{prefix, u24, u24_to_be_bytes};
use crate::error::{Layer, ParseError};

/// ACK Extended Transport Header (AETH): in acknowledges and in the first, last and only
/// packets of read responses.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+---+---------+-----------------------------------------------+
/// |0|typ|  value  |                      MSN                      |
/// +-+---+---------+-----------------------------------------------+
///     syndrome
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Aeth {
    /// The responder's answer.
    pub syndrome: Syndrome,
    /// Message sequence number: requests completed so far, 24 bits.
    pub msn: u32,
}

impl Aeth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [syndrome, a, b, c] = *prefix(bytes, Layer::Aeth)?;
        Ok(Self { syndrome: Syndrome::from_u8(syndrome), msn: u24([a, b, c]) })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [a, b, c] = u24_to_be_bytes(self.msn);
        [self.syndrome.to_u8(), a, b, c]
    }
}

impl fmt::Display for Aeth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AETH {}, msn {}", self.syndrome, self.msn)
    }
}

/// The responder's answer: all values of the syndrome octet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub enum Syndrome {
    /// Everything up to the PSN has arrived (0x00 to 0x1f).
    Ack {
        /// Number of further messages that may be sent, 5 bits: see [`credits`].
        credit_code: u8,
    },
    /// Receiver not ready: send the packet again, but later (0x20 to 0x3f).
    RnrNak {
        /// Time to wait, 5 bits: see [`rnr_timer_ns`].
        timer_code: u8,
    },
    /// The request was refused (0x60 to 0x64).
    Nak(NakCode),
    /// A value without a meaning; this is the whole octet.
    Reserved(u8),
}

impl Syndrome {
    /// The credit code "no limit": the responder has no end-to-end flow control.
    pub const UNLIMITED_CREDITS: u8 = 31;

    /// An ACK without end-to-end flow control (0x1f).
    pub const ACK: Self = Self::Ack { credit_code: Self::UNLIMITED_CREDITS };

    /// The meaning of a syndrome octet.
    #[must_use]
    pub const fn from_u8(octet: u8) -> Self {
        let value = octet & VALUE;
        match octet & !VALUE {
            0x00 => Self::Ack { credit_code: value },
            RNR_NAK => Self::RnrNak { timer_code: value },
            NAK => match NakCode::from_u8(value) {
                Some(code) => Self::Nak(code),
                None => Self::Reserved(octet),
            },
            _ => Self::Reserved(octet),
        }
    }

    /// The syndrome octet; codes are cut to five bits.
    #[must_use]
    pub const fn to_u8(self) -> u8 {
        match self {
            Self::Ack { credit_code } => credit_code & VALUE,
            Self::RnrNak { timer_code } => RNR_NAK | timer_code & VALUE,
            Self::Nak(code) => NAK | code as u8,
            Self::Reserved(octet) => octet,
        }
    }
}

const VALUE: u8 = 0x1f;
const RNR_NAK: u8 = 0x20;
const NAK: u8 = 0x60;

impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ack { credit_code } => match credits(*credit_code) {
                Some(credits) => write!(f, "ACK, credits {credits}"),
                None => f.write_str("ACK"),
            },
            Self::RnrNak { timer_code } => {
                write!(f, "RNR NAK, timer {} us", rnr_timer_ns(*timer_code) / 1000)
            }
            Self::Nak(code) => write!(f, "NAK {code}"),
            Self::Reserved(octet) => write!(f, "reserved syndrome {octet:#04x}"),
        }
    }
}

/// The reason for refusing a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
#[cfg_attr(feature = "state", borsh(use_discriminant = false))]
pub enum NakCode {
    /// A packet was skipped. The PSN in the NAK's BTH is the expected one.
    PsnSequenceError = 0,
    /// The request is invalid here: opcode, order or length.
    InvalidRequest = 1,
    /// The key, address range or access right does not allow the request.
    RemoteAccessError = 2,
    /// The responder cannot continue.
    RemoteOperationalError = 3,
    /// Reliable datagram only.
    InvalidRdRequest = 4,
}

impl NakCode {
    /// The code in the low five bits of a NAK syndrome, if it is defined.
    #[must_use]
    pub const fn from_u8(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::PsnSequenceError),
            1 => Some(Self::InvalidRequest),
            2 => Some(Self::RemoteAccessError),
            3 => Some(Self::RemoteOperationalError),
            4 => Some(Self::InvalidRdRequest),
            _ => None,
        }
    }
}

impl fmt::Display for NakCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PsnSequenceError => "PSN sequence error",
            Self::InvalidRequest => "invalid request",
            Self::RemoteAccessError => "remote access error",
            Self::RemoteOperationalError => "remote operational error",
            Self::InvalidRdRequest => "invalid RD request",
        })
    }
}

/// Credits by credit code (Linux `drivers/infiniband/sw/rdmavt/rc.c`, `credit_table`).
const CREDITS: [u32; 31] = [
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768,
];

/// Number of messages that a credit code allows; `None` means "no limit" (code 31). Only the low
/// five bits are used.
#[must_use]
pub fn credits(credit_code: u8) -> Option<u32> {
    CREDITS.get(usize::from(credit_code & VALUE)).copied()
}

/// The code for the largest number of credits that is at most `credits`.
#[must_use]
pub fn credit_code(credits: u32) -> u8 {
    (0..=30).rev().find(|code| CREDITS[usize::from(*code)] <= credits).unwrap_or(0)
}

/// RNR timers by timer code, in units of 10 us (IBTA table 45; Linux
/// `drivers/infiniband/sw/rxe/rxe_comp.c`).
const RNR_TIMERS: [u32; 32] = [
    65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 49_152,
];

/// Time that the requester waits after an RNR NAK, in ns. Only the low five bits of the code are
/// used; code 0 is the longest wait.
#[must_use]
pub const fn rnr_timer_ns(timer_code: u8) -> u64 {
    RNR_TIMERS[(timer_code & VALUE) as usize] as u64 * 10_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Aeth,
        bytes: [0x60, 0x0e, 0x6f, 0x02],
        value: Aeth { syndrome: Syndrome::Nak(NakCode::PsnSequenceError), msn: 0x0e_6f02 },
        display: "AETH NAK PSN sequence error, msn 945922",
    }

    #[test]
    fn every_syndrome_comes_back() {
        for octet in 0..=u8::MAX {
            let syndrome = Syndrome::from_u8(octet);
            assert_eq!(syndrome.to_u8(), octet);
            let reserved = matches!(octet, 0x40..=0x5f | 0x65..);
            assert_eq!(matches!(syndrome, Syndrome::Reserved(_)), reserved, "{octet:#x}");
        }
    }

    #[test]
    fn syndromes_read_like_a_trace() {
        assert_eq!(Syndrome::ACK.to_u8(), 0x1f);
        assert_eq!(Syndrome::ACK.to_string(), "ACK");
        assert_eq!(Syndrome::from_u8(0x05).to_string(), "ACK, credits 6");
        assert_eq!(Syndrome::from_u8(0x2e).to_string(), "RNR NAK, timer 1280 us");
        assert_eq!(Syndrome::from_u8(0x62).to_string(), "NAK remote access error");
    }

    #[test]
    fn credit_codes_come_back() {
        assert_eq!(credits(31), None);
        for code in 0..=30 {
            let credits = credits(code).unwrap();
            assert_eq!(credit_code(credits), code);
        }
        assert_eq!(credit_code(5), 4);
        assert_eq!(credit_code(u32::MAX), 30);
    }

    #[test]
    fn rnr_timers() {
        assert_eq!(rnr_timer_ns(0), 655_360_000);
        assert_eq!(rnr_timer_ns(1), 10_000);
        assert_eq!(rnr_timer_ns(14), 1_280_000);
        assert_eq!(rnr_timer_ns(25), 61_440_000);
        assert_eq!(rnr_timer_ns(31), 491_520_000);
        assert!((2..32).all(|code| rnr_timer_ns(code - 1) < rnr_timer_ns(code)));
    }
}
