//! What a requester knows of the packets behind the first one that is missing.

use std::collections::{BTreeMap, VecDeque};

use rocelab_units::Duration;
use rocelab_wire::Sack;

use crate::RetransmissionTimeouts;
use crate::sequence::{Sequence, expand};

/// The request packet arrived at the responder, which keeps it.
const HELD: u8 = 1 << 0;
/// The response packet arrived here.
const ANSWERED: u8 = 1 << 1;

/// What arrived where, from the oldest packet that is not acknowledged on.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// The packet that `flags` begins with.
    base: Sequence,
    flags: VecDeque<u8>,
    /// The responder has executed all requests before this one.
    executed: Sequence,
    /// Of the packets before this one, those are lost that are not known to have arrived.
    lost_below: Sequence,
    /// Of the lost packets, those before this one were sent again.
    resent_below: Sequence,
    /// Where the recovery ends that is under way, if one is.
    recovery_end: Sequence,
    /// Results of atomic operations whose turn has not come.
    results: BTreeMap<Sequence, u64>,
    timeouts: Option<RetransmissionTimeouts>,
    /// Packets by which one may be overtaken before it is taken for lost.
    tolerance: u64,
}

rocelab_state::state!(Arrivals {
    values: base, flags, executed, lost_below, resent_below, recovery_end, results;
    kept: timeouts, tolerance
});

impl Arrivals {
    /// Nothing arrived; `first` is the first packet. A packet is lost once more than `tolerance`
    /// packets behind it may have overtaken it.
    pub(crate) const fn new(
        first: Sequence,
        timeouts: Option<RetransmissionTimeouts>,
        tolerance: u32,
    ) -> Self {
        Self {
            base: first,
            flags: VecDeque::new(),
            executed: first,
            lost_below: first,
            resent_below: first,
            recovery_end: first,
            results: BTreeMap::new(),
            timeouts,
            tolerance: tolerance as u64,
        }
    }

    /// The responder has executed all requests before `end`; of those, responses are missing that
    /// have not arrived by now.
    pub(crate) fn note_executed(&mut self, end: Sequence) {
        self.executed = self.executed.max(end);
        self.note_overtaken(end);
    }

    /// What a selective acknowledgement says about packets before `sent_end`.
    pub(crate) fn note_sack(&mut self, sack: &Sack, sent_end: Sequence) {
        let first = expand(sack.first, self.base);
        for bit in 0..Sack::PACKETS {
            let sequence = first + u64::from(bit);
            if sack.arrived & (1 << bit) != 0 && sequence < sent_end {
                self.mark(sequence, HELD);
                self.note_overtaken(sequence);
            }
        }
    }

    /// All responses before `sequence` arrived, and more follow: the responder has their request.
    pub(crate) fn note_held(&mut self, sequence: Sequence) {
        self.mark(sequence, HELD);
    }

    /// A response packet arrived, with the result of an atomic operation if it is one.
    pub(crate) fn note_response(&mut self, sequence: Sequence, result: Option<u64>) {
        self.mark(sequence, ANSWERED);
        if let Some(result) = result {
            self.results.insert(sequence, result);
        }
    }

    /// The timer expired: everything is lost from `first` to `sent_end`, but for the responses that
    /// arrived. Requests that the responder keeps may have been executed since, and their responses
    /// lost.
    pub(crate) fn lose_all(&mut self, first: Sequence, sent_end: Sequence) {
        self.lost_below = sent_end;
        self.resent_below = first;
        for flags in &mut self.flags {
            *flags &= !HELD;
        }
    }

    /// This packet is needed again, whatever was known of it.
    pub(crate) fn lose(&mut self, sequence: Sequence) {
        self.lost_below = self.lost_below.max(sequence + 1);
        self.resent_below = self.resent_below.min(sequence);
        if let Some(flags) = self.flags_mut(sequence) {
            *flags &= !HELD;
        }
    }

    /// The packets before `end` were sent again, those of them that are lost.
    pub(crate) fn note_resent(&mut self, end: Sequence) {
        self.resent_below = self.resent_below.max(end);
    }

    /// A packet is sent again: whether that begins a recovery. It lasts until all is acknowledged
    /// that was sent by now.
    pub(crate) fn begin_recovery(&mut self, acknowledged: Sequence, sent_end: Sequence) -> bool {
        let begins = acknowledged >= self.recovery_end;
        if begins {
            self.recovery_end = sent_end;
        }
        begins
    }

