//! Refuses descriptions without a meaning: contradicting values, and keys without effect.

use std::ops::Range;

use rocelab_wire::{Encapsulation, Opcode};
use toml::Spanned;

use super::document::{Document, Message};
use super::error::Fault;
use super::opcodes::Opcodes;
use super::values::places;

/// The error for addresses of two families, one of which may be a default.
pub(super) fn mixed_families(document: &Document) -> Fault {
    let what = "is of another IP version than the other address";
    let fix = "give source and destination in one family";
    match (&document.source, &document.destination) {
        (_, Some(destination)) => Fault::new("destination", destination, what, fix),
        (Some(source), None) => Fault::new("source", source, what, fix),
        (None, None) => Fault::missing("source", what, fix),
    }
}

/// Refuses top-level keys for fields that frames of Ethernet do not have.
pub(super) fn check_ethernet(document: &Document, kind: Encapsulation) -> Result<(), Fault> {
    if let (Some(label), Encapsulation::V2Ipv4) = (&document.flow_label, kind) {
        let fix = "leave it out, or give IPv6 addresses";
        return Err(Fault::new("flow_label", label, "IPv4 has no flow label", fix));
    }
    if let (Some(port), Encapsulation::V1) = (&document.udp_source_port, kind) {
        let fix = "leave it out, or write version = 2";
        return Err(Fault::new("udp_source_port", port, "RoCE v1 has no UDP", fix));
    }
    refuse_because(
        &[
            ("source_lid", span(&document.source_lid)),
            ("destination_lid", span(&document.destination_lid)),
            ("sl", span(&document.sl)),
            ("vl", span(&document.vl)),
        ],
        NO_LRH,
    )
}

/// Why a key has no effect, and what to do.
type Reason = (&'static str, &'static str);

const NO_LRH: Reason = ("RoCE has no LRH", "leave it out, or write version = \"infiniband\"");
const NO_ETHERNET: Reason =
    ("InfiniBand has no Ethernet header", "leave it out, or write version = 1 or 2");
const NO_GRH: Reason = ("the packets have no GRH", "leave it out, or give source and destination");
const ONLY_CLASS: Reason =
    ("a GRH of InfiniBand has a traffic class as a whole", "write traffic_class");

/// Refuses top-level keys for fields that packets of InfiniBand do not have.
pub(super) fn check_infiniband(document: &Document) -> Result<(), Fault> {
    refuse_because(
        &[
            ("source_mac", span(&document.source_mac)),
            ("destination_mac", span(&document.destination_mac)),
            ("vlan", span(&document.vlan)),
            ("fcs", span(&document.fcs)),
            ("udp_source_port", span(&document.udp_source_port)),
        ],
        NO_ETHERNET,
    )?;
    refuse_because(&[("dscp", span(&document.dscp)), ("ecn", span(&document.ecn))], ONLY_CLASS)?;
    if document.source.is_some() || document.destination.is_some() {
        return Ok(());
    }
    refuse_because(
        &[
            ("traffic_class", span(&document.traffic_class)),
            ("flow_label", span(&document.flow_label)),
            ("hop_limit", span(&document.hop_limit)),
        ],
        NO_GRH,
    )
}

/// Refuses keys of a message for fields that the packets of its link do not have.
pub(super) fn check_link_of_packet(
    message: &Message,
    is_infiniband: bool,
    has_grh: bool,
) -> Result<(), Fault> {
    if !is_infiniband {
        return refuse_because(&[("sl", span(&message.sl)), ("vl", span(&message.vl))], NO_LRH);
    }
    refuse_because(&[("vlan", span(&message.vlan))], NO_ETHERNET)?;
    refuse_because(&[("dscp", span(&message.dscp)), ("ecn", span(&message.ecn))], ONLY_CLASS)?;
    match has_grh {
        true => Ok(()),
        false => refuse_because(&[("traffic_class", span(&message.traffic_class))], NO_GRH),
    }
}

