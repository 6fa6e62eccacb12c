//! Percentiles by nearest rank.

/// The values at these percentages, 1 to 100, in the given order; `None` without values.
pub fn percentiles<const N: usize>(mut values: Vec<f64>, percent: [usize; N]) -> Option<[f64; N]> {
    values.sort_by(f64::total_cmp);
    let rank = |percent: usize| (percent * values.len()).div_ceil(100).max(1);
    let last = values.len().checked_sub(1)?;
    Some(percent.map(|percent| values[(rank(percent) - 1).min(last)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 40 values, ranks 20, 38 and ceil(39.6) = 40.
    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let values = (1..=40).rev().map(f64::from).collect();
        assert_eq!(percentiles(values, [50, 95, 99]), Some([20.0, 38.0, 40.0]));
        assert_eq!(percentiles(Vec::new(), [50]), None);
        assert_eq!(percentiles(vec![3.0], [1, 100]), Some([3.0, 3.0]));
    }
}
