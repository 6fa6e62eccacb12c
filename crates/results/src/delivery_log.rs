//! Payload that receivers accepted, by time.

/// Number of bins for an octave of time; a power of two.
const BINS: u64 = 1 << BINS_LOG2;

const BINS_LOG2: u32 = 11;

/// Number of octaves in 64 bits of time. Octave 0 has the times below [`BINS`].
const OCTAVES: usize = (u64::BITS - BINS_LOG2 + 1) as usize;

/// Payload that receivers accepted, in bins whose width grows with the time since the log's origin.
///
/// From one power of two of picoseconds to the next there are 2,048 bins of equal width. So the
/// error of a time is at most 1 / 2,048 of its distance from the [origin](Self::with_origin), and
/// later entries do not change that. Bytes are exact; within a bin they are taken as evenly spread.
///
/// The content of a log does not depend on the order of its entries, nor on the number of logs that
/// were [merged](Self::merge) into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct DeliveryLog {
    /// Start of the first bin (ps).
    origin_ps: u64,
    /// Bytes by octave and bin; an octave without entries has no bins.
    octaves: Vec<Vec<u64>>,
    /// A period of which the bytes are counted exactly.
    window: Window,
}

/// A period, and what was accepted in it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
struct Window {
    from_ps: u64,
    /// Zero where nobody asks.
    length_ps: u64,
    bytes: u64,
}

/// The octave and bin of a time.
#[derive(Clone, Copy)]
struct Place {
    octave: usize,
    bin: usize,
}

impl Place {
    /// The place of a time since the origin (ps).
    #[inline]
    const fn of(offset_ps: u64) -> Self {
        let octave = u64::BITS - (offset_ps >> BINS_LOG2).leading_zeros();
        let bin = (offset_ps >> octave.saturating_sub(1)) & (BINS - 1);
        Self { octave: octave as usize, bin: bin as usize }
    }
}

/// Start of a bin since the origin in picoseconds, and the logarithm of its width.
const fn start_and_width_log2(octave: u32, bin: u64) -> (u64, u32) {
    match octave {
        0 => (bin, 0),
        _ => ((BINS + bin) << (octave - 1), octave - 1),
    }
}

impl DeliveryLog {
    /// An empty log whose bins begin at `origin_ps`, in picoseconds.
    pub const fn with_origin(origin_ps: u64) -> Self {
        let window = Window { from_ps: 0, length_ps: 0, bytes: 0 };
        Self { origin_ps, octaves: Vec::new(), window }
    }

    /// The same log, which also counts exactly what is accepted from one time until before another
    /// (ps). It must be empty.
    #[must_use]
    pub const fn with_window(mut self, from_ps: u64, to_ps: u64) -> Self {
        self.window = Window { from_ps, length_ps: to_ps.saturating_sub(from_ps), bytes: 0 };
        self
    }

    /// An empty log of the same window whose bins begin at another time.
    #[must_use]
    pub fn emptied(&self, origin_ps: u64) -> Self {
        let window = Window { bytes: 0, ..self.window };
        Self { origin_ps, octaves: Vec::new(), window }
    }

    /// Bytes that were accepted in the [window](Self::with_window): exact, however wide the bins are.
    pub const fn bytes_in_window(&self) -> u64 {
        self.window.bytes
    }

    /// Start of the first bin, in picoseconds.
    pub const fn origin_ps(&self) -> u64 {
        self.origin_ps
    }

    /// Whether the content is valid: for logs that are loaded.
    pub fn is_sound(&self) -> bool {
        let fits = |bins: &Vec<u64>| bins.is_empty() || bins.len() as u64 == BINS;
        let total: u128 = self.octaves.iter().flatten().map(|bytes| u128::from(*bytes)).sum();
        // A larger total would bring the sums near to an overflow.
        self.octaves.len() <= OCTAVES
            && u128::from(self.window.bytes) <= total
            && self.octaves.iter().all(fits)
            && total <= u128::from(u64::MAX >> 1)
    }

    /// Adds `bytes` of payload that were accepted at `time_ps`. Times before the origin count in
    /// the first bin.
    #[inline]
    pub fn add(&mut self, time_ps: u64, bytes: u64) {
        if time_ps.wrapping_sub(self.window.from_ps) < self.window.length_ps {
            self.window.bytes += bytes;
        }
        self.add_to_bin(time_ps, bytes);
    }

