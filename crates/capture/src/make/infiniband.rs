//! Frames of native InfiniBand.

use rocelab_wire::{
    FlowControlPacket, Gid, Grh, InfiniBandBody, InfiniBandPacket, LidKind, Lrh, Opcode, Transport,
    TransportPacket, vcrc,
};

use super::carried::Carried;
use super::checks;
use super::defect::Defect;
use super::document::{Document, Message};
use super::error::Fault;
use super::values::{below, gid, or};

/// Number of values of VL, SL and OP.
const U4: u64 = 1 << 4;
/// Number of values of FCTBS and FCCL.
const U12: u64 = 1 << 12;

/// Length of the ICRC, in bytes.
const ICRC_LEN: usize = rocelab_wire::CRC_LEN;

/// The values that all frames share.
pub(super) struct InfiniBandLink {
    lids: [u16; 2],
    /// The GRH from the source to the destination, if packets have one.
    grh: Option<Grh>,
    sl: u8,
    vl: u8,
}

impl InfiniBandLink {
    pub(super) fn new(document: &Document) -> Result<Self, Fault> {
        checks::check_infiniband(document)?;
        let grh = grh(document)?;
        let [source, destination] = [
            lid("source_lid", document.source_lid.as_ref(), 1)?,
            lid("destination_lid", document.destination_lid.as_ref(), 2)?,
        ];
        if let (Some(lid), LidKind::Multicast) = (&document.source_lid, LidKind::of(source)) {
            let fix = "write a number up to 49151";
            return Err(Fault::new("source_lid", lid, "is that of a multicast group", fix));
        }
        if let (Some(lid), LidKind::Multicast, None) =
            (&document.destination_lid, LidKind::of(destination), &grh)
        {
            let what = "is that of a multicast group, which needs a GRH";
            let fix = "give source and destination, or write a number up to 49151";
            return Err(Fault::new("destination_lid", lid, what, fix));
        }
        Ok(Self {
            lids: [source, destination],
            grh,
            sl: below("sl", document.sl.as_ref(), U4, 0)?,
            vl: below("vl", document.vl.as_ref(), U4, 0)?,
        })
    }

    /// A flow control packet; `None` for another verb.
    pub(super) fn control(
        &self,
        message: &Message,
        defects: &[Defect],
    ) -> Result<Option<Vec<u8>>, Fault> {
        if message.verb.as_ref() != "flow-control" {
            return Ok(None);
        }
        checks::check_control(message, &["vl", "op", "fctbs", "fccl"])?;
        let op = below("op", message.op.as_ref(), U4, FlowControlPacket::OP_NORMAL)?;
        let vl = below("vl", message.vl.as_ref(), U4, self.vl)?;
        let fctbs = below("fctbs", message.fctbs.as_ref(), U12, 0)?;
        let fccl = below("fccl", message.fccl.as_ref(), U12, FlowControlPacket::MAX_CREDITS)?;
        let mut packet = FlowControlPacket::new(op, vl, fctbs, fccl);
        for defect in defects {
            match defect {
                Defect::Lpcrc => packet.lpcrc ^= 1,
                _ => return Err(defect.not_there(message)),
            }
        }
        Ok(Some(packet.to_bytes().to_vec()))
    }

    /// The packet from its LRH to its VCRC. The VCRC covers all defects but its own, as that of a switch
    /// does that sends on what it got.
    pub(super) fn packet(
        &self,
        message: &Message,
        carried: &Carried<'_>,
        defects: &[Defect],
    ) -> Result<Vec<u8>, Fault> {
        checks::check_link_of_packet(message, true, self.grh.is_some())?;
        self.check_group(message, carried)?;
        let lrh = self.lrh(message, carried.reverse)?;
        let grh = self.grh_of(message, carried.reverse);
        let Carried { bth, extensions, payload, .. } = *carried;
        let mut packet = InfiniBandPacket::build(lrh, grh, bth, extensions, payload)
            .map_err(|error| Fault::unexpected(&message.verb, &error))?;
        for defect in defects {
            if !defect.apply_to_infiniband(&mut packet) {
                return Err(defect.not_there(message));
            }
        }
        let mut bytes = vec![0; packet.wire_len()];
        packet.emit(&mut bytes).map_err(|error| Fault::unexpected(&message.verb, &error))?;
        if defects.contains(&Defect::Payload)
            && let Some(last) = last_of_payload(&packet, bytes.len())
        {
            bytes[last] ^= 1;
        }
        let flipped = u16::from(defects.contains(&Defect::Vcrc));
        bytes.extend((vcrc(&bytes) ^ flipped).to_le_bytes());
        Ok(bytes)
    }

