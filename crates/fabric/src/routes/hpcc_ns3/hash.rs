//! The hash by which HPCC's ns-3 simulator chooses among equal paths.

/// MurmurHash3 for 32-bit machines (A. Appleby, in the public domain) over three words in
/// little-endian order: addresses of source and destination, and the ports.
#[inline]
pub(super) fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    const LENGTH: u32 = 12;
    let hash = words.into_iter().fold(seed, |hash, word| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    finalise(hash ^ LENGTH)
}

#[inline]
const fn finalise(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hashes_as_the_reference() {
        let ports = |source: u32, destination: u32| source | destination << 16;
        let there = [0x0b00_0001, 0x0b01_2c01, ports(10_000, 100)];
        let back = [0x0b01_2c01, 0x0b00_0001, ports(100, 10_000)];
        let other = [0x0b00_0501, 0x0b00_3c01, ports(10_003, 100)];
        assert_eq!(murmur3(there, 320), 57_004_118);
        assert_eq!(murmur3(there, 340), 3_610_042_406);
        assert_eq!(murmur3(back, 339), 2_919_945_537);
        assert_eq!(murmur3(other, 64), 508_394_192);
    }
}
