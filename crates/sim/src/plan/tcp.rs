//! What the TCP of hosts is told, and the numbers of its connections.

use std::net::IpAddr;
use std::sync::Arc;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::tcp::{TcpParameters, TcpSegment};
use rocelab_wire::{Ethernet, Ipv4, Ipv6, VlanTag};

use super::numbering::draw;
use super::{FlowPlan, Plan};
use crate::address;
use crate::scenario::{Fault, IpVersion, Scenario, Transport, Verb, ensure};
use crate::workload::{self, Flow, HostDirectory};

/// The first of the ports that connections are opened from: the dynamic ones, see RFC 6335.
const FIRST_DYNAMIC_PORT: u32 = 49_152;
/// Number of dynamic ports.
const DYNAMIC_PORTS: u32 = 16_384;
/// The port that connections are opened to; the next one where a host has used up its own.
const SERVER_PORT: u32 = 5_001;

/// What hosts' TCP does.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Of all hosts.
    pub parameters: Arc<TcpParameters>,
    /// What segments travel in, also where RoCE is version 1.
    pub ip: IpVersion,
}

impl TcpPlan {
    /// Bytes of the IP header: 20 or 40.
    pub fn ip_header_len(&self) -> u16 {
        let len = match self.ip {
            IpVersion::Ipv4 => Ipv4::LEN,
            IpVersion::Ipv6 => Ipv6::LEN,
        };
        u16::try_from(len).unwrap_or(u16::MAX)
    }

    /// Bytes before the TCP header of every frame.
    pub fn encapsulation_len(&self, tagged: bool) -> u16 {
        let layer2 = Ethernet::LEN + if tagged { VlanTag::LEN } else { 0 };
        u16::try_from(layer2).unwrap_or(u16::MAX) + self.ip_header_len()
    }

    /// Payload of a full segment (bytes).
    pub fn mss(&self) -> u16 {
        self.parameters.mss(self.ip_header_len())
    }

    /// Bytes of the largest frame, FCS included.
    pub(super) fn largest_frame(&self, tagged: bool) -> u16 {
        let full = TcpSegment::new(0, 0, 0, 0).with_payload_len(self.mss());
        full.frame_len(self.encapsulation_len(tagged))
    }

    /// The address of a host.
    pub(crate) fn address(&self, host: NodeId) -> IpAddr {
        address::host_ip(self.ip, host)
    }
}

impl FlowPlan {
    /// The ports of a TCP flow: of its source, and of its destination.
    pub fn tcp_ports(&self) -> (u16, u16) {
        let [a, b, c, d] = self.entropy.to_be_bytes();
        (u16::from_be_bytes([c, d]), u16::from_be_bytes([a, b]))
    }
}

impl Plan {
    /// Hash of the addresses and ports of a TCP flow's segments, for equal-cost multipath: of those
    /// with data, or of the acknowledgements.
    pub(crate) fn segment_hash(&self, flow: &FlowPlan, with_data: bool) -> u32 {
        let Some(tcp) = &self.tcp else { return 0 };
        let (near, far) = flow.tcp_ports();
        let source = (tcp.address(flow.source), near);
        let destination = (tcp.address(flow.destination), far);
        if with_data {
            address::segment_hash(source, destination)
        } else {
            address::segment_hash(destination, source)
        }
    }

    /// The name of the congestion control of a flow.
    pub fn congestion_control_of(&self, flow: &FlowPlan) -> &'static str {
        match &self.tcp {
            Some(tcp) if flow.is_tcp() => tcp.parameters.congestion_control.name(),
            _ => self.queue_pairs_of(flow).congestion_control.name(),
        }
    }
}

impl Scenario {
    /// Whether some workload is carried by TCP.
    pub(super) fn has_tcp(&self) -> bool {
        workload::items(&self.workload).iter().any(|(_, item)| item.transport() == Transport::Tcp)
    }

    /// Whether switches may mark segments.
    pub(super) fn marks_segments(&self) -> bool {
        self.has_tcp() && self.tcp.as_ref().is_some_and(TcpParameters::uses_ecn)
    }
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
    ensure(!(scenario.integrity && scenario.has_tcp()), || {
        Fault::at("integrity", "payload of TCP is a length and has no bytes to compare")
            .help("leave it out, or the workloads with `transport = \"tcp\"`")
    })
}

/// What hosts' TCP does, if any flow is of TCP.
pub(super) fn plan(scenario: &Scenario, flows: &[FlowPlan]) -> Option<TcpPlan> {
    let parameters = scenario.tcp.clone().unwrap_or_default();
    let is_used = flows.iter().any(FlowPlan::is_tcp);
    is_used.then(|| TcpPlan { parameters: Arc::new(parameters), ip: scenario.roce.ip })
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
        }
    }

    fn next(&mut self, host: NodeId) -> u32 {
        let next = &mut self.next[host as usize];
        *next += 1;
        *next - 1
    }
}
