//! A network is put into units.

use rocelab_engine::Windows;
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Partitioning;
use rocelab_units::Duration;

use super::core::Network;
use super::event::Event;
use super::layout::Layout;
use super::port::{NetworkPort, SAME_UNIT};
use super::setting::Setting;
use super::units::{FEW_PORTS, SHORT};
use crate::Plan;
use crate::profile::Profile;

/// A part of a network that is put into units.
#[derive(Debug)]
pub(crate) struct Dividing<'a, P: Profile> {
    plan: &'a Plan,
    layout: &'a mut Layout,
    ports: &'a mut [NetworkPort<P>],
}

impl<P: Profile> Network<P> {
    /// This part of a network, to be put into units.
    pub(crate) fn dividing(&mut self) -> Dividing<'_, P> {
        let Self { plan, layout, ports, .. } = self;
        Dividing { plan, layout, ports }
    }
}

impl<P: Profile> Dividing<'_, P> {
    /// Puts its nodes into units, those of the whole network as far as they are in this part, if that pays or was
    /// asked for.
    pub(crate) fn divide(&mut self, setting: &Setting<P>) -> Windows<Event> {
        let cut = self.layout.part.share_cut();
        let all = cut.units().unwrap_or(setting.units());
        let lookahead = self.lookahead_of_units(all, setting);
        let pays = lookahead >= SHORT || self.ports.len() > FEW_PORTS;
        let count = if pays || cut.units().is_some() { self.number_units(all) } else { 1 };
        Windows::new(count, lookahead)
    }

    /// Gives the units of this part numbers, and says at each port in which of them frames arrive. How many there are.
    fn number_units(&mut self, all: &Partitioning) -> u32 {
        let own = |node: &NodeId| self.layout.part.has(*node);
        let nodes = || (0u32..).take(self.plan.topology.nodes.len());
        let mut here: Vec<u32> = nodes().filter(own).map(|node| all.part_of(node)).collect();
        here.sort_unstable();
        here.dedup();
        if here.len() < 2 {
            return 1;
        }
        let number = |node: NodeId| {
            let place = here.binary_search(&all.part_of(node)).ok();
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or(SAME_UNIT)
        };
        let units: Vec<u32> = nodes().map(number).collect();
        for port in &mut *self.ports {
            let (from, to) = (port.node, port.far.node);
            let is_same = self.layout.part.has(from) && units[from as usize] == units[to as usize];
            if self.layout.part.has(to) && !is_same {
                port.far.beyond = units[to as usize];
            }
        }
        self.layout.units = units;
        u32::try_from(here.len()).unwrap_or(1)
    }

    /// The least time from the start of a frame or of a transfer in one unit to its arrival in another, or in another part:
    /// no window is longer than that between parts.
    fn lookahead_of_units(&self, all: &Partitioning, setting: &Setting<P>) -> Duration {
        let unit = |node: NodeId| self.layout.part.has(node).then(|| all.part_of(node));
        let links = (0u32..).zip(&self.plan.topology.links);
        let crossing = links.filter(|(_, link)| unit(link.a) != unit(link.b));
        setting.lookahead_between(crossing.map(|(link, _)| link), unit)
    }
}
