//! The CM messages, by attribute ID.

use core::fmt;

/// The attribute ID of a MAD of the CM class (Linux `include/rdma/ib_cm.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
#[cfg_attr(feature = "state", borsh(use_discriminant = false))]
pub enum CmAttribute {
    /// Connection request.
    Req = 0x0010,
    /// Message receipt acknowledgement: the answer takes longer.
    Mra = 0x0011,
    /// Connection reject.
    Rej = 0x0012,
    /// Connection reply.
    Rep = 0x0013,
    /// Ready to use.
    Rtu = 0x0014,
    /// Disconnection request.
    Dreq = 0x0015,
    /// Disconnection reply.
    Drep = 0x0016,
    /// Service ID resolution request.
    SidrReq = 0x0017,
    /// Service ID resolution reply.
    SidrRep = 0x0018,
    /// Load alternate path.
    Lap = 0x0019,
    /// Alternate path response.
    Apr = 0x001a,
}

impl CmAttribute {
    /// All of them, by number.
    pub const ALL: [Self; 11] = [
        Self::Req,
        Self::Mra,
        Self::Rej,
        Self::Rep,
        Self::Rtu,
        Self::Dreq,
        Self::Drep,
        Self::SidrReq,
        Self::SidrRep,
        Self::Lap,
        Self::Apr,
    ];

    /// The attribute with this ID, if CM has it.
    #[must_use]
    pub fn from_u16(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| *attribute as u16 == id)
    }

    /// The attribute ID on the wire.
    #[must_use]
    pub const fn to_u16(self) -> u16 {
        self as u16
    }

    /// The message's usual name, in capitals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Req => "REQ",
            Self::Mra => "MRA",
            Self::Rej => "REJ",
            Self::Rep => "REP",
            Self::Rtu => "RTU",
            Self::Dreq => "DREQ",
            Self::Drep => "DREP",
            Self::SidrReq => "SIDR_REQ",
            Self::SidrRep => "SIDR_REP",
            Self::Lap => "LAP",
            Self::Apr => "APR",
        }
    }
}

impl fmt::Display for CmAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_these_ids_exist() {
        let found: Vec<u16> =
            (0..=u16::MAX).filter(|id| CmAttribute::from_u16(*id).is_some()).collect();
        assert_eq!(found, (0x10..=0x1a).collect::<Vec<u16>>());
        assert_eq!(CmAttribute::ALL.map(CmAttribute::to_u16).to_vec(), found);
    }
}
