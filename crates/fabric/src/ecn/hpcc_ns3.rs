//! ECN marking as HPCC's ns-3 simulator does it: in doubles, when a packet leaves its queue.

/// Marks by the length of one port's egress queue in HPCC's ns-3 simulator. The curve is that of
/// [`EcnMarker`](super::EcnMarker), computed with that simulator's arithmetic, so that the same
/// random numbers give the same marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdMarker {
    /// Up to this many bytes nothing is marked.
    pub kmin: u32,
    /// Above this many bytes everything is marked.
    pub kmax: u32,
    /// Probability of a mark at `kmax`, 0 to 1.
    pub pmax: f64,
}

impl ThresholdMarker {
    /// Whether a packet that leaves `queued` bytes of its class behind is marked; `draw` gives a
    /// number from 0 to 1, and is called only above `kmin` and up to `kmax`.
    #[inline]
    pub fn marks(&self, queued: u32, draw: impl FnOnce() -> f64) -> bool {
        if queued > self.kmax {
            return true;
        }
        if queued <= self.kmin {
            return false;
        }
        // The order of these operations must not change: each of them rounds.
        let above = f64::from(queued - self.kmin);
        draw() < self.pmax * above / f64::from(self.kmax - self.kmin)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const MARKER: ThresholdMarker = ThresholdMarker { kmin: 400_000, kmax: 1_600_000, pmax: 0.2 };

    #[test]
    fn the_probability_rises_to_pmax_at_kmax() {
        // A quarter of the way: 0.2 x 300,000 / 1,200,000 = 0.05.
        assert!(MARKER.marks(700_000, || 0.049_999_999));
        assert!(!MARKER.marks(700_000, || 0.050_000_001));
        assert!(MARKER.marks(1_600_000, || 0.199_999_999));
        assert!(!MARKER.marks(1_600_000, || 0.200_000_001));
    }

    #[test]
    fn a_number_is_drawn_between_the_thresholds_only() {
        let draws = Cell::new(0);
        let marks = |queued| {
            MARKER.marks(queued, || {
                draws.set(draws.get() + 1);
                0.0
            })
        };
        assert_eq!([400_000, 400_001, 1_600_000, 1_600_001].map(marks), [false, true, true, true]);
        assert_eq!(draws.get(), 2);
    }

    #[test]
    fn equal_thresholds_draw_nothing() {
        let marker = ThresholdMarker { kmin: 30_000, kmax: 30_000, pmax: 1.0 };
        let never = || -> f64 { panic!("nothing is drawn") };
        assert!(!marker.marks(30_000, never));
        assert!(marker.marks(30_001, never));
    }
}
