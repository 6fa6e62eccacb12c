//! Packets with all that is kept beside them.

use rocelab_fabric::{Chain as _, Fifo, NodeId, PacketId};
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, load_value, save_value, unfit};
use rocelab_transport::Packet as RdmaPacket;

use super::Checkpoint;
use crate::network::packet::{Body, Packet};
use crate::network::side::Company;

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

impl Checkpoint<'_> {
    /// Saves those of a queue, the first one first.
    pub(super) fn save_packets(&self, queue: &Fifo, to: &mut Vec<u8>) -> Result {
        let mut all = Vec::new();
        let mut id = queue.head();
        while id != PacketId::NONE {
            all.push(id);
            id = self.0.pool.next(id);
        }
        self.save_each(&all, to)
    }

    pub(super) fn save_each(&self, ids: &[PacketId], to: &mut Vec<u8>) -> Result {
        save_value(&(ids.len() as u64), to)?;
        ids.iter().try_for_each(|&id| self.save_packet(id, to))
    }

    pub(super) fn save_packet(&self, id: PacketId, to: &mut Vec<u8>) -> Result {
        let packet = self.0.pool.get(id);
        let &Packet { flow_hash, destination, source, frame_len, switch_port, body, .. } = packet;
        let company = self.0.side.company_of(id, packet);
        let saved =
            SavedPacket { flow_hash, destination, source, frame_len, switch_port, body, company };
        save_value(&saved, to)
    }

    /// Puts saved packets into the pool; their places, in order.
    pub(super) fn load_packets(&mut self, from: &mut &[u8]) -> Result<Vec<PacketId>> {
        let count: u64 = load_value(from)?;
        (0..count).map(|_| self.load_packet(from)).collect()
    }

    pub(super) fn load_packet(&mut self, from: &mut &[u8]) -> Result<PacketId> {
        let saved: SavedPacket = load_value(from)?;
        let nodes = self.0.nodes.len();
        if [saved.source, saved.destination].iter().any(|&node| node as usize >= nodes) {
            return Err(unfit("a packet"));
        }
        let mut packet = Packet::new(saved.source, saved.destination, saved.frame_len, saved.body);
        packet.flow_hash = saved.flow_hash;
        packet.switch_port = saved.switch_port;
        let id = self.0.pool.insert(packet);
        if let Some(company) = saved.company {
            self.0.side.put_company(id, company);
        }
        Ok(id)
    }

    /// The same packets in a queue.
    pub(super) fn load_queue(&mut self, from: &mut &[u8]) -> Result<Fifo> {
        let mut queue = Fifo::default();
        for id in self.load_packets(from)? {
            queue.push_back(&mut self.0.pool, id);
        }
        Ok(queue)
    }
}
