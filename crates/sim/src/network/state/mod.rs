//! The state of a network as a checkpoint has it: in a form that does not depend on how it is cut.
//!
//! What belongs to a node or to one direction of a link is bytes of its own, so that any part can take
//! what is its own. A direction of a link belongs to the part that its frames go to. Packets are saved
//! where they are, events with the names of what they are about. Places in lists of a part mean nothing
//! elsewhere and are not saved.

mod event;
mod link;
mod node;
mod sums;

use std::collections::BTreeMap;

use rocelab_engine::{EventKey, Scheduled};
use rocelab_fabric::{NodeId, PacketId};
use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::SimTime;

use self::event::SavedEvent;
use self::sums::Sums;
use super::core::Network;
use super::event::Event;
use super::feature::StateOf;
use super::port::NetworkPort;
use super::saved_packets::SavedPackets;
use super::telemetry::Telemetry;
use crate::profile::roce::Roce;
use crate::profile::{Inspect, Profile};

/// The state of a network, all parts together.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct SavedNetwork {
    /// What every part knows.
    common: Vec<u8>,
    sums: Sums,
    nodes: BTreeMap<NodeId, Vec<u8>>,
    /// By the port that sends: node and number.
    links: BTreeMap<(NodeId, u16), Vec<u8>>,
    /// In order.
    events: Vec<(EventKey, SavedEvent)>,
}

impl SavedNetwork {
    /// Adds what was saved of other parts.
    pub(crate) fn add(&mut self, other: Self) {
        let Self { common, sums, nodes, links, events } = other;
        self.common.extend(common);
        self.sums.add(sums);
        self.nodes.extend(nodes);
        self.links.extend(links);
        self.events.extend(events);
    }

    /// Events of all parts in their order.
    pub(crate) fn sort(&mut self) {
        self.events.sort_by_key(|(key, _)| *key);
    }
}

/// A part of a network that is saved, or loaded.
#[derive(Debug)]
pub(crate) struct Checkpoint<'a>(pub(crate) &'a mut Network<Roce>);

