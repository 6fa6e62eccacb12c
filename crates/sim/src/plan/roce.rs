//! How frames look.

use std::collections::BTreeSet;
use std::sync::Arc;

use rocelab_fabric::{Domains, NodeId};
use rocelab_wire::{
    Encapsulation, Gid, Lrh, Opcode, TelemetryKind, encapsulation_len, frame_len,
    infiniband_frame_len,
};

use super::multicast::MulticastPlan;
use super::neighbours::NeighbourPlan;
use super::partitions::{Partitions, QueuePairKeys};
use crate::address::Addresses;
use crate::scenario::GidKind;

/// How frames look and which class they travel in.
#[derive(Clone, Debug)]
pub struct RocePlan {
    /// RoCE v1, or v2 over IPv4 or IPv6: of all hosts but `v1_hosts`.
    pub encapsulation: Encapsulation,
    /// Whether packets have an LRH in place of Ethernet's header and the GRH of v1, by whose rules all else goes.
    pub is_infiniband: bool,
    /// On InfiniBand, each host has 2 to the power of it LIDs; 0 otherwise.
    pub lmc: u8,
    /// Hosts that have v1 where the others have v2.
    pub v1_hosts: BTreeSet<NodeId>,
    /// The broadcast domains, where bridges and routers are in one network.
    pub domains: Option<Arc<Domains>>,
    /// What the GIDs of v1 are made of.
    pub gid: GidKind,
    /// The addresses of hosts.
    pub addresses: Arc<Addresses>,
    /// Whether frames carry an 802.1Q tag with the priority in its PCP.
    pub tagged: bool,
    /// VLAN identifier of each node (by [`NodeId`](rocelab_fabric::NodeId); 0 for none).
    pub vlans: Vec<u16>,
    /// Hop limit or TTL of a new frame.
    pub hop_limit: u8,
    /// Where connections are made by messages; none: out of band, at no cost.
    pub connection_manager: Option<CmPlan>,
    /// Where hosts ask for the MAC addresses of next hops.
    pub neighbours: Option<NeighbourPlan>,
    /// Where hosts send to multicast groups.
    pub multicast: Option<Arc<MulticastPlan>>,
    /// P_Key tables of hosts.
    pub partitions: Partitions,
    /// Keys of queue pairs, by the place of their parameters in [`Plan::queue_pairs`](super::Plan::queue_pairs).
    pub keys: Vec<QueuePairKeys>,
}

impl RocePlan {
    /// Whether a host has version 1.
    pub fn is_v1(&self, host: NodeId) -> bool {
        self.encapsulation == Encapsulation::V1 || self.v1_hosts.contains(&host)
    }

    /// How the frames of a host look.
    pub fn encapsulation_of(&self, host: NodeId) -> Encapsulation {
        if self.is_v1(host) { Encapsulation::V1 } else { self.encapsulation }
    }

    /// Bytes before the BTH of a host's packets.
    pub(crate) fn encapsulation_len(&self, host: NodeId) -> u16 {
        let len = match self.is_infiniband {
            true => Lrh::LEN,
            false => encapsulation_len(self.encapsulation_of(host), self.tagged),
        };
        u16::try_from(len).unwrap_or(u16::MAX)
    }

    /// Bytes of a frame of a host on a link, with its FCS (or the delimiters of InfiniBand).
    pub(crate) fn frame_len(
        &self,
        encapsulation: Encapsulation,
        telemetry: Option<TelemetryKind>,
        (opcode, payload): (Opcode, usize),
    ) -> usize {
        match telemetry {
            carried if self.is_infiniband => {
                let telemetry = carried.map_or(0, |kind| kind.len_in(opcode));
                infiniband_frame_len(opcode, payload) + telemetry
            }
            None => frame_len(encapsulation, self.tagged, opcode, payload),
            Some(kind) => kind.frame_len(encapsulation, self.tagged, opcode, payload),
        }
    }

    /// How the frames of any host look.
    pub(crate) fn encapsulations(&self) -> impl Iterator<Item = Encapsulation> {
        let v1 = (!self.v1_hosts.is_empty()).then_some(Encapsulation::V1);
        std::iter::once(self.encapsulation).chain(v1)
    }

    /// The GID that a host sends from.
    pub(crate) fn gid_of(&self, host: NodeId) -> Gid {
        self.addresses.gid(self.encapsulation_of(host), self.gid, host)
    }

    /// The GID that `sender` sends to for a host: that of its own version of RoCE, or what it takes for that.
    pub(crate) fn gid_at_peer(&self, sender: NodeId, host: NodeId) -> Gid {
        self.addresses.gid_at_peers(self.encapsulation_of(sender), self.gid, host)
    }

    /// The bits of a flow's entropy that say to which LID of a host it goes: none on Ethernet.
    pub(crate) const fn path_bits_mask(&self) -> u32 {
        (1 << self.lmc) - 1
    }

    /// UDP source port (v2) or flow label (v1) of management datagrams.
    pub(crate) fn management_entropy(&self) -> u32 {
        /// The first port of the range that RoCE v2 sends from.
        const FIRST_PORT: u32 = 0xc000;
        if self.encapsulation == Encapsulation::V1 { 0 } else { FIRST_PORT }
    }
}

/// The connection manager of every host. Times are codes of 5 bits: 4.096 us x 2^n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CmPlan {
    /// Within which time a host answers, 0 to 31.
    pub response_timeout: u8,
    /// How often a message is sent again, 0 to 15.
    pub retries: u8,
    /// How long a packet may be on its way, 0 to 31.
    pub packet_lifetime: u8,
    /// Priority of its datagrams, 0 to 7.
    pub priority: u8,
}
