//! A host's memory as its NIC sees it: who may access what, and, where asked for, what is there.

mod bytes;
mod region;

use std::collections::BTreeMap;

use self::bytes::AddressSpace;
pub use self::region::{Access, MemoryError, MemoryRegion, RemoteAccess};

/// Memory behind a NIC.
///
/// Three uses, from cheap to exact. A NIC without any allows every access and looks at nothing.
/// [`open`](Self::open) memory allows every access, and holds the words that atomic operations
/// change and the bytes that were [placed](Self::place). [`protected`](Self::protected) memory
/// allows remote access only by the key of a registered region, within its bounds (IBTA: NAK
/// "remote access error" otherwise).
///
/// Where bytes were placed, packets carry real payload.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Memory {
    /// By key; none where everything is allowed.
    regions: Option<BTreeMap<u32, MemoryRegion>>,
    space: AddressSpace,
}

impl Memory {
    /// Memory of which every address may be accessed with any key.
    #[must_use]
    pub fn open() -> Self {
        Self::default()
    }

    /// Memory that nobody may access before regions are registered.
    #[must_use]
    pub fn protected() -> Self {
        Self { regions: Some(BTreeMap::new()), ..Self::default() }
    }

    /// Registers a region; from now on memory is protected.
    ///
    /// # Errors
    /// If the key is in use, or the region goes beyond the last address.
    pub fn register(&mut self, region: MemoryRegion) -> Result<(), MemoryError> {
        let MemoryRegion { r_key, address, length, .. } = region;
        if address.checked_add(length).is_none() {
            return Err(MemoryError::BeyondAddressSpace { address, length });
        }
        let regions = self.regions.get_or_insert_default();
        if regions.contains_key(&r_key) {
            return Err(MemoryError::KeyInUse { r_key });
        }
        regions.insert(r_key, region);
        Ok(())
    }

    /// Makes a key useless, as SEND with invalidate does. Returns whether it was in use.
    pub fn invalidate(&mut self, r_key: u32) -> bool {
        self.regions.as_mut().is_some_and(|regions| regions.remove(&r_key).is_some())
    }

    /// Whether a requester with this key may do this with `length` bytes at `address`. Nothing is
    /// asked of an access of no bytes.
    #[must_use]
    pub fn allows(&self, r_key: u32, address: u64, length: u64, wanted: RemoteAccess) -> bool {
        let Some(regions) = &self.regions else { return true };
        length == 0
            || regions
                .get(&r_key)
                .is_some_and(|region| region.access.allows(wanted) && region.holds(address, length))
    }

    /// Puts bytes there, which remote and local operations read and write from now on.
    ///
    /// # Errors
    /// If there are bytes at some of these addresses already, or the stretch goes beyond the last
    /// address.
    pub fn place(&mut self, address: u64, bytes: Vec<u8>) -> Result<(), MemoryError> {
        self.space.place(address, bytes)
    }

    /// The `length` bytes at `address`, if all of them were placed in one piece.
    #[must_use]
    pub fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        self.space.bytes(address, length)
    }

    /// Whether anything was placed: if so, packets carry payload.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.space.has_bytes()
    }

    /// Payload for a packet: what was placed there, zeros elsewhere.
    pub(crate) fn load(&self, address: u64, length: usize) -> Box<[u8]> {
        self.space.load(address, length)
    }

    /// Payload of a packet arrives: bytes for addresses where nothing was placed are dropped.
    pub(crate) fn store(&mut self, address: u64, payload: &[u8]) {
        self.space.store(address, payload);
    }

    /// Stores `change(value)` in the eight bytes at `address`, and gives the value before. Words
    /// are in the byte order of the hosts that we know: little-endian.
    pub(crate) fn exchange(&mut self, address: u64, change: impl FnOnce(u64) -> u64) -> u64 {
        self.space.exchange(address, change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(r_key: u32, access: Access) -> MemoryRegion {
        MemoryRegion { r_key, address: 0x1000, length: 0x100, access }
    }

    #[test]
    fn open_memory_allows_everything_and_protected_memory_nothing() {
        for wanted in [RemoteAccess::Read, RemoteAccess::Write, RemoteAccess::Atomic] {
            assert!(Memory::open().allows(7, u64::MAX, u64::MAX, wanted));
            assert!(!Memory::protected().allows(7, 0, 1, wanted));
            assert!(Memory::protected().allows(7, 0, 0, wanted));
        }
    }

    #[test]
    fn a_key_allows_what_it_says_until_it_is_invalidated() {
        let mut memory = Memory::protected();
        let read_only = Access { remote_read: true, ..Access::default() };
        memory.register(region(7, read_only)).unwrap();
        assert!(memory.allows(7, 0x1000, 0x100, RemoteAccess::Read));
        assert!(!memory.allows(7, 0x1000, 0x101, RemoteAccess::Read));
        assert!(!memory.allows(7, 0x1000, 1, RemoteAccess::Write));
        assert!(!memory.allows(7, 0x1000, 8, RemoteAccess::Atomic));
        assert!(!memory.allows(8, 0x1000, 1, RemoteAccess::Read));
        assert!(memory.invalidate(7));
        assert!(!memory.invalidate(7));
        assert!(!memory.allows(7, 0x1000, 1, RemoteAccess::Read));
    }

    #[test]
    fn registration_is_refused_with_its_reason() {
        let mut memory = Memory::open();
        memory.register(region(7, Access::ALL)).unwrap();
        assert_eq!(
            memory.register(region(7, Access::ALL)),
            Err(MemoryError::KeyInUse { r_key: 7 })
        );
        let far = MemoryRegion { address: u64::MAX, ..region(8, Access::ALL) };
        assert_eq!(
            memory.register(far),
            Err(MemoryError::BeyondAddressSpace { address: u64::MAX, length: 0x100 })
        );
        assert!(!memory.allows(8, 0x1000, 1, RemoteAccess::Read), "it is protected now");
    }
}