/// Refuses the first of these keys that is present.
fn refuse_because(
    keys: &[(&'static str, Option<Range<usize>>)],
    (what, fix): Reason,
) -> Result<(), Fault> {
    let mut present = keys.iter().filter_map(|(key, place)| Some((*key, place.clone()?)));
    present.next().map_or(Ok(()), |(key, place)| Err(Fault::at(key, place, what, fix)))
}

/// The time between two of `frames` frames (ns). It is an error if the time of the last one, in
/// picoseconds, does not fit into 64 bits.
pub(super) fn interval(document: &Document, frames: usize) -> Result<u64, Fault> {
    let Some(interval) = &document.interval_ns else { return Ok(1_000) };
    let most = (u64::MAX / 1_000) / (frames as u64).max(1);
    if *interval.get_ref() > most {
        let what = "the last frame would leave after 2^64 ps, the end of simulated time";
        return Err(Fault::new("interval_ns", interval, what, format!("write at most {most}")));
    }
    Ok(*interval.get_ref())
}

/// Refuses keys that have no effect on the packets of a message.
pub(super) fn check_packets(message: &Message, opcodes: &Opcodes) -> Result<(), Fault> {
    let any = |has: fn(Opcode) -> bool| opcodes.all().any(has);
    let verb = message.verb.as_ref();
    let by_opcode = Opcode::ALL.iter().any(|opcode| opcode.name() == verb)
        || matches!(verb.as_str(), "cn" | "cnp");
    let memory = any(Opcode::has_reth) || any(Opcode::has_atomic_eth);
    let keys = [
        ("transport", span(&message.transport), !by_opcode),
        ("payload", span(&message.payload), any(Opcode::has_payload)),
        ("immediate", span(&message.immediate), any(Opcode::has_immdt)),
        ("invalidate", span(&message.invalidate), any(Opcode::has_ieth)),
        ("virtual_address", span(&message.virtual_address), memory),
        ("r_key", span(&message.r_key), memory),
        ("swap_or_add", span(&message.swap_or_add), any(Opcode::has_atomic_eth)),
        ("compare", span(&message.compare), any(Opcode::has_atomic_eth)),
        ("original", span(&message.original), any(Opcode::has_atomic_ack_eth)),
        ("syndrome", span(&message.syndrome), any(Opcode::has_aeth)),
        ("msn", span(&message.msn), any(Opcode::has_aeth)),
        ("q_key", span(&message.q_key), any(Opcode::has_deth)),
        ("src_qp", span(&message.src_qp), any(Opcode::has_deth)),
        ("xrc_srq", span(&message.xrc_srq), any(Opcode::has_xrceth)),
        ("priorities", span(&message.priorities), false),
        ("quanta", span(&message.quanta), false),
        ("op", span(&message.op), false),
        ("fctbs", span(&message.fctbs), false),
        ("fccl", span(&message.fccl), false),
    ];
    refuse(message, &keys)?;
    let has_length = any(Opcode::has_payload) || any(Opcode::has_reth);
    match &message.bytes {
        Some(bytes) if !has_length && *bytes.as_ref() > 0 => {
            Err(without_effect("bytes", bytes.span(), message))
        }
        _ => check_faulty(message),
    }
}

/// Refuses keys that have no effect on a frame that is no packet of the transport: all but those that
/// are `allowed`.
pub(super) fn check_control(message: &Message, allowed: &[&str]) -> Result<(), Fault> {
    let keys = [
        ("transport", span(&message.transport)),
        ("bytes", span(&message.bytes)),
        ("payload", span(&message.payload)),
        ("immediate", span(&message.immediate)),
        ("invalidate", span(&message.invalidate)),
        ("virtual_address", span(&message.virtual_address)),
        ("r_key", span(&message.r_key)),
        ("swap_or_add", span(&message.swap_or_add)),
        ("compare", span(&message.compare)),
        ("original", span(&message.original)),
        ("syndrome", span(&message.syndrome)),
        ("msn", span(&message.msn)),
        ("q_key", span(&message.q_key)),
        ("src_qp", span(&message.src_qp)),
        ("xrc_srq", span(&message.xrc_srq)),
        ("dest_qp", span(&message.dest_qp)),
        ("psn", span(&message.psn)),
        ("p_key", span(&message.p_key)),
        ("ack_req", span(&message.ack_req)),
        ("solicited_event", span(&message.solicited_event)),
        ("migreq", span(&message.migreq)),
        ("fecn", span(&message.fecn)),
        ("becn", span(&message.becn)),
        ("reverse", span(&message.reverse)),
        ("vlan", span(&message.vlan)),
        ("dscp", span(&message.dscp)),
        ("traffic_class", span(&message.traffic_class)),
        ("ecn", span(&message.ecn)),
        ("priorities", span(&message.priorities)),
        ("quanta", span(&message.quanta)),
        ("sl", span(&message.sl)),
        ("vl", span(&message.vl)),
        ("op", span(&message.op)),
        ("fctbs", span(&message.fctbs)),
        ("fccl", span(&message.fccl)),
    ];
    refuse(message, &keys.map(|(key, place)| (key, place, allowed.contains(&key))))?;
    check_faulty(message)?;
    check_places(message, 1)
}

/// Refuses numbers of packets that a message does not have.
pub(super) fn check_places(message: &Message, packets: usize) -> Result<(), Fault> {
    for (key, list) in [("omit", &message.omit), ("faulty", &message.faulty)] {
        let Some(list) = list else { continue };
        if let Some(place) = list.as_ref().iter().find(|place| **place >= packets) {
            let what = format!("there is no packet {place}: the message has {packets}");
            let fix = match packets {
                1 => "write 0".to_owned(),
                _ => format!("write numbers from 0 to {}", packets - 1),
            };
            return Err(Fault::new(key, list, what, fix));
        }
    }
    let Some(faulty) = &message.faulty else { return Ok(()) };
    let omitted = places(&message.omit);
    match faulty.as_ref().iter().find(|place| omitted.contains(place)) {
        Some(place) => {
            let what = format!("packet {place} is omitted");
            Err(Fault::new("faulty", faulty, what, "name packets that are written"))
        }
        None => Ok(()),
    }
}

fn check_faulty(message: &Message) -> Result<(), Fault> {
    match &message.faulty {
        Some(faulty) if message.faults.is_empty() => {
            let fix = "add faults = [...], or leave it out";
            Err(Fault::new("faulty", faulty, "nothing says what is wrong with them", fix))
        }
        _ => Ok(()),
    }
}

/// Refuses the first of these keys that is present, because it has no effect.
fn refuse(
    message: &Message,
    keys: &[(&'static str, Option<Range<usize>>, bool)],
) -> Result<(), Fault> {
    for (key, place, has_effect) in keys {
        if let (Some(place), false) = (place, has_effect) {
            return Err(without_effect(key, place.clone(), message));
        }
    }
    Ok(())
}

fn without_effect(key: &'static str, place: Range<usize>, message: &Message) -> Fault {
    let what = format!("means nothing to `{}`", message.verb.as_ref());
    Fault::at(key, place, what, "leave it out, or choose another verb")
}

fn span<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
    value.as_ref().map(Spanned::span)
}
