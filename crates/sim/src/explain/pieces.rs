//! Spans of time, cut.

/// The time from `from` to `to`, cut where something changes.
pub(super) fn pieces(from: u64, to: u64, changes: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let inside = changes.filter(|&time| from < time && time < to);
    let mut cuts: Vec<u64> = inside.chain([from, to]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_span_once() {
        let cut = pieces(10, 20, [3, 20, 15, 10, 12, 15, 30].into_iter());
        assert_eq!(cut, [(10, 12), (12, 15), (15, 20)]);
        assert_eq!(pieces(7, 7, [7].into_iter()), []);
    }
}
