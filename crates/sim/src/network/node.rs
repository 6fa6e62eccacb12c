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
    /// The priority here of frames of each marking.
    pub(super) priorities: Priorities,
    pub(super) buffer: P::Buffer,
    pub(super) node: NodeId,
    /// Bytes of frames that were lost from its queues and are still accounted for.
    pub(super) unreturned: u64,
}

/// The priority in a switch of frames of each marking.
#[derive(Debug)]
pub(super) struct Priorities {
    /// Of the first markings, those of the eight priorities.
    of_classes: [u8; 8],
    /// Of all others.
    of_others: Box<[u8]>,
}

impl Priorities {
    /// By number of the marking.
    pub(super) fn new(all: &[u8]) -> Self {
        let of_classes = std::array::from_fn(|number| all.get(number).copied().unwrap_or(0));
        Self { of_classes, of_others: all.get(8..).unwrap_or_default().into() }
    }

    #[inline(always)] // It is one comparison.
    pub(super) fn of(&self, marking: u8) -> u8 {
        match self.of_classes.get(usize::from(marking)) {
            Some(&priority) => priority,
            None => self.of_other(marking),
        }
    }

    /// By number of the marking.
    pub(super) fn all(&self) -> Vec<u8> {
        self.of_classes.iter().chain(&self.of_others).copied().collect()
    }

    fn of_other(&self, marking: u8) -> u8 {
        let place = usize::from(marking).checked_sub(self.of_classes.len());
        place.and_then(|place| self.of_others.get(place)).copied().unwrap_or(0)
    }
}

impl<P: Profile> Host<P> {
    /// Whether it drops all that arrives.
    pub(super) fn handles_nothing(&self) -> bool {
        self.stopped || self.down > 0
    }
}