    #[inline]
    fn add_to_bin(&mut self, time_ps: u64, bytes: u64) {
        let place = Place::of(time_ps.saturating_sub(self.origin_ps));
        let bins = self.octaves.get_mut(place.octave);
        if let Some(bin) = bins.and_then(|bins| bins.get_mut(place.bin)) {
            *bin += bytes;
        } else {
            self.add_in_new_octave(place, bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_in_new_octave(&mut self, place: Place, bytes: u64) {
        self.bins_mut(place.octave)[place.bin] += bytes;
    }

    /// All bins of an octave.
    fn bins_mut(&mut self, octave: usize) -> &mut [u64] {
        let octaves = self.octaves.len().max(octave + 1);
        self.octaves.resize(octaves, Vec::new());
        let bins = &mut self.octaves[octave];
        bins.resize(1 << BINS_LOG2, 0);
        bins
    }

    /// Adds another log of the same origin.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.origin_ps, other.origin_ps, "logs of the same flows");
        self.window.bytes += other.window.bytes;
        for (octave, bins) in other.octaves.iter().enumerate().filter(|(_, bins)| !bins.is_empty())
        {
            let sums = self.bins_mut(octave).iter_mut();
            sums.zip(bins).for_each(|(sum, bytes)| *sum += bytes);
        }
    }

    /// Adds another log, whose origin is not earlier than this one's. So its bins are as narrow as
    /// the bins here, or narrower; each is added to the bin here that contains its middle.
    pub fn merge_later(&mut self, other: &Self) {
        if self.origin_ps == other.origin_ps {
            return self.merge(other);
        }
        self.window.bytes += other.window.bytes;
        for (start, width_log2, bytes) in other.filled() {
            let middle = start + (1 << width_log2) / 2;
            self.add_to_bin(other.origin_ps.saturating_add(middle), bytes);
        }
    }

    /// Bins that are not empty, in order: start since the origin (ps), logarithm of the width,
    /// bytes.
    fn filled(&self) -> impl Iterator<Item = (u64, u32, u64)> {
        (0..).zip(&self.octaves).flat_map(|(octave, bins)| {
            let filled = (0..BINS).zip(bins).filter(|(_, bytes)| **bytes > 0);
            filled.map(move |(bin, &bytes)| {
                let (start, width_log2) = start_and_width_log2(octave, bin);
                (start, width_log2, bytes)
            })
        })
    }

    /// The sum of all bins (bytes).
    pub fn total(&self) -> u64 {
        self.octaves.iter().flatten().sum()
    }

    /// Bytes that were accepted before a time.
    pub fn bytes_before(&self, time_ps: u64) -> u64 {
        let offset = time_ps.saturating_sub(self.origin_ps);
        let before = self.filled().take_while(|(start, ..)| *start < offset);
        let parts = before.map(|(start, width_log2, bytes)| {
            let within = (offset - start).min(1 << width_log2);
            let part = (u128::from(bytes) * u128::from(within)) >> width_log2;
            u64::try_from(part).unwrap_or(bytes)
        });
        parts.sum()
    }

    /// Start of the bin of a time, in picoseconds: the bytes before it are known exactly.
    pub fn bin_start(&self, time_ps: u64) -> u64 {
        let Place { octave, bin } = Place::of(time_ps.saturating_sub(self.origin_ps));
        let octave = u32::try_from(octave).unwrap_or(u32::MAX);
        let (start, _) = start_and_width_log2(octave, bin as u64);
        self.origin_ps.saturating_add(start)
    }

    /// The first time, in picoseconds, by which this many bytes were accepted; `None` if there are
    /// fewer.
    pub fn time_of(&self, bytes: u64) -> Option<u64> {
        let mut before = 0;
        for (start, width_log2, bin) in self.filled() {
            if before + bin >= bytes {
                let missing = u128::from(bytes - before) << width_log2;
                let within = u64::try_from(missing.div_ceil(bin.into())).unwrap_or(u64::MAX);
                return Some(self.origin_ps.saturating_add(start).saturating_add(within));
            }
            before += bin;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(deliveries: &[(u64, u64)]) -> DeliveryLog {
        let mut log = DeliveryLog::with_origin(1_000);
        deliveries.iter().for_each(|&(time, bytes)| log.add(time, bytes));
        log
    }

    proptest! {
        #[test]
        fn order_and_parts_do_not_matter(
            deliveries in prop::collection::vec((0_u64..1 << 50, 0_u64..9_000), 1..200),
            cut in 0_usize..200,
        ) {
            let whole = log(&deliveries);
            let (one, other) = deliveries.split_at(cut.min(deliveries.len()));
            let mut other = log(&other.iter().rev().copied().collect::<Vec<_>>());
            other.merge(&log(one));
            prop_assert_eq!(&whole, &other);
        }

        /// Compares with the definition, computed from every single delivery.
        #[test]
        fn bytes_are_exact_and_times_are_to_a_2048th(
            deliveries in prop::collection::vec((1_000_u64..1 << 50, 1_u64..9_000), 1..200),
            share in 0_u64..1_000,
        ) {
            let log = log(&deliveries);
            let total: u64 = deliveries.iter().map(|(_, bytes)| bytes).sum();
            prop_assert_eq!(log.total(), total);
            let before = |time| {
                deliveries.iter().filter(|(at, _)| *at < time).map(|(_, bytes)| bytes).sum::<u64>()
            };
            // The error depends on this time, not on the last one.
            let fuzz = |time: u64| (time - 1_000) / 2_048 + 2;
            let last = deliveries.iter().map(|(time, _)| *time).max().unwrap();
            prop_assert_eq!(log.bytes_before(last + fuzz(last)), total);
            let time = 1_000 + (last - 1_000) * share / 1_000;
            let found = log.bytes_before(time);
            prop_assert!(before(time - fuzz(time)) <= found && found <= before(time + fuzz(time)));
            let bytes = (total * share / 1_000).max(1);
            let found = log.time_of(bytes).unwrap();
            prop_assert!(before(found + fuzz(found)) >= bytes);
            prop_assert!(before(found - fuzz(found)) < bytes);
            prop_assert_eq!(log.time_of(total + 1), None);
        }

        /// A log that takes in logs of later origins is as exact as any other.
        #[test]
        fn logs_of_later_origins_can_be_taken_in(
            deliveries in prop::collection::vec((1_000_u64..1 << 50, 1_u64..9_000), 1..50),
            origin in 0_u64..1_000,
            share in 1_u64..=1_000,
        ) {
            let own = log(&deliveries);
            let mut all = DeliveryLog::with_origin(origin);
            all.merge_later(&own);
            prop_assert_eq!(all.total(), own.total());
            let bytes = (own.total() * share / 1_000).max(1);
            let (time, expected) = (all.time_of(bytes).unwrap(), own.time_of(bytes).unwrap());
            prop_assert!(time.abs_diff(expected) <= 2 * (expected - origin) / 2_048 + 2);
        }
    }

    /// A second into a run, bins are 268 us wide, and the last one is filled in part.
    #[test]
    fn a_window_is_exact_however_wide_the_bins_are() {
        const MS: u64 = 1_000_000_000;
        let (from, to) = (999 * MS + MS / 2, 999 * MS + MS / 2 + 10_000_000);
        let filled = |packets: std::ops::RangeInclusive<u64>| {
            let mut log = DeliveryLog::with_origin(7).with_window(from, to);
            packets.for_each(|packet| log.add(packet * 1_000_000, 100));
            log
        };
        let (mut whole, late) = (filled(1..=700_000), filled(700_001..=1_000_000));
        assert_eq!((whole.bytes_in_window(), late.bytes_in_window()), (0, 1_000));
        whole.merge(&late);
        assert_eq!(whole.bytes_in_window(), 1_000);
        let mut all = whole.emptied(0);
        all.merge_later(&whole);
        assert_eq!((all.bytes_in_window(), all.total()), (1_000, 100_000_000));
        assert!(all.is_sound());
    }

    #[test]
    fn what_comes_late_does_not_make_early_times_coarse() {
        let mut log = DeliveryLog::default();
        (1..=1_000).for_each(|packet| log.add(packet * 1_000, 100));
        let alone = log.time_of(95_000);
        log.add(u64::MAX, 1);
        assert_eq!(log.time_of(95_000), alone);
        assert!(alone.unwrap().abs_diff(950_000) <= 950_000 / 2_048);
    }

    #[test]
    fn every_time_is_in_the_bin_that_covers_it() {
        let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) + 1, (1 << bit) - 1]);
        for offset in edges.chain([u64::MAX, 12_345_678_901]) {
            let Place { octave, bin } = Place::of(offset);
            assert!(octave < OCTAVES && (bin as u64) < BINS);
            let (start, width_log2) =
                start_and_width_log2(u32::try_from(octave).unwrap(), bin as u64);
            assert!(start <= offset && offset - start < 1 << width_log2, "{offset}");
            assert_eq!(DeliveryLog::default().bin_start(offset), start);
        }
    }

    #[test]
    fn times_up_to_the_last_have_a_place() {
        let log = log(&[(0, 1), (1_000, 2), (u64::MAX, 4)]);
        assert_eq!((log.total(), log.bytes_before(u64::MAX)), (7, 6));
        assert_eq!(log.time_of(7), Some(u64::MAX));
        assert!(log.is_sound());
        assert_eq!(DeliveryLog::default().time_of(1), None);
        assert_eq!(DeliveryLog::default().bytes_before(5), 0);
    }
}
