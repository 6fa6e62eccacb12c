//! What is at which address.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Bound;

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_state::unfit;

use super::MemoryError;

/// Placed stretches of bytes, and the words that atomic operations wrote elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressSpace {
    /// By first address; they do not overlap.
    stretches: BTreeMap<u64, Vec<u8>>,
    /// By address; zero where nothing was written.
    words: BTreeMap<u64, u64>,
}

impl AddressSpace {
    pub(super) fn place(&mut self, address: u64, bytes: Vec<u8>) -> Result<(), MemoryError> {
        let length = bytes.len() as u64;
        let Some(end) = address.checked_add(length) else {
            return Err(MemoryError::BeyondAddressSpace { address, length });
        };
        if bytes.is_empty() {
            return Ok(());
        }
        // Stretches do not overlap, so that the last one that starts before the end ends last.
        if let Some((&start, there)) = self.stretches.range(..end).next_back()
            && start + there.len() as u64 > address
        {
            return Err(MemoryError::Overlap { address: start });
        }
        self.stretches.insert(address, bytes);
        Ok(())
    }

    pub(super) fn has_bytes(&self) -> bool {
        !self.stretches.is_empty()
    }

    pub(super) fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        let (&start, stretch) = self.stretches.range(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        stretch.get(offset..)?.get(..length)
    }

    pub(super) fn load(&self, address: u64, length: usize) -> Box<[u8]> {
        self.bytes(address, length).map_or_else(|| self.gather(address, length), Box::from)
    }

    /// Bytes from several stretches, and zeros between them.
    fn gather(&self, address: u64, length: usize) -> Box<[u8]> {
        let mut gathered = vec![0; length].into_boxed_slice();
        let end = address.saturating_add(length as u64);
        for (&start, stretch) in self.stretches.range(self.first_before(address)..end) {
            let (source, target) = overlap(start, stretch.len(), address, length);
            let count = source.len().min(target.len());
            gathered[target.start..target.start + count]
                .copy_from_slice(&stretch[source.start..source.start + count]);
        }
        gathered
    }

    pub(super) fn store(&mut self, address: u64, payload: &[u8]) {
        let end = address.saturating_add(payload.len() as u64);
        let first = self.first_before(address);
        let range = (Bound::Included(first), Bound::Excluded(end.max(first)));
        for (&start, stretch) in self.stretches.range_mut(range) {
            let (target, source) = overlap(start, stretch.len(), address, payload.len());
            let count = source.len().min(target.len());
            stretch[target.start..target.start + count]
                .copy_from_slice(&payload[source.start..source.start + count]);
        }
    }

    pub(super) fn exchange(&mut self, address: u64, change: impl FnOnce(u64) -> u64) -> u64 {
        if let Some(bytes) = self.bytes(address, 8)
            && let Ok(word) = bytes.try_into()
        {
            let before = u64::from_le_bytes(word);
            self.store(address, &change(before).to_le_bytes());
            return before;
        }
        let word = self.words.entry(address).or_default();
        let before = *word;
        *word = change(before);
        before
    }

    /// Where the stretch starts that reaches over `address`; `address` if none does.
    fn first_before(&self, address: u64) -> u64 {
        self.stretches.range(..=address).next_back().map_or(address, |(&start, _)| start)
    }
}

impl BorshSerialize for AddressSpace {
    fn serialize<W: Write>(&self, writer: &mut W) -> std::io::Result<()> {
        (&self.stretches, &self.words).serialize(writer)
    }
}

impl BorshDeserialize for AddressSpace {
    fn deserialize_reader<R: Read>(reader: &mut R) -> std::io::Result<Self> {
        let (stretches, words): (BTreeMap<u64, Vec<u8>>, _) =
            BorshDeserialize::deserialize_reader(reader)?;
        let mut space = Self { words, ..Self::default() };
        for (address, bytes) in stretches {
            space.place(address, bytes).map_err(|error| unfit(&error.to_string()))?;
        }
        Ok(space)
    }
}

/// The part that a stretch (`length` bytes at `start`) and an access have in common, as offsets
/// into either; empty if there is none.
fn overlap(
    start: u64,
    length: usize,
    accessed: u64,
    accessed_length: usize,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let offset = |from: u64, of: usize| {
        usize::try_from(accessed.max(start).saturating_sub(from)).unwrap_or(of).min(of)
    };
    (offset(start, length)..length, offset(accessed, accessed_length)..accessed_length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> AddressSpace {
        let mut space = AddressSpace::default();
        space.place(100, vec![1, 2, 3, 4]).unwrap();
        space.place(110, vec![5, 6]).unwrap();
        space
    }

    #[test]
    fn stretches_do_not_overlap() {
        let mut space = space();
        for (address, length) in [(99, 2), (100, 1), (103, 9), (90, 40), (111, 1)] {
            assert!(space.place(address, vec![0; length]).is_err(), "{length} at {address}");
        }
        space.place(104, vec![9; 6]).unwrap();
        assert_eq!(
            space.place(u64::MAX, vec![0; 2]).unwrap_err(),
            MemoryError::BeyondAddressSpace { address: u64::MAX, length: 2 }
        );
    }

    #[test]
    fn loads_see_zeros_where_nothing_is() {
        let space = space();
        assert_eq!(*space.load(101, 2), [2, 3]);
        assert_eq!(*space.load(98, 14), [0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 5, 6]);
        assert_eq!(*space.load(200, 3), [0; 3]);
        assert_eq!(*space.load(u64::MAX, 3), [0; 3]);
        assert_eq!(space.bytes(103, 2), None);
    }

    #[test]
    fn stores_touch_placed_bytes_only() {
        let mut space = space();
        space.store(103, &[7, 7, 7, 7, 7, 7, 7, 8]);
        assert_eq!(*space.load(100, 12), [1, 2, 3, 7, 0, 0, 0, 0, 0, 0, 8, 6]);
        space.store(50, &[1; 10]);
        space.store(u64::MAX, &[1; 10]);
        assert_eq!(*space.load(100, 12), [1, 2, 3, 7, 0, 0, 0, 0, 0, 0, 8, 6]);
    }

    #[test]
    fn words_are_kept_with_and_without_bytes() {
        let mut space = AddressSpace::default();
        space.place(0x1000, vec![1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        for (address, start) in [(0x1000, 1), (0x2000, 0)] {
            assert_eq!(space.exchange(address, |value| value + 4), start);
            assert_eq!(space.exchange(address, |value| value), start + 4);
        }
        assert_eq!(*space.load(0x1000, 8), 5_u64.to_le_bytes());
    }
}
