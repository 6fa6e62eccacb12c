//! Static routes: routes that the user sets, in place of those along shortest paths.
//!
//! They do not make a lookup slower: a host with static routes gets a column of its own in the
//! table. Its cells hold the static route of each switch that has one, and the computed route of
//! all others.

use std::collections::BTreeMap;

use super::build::share_rows;
use super::port_sets::PortSetId;
use super::{Attachment, NONE, Routes};
use crate::topology::NodeId;

/// A route that the user sets. It may lead anywhere, also into a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// The switch that forwards by it.
    pub switch: NodeId,
    /// The host to which the switch forwards by it.
    pub destination: NodeId,
    /// Which of the addresses of the host it is for, where a host has several ([`Routes::with_tables`]): the path bits of its
    /// LID. 0 otherwise.
    pub path_bits: u8,
    /// Ports of the switch, counted from 0: one, or several equal ones among which the flow's hash
    /// chooses.
    pub ports: Vec<u16>,
}

/// A host, and which of its columns.
type Column = (NodeId, u32);
/// Port sets by column and switch.
type Destinations = BTreeMap<Column, BTreeMap<NodeId, PortSetId>>;

impl Routes {
    /// These routes, with `routes` in place of the computed ones. Of two static routes for the same
    /// switch and host, the later one holds.
    ///
    /// A port is left out if its link is not `active` (by index into
    /// [`Topology::links`](crate::Topology::links)). A route without any other port is withdrawn,
    /// and the computed one holds. Routes of nodes that are not switches, routes to nodes that are
    /// not hosts, and ports that do not exist have no effect.
    #[must_use]
    pub fn with_static_routes(self, routes: &[StaticRoute], active: &[bool]) -> Self {
        self.with_routes((routes, active), BTreeMap::new(), Self::computed)
    }

    /// The same hosts, with these routes and no others: a switch without one to a host has no way to it. What is left out is as
    /// in [`Self::with_static_routes`].
    ///
    /// Each host has 2 to the power of `lmc` (0 to 7) addresses, with routes of their own. The lowest `lmc` bits of a flow's hash
    /// say to which of them it goes ([`Routes::egress`]); [`Routes::next_hops`] has the ports for any of them.
    #[must_use]
    pub fn with_tables(mut self, routes: &[StaticRoute], active: &[bool], lmc: u8) -> Self {
        self.path_mask = (1 << lmc.min(7)) - 1;
        let columns = 0..=self.any_path();
        let is_host = |&(_, row): &(NodeId, &u32)| *row == NONE;
        let hosts = (0u32..).zip(&self.rows).filter(is_host);
        let columns = hosts.flat_map(|(host, _)| columns.clone().map(move |path| (host, path)));
        let columns = columns.map(|column| (column, BTreeMap::new())).collect();
        self.with_routes((routes, active), columns, |all, _, _| all.sets.empty())
    }

    /// With `routes` over links that are `active`, and with what `otherwise` says for the other switches and a destination.
    fn with_routes(
        mut self,
        (routes, active): (&[StaticRoute], &[bool]),
        mut by_destination: Destinations,
        otherwise: impl Fn(&Self, NodeId, NodeId) -> PortSetId,
    ) -> Self {
        let is_complete = !by_destination.is_empty();
        for route in routes {
            if !self.are_switch_and_host(route) {
                continue;
            }
            let set = self.usable(route, active);
            let path = u32::from(route.path_bits) & self.path_mask;
            let of_host = by_destination.entry((route.destination, path)).or_default();
            match set {
                Some(set) => of_host.insert(route.switch, set),
                None => of_host.remove(&route.switch),
            };
        }
        by_destination.retain(|_, of_host| is_complete || !of_host.is_empty());
        if self.path_mask > 0 {
            self.add_ports_of_any_path(&mut by_destination);
        }
        if !by_destination.is_empty() {
            self.add_columns(&by_destination, otherwise);
        }
        self
    }