    /// To a multicast group go unreliable datagrams only, and nothing comes back from it (IBTA 10.5.1).
    fn check_group(&self, message: &Message, carried: &Carried<'_>) -> Result<(), Fault> {
        let [_, destination] = self.lids;
        if LidKind::of(destination) != LidKind::Multicast {
            return Ok(());
        }
        let fix = "write a message of UD from the source, or a destination_lid up to 49151";
        if carried.reverse {
            let what = "comes back, and its destination_lid is that of a multicast group";
            return Err(Fault::new("verb", &message.verb, what, fix));
        }
        let service = Opcode::from_u8(carried.bth.opcode).map(Opcode::transport);
        if service.is_some_and(|service| service != Transport::Ud) {
            let what = "is no datagram, and its destination_lid is that of a multicast group";
            return Err(Fault::new("verb", &message.verb, what, fix));
        }
        Ok(())
    }

    fn lrh(&self, message: &Message, reverse: bool) -> Result<Lrh, Fault> {
        let from = usize::from(reverse);
        Ok(Lrh {
            vl: below("vl", message.vl.as_ref(), U4, self.vl)?,
            sl: below("sl", message.sl.as_ref(), U4, self.sl)?,
            dlid: self.lids[1 - from],
            slid: self.lids[from],
            ..Lrh::default()
        })
    }

    fn grh_of(&self, message: &Message, reverse: bool) -> Option<Grh> {
        let grh = self.grh?;
        let traffic_class = or(&message.traffic_class, grh.traffic_class);
        Some(match reverse {
            false => Grh { traffic_class, ..grh },
            true => Grh { traffic_class, sgid: grh.dgid, dgid: grh.sgid, ..grh },
        })
    }
}

/// Where the last byte of the payload is, in a packet of `len` bytes up to its ICRC.
fn last_of_payload(packet: &InfiniBandPacket<'_>, len: usize) -> Option<usize> {
    let TransportPacket { payload, pad, .. } = packet.transport()?;
    len.checked_sub(ICRC_LEN + pad.len() + 1).filter(|_| !payload.is_empty())
}

/// The GRH of all packets, if the description gives GIDs.
fn grh(document: &Document) -> Result<Option<Grh>, Fault> {
    let missing = |key| {
        let fix = "give both, or none for packets without GRH";
        Fault::missing(key, "a GRH has two GIDs, and the other is given", fix)
    };
    match (&document.source, &document.destination) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(missing("source")),
        (Some(_), None) => Err(missing("destination")),
        (Some(source), Some(destination)) => Ok(Some(Grh {
            ip_version: Grh::IP_VERSION,
            traffic_class: or(&document.traffic_class, 0),
            flow_label: below("flow_label", document.flow_label.as_ref(), 1 << 20, 0)?,
            pay_len: 0,
            next_header: Grh::NEXT_HEADER_IBA,
            hop_limit: or(&document.hop_limit, DEFAULT_HOP_LIMIT),
            sgid: gid_of("source", source)?,
            dgid: gid_of("destination", destination)?,
        })),
    }
}

/// Hop limit of made packets.
const DEFAULT_HOP_LIMIT: u8 = 64;

fn gid_of(key: &'static str, value: &toml::Spanned<String>) -> Result<Gid, Fault> {
    gid(key, Some(value), [0; 4])
}

fn lid(key: &'static str, value: Option<&toml::Spanned<u16>>, default: u16) -> Result<u16, Fault> {
    let Some(lid) = value else { return Ok(default) };
    match LidKind::of(*lid.get_ref()) {
        LidKind::Reserved => {
            Err(Fault::new(key, lid, "is reserved", "write a number from 1 to 65535"))
        }
        _ => Ok(*lid.get_ref()),
    }
}

impl Defect {
    /// Applies the defect, all but those of payload and VCRC; false if the packet does not have the
    /// field.
    fn apply_to_infiniband(self, whole: &mut InfiniBandPacket<'_>) -> bool {
        let InfiniBandBody::Transport { packet, .. } = &mut whole.body else { return false };
        match self {
            Self::Icrc => packet.icrc ^= 1,
            Self::Payload => return !packet.payload.is_empty(),
            Self::Vcrc => {}
            Self::Fcs | Self::Ipv4Checksum | Self::Lpcrc => return false,
            Self::Pad | Self::PadCount | Self::Reserved | Self::TransportVersion => {
                if !self.apply_to_transport(packet) {
                    return false;
                }
                if let Some(icrc) = whole.computed_icrc()
                    && let InfiniBandBody::Transport { packet, .. } = &mut whole.body
                {
                    packet.icrc = icrc;
                }
            }
        }
        true
    }
}
