//! How long pings take, alone in the network.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_host::{Alone, Kind};
use rocelab_units::{Bandwidth, Duration};
use rocelab_wire::Opcode;

use super::ways::{Question, Way};
use super::{UnloadedNetwork, each_way, there_and_back};
use crate::plan::{MonitoringPlan, Plan};

/// The times of pings in an unloaded network; keeps what many pairs have in common.
#[derive(Debug)]
pub(crate) struct UnloadedPings<'a> {
    plan: &'a Plan,
    mesh: &'a MonitoringPlan,
    adjacency: Adjacency,
    network: UnloadedNetwork,
    /// Time in the network, by what it follows from; none where there is no way.
    known: BTreeMap<Ends, Option<Duration>>,
    /// What each host that takes time adds to a ping or an answer that it sends, and to one that it receives.
    hosts: BTreeMap<NodeId, (Duration, Duration)>,
}

/// What the time between two hosts follows from.
type Ends = (End, End);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Hosts at this node whose links are alike.
    Alike(NodeId, Bandwidth, Duration),
    /// One host, where routes may be its own.
    One(NodeId),
}

impl<'a> UnloadedPings<'a> {
    /// Of the mesh of a plan; none without one.
    pub(crate) fn new(plan: &'a Plan) -> Option<Self> {
        let mesh = plan.monitoring.as_ref()?;
        let bytes = mesh.rules.bytes;
        let alone = |near, far| {
            let kind = Kind::Outbound;
            Alone { near, far, kind, first: bytes, last: bytes, is_answered: false }.added()
        };
        let hosts = plan.host_models.iter().map(|(&host, model)| {
            let profile = Some(&model.profile);
            (host, (alone(profile, None), alone(None, profile)))
        });
        Some(Self {
            plan,
            mesh,
            adjacency: plan.topology.adjacency(),
            network: UnloadedNetwork::new(plan),
            known: BTreeMap::new(),
            hosts: hosts.collect(),
        })
    }

    /// From posting a ping until the program has found its answer, at the least; `None` if there is no way.
    pub(crate) fn time_of(&mut self, (from, to): (NodeId, NodeId)) -> Option<Duration> {
        let ends = (self.end(from), self.end(to));
        let known = self.known.get(&ends).copied();
        let in_network = known.unwrap_or_else(|| self.in_network((from, to)));
        self.known.insert(ends, in_network);
        let of_host = |host: NodeId| self.hosts.get(&host).copied().unwrap_or_default();
        let ((sends, finds), (answers, receives)) = (of_host(from), of_host(to));
        Some(in_network? + sends + receives + answers + finds)
    }

    fn end(&self, host: NodeId) -> End {
        // Those of subnets of InfiniBand are static routes too.
        let has_own_routes = !self.plan.static_routes.is_empty()
            || self.plan.roce.domains.is_some()
            || !self.plan.roce.v1_hosts.is_empty();
        match self.adjacency.ports_of(host).first() {
            Some(port) if !has_own_routes => {
                let link = &self.plan.topology.links[port.link as usize];
                End::Alike(port.node, link.rate, link.delay)
            }
            _ => End::One(host),
        }
    }

    fn in_network(&mut self, (from, to): (NodeId, NodeId)) -> Option<Duration> {
        let ways = self.network.paths.between(from, to, Question::Quickest);
        let opcode = Opcode::UdSendOnlyWithImmediate;
        let len = |host| self.network.frames_from(host).len(opcode, self.mesh.rules.bytes.into());
        let (ping, answer) = (len(from), len(to));
        let times = each_way(&ways, Way::quickest)
            .map(|(forward, backward)| there_and_back(&forward, ping, &backward, answer));
        times.min().map(Duration::from_ps)
    }
}
