//! The headroom of a lossless ingress priority: the memory for frames that arrive after it has
//! asked for a pause.
//!
//! The pause is due at a switch when a frame has arrived that does not fit below XOFF; that frame
//! is the first in the headroom. Until the sender's last bit is in, there may come what fits into
//!
//! * the rest of a largest frame (of any class) and its gap, already leaving towards the sender,
//! * the pause frame with its preamble,
//! * two propagation delays and the response time,
//! * a largest frame of this class, with its preamble, that the sender had just begun.
//!
//! ```text
//! switch |<- ahead ->|<- pause ->|
//!                       \ delay
//! sender                         |<- response ->|<- begun ->|
//!                                                   \ delay
//! switch |<- all of this arrives: the headroom --------------->|
//! ```
//!
//! Between two frames on the wire there are 20 bytes of gap and preamble that need no memory. In
//! bytes they are left as a margin. In memory that is handed out in cells they are counted, because
//! there the margin is on the other side: the frames that fill cells worst are small.

use rocelab_units::{Bandwidth, Bytes, Duration};

use crate::link::{INTERPACKET_GAP, MIN_FRAME, PREAMBLE, QUANTUM_BITS};

/// What the headroom of one ingress port and priority depends on, in the simple case: no other
/// class has larger frames, and memory is counted in bytes, not in cells. [`LosslessHop`] is the
/// general case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadroomInput {
    /// The port's rate.
    pub rate: Bandwidth,
    /// Propagation delay of the cable, one way.
    pub delay: Duration,
    /// The largest frame of any class, FCS included: it may be on its way out when the pause is
    /// due, and it may have just begun at the sender when the pause arrives.
    pub largest_frame: Bytes,
    /// The time that both ends together need to make a pause and to obey it.
    pub response: Duration,
}

/// The least headroom, in bytes, with which nothing is dropped, store and forward: the sum of the
/// hop's [`HeadroomTerms`].
pub fn headroom(input: &HeadroomInput) -> Bytes {
    LosslessHop::from(*input).terms().total()
}

/// A link and what a lossless class sends over it: all that its headroom depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessHop {
    /// The link's rate, both directions.
    pub rate: Bandwidth,
    /// Propagation delay of the cable, one way.
    pub delay: Duration,
    /// The time that both ends together need to make a pause and to obey it.
    pub response: Duration,
    /// The largest frame of any class, FCS included, that the pause may have to wait for.
    pub frame_ahead: Bytes,
    /// The largest frame of this class, FCS included.
    pub largest_frame: Bytes,
    /// The smallest frame of this class, FCS included, from 1 byte to the largest. It matters only
    /// where memory is divided into cells.
    pub smallest_frame: Bytes,
    /// Size of a memory cell in bytes, at least 1; a frame takes whole cells.
    pub cell: Bytes,
}

impl From<HeadroomInput> for LosslessHop {
    fn from(input: HeadroomInput) -> Self {
        Self {
            rate: input.rate,
            delay: input.delay,
            response: input.response,
            frame_ahead: input.largest_frame,
            largest_frame: input.largest_frame,
            smallest_frame: Bytes::new(u64::from(MIN_FRAME)),
            cell: Bytes::new(1),
        }
    }
}

/// The sum that makes a headroom. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HeadroomTerms {
    /// The frame that crosses XOFF: a largest frame of this class.
    pub first: Bytes,
    /// The largest frame of any class, which may be leaving ahead of the pause frame, and its gap
    /// of 12.
    pub ahead: Bytes,
    /// The pause frame of 64 and its preamble of 8.
    pub pause: Bytes,
    /// What is sent in two propagation delays.
    pub cable: Bytes,
    /// What is sent in the response time, rounded up to whole bytes.
    pub response: Bytes,
    /// What the sender had just begun: a largest frame of this class and its preamble of 8.
    pub begun: Bytes,
    /// What cells add: see [`LosslessHop::terms`].
    pub cells: Bytes,
}

impl HeadroomTerms {
    /// The headroom.
    pub fn total(&self) -> Bytes {
        let ends = self.first + self.begun + self.cells;
        ends + self.ahead + self.pause + self.cable + self.response
    }
}

