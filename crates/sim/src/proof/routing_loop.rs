//! Static routes that lead frames in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, Routes};
use serde::Serialize;

use super::ports_towards::ports_towards;
use crate::Plan;

/// Switches that send frames round until their TTL ends, if they have one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoutingLoop {
    /// The source of the first frames that get there.
    pub from: String,
    /// The host that they are for, and do not reach.
    pub to: String,
    /// The switches in the direction of the frames, from that of the lowest number on.
    pub switches: Vec<String>,
    /// Directions of flows and connections whose frames get there.
    pub ways: u64,
    /// Whether switches forward by the tables of a subnet manager.
    pub by_tables: bool,
}

impl RoutingLoop {
    /// Those that frames of a plan's flows and connections get into, one way or the other.
    pub fn all_of(plan: &Plan) -> Vec<Self> {
        if plan.static_routes.is_empty() {
            return Vec::new(); // Shortest paths have none.
        }
        let Ok(routes) = plan.routes(&plan.active_links) else { return Vec::new() };
        let walk = Walk { plan, routes, adjacency: plan.topology.adjacency() };
        let mut found: BTreeMap<Vec<NodeId>, Self> = BTreeMap::new();
        let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
        for (from, to, entropy) in ways(plan) {
            let Some(circle) = walk.circle(from, to, entropy) else { continue };
            let switches = circle.iter().copied().map(name).collect();
            let known = found.entry(circle);
            let by_tables = plan.infiniband.is_some();
            let new = Self { from: name(from), to: name(to), switches, ways: 0, by_tables };
            known.or_insert(new).ways += 1;
        }
        found.into_values().collect()
    }
}

/// Source, destination and entropy field of what is sent, and of what answers it.
fn ways(plan: &Plan) -> impl Iterator<Item = (NodeId, NodeId, u32)> + '_ {
    // TCP is hashed by its ports, and left out.
    let flows = plan.flows.iter().filter(|flow| !flow.is_tcp());
    let flows = flows.map(|flow| (flow.source, flow.destination, flow.entropy));
    let ends = crate::plan::network_connections(plan).map(|(_, connection)| {
        let [client, server] = connection.ends.map(|end| end.host);
        (client, server, connection.entropy)
    });
    flows
        .chain(ends)
        .flat_map(move |(one, other, entropy)| {
            plan.entropies(entropy).map(move |entropy| (one, other, entropy))
        })
        .flat_map(|(one, other, entropy)| [(one, other, entropy), (other, one, entropy)])
}

struct Walk<'a> {
    plan: &'a Plan,
    routes: Routes,
    adjacency: Adjacency,
}

impl Walk<'_> {
    /// The circle that frames get into, from its lowest switch on; none if they arrive, or are dropped
    /// for want of a route.
    fn circle(&self, from: NodeId, to: NodeId, entropy: u32) -> Option<Vec<NodeId>> {
        let hash = self.plan.flow_hash(from, to, entropy);
        let mut passed: Vec<NodeId> = Vec::new();
        // Those from which no circle is reached.
        let mut known: BTreeSet<NodeId> = BTreeSet::new();
        // Each with the number of switches on the way to it.
        let mut ahead = vec![(self.adjacency.ports_of(from).first()?.node, 0)];
        while let Some((node, behind)) = ahead.pop() {
            known.extend(passed.drain(behind..));
            if node == to || known.contains(&node) {
                continue;
            }
            if let Some(first) = passed.iter().position(|&switch| switch == node) {
                let mut circle = passed.split_off(first);
                let lowest = (0..circle.len()).min_by_key(|&at| circle[at])?;
                circle.rotate_left(lowest);
                return Some(circle);
            }
            passed.push(node);
            let ports = ports_towards(self.plan, &self.routes, node, (to, hash));
            let links = self.adjacency.ports_of(node);
            let next = ports.filter_map(|port| links.get(usize::from(port)));
            // The one on top is the next, and that of the first port comes first.
            let others = ahead.len();
            ahead.extend(next.map(|link| (link.node, passed.len())));
            ahead[others..].reverse();
        }
        None
    }
}

impl fmt::Display for RoutingLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, switches, by_tables, .. } = self;
        let first = switches.first().map_or("", String::as_str);
        write!(
            f,
            "`{to}` cannot be reached from `{from}`: {} lead in a circle, {} -> {first}; change {} of one of \
             these switches",
            if *by_tables { "forwarding tables" } else { "static routes" },
            switches.join(" -> "),
            if *by_tables { "the table" } else { "a `[[route]]`" }
        )?;
        match self.ways {
            0 | 1 => Ok(()),
            ways => write!(f, " ({ways} directions of flows and connections end there)"),
        }
    }
}
