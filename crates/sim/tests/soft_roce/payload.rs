//! What packets carry: the bytes of a capture, put into our memories.

use std::collections::BTreeMap;

use rocelab_transport::{Content, Memory, WorkRequest};
use rocelab_wire::Psn;

use crate::capture::Captured;
use crate::script::{End, Setup};

/// The payload of a packet; nothing if it has none.
pub(crate) fn payload(content: Option<&Content>) -> &[u8] {
    content.map_or(&[], Content::payload)
}

/// Where in its work each packet of a requester belongs.
pub(crate) struct Places {
    work: Vec<WorkRequest>,
    /// Packets before each work request.
    starts: Vec<u32>,
    first: Psn,
    path_mtu: u32,
}

impl Places {
    pub(crate) fn new(end: &End, setup: &Setup) -> Self {
        let (work, path_mtu) = (end.work(setup), setup.path_mtu);
        let mut next = 0;
        let starts = work.iter().map(|work| {
            let start = next;
            next += work.length.div_ceil(path_mtu).max(1);
            start
        });
        let starts = starts.collect();
        Self { work, starts, first: Psn::new(end.psn), path_mtu }
    }

    /// The requester's memory, with the payload that `packets` say is in it.
    pub(crate) fn memory<'a>(&self, packets: impl Iterator<Item = &'a Captured>) -> Memory {
        let mut memory = Memory::open();
        for (work, bytes) in self.work.iter().zip(self.bytes(packets)) {
            memory.place(work.local_address, bytes).expect("room of its own");
        }
        memory
    }

    /// The number of a READ whose bytes in `memory` are not what `packets` brought.
    pub(crate) fn wrong_read<'a>(
        &self,
        memory: &Memory,
        packets: impl Iterator<Item = &'a Captured>,
    ) -> Option<u64> {
        let bytes = self.bytes(packets);
        let wrong = self.work.iter().zip(&bytes).find(|(work, bytes)| {
            let there = memory.bytes(work.local_address, bytes.len()).unwrap_or_default();
            work.operation.is_read() && there != &bytes[..]
        });
        wrong.map(|(work, _)| work.id)
    }

    /// The bytes of each work request, as far as `packets` have them.
    pub(crate) fn bytes<'a>(&self, packets: impl Iterator<Item = &'a Captured>) -> Vec<Vec<u8>> {
        let zeros = |work: &WorkRequest| vec![0; work.length as usize];
        let mut bytes: Vec<_> = self.work.iter().map(zeros).collect();
        for packet in packets {
            let Some((work, offset)) = self.locate(packet.packet.psn()) else { continue };
            let payload = payload(packet.content.as_ref());
            if let Some(room) = bytes[work].get_mut(offset..offset + payload.len()) {
                room.copy_from_slice(payload);
            }
        }
        bytes
    }

    /// Which work request a PSN belongs to, and how far into it (bytes).
    fn locate(&self, psn: u32) -> Option<(usize, usize)> {
        let distance = u32::try_from(Psn::new(psn).distance_from(self.first)).ok()?;
        let work = self.starts.partition_point(|start| *start <= distance).checked_sub(1)?;
        let offset = (distance - self.starts[work]).checked_mul(self.path_mtu)?;
        Some((work, offset as usize))
    }
}

/// A responder's memory before the first request: what its script says, and the bytes that are read
/// before they are written.
pub(crate) fn initial_bytes(
    requests: &[&Captured],
    answers: &[&Captured],
    path_mtu: u32,
) -> BTreeMap<u64, u8> {
    let mut data = BTreeMap::new();
    for answer in answers {
        let payload = payload(answer.content.as_ref());
        data.entry(answer.packet.psn()).or_insert(payload);
    }
    let mut initial = BTreeMap::new();
    let mut written = BTreeMap::new();
    let mut next_write = 0;
    for request in requests.iter().filter(|request| request.is_good) {
        let (packet, opcode) = (&request.packet, request.packet.opcode());
        let reth = packet.reth();
        if opcode.is_rdma_write() {
            next_write = reth.map_or(next_write, |reth| reth.virtual_address);
            for byte in payload(request.content.as_ref()) {
                written.insert(next_write, *byte);
                next_write += 1;
            }
        } else if let Some(reth) = reth {
            let packets = reth.dma_length.div_ceil(path_mtu);
            let psns = (0..packets).map(|index| Psn::new(packet.psn()).wrapping_add(index).value());
            let bytes = psns.flat_map(|psn| data.get(&psn).copied().unwrap_or_default());
            for (address, byte) in (reth.virtual_address..).zip(bytes) {
                if !written.contains_key(&address) {
                    initial.entry(address).or_insert(*byte);
                }
            }
        }
    }
    initial
}
