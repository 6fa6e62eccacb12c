//! Ways to one target, from its switch outwards: up, and down from each switch on the way.

use super::fabric::{Fabric, Group};
use crate::tables::{ForwardingTables, NO_PORT};

/// What is at the end of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A host: its main way counts for the balance.
    Host,
    /// A host that is missing: its main way counts, and nothing is written.
    MissingHost,
    /// A switch: nothing counts.
    Switch,
}

/// Finds ways.
#[derive(Debug)]
pub(super) struct Ways {
    fabric: Fabric,
    /// For each switch, the port to the target, and the hops.
    ports: Vec<u8>,
    hops: Vec<u32>,
    is_missing: bool,
}

impl Ways {
    /// No ways yet.
    pub(super) fn new(fabric: Fabric) -> Self {
        let switches = fabric.switches.len();
        Self {
            fabric,
            ports: vec![NO_PORT; switches],
            hops: vec![u32::MAX; switches],
            is_missing: false,
        }
    }

    /// Finds the ways to a target that is, or is attached to, the switch `from`.
    pub(super) fn find(&mut self, from: usize, kind: Kind) {
        self.ports.fill(NO_PORT);
        self.hops.fill(u32::MAX);
        self.hops[from] = 0;
        self.is_missing = kind == Kind::MissingHost;
        self.up(from, None, kind != Kind::Switch);
    }

    /// Writes the ways into the tables.
    pub(super) fn write(&self, lid: u16, tables: &mut ForwardingTables) {
        let ports = self.ports.iter().enumerate().filter(|&(_, &port)| port != NO_PORT);
        for (switch, &port) in ports {
            tables.set(switch, lid, port);
        }
    }

    /// Sets ways of switches above `here`, which has one already and came by it from `before`. `is_main` is the way that
    /// counts.
    fn up(&mut self, here: usize, before: Option<usize>, is_main: bool) {
        self.down(here, before);
        let hops = self.hops[here] + 1;
        let switch = &mut self.fabric.switches[here];
        // Ways never lead back here, so nobody else needs the order before it is back.
        let mut order = std::mem::take(&mut switch.up_order);
        sort(&mut order, &switch.up);
        self.up_by(here, &order, hops, is_main);
        self.fabric.switches[here].up_order = order;
    }

    /// Sets ways of the switches above `here` in this order of groups; the first is the main one.
    fn up_by(&mut self, here: usize, order: &[usize], hops: u32, is_main: bool) {
        let Some((&first, others)) = order.split_first() else { return };
        let group = &mut self.fabric.switches[here].up[first];
        let neighbour = group.neighbour;
        let Some(cable) = group.least() else { return };
        let port = cable.port_there;
        if is_main {
            cable.ways += 1;
            group.ways += 1;
        }
        self.set_if_shorter(neighbour, port, hops);
        self.up(neighbour, Some(here), is_main);
        if self.is_missing {
            return;
        }
        for &group in others {
            let group = &mut self.fabric.switches[here].up[group];
            let neighbour = group.neighbour;
            let Some(port) = group.least().map(|cable| cable.port_there) else { continue };
            if self.set_if_shorter(neighbour, port, hops) {
                self.up(neighbour, Some(here), false);
            }
        }
    }

    /// Sets ways of switches below `here`, but for the one from which it came. Returns whether there are hosts.
    fn down(&mut self, here: usize, before: Option<usize>) -> bool {
        let hops = self.hops[here] + 1;
        let switch = &mut self.fabric.switches[here];
        let mut has_hosts = switch.is_leaf;
        let mut order = std::mem::take(&mut switch.down_order);
        sort(&mut order, &switch.down);
        for &index in &order {
            let group = &mut self.fabric.switches[here].down[index];
            let neighbour = group.neighbour;
            if Some(neighbour) == before {
                continue;
            }
            let Some(port) = group.least().map(|cable| cable.port_there) else { continue };
            if !self.set_if_shorter(neighbour, port, hops) {
                continue;
            }
            if self.down(neighbour, Some(here)) {
                has_hosts = true;
                self.count_down(here, index);
            }
        }
        self.fabric.switches[here].down_order = order;
        has_hosts
    }

    fn count_down(&mut self, here: usize, group: usize) {
        let group = &mut self.fabric.switches[here].down[group];
        group.ways += 1;
        if let Some(cable) = group.least() {
            cable.ways += 1;
        }
    }

    /// Gives a switch a way, unless it has one that is no longer.
    fn set_if_shorter(&mut self, switch: usize, port: u8, hops: u32) -> bool {
        let is_shorter = hops < self.hops[switch];
        if is_shorter {
            self.hops[switch] = hops;
            self.ports[switch] = port;
        }
        is_shorter
    }
}

/// Sorts groups by how many ways they have; those with equally many are in the order of their neighbours' tuples.
fn sort(order: &mut [usize], groups: &[Group]) {
    order.sort_unstable_by_key(|&group| (groups[group].ways, group));
}