    /// Everything before `end` is done with.
    pub(crate) fn forget_before(&mut self, end: Sequence) {
        let gone = usize::try_from(end.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.flags.drain(..gone.min(self.flags.len()));
        self.base = self.base.max(end);
        self.results = self.results.split_off(&end);
        self.resent_below = self.resent_below.max(end);
    }

    /// How long to wait for an acknowledgement with so many packets in flight, where that matters.
    pub(crate) fn timeout(&self, in_flight: u64) -> Option<Duration> {
        let timeouts = self.timeouts?;
        let few = in_flight <= u64::from(timeouts.low_packets);
        Some(if few { timeouts.low } else { timeouts.high })
    }

    /// Before which all requests were executed.
    pub(crate) const fn executed(&self) -> Sequence {
        self.executed
    }

    /// Before which packets are lost that are not known to have arrived.
    pub(crate) const fn lost_below(&self) -> Sequence {
        self.lost_below
    }

    /// From which on lost packets were not sent again.
    pub(crate) const fn resent_below(&self) -> Sequence {
        self.resent_below
    }

    /// Whether the response arrived.
    pub(crate) fn is_answered(&self, sequence: Sequence) -> bool {
        self.flags(sequence) & ANSWERED != 0
    }

    /// The result of an atomic operation that arrived.
    pub(crate) fn result(&self, sequence: Sequence) -> u64 {
        self.results.get(&sequence).copied().unwrap_or_default()
    }

    /// Whether nothing has to be done about this packet: the request is kept or executed, or, of a
    /// request that is `awaiting` responses from that packet on and was executed, the response is
    /// here. The responder keeps a whole request, however many responses it will have.
    pub(crate) fn is_settled(&self, sequence: Sequence, awaiting: Option<Sequence>) -> bool {
        match awaiting {
            None => sequence < self.executed || self.flags(sequence) != 0,
            Some(_) if self.is_answered(sequence) => true,
            Some(first) => sequence >= self.executed && self.flags(first) & HELD != 0,
        }
    }

    /// Something arrived that left after the packets before `sequence`.
    fn note_overtaken(&mut self, sequence: Sequence) {
        self.lost_below = self.lost_below.max(sequence.saturating_sub(self.tolerance));
    }

    fn flags(&self, sequence: Sequence) -> u8 {
        let place = sequence.checked_sub(self.base).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.flags.get(place)).copied().unwrap_or_default()
    }

    fn flags_mut(&mut self, sequence: Sequence) -> Option<&mut u8> {
        let place = usize::try_from(sequence.checked_sub(self.base)?).ok()?;
        self.flags.get_mut(place)
    }

    fn mark(&mut self, sequence: Sequence, flag: u8) {
        let Some(place) = sequence.checked_sub(self.base) else { return };
        let Ok(place) = usize::try_from(place) else { return };
        if self.flags.len() <= place {
            self.flags.resize(place + 1, 0);
        }
        self.flags[place] |= flag;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_before_something_that_arrived_is_lost() {
        let mut arrivals = Arrivals::new(100, None, 0);
        arrivals.note_sack(&Sack::new(101, 0b1011), 200);
        assert_eq!(arrivals.lost_below(), 104);
        let settled: Vec<_> =
            (100..106).filter(|&packet| arrivals.is_settled(packet, None)).collect();
        assert_eq!(settled, [101, 102, 104]);
        arrivals.forget_before(103);
        assert!(arrivals.is_settled(104, None) && !arrivals.is_settled(103, None));
    }

    #[test]
    fn what_was_not_sent_cannot_have_arrived() {
        let mut arrivals = Arrivals::new(100, None, 0);
        arrivals.note_sack(&Sack::new(101, u64::MAX), 103);
        assert!(arrivals.is_settled(102, None) && !arrivals.is_settled(103, None));
        assert_eq!(arrivals.lost_below(), 102);
    }

    #[test]
    fn a_read_is_settled_by_its_responses_once_it_is_executed() {
        let mut arrivals = Arrivals::new(100, None, 0);
        arrivals.note_sack(&Sack::new(101, 0b1111), 200);
        assert!(arrivals.is_settled(102, Some(101)), "the responder has the request");
        arrivals.note_executed(104);
        arrivals.note_response(103, None);
        let missing: Vec<_> =
            (100..105).filter(|&packet| !arrivals.is_settled(packet, Some(101))).collect();
        assert_eq!(missing, [100, 101, 102]);
    }

    #[test]
    fn few_packets_in_flight_wait_less() {
        let [low, high] = [100, 320].map(Duration::from_us);
        let timeouts = RetransmissionTimeouts { low, high, low_packets: 3 };
        let arrivals = Arrivals::new(100, Some(timeouts), 0);
        assert_eq!([1, 3, 4].map(|count| arrivals.timeout(count).unwrap()), [low, low, high]);
        assert_eq!(Arrivals::new(100, None, 0).timeout(1), None);
    }

    #[test]
    fn a_recovery_begins_once() {
        let mut arrivals = Arrivals::new(100, None, 0);
        assert!(arrivals.begin_recovery(100, 120));
        assert!(!arrivals.begin_recovery(119, 140));
        assert!(arrivals.begin_recovery(120, 140));
    }
}
