//! What a NIC holds, to be looked at from outside.

use rocelab_units::{Bandwidth, Bytes, Duration};

use super::Nic;
use crate::Transmit;
use crate::queue_pair::QueuePair;

/// A queue pair that has data to send and an open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Its number.
    pub qpn: u32,
    /// Priority of its data, 0 to 7.
    pub priority: u8,
    /// The rate that congestion control allows.
    pub rate: Bandwidth,
    /// The time of a packet of the path MTU at that rate.
    pub packet_time: Duration,
    /// Its data packets that have left, requests and READ data alike, modulo 2^32.
    pub departures: u32,
}

impl Nic {
    /// Acknowledgements, notifications and datagrams that wait to be sent: for each priority in
    /// order, the lowest first.
    pub fn control_packets(&self) -> impl Iterator<Item = &Transmit> {
        self.shared.control.packets()
    }

    /// Whether a queue pair waits for pacing credit.
    #[inline]
    pub const fn is_pacing(&self) -> bool {
        self.arbitration.is_pacing()
    }

    /// Whether there are any [`backlogs`](Self::backlogs).
    #[inline]
    pub const fn has_backlogs(&self) -> bool {
        self.arbitration.is_pacing() || self.arbitration.waiting() != 0
    }

    /// The queue pairs that have data to send and an open window: those that wait for their turn, and
    /// those that wait for pacing credit. In no order; one may come twice.
    pub fn backlogs(&self) -> impl Iterator<Item = Backlog> + '_ {
        let found = self.arbitration.indices().filter_map(|index| self.queue_pairs.find(index));
        found
            .filter(|queue_pair| queue_pair.has_data())
            .map(|queue_pair| Backlog::of(queue_pair, self.config.line_rate))
    }
}

impl Backlog {
    fn of(queue_pair: &QueuePair, line_rate: Bandwidth) -> Self {
        let rate = queue_pair.rate().min(line_rate);
        let packet = Bytes::new(u64::from(queue_pair.largest_frame()));
        Self {
            qpn: queue_pair.qpn(),
            priority: queue_pair.priority(),
            rate,
            packet_time: rate.transmission_time(packet),
            departures: queue_pair.departures(),
        }
    }
}
