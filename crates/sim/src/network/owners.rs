//! Which flow or connection a packet belongs to, for who is not its host: read from the plan, for a
//! node knows of no other but by frames.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_transport::QueuePairProfile;

use crate::Plan;

/// Whose queue pairs, and whose TCP connections, are whose. Kept where captures or notifications of
/// congestion ask for it, and nowhere else.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// By host and queue pair number.
    queue_pairs: BTreeMap<(NodeId, u32), Owner>,
    /// Flows, by host and TCP connection number.
    tcp_connections: BTreeMap<(NodeId, u32), u32>,
}

/// Whom a queue pair belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A flow, by its number in the plan.
    Flow(u32),
    /// A connection of an application, by its place in the plan.
    Connection(u32),
}

impl Owners {
    /// All of a plan, if anybody will ask.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let needs_qcn = plan.algorithms().iter().any(|algorithm| algorithm.needs_qcn());
        let is_asked = plan.capture.is_some() || plan.switches_notify() || plan.keys_may_differ();
        if !is_asked && !needs_qcn {
            return None;
        }
        let mut owners = Self::default();
        for (number, flow) in (0u32..).zip(&plan.flows) {
            let ends = [(flow.source, flow.source_qpn), (flow.destination, flow.destination_qpn)];
            for end in ends {
                if flow.is_tcp() {
                    owners.tcp_connections.insert(end, number);
                } else {
                    // That of a multicast group belongs to the flow that stands for all.
                    owners.queue_pairs.entry(end).or_insert(Owner::Flow(number));
                }
            }
        }
        for (number, connection) in crate::plan::network_connections(plan) {
            for end in &connection.ends {
                owners.queue_pairs.insert((end.host, end.qpn), Owner::Connection(number));
            }
        }
        Some(owners)
    }

    /// Whom a queue pair of a host belongs to.
    pub(super) fn of_queue_pair(&self, host: NodeId, qpn: u32) -> Option<Owner> {
        self.queue_pairs.get(&(host, qpn)).copied()
    }

    /// The place of the parameters of a queue pair of a host among those of the plan.
    pub(super) fn place(&self, plan: &Plan, host: NodeId, qpn: u32) -> Option<u32> {
        match self.of_queue_pair(host, qpn)? {
            Owner::Flow(number) => Some(plan.flows[number as usize].queue_pairs),
            Owner::Connection(number) => Some(plan.connections[number as usize].queue_pairs),
        }
    }

    /// The profile of a queue pair of a host.
    pub(super) fn profile<'a>(
        &self,
        plan: &'a Plan,
        host: NodeId,
        qpn: u32,
    ) -> Option<&'a QueuePairProfile> {
        let place = self.place(plan, host, qpn)?;
        plan.queue_pairs.get(place as usize).map(|profile| &**profile)
    }

    /// The flow of a TCP connection of a host.
    pub(super) fn of_tcp_connection(&self, host: NodeId, number: u32) -> Option<u32> {
        self.tcp_connections.get(&(host, number)).copied()
    }

    /// The queue pair of the sender of a packet that goes from one host to another, to a queue pair there.
    pub(super) fn sending_queue_pair(
        &self,
        plan: &Plan,
        (source, destination): (NodeId, NodeId),
        qpn: u32,
    ) -> Option<u32> {
        match self.of_queue_pair(destination, qpn)? {
            Owner::Connection(number) => {
                let ends = &plan.connections[number as usize].ends;
                ends.iter().find(|end| end.host == source).map(|end| end.qpn)
            }
            Owner::Flow(number) => {
                let flow = &plan.flows[number as usize];
                let is_source = flow.source == source;
                Some(if is_source { flow.source_qpn } else { flow.destination_qpn })
            }
        }
    }
}