impl Checkpoint<'_> {
    /// Adds the state of this part, between two events: nothing is on its way to other parts, and all
    /// records and captured frames are taken.
    ///
    /// # Errors
    /// If a number is not one.
    pub(crate) fn save(&mut self, to: &mut SavedNetwork) -> Result {
        let is_first = self.0.layout.part.number() == 0;
        if is_first {
            self.save_common(&mut to.common)?;
        }
        to.sums.add(Sums::of(self.0));
        for node in self.own_nodes() {
            let mut bytes = Vec::new();
            self.save_node(node, &mut bytes)?;
            to.nodes.insert(node, bytes);
        }
        let events = self.0.queue.scheduled();
        let mut on_links: BTreeMap<u32, Vec<(EventKey, PacketId)>> = BTreeMap::new();
        for &Scheduled { key, event } in &events {
            if let Some(id) = event.arriving()
                && let Some(port) = self.0.pool.link_of(id)
            {
                on_links.entry(port).or_default().push((key, id));
            }
        }
        for port in self.arriving_ports() {
            let mut bytes = Vec::new();
            // Events are in order, and so are those of a link.
            let on_link = on_links.get(&port).map_or(&[][..], |all| &all[..]);
            self.save_link(port, on_link, &mut bytes)?;
            let state = &self.0.ports[port as usize];
            to.links.insert((state.node, state.number), bytes);
        }
        for Scheduled { key, event } in events {
            if let Some(event) = self.saved_event(event, is_first) {
                to.events.push((key, event));
            }
        }
        Ok(())
    }

    /// Loads what is in this part, which was built from the plan, into it, and what is to happen into
    /// its queue. `now` is when it was saved. What had not broken by then breaks as the plan has it.
    ///
    /// # Errors
    /// If it does not fit.
    pub(crate) fn load(&mut self, saved: &SavedNetwork, now: SimTime) -> Result {
        let built = std::mem::take(&mut self.0.queue);
        self.0.queue.foresee(built.foresight());
        self.load_common(&mut &saved.common[..])?;
        let is_first = self.0.layout.part.number() == 0;
        saved.sums.put_everywhere(&mut self.0.course)?;
        if is_first {
            saved.sums.put(&mut self.0.course)?;
        }
        for node in self.own_nodes() {
            let bytes = saved.nodes.get(&node).ok_or_else(|| unfit("the nodes"))?;
            let mut rest = &bytes[..];
            self.load_node(node, &mut rest)?;
            is_used_up(rest, "a node")?;
        }
        self.sort_watchdogs();
        let open = self.0.hosts.iter().map(|host| host.end_host.open_connections());
        self.0.course.operations.open_connections = open.sum();
        self.load_ports_beyond();
        for port in self.arriving_ports() {
            let state = &self.0.ports[port as usize];
            let bytes = saved.links.get(&(state.node, state.number));
            let mut rest = &bytes.ok_or_else(|| unfit("the links"))?[..];
            self.load_link(port, &mut rest)?;
            is_used_up(rest, "a link")?;
        }
        for &(key, event) in &saved.events {
            if let Some(event) = self.event_of(event)? {
                self.0.queue.push(key, event);
            }
        }
        // A shaper whose rate is another one may be due earlier than it was.
        for port in 0..u32::try_from(self.0.layout.places.own).unwrap_or(u32::MAX) {
            self.arm_earlier(port, now);
        }
        for Scheduled { key, event } in built.scheduled() {
            if matches!(event, Event::Failure { step } if !self.0.failures.outages.has_taken(step))
            {
                self.0.queue.push(key, event);
            }
        }
        Ok(())
    }

    fn arm_earlier(&mut self, port: u32, now: SimTime) {
        let state = &mut self.0.ports[port as usize];
        let due = state.port.poll_timeout().max(SimTime::from_ps(now.ps().saturating_add(1)));
        if due < state.rare.timeout_armed {
            state.rare.timeout_armed = due;
            let tie = self.0.reserve(self.0.ports[port as usize].node);
            self.0.queue.push(EventKey { time: due, tie }, Event::PortTimeout { port });
        }
    }

    /// Saves the state of features that belongs to a part of the network.
    fn save_features(&mut self, of: StateOf, to: &mut Vec<u8>) -> Result {
        let sendings = self.0.plan.sendings();
        let Network { nodes, pool, side, features, .. } = &mut *self.0;
        let packets = SavedPackets { pool, side, nodes: nodes.len(), sendings };
        features.arrivals.save::<Roce>(of, &packets, to)
    }

    fn load_features(&mut self, of: StateOf, from: &mut &[u8]) -> Result {
        let sendings = self.0.plan.sendings();
        let Network { nodes, pool, side, features, .. } = &mut *self.0;
        let mut packets = SavedPackets { pool, side, nodes: nodes.len(), sendings };
        features.arrivals.load::<Roce>(of, &mut packets, from)
    }

    /// The packets of this part.
    fn packets(&mut self) -> SavedPackets<'_> {
        let sendings = self.0.plan.sendings();
        let Network { nodes, pool, side, .. } = &mut *self.0;
        SavedPackets { pool, side, nodes: nodes.len(), sendings }
    }

    fn save_common(&self, to: &mut Vec<u8>) -> Result {
        Telemetry::save_kinds(self.0.side.telemetry.as_deref(), to)?;
        save_value(&self.0.failures.active_links, to)?;
        self.0.features.outside.save(to)?;
        self.0.failures.outages.save(to)
    }

    fn load_common(&mut self, from: &mut &[u8]) -> Result {
        Telemetry::load_kinds(self.0.side.telemetry.as_deref(), from)?;
        self.0.failures.active_links = load_value(from)?;
        self.0.features.outside.load(from)?;
        self.0.failures.outages.load(from)?;
        is_used_up(from, "what is common")?;
        self.0.failures.outages.check(self.0.plan.topology.links.len())?;
        if self.0.failures.active_links.len() != self.0.plan.topology.links.len() {
            return Err(unfit("the number of links"));
        }
        self.load_routes()
    }

    /// The routes that were made last.
    fn load_routes(&mut self) -> Result {
        let Some(links) = self.0.failures.outages.routed_over.clone() else { return Ok(()) };
        let routes = || Roce::routing(&self.0.plan, &links).ok();
        let routing = self
            .0
            .failures
            .rerouted
            .at_step(u32::MAX, routes)
            .ok_or_else(|| unfit("the routes"))?;
        self.0.failures.routing_when_whole = Some(std::mem::replace(&mut self.0.routing, routing));
        Ok(())
    }

    /// The nodes that are here.
    fn own_nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        let count = u32::try_from(self.0.nodes.len()).unwrap_or(u32::MAX);
        let part = self.0.layout.part.clone();
        (0..count).filter(move |&node| part.has(node))
    }

    /// The ports whose frames arrive here.
    fn arriving_ports(&self) -> impl Iterator<Item = u32> + use<> {
        let here = |port: &NetworkPort<Roce>| self.0.layout.part.has(port.far.node);
        let ports = (0u32..).zip(&self.0.ports).filter(|(_, port)| here(port));
        ports.map(|(place, _)| place).collect::<Vec<_>>().into_iter()
    }
}

fn is_used_up(rest: &[u8], what: &str) -> Result {
    if rest.is_empty() { Ok(()) } else { Err(unfit(what)) }
}
