//! Bytes in hexadecimal.

use std::fmt;

/// Bytes on a line.
const WIDTH: usize = 16;

/// Bytes as text: lines of an offset, 16 bytes in hexadecimal, and the same as ASCII, in the way of `hexdump -C` and
/// Wireshark, whose `text2pcap` reads it.
#[derive(Clone, Copy, Debug)]
pub struct HexDump<'a>(pub &'a [u8]);

impl fmt::Display for HexDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.chunks(WIDTH).enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{:04x} ", number * WIDTH)?;
            for place in 0..WIDTH {
                match line.get(place) {
                    Some(byte) => write!(f, " {byte:02x}")?,
                    None => f.write_str("   ")?,
                }
            }
            f.write_str("  ")?;
            for &byte in line {
                let shown = if byte.is_ascii_graphic() { char::from(byte) } else { '.' };
                write!(f, "{shown}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_bytes_and_text_are_in_columns() {
        let bytes: Vec<u8> = (0x35..0x46).collect();
        let expected = "\
0000  35 36 37 38 39 3a 3b 3c 3d 3e 3f 40 41 42 43 44  56789:;<=>?@ABCD
0010  45                                               E";
        assert_eq!(HexDump(&bytes).to_string(), expected);
        assert_eq!(HexDump(&[]).to_string(), "");
        assert_eq!(HexDump(&[b' ', 0]).to_string().trim_end().chars().last(), Some('.'));
    }
}
