//! A path of a connection request.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};
use crate::{Gid, MAX_FLOW_LABEL};

/// The primary or the alternate path of a [`Req`](super::Req); an alternate path that is all zero
/// is absent.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |           local LID           |          remote LID           |
/// +-------------------------------+-------------------------------+
/// |                     local GID (128 bits)                      |
/// +---------------------------------------------------------------+
/// |                     remote GID (128 bits)                     |
/// +---------------------------------------+-----------+-----------+
/// |              flow label               |   resv6   |   rate    |
/// +---------------+---------------+-------+-+-----+---+-----+-----+
/// | traffic class |   hop limit   |  SL   |L| rsv | ack tmo | rsv |
/// +---------------+---------------+-------+-+-----+---------+-----+
/// ```
///
/// Layout: Linux `include/rdma/ibta_vol1_c12.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CmPath {
    /// Local identifier of the sender's port; 0xffff (permissive) in RoCE.
    pub local_lid: u16,
    /// Local identifier of the receiver's port; 0xffff in RoCE.
    pub remote_lid: u16,
    /// GID of the sender's port.
    pub local_gid: Gid,
    /// GID of the receiver's port.
    pub remote_gid: Gid,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Reserved, 6 bits.
    pub resv6: u8,
    /// Static rate, a code of 6 bits.
    pub packet_rate: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Service level, 4 bits.
    pub service_level: u8,
    /// Whether the path stays within the subnet ("L" above).
    pub subnet_local: bool,
    /// Reserved, 3 bits.
    pub resv3: u8,
    /// Local ACK timeout that the receiver's queue pair is to use: 4.096 us x 2^n, n of 5 bits.
    pub local_ack_timeout: u8,
    /// Reserved, 3 bits.
    pub last_resv3: u8,
}

impl CmPath {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 44;

    /// The LID of a path that needs none, as in RoCE.
    pub const PERMISSIVE_LID: u16 = 0xffff;

    /// Reads the path at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        prefix::<{ Self::LEN }>(bytes, Layer::Mad).map(Self::from_bytes)
    }

    pub(super) fn from_bytes(path: &[u8; Self::LEN]) -> Self {
        let labels = u32::from_be_bytes(get::<36, _, _>(path));
        let [_, _, resv_and_rate_high, rate_low] = labels.to_be_bytes();
        let [traffic_class, hop_limit, level, timeout] = get::<40, 4, _>(path);
        Self {
            local_lid: u16::from_be_bytes(get::<0, _, _>(path)),
            remote_lid: u16::from_be_bytes(get::<2, _, _>(path)),
            local_gid: Gid(get::<4, _, _>(path)),
            remote_gid: Gid(get::<20, _, _>(path)),
            flow_label: labels >> 12,
            resv6: (resv_and_rate_high & 0x0f) << 2 | rate_low >> 6,
            packet_rate: rate_low & 0x3f,
            traffic_class,
            hop_limit,
            service_level: level >> 4,
            subnet_local: level & 0x08 != 0,
            resv3: level & 0x07,
            local_ack_timeout: timeout >> 3,
            last_resv3: timeout & 0x07,
        }
    }

    /// The path as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut path = [0; Self::LEN];
        put::<0, _, _>(&mut path, self.local_lid.to_be_bytes());
        put::<2, _, _>(&mut path, self.remote_lid.to_be_bytes());
        put::<4, _, _>(&mut path, self.local_gid.0);
        put::<20, _, _>(&mut path, self.remote_gid.0);
        let labels = (self.flow_label & MAX_FLOW_LABEL) << 12
            | u32::from(self.resv6 & 0x3f) << 6
            | u32::from(self.packet_rate & 0x3f);
        put::<36, _, _>(&mut path, labels.to_be_bytes());
        let level = self.service_level << 4 | u8::from(self.subnet_local) << 3 | self.resv3 & 0x07;
        let timeout = self.local_ack_timeout << 3 | self.last_resv3 & 0x07;
        put::<40, _, _>(&mut path, [self.traffic_class, self.hop_limit, level, timeout]);
        path
    }
}

impl fmt::Display for CmPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} > {}, flow label {:#07x}, tclass {:#04x}, hop limit {}, ack timeout {}",
            self.local_gid,
            self.remote_gid,
            self.flow_label,
            self.traffic_class,
            self.hop_limit,
            self.local_ack_timeout
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        CmPath,
        bytes: [
            0xff, 0xff, 0xff, 0xff,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1,
            0x00, 0x31, 0x70, 0x31, 0x00, 0x40, 0x00, 0x98,
        ],
        value: CmPath {
            local_lid: CmPath::PERMISSIVE_LID,
            remote_lid: CmPath::PERMISSIVE_LID,
            local_gid: Gid::from_ipv4([10, 0, 0, 2]),
            remote_gid: Gid::from_ipv4([10, 0, 0, 1]),
            flow_label: 0x317,
            packet_rate: 0x31,
            hop_limit: 64,
            local_ack_timeout: 19,
            ..CmPath::default()
        },
        display: "::ffff:10.0.0.2 > ::ffff:10.0.0.1, flow label 0x00317, tclass 0x00, \
                  hop limit 64, ack timeout 19",
    }
}
