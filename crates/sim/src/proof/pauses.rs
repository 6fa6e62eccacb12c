//! Whether pauses stop, and for long enough, those who fill a lossless priority: what the sums of
//! headroom take for granted.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{INTERPACKET_GAP, Link, NodeId, PREAMBLE, QUANTUM_BITS};
use rocelab_units::{Duration, SimTime};
use serde::Serialize;

use super::headroom::is_lossless;
use super::priorities::{mask, stops};
use crate::Plan;
use crate::plan::SentMarkings;

/// Pauses that do not keep a priority from loss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PauseFinding {
    /// They may end before they are asked for again.
    Short(ShortPause),
    /// They do not stop what they are about.
    Unheard(UnheardPause),
}

/// A pause that may end before it is asked for again.
///
/// It is asked for again at half of its time, and that may have to wait for a frame of F bytes with
/// its preamble and gap, so that 512 q / 2 bit times must be more than 8 (F + 20): q > (F + 20) / 32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShortPause {
    /// How many ports ask for it.
    pub ports: u64,
    /// Their rate (bit/s).
    pub rate_bps: u64,
    /// `switch.pause_quanta`: quanta of 512 bit times.
    pub quanta: u16,
    /// The least number of quanta that would do.
    pub least_quanta: u64,
    /// F: the largest frame of any class, FCS included (bytes).
    pub frame_bytes: u64,
}

/// Frames of a lossless priority that its pauses do not stop, because the other end of the link takes
/// them for another priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnheardPause {
    /// How many directions of links.
    pub links: u64,
    /// Who sends on the first of these.
    pub sender: String,
    /// The switch that receives there.
    pub receiver: String,
    /// The priority with which hosts send the frames.
    pub sent_priority: u8,
    /// The lossless priority that the receiver puts them in, and asks to pause.
    pub lossless_priority: u8,
}

/// All that is wrong with the pauses of a plan.
pub(super) fn find(plan: &Plan, sent: &SentMarkings) -> Vec<PauseFinding> {
    let adjacency = plan.topology.adjacency();
    let short = short(plan, &adjacency).map(PauseFinding::Short);
    let unheard = unheard(plan, &adjacency, sent).map(PauseFinding::Unheard);
    short.chain(unheard).collect()
}

/// Kinds of ports whose pauses are too short: those of switches and of slow receivers.
fn short(plan: &Plan, adjacency: &Adjacency) -> impl Iterator<Item = ShortPause> {
    let switches = plan.topology.switches().filter(|&switch| is_lossless(plan, switch));
    let nodes = switches.chain(plan.slow_receivers.keys().copied());
    let mut kinds: BTreeMap<_, ShortPause> = BTreeMap::new();
    for node in nodes {
        for (number, port) in (0u16..).zip(adjacency.ports_of(node)) {
            let hop = plan.lossless_hop(node, port, adjacency);
            let link = Link::new(hop.rate, hop.delay);
            let (quanta, frame_bytes) =
                (plan.port_at(node, number).pause_quanta, hop.frame_ahead.get());
            let least_quanta = least_quanta(&link, frame_bytes);
            if u64::from(quanta) >= least_quanta {
                continue;
            }
            let finding = kinds.entry((hop.rate, quanta, frame_bytes)).or_insert(ShortPause {
                ports: 0,
                rate_bps: hop.rate.bits_per_second(),
                quanta,
                least_quanta,
                frame_bytes,
            });
            finding.ports += 1;
        }
    }
    kinds.into_values()
}

/// The least number of quanta with which a pause is asked for again before it ends.
fn least_quanta(link: &Link, frame: u64) -> u64 {
    let wait = link.transmit(SimTime::ZERO, u32::try_from(frame).unwrap_or(u32::MAX)).free_at;
    let bits = (frame + u64::from(PREAMBLE + INTERPACKET_GAP)) * 8;
    let formula = bits / u64::from(QUANTUM_BITS / 2) + 1;
    // Times are rounded to picoseconds.
    let left = |quanta: u64| {
        let lasts = (link.quantum() * quanta).ps();
        Duration::from_ps(lasts - lasts / 2)
    };
    (formula..).find(|&quanta| SimTime::ZERO + left(quanta) > wait).unwrap_or(u64::MAX)
}

/// By sent and received priority, the links whose senders are not stopped.
fn unheard(
    plan: &Plan,
    adjacency: &Adjacency,
    sent: &SentMarkings,
) -> impl Iterator<Item = UnheardPause> {
    let mut kinds: BTreeMap<_, UnheardPause> = BTreeMap::new();
    for receiver in plan.topology.switches().filter(|&switch| is_lossless(plan, switch)) {
        for port in adjacency.ports_of(receiver) {
            for (sent_priority, lossless_priority) in
                unheard_from(plan, receiver, port, adjacency, sent)
            {
                let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
                let kind = (sent_priority, lossless_priority);
                let finding = kinds.entry(kind).or_insert_with(|| UnheardPause {
                    links: 0,
                    sender: name(port.node),
                    receiver: name(receiver),
                    sent_priority,
                    lossless_priority,
                });
                finding.links += 1;
            }
        }
    }
    kinds.into_values()
}

/// Priorities that a neighbour's frames are sent with and that a switch puts them in, where its pauses
/// do not stop them.
fn unheard_from(
    plan: &Plan,
    receiver: NodeId,
    neighbour: &Neighbour,
    adjacency: &Adjacency,
    sent: &SentMarkings,
) -> Vec<(u8, u8)> {
    let lossless = mask(&plan.switch_at(receiver).lossless);
    let classes = plan.priorities_in(receiver);
    let port = adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
    let port = u16::try_from(port).unwrap_or(u16::MAX);
    let classified = sent
        .at(plan, neighbour.node)
        .map(|sent| (sent, classes[usize::from(sent)]))
        .filter(|&(_, class)| lossless & 1 << class != 0);
    let unheard = classified
        .filter(|&(sent, class)| !stops(plan, (neighbour.node, port), adjacency, 1 << class, sent))
        .map(|(sent, class)| (plan.markings.of(sent).priority, class));
    let unheard: BTreeSet<_> = unheard.collect();
    unheard.into_iter().collect()
}
