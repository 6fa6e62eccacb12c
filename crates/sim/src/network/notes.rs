//! What is kept beside packets that few runs ask for: it has a side table, so that the packet stays
//! one cache line.

use std::collections::BTreeMap;

use rocelab_fabric::PacketId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_wire::{Body as FrameBody, Frame};

use crate::scenario::CorruptedPart;

/// Notes on the packets in the pool that hosts sent, RDMA and TCP: in runs with captures, fault rules,
/// static routes, or switches that do not know every host, and no others.
#[derive(Debug, Default)]
pub(super) struct FrameNotes {
    /// By the packet's place in the pool.
    notes: Vec<Note>,
    /// Of notifications of congestion, by their place in the pool: the first bytes of the MSDU that
    /// they are about. What is out of date is overwritten or forgotten.
    sampled: BTreeMap<u32, Box<[u8]>>,
    /// By host: the identification of the next frame that it transmits.
    pub(super) next_identification: Vec<u16>,
    /// The hop limit of a new frame, if hops are counted.
    hop_limit: Option<u8>,
    /// Whether frames without any left are dropped.
    expire: bool,
}

/// What is noted of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Note {
    /// The identification of its IPv4 header; counted without one too.
    pub(super) identification: u16,
    /// Where its bytes were changed on the way.
    pub(super) corrupted: Option<CorruptedPart>,
    /// Routers that it has crossed, if hops are counted.
    hops: u8,
    /// Whether a router has flooded it, so that its MAC address is that of its host.
    pub(super) flooded: bool,
}

/// All that is noted of a packet, on its way to another part of the network.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Noted {
    note: Note,
    sampled: Option<Box<[u8]>>,
}

impl FrameNotes {
    /// A host transmits a frame for the first time.
    pub(super) fn start(&mut self, host: u32, id: PacketId) {
        let host = host as usize;
        if self.next_identification.len() <= host {
            self.next_identification.resize(host + 1, 0);
        }
        let next = &mut self.next_identification[host];
        let note = Note { identification: *next, corrupted: None, hops: 0, flooded: false };
        *next = next.wrapping_add(1);
        self.put(id, note);
    }

    /// The next frame of a host has this identification.
    pub(super) fn identify_from(&mut self, host: u32, next: u16) {
        let host = host as usize;
        if self.next_identification.len() <= host {
            self.next_identification.resize(host + 1, 0);
        }
        self.next_identification[host] = next;
    }

    /// A frame begins that no host transmits: nothing is noted of it, whatever was of the packet that
    /// had its place in the pool.
    #[cold]
    pub(super) fn forget(&mut self, id: PacketId) {
        if let Some(note) = self.notes.get_mut(id.0 as usize) {
            *note = Note::default();
        }
        self.sampled.remove(&id.0);
    }

    /// A notification is about a frame whose MSDU begins with `msdu`.
    pub(super) fn put_sampled(&mut self, id: PacketId, msdu: Box<[u8]>) {
        self.sampled.insert(id.0, msdu);
    }

    /// The bytes that a notification has of the frame that it is about.
    pub(super) fn sampled(&self, id: PacketId) -> &[u8] {
        self.sampled.get(&id.0).map_or(&[], |msdu| msdu)
    }

    /// A packet goes to another part of the network, with what its notification is about.
    pub(super) fn forget_sampled(&mut self, id: PacketId) {
        self.sampled.remove(&id.0);
    }

    /// All that is noted of a packet.
    pub(super) fn noted(&self, id: PacketId) -> Noted {
        Noted { note: self.of(id), sampled: self.sampled.get(&id.0).cloned() }
    }

    /// Notes what was [taken along](Self::take).
    pub(super) fn put_noted(&mut self, id: PacketId, noted: Noted) {
        self.put(id, noted.note);
        if let Some(msdu) = noted.sampled {
            self.sampled.insert(id.0, msdu);
        }
    }

