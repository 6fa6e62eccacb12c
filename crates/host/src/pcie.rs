//! PCIe: what a link carries, and what its headers cost (PCI Express Base Specification 5.0).

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

/// A PCIe link between a host and its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcie {
    /// Generation, 1 to 5.
    pub generation: u8,
    /// Lanes: 1, 2, 4, 8, 12 or 16.
    pub lanes: u8,
    /// The largest payload of a packet (MPS, bytes): 128 to 4096, a power of two.
    pub max_payload: u32,
    /// The most that one read asks for (MRRS, bytes): 128 to 4096, a power of two.
    pub max_read_request: u32,
    /// Reads that the NIC may have outstanding.
    pub tags: u32,
    /// From a read's request at the NIC's edge to the first byte of its data there, unloaded.
    pub read_latency: Duration,
    /// From a write at the NIC's edge until memory has it.
    pub write_latency: Duration,
    /// From the processor's store to the NIC's edge.
    pub doorbell_latency: Duration,
}

/// Header, framing, sequence number and LCRC of a write or a read request with an address of 64 bits (bytes).
const REQUEST_HEADER: u64 = 24;
/// The same of a completion with data (bytes).
const COMPLETION_HEADER: u64 = 20;
/// A data link layer packet (bytes).
const DATA_LINK_PACKET: f64 = 8.0;
/// Bytes of skip ordered sets, and how many symbols lie between two.
const SKIP: f64 = 4.0 / 1538.0;

impl Pcie {
    /// Bits a second of a lane, without encoding.
    const fn lane_rate(self) -> f64 {
        match self.generation {
            ..=1 => 2.5e9 * 0.8,
            2 => 5e9 * 0.8,
            3 => 8e9 * 128.0 / 130.0,
            4 => 16e9 * 128.0 / 130.0,
            5.. => 32e9 * 128.0 / 130.0,
        }
    }

    /// Bits a second of all lanes after encoding.
    pub fn raw_rate(self) -> f64 {
        self.lane_rate() * f64::from(self.lanes)
    }

    /// Symbols between two acknowledgements, and between two updates of credits, by the specification's table.
    fn data_link_interval(self) -> f64 {
        const OVERHEAD: f64 = 28.0;
        let factor = match (self.max_payload, self.lanes) {
            (..=256, ..=4) => 1.4,
            (..=256, 8) => 2.5,
            (..=256, _) => 3.0,
            (_, ..=8) => 1.0,
            (_, _) => 2.0,
        };
        let delay = match self.generation {
            ..=1 => 19.0,
            2 => 70.0,
            3.. => 115.0,
        };
        ((f64::from(self.max_payload) + OVERHEAD) * factor / f64::from(self.lanes) + delay).floor()
    }

    /// What is left for transaction layer packets in each direction, beside acknowledgements, updates of credits and skip
    /// ordered sets.
    pub fn packet_rate(self) -> Bandwidth {
        let share = 1.0 - 2.0 * DATA_LINK_PACKET / self.data_link_interval() - SKIP;
        #[expect(clippy::cast_possible_truncation, reason = "below 10^12")]
        #[expect(clippy::cast_sign_loss, reason = "a share of a positive rate")]
        Bandwidth::from_bps((self.raw_rate() * share) as u64)
    }

    /// Bytes on the link of a write of `bytes`.
    pub fn write_bytes(self, bytes: u64) -> u64 {
        bytes + REQUEST_HEADER * bytes.div_ceil(self.max_payload.into())
    }

    /// Bytes towards memory of a read of `bytes`.
    pub fn request_bytes(self, bytes: u64) -> u64 {
        REQUEST_HEADER * bytes.div_ceil(self.max_read_request.into())
    }

    /// Bytes from memory of a read of `bytes`.
    pub fn completion_bytes(self, bytes: u64) -> u64 {
        bytes + COMPLETION_HEADER * bytes.div_ceil(self.max_payload.into())
    }

    /// What the reads outstanding ask for (bytes).
    pub const fn outstanding_bytes(self) -> u64 {
        self.tags as u64 * self.max_read_request as u64
    }

    /// What the reads outstanding bring at the most, if that is bounded.
    pub fn outstanding_rate(self) -> Option<Bandwidth> {
        let bits = u128::from(self.tags) * u128::from(self.max_read_request) * 8;
        let latency = u128::from(self.read_latency.ps());
        let rate = (bits * 1_000_000_000_000).checked_div(latency)?;
        Some(Bandwidth::from_bps(u64::try_from(rate).unwrap_or(u64::MAX).max(1)))
    }

    /// The most payload that reads bring (bits a second): by the link, and by the reads outstanding.
    pub fn read_goodput(self) -> f64 {
        let payload: u32 = self.max_payload.max(self.max_read_request);
        let share = f64::from(payload) / self.completion_bytes(payload.into()) as f64;
        let by_link = self.packet_rate().bits_per_second() as f64 * share;
        match self.outstanding_rate() {
            None => by_link,
            Some(rate) => by_link.min(rate.bits_per_second() as f64),
        }
    }

    /// The most payload that writes carry (bits a second).
    pub fn write_goodput(self) -> f64 {
        let payload: u64 = self.max_payload.into();
        let share = payload as f64 / self.write_bytes(payload) as f64;
        self.packet_rate().bits_per_second() as f64 * share
    }
}

/// One direction of a link. What is asked for takes of its capacity at once, also if it is to be carried later: what is asked
/// afterwards for an earlier time does not wait for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Direction {
    free_at: SimTime,
    bytes: u64,
}

impl Direction {
    /// It is asked at `now` to carry so many bytes from `from` on; gives when the last one is through.
    pub fn carry(&mut self, now: SimTime, from: SimTime, bytes: u64, rate: Bandwidth) -> SimTime {
        self.bytes += bytes;
        let takes = rate.transmission_time(Bytes::new(bytes));
        self.free_at = self.free_at.max(now.min(from)).saturating_add(takes);
        self.free_at.max(from.saturating_add(takes))
    }

    /// Bytes that it has carried or is to carry, headers included.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
