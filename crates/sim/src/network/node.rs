//! Hosts and switches.

use rocelab_engine::TieOrder;
use rocelab_fabric::NodeId;

use crate::profile::Profile;

/// A host or switch, and its ports.
#[derive(Debug)]
pub(super) struct Node<P: Profile> {
    pub(super) role: Role,
    /// Its first port among all ports.
    pub(super) first_port: u32,
    pub(super) order: <P::Order as TieOrder>::OfNode,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// By its place among the hosts.
    Host(u32),
    /// By its place among the switches.
    Switch(u32),
    /// In another part of the network, by its number.
    Elsewhere(u32),
}

/// A host. The fields stand in the order of their use.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Host<P: Profile> {
    pub(super) node: NodeId,
    pub(super) port: u32,
    /// Of what arrived.
    pub(super) digest: u64,
    pub(super) end_host: P::EndHost,
    /// Whether it handles nothing that arrives.
    pub(super) stopped: bool,
    /// How many failures hold it down.
    pub(super) down: u32,
}

/// A switch. The fields stand in the order of their use.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Switch<P: Profile> {
    /// The priority here of frames of each priority.
    pub(super) priorities: [u8; 8],
    pub(super) buffer: P::Buffer,
    pub(super) node: NodeId,
    /// Bytes of frames that were lost from its queues and are still accounted for.
    pub(super) unreturned: u64,
}

impl<P: Profile> Host<P> {
    /// Whether it drops all that arrives.
    pub(super) fn handles_nothing(&self) -> bool {
        self.stopped || self.down > 0
    }
}
