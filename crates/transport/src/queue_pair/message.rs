//! A posted message and its cut into packets.

use rocelab_wire::{Opcode, Reth};

use crate::sequence::{Sequence, psn};
use crate::{AtomicOperands, Operation, Packet, PathMtu, WorkRequest};

/// Payload bytes of a full packet, as a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segmentation {
    shift: u8,
}

impl Segmentation {
    pub(super) const fn new(mtu: PathMtu) -> Self {
        let [shift, ..] = mtu.bytes().trailing_zeros().to_le_bytes();
        Self { shift }
    }

    /// Packets of a message: at least one.
    #[inline]
    pub(super) const fn packets(self, length: u32) -> u32 {
        let full = length.div_ceil(1 << self.shift);
        if full == 0 { 1 } else { full }
    }

    /// Payload before packet `index` of a message (bytes).
    #[inline]
    pub(super) const fn offset(self, index: u32) -> u32 {
        index << self.shift
    }

    /// Payload of the next packet where `remaining` bytes of the message are left (bytes).
    #[inline]
    pub(super) const fn payload(self, remaining: u32) -> u16 {
        let full = 1 << self.shift;
        let [low, high, ..] = (if remaining < full { remaining } else { full }).to_le_bytes();
        u16::from_le_bytes([low, high])
    }
}

/// A work request with its place in the packet sequence. An RDMA READ takes as many sequence
/// numbers as its response has packets.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Message {
    pub(super) id: u64,
    pub(super) operation: Operation,
    pub(super) length: u32,
    pub(super) packets: u32,
    r_key: u32,
    /// Whether its packets carry more than a RETH and payload.
    has_extras: bool,
    /// Whether its last packet asks for an event.
    solicited: bool,
    remote_address: u64,
    pub(super) local_address: u64,
    pub(super) first: Sequence,
    /// Payload of all messages before it (bytes).
    pub(super) first_byte: u64,
}

impl Message {
    pub(super) const fn new(
        work: &WorkRequest,
        first: Sequence,
        first_byte: u64,
        segmentation: Segmentation,
    ) -> Self {
        Self {
            id: work.id,
            operation: work.operation,
            length: work.length,
            packets: segmentation.packets(work.length),
            r_key: work.r_key,
            has_extras: work.operation.has_extras() || work.solicited,
            solicited: work.solicited,
            remote_address: work.remote_address,
            local_address: work.local_address,
            first,
            first_byte,
        }
    }

    /// The sequence number after its last.
    #[inline]
    pub(super) const fn end(&self) -> Sequence {
        self.first + self.packets as u64
    }

    /// How far into the message `sequence` is, which belongs to it [packets].
    #[inline]
    pub(super) const fn index(&self, sequence: Sequence) -> u32 {
        let [a, b, c, d, ..] = (sequence - self.first).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// The sequence number after the packet that starts at `sequence`: a READ request stands for
    /// the rest of its response.
    #[inline]
    pub(super) const fn after(&self, sequence: Sequence) -> Sequence {
        if self.operation.is_read() { self.end() } else { sequence + 1 }
    }

    /// Payload of all messages, up to `sequence` of this one (bytes).
    #[inline]
    pub(super) const fn byte_at(&self, sequence: Sequence, segmentation: Segmentation) -> u64 {
        if sequence >= self.end() {
            return self.first_byte + self.length as u64;
        }
        self.first_byte + segmentation.offset(self.index(sequence)) as u64
    }

    /// The request packet at `sequence`; for a READ, the request for all that is left of it.
    #[inline]
    pub(super) const fn packet(
        &self,
        sequence: Sequence,
        dest_qp: u32,
        segmentation: Segmentation,
    ) -> Packet {
        let index = self.index(sequence);
        let offset = segmentation.offset(index);
        let remaining = self.length - offset;
        let opcode = self.operation.opcode(index == 0, index + 1 == self.packets);
        let mut packet = Packet::new(opcode, dest_qp, psn(sequence));
        if opcode.has_payload() {
            packet = packet.with_payload_len(segmentation.payload(remaining));
        }
        if opcode.has_reth() {
            packet = packet.with_reth(Reth {
                virtual_address: self.remote_address.wrapping_add(offset as u64),
                r_key: self.r_key,
                dma_length: remaining,
            });
        }
        if self.has_extras { self.with_extras(packet) } else { packet }
    }

    /// The same, but of a READ only the part before `until`.
    pub(super) const fn packet_before(
        &self,
        sequence: Sequence,
        until: Sequence,
        dest_qp: u32,
        segmentation: Segmentation,
    ) -> Packet {
        let packet = self.packet(sequence, dest_qp, segmentation);
        match packet.reth() {
            Some(reth) if self.operation.is_read() && until < self.end() => {
                let packets = self.index(until) - self.index(sequence);
                packet.with_reth(Reth { dma_length: segmentation.offset(packets), ..reth })
            }
            _ => packet,
        }
    }

    /// What comes with immediate data, invalidation, atomic operations and solicited events.
    #[cold]
    const fn with_extras(&self, packet: Packet) -> Packet {
        let opcode = packet.opcode();
        let packet = if self.solicited && (opcode.is_last() || opcode.is_only()) {
            packet.with_solicited_event(true)
        } else {
            packet
        };
        match self.operation {
            Operation::SendWithImmediate(data) | Operation::WriteWithImmediate(data)
                if opcode.has_immdt() =>
            {
                packet.with_immdt(data)
            }
            Operation::SendWithInvalidate(r_key) if opcode.has_ieth() => packet.with_ieth(r_key),
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => {
                packet.with_atomic_address(self.remote_address, self.r_key).with_content(true)
            }
            _ => packet,
        }
    }

    /// The operands of an atomic operation.
    pub(super) const fn operands(&self) -> Option<AtomicOperands> {
        match self.operation {
            Operation::CompareSwap { compare, swap } => {
                Some(AtomicOperands { swap_or_add: swap, compare })
            }
            Operation::FetchAdd { add } => Some(AtomicOperands { swap_or_add: add, compare: 0 }),
            _ => None,
        }
    }
}

/// The opcode of a READ response packet, by its place in the response.
#[inline]
pub(super) const fn read_response_opcode(first: bool, last: bool) -> Opcode {
    match (first, last) {
        (true, false) => Opcode::RcRdmaReadResponseFirst,
        (false, false) => Opcode::RcRdmaReadResponseMiddle,
        (false, true) => Opcode::RcRdmaReadResponseLast,
        (true, true) => Opcode::RcRdmaReadResponseOnly,
    }
}
