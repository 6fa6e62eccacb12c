//! Routes: by which ports a switch forwards to a host.
//!
//! A switch forwards along every shortest path (equal-cost multipath, ECMP), counted in links. All
//! hosts of one switch share an entry, and switches with equal entries share a row, so what is
//! kept grows with the variety of a network, not with its hosts: 131,072 servers under 6,656
//! switches of a three-tier Clos need 130 rows.
//!
//! ```text
//! destination --> attachment --> last switch? its port
//!                            \-> column   switch --> row      cell (row, column) --> ports
//! ```
//!
//! Callers only see [`Routes::next_hops`] and [`Routes::egress`]. Static routes
//! ([`Routes::with_static_routes`]) take places in the table.

mod build;
mod distribution_tree;
mod error;
pub(crate) mod hash;
mod hpcc_ns3;
mod path;
mod port_sets;
mod static_routes;

use std::collections::BTreeMap;

use crate::topology::{Adjacency, NodeId, Topology};

pub use distribution_tree::DistributionTree;
pub use error::{PathError, RouteError};
pub use hash::{FiveTuple, LayerTwoFlow};
pub use hpcc_ns3::{HostPair, HpccNs3Routes, PairProperties, PathsTo};
use port_sets::{PortSetId, PortSets};
pub use static_routes::StaticRoute;

/// The forwarding tables of all switches.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Indexed by [`NodeId`].
    attachments: Vec<Attachment>,
    /// Attachments of the hosts that have static routes, whose entries in `attachments` point to
    /// columns of their own.
    attached: BTreeMap<NodeId, Attachment>,
    /// The row of each switch, indexed by [`NodeId`]; [`NONE`] for a host.
    rows: Vec<u32>,
    /// Row by row. There is a column for each switch with hosts (its own cell in it is never read),
    /// and one for each host with static routes.
    cells: Vec<PortSetId>,
    columns: usize,
    /// The bits of a flow's hash that say to which address of a host it goes: 0, or where hosts have several, each has a column
    /// for each of them and one for all ([`Routes::with_tables`]).
    path_mask: u32,
    sets: PortSets,
    seed: u64,
    adjacency: Adjacency,
}

/// No switch, row or column.
const NONE: u32 = u32::MAX;

/// Where a host is attached.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    /// Its switch; [`NONE`] for a node that is a switch, a host without an active link to a switch,
    /// and a host with static routes.
    switch: NodeId,
    /// The column of that switch, or of this host if it has static routes.
    column: u32,
    /// The switch's port to the host.
    port: u16,
}

impl Attachment {
    const DETACHED: Self = Self { switch: NONE, column: NONE, port: 0 };
}

impl Routes {
    /// The routes over the links that are `active`, by index into [`Topology::links`].
    ///
    /// Parts of the network may be out of reach of each other. Port numbers count inactive links
    /// too.
    ///
    /// # Errors
    /// What the topology or the list of links has that routes cannot represent.
    pub fn new(topology: &Topology, active: &[bool]) -> Result<Self, RouteError> {
        build::build(topology, active)
    }

    /// The same routes with another seed for the choice among equal paths at all switches; the
    /// default is 0.
    #[must_use]
    pub fn with_hash_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The ports by which `switch` may forward to the host `destination`, ascending. Empty if there
    /// is no path, or if `switch` is not a switch or `destination` not a host.
    #[inline]
    pub fn next_hops(&self, switch: NodeId, destination: NodeId) -> &[u16] {
        let Some(attachment) = self.attachments.get(destination as usize) else { return &[] };
        if attachment.switch == switch {
            let attached = attachment.column != NONE;
            return if attached {
                self.sets.ports(PortSetId::single(attachment.port))
            } else {
                &[]
            };
        }
        self.cell(switch, attachment, self.any_path()).map_or(&[], |set| self.sets.ports(set))
    }

    /// The column of a host, behind its first one, that has the ports for any of its addresses.
    #[inline]
    fn any_path(&self) -> u32 {
        if self.path_mask == 0 { 0 } else { self.path_mask + 1 }
    }

