//! Memory regions and what their keys allow.

use core::fmt;

/// What a remote requester may do with a memory region.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct Access {
    /// RDMA READ.
    pub remote_read: bool,
    /// RDMA WRITE, with or without immediate data.
    pub remote_write: bool,
    /// COMPARE_SWAP and FETCH_ADD.
    pub remote_atomic: bool,
}

impl Access {
    /// Everything.
    pub const ALL: Self = Self { remote_read: true, remote_write: true, remote_atomic: true };

    /// Whether this allows what is wanted.
    #[must_use]
    pub const fn allows(self, wanted: RemoteAccess) -> bool {
        match wanted {
            RemoteAccess::Read => self.remote_read,
            RemoteAccess::Write => self.remote_write,
            RemoteAccess::Atomic => self.remote_atomic,
        }
    }
}

/// A kind of remote access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAccess {
    /// RDMA READ.
    Read,
    /// RDMA WRITE.
    Write,
    /// COMPARE_SWAP or FETCH_ADD.
    Atomic,
}

/// A stretch of memory that remote requesters name by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct MemoryRegion {
    /// The key that a RETH or AtomicETH must carry.
    pub r_key: u32,
    /// Its first address.
    pub address: u64,
    /// Its length (bytes).
    pub length: u64,
    /// What the key allows.
    pub access: Access,
}

impl MemoryRegion {
    /// Whether `length` bytes from `address` on lie inside.
    #[must_use]
    pub const fn holds(&self, address: u64, length: u64) -> bool {
        let Some(offset) = address.checked_sub(self.address) else { return false };
        offset <= self.length && length <= self.length - offset
    }
}

impl fmt::Display for MemoryRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r_key {:#x}: {} bytes at {:#x}", self.r_key, self.length, self.address)
    }
}

/// Why memory was not registered or placed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The key belongs to a region already.
    #[error("r_key {r_key:#x} belongs to another region")]
    KeyInUse {
        /// The key given.
        r_key: u32,
    },
    /// The stretch goes beyond the last address.
    #[error("{length} bytes at {address:#x} go beyond the last address")]
    BeyondAddressSpace {
        /// The address given.
        address: u64,
        /// The length given (bytes).
        length: u64,
    },
    /// There are bytes at some of these addresses already.
    #[error("there are bytes at {address:#x} already")]
    Overlap {
        /// The first address of the bytes that are there.
        address: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let region = MemoryRegion { r_key: 1, address: 0x1000, length: 16, access: Access::ALL };
        for (address, length, inside) in [
            (0x1000, 16, true),
            (0x1000, 17, false),
            (0x100f, 1, true),
            (0x1010, 0, true),
            (0x1010, 1, false),
            (0x0fff, 1, false),
            (0x1008, u64::MAX, false),
        ] {
            assert_eq!(region.holds(address, length), inside, "{length} at {address:#x}");
        }
    }
}
