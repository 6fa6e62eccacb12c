//! Checks of a single frame.

mod infiniband;

use rocelab_wire::{
    Body, Extensions, Frame, Grh, Layer, MacAddress, Network, Opcode, Syndrome, pad_len,
};

use crate::dissection::{Checksum, Contents, Dissection, Packet};
use crate::fault::{Fault, PayloadRule};
use crate::observation::Observation;

/// The longest payload, in bytes.
const MAX_PATH_MTU: u16 = 4096;

/// Length of the body of a CNP of RoCE, in bytes. Linux's hfi1 sends CN packets of InfiniBand without
/// one; what other adapters send is not known here, so one with such a body is no fault.
const CNP_BODY_LEN: usize = rocelab_wire::Cnp::LEN;

/// A bit of the BTH's resv6 that the adapters of one manufacturer set in most of their packets.
const USED_RESV6: u8 = 0x10;

/// Checks checksums, constants, reserved bits, lengths and pad of one frame.
pub(crate) fn check(
    dissection: &Dissection<'_>,
    faults: &mut Vec<Fault>,
    observations: &mut Vec<Observation>,
) {
    if let Some(error) = dissection.error {
        faults.push(Fault::Malformed(error));
    }
    if let Checksum::Bad { found, computed } = dissection.icrc {
        faults.push(Fault::Icrc { found, computed });
    }
    if let Checksum::Bad { found, computed } = dissection.fcs {
        faults.push(Fault::Fcs { found, computed });
    }
    if dissection.extent.cut {
        observations.push(Observation::Cut);
    }
    observations.extend(dissection.not_looked_into.map(Observation::NotLookedInto));
    if dissection.fcs_undeclared {
        observations.push(Observation::UndeclaredFcs);
    }
    let frame = match &dissection.contents {
        Contents::Ethernet(frame) => frame,
        Contents::InfiniBand(packet) => {
            return infiniband::check(packet, dissection, faults, observations);
        }
        Contents::FlowControl(packet) => return infiniband::check_flow_control(packet, faults),
        Contents::Opaque => return,
    };
    match &frame.body {
        Body::Roce(roce) => {
            check_network(&roce.network, faults);
            if let Some(packet) = dissection.packet() {
                check_packet(&packet, Link::Ethernet, dissection.extent.cut, faults, observations);
            }
            if !dissection.extent.cut && !dissection.fcs_undeclared {
                check_trailing(dissection, frame, observations);
            }
        }
        Body::Pfc(pfc) => {
            check_mac_control(frame, dissection.extent.cut, faults);
            reserved(Layer::Pfc, "class enable vector's high octet", pfc.reserved, faults);
        }
        Body::Pause(_) => check_mac_control(frame, dissection.extent.cut, faults),
        _ => {}
    }
}

fn check_network(network: &Network, faults: &mut Vec<Fault>) {
    match network {
        Network::V1 { grh } => {
            constant(Layer::Grh, "IP version", grh.ip_version, Grh::IP_VERSION, faults);
            constant(Layer::Grh, "next header", grh.next_header, Grh::NEXT_HEADER_IBA, faults);
        }
        Network::V2Ipv4 { ip, .. } => {
            let (found, computed) = (ip.header_checksum, ip.computed_checksum());
            if found != computed {
                faults.push(Fault::Ipv4Checksum { found, computed });
            }
            reserved(Layer::Ipv4, "reserved flag", ip.reserved_flag.into(), faults);
        }
        Network::V2Ipv6 { .. } => {}
    }
}

/// What carries a packet of the InfiniBand transport.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Ethernet,
    InfiniBand,
}

impl Link {
    /// Whether packets with this opcode are defined here. The two kinds of links have a congestion
    /// notification each.
    fn defines(self, opcode: Opcode) -> bool {
        match opcode {
            Opcode::Cn => self == Self::InfiniBand,
            Opcode::Cnp => self == Self::Ethernet,
            _ => true,
        }
    }
}

