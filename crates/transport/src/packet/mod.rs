//! The headers of one packet, as the simulator keeps them.

mod headers;

use core::fmt;

use rocelab_wire::{
    Bth, CRC_LEN, CnTag, Ecn, Ethernet, MIN_FRAME_LEN, Opcode, TelemetryKind, Transport, pad_len,
};

const LOW_24: u32 = 0x00ff_ffff;
const ACK_REQ: u32 = 1 << 24;
const SOLICITED_EVENT: u32 = 1 << 25;
const BECN: u32 = 1 << 26;
const FECN: u32 = 1 << 27;
const ALTERNATE_PATH: u32 = 1 << 28;
const CONTENT: u32 = 1 << 30;
const CN_TAG: u32 = 1 << 31;

/// Below the priority in `class`: the ECN codepoint.
const PRIORITY_SHIFT: u32 = 2;
/// Which telemetry there is, in the high bits of `class`: its place in [`TelemetryKind::ALL`] counted
/// from 1, or 0 for none.
const TELEMETRY_SHIFT: u32 = 5;
const _: () = assert!(TelemetryKind::ALL.len() <= (u8::MAX >> TELEMETRY_SHIFT) as usize);
/// Above the packet sequence number: the number of the marking.
const MARKING_SHIFT: u32 = 24;
/// Priority and ECN codepoint.
const CLASS: u8 = (1 << TELEMETRY_SHIFT) - 1;

/// One RDMA packet without its payload bytes: 28 bytes, aligned to 4.
///
/// The four extension words hold the extension headers one after the other. Two do not fit:
/// `RDMA_WRITE_ONLY_WITH_IMMEDIATE` carries RETH and ImmDt, five words; its DMA length equals the
/// payload length, so that the immediate takes that word's place. The operands of an AtomicETH
/// travel [beside](crate::Content) the packet.
///
/// A congestion notification message of a switch (QCN) is no RDMA packet, but travels as one: it has
/// the opcode of a CNP, and says itself that it is [another thing](Self::cnm).
///
/// Of telemetry the packet only says which kind it carries. What switches write stays with the
/// network, beside the packet, because most packets carry none.
#[derive(Clone, Copy, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Packet {
    /// What is in them, `headers.rs` knows.
    extension: [u32; 4],
    dest_qp_and_flags: u32,
    psn_and_marking: u32,
    payload_len: u16,
    opcode: Opcode,
    class: u8,
}

/// What [`Nic::poll_transmit`](crate::Nic::poll_transmit) hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Transmit {
    /// The packet.
    pub packet: Packet,
    /// [`QueuePairConfig::destination`](crate::QueuePairConfig::destination) of its queue pair.
    pub destination: u32,
    /// [`QueuePairConfig::entropy`](crate::QueuePairConfig::entropy) of its queue pair, or another that
    /// its policy of path entropy chose.
    pub entropy: u32,
    /// The Ethernet frame's length with its FCS, at least 64 (bytes).
    pub frame_len: u16,
}

impl Packet {
    /// A packet without extension headers and payload, for queue pair `dest_qp` (24 bits), with
    /// `psn` (24 bits), priority 0 and not ECN-capable.
    #[inline]
    #[must_use]
    pub const fn new(opcode: Opcode, dest_qp: u32, psn: u32) -> Self {
        Self {
            extension: [0; 4],
            dest_qp_and_flags: dest_qp & LOW_24,
            psn_and_marking: psn & LOW_24,
            payload_len: 0,
            opcode,
            class: 0,
        }
    }

    /// The packet with `len` payload bytes (pad not counted).
    #[inline]
    #[must_use]
    pub const fn with_payload_len(mut self, len: u16) -> Self {
        self.payload_len = len;
        self
    }

    /// The packet with AckReq set or not.
    #[inline]
    #[must_use]
    pub const fn with_ack_req(self, ack_req: bool) -> Self {
        with_flag(self, ACK_REQ, ack_req)
    }

    /// The packet with the Solicited Event bit set or not.
    #[inline]
    #[must_use]
    pub const fn with_solicited_event(self, solicited: bool) -> Self {
        with_flag(self, SOLICITED_EVENT, solicited)
    }

