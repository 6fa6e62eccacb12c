//! Extension headers in the four words that a packet has for them.

use rocelab_wire::{
    Aeth, AtomicAckEth, AtomicEth, Cnm, Deth, Ieth, ImmDt, MacAddress, Opcode, Reth, Sack, Syndrome,
};

use super::{LOW_24, Packet};
use crate::AtomicOperands;

impl Packet {
    /// The packet with a RETH. For [`Opcode::RcRdmaWriteOnlyWithImmediate`] set it before the
    /// immediate; its DMA length is then the payload length.
    #[inline]
    #[must_use]
    pub const fn with_reth(mut self, reth: Reth) -> Self {
        let [low, high] = halves(reth.virtual_address);
        self.extension = [low, high, reth.r_key, reth.dma_length];
        self
    }

    /// The packet with an AETH; `msn` is cut to 24 bits.
    #[inline]
    #[must_use]
    pub const fn with_aeth(mut self, syndrome: Syndrome, msn: u32) -> Self {
        self.extension[0] = (syndrome.to_u8() as u32) << 24 | msn & LOW_24;
        self
    }

    /// The packet with the result of an atomic operation, behind its AETH.
    #[inline]
    #[must_use]
    pub const fn with_atomic_ack_eth(mut self, original: u64) -> Self {
        let [low, high] = halves(original);
        self.extension[1] = low;
        self.extension[2] = high;
        self
    }

    /// The packet with address and key of an AtomicETH; its operands are
    /// [content](Self::with_content).
    #[inline]
    #[must_use]
    pub const fn with_atomic_address(mut self, virtual_address: u64, r_key: u32) -> Self {
        let [low, high] = halves(virtual_address);
        self.extension = [low, high, r_key, 0];
        self
    }

    /// The packet with a DETH; `src_qp` is cut to 24 bits.
    #[inline]
    #[must_use]
    pub const fn with_deth(mut self, q_key: u32, src_qp: u32) -> Self {
        self.extension[0] = q_key;
        self.extension[1] = src_qp & LOW_24;
        self
    }

    /// The packet with the key of an IETH.
    #[inline]
    #[must_use]
    pub const fn with_ieth(mut self, r_key: u32) -> Self {
        self.extension[0] = r_key;
        self
    }

    /// The packet with a selective acknowledgement, behind its AETH.
    #[inline]
    #[must_use]
    pub const fn with_sack(mut self, sack: Sack) -> Self {
        let [low, high] = halves(sack.arrived);
        self.extension[1] = sack.first & LOW_24;
        self.extension[2] = low;
        self.extension[3] = high;
        self
    }

    /// The packet with immediate data, as the opcode places it.
    #[inline]
    #[must_use]
    pub const fn with_immdt(mut self, immediate: u32) -> Self {
        self.extension[immediate_place(self.opcode)] = immediate;
        self
    }

    /// The congestion notification message of a switch to queue pair `qpn` (24 bits). What is
    /// reserved is lost, and the address that the sampled frame was sent to is where the network
    /// has it.
    #[must_use]
    pub const fn congestion_notification(qpn: u32, cnm: &Cnm) -> Self {
        let mut packet = Self::new(Opcode::Cnp, qpn, 0).with_cn_tag(true);
        let [low, high] = halves(cnm.cpid);
        let [a, b] = cnm.q_offset.to_be_bytes();
        let [c, d] = cnm.q_delta.to_be_bytes();
        let [e, f] = cnm.encapsulated_msdu_len.to_be_bytes();
        let sampled = [e, f, cnm.encapsulated_priority, cnm.quantized_feedback];
        packet.extension =
            [low, high, u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes(sampled)];
        packet
    }

    /// The RETH, if the opcode has one.
    #[inline]
    #[must_use]
    pub const fn reth(&self) -> Option<Reth> {
        if !self.opcode.has_reth() {
            return None;
        }
        let [low, high, r_key, length] = self.extension;
        let virtual_address = whole(low, high);
        let dma_length = if self.opcode.has_immdt() { self.payload_len as u32 } else { length };
        Some(Reth { virtual_address, r_key, dma_length })
    }

    /// The AETH, if the opcode has one.
    #[inline]
    #[must_use]
    pub const fn aeth(&self) -> Option<Aeth> {
        if !self.opcode.has_aeth() {
            return None;
        }
        let [syndrome, ..] = self.extension[0].to_be_bytes();
        Some(Aeth { syndrome: Syndrome::from_u8(syndrome), msn: self.extension[0] & LOW_24 })
    }

