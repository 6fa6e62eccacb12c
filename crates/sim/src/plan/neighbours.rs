//! How hosts find the MAC addresses of their next hops.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use rocelab_fabric::{DomainFrame, NodeId};
use rocelab_units::Duration;
use rocelab_wire::{Gid, MacAddress};

use super::Plan;
use crate::scenario::IpVersion;

/// Hosts ask for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourPlan {
    /// By ARP, or by Neighbour Discovery.
    pub ip: IpVersion,
    /// Length of a question or an answer, with FCS (bytes).
    pub frame_len: u16,
    /// The number of the code points of both.
    pub marking: u8,
    /// How long an answer holds.
    pub reachable_time: Duration,
    /// How long after the use of an older one it is asked for again.
    pub delay: Duration,
    /// Time from one question to the next.
    pub retransmit: Duration,
    /// Questions without an answer until flows fail, above 0.
    pub attempts: u8,
    /// By node: the node at the other end of a host's link.
    pub far: Vec<NodeId>,
    /// By node: the number of a host's subnet, from 1; 0: none.
    pub subnets: Vec<u32>,
    /// By host and router: the IPv4 address that the host knows the router by.
    pub routers: BTreeMap<(NodeId, NodeId), Ipv4Addr>,
}

impl NeighbourPlan {
    /// The host or router whose address a host asks for before it sends to another; none if it asks for nothing: it has version 1
    /// of RoCE, or no way.
    pub(crate) fn asked(
        &self,
        plan: &Plan,
        (source, destination, is_rdma): (NodeId, NodeId, bool),
    ) -> Option<NodeId> {
        if is_rdma && plan.roce.is_v1(source) {
            return None;
        }
        if let Some(domains) = &plan.roce.domains {
            // The first hop does not depend on the hash.
            let frame = DomainFrame { source, destination, crossed: 0, is_ip: true, hash: 0 };
            return domains.place(&frame).map(|place| place.target);
        }
        let [own, theirs] = [source, destination].map(|host| self.subnets[host as usize]);
        // A host asks for who has an address of its own subnet; the router between the two answers.
        let is_near = own != 0 && own == theirs;
        Some(if is_near { destination } else { self.far[source as usize] })
    }

    /// The IP address by which a host, which is the other end of a question, knows a host or router.
    pub(crate) fn address(
        &self,
        plan: &Plan,
        (host, node): (NodeId, NodeId),
        mac: MacAddress,
    ) -> IpAddr {
        if plan.topology.is_host(node) {
            return plan.roce.addresses.ip(self.ip, node);
        }
        match self.ip {
            IpVersion::Ipv4 => {
                let address = self.routers.get(&(host, node)).copied();
                IpAddr::V4(address.unwrap_or(Ipv4Addr::UNSPECIFIED))
            }
            // Routers are known by link-local addresses (RFC 4861, section 4.2).
            IpVersion::Ipv6 => IpAddr::V6(Gid::from_mac(mac).to_ipv6()),
        }
    }
}