    /// The packet with BECN set or not.
    #[inline]
    #[must_use]
    pub const fn with_becn(self, becn: bool) -> Self {
        with_flag(self, BECN, becn)
    }

    /// The packet with FECN set or not.
    #[inline]
    #[must_use]
    pub const fn with_fecn(self, fecn: bool) -> Self {
        with_flag(self, FECN, fecn)
    }

    /// The packet with telemetry of this kind, or without.
    #[inline]
    #[must_use]
    pub const fn with_telemetry(mut self, kind: Option<TelemetryKind>) -> Self {
        let number = match kind {
            None => 0,
            Some(kind) => kind as u8 + 1,
        };
        self.class = self.class & CLASS | number << TELEMETRY_SHIFT;
        self
    }

    /// The packet with a CN-TAG in its frame, or without.
    #[inline]
    #[must_use]
    pub const fn with_cn_tag(self, tagged: bool) -> Self {
        with_flag(self, CN_TAG, tagged)
    }

    /// The packet with [`Content`](crate::Content) beside it, or without.
    #[inline]
    #[must_use]
    pub const fn with_content(self, present: bool) -> Self {
        with_flag(self, CONTENT, present)
    }

    /// The packet in a priority (0 to 7), with the marking of that number, and with an ECN codepoint.
    #[inline]
    #[must_use]
    pub const fn with_class(mut self, priority: u8, ecn: Ecn) -> Self {
        let priority = priority & 0b111;
        self.class = self.class & !CLASS | priority << PRIORITY_SHIFT | ecn as u8;
        marked(self, priority)
    }

    /// The packet on its way to another queue pair (24 bits).
    #[inline]
    #[must_use]
    pub const fn with_dest_qp(mut self, dest_qp: u32) -> Self {
        self.dest_qp_and_flags = self.dest_qp_and_flags & !LOW_24 | dest_qp & LOW_24;
        self
    }

    /// The packet of the same operation on another transport service; itself if that service does
    /// not have the operation.
    #[must_use]
    pub(crate) const fn with_transport(mut self, transport: Transport) -> Self {
        if let Some(opcode) = self.opcode.with_transport(transport) {
            self.opcode = opcode;
        }
        self
    }

    /// The BTH opcode; that of the operation, if the packet carries telemetry, which has opcodes of
    /// its own on the wire.
    #[inline]
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Destination queue pair, 24 bits.
    #[inline]
    #[must_use]
    pub const fn dest_qp(&self) -> u32 {
        self.dest_qp_and_flags & LOW_24
    }

    /// Packet sequence number, 24 bits.
    #[inline]
    #[must_use]
    pub const fn psn(&self) -> u32 {
        self.psn_and_marking & LOW_24
    }

    /// Whether an acknowledgement is asked for.
    #[inline]
    #[must_use]
    pub const fn ack_req(&self) -> bool {
        self.dest_qp_and_flags & ACK_REQ != 0
    }

    /// The Solicited Event bit.
    #[inline]
    #[must_use]
    pub const fn solicited_event(&self) -> bool {
        self.dest_qp_and_flags & SOLICITED_EVENT != 0
    }

    /// Backward explicit congestion notification.
    #[inline]
    #[must_use]
    pub const fn becn(&self) -> bool {
        self.dest_qp_and_flags & BECN != 0
    }

    /// Forward explicit congestion notification.
    #[inline]
    #[must_use]
    pub const fn fecn(&self) -> bool {
        self.dest_qp_and_flags & FECN != 0
    }

    /// What switches write into the packet.
    #[inline]
    #[must_use]
    pub const fn telemetry(&self) -> Option<TelemetryKind> {
        match (self.class >> TELEMETRY_SHIFT).checked_sub(1) {
            Some(place) if (place as usize) < TelemetryKind::ALL.len() => {
                Some(TelemetryKind::ALL[place as usize])
            }
            _ => None,
        }
    }

    /// Whether its frame has a CN-TAG: data whose sender listens to congestion points, and their
    /// messages.
    #[inline]
    #[must_use]
    pub const fn has_cn_tag(&self) -> bool {
        self.dest_qp_and_flags & CN_TAG != 0
    }

    /// Whether [`Content`](crate::Content) travels beside the packet.
    #[inline]
    #[must_use]
    pub const fn has_content(&self) -> bool {
        self.dest_qp_and_flags & CONTENT != 0
    }