    /// The port by which `switch` forwards a flow to the host `destination`: one of
    /// [`Routes::next_hops`]. `hash` is the flow's hash ([`FiveTuple::flow_hash`],
    /// [`LayerTwoFlow::flow_hash`]).
    ///
    /// All packets of a flow take the same port. If there is only one, the hash is not used, but for the address of a host that
    /// has [several](Routes::with_tables).
    #[inline(always)] // Inlined where frames start, the hottest of its callers.
    pub fn egress(&self, switch: NodeId, destination: NodeId, hash: u32) -> Option<u16> {
        let attachment = self.attachments.get(destination as usize)?;
        if attachment.switch == switch {
            return (attachment.column != NONE).then_some(attachment.port);
        }
        let set = self.cell(switch, attachment, hash & self.path_mask)?;
        if let Some(port) = self.sets.as_single(set) {
            return Some(port);
        }
        let ports = self.sets.ports(set);
        let mixed = hash::mix(hash, hash::switch_seed(self.seed, switch));
        ports.get(hash::reduce(mixed, ports.len())).copied()
    }

    /// Whether `switch` may forward to the host `destination` over this link; `adjacency` must be
    /// of the same network.
    pub fn forwards_over(
        &self,
        adjacency: &Adjacency,
        switch: NodeId,
        destination: NodeId,
        link: u32,
    ) -> bool {
        let ports = adjacency.ports_of(switch);
        let is_link =
            |port: &u16| ports.get(usize::from(*port)).is_some_and(|far| far.link == link);
        self.next_hops(switch, destination).iter().any(is_link)
    }

    /// The row of a switch.
    pub(crate) fn row_of(&self, switch: NodeId) -> Option<usize> {
        self.rows.get(switch as usize).filter(|&&row| row != NONE).map(|&row| row as usize)
    }

    /// The switch and the column of a host; `None` if it has no active link or has static routes.
    pub(crate) fn column_of(&self, host: NodeId) -> Option<(NodeId, usize)> {
        let attachment = self.attachments.get(host as usize)?;
        let has_both = attachment.switch != NONE && attachment.column != NONE;
        has_both.then_some((attachment.switch, attachment.column as usize))
    }

    /// Whether a host has an active link to a switch.
    pub fn is_attached(&self, host: NodeId) -> bool {
        (host as usize) < self.attachments.len() && self.attachment_of(host).switch != NONE
    }

    /// The ports by which the switches of a row forward to the hosts of a column. Not valid for the
    /// column's own switch.
    pub(crate) fn ports_in(&self, row: usize, column: usize) -> &[u16] {
        self.sets.ports(self.cells[row * self.columns + column])
    }

    #[inline]
    fn cell(&self, switch: NodeId, attachment: &Attachment, path: u32) -> Option<PortSetId> {
        self.place_of_cell(switch, attachment, path).copied()
    }

    #[inline]
    fn place_of_cell(
        &self,
        switch: NodeId,
        attachment: &Attachment,
        path: u32,
    ) -> Option<&PortSetId> {
        let row = *self.rows.get(switch as usize)?;
        if row == NONE || attachment.column == NONE {
            return None;
        }
        let column = (attachment.column + path) as usize;
        Some(&self.cells[row as usize * self.columns + column])
    }

    /// The table entry that `switch` reads to forward to the host `destination`, for prefetching
    /// it.
    #[inline]
    pub fn entry(&self, switch: NodeId, destination: NodeId) -> Option<&PortSetId> {
        self.place_of_cell(switch, self.attachments.get(destination as usize)?, 0)
    }

    /// The number of distinct rows.
    pub fn row_count(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.attachments.capacity() * size_of::<Attachment>()
            + self.rows.capacity() * size_of::<u32>()
            + self.cells.capacity() * size_of::<PortSetId>()
            + self.attached.len() * size_of::<(NodeId, Attachment)>()
            + self.sets.heap_bytes()
            + self.adjacency.heap_bytes()
    }
}
