//! Numbers in the form for people, in integer arithmetic so that they are the same on every
//! machine.

use rocelab_results::Millionths;

/// A power of ten and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) scale: u64,
}

const TIME: [Unit; 5] = [
    Unit { name: "s", scale: 1_000_000_000_000 },
    Unit { name: "ms", scale: 1_000_000_000 },
    Unit { name: "us", scale: 1_000_000 },
    Unit { name: "ns", scale: 1_000 },
    Unit { name: "ps", scale: 1 },
];

const RATE: [Unit; 6] = [
    Unit { name: "Pbit/s", scale: 1_000_000_000_000_000 },
    Unit { name: "Tbit/s", scale: 1_000_000_000_000 },
    Unit { name: "Gbit/s", scale: 1_000_000_000 },
    Unit { name: "Mbit/s", scale: 1_000_000 },
    Unit { name: "kbit/s", scale: 1_000 },
    Unit { name: "bit/s", scale: 1 },
];

const MEMORY: [Unit; 4] = [
    Unit { name: "GB", scale: 1_000_000_000 },
    Unit { name: "MB", scale: 1_000_000 },
    Unit { name: "KB", scale: 1_000 },
    Unit { name: "B", scale: 1 },
];

const COUNT: [Unit; 3] = [
    Unit { name: " million", scale: 1_000_000 },
    Unit { name: " thousand", scale: 1_000 },
    Unit { name: "", scale: 1 },
];

/// The largest unit of time in which `ps` is at least 1.
pub(crate) fn time_unit(ps: u64) -> Unit {
    largest_within(&TIME, ps)
}

/// `value` in `unit`, with two decimals.
pub(crate) fn in_unit(value: u64, unit: Unit) -> String {
    let ratio = Millionths::ratio(value, unit.scale).unwrap_or_default();
    format!("{ratio:.2}")
}

/// A ratio with at least three significant digits, as far as millionths have them: `1.25`, `0.0125`.
pub(crate) fn ratio(ratio: Millionths) -> String {
    match ratio.0 {
        0 => "0".to_owned(),
        1_000_000.. => format!("{ratio:.2}"),
        100_000.. => format!("{ratio:.3}"),
        10_000.. => format!("{ratio:.4}"),
        1_000.. => format!("{ratio:.5}"),
        _ => format!("{ratio:.6}"),
    }
}

/// Two decimals, and so many more that three digits count: `12.30`, `0.0123`. Zero is `0`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // Below 10^-12 nothing is left of what is measured in picoseconds.
    let zeros = (-value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{value:.*}", 2 + zeros)
}

/// The unit for a single value among those of a column: that of the column, or a smaller one if only
/// zeros would be before its digits.
pub(crate) fn unit_within(unit: &str, column: Unit, value: f64) -> Unit {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let whole = value as u64;
    if whole == 0 || value >= 0.1 * column.scale as f64 {
        return column;
    }
    scale_of(unit, whole)
}

/// A time in its largest unit: `1.50 us`.
pub fn time(ps: u64) -> String {
    with_unit(ps, &TIME)
}

/// `93.10 Gbit/s`.
pub(crate) fn rate(bps: u64) -> String {
    with_unit(bps, &RATE)
}

/// The unit of a column whose greatest value is `largest`, for values in `unit`: `ps`, `bit/s`,
/// `byte`, `millionths`, `1/s`, or a count.
pub(crate) fn scale_of(unit: &str, largest: u64) -> Unit {
    match unit {
        "ps" => largest_within(&TIME, largest),
        "bit/s" => largest_within(&RATE, largest),
        "byte" => largest_within(&MEMORY, largest),
        "millionths" => Unit { name: "", scale: Millionths::ONE.0 },
        "1/s" => Unit { name: "1/s", scale: 1 },
        _ => Unit { name: "", scale: 1 },
    }
}

/// `45.12 MB`.
pub(crate) fn memory(bytes: u64) -> String {
    with_unit(bytes, &MEMORY)
}

/// `9.40 million`.
pub(crate) fn rounded_count(count: u64) -> String {
    let unit = largest_within(&COUNT, count);
    if unit.scale == 1 {
        count.to_string()
    } else {
        format!("{}{}", in_unit(count, unit), unit.name)
    }
}

/// `12,345,678`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 drop`, `2 drops`.
pub(crate) fn counted(number: u64, singular: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {singular}{plural}", count(number))
}

fn with_unit(value: u64, units: &[Unit]) -> String {
    let unit = largest_within(units, value);
    if unit.scale == 1 {
        return format!("{value} {}", unit.name);
    }
    format!("{} {}", in_unit(value, unit), unit.name)
}

/// The largest of `units` that is not above `value`, or the smallest unit.
fn largest_within(units: &[Unit], value: u64) -> Unit {
    let smallest = units[units.len() - 1];
    units.iter().copied().find(|unit| value >= unit.scale).unwrap_or(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_size() {
        assert_eq!(time(0), "0 ps");
        assert_eq!(time(84_480), "84.48 ns");
        assert_eq!(time(1_500_000_000), "1.50 ms");
        assert_eq!(rate(93_104_000_000), "93.10 Gbit/s");
        assert_eq!(memory(45_120_000), "45.12 MB");
        assert_eq!(rounded_count(9_400_000), "9.40 million");
        assert_eq!(rounded_count(12), "12");
    }

    #[test]
    fn three_digits_count() {
        for (value, text) in [
            (0.0, "0"),
            (12.3, "12.30"),
            (0.5, "0.500"),
            (0.012_34, "0.0123"),
            (1e-9, "0.00000000100"),
        ] {
            assert_eq!(significant(value), text);
        }
        for (value, text) in [(0, "0"), (1_250_000, "1.25"), (12_340, "0.0123"), (7, "0.000007")] {
            assert_eq!(ratio(Millionths(value)), text);
        }
    }

    #[test]
    fn a_small_value_in_a_column_has_its_own_unit() {
        let column = scale_of("ps", 3_000_000_000);
        assert_eq!(unit_within("ps", column, 300_000_000.0).name, "ms");
        assert_eq!(unit_within("ps", column, 99_000_000.0).name, "us");
        assert_eq!(unit_within("ps", column, 0.0).name, "ms");
        assert_eq!(unit_within("", scale_of("", 9), 0.2).name, "");
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(counted(1, "pause"), "1 pause");
        assert_eq!(counted(1_000, "pause"), "1,000 pauses");
    }
}
