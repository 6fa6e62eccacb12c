//! Globally unique identifiers (GUIDs, EUI-64) of nodes and ports.

use std::fmt;

/// The GUID of a node or a port.
///
/// `Ord` compares the numbers. The order in which OpenSM visits nodes is another one: see
/// [`sweep_key`](Self::sweep_key).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(u64);

impl Guid {
    /// The GUID with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// What orders nodes and ports in a sweep of OpenSM on x86.
    ///
    /// OpenSM keeps GUIDs as they are on the wire, most significant byte first, and compares them as numbers of
    /// a machine that has the least significant byte first. LIDs and ties of routing engines depend on it.
    pub const fn sweep_key(self) -> u64 {
        self.0.swap_bytes()
    }

    /// Reads hexadecimal digits, with or without `0x`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|one| one.is_ascii_hexdigit());
        is_number.then(|| u64::from_str_radix(digits, 16).ok()).flatten().map(Self)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_sweep_is_that_of_the_bytes_from_the_last_on() {
        let mut guids = [0x0010_0003, 0x0020_0001, 0x0010_0001, 0x0020_0000].map(Guid::new);
        guids.sort_by_key(|guid| guid.sweep_key());
        let expected = [0x0020_0000, 0x0010_0001, 0x0020_0001, 0x0010_0003].map(Guid::new);
        assert_eq!(guids, expected);
    }

    #[test]
    fn guids_are_hexadecimal() {
        assert_eq!(Guid::parse("0x2c903000e0b72"), Some(Guid::new(0x0002_c903_000e_0b72)));
        assert_eq!(Guid::parse("2C9"), Some(Guid::new(0x2c9)));
        assert_eq!(Guid::new(0x2c9).to_string(), "0x00000000000002c9");
        for wrong in ["", "0x", "+1", "12g", "0x12345678901234567"] {
            assert_eq!(Guid::parse(wrong), None, "{wrong}");
        }
    }
}
