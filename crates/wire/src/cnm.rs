//! 802.1Qau congestion notification message.

use core::fmt;

use crate::MacAddress;
use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// Congestion notification message (CNM, 802.1Qau; "QCN"), the frame by which a congestion point
/// in a switch slows down the sender of a frame that it sampled.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-----------+-----------+-------------------------------+
/// |version| reserved  | feedback  |              CPID             |
/// +-------+-----------+-----------+-------------------------------+
/// |                        CPID (64 bits)                         |
/// +-------------------------------+-------------------------------+
/// |              CPID             |          cnmQOffset           |
/// +-------------------------------+-----+-------------------------+
/// |           cnmQDelta           | PCP |       reserved          |
/// +-------------------------------+-----+-------------------------+
/// |              encapsulated destination address                 |
/// +-------------------------------+-------------------------------+
/// |         destination           |   encapsulated MSDU length    |
/// +-------------------------------+-------------------------------+
/// ```
///
/// Up to 64 bytes of the sampled frame's MSDU follow. The frame goes to the source address of the
/// sampled one, with its VLAN tag, and its [`CnTag`](crate::CnTag) if it had one. Layout: HPE
/// FlexFabric 5940 QoS guide; it could not be checked with a dissector or a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct Cnm {
    /// Version, 4 bits: 0.
    pub version: u8,
    /// Reserved, 6 bits.
    pub resv6: u8,
    /// Quantized feedback, 6 bits: how much the sender shall slow down.
    pub quantized_feedback: u8,
    /// Congestion point identifier: the queue in the network.
    pub cpid: u64,
    /// Distance of the queue's length above its set point, in the congestion point's units.
    pub q_offset: i16,
    /// Change of the queue's length since the last sample, in the same units.
    pub q_delta: i16,
    /// Priority code point of the sampled frame, 3 bits.
    pub encapsulated_priority: u8,
    /// Reserved, 13 bits.
    pub resv13: u16,
    /// Destination address of the sampled frame.
    pub encapsulated_destination: MacAddress,
    /// Number of bytes of the sampled frame that follow: at most [`Self::MAX_MSDU_LEN`].
    pub encapsulated_msdu_len: u16,
}

impl Cnm {
    /// Length on the wire, without the bytes of the sampled frame, in bytes.
    pub const LEN: usize = 24;

    /// Most bytes of the sampled frame that a congestion point sends.
    pub const MAX_MSDU_LEN: usize = 64;

    /// Reads the fixed part of the message at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Cnm)?;
        let [first, second, ..] = *header;
        let priority = u16::from_be_bytes(get::<14, _, _>(header));
        Ok(Self {
            version: first >> 4,
            resv6: (first & 0x0f) << 2 | second >> 6,
            quantized_feedback: second & 0x3f,
            cpid: u64::from_be_bytes(get::<2, _, _>(header)),
            q_offset: i16::from_be_bytes(get::<10, _, _>(header)),
            q_delta: i16::from_be_bytes(get::<12, _, _>(header)),
            encapsulated_priority: header[14] >> 5,
            resv13: priority & 0x1fff,
            encapsulated_destination: MacAddress(get::<16, _, _>(header)),
            encapsulated_msdu_len: u16::from_be_bytes(get::<22, _, _>(header)),
        })
    }

    /// The fixed part as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let resv6 = self.resv6 & 0x3f;
        let priority = u16::from(self.encapsulated_priority) << 13 | self.resv13 & 0x1fff;
        let mut header = [0; Self::LEN];
        put::<0, _, _>(
            &mut header,
            [self.version << 4 | resv6 >> 2, resv6 << 6 | self.quantized_feedback & 0x3f],
        );
        put::<2, _, _>(&mut header, self.cpid.to_be_bytes());
        put::<10, _, _>(&mut header, self.q_offset.to_be_bytes());
        put::<12, _, _>(&mut header, self.q_delta.to_be_bytes());
        put::<14, _, _>(&mut header, priority.to_be_bytes());
        put::<16, _, _>(&mut header, self.encapsulated_destination.0);
        put::<22, _, _>(&mut header, self.encapsulated_msdu_len.to_be_bytes());
        header
    }
}

impl fmt::Display for Cnm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CNM cpid {:#018x}, feedback {}, qoffset {}, qdelta {}, p {}, dst {}, msdu {}",
            self.cpid,
            self.quantized_feedback,
            self.q_offset,
            self.q_delta,
            self.encapsulated_priority,
            self.encapsulated_destination,
            self.encapsulated_msdu_len
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Cnm,
        bytes: [
            0x10, 0x6c, 0x65, 0x27, 0x88, 0x76, 0x0b, 0xe2, 0xb7, 0x0e, 0xfe, 0xd1, 0xff, 0x29, 0xa0,
            0x01, 0x02, 0x17, 0x47, 0xef, 0x27, 0x40, 0x00, 0x40,
        ],
        value: Cnm {
            version: 1,
            resv6: 1,
            quantized_feedback: 44,
            cpid: 0x6527_8876_0be2_b70e,
            q_offset: -303,
            q_delta: -215,
            encapsulated_priority: 5,
            resv13: 1,
            encapsulated_destination: MacAddress([2, 0x17, 0x47, 0xef, 0x27, 0x40]),
            encapsulated_msdu_len: 64,
        },
        display: "CNM cpid 0x652788760be2b70e, feedback 44, qoffset -303, qdelta -215, p 5, \
                  dst 02:17:47:ef:27:40, msdu 64",
    }
}
