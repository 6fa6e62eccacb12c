//! What switches know of hosts: behind which port a MAC address is, and on the last router to which
//! MAC address an IP address belongs.
//!
//! Nothing here has a timer: an entry says when it was heard of last, and who looks it up finds out
//! whether that is too long ago.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use crate::TablesPlan;
use crate::record::MacEntries;

/// The tables of all switches, where they do not always know everything.
#[derive(Debug)]
pub(super) struct Tables {
    plan: TablesPlan,
    /// By place among the switches: what differs from the beginning.
    pub(super) mac: Vec<BTreeMap<NodeId, MacEntry>>,
    /// By port: when what was known behind it was forgotten at once.
    pub(super) flushed: Vec<Option<SimTime>>,
    /// By host: when its router resolved its IP address, if it did since the beginning.
    pub(super) resolved: BTreeMap<NodeId, SimTime>,
    pub(super) counts: MacEntries,
}

/// An address that was heard of.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct MacEntry {
    /// Number of the port.
    port: u16,
    heard: SimTime,
    /// Whether it was found too old.
    aged: bool,
}

/// A port of a switch, where an address is or may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The switch, by its place among the switches.
    pub(super) switch: u32,
    /// Its first port among all ports.
    pub(super) first_port: u32,
    /// The port's number.
    pub(super) number: u16,
}

impl Place {
    fn port(&self) -> usize {
        self.first_port as usize + usize::from(self.number)
    }
}

impl Tables {
    pub(super) fn new(plan: TablesPlan, switches: usize, ports: usize) -> Self {
        Self {
            plan,
            mac: vec![BTreeMap::new(); switches],
            flushed: vec![None; ports],
            resolved: BTreeMap::new(),
            counts: MacEntries::default(),
        }
    }

    /// Whether tables change.
    pub(super) fn learn(&self) -> bool {
        self.plan.learning.is_some()
    }

    /// What became of MAC entries so far.
    pub(super) fn counts(&self) -> MacEntries {
        self.counts
    }

    /// A frame from `host` has come in at a place.
    pub(super) fn hear(&mut self, place: Place, host: NodeId, now: SimTime) {
        let Some(learning) = &self.plan.learning else { return };
        let ageing = learning.mac_ageing;
        let known = self.known_at(place, host, now, ageing);
        let entry = MacEntry { port: place.number, heard: now, aged: false };
        self.mac[place.switch as usize].insert(host, entry);
        if known != Some(place.number) {
            self.counts.learnt += 1;
        }
    }

    /// The port behind which a switch knows `host`: `place` is the one that it had at the beginning.
    pub(super) fn port_of(&mut self, place: Place, host: NodeId, now: SimTime) -> Option<u16> {
        let missing = self.plan.missing.get(&host).is_some_and(|entries| entries.mac);
        let Some(learning) = &self.plan.learning else {
            return (!missing).then_some(place.number);
        };
        let ageing = learning.mac_ageing;
        let known = self.known_at(place, host, now, ageing);
        if known.is_none() {
            self.note_aged(place, host, now, ageing);
        }
        known
    }

    /// The port of an entry that is there and not too old.
    fn known_at(&self, place: Place, host: NodeId, now: SimTime, ageing: Duration) -> Option<u16> {
        let entry = self.entry(place, host)?;
        let flushed = self.flushed[Place { number: entry.port, ..place }.port()];
        let is_there = !entry.aged && flushed.is_none_or(|flushed| flushed < entry.heard);
        (is_there && now.since(entry.heard) < ageing).then_some(entry.port)
    }

    /// What was heard of an address, or is known from the beginning.
    fn entry(&self, place: Place, host: NodeId) -> Option<MacEntry> {
        self.mac[place.switch as usize].get(&host).copied().or_else(|| {
            let missing = self.plan.missing.get(&host).is_some_and(|entries| entries.mac);
            let from_the_beginning =
                MacEntry { port: place.number, heard: SimTime::ZERO, aged: false };
            (!missing).then_some(from_the_beginning)
        })
    }

    /// Counts an entry that was found too old, once.
    fn note_aged(&mut self, place: Place, host: NodeId, now: SimTime, ageing: Duration) {
        let Some(entry) = self.entry(place, host) else { return };
        if !entry.aged && now.since(entry.heard) >= ageing {
            self.counts.aged += 1;
            let entry = MacEntry { aged: true, ..entry };
            self.mac[place.switch as usize].insert(host, entry);
        }
    }

    /// Forgets what is known behind some ports, by their places among all.
    pub(super) fn flush(&mut self, ports: impl Iterator<Item = usize>, now: SimTime) {
        for port in ports {
            self.flushed[port] = Some(now);
        }
    }

