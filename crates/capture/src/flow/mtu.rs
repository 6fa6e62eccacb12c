//! The path MTUs that a queue pair may have, as far as its packets tell.

/// The five path MTUs, in bytes (Linux `include/rdma/ib_verbs.h`, `enum ib_mtu`).
const PATH_MTUS: [u16; 5] = [256, 512, 1024, 2048, 4096];

/// The path MTUs that are possible after the packets so far: one bit each, in the order of
/// [`PATH_MTUS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathMtus(u8);

impl Default for PathMtus {
    fn default() -> Self {
        Self(0b1_1111)
    }
}

impl PathMtus {
    /// The path MTU, once only one is possible.
    pub(super) fn known(self) -> Option<u16> {
        let mut allowed = self.allowed();
        allowed.next().filter(|_| allowed.next().is_none())
    }

    /// Whether `len` is one of the five.
    pub(super) fn is_path_mtu(len: usize) -> bool {
        PATH_MTUS.iter().any(|mtu| usize::from(*mtu) == len)
    }

    /// Learns from the length of a FIRST or MIDDLE packet, which is the path MTU.
    pub(super) fn learn(&mut self, len: usize) {
        self.keep(|mtu| usize::from(mtu) == len);
    }

    /// Keeps the path MTUs for which `holds` is true, unless none is left.
    pub(super) fn keep(&mut self, holds: impl Fn(u16) -> bool) -> bool {
        let mut kept = 0;
        for (bit, mtu) in PATH_MTUS.into_iter().enumerate() {
            if self.0 >> bit & 1 != 0 && holds(mtu) {
                kept |= 1 << bit;
            }
        }
        if kept != 0 {
            self.0 = kept;
        }
        kept != 0
    }

    /// The least and the greatest number of packets of a read response of `len` bytes.
    pub(super) fn packets(self, len: u32) -> (u32, u32) {
        let mut allowed = self.allowed();
        let smallest = allowed.next().unwrap_or(256);
        let largest = allowed.next_back().unwrap_or(smallest);
        (packets(len, largest), packets(len, smallest))
    }

    fn allowed(self) -> impl DoubleEndedIterator<Item = u16> {
        PATH_MTUS
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 != 0)
            .map(|(_, mtu)| mtu)
    }
}

/// The number of packets of a message of `len` bytes.
pub(super) fn packets(len: u32, mtu: u16) -> u32 {
    len.div_ceil(mtu.into()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_narrows_it_down() {
        let mut mtus = PathMtus::default();
        assert_eq!((mtus.known(), mtus.packets(4096)), (None, (1, 16)));
        assert!(mtus.keep(|mtu| packets(4096, mtu) == 4));
        assert_eq!((mtus.known(), mtus.packets(4096)), (Some(1024), (4, 4)));
        assert!(!mtus.keep(|mtu| mtu > 1024));
        assert_eq!(mtus.known(), Some(1024));
        assert_eq!(packets(0, 256), 1);
        assert_eq!(packets(1025, 1024), 2);
    }
}
