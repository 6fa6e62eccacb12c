//! Values that are drawn at random.

use rocelab_engine::RngStream;

/// From what values of a key are drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// Any of a list, given by the number of its values.
    Choice(usize),
    /// A range.
    Range(Range),
}

/// Values between two, which have the same unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// What follows the number: `KB`; nothing for plain numbers.
    pub(crate) unit: String,
    /// Whether whole numbers are drawn.
    pub(crate) is_whole: bool,
    /// Whether each doubling is as likely as every other.
    pub(crate) is_logarithmic: bool,
}

/// A number with its unit, of `20KB` or `0.5`.
pub(crate) fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim();
    let is_unit = unit.chars().all(|c| c.is_ascii_alphabetic() || c == '/');
    let number: f64 = number.parse().ok()?;
    // `1/16` is no number with a unit.
    (is_unit && !unit.starts_with('/')).then_some((number, unit))
}

impl Range {
    /// The next value.
    pub(crate) fn draw(&self, random: &mut RngStream) -> f64 {
        if self.is_whole && !self.is_logarithmic {
            // Both ends are as likely as what is between them.
            let beyond = (self.to - self.from).abs() + 1.0;
            return (self.from + (random.uniform() * beyond).floor()).min(self.to);
        }
        let share = random.uniform();
        let drawn = if self.is_logarithmic {
            self.from * libm::pow(self.to / self.from, share)
        } else {
            self.from + (self.to - self.from) * share
        };
        let drawn = if self.is_whole { drawn.round() } else { with_six_digits(drawn) };
        drawn.clamp(self.from, self.to)
    }
}

/// Rounded to six significant digits: what a person reads, and the same on every platform.
fn with_six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_numbers() {
        assert_eq!(number_and_unit("20KB"), Some((20.0, "KB")));
        assert_eq!(number_and_unit("2.5 us"), Some((2.5, "us")));
        assert_eq!(number_and_unit("0.5"), Some((0.5, "")));
        assert_eq!(number_and_unit("1/16"), None);
        assert_eq!(number_and_unit("KB"), None);
    }

    #[test]
    fn what_is_drawn_is_within_its_range() {
        let mut random = RngStream::new(1, "test");
        for (is_whole, is_logarithmic) in
            [(true, true), (true, false), (false, true), (false, false)]
        {
            let range = Range { from: 2.0, to: 5.0, unit: String::new(), is_whole, is_logarithmic };
            let drawn: Vec<_> = (0..1000).map(|_| range.draw(&mut random)).collect();
            assert!(drawn.iter().all(|&value| (2.0..=5.0).contains(&value)));
            assert!(!is_whole || drawn.iter().all(|value| value.fract() == 0.0));
            let ends = [2.0, 5.0].map(|end| drawn.iter().any(|&value| (value - end).abs() < 0.1));
            assert_eq!(ends, [true, true]);
        }
    }
}
