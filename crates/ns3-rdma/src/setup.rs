//! What there is at the start of a run.

use crate::application::{Application, shortest_interval};
use crate::config::{Branch, wire_headers};
use crate::frame::Stream;
use crate::input::Input;
use crate::memory::Pools;
use crate::nic::Nic;
use crate::port::{Port, SwitchPort};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::routing::ports_of;
use crate::time::truncated_u32;
use crate::timely::TimelyRate;
use crate::topology::{Link, Topology};

/// The first source port of each host.
const FIRST_PORT: u16 = 49_153;
/// Destination ports are below this.
const DESTINATION_PORTS: f64 = 40_000.0;

/// Nodes and their ports.
#[derive(Debug)]
pub(crate) struct Network {
    /// Link `i` has the ports `2 i` and `2 i + 1`.
    pub(crate) ports: Vec<Port>,
    /// Of the same numbers; those of hosts are empty.
    pub(crate) switch_ports: Vec<SwitchPort>,
    /// For each switch.
    pub(crate) pools: Vec<Pools>,
    /// For each switch, how many ports it has.
    pub(crate) port_counts: Vec<u32>,
    /// For each host.
    pub(crate) nics: Vec<Nic>,
    /// For each host, its port.
    pub(crate) host_ports: Vec<u32>,
}

/// What is at the ends of streams.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Flows, then the answers to each.
    pub(crate) streams: Vec<Stream>,
    /// Of the same numbers.
    pub(crate) receivers: Vec<Receiver>,
    /// For each flow.
    pub(crate) applications: Vec<Application>,
    /// For each host, its next source port.
    pub(crate) next_ports: Vec<u16>,
    /// The shortest interval (s) between two looks of an application at its NIC.
    pub(crate) shortest_interval: f64,
}

/// A number of things in a topology, of which there are fewer than 2^32.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Network {
    pub(crate) fn new(input: &Input) -> Self {
        let topology = &input.topology;
        let ends = |link: &Link| link.nodes.map(|node| Port::new(node, 0, link.rate, link.delay));
        let mut network = Self {
            ports: topology.links.iter().flat_map(ends).collect(),
            switch_ports: Vec::new(),
            pools: Vec::new(),
            port_counts: Vec::new(),
            nics: Vec::new(),
            host_ports: Vec::new(),
        };
        network.switch_ports.resize_with(network.ports.len(), SwitchPort::default);
        for (ports, &is_switch) in ports_of(topology).into_iter().zip(&topology.is_switch) {
            let place = if is_switch { network.pools.len() } else { network.nics.len() };
            for (port, local) in ports.iter().zip(0u32..) {
                let at = &mut network.ports[*port as usize];
                (at.is_switch, at.place, at.interface) = (is_switch, number(place), local + 1);
                network.switch_ports[*port as usize].local = local;
            }
            if is_switch {
                network.pools.push(Pools::default());
                network.port_counts.push(number(ports.len()));
            } else {
                network.nics.push(Nic::new(input.config.qcn));
                network.host_ports.push(ports.first().copied().unwrap_or(u32::MAX));
            }
        }
        network
    }
}

impl Ends {
    /// Draws the destination port of each flow.
    pub(crate) fn new(input: &Input, random: &mut Random) -> Self {
        let topology = &input.topology;
        let places = places_of_hosts(topology);
        let addresses = addresses_of_hosts(topology);
        let mut is_taken = vec![false; truncated_u32(DESTINATION_PORTS) as usize];
        let mut streams = Vec::with_capacity(2 * input.flows.len());
        let size = wire_size(input);
        for flow in &input.flows {
            let [source, destination] = [flow.source, flow.destination];
            let mut port = 0;
            // An unused one, if there is any.
            while is_taken.contains(&false) {
                port = truncated_u32(random.draws.next_uniform() * DESTINATION_PORTS);
                if !std::mem::replace(&mut is_taken[port as usize], true) {
                    break;
                }
            }
            streams.push(Stream {
                source,
                source_host: places[source as usize],
                destination,
                destination_host: places[destination as usize],
                addresses: [addresses[source as usize], addresses[destination as usize]],
                ports: [0, u16::try_from(port).unwrap_or(0)],
                class: flow.class,
                size,
                sender: 0,
                hash: 0,
            });
        }
        let answers: Vec<_> = streams.iter().map(|stream| answers_to(stream, input)).collect();
        streams.extend(answers);
        let rate = |rate| TimelyRate::new(rate, input.config.payload);
        let applications = input.flows.iter().map(|flow| Application::new(rate(flow.initial_rate)));
        Self {
            receivers: vec![Receiver::new(&input.config.recovery); streams.len()],
            streams,
            applications: applications.collect(),
            next_ports: vec![FIRST_PORT; places.len()],
            shortest_interval: shortest_interval(input.options.arithmetic),
        }
    }
}

/// Bytes of a flow's packets on the wire.
fn wire_size(input: &Input) -> u16 {
    let headers = wire_headers(input.options.branch, input.config.in_chunks);
    u16::try_from(input.config.payload + headers).unwrap_or(u16::MAX)
}

/// The answers of the application at the end of a flow.
fn answers_to(flow: &Stream, input: &Input) -> Stream {
    let size = match input.options.branch {
        Branch::Master => 44,
        Branch::Timely => 45,
    };
    Stream {
        source: flow.destination,
        source_host: flow.destination_host,
        destination: flow.source,
        destination_host: flow.source_host,
        addresses: [flow.addresses[1], flow.addresses[0]],
        ports: [flow.ports[1], 0],
        size,
        ..*flow
    }
}

/// For each node, its number among hosts, or among switches.
fn places_of_hosts(topology: &Topology) -> Vec<u32> {
    let mut counts = [0; 2];
    let place = |&is_switch: &bool| {
        let count = &mut counts[usize::from(is_switch)];
        *count += 1;
        *count - 1
    };
    topology.is_switch.iter().map(place).collect()
}

/// For each node, the address of its first interface.
fn addresses_of_hosts(topology: &Topology) -> Vec<u32> {
    let mut addresses = vec![0; topology.is_switch.len()];
    for (number, link) in topology.links.iter().enumerate().rev() {
        for (end, node) in link.nodes.iter().enumerate() {
            addresses[*node as usize] = Topology::address(number, end);
        }
    }
    addresses
}