fn check_packet(
    packet: &Packet<'_>,
    link: Link,
    cut: bool,
    faults: &mut Vec<Fault>,
    observations: &mut Vec<Observation>,
) {
    let bth = packet.bth;
    constant(Layer::Bth, "transport version", bth.transport_version, 0, faults);
    match bth.resv6 {
        0 => {}
        USED_RESV6 => observations.push(Observation::ReservedBits { resv6: bth.resv6 }),
        resv6 => reserved(Layer::Bth, "resv6", resv6, faults),
    }
    reserved(Layer::Bth, "resv7", bth.resv7, faults);
    check_extensions(packet.extensions, faults);
    let (payload_len, pad_count) = (packet.payload.len(), bth.pad_count);
    if usize::from(pad_count) != pad_len(payload_len) {
        faults.push(Fault::PadCount { payload_len, pad_count });
    }
    if !cut && packet.pad.iter().any(|byte| *byte != 0) {
        faults.push(Fault::PadNotZero);
    }
    match packet.operation() {
        Some(operation) if !link.defines(operation) => {
            faults.push(Fault::UndefinedOpcode(bth.opcode));
        }
        Some(operation) => check_payload_len(packet, operation, faults),
        None if is_undefined(bth.opcode) => faults.push(Fault::UndefinedOpcode(bth.opcode)),
        None => {}
    }
    let is_notification = packet.operation().is_some_and(Opcode::is_congestion_notification);
    if is_notification && !bth.becn {
        observations.push(Observation::CnpWithoutBecn);
    }
}

/// Whether no version of the standard defines the opcode. Reliable datagram (010) is defined,
/// although not supported here, and the two highest services are for manufacturers.
fn is_undefined(opcode: u8) -> bool {
    !matches!(opcode >> 5, 0b010 | 0b110 | 0b111)
}

fn check_extensions(extensions: &Extensions, faults: &mut Vec<Fault>) {
    if let Some(deth) = extensions.deth {
        reserved(Layer::Deth, "resv8", deth.resv8, faults);
    }
    if let Some(xrceth) = extensions.xrceth {
        reserved(Layer::Xrceth, "resv8", xrceth.resv8, faults);
    }
    if let Some(feth) = extensions.feth
        && feth.reserved != 0
    {
        let value = feth.reserved;
        faults.push(Fault::Reserved { layer: Layer::Feth, field: "reserved", value });
    }
    if let Some(aeth) = extensions.aeth
        && let Syndrome::Reserved(value) = aeth.syndrome
    {
        reserved(Layer::Aeth, "syndrome", value, faults);
    }
    if let Some(cnp) = extensions.cnp
        && cnp.reserved.iter().any(|byte| *byte != 0)
    {
        reserved(Layer::Cnp, "body", 1, faults);
    }
}

fn check_payload_len(packet: &Packet<'_>, operation: Opcode, faults: &mut Vec<Fault>) {
    let found = packet.payload.len();
    let (fits, expected) = if operation == Opcode::Cn {
        (matches!(found, 0 | CNP_BODY_LEN), PayloadRule::EmptyOr(CNP_BODY_LEN))
    } else if !operation.has_payload() {
        (found == 0, PayloadRule::Empty)
    } else if operation.is_first() || operation.is_middle() {
        (matches!(found, 256 | 512 | 1024 | 2048 | 4096), PayloadRule::AnyPathMtu)
    } else {
        let enough = found > 0 || operation.is_only();
        (enough && found <= MAX_PATH_MTU.into(), PayloadRule::UpTo(MAX_PATH_MTU))
    };
    if !fits {
        faults.push(Fault::PayloadLength { opcode: packet.opcode_name(), found, expected });
    }
}

/// Checks bytes after the packet: Ethernet pads frames to 60 bytes, and longer trailers have no
/// meaning.
fn check_trailing(
    dissection: &Dissection<'_>,
    frame: &Frame<'_>,
    observations: &mut Vec<Observation>,
) {
    let count = frame.padding.len();
    if count > 0 && dissection.extent.frame_len > 64 {
        observations.push(Observation::TrailingBytes { count });
    }
}

fn check_mac_control(frame: &Frame<'_>, cut: bool, faults: &mut Vec<Fault>) {
    if frame.ethernet.destination != MacAddress::MAC_CONTROL {
        faults.push(Fault::MacControl { what: "goes to another address than 01:80:c2:00:00:01" });
    }
    if frame.vlan.iter().flatten().next().is_some() {
        faults.push(Fault::MacControl { what: "is tagged" });
    }
    if !cut && frame.padding.iter().take(26).any(|byte| *byte != 0) {
        faults.push(Fault::MacControl { what: "does not end in zeros" });
    }
}

fn reserved(layer: Layer, field: &'static str, value: u8, faults: &mut Vec<Fault>) {
    constant(layer, field, value, 0, faults);
}

fn constant(layer: Layer, field: &'static str, value: u8, expected: u8, faults: &mut Vec<Fault>) {
    if value != expected {
        faults.push(Fault::Reserved { layer, field, value: value.into() });
    }
}