    /// What is noted of a packet.
    pub(super) fn of(&self, id: PacketId) -> Note {
        self.notes.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Notes the same of `copy` as of `original`.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        self.put(copy, self.of(original));
        if let Some(msdu) = self.sampled.get(&original.0).cloned() {
            self.sampled.insert(copy.0, msdu);
        }
    }

    /// A packet's bytes change. Where they did already, the first change stays.
    pub(super) fn corrupt(&mut self, id: PacketId, part: CorruptedPart) {
        let note = self.of(id);
        self.put(id, Note { corrupted: note.corrupted.or(Some(part)), ..note });
    }

    /// A router floods a packet.
    pub(super) fn flood(&mut self, id: PacketId) {
        let note = self.of(id);
        self.put(id, Note { flooded: true, ..note });
    }

    /// Hops are counted from now on; new frames have this hop limit, and may expire by it.
    pub(super) fn limit_hops(&mut self, hop_limit: u8, expire: bool) {
        self.hop_limit = Some(hop_limit);
        self.expire = expire;
    }

    /// A router takes one off a packet's hop limit; false if none is left then, and it expires. True if hops
    /// are not counted.
    pub(super) fn spend_hop(&mut self, id: PacketId) -> bool {
        let Some(hop_limit) = self.hop_limit else { return true };
        let note = self.of(id);
        let hops = note.hops.saturating_add(1);
        self.put(id, Note { hops, ..note });
        hops < hop_limit || !self.expire
    }

    /// Routers that have forwarded a packet, if hops are counted.
    pub(super) fn routers_crossed(&self, id: PacketId) -> u8 {
        self.of(id).hops
    }

    /// The same; nothing if they are not.
    pub(super) fn counted_hops(&self, id: PacketId) -> Option<u8> {
        self.hop_limit.map(|_| self.of(id).hops)
    }

    /// A packet's hop limit as it is now, if hops are counted.
    pub(super) fn hop_limit(&self, id: PacketId) -> Option<u8> {
        Some(self.hop_limit?.saturating_sub(self.of(id).hops))
    }

    fn put(&mut self, id: PacketId, note: Note) {
        let place = id.0 as usize;
        if self.notes.len() <= place {
            self.notes.resize(place + 1, Note::default());
        }
        self.notes[place] = note;
    }
}

/// Changes one bit of the frame, whose ICRC stays as it was. A changed payload is put into
/// `changed`.
pub(super) fn corrupt<'a>(frame: &mut Frame<'a>, part: CorruptedPart, changed: &'a mut Vec<u8>) {
    let FrameBody::Roce(roce) = &mut frame.body else { return };
    match part {
        CorruptedPart::Payload => {
            changed.extend_from_slice(roce.payload);
            if let Some(first) = changed.first_mut() {
                *first ^= 1;
            }
            roce.payload = changed;
        }
        CorruptedPart::Header => roce.bth.psn ^= 1,
        CorruptedPart::Icrc => roce.icrc ^= 1,
        // The port drops such a frame: nobody sees its bytes.
        CorruptedPart::Fcs => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places in the pool come again: nothing of the packet before is left.
    #[test]
    fn what_is_forgotten_is_as_if_it_had_never_been_noted() {
        let mut notes = FrameNotes::default();
        let (id, other) = (PacketId(3), PacketId(4));
        notes.limit_hops(9, true);
        for host in [7, 7] {
            notes.start(host, id);
        }
        notes.corrupt(id, CorruptedPart::Header);
        notes.flood(id);
        assert!(notes.spend_hop(id));
        notes.put_sampled(id, [1, 2].into());
        notes.copy(id, other);
        notes.forget(id);
        assert_eq!((notes.of(id), notes.sampled(id)), (Note::default(), &[][..]));
        assert_eq!((notes.of(other).identification, notes.sampled(other)), (1, &[1, 2][..]));
        notes.forget(PacketId(1_000)); // Of which nothing was noted.
    }
}
