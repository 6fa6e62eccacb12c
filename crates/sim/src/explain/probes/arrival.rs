//! Packets that arrive.

use std::rc::Rc;

use rocelab_fabric::{NodeId, PacketId};

use super::super::trail::Trail;
use crate::network::watch::Carried;

/// What is known of an arrival before it happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    pub(super) id: PacketId,
    pub(super) port: u32,
    pub(super) egress: u16,
    pub(super) destination: NodeId,
    pub(super) packet: Carried,
    pub(super) pair: u32,
}

/// A packet that has arrived at an end of a pair.
pub(super) struct Delivered {
    pub(super) pair: u32,
    pub(super) end: usize,
    pub(super) trail: Rc<Trail>,
}
