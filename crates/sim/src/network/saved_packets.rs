//! Packets with all that is kept beside them.

use rocelab_fabric::{Chain as _, Fifo, NodeId, PacketId};
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, load_value, save_value, unfit};
use rocelab_transport::Packet as RdmaPacket;

use super::multicast::is_to_group;
use super::packet::{Body, Packet, PacketOf, PacketPool};
use super::side::{Company, SideData};
use crate::profile::roce::Roce;

/// A packet without its place.
#[derive(BorshSerialize, BorshDeserialize)]
struct SavedPacket {
    flow_hash: u32,
    destination: NodeId,
    source: NodeId,
    frame_len: u16,
    switch_port: u16,
    body: Body<RdmaPacket>,
    company: Option<Company>,
}

/// The packets of a part of a network, as they are saved and loaded.
#[derive(Debug)]
pub(super) struct SavedPackets<'a> {
    pub(super) pool: &'a mut PacketPool<PacketOf<Roce>>,
    pub(super) side: &'a mut SideData,
    /// Nodes of the whole network.
    pub(super) nodes: usize,
    /// Sendings to multicast groups.
    pub(super) sendings: usize,
}

impl SavedPackets<'_> {
    /// Saves those of a queue, the first one first.
    pub(super) fn save_queue(&self, queue: &Fifo, to: &mut Vec<u8>) -> Result {
        let mut all = Vec::new();
        let mut id = queue.head();
        while id != PacketId::NONE {
            all.push(id);
            id = self.pool.next(id);
        }
        self.save_all(&all, to)
    }

    pub(super) fn save_all(&self, ids: &[PacketId], to: &mut Vec<u8>) -> Result {
        save_value(&(ids.len() as u64), to)?;
        ids.iter().try_for_each(|&id| self.save(id, to))
    }

    pub(super) fn save(&self, id: PacketId, to: &mut Vec<u8>) -> Result {
        let packet = self.pool.get(id);
        let &Packet { flow_hash, destination, source, frame_len, switch_port, body, .. } = packet;
        let company = self.side.company_of(id, packet);
        let saved =
            SavedPacket { flow_hash, destination, source, frame_len, switch_port, body, company };
        save_value(&saved, to)
    }

    /// Puts saved packets into the pool; their places, in order.
    pub(super) fn load_all(&mut self, from: &mut &[u8]) -> Result<Vec<PacketId>> {
        let count: u64 = load_value(from)?;
        (0..count).map(|_| self.load(from)).collect()
    }

    pub(super) fn load(&mut self, from: &mut &[u8]) -> Result<PacketId> {
        let saved: SavedPacket = load_value(from)?;
        let ends = [saved.source, saved.destination];
        let is_unknown = ends.iter().any(|&node| node as usize >= self.nodes);
        if is_unknown || !saved.body.names_nodes_of(self.nodes) {
            return Err(unfit("a packet"));
        }
        let mut packet = Packet::new(saved.source, saved.destination, saved.frame_len, saved.body);
        packet.flow_hash = saved.flow_hash;
        if is_to_group(&packet) && packet.flow_hash as usize >= self.sendings {
            return Err(unfit("a packet"));
        }
        packet.switch_port = saved.switch_port;
        let id = self.pool.insert(packet);
        if let Some(company) = saved.company {
            self.side.put_company(id, company);
        }
        Ok(id)
    }

    /// The same packets in a queue.
    pub(super) fn load_queue(&mut self, from: &mut &[u8]) -> Result<Fifo> {
        let mut queue = Fifo::default();
        for id in self.load_all(from)? {
            queue.push_back(self.pool, id);
        }
        Ok(queue)
    }
}
