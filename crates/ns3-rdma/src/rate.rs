//! Rates and times as text, and calculations with rates as the simulator has them.

use crate::time::{Arithmetic, MICROSECOND, SECOND, truncated};

/// What may follow a rate's number, and its factor to bit/s.
const RATE_UNITS: &[(&[&str], f64)] = &[
    (&["", "bps", "b/s"], 1.0),
    (&["Bps", "B/s"], 8.0),
    (&["kbps", "kb/s", "Kbps", "Kb/s"], 1e3),
    (&["kBps", "kB/s", "KBps", "KB/s"], 8e3),
    (&["Kib/s"], 1_024.0),
    (&["KiB/s"], 8_192.0),
    (&["Mbps", "Mb/s"], 1e6),
    (&["MBps", "MB/s"], 8e6),
    (&["Mib/s"], 1_048_576.0),
    (&["MiB/s"], 8_388_608.0),
    (&["Gbps", "Gb/s"], 1e9),
    (&["GBps", "GB/s"], 8e9),
    (&["Gib/s"], 1_073_741_824.0),
    (&["GiB/s"], 8_589_934_592.0),
];

/// What may follow a time's number, in nanoseconds.
const TIME_UNITS: &[(&str, u64)] =
    &[("s", SECOND), ("ms", 1_000_000), ("us", MICROSECOND), ("ns", 1), ("", SECOND)];

/// The number at the beginning of a text, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, &text[end..]))
}

/// A rate in bit/s, such as `40Gbps`; none if the text is no rate.
pub(crate) fn parse_rate(text: &str) -> Option<u64> {
    let (number, unit) = number(text)?;
    let (_, factor) = RATE_UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    Some(truncated(number * factor))
}

/// A time in nanoseconds, such as `0.001ms`; none if the text is no time.
pub(crate) fn parse_delay(text: &str, arithmetic: Arithmetic) -> Option<u64> {
    let (number, unit) = number(text)?;
    let (_, factor) = TIME_UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(arithmetic.nanoseconds_of(number, *factor))
}

/// A rate times a number that is not negative, without the fraction.
#[inline]
pub(crate) fn scaled(rate: u64, by: f64) -> u64 {
    truncated(rate as f64 * by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_have_units() {
        assert_eq!(parse_rate("40Gbps"), Some(40_000_000_000));
        assert_eq!(parse_rate("0.5Gb/s"), Some(500_000_000));
        assert_eq!(parse_rate("3MBps"), Some(24_000_000));
        assert_eq!(parse_rate("1Mib/s"), Some(1_048_576));
        assert_eq!(parse_rate("12"), Some(12));
        assert_eq!(parse_rate("fast"), None);
        assert_eq!(parse_rate("1Gbit"), None);
        assert_eq!(parse_rate("1.2.3Gbps"), None);
        assert_eq!(parse_delay("0.001ms", Arithmetic::Linux), Some(1_000));
        assert_eq!(parse_delay("0.6us", Arithmetic::Linux), Some(599));
        assert_eq!(parse_delay("0.6us", Arithmetic::Double), Some(600));
        assert_eq!(parse_delay("500ns", Arithmetic::Double), Some(500));
        assert_eq!(parse_delay("1h", Arithmetic::Linux), None);
    }
}
