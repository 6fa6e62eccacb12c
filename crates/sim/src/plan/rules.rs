//! What follows from whose rules hold.

use rocelab_fabric::{INTERPACKET_GAP, PREAMBLE, TopologyLink};
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::TelemetryKind;

use super::{Plan, ProfilePlan};

impl Plan {
    /// Payload bytes of a full packet.
    pub fn path_mtu(&self) -> u32 {
        let native = self.common_queue_pair().path_mtu.bytes();
        self.profile.hpcc_ns3().map_or(native, |plan| plan.payload_bytes)
    }

    /// Byte times that a frame occupies its link for beyond its own bytes: preamble and gap.
    pub(crate) fn gap_bytes(&self) -> u64 {
        let is_ethernet = self.profile.hpcc_ns3().is_none() && self.infiniband.is_none();
        if is_ethernet { u64::from(PREAMBLE + INTERPACKET_GAP) } else { 0 }
    }

    /// How senders react to congestion: every congestion control in use.
    pub fn algorithms(&self) -> Vec<&Algorithm> {
        match &self.profile {
            ProfilePlan::Roce => {
                self.queue_pairs.iter().map(|profile| &profile.congestion_control).collect()
            }
            ProfilePlan::HpccNs3(plan) => vec![&plan.algorithm],
        }
    }

    /// Whether switches round what they write into packets at random.
    pub(crate) fn rounds_telemetry(&self) -> bool {
        let is_rounded =
            |algorithm: &&Algorithm| algorithm.telemetry().is_some_and(TelemetryKind::is_random);
        self.algorithms().iter().any(is_rounded)
    }

    /// When a link fails, and which one, by its place in the topology: of parallel links between
    /// the nodes that are named the last, which is the one that carries all.
    pub fn link_failure(&self) -> Option<(SimTime, u32)> {
        let down = self.profile.hpcc_ns3()?.link_down?;
        let joins = |link: &TopologyLink| {
            (link.a, link.b) == (down.a, down.b) || (link.a, link.b) == (down.b, down.a)
        };
        let place = self.topology.links.iter().rposition(joins)?;
        Some((down.at, u32::try_from(place).ok()?))
    }

    /// The rate of the first host's first link, which stands for that of all.
    pub fn nic_rate(&self) -> Bandwidth {
        let host = self.topology.hosts().next();
        let ends_there = |link: &&TopologyLink| Some(link.a) == host || Some(link.b) == host;
        self.topology.links.iter().find(ends_there).map_or(Bandwidth::default(), |link| link.rate)
    }
}
