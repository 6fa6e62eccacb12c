//! Window and threshold, and how both move in Reno: what all algorithms begin with.

use rocelab_units::Ratio;

use super::{TcpAck, TcpPath};

/// Window and slow start threshold of a connection (bytes).
#[derive(Clone, Debug)]
pub(super) struct Window {
    mss: u64,
    initial: u64,
    size: u64,
    threshold: u64,
    /// Acknowledged since the window last grew in congestion avoidance.
    acked: u64,
}

rocelab_state::state!(Window { values: size, threshold, acked; kept: mss, initial });

impl Window {
    pub(super) fn new(path: &TcpPath) -> Self {
        let mss = path.mss.max(1);
        let initial = path.initial_window.max(mss);
        Self { mss, initial, size: initial, threshold: u64::MAX, acked: 0 }
    }

    #[inline]
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    #[inline]
    pub(super) const fn threshold(&self) -> u64 {
        self.threshold
    }

    pub(super) const fn mss(&self) -> u64 {
        self.mss
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Slow start: the window grows by what was acknowledged, by two segments at most, and by one
    /// after a timeout: see RFC 3465 (its limit L). Returns what is left for congestion avoidance.
    pub(super) fn slow_start(&mut self, ack: &TcpAck) -> u64 {
        if !self.in_slow_start() {
            return ack.acked_bytes;
        }
        let limit = if ack.after_timeout { self.mss } else { 2 * self.mss };
        let growth = ack.acked_bytes.min(limit);
        let room = self.threshold - self.size;
        self.size += growth.min(room);
        growth.saturating_sub(room)
    }

    /// Congestion avoidance: one segment for each window that was acknowledged (RFC 5681, with
    /// bytes counted).
    pub(super) fn avoid_congestion(&mut self, acked_bytes: u64) {
        self.acked += acked_bytes;
        if self.acked >= self.size {
            self.acked -= self.size;
            self.size += self.mss;
        }
    }

    /// Both together.
    pub(super) fn grow_as_reno(&mut self, ack: &TcpAck) {
        let left = self.slow_start(ack);
        if left > 0 {
            self.avoid_congestion(left);
        }
    }

    /// The threshold becomes `share` of what is in flight, at least two segments (RFC 5681).
    pub(super) fn lower_threshold(&mut self, in_flight: u64, share: Ratio) {
        self.threshold = share.of(in_flight.min(self.size)).max(2 * self.mss);
        self.acked = 0;
    }

    /// The window becomes the threshold.
    pub(super) const fn fall_to_threshold(&mut self) {
        self.size = self.threshold;
    }

    /// The window becomes one segment, as after a timeout.
    pub(super) const fn fall_to_one_segment(&mut self) {
        self.size = self.mss;
    }

    /// The window becomes `bytes`, at least one segment.
    pub(super) fn set(&mut self, bytes: u64) {
        self.size = bytes.max(self.mss);
    }

    /// Window and threshold become `bytes`; the threshold is at least two segments, and the window
    /// follows it.
    pub(super) fn set_both(&mut self, bytes: u64) {
        self.threshold = bytes.max(2 * self.mss);
        self.size = self.threshold;
        self.acked = 0;
    }

    /// The restart window: no more than the first one (RFC 5681).
    pub(super) fn restart(&mut self) {
        self.size = self.size.min(self.initial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_for_each_window_of_bytes() {
        let mut window = Window::new(&TcpPath { mss: 1_000, initial_window: 20_000 });
        window.lower_threshold(20_000, Ratio::new(1, 2));
        window.fall_to_threshold();
        // Four acknowledgements of 3,000 are a window of 10,000 and 2,000 more; three a window of
        // 11,000 with these.
        let sizes: Vec<_> = (0..7)
            .map(|_| {
                window.avoid_congestion(3_000);
                window.size() / 1_000
            })
            .collect();
        assert_eq!(sizes, [10, 10, 10, 11, 11, 11, 12]);
    }
}