    /// Whether anything travels beside the packet: telemetry or content.
    #[inline]
    #[must_use]
    pub const fn has_company(&self) -> bool {
        self.class > CLASS || self.has_content()
    }

    /// Priority, 0 to 7.
    #[inline]
    #[must_use]
    pub const fn priority(&self) -> u8 {
        (self.class & CLASS) >> PRIORITY_SHIFT
    }

    /// The ECN codepoint of the IP header; [`Ecn::NotEct`] where there is none (v1).
    #[inline]
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.class)
    }

    /// Marks "congestion experienced". Only ECN-capable packets may be marked.
    #[inline]
    pub const fn set_ce(&mut self) {
        debug_assert!(self.ecn().is_capable(), "a packet that is not ECN-capable was marked");
        self.class |= Ecn::Ce as u8;
    }

    /// Whether the packet met congestion.
    #[inline]
    #[must_use]
    pub const fn is_ce(&self) -> bool {
        self.class & 0b11 == Ecn::Ce as u8
    }

    /// Payload without pad (bytes).
    #[inline]
    #[must_use]
    pub const fn payload_len(&self) -> u16 {
        self.payload_len
    }

    /// Zero bytes after the payload, 0 to 3.
    #[inline]
    #[must_use]
    pub const fn pad_count(&self) -> u8 {
        let [low, ..] = pad_len(self.payload_len as usize).to_le_bytes();
        low
    }

    /// The Ethernet frame's length with its FCS, at least 64 (bytes); `encapsulation_len` counts
    /// what precedes the BTH. Without an Ethernet header the frame is one of native InfiniBand, with its VCRC and two
    /// delimiters in place of the FCS, and has no least length.
    #[inline]
    #[must_use]
    pub const fn frame_len(&self, encapsulation_len: u16) -> u16 {
        /// BTH, ICRC and FCS.
        const FIXED: u16 = 12 + 4 + 4;
        const MIN: u16 = 64;
        const ETHERNET: u16 = 14;
        const TAG: u16 = 4;
        const _: () = assert!(FIXED as usize == Bth::LEN + 2 * CRC_LEN);
        const _: () = assert!(TAG as usize == CnTag::LEN);
        const _: () = assert!(MIN as usize == MIN_FRAME_LEN && ETHERNET as usize == Ethernet::LEN);
        let [extension, ..] = self.opcode.extension_len().to_le_bytes();
        let payload = self.payload_len + self.pad_count() as u16;
        let [telemetry, ..] = match self.telemetry() {
            Some(kind) => kind.len_in(self.opcode).to_le_bytes(),
            None => [0; size_of::<usize>()],
        };
        let tag = if self.has_cn_tag() { TAG } else { 0 };
        let len = encapsulation_len + FIXED + tag + telemetry as u16 + extension as u16 + payload;
        if len < MIN && encapsulation_len >= ETHERNET { MIN } else { len }
    }
}

#[inline]
const fn with_flag(mut packet: Packet, flag: u32, on: bool) -> Packet {
    packet.dest_qp_and_flags &= !flag;
    if on {
        packet.dest_qp_and_flags |= flag;
    }
    packet
}

/// A packet with MigReq 0, as its sender has an alternate path loaded, or not.
#[inline]
#[must_use]
pub(crate) const fn with_alternate_path(packet: Packet, loaded: bool) -> Packet {
    with_flag(packet, ALTERNATE_PATH, loaded)
}

/// Whether the sender of a packet has an alternate path loaded: MigReq is 0. Else adapters set it, but for CNPs.
#[inline]
#[must_use]
pub const fn has_alternate_path(packet: &Packet) -> bool {
    packet.dest_qp_and_flags & ALTERNATE_PATH != 0
}

/// A packet with the code points of this number, which mean nothing to a host: those of the eight priorities come first.
#[inline]
#[must_use]
pub const fn marked(mut packet: Packet, number: u8) -> Packet {
    packet.psn_and_marking = packet.psn_and_marking & LOW_24 | (number as u32) << MARKING_SHIFT;
    packet
}

