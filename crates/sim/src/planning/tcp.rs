//! What the TCP of hosts is told, and the numbers of its connections.

use std::sync::Arc;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::tcp::TcpParameters;

use super::numbering::draw;
use crate::address::Addresses;
use crate::plan::{FlowPlan, TcpPlan};
use crate::scenario::{Fault, Scenario, Transport, Verb, ensure};
use crate::workload::{self, Flow, HostDirectory};

/// The first of the ports that connections are opened from: the dynamic ones, see RFC 6335.
const FIRST_DYNAMIC_PORT: u32 = 49_152;
/// Number of dynamic ports.
const DYNAMIC_PORTS: u32 = 16_384;
/// The port that connections are opened to; the next one where a host has used up its own.
const SERVER_PORT: u32 = 5_001;

/// Whether some workload is carried by TCP.
pub(super) fn is_used(scenario: &Scenario) -> bool {
    let items = workload::items(&scenario.workload);
    items.iter().any(|(_, item)| item.transport() == Transport::Tcp)
}

/// Whether switches may mark segments.
pub(super) fn marks_segments(scenario: &Scenario) -> bool {
    is_used(scenario) && scenario.tcp.as_ref().is_some_and(TcpParameters::uses_ecn)
}

/// Checks `[tcp]`, and what else TCP needs.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    if let Some(parameters) = &scenario.tcp {
        parameters.validate().map_err(|error| {
            Fault::at(format!("tcp.{}", error.key), error.problem)
                .value(error.value)
                .help(error.fix)
        })?;
        let algorithm = &parameters.congestion_control;
        algorithm.validate().map_err(|error| {
            let key = format!("tcp.congestion_control.{}.{}", algorithm.name(), error.key);
            Fault::at(key, error.problem).value(error.value).help(error.fix)
        })?;
    }
    ensure(!(scenario.integrity && is_used(scenario)), || {
        Fault::at("integrity", "payload of TCP is a length and has no bytes to compare")
            .help("leave it out, or the workloads with `transport = \"tcp\"`")
    })
}

/// What hosts' TCP does, if any flow is of TCP.
pub(super) fn plan(
    scenario: &Scenario,
    flows: &[FlowPlan],
    addresses: &Arc<Addresses>,
) -> Option<TcpPlan> {
    let parameters = scenario.tcp.clone().unwrap_or_default();
    let is_used = flows.iter().any(FlowPlan::is_tcp);
    is_used.then(|| TcpPlan {
        parameters: Arc::new(parameters),
        ip: scenario.roce.ip,
        addresses: Arc::clone(addresses),
    })
}

/// Numbers the connections of hosts, apart from their queue pairs.
///
/// Ports are taken one after the other from a random one on, and sequence numbers begin at random.
pub(super) struct TcpNumbering<'a> {
    seed: u64,
    hosts: &'a HostDirectory,
    priority: u8,
    /// By node.
    next: Vec<u32>,
}

impl<'a> TcpNumbering<'a> {
    pub(super) fn new(scenario: &Scenario, hosts: &'a HostDirectory) -> Self {
        let priority = scenario.tcp.as_ref().map_or(0, |tcp| tcp.priority);
        Self { seed: scenario.seed, hosts, priority, next: vec![0; hosts.node_count()] }
    }

    pub(super) fn number(&mut self, flow: &Flow) -> FlowPlan {
        let source_qpn = self.next(flow.source);
        let destination_qpn = self.next(flow.destination);
        let name = self.hosts.name(flow.source);
        let stream = |part: &str| RngStream::new(self.seed, &format!("tcp/{name}/{part}"));
        let first = draw(&mut stream("port"), DYNAMIC_PORTS);
        let near = FIRST_DYNAMIC_PORT + (first + source_qpn) % DYNAMIC_PORTS;
        let far = SERVER_PORT + source_qpn / DYNAMIC_PORTS;
        let [a, b, c, d, ..] = stream(&source_qpn.to_string()).bits().to_be_bytes();
        let sequence_number = u32::from_be_bytes([a, b, c, d]);
        FlowPlan {
            source: flow.source,
            destination: flow.destination,
            start: flow.start,
            bytes: flow.bytes,
            message_bytes: flow.bytes,
            transport: Transport::Tcp,
            verb: Verb::Send,
            priority: self.priority,
            source_qpn,
            destination_qpn,
            source_psn: sequence_number,
            destination_psn: sequence_number,
            entropy: near | far << 16,
            queue_pairs: 0,
            marking: 0,
        }
    }

    fn next(&mut self, host: NodeId) -> u32 {
        let next = &mut self.next[host as usize];
        *next += 1;
        *next - 1
    }
}
