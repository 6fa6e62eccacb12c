//! Checks of a single packet of native InfiniBand.

use rocelab_wire::{FlowControlPacket, InfiniBandPacket, Layer, Lrh, Network};

use super::{Link, check_network, check_packet, reserved};
use crate::dissection::{Checksum, Dissection};
use crate::fault::Fault;
use crate::observation::Observation;

/// Checks a packet with an LRH.
pub(super) fn check(
    packet: &InfiniBandPacket<'_>,
    dissection: &Dissection<'_>,
    faults: &mut Vec<Fault>,
    observations: &mut Vec<Observation>,
) {
    check_length(packet, faults, observations);
    if let Some(found) = packet.vcrc
        && let Checksum::Bad { .. } = dissection.vcrc()
    {
        faults.push(Fault::Vcrc { found, computed: packet.computed_vcrc() });
    }
    reserved(Layer::Lrh, "resv2", packet.lrh.resv2, faults);
    reserved(Layer::Lrh, "resv5", packet.lrh.resv5, faults);
    faults.extend(packet.broken_rules().map(Fault::LocalRoute));
    if let Some(grh) = packet.grh() {
        check_network(&Network::V1 { grh: *grh }, faults);
    }
    if let Some(packet) = dissection.packet() {
        check_packet(&packet, Link::InfiniBand, dissection.extent.cut, faults, observations);
    }
}

/// Checks that the packet ends where its LRH says. A right VCRC shows that it does: then the bytes after
/// it are of whoever captured it.
fn check_length(
    packet: &InfiniBandPacket<'_>,
    faults: &mut Vec<Fault>,
    observations: &mut Vec<Observation>,
) {
    let count = packet.padding.len();
    if count == 0 {
        return;
    }
    if packet.vcrc_ok() == Some(true) {
        observations.push(Observation::TrailingBytes { count });
        return;
    }
    let pkt_len = packet.lrh.pkt_len;
    faults.push(Fault::PktLen { pkt_len, found: packet.wire_len() });
}

/// Checks a link packet.
pub(super) fn check_flow_control(packet: &FlowControlPacket, faults: &mut Vec<Fault>) {
    let (found, computed) = (packet.lpcrc, packet.computed_lpcrc());
    if found != computed {
        faults.push(Fault::Lpcrc { found, computed });
    }
    if packet.op > FlowControlPacket::OP_INIT {
        reserved(Layer::FlowControl, "OP", packet.op, faults);
    }
    if packet.vl == Lrh::MANAGEMENT_VL {
        faults.push(Fault::CreditsOfManagementLane);
    }
}