/// The number of a packet's code points.
#[inline]
#[must_use]
pub const fn marking_of(packet: &Packet) -> u8 {
    (packet.psn_and_marking >> MARKING_SHIFT) as u8
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} qp {:#x} psn {}", self.opcode, self.dest_qp(), self.psn())?;
        if self.opcode.has_payload() {
            write!(f, " len {}", self.payload_len)?;
        }
        if let Some(reth) = self.reth() {
            write!(f, ", {reth}")?;
        }
        if let Some(aeth) = self.aeth() {
            write!(f, ", {aeth}")?;
        }
        if self.ack_req() {
            f.write_str(", AckReq")?;
        }
        if let Some(kind) = self.telemetry() {
            write!(f, ", {kind}")?;
        }
        write!(f, ", prio {}, {}", self.priority(), self.ecn())
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rocelab_wire::{Aeth, Encapsulation, Syndrome, encapsulation_len, frame_len};

    use super::*;

    fn telemetry() -> impl Strategy<Value = Option<TelemetryKind>> {
        prop::option::of(prop::sample::select(&TelemetryKind::ALL[..]))
    }

    #[test]
    fn layout_is_28_bytes_with_a_niche() {
        assert_eq!(size_of::<Packet>(), 28);
        assert_eq!(align_of::<Packet>(), 4);
        assert_eq!(size_of::<Option<Packet>>(), 28, "the opcode's unused values are a niche");
    }

    #[test]
    fn marking_changes_nothing_else() {
        let mut packet =
            Packet::new(Opcode::RcSendOnly, 0x11, 3).with_class(5, Ecn::Ect0).with_ack_req(true);
        let before = packet;
        packet.set_ce();
        assert!(packet.is_ce() && !before.is_ce());
        assert_eq!(packet.priority(), 5);
        assert_eq!(packet.with_class(5, Ecn::Ect0), before);
    }

    proptest! {
        #[test]
        fn fields_come_back(dest_qp in 0..1_u32 << 24, psn in 0..1_u32 << 24, priority in 0..8_u8, marking: u8,
            flags: [bool; 4], kind in telemetry(), msn in 0..1_u32 << 24, syndrome: u8) {
            let packet = Packet::new(Opcode::RcAcknowledge, dest_qp, psn)
                .with_ack_req(flags[0]).with_solicited_event(flags[1])
                .with_becn(flags[2]).with_fecn(flags[3])
                .with_telemetry(kind)
                .with_class(priority, Ecn::Ect1)
                .with_aeth(Syndrome::from_u8(syndrome), msn);
            prop_assert_eq!(packet.dest_qp(), dest_qp);
            prop_assert_eq!(packet.psn(), psn);
            prop_assert_eq!(
                [packet.ack_req(), packet.solicited_event(), packet.becn(), packet.fecn()], flags);
            prop_assert_eq!(packet.telemetry(), kind);
            prop_assert_eq!(packet.with_telemetry(None).telemetry(), None);
            prop_assert_eq!(packet.priority(), priority);
            prop_assert_eq!(marking_of(&packet), priority);
            let other = marked(packet, marking);
            prop_assert_eq!((marking_of(&other), other.psn(), other.priority()), (marking, psn, priority));
            prop_assert_eq!(packet.ecn(), Ecn::Ect1);
            prop_assert_eq!(
                packet.aeth(), Some(Aeth { syndrome: Syndrome::from_u8(syndrome), msn }));
        }

        #[test]
        fn length_is_that_of_the_wire(index in 0..Opcode::ALL.len(), len in 0..=4096_u16) {
            let opcode = Opcode::ALL[index];
            for encapsulation in [Encapsulation::V1, Encapsulation::V2Ipv4, Encapsulation::V2Ipv6] {
                for vlan in [false, true] {
                    let before = u16::try_from(encapsulation_len(encapsulation, vlan)).unwrap();
                    let packet = Packet::new(opcode, 0, 0).with_payload_len(len);
                    prop_assert_eq!(
                        usize::from(packet.frame_len(before)),
                        frame_len(encapsulation, vlan, opcode, usize::from(len)));
                    for kind in TelemetryKind::ALL {
                        prop_assert_eq!(
                            usize::from(packet.with_telemetry(Some(kind)).frame_len(before)),
                            kind.frame_len(encapsulation, vlan, opcode, usize::from(len)));
                    }
                }
            }
        }
    }
}
