//! A subnet: what the subnet manager found, in the order in which it visits it, with LIDs.

use std::collections::{BTreeSet, VecDeque};

use thiserror::Error;

use crate::graph::SwitchGraph;
use crate::guid::Guid;
use crate::lids::{self, LidRange};
use crate::topology::{NodeKind, PortId, Topology};

/// The greatest LMC: a port has up to 128 LIDs.
pub const MOST_LMC: u8 = 7;
/// Hops of a directed route (IBTA 14.2.2): nodes that are farther away cannot be managed.
pub const MOST_HOPS: usize = 63;

/// A port with LIDs of its own: of a channel adapter or a router, or port 0 of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndPort {
    /// The port.
    pub id: PortId,
    /// Its GUID.
    pub guid: Guid,
    /// What its node is.
    pub kind: NodeKind,
    /// Its LIDs.
    pub lids: LidRange,
}

/// Why a topology cannot be managed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubnetError {
    /// The topology has no such node.
    #[error("there is no node that could run the subnet manager")]
    NoManager,
    /// The node of the subnet manager has no cable.
    #[error("{name}, which runs the subnet manager, has no cable")]
    ManagerIsAlone {
        /// The node.
        name: String,
    },
    /// The LMC is too large.
    #[error("an LMC is a number from 0 to {MOST_LMC}, and not {lmc}")]
    LmcTooLarge {
        /// The LMC.
        lmc: u8,
    },
    /// The subnet is too large.
    #[error("the ports need more unicast LIDs than there are: {}", lids::LAST_UNICAST_LID)]
    NotEnoughLids,
    /// A node is too far away from the subnet manager.
    #[error("{name} is more than {MOST_HOPS} hops away from the subnet manager")]
    TooFar {
        /// The node.
        name: String,
    },
}

/// A topology with LIDs.
///
/// Only what the subnet manager reaches is part of it: see [`unreached`](Self::unreached). All lists are in the order
/// of the sweep, which is that of [`Guid::sweep_key`].
#[derive(Clone, Debug)]
pub struct Subnet {
    topology: Topology,
    lmc: u8,
    switches: Vec<usize>,
    end_ports: Vec<EndPort>,
    /// For each LID, the index of its end port, or none.
    owners: Vec<Option<u32>>,
    graph: SwitchGraph,
    unreached: Vec<usize>,
}

impl Subnet {
    /// The subnet that a manager at the node with the index `manager` finds, with LIDs as OpenSM gives them in a
    /// subnet that has none yet. A manager that is no switch is at the first port that has a cable. `lmc` holds for
    /// channel adapters and routers.
    ///
    /// # Errors [`SubnetError`].
    pub fn new(topology: Topology, manager: usize, lmc: u8) -> Result<Self, SubnetError> {
        if lmc > MOST_LMC {
            return Err(SubnetError::LmcTooLarge { lmc });
        }
        let own = manager_port(&topology, manager)?;
        let reached = discover(&topology, own)?;
        let mut switches: Vec<usize> = (0..topology.nodes().len())
            .filter(|&node| topology.nodes()[node].kind == NodeKind::Switch && reached.node[node])
            .collect();
        switches.sort_by_key(|&node| topology.nodes()[node].guid.sweep_key());
        let (end_ports, owners) = lids::assign(&topology, reached.end_ports, own, lmc)?;
        let graph = SwitchGraph::new(&topology, &switches, &end_ports);
        let unreached = (0..topology.nodes().len()).filter(|&node| !reached.node[node]).collect();
        Ok(Self { topology, lmc, switches, end_ports, owners, graph, unreached })
    }

    /// The topology, including nodes that the manager does not reach.
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The LMC of channel adapters and routers: each has 2 to the power of it LIDs at a port.
    pub const fn lmc(&self) -> u8 {
        self.lmc
    }

    /// The nodes of switches. A *switch* below is an index into this list.
    pub fn switches(&self) -> &[usize] {
        &self.switches
    }

    /// All ports that have LIDs. An *end port* below is an index into this list.
    pub fn end_ports(&self) -> &[EndPort] {
        &self.end_ports
    }

