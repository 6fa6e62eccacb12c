//! Frames of Ethernet: RoCE, PFC and PAUSE.

use rocelab_wire::{
    Body, Ecn, Encapsulation, Frame, Gid, MacAddress, Network, Pause, Pfc, Roce, RoceFrame,
    VlanTag, icrc,
};

use super::carried::Carried;
use super::checks;
use super::defect::Defect;
use super::document::{Document, Message};
use super::error::Fault;
use super::values::{below, class, gid, mac, or, vlan};

/// The values that all frames share.
pub(super) struct EthernetLink<'a> {
    document: &'a Document,
    encapsulation: Encapsulation,
    addresses: [Gid; 2],
    macs: [MacAddress; 2],
    vlan: Option<VlanTag>,
    dscp: u8,
    ecn: Ecn,
    flow_label: u32,
    /// The identification of the last packet of IPv4.
    identification: u16,
}

impl<'a> EthernetLink<'a> {
    /// RoCE of version 1, or of version 2 over the addresses' version of IP.
    pub(super) fn new(document: &'a Document, v1: bool) -> Result<Self, Fault> {
        let source = gid("source", document.source.as_ref(), [10, 0, 0, 1])?;
        let destination = gid("destination", document.destination.as_ref(), [10, 0, 0, 2])?;
        let is_v4 = [&source, &destination].map(|gid| gid.to_ipv4().is_some());
        let encapsulation = match is_v4 {
            _ if v1 => Encapsulation::V1,
            [true, true] => Encapsulation::V2Ipv4,
            [false, false] => Encapsulation::V2Ipv6,
            _ => return Err(checks::mixed_families(document)),
        };
        checks::check_ethernet(document, encapsulation)?;
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
            vlan: vlan(document.vlan.as_ref())?,
            dscp,
            ecn,
            flow_label: below("flow_label", document.flow_label.as_ref(), 1 << 20, 0)?,
            identification: 0,
        })
    }

    /// A PFC or PAUSE frame; `None` for another verb.
    pub(super) fn control(
        &self,
        message: &Message,
        defects: &[Defect],
    ) -> Result<Option<Vec<u8>>, Fault> {
        let sender = self.macs[usize::from(or(&message.reverse, false))];
        let quanta = or(&message.quanta, 0xffff);
        let frame = match message.verb.as_ref().as_str() {
            "pfc" => {
                checks::check_control(message, &["priorities", "quanta", "reverse"])?;
                Pfc::uniform(priorities(message)?, quanta).to_frame(sender)
            }
            "pause" => {
                checks::check_control(message, &["quanta", "reverse"])?;
                Pause { quanta }.to_frame(sender)
            }
            _ => return Ok(None),
        };
        self.bytes(message, frame, defects).map(Some)
    }

    /// The frame of a RoCE packet.
    pub(super) fn packet(
        &mut self,
        message: &Message,
        carried: Carried<'_>,
        defects: &[Defect],
    ) -> Result<Vec<u8>, Fault> {
        checks::check_link_of_packet(message, false, true)?;
        let frame = self.roce(message, carried)?;
        let frame = frame.to_frame().map_err(|error| {
            Fault::new("verb", &message.verb, error.to_string(), "choose other addresses")
        })?;
        self.bytes(message, frame, defects)
    }

    fn roce<'p>(
        &mut self,
        message: &Message,
        carried: Carried<'p>,
    ) -> Result<RoceFrame<'p>, Fault> {
        let Carried { reverse, bth, extensions, payload } = carried;
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
            hop_limit: or(&self.document.hop_limit, new.hop_limit),
            identification: self.identification,
            udp_source_port: or(&self.document.udp_source_port, new.udp_source_port),
            extensions,
            payload,
            ..new
        })
    }

    /// The bytes of a frame with its defects, and with its FCS if the description asks for it.
    fn bytes(
        &self,
        message: &Message,
        mut frame: Frame<'_>,
        defects: &[Defect],
    ) -> Result<Vec<u8>, Fault> {
        let has_fcs = self.document.has_fcs();
        for defect in defects {
            if *defect == Defect::Fcs && !has_fcs {
                let (what, fix) = ("needs frames with an FCS", "write fcs = true at the top");
                return Err(defect.refused(message, what, fix));
            }
            if !defect.apply_to_ethernet(&mut frame) {
                return Err(defect.not_there(message));
            }
        }
        let is_damaged = defects.contains(&Defect::Payload);
        if has_fcs && !is_damaged {
            frame = frame.with_fcs();
        }
        let mut bytes = vec![0; frame.wire_len()];
        frame.emit(&mut bytes).map_err(|error| Fault::unexpected(&message.verb, &error))?;
        if is_damaged {
            flip(&mut bytes, payload_from_end(&frame));
            if has_fcs {
                // The payload was damaged before the frame was sent, so the FCS is of the damaged
                // payload.
                let fcs = rocelab_wire::crc_to_wire(rocelab_wire::fcs(&bytes));
                bytes.extend_from_slice(&fcs);
            }
        }
        if defects.contains(&Defect::Fcs) {
            flip(&mut bytes, 1);
        }
        Ok(bytes)
    }
}

/// How far the last byte of the payload is from the end of a frame without FCS; 1 is the last byte.
fn payload_from_end(frame: &Frame<'_>) -> usize {
    let pad = frame.roce().map_or(0, |roce| roce.pad.len());
    frame.padding.len() + rocelab_wire::CRC_LEN + pad + 1
}

fn flip(bytes: &mut [u8], from_end: usize) {
    if let Some(index) = bytes.len().checked_sub(from_end) {
        bytes[index] ^= 1;
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

impl Defect {
    /// Applies the defect, all but those of payload and FCS; false if the frame does not have the field.
    fn apply_to_ethernet(self, frame: &mut Frame<'_>) -> bool {
        let Body::Roce(roce) = &mut frame.body else { return self == Self::Fcs };
        match self {
            Self::Icrc => roce.icrc ^= 1,
            Self::Ipv4Checksum => match &mut roce.network {
                Network::V2Ipv4 { ip, .. } => ip.header_checksum ^= 1,
                _ => return false,
            },
            Self::Payload => return !roce.payload.is_empty(),
            Self::Fcs => {}
            Self::Vcrc | Self::Lpcrc => return false,
            Self::Pad | Self::PadCount | Self::Reserved | Self::TransportVersion => {
                return self.apply_to_roce(roce);
            }
        }
        true
    }

    /// Changes a packet and makes its ICRC right again.
    fn apply_to_roce(self, roce: &mut Roce<'_>) -> bool {
        let mut packet = roce.transport();
        if !self.apply_to_transport(&mut packet) {
            return false;
        }
        (roce.bth, roce.pad) = (packet.bth, packet.pad);
        roce.icrc = icrc(roce);
        true
    }
}
