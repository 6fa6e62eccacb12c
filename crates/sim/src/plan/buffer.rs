//! Whether the switches' memory can be divided as the scenario asks.

use std::sync::Arc;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{
    BufferError, BufferLayout, Headroom, HeadroomInput, NodeId, SwitchConfig, Topology, headroom,
};
use rocelab_transport::QueuePairProfile;
use rocelab_units::{Bytes, Duration};
use rocelab_wire::{Opcode, frame_len};

use super::{Plan, RocePlan};
use crate::scenario::Fault;

impl Plan {
    /// The headroom of each port of a switch, for every lossless priority of it.
    pub fn headroom(&self, switch: NodeId, adjacency: &Adjacency) -> Vec<Bytes> {
        let frame = largest_frame(&self.roce, &self.queue_pairs);
        port_headroom(&self.switch, &self.topology, adjacency, switch, frame)
    }
}

/// The largest frame of a scenario, FCS included: a full packet with a RETH and immediate data, and
/// with telemetry where some flows carry it.
pub(super) fn largest_frame(roce: &RocePlan, queue_pairs: &[Arc<QueuePairProfile>]) -> Bytes {
    let opcode = Opcode::RcRdmaWriteOnlyWithImmediate;
    let len = |profile: &Arc<QueuePairProfile>| {
        let payload = profile.path_mtu.bytes() as usize;
        match profile.congestion_control.telemetry() {
            None => frame_len(roce.encapsulation, roce.tagged, opcode, payload),
            Some(kind) => kind.frame_len(roce.encapsulation, roce.tagged, opcode, payload),
        }
    };
    Bytes::new(queue_pairs.iter().map(len).max().unwrap_or(0) as u64)
}

/// Whether every switch has room for its headroom and reserves, and something to share.
pub(super) fn check_buffer(
    config: &SwitchConfig,
    topology: &Topology,
    largest_frame: Bytes,
) -> Result<(), Fault> {
    let adjacency = topology.adjacency();
    for switch in topology.switches() {
        let headroom = port_headroom(config, topology, &adjacency, switch, largest_frame);
        BufferLayout::new(config, &headroom)
            .map_err(|error| placed(error, config, &topology.nodes[switch as usize].name))?;
    }
    Ok(())
}

fn port_headroom(
    config: &SwitchConfig,
    topology: &Topology,
    adjacency: &Adjacency,
    switch: NodeId,
    largest_frame: Bytes,
) -> Vec<Bytes> {
    let ports = adjacency.ports_of(switch).iter();
    let needed = |link: u32| {
        let link = &topology.links[link as usize];
        headroom(&HeadroomInput {
            rate: link.rate,
            delay: link.delay,
            largest_frame,
            response: Duration::ZERO,
        })
    };
    match config.headroom {
        Headroom::Fixed(bytes) => vec![bytes; ports.len()],
        Headroom::Auto => ports.map(|port| needed(port.link)).collect(),
    }
}

fn placed(error: BufferError, config: &SwitchConfig, switch: &str) -> Fault {
    match error {
        BufferError::NothingToShare { headroom, reserve, ports, total } => {
            let message = format!(
                "at `{switch}`, headroom {headroom} and reserves {reserve} of {ports} ports and \
                 {} lossless priorities leave nothing of the buffer of {total} to share",
                config.lossless.len()
            );
            let key = match config.headroom {
                Headroom::Fixed(_) if headroom >= reserve => "switch.headroom",
                _ if reserve > headroom => "switch.reserve",
                _ => "switch.buffer",
            };
            let needed = Bytes::new(headroom.get().saturating_add(reserve.get()));
            let value = match key {
                "switch.headroom" => "\"auto\"".into(),
                "switch.reserve" => config.reserve.to_string(),
                _ => config.buffer.to_string(),
            };
            Fault::at(key, message)
                .value(value)
                .help(format!("make it smaller, or the buffer larger than {needed}"))
        }
        error @ BufferError::TooLarge { .. } => {
            Fault::at("switch.buffer", error.to_string()).help("give at most 4GB")
        }
    }
}
