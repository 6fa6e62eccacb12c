//! Queue pair numbers, packet sequence numbers and path entropy.

use rocelab_engine::RngStream;
use rocelab_transport::FIRST_QPN;
use rocelab_wire::{Encapsulation, default_flow_label, udp_source_port};

use super::path_bits::PathBitsInTurn;
use crate::plan::{ConnectionEndPlan, FlowPlan, RocePlan};
use crate::scenario::{ConnectionEntropy, Transport};
use crate::workload::{Flow, HostDirectory};

/// Numbers both ends of each flow, in order.
///
/// Every host counts its queue pairs from 0x11. First packet sequence numbers are random, as
/// connection managers choose them. So is the flow label, if the scenario says nothing else: the default of Linux
/// is a function of the two queue pair numbers, which here would be equal for the first connections of all hosts,
/// so each flow is given a label as an application would, of which the UDP source port of RoCE v2
/// follows. All are drawn from a stream of the host and queue pair, so that a flow between two
/// hosts does not change the numbers or the way of flows between others.
pub(super) struct Numbering<'a> {
    seed: u64,
    hosts: &'a HostDirectory,
    next_qpn: Vec<u32>,
    /// Connections so far by the host that they come from.
    connections: Vec<usize>,
    roce: &'a RocePlan,
    entropy: &'a ConnectionEntropy,
    path_bits: Option<PathBitsInTurn<'a>>,
}

impl<'a> Numbering<'a> {
    pub(super) fn new(
        seed: u64,
        hosts: &'a HostDirectory,
        roce: &'a RocePlan,
        entropy: &'a ConnectionEntropy,
        path_bits: Option<PathBitsInTurn<'a>>,
    ) -> Self {
        let next_qpn = vec![FIRST_QPN; hosts.node_count()];
        let connections = vec![0; hosts.node_count()];
        Self { seed, hosts, next_qpn, connections, roce, entropy, path_bits }
    }

    pub(super) fn number(&mut self, flow: &Flow) -> FlowPlan {
        let (ends, entropy) = self.connect(flow.source, flow.destination);
        FlowPlan {
            source: flow.source,
            destination: flow.destination,
            start: flow.start,
            bytes: flow.bytes,
            message_bytes: flow.message_bytes,
            transport: Transport::Rdma,
            verb: flow.verb,
            priority: flow.priority,
            source_qpn: ends[0].qpn,
            destination_qpn: ends[1].qpn,
            source_psn: ends[0].psn,
            destination_psn: ends[1].psn,
            entropy,
            queue_pairs: 0,
            marking: 0,
        }
    }

    /// A flow to a member of a group: by the queue pair of the flow to the `first` one, to a queue pair of its own.
    pub(super) fn number_member(&mut self, flow: &Flow, first: &FlowPlan) -> FlowPlan {
        let destination_qpn = self.qpn(flow.destination);
        let mut stream = self.stream(flow.destination, destination_qpn);
        FlowPlan {
            destination: flow.destination,
            destination_qpn,
            destination_psn: draw(&mut stream, 1 << 24),
            ..first.clone()
        }
    }

    /// The numbers of a connection between two hosts: of either end, and its path entropy.
    pub(super) fn connect(
        &mut self,
        source: u32,
        destination: u32,
    ) -> ([ConnectionEndPlan; 2], u32) {
        let source_qpn = self.qpn(source);
        let destination_qpn = self.qpn(destination);
        let mut of_source = self.stream(source, source_qpn);
        let mut of_destination = self.stream(destination, destination_qpn);
        let end = |host, qpn, stream: &mut RngStream| ConnectionEndPlan {
            host,
            qpn,
            psn: draw(stream, 1 << 24),
        };
        let ends = [
            end(source, source_qpn, &mut of_source),
            end(destination, destination_qpn, &mut of_destination),
        ];
        let before = self.connections[source as usize];
        self.connections[source as usize] += 1;
        let numbers = [source_qpn, destination_qpn];
        let entropy = self.entropy((source, before), numbers, &mut of_source);
        let path_bits = self.path_bits.as_mut();
        (ends, path_bits.map_or(entropy, |own| own.put((source, destination), entropy)))
    }

    /// The queue pairs for pings of a host: so many numbers, of which this gives the first, and the first packet sequence
    /// number of all of them.
    pub(super) fn number_pings(&mut self, host: u32, count: u32) -> (u32, u32) {
        let first = self.qpn(host);
        self.next_qpn[host as usize] += count.saturating_sub(1);
        (first, draw(&mut self.stream(host, first), 1 << 24))
    }

    fn stream(&self, host: u32, qpn: u32) -> RngStream {
        let name = self.hosts.name(host);
        RngStream::new(self.seed, &format!("queue pair/{name}/{qpn}"))
    }

    fn qpn(&mut self, host: u32) -> u32 {
        let next = &mut self.next_qpn[host as usize];
        let qpn = *next;
        *next += 1;
        qpn
    }

    /// A flow label, or a UDP source port, of a connection before which its source has made some. A random label is from 1
    /// on: 0 means that there is none.
    fn entropy(
        &self,
        (source, before): (u32, usize),
        [source_qpn, destination_qpn]: [u32; 2],
        stream: &mut RngStream,
    ) -> u32 {
        let label = match self.entropy {
            ConnectionEntropy::Random => 1 + draw(stream, (1 << 20) - 1),
            ConnectionEntropy::QueuePairs => default_flow_label(source_qpn, destination_qpn),
            ConnectionEntropy::List(numbers) => {
                return numbers.get(before % numbers.len().max(1)).copied().unwrap_or(0);
            }
        };
        match self.roce.encapsulation_of(source) {
            Encapsulation::V1 => label,
            Encapsulation::V2Ipv4 | Encapsulation::V2Ipv6 => udp_source_port(label).into(),
        }
    }
}

/// A number below `bound`.
pub(super) fn draw(stream: &mut RngStream, bound: u32) -> u32 {
    u32::try_from(stream.below(bound.into())).unwrap_or(0)
}