    /// The end port that has this LID.
    pub fn owner(&self, lid: u16) -> Option<usize> {
        let owner = self.owners.get(usize::from(lid)).copied().flatten();
        owner.and_then(|end_port| usize::try_from(end_port).ok())
    }

    /// The greatest LID in use; 0 if there is none.
    pub fn last_lid(&self) -> u16 {
        u16::try_from(self.owners.len().saturating_sub(1)).unwrap_or(lids::LAST_UNICAST_LID)
    }

    /// What is behind each port of each switch.
    pub const fn graph(&self) -> &SwitchGraph {
        &self.graph
    }

    /// The ports of a switch with channel adapters, and their end ports. Routers are no hosts.
    pub fn adapters(&self, switch: usize) -> impl Iterator<Item = (u8, usize)> + '_ {
        let is_adapter =
            |end_port: usize| self.end_ports[end_port].kind == NodeKind::ChannelAdapter;
        self.graph.attached(switch).filter(move |&(_, end_port)| is_adapter(end_port))
    }

    /// The nodes that the manager does not reach. They have no LIDs.
    pub fn unreached(&self) -> &[usize] {
        &self.unreached
    }

    /// The description of a switch.
    pub fn switch_name(&self, switch: usize) -> &str {
        &self.topology.nodes()[self.switches[switch]].name
    }

    /// The GUID of a switch.
    pub fn switch_guid(&self, switch: usize) -> Guid {
        self.topology.nodes()[self.switches[switch]].guid
    }

    /// The switch with this GUID.
    pub fn switch_by_guid(&self, guid: Guid) -> Option<usize> {
        let key = |&node: &usize| self.topology.nodes()[node].guid.sweep_key();
        self.switches.binary_search_by_key(&guid.sweep_key(), key).ok()
    }

    /// The LID of a switch.
    pub fn switch_lid(&self, switch: usize) -> u16 {
        self.end_ports[self.graph.own_end_port(switch)].lids.base
    }
}

/// The end port of the manager.
fn manager_port(topology: &Topology, manager: usize) -> Result<PortId, SubnetError> {
    let node = topology.nodes().get(manager).ok_or(SubnetError::NoManager)?;
    if node.kind == NodeKind::Switch {
        return Ok(PortId { node: manager, port: 0 });
    }
    let mut cabled = node.ports().filter(|(_, port)| port.peer.is_some());
    let (port, _) =
        cabled.next().ok_or_else(|| SubnetError::ManagerIsAlone { name: node.name.clone() })?;
    Ok(PortId { node: manager, port })
}

struct Reached {
    /// For each node, whether it was found.
    node: Vec<bool>,
    end_ports: Vec<PortId>,
}

/// Finds nodes breadth first, as directed routes do: only switches pass them on.
fn discover(topology: &Topology, own: PortId) -> Result<Reached, SubnetError> {
    let mut reached = Reached { node: vec![false; topology.nodes().len()], end_ports: vec![own] };
    reached.node[own.node] = true;
    let mut seen = BTreeSet::from([own]);
    let mut queue = VecDeque::from([(own, 0)]);
    while let Some((here, hops)) = queue.pop_front() {
        let node = &topology.nodes()[here.node];
        let is_switch = node.kind == NodeKind::Switch;
        let leads_on = |&(number, _): &(u8, _)| is_switch || number == here.port && hops == 0;
        let peers = node.ports().filter(leads_on).filter_map(|(_, port)| port.peer);
        for peer in peers {
            let found = &topology.nodes()[peer.node];
            let is_switch = found.kind == NodeKind::Switch;
            let end = if is_switch { PortId { node: peer.node, port: 0 } } else { peer };
            reached.node[peer.node] = true;
            if !seen.insert(end) {
                continue;
            }
            if hops == MOST_HOPS {
                return Err(SubnetError::TooFar { name: found.name.clone() });
            }
            reached.end_ports.push(end);
            queue.push_back((end, hops + 1));
        }
    }
    Ok(reached)
}
