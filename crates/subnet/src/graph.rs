//! What is behind each port of each switch.

use std::collections::BTreeMap;

use crate::subnet::EndPort;
use crate::topology::{NodeKind, PortId, Topology};

/// What a cable of a switch leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// No cable, or one that leads back to the same switch.
    Nothing,
    /// A port of another switch.
    Switch {
        /// The switch.
        switch: usize,
        /// The port there.
        port: u8,
    },
    /// The end port with this index.
    EndPort(usize),
}

/// Where an end port is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The switch.
    pub switch: usize,
    /// Its port; 0 if the end port is that of the switch itself.
    pub port: u8,
}

/// The switches of a subnet, by their index in the order of the sweep.
#[derive(Clone, Debug)]
pub struct SwitchGraph {
    /// For each switch, what is behind each of its ports; port 0 has nothing.
    ports: Vec<Vec<Far>>,
    own_end_ports: Vec<usize>,
    /// For each end port. Without switches, two channel adapters have none.
    attachments: Vec<Option<Attachment>>,
}

impl SwitchGraph {
    /// The graph of the nodes `switches`.
    pub(crate) fn new(topology: &Topology, switches: &[usize], end_ports: &[EndPort]) -> Self {
        let switch_of: BTreeMap<usize, usize> = switches.iter().copied().zip(0..).collect();
        let end_port_of: BTreeMap<PortId, usize> =
            end_ports.iter().map(|end_port| end_port.id).zip(0..).collect();
        let far = |node: usize, peer: Option<PortId>| {
            let Some(peer) = peer.filter(|peer| peer.node != node) else { return Far::Nothing };
            match (switch_of.get(&peer.node), end_port_of.get(&peer)) {
                (Some(&switch), _) => Far::Switch { switch, port: peer.port },
                (None, Some(&end_port)) => Far::EndPort(end_port),
                (None, None) => Far::Nothing,
            }
        };
        let ports_of = |&node: &usize| {
            let behind = topology.nodes()[node].ports().map(|(_, port)| far(node, port.peer));
            std::iter::once(Far::Nothing).chain(behind).collect()
        };
        let own = |&node: &usize| end_port_of.get(&PortId { node, port: 0 }).copied();
        let attach = |end_port: &EndPort| {
            let port = topology.nodes()[end_port.id.node].port(end_port.id.port)?;
            let is_switch = end_port.kind == NodeKind::Switch;
            let at = if is_switch { end_port.id } else { port.peer? };
            let switch = *switch_of.get(&at.node)?;
            Some(Attachment { switch, port: at.port })
        };
        Self {
            ports: switches.iter().map(ports_of).collect(),
            own_end_ports: switches.iter().filter_map(own).collect(),
            attachments: end_ports.iter().map(attach).collect(),
        }
    }

    /// How many switches there are.
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether there are no switches.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// What is behind the ports of a switch, by their number.
    pub fn ports(&self, switch: usize) -> &[Far] {
        &self.ports[switch]
    }

    /// The largest number of ports of a switch, port 0 included.
    pub fn most_ports(&self) -> usize {
        self.ports.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Ports of a switch that lead to other switches, in their order: port, switch, port there.
    pub fn links(&self, switch: usize) -> impl Iterator<Item = (u8, usize, u8)> + '_ {
        (0..=u8::MAX).zip(&self.ports[switch]).filter_map(|(port, far)| match *far {
            Far::Switch { switch, port: there } => Some((port, switch, there)),
            _ => None,
        })
    }

    /// End ports that are attached to a switch, in the order of its ports.
    pub fn attached(&self, switch: usize) -> impl Iterator<Item = (u8, usize)> + '_ {
        (0..=u8::MAX).zip(&self.ports[switch]).filter_map(|(port, far)| match *far {
            Far::EndPort(end_port) => Some((port, end_port)),
            _ => None,
        })
    }

    /// The end port of a switch itself: its port 0.
    pub fn own_end_port(&self, switch: usize) -> usize {
        self.own_end_ports[switch]
    }

    /// Where an end port is attached.
    pub fn attachment(&self, end_port: usize) -> Option<Attachment> {
        self.attachments[end_port]
    }
}
