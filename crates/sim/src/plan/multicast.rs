//! Multicast groups, and who sends to them.

use std::ops::Range;

use rocelab_fabric::NodeId;
use rocelab_wire::MULTICAST_QPN;

use super::{FlowPlan, Plan};
pub use crate::workload::MulticastGroup;

/// What a plan has of multicast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastPlan {
    /// In the order of the scenario's text.
    pub groups: Vec<MulticastGroup>,
    /// In the order of their flows.
    pub sendings: Vec<MulticastSending>,
    /// Whether frames come to all hosts of the sender's broadcast domain, and not to members only.
    pub is_flooded: bool,
}

/// What one host sends to a group by one queue pair: each datagram once, for all members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastSending {
    /// The place of the group among [`MulticastPlan::groups`].
    pub group: u32,
    /// Who sends.
    pub source: NodeId,
    /// Its flows, by their numbers in the plan: one to each member but the sender, in the order of members. The work of the first is
    /// posted; its frames carry the others too.
    pub flows: Range<u32>,
}

impl MulticastPlan {
    /// What a flow belongs to, with its number, if the flow is to a member of a group.
    pub fn sending_of(&self, flow: u32) -> Option<(u32, &MulticastSending)> {
        let after = self.sendings.partition_point(|sending| sending.flows.start <= flow);
        let place = after.checked_sub(1)?;
        let sending = &self.sendings[place];
        sending.flows.contains(&flow).then_some((u32::try_from(place).ok()?, sending))
    }

    /// The group that a sending is to.
    pub fn group_of(&self, sending: &MulticastSending) -> &MulticastGroup {
        &self.groups[sending.group as usize]
    }
}

impl Plan {
    /// The flow that stands for all of those to which a flow of this number belongs: itself, if it is no flow to a
    /// member of a multicast group.
    pub fn posted_flow(&self, flow: u32) -> u32 {
        let multicast = self.roce.multicast.as_deref();
        let sending = multicast.and_then(|multicast| multicast.sending_of(flow));
        sending.map_or(flow, |(_, sending)| sending.flows.start)
    }

    /// The hosts and queue pairs that send to multicast groups.
    pub(crate) fn senders_to_groups(&self) -> impl Iterator<Item = (NodeId, u32)> {
        let multicast = self.roce.multicast.iter();
        let first = |sending: &MulticastSending| &self.flows[sending.flows.start as usize];
        let firsts = multicast.flat_map(|multicast| &multicast.sendings).map(first);
        firsts.map(|flow| (flow.source, flow.source_qpn))
    }

    /// How many sendings to multicast groups there are.
    pub(crate) fn sendings(&self) -> usize {
        self.roce.multicast.as_ref().map_or(0, |multicast| multicast.sendings.len())
    }

    /// The group of a flow to one of its members.
    pub fn group_of_flow(&self, flow: u32) -> Option<&MulticastGroup> {
        let multicast = self.roce.multicast.as_deref()?;
        let (_, sending) = multicast.sending_of(flow)?;
        Some(multicast.group_of(sending))
    }

    /// The flow to a member of the group that a sending of this number is to.
    pub(crate) fn flow_to_member(&self, sending: u32, member: NodeId) -> Option<&FlowPlan> {
        let sending = self.roce.multicast.as_ref()?.sendings.get(sending as usize)?;
        let flows = &self.flows[sending.flows.start as usize..sending.flows.end as usize];
        let place = flows.binary_search_by_key(&member, |flow| flow.destination).ok()?;
        flows.get(place)
    }

    /// The queue pair that a packet on its way is for, if it carries this number and hash: of a datagram for a group, that of the
    /// member that stands for all.
    pub(crate) fn receiving_queue_pair(&self, dest_qp: u32, flow_hash: u32) -> u32 {
        match self.sending(dest_qp, flow_hash) {
            Some((_, first)) => first.destination_qpn,
            None => dest_qp,
        }
    }

    /// The group of a packet on its way, and the flow that stands for all.
    pub(crate) fn sending(
        &self,
        dest_qp: u32,
        flow_hash: u32,
    ) -> Option<(&MulticastGroup, &FlowPlan)> {
        if dest_qp != MULTICAST_QPN {
            return None;
        }
        let multicast = self.roce.multicast.as_ref()?;
        let sending = multicast.sendings.get(flow_hash as usize)?;
        Some((multicast.group_of(sending), &self.flows[sending.flows.start as usize]))
    }
}
