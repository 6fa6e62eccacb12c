//! Whether every lossless ingress has the headroom that it needs, and how much is left to share.

use std::collections::BTreeMap;

use rocelab_fabric::{HeadroomInput, HeadroomTerms, LosslessHop, TopologyLink};
use rocelab_units::{Bandwidth, Bytes, Duration};
use rocelab_wire::{Opcode, frame_len};
use serde::Serialize;

use crate::Plan;

/// The headroom of all switch ports of one rate and cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeadroomFinding {
    /// How many switch ports.
    pub ports: u64,
    /// Their rate (bit/s).
    pub rate_bps: u64,
    /// Propagation delay of their cables, one way (ps).
    pub delay_ps: u64,
    /// What each lossless priority of a port needs.
    pub needed: HeadroomSum,
    /// What each of them has (bytes).
    pub configured_bytes: u64,
}

impl HeadroomFinding {
    /// Whether nothing can be dropped.
    pub fn is_enough(&self) -> bool {
        self.configured_bytes >= self.needed.total_bytes
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
    /// What all share.
    pub shared_bytes: u64,
    /// How many lossless priorities fit, at most 8, if half of the memory is to be shared.
    pub classes_with_half_shared: u64,
}

/// Rate, delay and headroom of a port (bytes).
type Kind = (Bandwidth, Duration, u64);

/// Kinds of ports, and kinds of switches.
pub(super) fn find(plan: &Plan) -> (Vec<HeadroomFinding>, Vec<MemoryFinding>) {
    let adjacency = plan.topology.adjacency();
    let mut ports: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut switches: BTreeMap<_, (u64, u32)> = BTreeMap::new();
    for switch in plan.topology.switches() {
        let configured = plan.headroom(switch, &adjacency);
        for (port, headroom) in adjacency.ports_of(switch).iter().zip(&configured) {
            let link = &plan.topology.links[port.link as usize];
            *ports.entry((link.rate, link.delay, headroom.get())).or_default() += 1;
        }
        let sum = configured.iter().fold(0u64, |sum, headroom| sum.saturating_add(headroom.get()));
        switches.entry((configured.len() as u64, sum)).or_insert((0, switch)).0 += 1;
    }
    let frame = largest_frame(plan);
    let headroom = |((rate, delay, configured_bytes), ports): (Kind, u64)| HeadroomFinding {
        ports,
        rate_bps: rate.bits_per_second(),
        delay_ps: delay.ps(),
        needed: hop(&TopologyLink { a: 0, b: 0, rate, delay, loss: 0.0 }, frame).terms().into(),
        configured_bytes,
    };
    let memory = |((ports, headroom), (switches, example)): ((u64, u64), (u64, u32))| {
        let classes = plan.switch.lossless.len() as u64;
        let reserves = plan.switch.reserve.get().saturating_mul(ports);
        let class_bytes = headroom.saturating_add(reserves);
        let buffer_bytes = plan.switch.buffer.get();
        MemoryFinding {
            switches,
            example: plan.topology.nodes[example as usize].name.clone(),
            ports,
            buffer_bytes,
            class_bytes,
            classes,
            shared_bytes: buffer_bytes.saturating_sub(class_bytes.saturating_mul(classes)),
            classes_with_half_shared: (buffer_bytes / 2)
                .checked_div(class_bytes)
                .unwrap_or(8)
                .min(8),
        }
    };
    (ports.into_iter().map(headroom).collect(), switches.into_iter().map(memory).collect())
}

/// A link of the plan with the largest `frame` of all, as `"auto"` headroom counts.
fn hop(link: &TopologyLink, frame: Bytes) -> LosslessHop {
    LosslessHop::from(HeadroomInput {
        rate: link.rate,
        delay: link.delay,
        largest_frame: frame,
        response: Duration::ZERO,
    })
}

/// The largest frame of a plan, FCS included.
pub(super) fn largest_frame(plan: &Plan) -> Bytes {
    let opcode = Opcode::RcRdmaWriteOnlyWithImmediate;
    let (encapsulation, tagged) = (plan.roce.encapsulation, plan.roce.tagged);
    let lens = plan.queue_pairs.iter().map(|profile| {
        let payload = profile.path_mtu.bytes() as usize;
        match profile.congestion_control.telemetry() {
            None => frame_len(encapsulation, tagged, opcode, payload),
            Some(kind) => kind.frame_len(encapsulation, tagged, opcode, payload),
        }
    });
    Bytes::new(lens.max().unwrap_or(0) as u64)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;

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
