//! Whether the switches' memory can be divided as the scenario asks.

use std::sync::Arc;

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    BufferError, BufferLayout, Headroom, HeadroomInput, LosslessHop, NodeId, SwitchConfig,
};
use rocelab_transport::QueuePairProfile;
use rocelab_units::Bytes;
use rocelab_wire::{CnTag, Opcode, frame_len};

use super::{Plan, RocePlan};
use crate::scenario::Fault;

impl Plan {
    /// The headroom of each port of a switch, for every lossless priority of it.
    pub fn headroom(&self, switch: NodeId, adjacency: &Adjacency) -> Vec<Bytes> {
        let ports = (0u16..).zip(adjacency.ports_of(switch));
        let of_port =
            |(port, neighbour): (u16, &Neighbour)| match self.port_at(switch, port).headroom {
                Headroom::Fixed(bytes) => bytes,
                Headroom::Auto => self.lossless_hop(switch, neighbour, adjacency).terms().total(),
            };
        ports.map(of_port).collect()
    }

    /// What the headroom of a switch's port depends on; `neighbour` is at the other end of its link.
    pub fn lossless_hop(
        &self,
        switch: NodeId,
        neighbour: &Neighbour,
        adjacency: &Adjacency,
    ) -> LosslessHop {
        let link = &self.topology.links[neighbour.link as usize];
        let far_port = adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
        let far_port = u16::try_from(far_port).unwrap_or(u16::MAX);
        let far = self.port_at(neighbour.node, far_port);
        let hop = LosslessHop::from(HeadroomInput {
            rate: link.rate,
            delay: link.delay,
            largest_frame: largest_frame(&self.roce, &self.queue_pairs),
            response: far.pause_response
                + self.latency_of(switch)
                + self.latency_of(neighbour.node),
        });
        let config = self.switch_at(switch);
        let segment = self.tcp.as_ref().map_or(0, |tcp| tcp.largest_frame(self.roce.tagged));
        let is_lossless =
            self.tcp.as_ref().is_some_and(|tcp| config.lossless.contains(&tcp.parameters.priority));
        let own = if is_lossless { Bytes::new(segment.into()) } else { Bytes::new(0) };
        LosslessHop {
            cell: config.cell,
            frame_ahead: hop.frame_ahead.max(Bytes::new(segment.into())),
            largest_frame: hop.largest_frame.max(own),
            ..hop
        }
    }

    /// Whether every switch has room for its headroom and reserves, and something to share.
    pub(super) fn check_buffers(&self) -> Result<(), Fault> {
        let adjacency = self.topology.adjacency();
        for switch in self.topology.switches() {
            let config = self.switch_at(switch);
            BufferLayout::new(config, &self.headroom(switch, &adjacency)).map_err(|error| {
                placed(error, config, &self.topology.nodes[switch as usize].name)
            })?;
        }
        Ok(())
    }
}

/// The largest frame of RDMA in a scenario, FCS included: a full packet with a RETH and immediate data, and
/// with telemetry where some flows carry it.
pub(super) fn largest_frame(roce: &RocePlan, queue_pairs: &[Arc<QueuePairProfile>]) -> Bytes {
    let opcode = Opcode::RcRdmaWriteOnlyWithImmediate;
    let len = |profile: &Arc<QueuePairProfile>| {
        let payload = profile.path_mtu.bytes() as usize;
        let tag = if profile.congestion_control.needs_qcn() { CnTag::LEN } else { 0 };
        tag + match profile.congestion_control.telemetry() {
            None => frame_len(roce.encapsulation, roce.tagged, opcode, payload),
            Some(kind) => kind.frame_len(roce.encapsulation, roce.tagged, opcode, payload),
        }
    };
    Bytes::new(queue_pairs.iter().map(len).max().unwrap_or(0) as u64)
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
