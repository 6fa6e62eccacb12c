//! What each switch and port goes by.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{
    ForwardingPlane, LinkFlowControl, LoadBalancing, NodeId, OtherCodePoints, PortExtras, Priority,
    ShaperConfig, Shapers, SwitchConfig, SwitchForwarding, Trust,
};
use rocelab_transport::Marking;
use rocelab_units::Duration;
use rocelab_wire::Encapsulation;

use super::{Plan, RocePlan};

impl Plan {
    /// What a switch goes by.
    pub fn switch_at(&self, switch: NodeId) -> &SwitchConfig {
        self.switch_overrides.of_switch(switch, &self.switch)
    }

    /// What a port goes by, of a switch or of a host, which has the parameters of all switches.
    pub fn port_at(&self, node: NodeId, port: u16) -> &SwitchConfig {
        self.switch_overrides.of_port((node, port), &self.switch)
    }

    /// The flow control of the link of a port: what the port of a switch goes by. A host has that of its switch.
    pub fn flow_control_at(
        &self,
        node: NodeId,
        port: u16,
        adjacency: &Adjacency,
    ) -> LinkFlowControl {
        let far = adjacency.ports_of(node).get(usize::from(port));
        let far =
            far.filter(|far| !self.topology.is_switch(node) && self.topology.is_switch(far.node));
        let Some(far) = far else { return self.port_at(node, port).flow_control };
        let number = adjacency.port_of_link(far.node, far.link).unwrap_or(0);
        self.port_at(far.node, u16::try_from(number).unwrap_or(u16::MAX)).flow_control
    }

    /// The egress queue, 0 to 7, that frames of a priority wait in at a port.
    pub fn queue_of(&self, node: NodeId, port: u16, priority: u8) -> u8 {
        let mut named = self.port_at(node, port).queue_of.iter();
        let named = named.find(|(named, _)| named.number() == priority);
        named.map_or(priority, |(_, &queue)| queue)
    }