impl LosslessHop {
    /// The terms of the headroom.
    ///
    /// A frame of L bytes takes ceil(L / c) cells of c bytes. The first and the last frame may be
    /// largest ones, which take most. Between them frames arrive for as long as W = ahead + pause +
    /// cable + response and the last one's preamble take, and a frame of L needs L + 20 bytes of
    /// that time for itself, its preamble and its gap. So they take at most W x f of memory, with
    /// f the most of ceil(L / c) c / (L + 20) over the frames of the class. Within k cells the
    /// smallest L = (k - 1) c + 1 is the worst; of these the first, as the quotient falls with k
    /// (for c above 21; below it is under 1): f is that of the smallest frame, or of the first
    /// frame behind a full cell. It is taken as at least 1, so that cells never need less than
    /// bytes.
    pub fn terms(&self) -> HeadroomTerms {
        let [gap, preamble] = [INTERPACKET_GAP, PREAMBLE].map(|bytes| Bytes::new(bytes.into()));
        let cable = self.rate.bytes_in(self.delay * 2);
        let flight = self.rate.bytes_in(self.delay * 2 + self.response) + Bytes::new(1);
        let mut terms = HeadroomTerms {
            first: self.largest_frame,
            ahead: self.frame_ahead + gap,
            pause: Bytes::new(u64::from(PREAMBLE + MIN_FRAME)),
            cable,
            response: Bytes::new(flight.get() - cable.get()),
            begun: self.largest_frame + preamble,
            cells: Bytes::ZERO,
        };
        let plain = terms.total().get();
        let whole = plain.next_multiple_of(self.cell.get().max(1));
        let cells = self.in_cells(plain - 2 * self.largest_frame.get());
        terms.cells = Bytes::new(cells.max(whole) - plain);
        terms
    }

    /// The headroom in bytes of whole cells: a first frame, a last frame, and between them the
    /// frames that arrive in the time that `window` bytes take on the link.
    fn in_cells(&self, window: u64) -> u64 {
        let cell = self.cell.get().max(1);
        let (memory, wire) = self.worst_occupancy();
        let between = u128::from(window) * u128::from(memory) / u128::from(wire);
        let between = u64::try_from(between).unwrap_or(u64::MAX) / cell;
        let ends = 2 * self.largest_frame.get().div_ceil(cell);
        ends.saturating_add(between).saturating_mul(cell)
    }

    /// The largest ratio, over all frame sizes of this class, of the memory that a frame takes to
    /// the bytes of time that it takes on the wire; at least 1. As numerator and denominator.
    fn worst_occupancy(&self) -> (u64, u64) {
        let (cell, smallest) = (self.cell.get().max(1), self.smallest_frame.get().max(1));
        let behind_a_cell = (smallest - 1).div_ceil(cell) * cell + 1;
        let overhead = u64::from(PREAMBLE + INTERPACKET_GAP);
        let candidates = [smallest, behind_a_cell].into_iter();
        candidates
            .filter(|&len| len <= self.largest_frame.get())
            .map(|len| (len.div_ceil(cell) * cell, len + overhead))
            .fold((1, 1), |worst, next| {
                let [a, b] = [next.0 * worst.1, worst.0 * next.1];
                if a > b { next } else { worst }
            })
    }
}

/// The longest time from the arrival of a pause to the end of the last frame that a port may start
/// nevertheless: what IEEE 802.3 lets it take (31B.3.7), in quanta of 512 bit times.
///
/// The table of rates (Mbit/s) and quanta is what SONiC's calculator takes from there
/// (`cfgmgr/buffer_headroom_mellanox.lua` of sonic-swss at 18913fa); we have not read the standard
/// itself. A rate that is not listed gets the time of the next lower one, and one below all of
/// them the quanta of the lowest.
pub fn standard_response(rate: Bandwidth) -> Duration {
    let quantum = Bytes::new(u64::from(QUANTUM_BITS / 8));
    let found = QUANTA.iter().rev().find(|&&(mbps, _)| Bandwidth::from_mbps(mbps) <= rate);
    match found {
        Some(&(mbps, quanta)) => Bandwidth::from_mbps(mbps).transmission_time(quantum) * quanta,
        None => rate.transmission_time(quantum) * QUANTA[0].1,
    }
}

/// The listed rate whose quanta [`standard_response`] uses for `rate`: that rate, or the next lower
/// one, or the lowest.
pub fn rate_of_response(rate: Bandwidth) -> Bandwidth {
    let listed = QUANTA.iter().rev().map(|&(mbps, _)| Bandwidth::from_mbps(mbps));
    listed.clone().find(|&listed| listed <= rate).unwrap_or(Bandwidth::from_mbps(QUANTA[0].0))
}