    /// Whether the router of `host` knows the MAC address of its IP address. Where tables change, it
    /// asks if it does not, and a host that is up answers: its frame tells the port too.
    pub(super) fn resolve(
        &mut self,
        place: Place,
        host: NodeId,
        now: SimTime,
        answers: bool,
    ) -> bool {
        let missing = self.plan.missing.get(&host).is_some_and(|entries| entries.arp);
        let Some(learning) = &self.plan.learning else { return !missing };
        let first = (!missing).then_some(SimTime::ZERO);
        let since = self.resolved.get(&host).copied().or(first);
        if since.is_some_and(|since| now.since(since) < learning.arp_timeout) {
            return true;
        }
        if answers {
            self.resolved.insert(host, now);
            self.hear(place, host, now);
        }
        answers
    }

    /// Whether a router drops a lossless frame whose ARP entry is incomplete.
    pub(super) fn drops_incomplete(&self) -> bool {
        self.plan.drop_incomplete_arp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MissingEntries;
    use crate::scenario::LearningConfig;

    const HOST: NodeId = 7;
    const PLACE: Place = Place { switch: 0, first_port: 0, number: 2 };
    const ELSEWHERE: Place = Place { number: 1, ..PLACE };

    fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    fn tables(missing: Option<MissingEntries>) -> Tables {
        let learning =
            LearningConfig { mac_ageing: Duration::from_us(5), arp_timeout: Duration::from_us(20) };
        let plan = TablesPlan {
            missing: missing.map(|entries| (HOST, entries)).into_iter().collect(),
            learning: Some(learning),
            drop_incomplete_arp: false,
        };
        Tables::new(plan, 1, 4)
    }

    #[test]
    fn an_entry_lives_for_the_ageing_time_after_the_last_frame() {
        let mut tables = tables(None);
        assert_eq!(tables.port_of(PLACE, HOST, at(4)), Some(2));
        tables.hear(PLACE, HOST, at(4));
        assert_eq!(tables.port_of(PLACE, HOST, at(8)), Some(2));
        assert_eq!(tables.port_of(PLACE, HOST, at(9)), None);
        assert_eq!(tables.port_of(PLACE, HOST, at(10)), None);
        assert_eq!(tables.counts(), MacEntries { learnt: 0, aged: 1 });
        tables.hear(ELSEWHERE, HOST, at(11));
        assert_eq!(tables.port_of(PLACE, HOST, at(12)), Some(1));
        tables.hear(PLACE, HOST, at(12));
        assert_eq!(tables.counts(), MacEntries { learnt: 2, aged: 1 });
    }

    #[test]
    fn a_flushed_port_has_no_entries_until_the_next_frame() {
        let mut tables = tables(None);
        tables.flush([2].into_iter(), at(1));
        assert_eq!(tables.port_of(PLACE, HOST, at(1)), None);
        tables.hear(PLACE, HOST, at(2));
        assert_eq!(tables.port_of(PLACE, HOST, at(2)), Some(2));
        tables.flush([1].into_iter(), at(3));
        assert_eq!(tables.port_of(PLACE, HOST, at(3)), Some(2));
        assert_eq!(tables.counts(), MacEntries { learnt: 1, aged: 0 });
    }

    #[test]
    fn a_host_that_is_up_is_resolved_again_and_its_port_is_known_then() {
        let missing = MissingEntries { mac: true, arp: true };
        let mut tables = tables(Some(missing));
        assert!(!tables.resolve(PLACE, HOST, at(0), false));
        assert_eq!(tables.port_of(PLACE, HOST, at(0)), None);
        assert!(tables.resolve(PLACE, HOST, at(1), true));
        assert_eq!(tables.port_of(PLACE, HOST, at(1)), Some(2));
        // Then it dies: its ARP entry outlives its MAC entry.
        assert!(tables.resolve(PLACE, HOST, at(20), false));
        assert_eq!(tables.port_of(PLACE, HOST, at(20)), None);
        assert!(!tables.resolve(PLACE, HOST, at(21), false));
    }

    #[test]
    fn tables_that_do_not_change_stay_as_they_are() {
        let plan = TablesPlan {
            missing: [(HOST, MissingEntries { mac: true, arp: false })].into(),
            ..TablesPlan::default()
        };
        let mut tables = Tables::new(plan, 1, 4);
        tables.hear(PLACE, HOST, at(1));
        assert!(tables.resolve(PLACE, HOST, at(2), false));
        assert_eq!(tables.port_of(PLACE, HOST, at(2)), None);
        assert_eq!(tables.port_of(PLACE, HOST + 1, at(900)), Some(2));
        assert_eq!(tables.counts(), MacEntries::default());
    }
}
