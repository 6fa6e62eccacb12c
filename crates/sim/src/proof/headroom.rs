//! Whether every lossless ingress has the headroom that it needs, and how much is left to share.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{BufferLayout, HeadroomTerms, LosslessHop, NodeId};
use rocelab_units::Bytes;
use serde::Serialize;

use super::Verdict;
use super::calculator::{COMMON_CELL, count_classes};
use super::flooding::may_flood;
use crate::Plan;

/// Switches that are named, at the most.
const EXAMPLES: usize = 3;

/// The headroom of all switch ports of one rate and cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeadroomFinding {
    /// How many switch ports.
    pub ports: u64,
    /// At how many switches.
    pub switches: u64,
    /// The first of these switches, at most three.
    pub examples: Vec<String>,
    /// Their rate (bit/s).
    pub rate_bps: u64,
    /// Propagation delay of their cables, one way (ps).
    pub delay_ps: u64,
    /// What each lossless priority of a port needs.
    pub needed: HeadroomSum,
    /// What each of them has (bytes): `switch.headroom`, or all of a smaller `switch.headroom_pool`.
    pub configured_bytes: u64,
    /// Why it is not proved that what suffices for one port suffices.
    pub doubts: Vec<HeadroomDoubt>,
}

/// What the sum does not cover.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadroomDoubt {
    /// The headroom comes from a pool that is too small for all ports and priorities of the switch at
    /// once. Sizes in bytes.
    Pool {
        /// The pool.
        pool_bytes: u64,
        /// What all need together.
        needed_bytes: u64,
    },
    /// The switch cuts through, and the sum is for store and forward.
    CutThrough,
    /// The switch may flood, and every copy of a frame takes memory.
    Flooding,
    /// The switch copies frames of multicast groups, and every copy takes memory.
    Multicast,
}

impl HeadroomFinding {
    /// Refuted if there is less than one port needs; proved if there is no doubt either.
    pub fn verdict(&self) -> Verdict {
        if self.configured_bytes < self.needed.total_bytes {
            Verdict::Refuted
        } else if self.doubts.is_empty() {
            Verdict::Proved
        } else {
            Verdict::Open
        }
    }
}

/// The sum that makes a headroom; see [`HeadroomTerms`]. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeadroomSum {
    /// The frame that crosses XOFF.
    pub first_bytes: u64,
    /// A frame that the pause waits for, and its gap.
    pub ahead_bytes: u64,
    /// The pause and its preamble.
    pub pause_bytes: u64,
    /// Two propagation delays.
    pub cable_bytes: u64,
    /// The response time, and 1 for the fraction of a byte.
    pub response_bytes: u64,
    /// The frame that the sender had begun, and its preamble.
    pub begun_bytes: u64,
    /// What cells add.
    pub cell_bytes: u64,
    /// All together.
    pub total_bytes: u64,
}

impl From<HeadroomTerms> for HeadroomSum {
    fn from(terms: HeadroomTerms) -> Self {
        Self {
            first_bytes: terms.first.get(),
            ahead_bytes: terms.ahead.get(),
            pause_bytes: terms.pause.get(),
            cable_bytes: terms.cable.get(),
            response_bytes: terms.response.get(),
            begun_bytes: terms.begun.get(),
            cell_bytes: terms.cells.get(),
            total_bytes: terms.total().get(),
        }
    }
}

/// How the memory of all switches with equal ports is divided. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFinding {
    /// How many switches.
    pub switches: u64,
    /// The first of them.
    pub example: String,
    /// Ports of each.
    pub ports: u64,
    /// The memory.
    pub buffer_bytes: u64,
    /// What one lossless priority keeps of it: headroom and reserves of all ports.
    pub class_bytes: u64,
    /// How many priorities are lossless.
    pub classes: u64,
    /// The pool that all headroom is taken from, if it is not the sum of all: then nothing is
    /// proved of ports that need it together.
    pub headroom_pool_bytes: Option<u64>,
    /// What all share.
    pub shared_bytes: u64,
    /// How many lossless priorities fit, at most 8, if half of the memory is to be shared.
    pub classes_with_half_shared: u64,
    /// The same if memory were handed out in cells of [`COMMON_CELL`] and headroom were what ports then
    /// need; none where the scenario has cells.
    pub classes_in_common_cells: Option<u64>,
}