/// Rates in Mbit/s, ascending, and quanta.
const QUANTA: [(u64, u64); 9] = [
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;

    fn input() -> HeadroomInput {
        HeadroomInput {
            rate: Bandwidth::from_gbps(100),
            delay: Duration::from_ns(500),
            largest_frame: Bytes::new(1_106),
            response: Duration::ZERO,
        }
    }

    #[test]
    fn every_term_is_there() {
        // 3 x 1106 + 12 + 72 + 8 + 12500 + 1 (the fraction of a byte).
        assert_eq!(headroom(&input()), Bytes::new(15_911));
        let hop = LosslessHop {
            response: Duration::from_ns(100),
            frame_ahead: Bytes::new(9_216),
            ..input().into()
        };
        let terms = hop.terms();
        assert_eq!(
            [terms.first, terms.ahead, terms.pause, terms.cable, terms.response, terms.begun]
                .map(Bytes::get),
            [1_106, 9_228, 72, 12_500, 1_251, 1_114]
        );
        assert_eq!((terms.cells, terms.total()), (Bytes::ZERO, Bytes::new(25_271)));
    }

    #[test]
    fn the_response_time_is_that_of_the_rate() {
        let response = |gbps| standard_response(Bandwidth::from_gbps(gbps)).ps();
        assert_eq!(response(100), 394 * 5_120);
        assert_eq!(response(40), 118 * 12_800);
        assert_eq!(response(400), 905 * 1_280);
        assert_eq!(response(56), response(50), "not listed");
        assert_eq!(response(1_600), response(800));
        assert_eq!(standard_response(Bandwidth::from_bps(500_000_000)).ps(), 2 * 1_024_000);
    }

    /// The most memory that frames can take if the last of them begins within `window` bytes of
    /// time: dynamic programming over the time, with every frame size tried.
    fn most_memory(hop: &LosslessHop, window: usize) -> u64 {
        let cell = hop.cell.get();
        let sizes = hop.smallest_frame.get()..=hop.largest_frame.get();
        let taken: Vec<_> =
            sizes.map(|len| (len.div_ceil(cell) * cell, len as usize + 20)).collect();
        let mut best = vec![0u64; window + 1];
        for time in 1..=window {
            let with = |&(memory, wire): &(u64, usize)| {
                time.checked_sub(wire).map(|rest| best[rest] + memory)
            };
            best[time] = taken.iter().filter_map(with).max().unwrap_or(0).max(best[time - 1]);
        }
        best[window] + 2 * hop.largest_frame.get().div_ceil(cell) * cell
    }

    #[test]
    fn cells_take_what_the_worst_mix_of_frames_does() {
        for cell in [2, 20, 64, 80, 128, 144, 208, 254, 300, 1_500] {
            for (smallest, largest) in [(64, 300), (64, 64), (100, 300), (209, 400), (64, 1_106)] {
                let hop = LosslessHop {
                    delay: Duration::from_ns(40),
                    cell: Bytes::new(cell),
                    smallest_frame: Bytes::new(smallest),
                    largest_frame: Bytes::new(largest),
                    frame_ahead: Bytes::new(largest),
                    ..input().into()
                };
                // The time ahead of the pause, the pause and its preamble, and two delays. The gap
                // behind the first frame does not count.
                let window = 8 + largest + 12 + 72 - 12 + 1_000;
                let most = most_memory(&hop, window as usize);
                let given = hop.terms().total().get();
                assert_eq!(given % cell, 0);
                assert!(most <= given, "{most} of {given} with cells of {cell}, {smallest} up");
            }
        }
    }

    #[test]
    fn small_frames_in_cells_leave_no_room_for_a_frame_less() {
        // Where the smallest frame is the worst, a sequence of such frames reaches the bound.
        for (cell, us) in [(208, 1), (208, 3), (254, 10), (300, 3)] {
            let hop = LosslessHop {
                delay: Duration::from_us(us),
                cell: Bytes::new(cell),
                ..input().into()
            };
            let between = (8 + 1_106 + 12 + 72 - 12 + us * 25_000) / (64 + 20);
            let row = (between + 2 * 1_106u64.div_ceil(cell)) * cell;
            let given = hop.terms().total().get();
            assert!(row <= given && row > given - 1_106u64.div_ceil(cell) * cell, "{row} {given}");
        }
    }
}
