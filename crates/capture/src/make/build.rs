//! Builds the frames of messages.

use rocelab_wire::{
    Aeth, AtomicAckEth, AtomicEth, Bth, Cnp, Deth, Ecn, Encapsulation, Extensions, Feth, Frame,
    Gid, Ieth, ImmDt, MacAddress, Opcode, Pause, Pfc, Reth, RoceFrame, Sack, Syndrome, Transport,
    VlanTag, Xrceth,
};
use toml::Spanned;

use super::checks;
use super::defect::Defect;
use super::document::{Document, Message};
use super::error::Fault;
use super::numbering::{LastRequest, Numbering, QueuePair};
use super::opcodes::Opcodes;
use super::values::{below, class, gid, mac, or, payload, places, vlan};

/// Longest message in bytes. There is a limit because all frames are in memory before any is
/// written.
const LONGEST: u64 = 1 << 26;

/// Number of values of a 24-bit field.
const U24: u64 = 1 << 24;

/// The values that all frames share, and the state after the last frame.
pub(super) struct Builder<'a> {
    document: &'a Document,
    encapsulation: Encapsulation,
    addresses: [Gid; 2],
    macs: [MacAddress; 2],
    path_mtu: usize,
    dest_qps: [u32; 2],
    vlan: Option<VlanTag>,
    dscp: u8,
    ecn: Ecn,
    flow_label: u32,
    numbering: Numbering,
    identification: u16,
    frames: Vec<Vec<u8>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(document: &'a Document) -> Result<Self, Fault> {
        let source = gid("source", document.source.as_ref(), [10, 0, 0, 1])?;
        let destination = gid("destination", document.destination.as_ref(), [10, 0, 0, 2])?;
        let is_v4 = [&source, &destination].map(|gid| gid.to_ipv4().is_some());
        let encapsulation = match (document.version.as_ref(), is_v4) {
            (1, _) => Encapsulation::V1,
            (2, [true, true]) => Encapsulation::V2Ipv4,
            (2, [false, false]) => Encapsulation::V2Ipv6,
            (2, _) => return Err(checks::mixed_families(document)),
            _ => {
                let fix = "write 1 or 2";
                return Err(Fault::new("version", &document.version, "is no version of RoCE", fix));
            }
        };
        checks::check_document(document, encapsulation)?;
        let path_mtu = document.path_mtu.as_ref().map_or(1024, |mtu| *mtu.as_ref());
        if let (Some(mtu), false) =
            (&document.path_mtu, [256, 512, 1024, 2048, 4096].contains(&path_mtu))
        {
            let fix = "write 256, 512, 1024, 2048 or 4096";
            return Err(Fault::new("path_mtu", mtu, "is no path MTU", fix));
        }
        let psn = below("psn", document.psn.as_ref(), U24, 0)?;
        let v1 = encapsulation == Encapsulation::V1;
        let (dscp, ecn) = class(
            document.dscp.as_ref(),
            document.ecn.as_ref(),
            document.traffic_class.as_ref(),
            (26, if v1 { Ecn::NotEct } else { Ecn::Ect0 }),
        )?;
        Ok(Self {
            document,
            encapsulation,
            addresses: [source, destination],
            macs: [
                mac("source_mac", document.source_mac.as_ref(), [2, 0, 0, 0, 0, 1])?,
                mac("destination_mac", document.destination_mac.as_ref(), [2, 0, 0, 0, 0, 2])?,
            ],
            path_mtu: path_mtu.into(),
            dest_qps: [
                below("dest_qp", document.dest_qp.as_ref(), U24, 0x11)?,
                below("answer_qp", document.answer_qp.as_ref(), U24, 0x12)?,
            ],
            vlan: vlan(document.vlan.as_ref())?,
            dscp,
            ecn,
            flow_label: below("flow_label", document.flow_label.as_ref(), 1 << 20, 0)?,
            numbering: Numbering::new(psn),
            identification: 0,
            frames: Vec::new(),
        })
    }

    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.frames
    }

    /// Makes the frames of a message.
    pub(super) fn add(&mut self, message: &Message) -> Result<(), Fault> {
        let sender = self.macs[usize::from(message.reverse.unwrap_or(false))];
        let quanta = or(&message.quanta, 0xffff);
        match message.verb.as_ref().as_str() {
            "pfc" => {
                checks::check_control(message)?;
                let pfc = Pfc::uniform(priorities(message)?, quanta);
                self.emit(message, 0, pfc.to_frame(sender))
            }
            "pause" => {
                checks::check_control(message)?;
                self.emit(message, 0, Pause { quanta }.to_frame(sender))
            }
            _ => self.add_packets(message),
        }
    }

    fn add_packets(&mut self, message: &Message) -> Result<(), Fault> {
        let opcodes = Opcodes::of(message)?;
        checks::check_packets(message, &opcodes)?;
        let is_answer = opcodes.only.is_response() || opcodes.only.has_cnp();
        let reverse = message.reverse.unwrap_or(is_answer);
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
            Opcode::Cnp => 0,
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
            bth.becn = or(&message.becn, opcode.has_cnp());
            bth.p_key = or(&message.p_key, Bth::DEFAULT_P_KEY);
            let extensions = self.extensions(message, opcode, announced, direction, asked.msn)?;
            let frame = self.roce(message, reverse, bth, extensions, chunk)?;
            let frame = frame.to_frame().map_err(|error| {
                Fault::new("verb", &message.verb, error.to_string(), "choose other addresses")
            })?;
            self.emit(message, index, frame)?;
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

    fn roce<'p>(
        &mut self,
        message: &Message,
        reverse: bool,
        bth: Bth,
        extensions: Extensions,
        payload: &'p [u8],
    ) -> Result<RoceFrame<'p>, Fault> {
        let from = usize::from(reverse);
        let new = RoceFrame::new(self.encapsulation, bth);
        self.identification = self.identification.wrapping_add(1);
        let (dscp, ecn) = class(
            message.dscp.as_ref(),
            message.ecn.as_ref(),
            message.traffic_class.as_ref(),
            (self.dscp, self.ecn),
        )?;
        Ok(RoceFrame {
            destination: self.macs[1 - from],
            source: self.macs[from],
            vlan: vlan(message.vlan.as_ref())?.or(self.vlan),
            sgid: self.addresses[from],
            dgid: self.addresses[1 - from],
            dscp,
            ecn,
            flow_label: self.flow_label,
            hop_limit: self.document.hop_limit.unwrap_or(new.hop_limit),
            identification: self.identification,
            udp_source_port: or(&self.document.udp_source_port, new.udp_source_port),
            extensions,
            payload,
            ..new
        })
    }

    /// Appends a frame with its defects, unless it must be omitted.
    fn emit(&mut self, message: &Message, index: usize, frame: Frame<'_>) -> Result<(), Fault> {
        if places(&message.omit).contains(&index) {
            return Ok(());
        }
        let is_faulty = message.faulty.is_none() || places(&message.faulty).contains(&index);
        let names = if is_faulty { message.faults.as_slice() } else { &[] };
        let mut frame = frame;
        let mut defects = Vec::new();
        for name in names {
            let defect = Defect::parse(name, self.document.fcs)?;
            if !defect.apply(&mut frame) {
                let fix = "choose another fault, or other bytes";
                return Err(Fault::new("faults", name, "needs a frame that has such a thing", fix));
            }
            defects.push(defect);
        }
        if self.document.fcs && !defects.contains(&Defect::Payload) {
            frame = frame.with_fcs();
        }
        let mut bytes = vec![0; frame.wire_len()];
        frame.emit(&mut bytes).map_err(|error| unexpected(&message.verb, &error))?;
        let (of_fcs, before_fcs): (Vec<&Defect>, Vec<&Defect>) =
            defects.iter().partition(|defect| **defect == Defect::Fcs);
        for defect in before_fcs {
            defect.apply_to_bytes(&mut bytes, &frame);
        }
        if self.document.fcs && defects.contains(&Defect::Payload) {
            // The payload was damaged before the frame was sent, so the FCS is of the damaged
            // payload.
            let fcs = rocelab_wire::crc_to_wire(rocelab_wire::fcs(&bytes));
            bytes.extend_from_slice(&fcs);
        }
        for defect in of_fcs {
            defect.apply_to_bytes(&mut bytes, &frame);
        }
        self.frames.push(bytes);
        Ok(())
    }
}

fn priorities(message: &Message) -> Result<u8, Fault> {
    let Some(list) = &message.priorities else { return Ok(1 << 3) };
    let mut vector = 0;
    for priority in list.as_ref() {
        if *priority > 7 {
            let fix = "write priorities from 0 to 7";
            return Err(Fault::new("priorities", list, "names one that there is not", fix));
        }
        vector |= 1 << priority;
    }
    Ok(vector)
}

fn unexpected(at: &Spanned<String>, error: &dyn std::error::Error) -> Fault {
    Fault::new("verb", at, error.to_string(), "please report this")
}
