//! Bytes in hexadecimal.

use std::fmt;

/// Bytes on a line.
const WIDTH: usize = 16;

/// Digits of an offset, at least: `text2pcap` takes shorter numbers for bytes.
const OFFSET_DIGITS: usize = 4;

/// Bytes as text: lines of an offset, 16 bytes in hexadecimal, and the same as ASCII between bars, in the way of
/// `hexdump -C`. Wireshark's `text2pcap` reads it: because of the bar, it does not take letters for bytes.
///
/// All offsets have as many digits as the last byte needs.
#[derive(Clone, Copy, Debug)]
pub struct HexDump<'a>(pub &'a [u8]);

impl fmt::Display for HexDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = offset_digits(self.0.len());
        for (number, line) in self.0.chunks(WIDTH).enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{:0digits$x} ", number * WIDTH)?;
            for place in 0..WIDTH {
                match line.get(place) {
                    Some(byte) => write!(f, " {byte:02x}")?,
                    None => f.write_str("   ")?,
                }
            }
            f.write_str("  |")?;
            for &byte in line {
                let is_shown = byte.is_ascii_graphic() || byte == b' ';
                write!(f, "{}", if is_shown { char::from(byte) } else { '.' })?;
            }
            f.write_str("|")?;
        }
        Ok(())
    }
}

/// Digits of the offset of the last of `len` bytes.
fn offset_digits(len: usize) -> usize {
    let last = len.saturating_sub(1);
    let digits = last.checked_ilog(16).map_or(1, |below| below as usize + 1);
    digits.max(OFFSET_DIGITS)
}

/// Text each of whose lines is a comment, which `text2pcap` passes over.
#[derive(Clone, Copy, Debug)]
pub struct HexDumpComment<T>(pub T);

impl<T: fmt::Display> fmt::Display for HexDumpComment<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.to_string().lines().enumerate() {
            let end = if number > 0 { "\n" } else { "" };
            write!(f, "{end}# {line}")?;
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
0000  35 36 37 38 39 3a 3b 3c 3d 3e 3f 40 41 42 43 44  |56789:;<=>?@ABCD|
0010  45                                               |E|";
        assert_eq!(HexDump(&bytes).to_string(), expected);
        assert_eq!(HexDump(&[]).to_string(), "");
        assert!(HexDump(&[b' ', 0, 0xff]).to_string().ends_with("  | ..|"));
    }

    #[test]
    fn offsets_are_as_long_as_the_last_one() {
        for (len, first, last) in
            [(1, "0000  ", "0000  "), (65_536, "0000  ", "fff0  "), (65_537, "00000  ", "10000  ")]
        {
            let text = HexDump(&vec![0; len]).to_string();
            assert!(text.starts_with(first), "{len}");
            assert!(text.lines().last().is_some_and(|line| line.starts_with(last)), "{len}");
        }
    }

    #[test]
    fn each_line_of_a_comment_is_one() {
        let text = HexDumpComment("Frame 1\n    ab: cd\n0000  12").to_string();
        assert_eq!(text, "# Frame 1\n#     ab: cd\n# 0000  12");
    }
}