    /// The last column of a host with several addresses: the ports for any of them.
    fn add_ports_of_any_path(&mut self, by_destination: &mut Destinations) {
        let mut ports: BTreeMap<(NodeId, NodeId), Vec<u16>> = BTreeMap::new();
        for (&(host, _), of_host) in &*by_destination {
            for (&switch, &set) in of_host {
                ports.entry((host, switch)).or_default().extend(self.sets.ports(set));
            }
        }
        for ((host, switch), mut ports) in ports {
            ports.sort_unstable();
            ports.dedup();
            let set = self.sets.add(&ports);
            by_destination.entry((host, self.any_path())).or_default().insert(switch, set);
        }
    }

    /// The hosts to which there are static routes, ascending. Each is a destination of its own: its
    /// routes may differ from those to other hosts of the same switch.
    pub fn static_destinations(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.attached.keys().copied()
    }

    /// Where a host is attached, also if it has a column of its own.
    pub(super) fn attachment_of(&self, host: NodeId) -> Attachment {
        self.attached.get(&host).copied().unwrap_or(self.attachments[host as usize])
    }

    fn are_switch_and_host(&self, route: &StaticRoute) -> bool {
        let row = |node: NodeId| self.rows.get(node as usize);
        row(route.switch).is_some_and(|&row| row != NONE) && row(route.destination) == Some(&NONE)
    }

    /// The set of a route's usable ports; `None` if it has none.
    fn usable(&mut self, route: &StaticRoute, active: &[bool]) -> Option<PortSetId> {
        let ports_of_switch = self.adjacency.ports_of(route.switch);
        let is_usable = |port: &u16| {
            let far = ports_of_switch.get(usize::from(*port));
            far.is_some_and(|far| active.get(far.link as usize) == Some(&true))
        };
        let mut ports: Vec<u16> = route.ports.iter().copied().filter(is_usable).collect();
        ports.sort_unstable();
        ports.dedup();
        (!ports.is_empty()).then(|| self.sets.add(&ports))
    }

    /// Gives each of these hosts a column, with the given port sets for some switches and what `otherwise` says for all others.
    fn add_columns(
        &mut self,
        by_destination: &Destinations,
        otherwise: impl Fn(&Self, NodeId, NodeId) -> PortSetId,
    ) {
        let columns = self.columns + by_destination.len();
        let switches: Vec<NodeId> =
            (0u32..).zip(&self.rows).filter(|(_, row)| **row != NONE).map(|(id, _)| id).collect();
        let mut cells = Vec::with_capacity(switches.len() * columns);
        for &switch in &switches {
            let row = self.rows[switch as usize] as usize * self.columns;
            cells.extend_from_slice(&self.cells[row..row + self.columns]);
            for (&(host, _), by_hand) in by_destination {
                let set = by_hand.get(&switch).copied();
                cells.push(set.unwrap_or_else(|| otherwise(self, switch, host)));
            }
        }
        let (row_of, cells) = share_rows(&cells, columns, switches.len());
        for (&switch, row) in switches.iter().zip(row_of) {
            self.rows[switch as usize] = row;
        }
        let hosts = (self.columns..).zip(by_destination.keys());
        for (column, &(host, _)) in hosts.filter(|(_, (_, path))| *path == 0) {
            let column = u32::try_from(column).expect("columns are fewer than nodes");
            let own = Attachment { switch: NONE, column, port: 0 };
            let attached = std::mem::replace(&mut self.attachments[host as usize], own);
            self.attached.insert(host, attached);
        }
        (self.cells, self.columns) = (cells, columns);
    }

    /// The set of ports by which a switch forwards to a host along shortest paths.
    fn computed(&self, switch: NodeId, host: NodeId) -> PortSetId {
        let attachment = self.attachments[host as usize];
        if attachment.switch == switch && attachment.column != NONE {
            return PortSetId::single(attachment.port);
        }
        self.cell(switch, &attachment, 0).unwrap_or(self.sets.empty())
    }
}
