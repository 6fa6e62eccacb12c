//! What a port may still receive after it has asked for a pause.

use std::sync::Arc;

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{Headroom, HeadroomInput, LosslessHop, NodeId};
use rocelab_transport::QueuePairProfile;
use rocelab_units::Bytes;
use rocelab_wire::{CnTag, Encapsulation, Opcode};

use super::Plan;

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
            largest_frame: self.largest_frame(),
            response: far.pause_response
                + self.latency_of(switch)
                + self.latency_of(neighbour.node),
        });
        let config = self.switch_at(switch);
        let segment = self.tcp.as_ref().map_or(0, |tcp| tcp.largest_frame(self.roce.tagged));
        let is_lossless =
            self.tcp.as_ref().is_some_and(|tcp| config.lossless.contains(&tcp.parameters.priority));
        let own = if is_lossless { segment } else { 0 };
        let bit = |all: u8, priority: &u8| all | 1 << (priority & 7);
        let lossless = config.lossless.iter().fold(0, bit);
        let tagged = self.roce.tagged;
        let own = own.max(self.streams.largest_frame(tagged, lossless));
        let any = self.largest_other_frame();
        LosslessHop {
            cell: config.cell,
            frame_ahead: hop.frame_ahead.max(Bytes::new(any.into())),
            largest_frame: hop.largest_frame.max(Bytes::new(own.into())),
            ..hop
        }
    }

    /// The largest frame of a scenario, of RDMA, TCP or other stacks, FCS included.
    pub(crate) fn largest_frame_of_all(&self) -> Bytes {
        self.largest_frame().max(Bytes::new(self.largest_other_frame().into()))
    }

    /// The largest frame of TCP or other stacks, FCS included (bytes); 0 if there is none.
    fn largest_other_frame(&self) -> u16 {
        let tagged = self.roce.tagged;
        let segment = self.tcp.as_ref().map_or(0, |tcp| tcp.largest_frame(tagged));
        segment.max(self.streams.largest_frame(tagged, u8::MAX))
    }

    /// The largest frame of RDMA in a scenario, FCS included: a full packet with a RETH and immediate data, and
    /// with telemetry where some flows carry it.
    pub(crate) fn largest_frame(&self) -> Bytes {
        let opcode = Opcode::RcRdmaWriteOnlyWithImmediate;
        let len = |(profile, encapsulation): (&Arc<QueuePairProfile>, Encapsulation)| {
            let payload = profile.path_mtu.bytes() as usize;
            let tag = if profile.congestion_control.needs_qcn() { CnTag::LEN } else { 0 };
            let telemetry = profile.congestion_control.telemetry();
            tag + self.roce.frame_len(encapsulation, telemetry, (opcode, payload))
        };
        let all = self.queue_pairs.iter().flat_map(|profile| {
            self.roce.encapsulations().map(move |encapsulation| (profile, encapsulation))
        });
        Bytes::new(all.map(len).max().unwrap_or(0) as u64)
    }
}
