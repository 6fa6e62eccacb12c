//! The ways of packets that are followed and under way, by their place in the pool.

use std::collections::BTreeMap;

use rocelab_fabric::PacketId;

use super::super::trail::{Hop, Trail};

/// Each with the place of its pair.
#[derive(Debug, Default)]
pub(super) struct Trails {
    by_packet: Vec<Option<(u32, Trail)>>,
}

impl Trails {
    /// That of a packet, if it is followed.
    pub(super) fn get(&self, id: PacketId) -> Option<&(u32, Trail)> {
        self.by_packet.get(id.0 as usize)?.as_ref()
    }

    /// The same, to change.
    pub(super) fn get_mut(&mut self, id: PacketId) -> Option<&mut (u32, Trail)> {
        self.by_packet.get_mut(id.0 as usize)?.as_mut()
    }

    /// The last link that a packet was sent over.
    pub(super) fn last_hop(&mut self, id: PacketId) -> Option<&mut Hop> {
        self.get_mut(id)?.1.hops.last_mut()
    }

    /// A packet is followed from now on.
    pub(super) fn begin(&mut self, id: PacketId, followed: (u32, Trail)) {
        let index = id.0 as usize;
        if self.by_packet.len() <= index {
            self.by_packet.resize_with(index + 1, || None);
        }
        self.by_packet[index] = Some(followed);
    }

    /// A packet is followed no longer.
    pub(super) fn take(&mut self, id: PacketId) -> Option<(u32, Trail)> {
        self.by_packet.get_mut(id.0 as usize)?.take()
    }

    /// A packet that is followed is now two.
    pub(super) fn copy(&mut self, packet: PacketId, copy: PacketId) {
        let Some((pair, trail)) = self.get_mut(packet) else { return };
        let followed = (*pair, trail.copied());
        self.begin(copy, followed);
    }

    /// All that are followed.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PacketId, &(u32, Trail))> {
        let ids = (0u32..).map(PacketId);
        ids.zip(&self.by_packet).filter_map(|(id, followed)| Some((id, followed.as_ref()?)))
    }

    /// Since when an acknowledgement waits in a switch (picoseconds), by the place of its pair: it is yet
    /// to be asked who waited for it.
    pub(super) fn waiting_acknowledgements(&self) -> BTreeMap<u32, u64> {
        let mut since: BTreeMap<u32, u64> = BTreeMap::new();
        let waiting = self.by_packet.iter().flatten().filter(|(_, trail)| !trail.carries_data);
        for (place, trail) in waiting.filter(|(_, trail)| trail.waits_at.is_some()) {
            let first = since.entry(*place).or_insert(u64::MAX);
            *first = trail.arrived().min(*first);
        }
        since
    }
}
