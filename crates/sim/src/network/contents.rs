//! What packets carry beyond their header words: payload bytes, the operands of atomic operations,
//! management datagrams. Most runs have none of it, so it has a side table, as telemetry has.

use rocelab_fabric::PacketId;
use rocelab_transport::Content;

/// The content of the packets in the pool; nothing is kept for packets that have none.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// By the packet's place in the pool.
    by_packet: Vec<Option<Content>>,
}

impl Contents {
    /// A packet starts with this.
    pub(super) fn put(&mut self, id: PacketId, content: Content) {
        let place = id.0 as usize;
        if self.by_packet.len() <= place {
            self.by_packet.resize_with(place + 1, || None);
        }
        self.by_packet[place] = Some(content);
    }

    /// The content of a packet.
    pub(super) fn of(&self, id: PacketId) -> Option<&Content> {
        self.by_packet.get(id.0 as usize)?.as_ref()
    }

    /// The content of a packet that leaves the pool.
    pub(super) fn take(&mut self, id: PacketId) -> Option<Content> {
        self.by_packet.get_mut(id.0 as usize)?.take()
    }

    /// `copy` carries what `original` does.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(content) = self.of(original).cloned() {
            self.put(copy, content);
        }
    }

    /// Packets with content.
    pub(super) fn len(&self) -> usize {
        self.by_packet.iter().flatten().count()
    }
}

#[cfg(test)]
impl Contents {
    /// All that is under way, to change.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Content> {
        self.by_packet.iter_mut().flatten()
    }

    /// Takes it away from all packets.
    pub(super) fn clear(&mut self) {
        self.by_packet.clear();
    }
}
