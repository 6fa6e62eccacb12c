//! Builds the frames of messages.

use rocelab_wire::{
    Aeth, AtomicAckEth, AtomicEth, Bth, Cnp, Deth, Extensions, Feth, Ieth, ImmDt, Opcode, Reth,
    Sack, Syndrome, Transport, Xrceth,
};

use super::carried::Carried;
use super::checks;
use super::defect::Defect;
use super::document::{Document, Message};
use super::error::Fault;
use super::link::Link;
use super::numbering::{LastRequest, Numbering, QueuePair};
use super::opcodes::Opcodes;
use super::values::{below, or, payload, places};
use crate::LinkType;

/// Longest message in bytes. There is a limit because all frames are in memory before any is
/// written.
const LONGEST: u64 = 1 << 26;

/// Number of values of a 24-bit field.
const U24: u64 = 1 << 24;

/// The values that all frames share, and the state after the last frame.
pub(super) struct Builder<'a> {
    link: Link<'a>,
    path_mtu: usize,
    dest_qps: [u32; 2],
    numbering: Numbering,
    frames: Vec<Vec<u8>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(document: &'a Document) -> Result<Self, Fault> {
        let link = Link::new(document)?;
        let path_mtu = document.path_mtu.as_ref().map_or(1024, |mtu| *mtu.as_ref());
        if let (Some(mtu), false) =
            (&document.path_mtu, [256, 512, 1024, 2048, 4096].contains(&path_mtu))
        {
            let fix = "write 256, 512, 1024, 2048 or 4096";
            return Err(Fault::new("path_mtu", mtu, "is no path MTU", fix));
        }
        let psn = below("psn", document.psn.as_ref(), U24, 0)?;
        Ok(Self {
            link,
            path_mtu: path_mtu.into(),
            dest_qps: [
                below("dest_qp", document.dest_qp.as_ref(), U24, 0x11)?,
                below("answer_qp", document.answer_qp.as_ref(), U24, 0x12)?,
            ],
            numbering: Numbering::new(psn),
            frames: Vec::new(),
        })
    }

    /// What the frames travel on.
    pub(super) const fn link_type(&self) -> LinkType {
        self.link.link_type()
    }

    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.frames
    }

    /// Makes the frames of a message.
    pub(super) fn add(&mut self, message: &Message) -> Result<(), Fault> {
        match self.link.control(message, &defects_of(message, 0)?)? {
            Some(frame) => {
                self.put(message, 0, frame);
                Ok(())
            }
            None => self.add_packets(message),
        }
    }

    fn add_packets(&mut self, message: &Message) -> Result<(), Fault> {
        let opcodes = Opcodes::of(message, self.link.own_verbs())?;
        self.link.check_verb(message, Some(opcodes.only))?;
        checks::check_packets(message, &opcodes)?;
        let is_answer = opcodes.only.is_response() || opcodes.only.is_congestion_notification();
        let reverse = or(&message.reverse, is_answer);
        let direction = usize::from(reverse);
        let transport = opcodes.only.transport();
        let asked = self.numbering.last(1 - direction, transport);
        let queue_pair =
            QueuePair { direction, transport, dest_qp: self.dest_qp(message, direction)? };

        let (data, announced) = self.data(message, &opcodes, asked)?;
        let cut = data.len() > self.path_mtu;
        if cut && opcodes.first.is_none() {
            let fix = format!("write at most {}, the path MTU", self.path_mtu);
            let at = message.bytes.as_ref().map_or_else(
                || Fault::new("payload", &message.verb, "does not fit one packet", fix.clone()),
                |bytes| Fault::new("bytes", bytes, "does not fit one packet", fix.clone()),
            );
            return Err(at);
        }
        let default_psn = match opcodes.only {
            only if only.is_congestion_notification() => 0,
            only if only.is_rdma_read_response() => asked.first_psn,
            only if only.is_response() => asked.last_psn,
            _ => self.numbering.next_psn(queue_pair),
        };
        let first_psn = below("psn", message.psn.as_ref(), U24, default_psn)?;
        let chunks: Vec<&[u8]> =
            if data.is_empty() { vec![&[]] } else { data.chunks(self.path_mtu).collect() };
        let last = chunks.len() - 1;
        checks::check_places(message, chunks.len())?;
        for (index, chunk) in chunks.into_iter().enumerate() {
            let opcode = opcodes.at(index, last);
            let psn = (first_psn.wrapping_add(u32::try_from(index).unwrap_or(0))) & 0xff_ffff;
            let mut bth = Bth::new(opcode, queue_pair.dest_qp, psn);
            let asks = index == last
                && opcode.is_request()
                && matches!(opcode.transport(), Transport::Rc | Transport::Xrc);
            bth.ack_req = or(&message.ack_req, asks);
            bth.solicited_event = or(&message.solicited_event, false) && index == last;
            bth.migreq = or(&message.migreq, false);
            bth.fecn = or(&message.fecn, false);
            bth.becn = or(&message.becn, opcode.is_congestion_notification());
            bth.p_key = or(&message.p_key, Bth::DEFAULT_P_KEY);
            let extensions = self.extensions(message, opcode, announced, direction, asked.msn)?;
            let carried = Carried { reverse, bth, extensions, payload: chunk };
            let frame = self.link.packet(message, carried, &defects_of(message, index)?)?;
            self.put(message, index, frame);
        }
        if opcodes.only.is_request() {
            let packets = match opcodes.only.is_rdma_read_request() {
                true => announced.div_ceil(self.path_mtu as u64).max(1),
                false => last as u64 + 1,
            };
            let packets = u32::try_from(packets).unwrap_or(u32::MAX);
            self.numbering.count(queue_pair, first_psn, packets, announced);
        }
        Ok(())
    }

    /// The payload of all packets together, and the length for the RETH.
    fn data(
        &self,
        message: &Message,
        opcodes: &Opcodes,
        asked: LastRequest,
    ) -> Result<(Vec<u8>, u64), Fault> {
        let is_response = opcodes.only.is_rdma_read_response();
        let default = match opcodes.only {
            Opcode::RcAtomicWrite => 8,
            _ if is_response => asked.bytes,
            _ => 0,
        };
        let bytes = below("bytes", message.bytes.as_ref(), LONGEST + 1, default)?;
        if !opcodes.only.has_payload() {
            return Ok((Vec::new(), bytes));
        }
        let len = match (&message.bytes, &message.payload) {
            (None, Some(text)) if !["zeros", "counting"].contains(&text.as_ref().as_str()) => None,
            _ => usize::try_from(bytes).ok(),
        };
        let data = payload(message.payload.as_ref(), len)?;
        let announced = data.len() as u64;
        Ok((data, announced))
    }

    fn dest_qp(&self, message: &Message, direction: usize) -> Result<u32, Fault> {
        below("dest_qp", message.dest_qp.as_ref(), U24, self.dest_qps[direction])
    }

    fn extensions(
        &self,
        message: &Message,
        opcode: Opcode,
        announced: u64,
        direction: usize,
        asked_msn: u32,
    ) -> Result<Extensions, Fault> {
        let virtual_address = or(&message.virtual_address, 0x1000);
        let r_key = or(&message.r_key, 0x1234);
        let dma_length = u32::try_from(announced).unwrap_or(u32::MAX);
        let src_qp = below("src_qp", message.src_qp.as_ref(), U24, self.dest_qps[1 - direction])?;
        let xrc_srq = below("xrc_srq", message.xrc_srq.as_ref(), U24, 1)?;
        let msn = below("msn", message.msn.as_ref(), U24, asked_msn)?;
        let syndrome = message
            .syndrome
            .as_ref()
            .map_or(Syndrome::ACK, |code| Syndrome::from_u8(*code.as_ref()));
        let swap_or_add = or(&message.swap_or_add, 1);
        let compare = or(&message.compare, 0);
        let original_remote_data = or(&message.original, 0);
        let q_key = or(&message.q_key, 0x1111_1111);
        Ok(Extensions {
            telemetry: None,
            deth: opcode.has_deth().then_some(Deth { q_key, resv8: 0, src_qp }),
            xrceth: opcode.has_xrceth().then_some(Xrceth { resv8: 0, xrc_srq }),
            feth: opcode.has_feth().then(|| Feth { placement_type: 1, ..Feth::default() }),
            reth: opcode.has_reth().then_some(Reth { virtual_address, r_key, dma_length }),
            atomic_eth: opcode.has_atomic_eth().then_some(AtomicEth {
                virtual_address,
                r_key,
                swap_or_add,
                compare,
            }),
            aeth: opcode.has_aeth().then_some(Aeth { syndrome, msn }),
            sack: opcode.has_sack().then(Sack::default),
            atomic_ack_eth: opcode
                .has_atomic_ack_eth()
                .then_some(AtomicAckEth { original_remote_data }),
            imm_dt: opcode.has_immdt().then(|| ImmDt(or(&message.immediate, 0))),
            ieth: opcode.has_ieth().then(|| Ieth { r_key: or(&message.invalidate, 0) }),
            cnp: opcode.has_cnp().then(Cnp::default),
        })
    }

    /// Appends a frame, unless it must be omitted.
    fn put(&mut self, message: &Message, index: usize, frame: Vec<u8>) {
        if !places(&message.omit).contains(&index) {
            self.frames.push(frame);
        }
    }
}

/// The defects of a packet of a message.
fn defects_of(message: &Message, index: usize) -> Result<Vec<Defect>, Fault> {
    let is_faulty = message.faulty.is_none() || places(&message.faulty).contains(&index);
    let names = if is_faulty { message.faults.as_slice() } else { &[] };
    names.iter().map(Defect::parse).collect()
}
