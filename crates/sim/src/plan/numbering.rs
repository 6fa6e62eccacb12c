//! Queue pair numbers, packet sequence numbers and path entropy.

use rocelab_engine::RngStream;
use rocelab_transport::FIRST_QPN;
use rocelab_wire::{Encapsulation, udp_source_port};

use super::FlowPlan;
use crate::workload::Flow;

/// Numbers both ends of each flow, in order.
///
/// Every host counts its queue pairs from 0x11. First packet sequence numbers are random, as
/// connection managers choose them. So is the flow label: the default of Linux is a function of
/// the two queue pair numbers, which here would be equal for the first connections of all hosts,
/// so each flow is given a label as an application would, of which the UDP source port of RoCE v2
/// follows.
pub(super) struct Numbering {
    next_qpn: Vec<u32>,
    psn: RngStream,
    flow_label: RngStream,
    encapsulation: Encapsulation,
}

impl Numbering {
    pub(super) fn new(seed: u64, nodes: usize, encapsulation: Encapsulation) -> Self {
        Self {
            next_qpn: vec![FIRST_QPN; nodes],
            psn: RngStream::new(seed, "psn"),
            flow_label: RngStream::new(seed, "flow label"),
            encapsulation,
        }
    }

    pub(super) fn number(&mut self, flow: &Flow) -> FlowPlan {
        FlowPlan {
            source: flow.source,
            destination: flow.destination,
            start: flow.start,
            bytes: flow.bytes,
            verb: flow.verb,
            priority: flow.priority,
            source_qpn: self.qpn(flow.source),
            destination_qpn: self.qpn(flow.destination),
            source_psn: draw(&mut self.psn, 1 << 24),
            destination_psn: draw(&mut self.psn, 1 << 24),
            entropy: self.entropy(),
        }
    }

    fn qpn(&mut self, host: u32) -> u32 {
        let next = &mut self.next_qpn[host as usize];
        let qpn = *next;
        *next += 1;
        qpn
    }

    /// A flow label from 1 on (0 means that there is none), or the port made of it.
    fn entropy(&mut self) -> u32 {
        let label = 1 + draw(&mut self.flow_label, (1 << 20) - 1);
        match self.encapsulation {
            Encapsulation::V1 => label,
            Encapsulation::V2Ipv4 | Encapsulation::V2Ipv6 => udp_source_port(label).into(),
        }
    }
}

fn draw(stream: &mut RngStream, bound: u32) -> u32 {
    u32::try_from(stream.below(bound.into())).unwrap_or(0)
}
