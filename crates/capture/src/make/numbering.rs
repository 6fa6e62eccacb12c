//! Sequence numbers: each queue pair of each transport service has its own.

use std::collections::BTreeMap;

use rocelab_wire::Transport;

/// A queue pair, identified by who sends to it. Each service has its own numbers: the same number
/// on two services means two queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePair {
    /// 0 from the source to the destination, 1 in the opposite direction.
    pub(super) direction: usize,
    pub(super) transport: Transport,
    pub(super) dest_qp: u32,
}

/// A request, as its answers need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRequest {
    /// PSN of its first packet.
    pub(super) first_psn: u32,
    /// PSN of its last packet, or of the last packet of the answer to a READ.
    pub(super) last_psn: u32,
    /// Number of bytes that it carries or requests.
    pub(super) bytes: u64,
    /// Number of requests of its queue pair so far, including this one, modulo 2^24.
    pub(super) msn: u32,
}

/// The state after the messages so far.
#[derive(Debug)]
pub(super) struct Numbering {
    first_psn: u32,
    /// For each queue pair, its next PSN and its number of requests so far.
    next: BTreeMap<QueuePair, (u32, u32)>,
    /// The last request of each direction and service.
    last: BTreeMap<(usize, Transport), LastRequest>,
}

impl Numbering {
    pub(super) const fn new(first_psn: u32) -> Self {
        Self { first_psn, next: BTreeMap::new(), last: BTreeMap::new() }
    }

    /// The PSN of the next request to a queue pair.
    pub(super) fn next_psn(&self, queue_pair: QueuePair) -> u32 {
        self.next.get(&queue_pair).map_or(self.first_psn, |(psn, _)| *psn)
    }

    /// The last request, to which answers belong.
    pub(super) fn last(&self, direction: usize, transport: Transport) -> LastRequest {
        let none =
            LastRequest { first_psn: self.first_psn, last_psn: self.first_psn, bytes: 0, msn: 0 };
        self.last.get(&(direction, transport)).copied().unwrap_or(none)
    }

    /// Counts a request that takes `packets` sequence numbers.
    pub(super) fn count(&mut self, to: QueuePair, first_psn: u32, packets: u32, bytes: u64) {
        let (next_psn, msn) = self.next.entry(to).or_default();
        *next_psn = first_psn.wrapping_add(packets) & 0xff_ffff;
        *msn = (*msn + 1) & 0xff_ffff;
        let last_psn = first_psn.wrapping_add(packets - 1) & 0xff_ffff;
        let request = LastRequest { first_psn, last_psn, bytes, msn: *msn };
        self.last.insert((to.direction, to.transport), request);
    }
}
