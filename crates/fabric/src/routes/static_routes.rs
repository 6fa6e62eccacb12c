//! Routes that are set by hand, in place of those along shortest paths.
//!
//! They cost a lookup nothing: a host that has any gets a column of its own in the table, in which
//! each switch has its static route, or what was computed.

use std::collections::BTreeMap;

use super::build::share_rows;
use super::port_sets::PortSetId;
use super::{Attachment, NONE, Routes};
use crate::topology::NodeId;

/// A route that is set by hand. It may lead anywhere, in a circle too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// The switch that forwards by it.
    pub switch: NodeId,
    /// The host whose frames it does that with.
    pub destination: NodeId,
    /// The switch's ports, counted from 0: one, or equals among which the flow's hash chooses.
    pub ports: Vec<u16>,
}

impl Routes {
    /// With `routes` in place of those that were computed; of two for the same switch and host, the
    /// later one holds.
    ///
    /// A port whose link is not `active` (by index into
    /// [`Topology::links`](crate::Topology::links)) is left out, and a route without any other is
    /// withdrawn: then what was computed holds. Routes of nodes that are no switch, to nodes that
    /// are no host, and ports that do not exist have no effect.
    #[must_use]
    pub fn with_static_routes(mut self, routes: &[StaticRoute], active: &[bool]) -> Self {
        let mut by_destination: BTreeMap<NodeId, BTreeMap<NodeId, PortSetId>> = BTreeMap::new();
        for route in routes {
            if !self.are_switch_and_host(route) {
                continue;
            }
            let set = self.usable(route, active);
            let of_host = by_destination.entry(route.destination).or_default();
            match set {
                Some(set) => of_host.insert(route.switch, set),
                None => of_host.remove(&route.switch),
            };
        }
        by_destination.retain(|_, of_host| !of_host.is_empty());
        if !by_destination.is_empty() {
            self.add_columns(&by_destination);
        }
        self
    }

    /// The hosts to which there are static routes, ascending: what holds for another host of the
    /// same switch need not hold for them.
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

    /// The name of the set of those of a route's ports that can be used, if there are any.
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

    /// Gives each of these hosts a column, in which some switches have the sets that are given.
    fn add_columns(&mut self, by_destination: &BTreeMap<NodeId, BTreeMap<NodeId, PortSetId>>) {
        let columns = self.columns + by_destination.len();
        let switches: Vec<NodeId> =
            (0u32..).zip(&self.rows).filter(|(_, row)| **row != NONE).map(|(id, _)| id).collect();
        let mut cells = Vec::with_capacity(switches.len() * columns);
        for &switch in &switches {
            let row = self.rows[switch as usize] as usize * self.columns;
            cells.extend_from_slice(&self.cells[row..row + self.columns]);
            for (&host, by_hand) in by_destination {
                let set = by_hand.get(&switch).copied();
                cells.push(set.unwrap_or_else(|| self.computed(switch, host)));
            }
        }
        let (row_of, cells) = share_rows(&cells, columns, switches.len());
        for (&switch, row) in switches.iter().zip(row_of) {
            self.rows[switch as usize] = row;
        }
        for (column, &host) in (self.columns..).zip(by_destination.keys()) {
            let column = u32::try_from(column).expect("columns are fewer than nodes");
            let own = Attachment { switch: NONE, column, port: 0 };
            let attached = std::mem::replace(&mut self.attachments[host as usize], own);
            self.attached.insert(host, attached);
        }
        (self.cells, self.columns) = (cells, columns);
    }

    /// The name of the set of ports by which a switch forwards to a host along shortest paths.
    fn computed(&self, switch: NodeId, host: NodeId) -> PortSetId {
        let attachment = self.attachments[host as usize];
        if attachment.switch == switch && attachment.column != NONE {
            return PortSetId::single(attachment.port);
        }
        self.cell(switch, &attachment).unwrap_or(self.sets.empty())
    }
}
