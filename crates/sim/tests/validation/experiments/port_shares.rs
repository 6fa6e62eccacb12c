//! Who gets what of a receiver's link when PFC alone divides it.
//!
//! The last switch hands the link to its ingress ports in turn, whatever comes by them: the frames
//! of each that it holds are limited alike, and leave in the order in which they came. Senders under
//! one switch that share an uplink there are limited alike by that switch.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, Routes};
use rocelab_sim::Plan;

/// The nodes between source and destination of a flow, by its number in the plan.
pub(super) fn path(plan: &Plan, flow: usize) -> Vec<NodeId> {
    let routes = Routes::new(&plan.topology, &plan.active_links)
        .expect("the topology has routes")
        .with_hash_seed(plan.seed);
    let adjacency = plan.topology.adjacency();
    let flow = &plan.flows[flow];
    let hash = plan.flow_hash(flow.source, flow.destination, flow.entropy);
    let mut nodes = vec![adjacency.ports_of(flow.source)[0].node];
    loop {
        let here = nodes[nodes.len() - 1];
        let port = routes.egress(here, flow.destination, hash).expect("there is a way");
        let next = adjacency.ports_of(here)[usize::from(port)].node;
        if next == flow.destination {
            return nodes;
        }
        nodes.push(next);
    }
}

/// The share of the receiver's link that each of the flows to it gets, if flows with a common last
/// uplink are those that share their first switch's uplink: by the flow's number in the plan.
pub(super) fn shares(plan: &Plan, flows: &[usize]) -> BTreeMap<usize, f64> {
    let mut by_ingress: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for &flow in flows {
        let path = path(plan, flow);
        let previous = path.len().checked_sub(2).map_or(plan.flows[flow].source, |hop| path[hop]);
        by_ingress.entry(previous).or_default().push(flow);
    }
    let ports = by_ingress.len() as f64;
    let share = |group: &Vec<usize>| 1.0 / ports / group.len() as f64;
    by_ingress
        .values()
        .flat_map(|group| group.iter().map(move |&flow| (flow, share(group))))
        .collect()
}