    /// The immediate data, if the opcode has it.
    #[inline]
    #[must_use]
    pub const fn immdt(&self) -> Option<ImmDt> {
        if !self.opcode.has_immdt() {
            return None;
        }
        Some(ImmDt(self.extension[immediate_place(self.opcode)]))
    }

    /// The AtomicETH, if the opcode has one, with the operands from beside the packet.
    #[must_use]
    pub const fn atomic_eth(&self, operands: AtomicOperands) -> Option<AtomicEth> {
        if !self.opcode.has_atomic_eth() {
            return None;
        }
        let [low, high, r_key, _] = self.extension;
        let virtual_address = whole(low, high);
        let AtomicOperands { swap_or_add, compare } = operands;
        Some(AtomicEth { virtual_address, r_key, swap_or_add, compare })
    }

    /// The AtomicAckETH, if the opcode has one.
    #[must_use]
    pub const fn atomic_ack_eth(&self) -> Option<AtomicAckEth> {
        if !self.opcode.has_atomic_ack_eth() {
            return None;
        }
        Some(AtomicAckEth { original_remote_data: whole(self.extension[1], self.extension[2]) })
    }

    /// The DETH, if the opcode has one.
    #[must_use]
    pub const fn deth(&self) -> Option<Deth> {
        if !self.opcode.has_deth() {
            return None;
        }
        let [q_key, src_qp, ..] = self.extension;
        Some(Deth { q_key, resv8: 0, src_qp })
    }

    /// The IETH, if the opcode has one.
    #[must_use]
    pub const fn ieth(&self) -> Option<Ieth> {
        if !self.opcode.has_ieth() {
            return None;
        }
        Some(Ieth { r_key: self.extension[0] })
    }

    /// The selective acknowledgement, if the opcode has one.
    #[must_use]
    pub const fn sack(&self) -> Option<Sack> {
        if !self.opcode.has_sack() {
            return None;
        }
        let [_, first, low, high] = self.extension;
        Some(Sack::new(first, whole(low, high)))
    }

    /// The congestion notification message, if it is one. Where the sampled frame was sent to is
    /// left open.
    #[must_use]
    pub const fn cnm(&self) -> Option<Cnm> {
        if !self.has_cn_tag() || !matches!(self.opcode, Opcode::Cnp) {
            return None;
        }
        let [a, b, c, d] = self.extension[2].to_be_bytes();
        let [e, f, encapsulated_priority, quantized_feedback] = self.extension[3].to_be_bytes();
        Some(Cnm {
            version: 0,
            resv6: 0,
            quantized_feedback,
            cpid: whole(self.extension[0], self.extension[1]),
            q_offset: i16::from_be_bytes([a, b]),
            q_delta: i16::from_be_bytes([c, d]),
            encapsulated_priority,
            resv13: 0,
            encapsulated_destination: MacAddress([0; 6]),
            encapsulated_msdu_len: u16::from_be_bytes([e, f]),
        })
    }
}

/// Which extension word holds the immediate data.
#[inline]
const fn immediate_place(opcode: Opcode) -> usize {
    if opcode.has_reth() {
        3
    } else if opcode.has_deth() {
        2
    } else {
        0
    }
}

/// Both halves together.
const fn whole(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The low and the high half.
const fn halves(value: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_only_with_immediate_keeps_both_headers() {
        let reth = Reth { virtual_address: 0x1122_3344_5566_7788, r_key: 9, dma_length: 5 };
        let packet = Packet::new(Opcode::RcRdmaWriteOnlyWithImmediate, 0x11, 3)
            .with_payload_len(5)
            .with_reth(reth)
            .with_immdt(0xdead_beef);
        assert_eq!(packet.reth(), Some(reth));
        assert_eq!(packet.immdt(), Some(ImmDt(0xdead_beef)));
        assert_eq!(packet.aeth(), None);
        assert_eq!(packet.pad_count(), 3);
    }

    #[test]
    fn congestion_notifications_come_back() {
        let cnm = Cnm {
            quantized_feedback: 63,
            cpid: 0x0102_0304_0506_0708,
            q_offset: -3,
            q_delta: 900,
            encapsulated_priority: 5,
            encapsulated_msdu_len: 64,
            ..Cnm::default()
        };
        let packet = Packet::congestion_notification(0x12_3456, &cnm);
        assert_eq!((packet.dest_qp(), packet.cnm()), (0x12_3456, Some(cnm)));
        assert_eq!(Packet::new(Opcode::Cnp, 0x11, 0).cnm(), None);
        let data = Packet::new(Opcode::RcSendOnly, 0x11, 0).with_payload_len(1024);
        assert_eq!(data.with_cn_tag(true).cnm(), None);
        assert_eq!(data.with_cn_tag(true).frame_len(58), data.frame_len(58) + 4);
    }
}
