//! Numbers in messages.

/// Picoseconds as microseconds, with all digits.
pub(crate) fn microseconds(ps: u64) -> String {
    format!("{}.{:06} us", ps / 1_000_000, ps % 1_000_000)
}

/// A number with its noun, in singular or plural.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_no_digit_is_lost() {
        assert_eq!(
            (counted(1, "queue"), counted(0, "queue")),
            ("1 queue".into(), "0 queues".into())
        );
        assert_eq!(microseconds(104_000_007), "104.000007 us");
    }
}
