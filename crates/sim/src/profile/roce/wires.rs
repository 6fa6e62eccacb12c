//! Transfers over NVLink that are under way.
//!
//! Those from one end of a connection to the other arrive in the order in which they left, because all take the same time:
//! the first is that of the event which says that one arrives.

use std::collections::{BTreeMap, VecDeque};

use rocelab_fabric::NodeId;

use super::nvlink::ConnectionSide;
use crate::Plan;
use crate::profile::{DistantTransfer, NvlinkTransfer};

/// Transfers that are under way to hosts of one part of a network, and those that have left there for hosts of others.
#[derive(Debug, Default)]
pub(super) struct Wires {
    /// By the end that they go to.
    under_way: BTreeMap<ConnectionSide, VecDeque<NvlinkTransfer>>,
    /// Left for hosts of other parts, and not yet told there.
    distant: Vec<(NodeId, DistantTransfer)>,
}

impl Wires {
    /// A transfer has left for a host here.
    pub(super) fn put(&mut self, transfer: NvlinkTransfer) {
        self.to((transfer.connection, transfer.to)).push_back(transfer);
    }

    /// A transfer has left for a host of another part.
    pub(super) fn put_elsewhere(&mut self, host: NodeId, transfer: DistantTransfer) {
        self.distant.push((host, transfer));
    }

    /// Takes what has left for hosts of other parts, with those hosts.
    pub(super) fn take_distant(&mut self) -> Vec<(NodeId, DistantTransfer)> {
        std::mem::take(&mut self.distant)
    }

    /// The transfer whose first byte is at this end now.
    pub(super) fn take(&mut self, end: ConnectionSide) -> Option<NvlinkTransfer> {
        self.under_way.get_mut(&end)?.pop_front()
    }

    /// What is under way to an end.
    pub(super) fn to(&mut self, end: ConnectionSide) -> &mut VecDeque<NvlinkTransfer> {
        self.under_way.entry(end).or_default()
    }

    /// How many are under way, and their payload (bytes).
    pub(super) fn totals(&self) -> (u64, u64) {
        let all = self.under_way.values().flatten();
        all.fold((0, 0), |(count, bytes), one| (count + 1, bytes + u64::from(one.bytes)))
    }
}

/// Whether a transfer goes to a host here, over NVLink.
pub(super) fn goes_here(
    plan: &Plan,
    transfer: &NvlinkTransfer,
    is_here: impl Fn(NodeId) -> bool,
) -> bool {
    let connection = plan.connections.get(transfer.connection as usize);
    let to = connection.filter(|connection| connection.is_nvlink);
    to.is_some_and(|connection| is_here(connection.end(transfer.to).host))
}
