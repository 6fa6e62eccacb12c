//! The header that all management datagrams have.

use core::fmt;

use super::CmAttribute;
use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// The common header of a management datagram (MAD).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+---------------+---------------+
/// | base version  |  mgmt. class  | class version |    method     |
/// +---------------+---------------+---------------+---------------+
/// |            status             |        class specific         |
/// +-------------------------------+-------------------------------+
/// |                   transaction ID (64 bits)                    |
/// +-------------------------------+-------------------------------+
/// |         attribute ID          |           reserved            |
/// +-------------------------------+-------------------------------+
/// |                      attribute modifier                       |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `include/rdma/ib_mad.h`, `struct ib_mad_hdr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MadHeader {
    /// Version of this header: 1.
    pub base_version: u8,
    /// The management class that handles it: 7 for CM.
    pub management_class: u8,
    /// Version of the class's messages: 2 for CM.
    pub class_version: u8,
    /// The kind of operation: always Send (3) in CM.
    pub method: u8,
    /// Status of a response; 0 in CM.
    pub status: u16,
    /// A value with a meaning that the class defines; 0 in CM.
    pub class_specific: u16,
    /// Chosen by the sender of a request, repeated in its answers.
    pub transaction_id: u64,
    /// The message that follows, see [`Self::cm_attribute`].
    pub attribute_id: u16,
    /// Reserved.
    pub resv: u16,
    /// Details of the attribute; 0 in CM.
    pub attribute_modifier: u32,
}

impl MadHeader {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 24;

    /// The [base version](Self::base_version) in use.
    pub const BASE_VERSION: u8 = 1;

    /// The [management class](Self::management_class) of communication management.
    pub const CM_CLASS: u8 = 0x07;

    /// The [class version](Self::class_version) of communication management (Linux
    /// `drivers/infiniband/core/cm_msgs.h`).
    pub const CM_CLASS_VERSION: u8 = 2;

    /// The [method](Self::method) Send.
    pub const METHOD_SEND: u8 = 0x03;

    /// The header of a CM message with this attribute ID, see [`CmAttribute::to_u16`].
    #[must_use]
    pub const fn cm(transaction_id: u64, attribute_id: u16) -> Self {
        Self {
            base_version: Self::BASE_VERSION,
            management_class: Self::CM_CLASS,
            class_version: Self::CM_CLASS_VERSION,
            method: Self::METHOD_SEND,
            status: 0,
            class_specific: 0,
            transaction_id,
            attribute_id,
            resv: 0,
            attribute_modifier: 0,
        }
    }

    /// The CM message that follows; `None` for another class, or for an unknown version or
    /// attribute of CM.
    #[must_use]
    pub fn cm_attribute(&self) -> Option<CmAttribute> {
        let is_cm =
            self.management_class == Self::CM_CLASS && self.class_version == Self::CM_CLASS_VERSION;
        if is_cm { CmAttribute::from_u16(self.attribute_id) } else { None }
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Mad)?;
        Ok(Self {
            base_version: header[0],
            management_class: header[1],
            class_version: header[2],
            method: header[3],
            status: u16::from_be_bytes(get::<4, _, _>(header)),
            class_specific: u16::from_be_bytes(get::<6, _, _>(header)),
            transaction_id: u64::from_be_bytes(get::<8, _, _>(header)),
            attribute_id: u16::from_be_bytes(get::<16, _, _>(header)),
            resv: u16::from_be_bytes(get::<18, _, _>(header)),
            attribute_modifier: u32::from_be_bytes(get::<20, _, _>(header)),
        })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        let first = [self.base_version, self.management_class, self.class_version, self.method];
        put::<0, _, _>(&mut header, first);
        put::<4, _, _>(&mut header, self.status.to_be_bytes());
        put::<6, _, _>(&mut header, self.class_specific.to_be_bytes());
        put::<8, _, _>(&mut header, self.transaction_id.to_be_bytes());
        put::<16, _, _>(&mut header, self.attribute_id.to_be_bytes());
        put::<18, _, _>(&mut header, self.resv.to_be_bytes());
        put::<20, _, _>(&mut header, self.attribute_modifier.to_be_bytes());
        header
    }
}

impl fmt::Display for MadHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cm_attribute() {
            Some(attribute) => write!(f, "CM {attribute}")?,
            None => write!(
                f,
                "MAD class {:#04x} version {} attribute {:#06x}",
                self.management_class, self.class_version, self.attribute_id
            )?,
        }
        if self.method != Self::METHOD_SEND {
            write!(f, " method {:#04x}", self.method)?;
        }
        if self.status != 0 {
            write!(f, " status {:#06x}", self.status)?;
        }
        write!(f, " tid {:#018x}", self.transaction_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        MadHeader,
        bytes: [
            1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0x22, 0xd8, 0xfc, 0xbe, 0, 0x10, 0, 0, 0, 0, 0, 0,
        ],
        value: MadHeader::cm(0x0000_0002_22d8_fcbe, CmAttribute::Req.to_u16()),
        display: "CM REQ tid 0x0000000222d8fcbe",
    }

    #[test]
    fn other_classes_and_versions_are_not_cm() {
        let cm = MadHeader::cm(1, CmAttribute::Rtu.to_u16());
        assert_eq!(cm.cm_attribute(), Some(CmAttribute::Rtu));
        let version = MadHeader { class_version: 1, ..cm };
        assert_eq!(version.cm_attribute(), None);
        let class = MadHeader { management_class: 3, method: 1, status: 4, ..cm };
        assert_eq!(class.cm_attribute(), None);
        assert_eq!(
            class.to_string(),
            "MAD class 0x03 version 2 attribute 0x0014 method 0x01 status 0x0004 \
             tid 0x0000000000000001"
        );
    }
}
