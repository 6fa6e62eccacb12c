//! How much a lossless ingress priority must be able to store after it has asked for a pause.

use rocelab_units::{Bandwidth, Bytes, Duration};

use crate::link::{INTERPACKET_GAP, MIN_FRAME, PREAMBLE};

/// What the headroom of one ingress port and priority depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadroomInput {
    /// The port's rate.
    pub rate: Bandwidth,
    /// Propagation delay of the cable, one way.
    pub delay: Duration,
    /// The largest frame of any class, FCS included: it may be on its way out when the pause is
    /// due, and it may have just begun at the sender when the pause arrives.
    pub largest_frame: Bytes,
    /// What the two ends need to make and to obey a pause, together.
    pub response: Duration,
}

/// The least headroom, in bytes, with which nothing is dropped, store and forward.
///
/// The pause is due when a frame that does not fit below XOFF has arrived; that frame is the first
/// in the headroom. Until the sender's last bit is in, there may come what fits into
///
/// * the rest of a largest frame and its gap, already leaving towards the sender,
/// * the pause frame with its preamble,
/// * two propagation delays and the response time,
/// * a largest frame, with its preamble, that the sender had just begun.
///
/// Between two frames on the wire there are 20 bytes of gap and preamble that need no memory, which
/// the bound leaves as a margin.
pub fn headroom(input: &HeadroomInput) -> Bytes {
    let frame = input.largest_frame;
    let first = frame;
    let ahead = frame + Bytes::new(u64::from(INTERPACKET_GAP));
    let pause = Bytes::new(u64::from(PREAMBLE + MIN_FRAME));
    let begun = frame + Bytes::new(u64::from(PREAMBLE));
    let flight = input.rate.bytes_in(input.delay * 2 + input.response) + Bytes::new(1);
    first + ahead + pause + begun + flight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_there() {
        let input = HeadroomInput {
            rate: Bandwidth::from_gbps(100),
            delay: Duration::from_ns(500),
            largest_frame: Bytes::new(1_106),
            response: Duration::ZERO,
        };
        // 3 x 1106 + 12 + 72 + 8 + 12500 + 1 (the fraction of a byte).
        assert_eq!(headroom(&input), Bytes::new(15_911));
    }
}
