//! The Internet checksum of TCP and UDP.

use core::net::IpAddr;

/// The sum of 16-bit words (RFC 1071). All pieces except the last must have an even length.
pub(crate) struct Sum(u64);

impl Sum {
    /// The sum of a pseudo header: see RFC 9293 and RFC 768, and for the addresses of IPv6 RFC 8200 section 8.1. Both
    /// addresses must be of the same version of IP; `len` bytes of header and data follow.
    pub(crate) fn of_pseudo_header(
        source: IpAddr,
        destination: IpAddr,
        protocol: u8,
        len: usize,
    ) -> Self {
        let mut sum = Self(0);
        for address in [source, destination] {
            match address {
                IpAddr::V4(address) => sum.add(&address.octets()),
                IpAddr::V6(address) => sum.add(&address.octets()),
            }
        }
        // Both pseudo headers end with zeros, protocol and length; in IPv6 the length has 32 bits.
        sum.add(&[0, protocol]);
        sum.add(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
        sum
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<2>();
        self.0 += words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>();
        if let [last] = rest {
            self.0 += u64::from(*last) << 8;
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "it was folded into 16 bits")]
    pub(crate) const fn folded(mut self) -> u16 {
        while self.0 > 0xffff {
            self.0 = (self.0 & 0xffff) + (self.0 >> 16);
        }
        self.0 as u16
    }
}