    /// The ports with parameters of their own, in the order of nodes.
    pub(crate) fn ports_of_their_own(&self) -> impl Iterator<Item = (NodeId, u16)> + '_ {
        self.switch_overrides.ports()
    }

    /// Whether frames cut through a switch.
    pub fn cuts_through(&self, node: NodeId) -> bool {
        self.topology.is_switch(node)
            && self.switch_at(node).forwarding == SwitchForwarding::CutThrough
    }

    /// How a node chooses among several shortest paths; a host has no choice.
    pub fn load_balancing_of(&self, node: NodeId) -> LoadBalancing {
        if self.topology.is_switch(node) {
            self.switch_at(node).load_balancing
        } else {
            LoadBalancing::Ecmp
        }
    }

    /// How a node finds the ports by which it forwards; a host does not forward.
    pub fn forwarding_plane_of(&self, node: NodeId) -> ForwardingPlane {
        if self.topology.is_switch(node) {
            self.switch_at(node).forwarding_plane
        } else {
            ForwardingPlane::Auto
        }
    }

    /// Whether every switch always knows every host, and does as routes say.
    pub fn all_switches_follow_routes(&self) -> bool {
        let mut switches = self.topology.switches();
        self.known_hosts.are_complete()
            && self.roce.domains.is_none()
            && switches.all(|switch| self.forwarding_plane_of(switch).follows_routes())
    }

    /// Whether switches may send congestion notification packets themselves.
    pub(crate) fn switches_notify(&self) -> bool {
        self.ingress.iter().any(|planned| planned.condition.notifies())
    }

    /// Whether packets of one flow may take several paths: by their entropy, or by choice of a switch.
    pub fn spreads_packets(&self) -> bool {
        let mut switches = self.topology.switches();
        self.common_queue_pair().path_entropy.numbers() > 1
            || switches.any(|switch| self.load_balancing_of(switch) != LoadBalancing::Ecmp)
    }

    /// Time that a frame spends in a node before it is queued; none in a host.
    pub fn latency_of(&self, node: NodeId) -> Duration {
        if self.topology.is_switch(node) { self.switch_at(node).latency } else { Duration::ZERO }
    }

    /// What few ports have, of this one.
    pub(crate) fn port_extras(&self, node: NodeId, port: u16) -> Option<Box<PortExtras>> {
        let config = self.port_at(node, port);
        let is_switch = self.topology.is_switch(node);
        let shapers = Shapers::new(self.shapers_of(node, port));
        let extras = PortExtras {
            queue_of: (is_switch && !config.queue_of.is_empty()).then(|| queues(config)),
            shapers,
            pause_response: config.pause_response,
            ..PortExtras::default()
        };
        let is_plain = extras.queue_of.is_none()
            && extras.shapers.is_none()
            && extras.pause_response == Duration::ZERO;
        (!is_plain).then(|| Box::new(extras))
    }

    /// The shapers of a port of a switch, or of a host, by queue.
    pub(crate) fn shapers_of(&self, node: NodeId, port: u16) -> &BTreeMap<Priority, ShaperConfig> {
        if self.topology.is_switch(node) {
            &self.port_at(node, port).shapers
        } else {
            &self.host_shapers
        }
    }

    /// The priority of the notifications of a port's congestion points, 0 to 7.
    pub(crate) fn cnm_priority(&self, switch: NodeId, port: u16) -> u8 {
        self.port_at(switch, port).qcn.as_ref().map_or(0, |qcn| qcn.cnm_priority)
    }

    /// The markings (by number) of frames that a switch puts in a lossless priority.
    pub(crate) fn lossless_as_sent(&self, switch: NodeId) -> Vec<bool> {
        let lossless = &self.switch_at(switch).lossless;
        let classes = self.priorities_in(switch);
        classes.iter().map(|class| lossless.contains(class)).collect()
    }

    /// In a switch: the priority of frames of each marking, by the field that it trusts.
    pub(crate) fn priorities_in(&self, switch: NodeId) -> Vec<u8> {
        if self.infiniband.is_some() {
            // A packet has a service level, and no code points.
            return (0..8).map(|level| self.lane_of(level)).collect();
        }
        let config = self.switch_at(switch);
        let classes = self.markings.all().iter().map(|marking| {
            let Some((code, usual)) = code_point(config.trust, &self.roce, marking) else {
                return config.default_priority;
            };
            let usual = match config.other_code_points {
                OtherCodePoints::UpperBits => usual,
                OtherCodePoints::DefaultPriority => config.default_priority,
            };
            config.priority_of.get(&code.to_string()).copied().unwrap_or(usual)
        });
        classes.collect()
    }

    /// The code points of the field that a switch trusts which frames with one of these markings have.
    pub(crate) fn code_points_in(
        &self,
        switch: &SwitchConfig,
        markings: impl Iterator<Item = u8>,
    ) -> BTreeSet<u8> {
        let of = |number| code_point(switch.trust, &self.roce, &self.markings.of(number));
        markings.filter_map(of).map(|(code, _)| code).collect()
    }
}

/// What a frame has in the trusted field, and the priority that this usually means.
fn code_point(trust: Trust, roce: &RocePlan, marking: &Marking) -> Option<(u8, u8)> {
    let is_v1 = roce.encapsulation == Encapsulation::V1 || !marking.has_ip;
    let upper_bits = marking.traffic_class >> 5;
    let tag = roce.tagged.then_some((marking.pcp, marking.pcp));
    match trust {
        Trust::Auto => tag.or(Some((upper_bits, upper_bits))),
        Trust::Pcp => tag,
        Trust::Dscp => (!is_v1).then_some((marking.dscp(), upper_bits)),
        Trust::TrafficClass => is_v1.then_some((marking.traffic_class, upper_bits)),
    }
}

/// The egress queue of each priority.
pub(crate) fn queues(config: &SwitchConfig) -> [u8; 8] {
    let mut queues = [0, 1, 2, 3, 4, 5, 6, 7];
    for (priority, &queue) in &config.queue_of {
        queues[usize::from(priority.number())] = queue;
    }
    queues
}
