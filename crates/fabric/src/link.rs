//! One direction of a full-duplex link.

mod hpcc_ns3;

use core::fmt;

pub use hpcc_ns3::{
    TruncatingLink, serialisation_ns, truncated_nanoseconds, truncated_nanoseconds_of,
};
use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

/// Preamble and start-of-frame delimiter, in bytes, ahead of every frame (IEEE 802.3).
pub const PREAMBLE: u32 = 8;
/// The least gap behind every frame, in bytes (IEEE 802.3, 12 byte times).
pub const INTERPACKET_GAP: u32 = 12;
/// The shortest frame, its FCS included, in bytes (IEEE 802.3).
pub const MIN_FRAME: u32 = 64;
/// One PFC or pause quantum in bit times (IEEE 802.3 Annex 31B).
pub const QUANTUM_BITS: u32 = 512;

/// The time that frames occupy a link. The native link is [`Link`].
///
/// Its state is the rate, which failures change.
pub trait Serialisation: fmt::Debug + Send + State {
    /// When a frame of `frame_len` bytes that starts at `now` ends.
    fn transmit(&self, now: SimTime, frame_len: u32) -> Transmission;

    /// The rate of the link.
    fn rate(&self) -> Bandwidth;

    /// Changes the rate, which is not zero, for frames that start from now on.
    fn set_rate(&mut self, rate: Bandwidth);

    /// The propagation delay.
    fn delay(&self) -> Duration;

    /// The time that one pause quantum of [`QUANTUM_BITS`] lasts here.
    fn quantum(&self) -> Duration;
}

/// Rate and propagation delay of one direction, after IEEE 802.3: a preamble ahead of every frame
/// and a gap behind it.
///
/// A link of native InfiniBand has neither: there the length of a frame counts its delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Picoseconds for one byte, if that is a whole number that fits; else 0.
    byte_time: u32,
    /// Bytes ahead of every frame, and behind it.
    preamble: u16,
    gap: u16,
    delay: Duration,
    rate: Bandwidth,
}

impl State for Link {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.rate, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.set_rate(load_rate(from)?);
        Ok(())
    }
}

/// Loads the rate of a link, which is not zero.
fn load_rate(from: &mut &[u8]) -> rocelab_state::Result<Bandwidth> {
    let rate: Bandwidth = load_value(from)?;
    if rate.bits_per_second() == 0 {
        return Err(unfit("the rate of a link"));
    }
    Ok(rate)
}

/// The end of a frame at both ends of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When the transmitter may start the next frame: the interpacket gap has passed.
    pub free_at: SimTime,
    /// When the last bit reaches the other end.
    pub arrival: SimTime,
}

impl Link {
    /// A link of `rate`, which is not zero, and propagation `delay`.
    pub fn new(rate: Bandwidth, delay: Duration) -> Self {
        let [preamble, gap] =
            [PREAMBLE, INTERPACKET_GAP].map(|bytes| bytes.try_into().unwrap_or(u16::MAX));
        Self::with_overhead(rate, delay, (preamble, gap))
    }

    /// A link of native InfiniBand of `rate` (of data, after coding), which is not zero, and propagation `delay`.
    pub fn infiniband(rate: Bandwidth, delay: Duration) -> Self {
        Self::with_overhead(rate, delay, (0, 0))
    }

    fn with_overhead(rate: Bandwidth, delay: Duration, (preamble, gap): (u16, u16)) -> Self {
        let byte = rate.transmission_time(Bytes::new(1));
        let exact = rate.transmission_time(Bytes::new(1 << 20)) == byte * (1 << 20);
        let byte_time = if exact { u32::try_from(byte.ps()).unwrap_or(0) } else { 0 };
        Self { byte_time, preamble, gap, delay, rate }
    }

    /// The rate.
    pub fn rate(&self) -> Bandwidth {
        self.rate
    }

    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The time that one pause quantum lasts here.
    pub fn quantum(&self) -> Duration {
        self.time_of(QUANTUM_BITS / 8)
    }

    /// A frame of `frame_len` bytes, its FCS included, starts at `now`: L bytes end on the other
    /// side (8 + L) x 8 / R + delay later.
    #[inline]
    pub fn transmit(&self, now: SimTime, frame_len: u32) -> Transmission {
        let preamble = u32::from(self.preamble);
        Transmission {
            free_at: now + self.time_of(preamble + frame_len + u32::from(self.gap)),
            arrival: now + self.time_of(preamble + frame_len) + self.delay,
        }
    }

    #[inline]
    fn time_of(&self, bytes: u32) -> Duration {
        if self.byte_time != 0 {
            Duration::from_ps(u64::from(bytes) * u64::from(self.byte_time))
        } else {
            self.rate.transmission_time(Bytes::new(u64::from(bytes)))
        }
    }
}

impl Serialisation for Link {
    #[inline]
    fn transmit(&self, now: SimTime, frame_len: u32) -> Transmission {
        Self::transmit(self, now, frame_len)
    }

    fn rate(&self) -> Bandwidth {
        self.rate
    }

    fn set_rate(&mut self, rate: Bandwidth) {
        *self = Self::with_overhead(rate, self.delay, (self.preamble, self.gap));
    }

    fn delay(&self) -> Duration {
        self.delay
    }

    fn quantum(&self) -> Duration {
        Self::quantum(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_its_bytes_and_the_delay() {
        let link = Link::new(Bandwidth::from_gbps(100), Duration::from_ns(15));
        let sent = link.transmit(SimTime::from_ps(7), 1082);
        assert_eq!(sent.arrival.ps(), 7 + (8 + 1082) * 80 + 15_000);
        assert_eq!(sent.free_at.ps(), 7 + (8 + 1082 + 12) * 80);
        assert_eq!(link.quantum().ps(), 5_120);
    }

    #[test]
    fn a_packet_of_infiniband_takes_its_bytes_and_delimiters() {
        let mut link = Link::infiniband(Bandwidth::from_gbps(200), Duration::from_ns(15));
        let sent = link.transmit(SimTime::ZERO, 4124);
        assert_eq!((sent.arrival.ps(), sent.free_at.ps()), (4124 * 40 + 15_000, 4124 * 40));
        Serialisation::set_rate(&mut link, Bandwidth::from_gbps(100));
        assert_eq!(link.transmit(SimTime::ZERO, 8).free_at.ps(), 8 * 80);
    }

    #[test]
    fn rates_without_a_whole_byte_time_round_up_per_frame() {
        let rate = Bandwidth::from_bps(3_000_000_000);
        let link = Link::new(rate, Duration::ZERO);
        let sent = link.transmit(SimTime::ZERO, 64);
        assert_eq!(sent.arrival.ps(), (72u64 * 8_000).div_ceil(3));
        assert_eq!(sent.free_at.ps(), (84u64 * 8_000).div_ceil(3));
    }
}
