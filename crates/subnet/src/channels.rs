//! Channels by number: ports of switches that lead to other switches.

use crate::graph::SwitchGraph;
use crate::tables::Channel;

/// What a port without a channel leads to.
const NOWHERE: u32 = u32::MAX;

/// Numbers for all ports of all switches; only those that lead to another switch are channels.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    /// For each switch, the number of its port 0.
    first: Vec<usize>,
    /// For each port, the number of that at the other end.
    peers: Vec<u32>,
    /// For each port, its switch.
    switches: Vec<u32>,
    /// Ports of a switch, at most.
    most_ports: usize,
}

impl Channels {
    /// The channels of a graph.
    pub(crate) fn new(graph: &SwitchGraph) -> Self {
        let mut first = Vec::with_capacity(graph.len());
        let mut switches = Vec::new();
        for (switch, number) in (0..graph.len()).zip(0..) {
            first.push(switches.len());
            switches.extend(graph.ports(switch).iter().map(|_| number));
        }
        let mut peers = vec![NOWHERE; switches.len()];
        for switch in 0..graph.len() {
            for (port, there, port_there) in graph.links(switch) {
                let peer = first[there] + usize::from(port_there);
                peers[first[switch] + usize::from(port)] = u32::try_from(peer).unwrap_or(NOWHERE);
            }
        }
        Self { first, peers, switches, most_ports: graph.most_ports() }
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    /// Ports of a switch, at most, with port 0.
    pub(crate) fn most_ports(&self) -> usize {
        self.most_ports
    }

    /// The number of a channel.
    pub(crate) fn number(&self, channel: Channel) -> usize {
        self.first[channel.switch] + usize::from(channel.port)
    }

    /// The channel with a number.
    pub(crate) fn channel(&self, number: usize) -> Channel {
        let switch = self.switches[number] as usize;
        Channel { switch, port: self.port(number) }
    }

    /// The port of a channel.
    pub(crate) fn port(&self, number: usize) -> u8 {
        u8::try_from(number - self.first[self.switches[number] as usize]).unwrap_or(u8::MAX)
    }

    /// The number of the channel by which packets of the channel `number` go on if they leave by `port`.
    pub(crate) fn next(&self, number: usize, port: usize) -> usize {
        self.first[self.switches[self.peers[number] as usize] as usize] + port
    }

    /// The channels that lead to the switch of a channel.
    pub(crate) fn before(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let switch = self.switches[number] as usize;
        let end = self.first.get(switch + 1).copied().unwrap_or(self.peers.len());
        let peers = self.peers[self.first[switch]..end].iter();
        peers.filter(|&&peer| peer != NOWHERE).map(|&peer| peer as usize)
    }
}
