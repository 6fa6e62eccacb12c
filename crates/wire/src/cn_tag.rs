//! 802.1Qau congestion notification tag.

use core::fmt;

use crate::EtherType;
use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// Congestion notification tag (CN-TAG, 802.1Qau), after the 802.1Q tags: identifies the flow of a
/// frame at its sender.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |       EtherType 0x22e9        |            flow ID            |
/// +-------------------------------+-------------------------------+
/// ```
///
/// A [`Cnm`](crate::Cnm) about such a frame carries the same tag back. Layout: HPE FlexFabric 5940
/// QoS guide; it could not be checked with a dissector or a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CnTag {
    /// The sender's identifier of the flow.
    pub flow_id: u16,
}

impl CnTag {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads EtherType and flow ID at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes,
    /// [`ParseError::Field`] if the EtherType is another.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [t0, t1, f0, f1] = *prefix(bytes, Layer::CnTag)?;
        let found = EtherType(u16::from_be_bytes([t0, t1]));
        if found == EtherType::CN_TAG {
            Ok(Self { flow_id: u16::from_be_bytes([f0, f1]) })
        } else {
            let value = found.0.into();
            Err(ParseError::Field { layer: Layer::CnTag, field: "EtherType", value, offset: 0 })
        }
    }

    /// EtherType and flow ID as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [t0, t1] = EtherType::CN_TAG.0.to_be_bytes();
        let [f0, f1] = self.flow_id.to_be_bytes();
        [t0, t1, f0, f1]
    }
}

impl fmt::Display for CnTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CN-TAG flow {}", self.flow_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        CnTag,
        bytes: [0x22, 0xe9, 0x47, 0xd5],
        value: CnTag { flow_id: 18_389 },
        display: "CN-TAG flow 18389",
        arbitrary: |[_, _, f0, f1]| [0x22, 0xe9, f0, f1],
    }

    #[test]
    fn other_ether_types_are_refused() {
        let error = CnTag::parse(&[0x81, 0, 0, 1]).unwrap_err();
        assert_eq!(error.to_string(), "CN-TAG at byte 0 has an impossible EtherType: 33024");
    }
}