/// Kinds of ports, and kinds of switches.
pub(super) fn find(plan: &Plan) -> (Vec<HeadroomFinding>, Vec<MemoryFinding>) {
    let adjacency = plan.topology.adjacency();
    // By rate, delay, what is needed, what is there, and doubts.
    let mut ports: BTreeMap<_, HeadroomFinding> = BTreeMap::new();
    let mut switches: BTreeMap<_, (u64, NodeId)> = BTreeMap::new();
    for switch in plan.topology.switches().filter(|&s| is_lossless(plan, s)) {
        let configured = plan.headroom(switch, &adjacency);
        let hops = hops(plan, switch, &adjacency);
        let doubts = doubts(plan, switch, &hops);
        let pool = plan.switch_at(switch).headroom_pool.unwrap_or(Bytes::new(u64::MAX));
        let name = &plan.topology.nodes[switch as usize].name;
        let mut seen = BTreeSet::new();
        for (hop, &headroom) in hops.iter().zip(&configured) {
            let (needed, headroom) = (HeadroomSum::from(hop.terms()), headroom.min(pool).get());
            let key = (hop.rate, hop.delay, needed.total_bytes, headroom, doubts.clone());
            let is_new = seen.insert(key.clone());
            let finding = ports.entry(key).or_insert_with(|| HeadroomFinding {
                ports: 0,
                switches: 0,
                examples: Vec::new(),
                rate_bps: hop.rate.bits_per_second(),
                delay_ps: hop.delay.ps(),
                needed,
                configured_bytes: headroom,
                doubts: doubts.clone(),
            });
            finding.ports += 1;
            finding.switches += u64::from(is_new);
            if is_new && finding.examples.len() < EXAMPLES {
                finding.examples.push(name.clone());
            }
        }
        let memory = memory(plan, switch, &configured, &hops);
        let sizes = (memory.class_bytes, memory.buffer_bytes, memory.shared_bytes);
        let key = (memory.ports, sizes, memory.classes_in_common_cells);
        switches.entry(key).or_insert((0, switch)).0 += 1;
    }
    let memory = switches.into_values().map(|(switches, example)| {
        let (configured, hops) =
            (plan.headroom(example, &adjacency), hops(plan, example, &adjacency));
        MemoryFinding { switches, ..memory(plan, example, &configured, &hops) }
    });
    let memory = memory.collect();
    (ports.into_values().collect(), memory)
}

/// What each port of a switch is connected to.
fn hops(plan: &Plan, switch: NodeId, adjacency: &Adjacency) -> Vec<LosslessHop> {
    let ports = adjacency.ports_of(switch).iter();
    ports.map(|port| plan.lossless_hop(switch, port, adjacency)).collect()
}

/// What keeps a switch's headroom from being proved, whatever each port has.
fn doubts(plan: &Plan, switch: NodeId, hops: &[LosslessHop]) -> Vec<HeadroomDoubt> {
    let config = plan.switch_at(switch);
    let mut doubts = Vec::new();
    if let Some(pool) = config.headroom_pool {
        let one = hops.iter().fold(0u64, |sum, hop| sum.saturating_add(hop.terms().total().get()));
        let needed_bytes = one.saturating_mul(config.lossless.len() as u64);
        if pool.get() < needed_bytes {
            doubts.push(HeadroomDoubt::Pool { pool_bytes: pool.get(), needed_bytes });
        }
    }
    if plan.cuts_through(switch) {
        doubts.push(HeadroomDoubt::CutThrough);
    }
    if may_flood(plan) {
        doubts.push(HeadroomDoubt::Flooding);
    }
    if plan.roce.multicast.is_some() {
        doubts.push(HeadroomDoubt::Multicast);
    }
    doubts
}

/// Whether a switch has lossless priorities.
pub(super) fn is_lossless(plan: &Plan, switch: NodeId) -> bool {
    !plan.switch_at(switch).lossless.is_empty()
}

/// How one switch's memory is divided.
fn memory(plan: &Plan, switch: NodeId, headroom: &[Bytes], hops: &[LosslessHop]) -> MemoryFinding {
    let config = plan.switch_at(switch);
    let ports = headroom.len() as u64;
    let sum = headroom.iter().fold(0u64, |sum, headroom| sum.saturating_add(headroom.get()));
    let class_bytes = sum.saturating_add(config.reserve.get().saturating_mul(ports));
    let buffer_bytes = config.buffer.get();
    let with_half_shared = |class: u64| u64::from(count_classes(buffer_bytes / 2, class));
    let in_cells = |hop: &LosslessHop| LosslessHop { cell: COMMON_CELL, ..*hop }.terms().total();
    let in_common_cells = || {
        let needed =
            hops.iter().map(|hop| in_cells(hop).get().saturating_add(config.reserve.get()));
        with_half_shared(needed.fold(0, u64::saturating_add))
    };
    MemoryFinding {
        switches: 1,
        example: plan.topology.nodes[switch as usize].name.clone(),
        ports,
        buffer_bytes,
        class_bytes,
        classes: config.lossless.len() as u64,
        headroom_pool_bytes: config.headroom_pool.map(Bytes::get),
        shared_bytes: BufferLayout::new(config, headroom).map_or(0, |layout| layout.shared),
        classes_with_half_shared: with_half_shared(class_bytes),
        classes_in_common_cells: (config.cell <= Bytes::new(1)).then(in_common_cells),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    #[test]
    fn what_auto_gives_is_what_is_needed() {
        for rest in ["", "[roce]\nversion = 1\n", "[congestion_control.hpcc]\n"] {
            let text = format!(
                "{rest}[topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n\
                 host_link = {{ rate = \"25Gbps\", cable = \"3m\" }}\n\
                 fabric_link = {{ rate = \"100Gbps\", cable = \"300m\" }}\n\
                 [workload.incast]\nsenders = 3\nbytes = \"1MB\"\n"
            );
            let plan = Scenario::parse(&text, Path::new("t.toml"), &[]).unwrap().plan().unwrap();
            let (headroom, memory) = find(&plan);
            let needs = |f: &HeadroomFinding| f.needed.total_bytes == f.configured_bytes;
            assert!(headroom.iter().all(needs), "{headroom:?}");
            let ports: Vec<_> = headroom.iter().map(|f| (f.rate_bps, f.ports)).collect();
            assert_eq!(ports, [(25_000_000_000, 12), (100_000_000_000, 12)]);
            let kinds: Vec<_> = memory.iter().map(|m| (m.switches, m.ports)).collect();
            assert_eq!(kinds, [(2, 3), (3, 6)]);
        }
    }
}
