//! What a cable of InfiniBand carries, as `ibnetdiscover` writes it: `4xHDR`.

/// Data rates of one lane, after coding, in units of 1/11 Gbit/s, in which all of them are whole numbers.
const LANES: [(&str, u64); 9] = [
    ("SDR", 22),
    ("DDR", 44),
    ("QDR", 88),
    ("FDR10", 110),
    ("FDR", 150), // 14.0625 GBd, 64 of 66 bits.
    ("EDR", 275),
    ("HDR", 550),
    ("NDR", 1_100),
    ("XDR", 2_200),
];

/// Widths that links have (IBTA, PortInfo).
const WIDTHS: [u8; 5] = [1, 2, 4, 8, 12];

/// The width and speed of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpeed {
    /// Lanes: 1, 2, 4, 8 or 12.
    lanes: u8,
    /// The place of its speed in `LANES`.
    speed: u8,
}

impl LinkSpeed {
    /// Reads what `ibnetdiscover` writes, such as `4xQDR`; none if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let (lanes, speed) = text.split_once('x')?;
        let lanes = lanes.parse().ok().filter(|lanes| WIDTHS.contains(lanes))?;
        let speed = LANES.iter().position(|(name, _)| *name == speed)?;
        Some(Self { lanes, speed: u8::try_from(speed).ok()? })
    }

    /// What it carries of data in each direction, after coding (bit/s, rounded down).
    pub fn bits_per_second(self) -> u64 {
        let (_, elevenths) = LANES[usize::from(self.speed)];
        elevenths * u64::from(self.lanes) * 1_000_000_000 / 11
    }
}

impl std::fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.lanes, LANES[usize::from(self.speed)].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_of_data_after_coding() {
        for (text, bps) in [
            ("1xSDR", 2_000_000_000),
            ("4xDDR", 16_000_000_000),
            ("4xQDR", 32_000_000_000),
            ("4xFDR10", 40_000_000_000),
            ("4xFDR", 54_545_454_545),
            ("4xEDR", 100_000_000_000),
            ("2xHDR", 100_000_000_000),
            ("4xNDR", 400_000_000_000),
            ("12xXDR", 2_400_000_000_000),
        ] {
            let speed = LinkSpeed::parse(text).expect(text);
            assert_eq!((speed.bits_per_second(), speed.to_string()), (bps, text.to_owned()));
        }
        for text in ["", "4x", "xEDR", "3xEDR", "4xedr", "4 EDR", "lid"] {
            assert_eq!(LinkSpeed::parse(text), None, "{text}");
        }
    }
}
