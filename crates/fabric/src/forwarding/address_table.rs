//! The MAC table of a switch: behind which port an address is.
//!
//! Nothing here has a timer: an entry says when it was heard of last, and who looks it up finds out
//! whether that is too long ago.

use std::collections::BTreeMap;

use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::{Duration, SimTime};

use super::{KnownHosts, MacEntries};
use crate::NodeId;

/// The MAC table of one switch.
#[derive(Debug)]
pub(super) struct AddressTable {
    /// What differs from the beginning.
    entries: BTreeMap<NodeId, Entry>,
    /// By port: when what was known behind it was forgotten at once.
    flushed: Vec<Option<SimTime>>,
    counts: MacEntries,
}

/// An address that was heard of.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Entry {
    /// Number of the port.
    port: u16,
    heard: SimTime,
    /// Whether it was found too old.
    aged: bool,
}

/// A port of the switch, where an address is, or was at the beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) host: NodeId,
    /// The port's number.
    pub(super) port: u16,
}

impl State for AddressTable {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { entries, flushed, counts } = self;
        save_value(entries, to)?;
        save_value(flushed, to)?;
        save_value(counts, to)
    }

    /// The number of ports is that of the switch.
    fn load(&mut self, from: &mut &[u8]) -> Result {
        let entries: BTreeMap<NodeId, Entry> = load_value(from)?;
        let flushed: Vec<Option<SimTime>> = load_value(from)?;
        let fits = |entry: &Entry| usize::from(entry.port) < self.flushed.len();
        if flushed.len() != self.flushed.len() || !entries.values().all(fits) {
            return Err(unfit("a MAC table"));
        }
        *self = Self { entries, flushed, counts: load_value(from)? };
        Ok(())
    }
}

impl AddressTable {
    /// The table of a switch with this many ports.
    pub(super) fn new(ports: usize) -> Self {
        Self { entries: BTreeMap::new(), flushed: vec![None; ports], counts: MacEntries::default() }
    }

    /// What became of entries so far.
    pub(super) const fn counts(&self) -> MacEntries {
        self.counts
    }

    /// A frame from a host has come in.
    pub(super) fn hear(&mut self, known: &KnownHosts, from: Location, now: SimTime) {
        let Some(learning) = &known.learning else { return };
        let before = self.port_at(known, from, now, learning.mac_ageing);
        self.entries.insert(from.host, Entry { port: from.port, heard: now, aged: false });
        if before != Some(from.port) {
            self.counts.learnt += 1;
        }
    }

    /// The port behind which a host is known: `at_first` is where it was at the beginning.
    pub(super) fn port_of(
        &mut self,
        known: &KnownHosts,
        at_first: Location,
        now: SimTime,
    ) -> Option<u16> {
        let Some(learning) = &known.learning else {
            return (!known.lacks_mac(at_first.host)).then_some(at_first.port);
        };
        let port = self.port_at(known, at_first, now, learning.mac_ageing);
        if port.is_none() {
            self.note_aged(known, at_first, now, learning.mac_ageing);
        }
        port
    }

    /// Forgets what is known behind a port.
    pub(super) fn flush(&mut self, port: u16, now: SimTime) {
        if let Some(flushed) = self.flushed.get_mut(usize::from(port)) {
            *flushed = Some(now);
        }
    }

    /// The port of an entry that is there and not too old.
    fn port_at(
        &self,
        known: &KnownHosts,
        at_first: Location,
        now: SimTime,
        ageing: Duration,
    ) -> Option<u16> {
        let entry = self.entry(known, at_first)?;
        let flushed = self.flushed.get(usize::from(entry.port)).copied().flatten();
        let is_there = !entry.aged && flushed.is_none_or(|flushed| flushed < entry.heard);
        (is_there && now.since(entry.heard) < ageing).then_some(entry.port)
    }

    /// What was heard of an address, or is known from the beginning.
    fn entry(&self, known: &KnownHosts, at_first: Location) -> Option<Entry> {
        self.entries.get(&at_first.host).copied().or_else(|| {
            let entry = Entry { port: at_first.port, heard: SimTime::ZERO, aged: false };
            (!known.lacks_mac(at_first.host)).then_some(entry)
        })
    }

    /// Counts an entry that was found too old, once.
    fn note_aged(
        &mut self,
        known: &KnownHosts,
        at_first: Location,
        now: SimTime,
        ageing: Duration,
    ) {
        let Some(entry) = self.entry(known, at_first) else { return };
        if !entry.aged && now.since(entry.heard) >= ageing {
            self.counts.aged += 1;
            self.entries.insert(at_first.host, Entry { aged: true, ..entry });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forwarding::{LearningConfig, MissingEntries};

    const HOST: NodeId = 7;
    const AT_FIRST: Location = Location { host: HOST, port: 2 };
    const ELSEWHERE: Location = Location { port: 1, ..AT_FIRST };

    fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    fn known() -> KnownHosts {
        let learning =
            LearningConfig { mac_ageing: Duration::from_us(5), arp_timeout: Duration::from_us(20) };
        KnownHosts { learning: Some(learning), ..KnownHosts::default() }
    }

    #[test]
    fn an_entry_lives_for_the_ageing_time_after_the_last_frame() {
        let (known, mut table) = (known(), AddressTable::new(4));
        assert_eq!(table.port_of(&known, AT_FIRST, at(4)), Some(2));
        table.hear(&known, AT_FIRST, at(4));
        assert_eq!(table.port_of(&known, AT_FIRST, at(8)), Some(2));
        assert_eq!(table.port_of(&known, AT_FIRST, at(9)), None);
        assert_eq!(table.port_of(&known, AT_FIRST, at(10)), None);
        assert_eq!(table.counts(), MacEntries { learnt: 0, aged: 1 });
        table.hear(&known, ELSEWHERE, at(11));
        assert_eq!(table.port_of(&known, AT_FIRST, at(12)), Some(1));
        table.hear(&known, AT_FIRST, at(12));
        assert_eq!(table.counts(), MacEntries { learnt: 2, aged: 1 });
    }

    #[test]
    fn a_flushed_port_has_no_entries_until_the_next_frame() {
        let (known, mut table) = (known(), AddressTable::new(4));
        table.flush(2, at(1));
        assert_eq!(table.port_of(&known, AT_FIRST, at(1)), None);
        table.hear(&known, AT_FIRST, at(2));
        assert_eq!(table.port_of(&known, AT_FIRST, at(2)), Some(2));
        table.flush(1, at(3));
        assert_eq!(table.port_of(&known, AT_FIRST, at(3)), Some(2));
        assert_eq!(table.counts(), MacEntries { learnt: 1, aged: 0 });
    }

    #[test]
    fn a_table_that_does_not_change_stays_as_it_is() {
        let known = KnownHosts {
            missing: [(HOST, MissingEntries { mac: true, arp: false })].into(),
            ..KnownHosts::default()
        };
        let mut table = AddressTable::new(4);
        table.hear(&known, AT_FIRST, at(1));
        assert_eq!(table.port_of(&known, AT_FIRST, at(2)), None);
        let other = Location { host: HOST + 1, port: 2 };
        assert_eq!(table.port_of(&known, other, at(900)), Some(2));
        assert_eq!(table.counts(), MacEntries::default());
    }
}
