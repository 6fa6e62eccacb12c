//! Links, switches and hosts that fail, and work again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rocelab_engine::{EventKey, Tie};
use rocelab_fabric::topology::spanning_tree_over;
use rocelab_fabric::{
    BufferPolicy, Departure, NodeId, PacketId, Serialisation, Topology, TopologyLink,
};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::Pfc;

use super::host_pauses::Storms;
use super::packet::{NO_ROUTE, PacketPool};
use super::{DropCause, Event, FrameDropped, Network, PacketOf, Record, RecordKind, Role};
use crate::Plan;
use crate::plan::FailureChange;
use crate::profile::{Profile, Routing};

/// What is broken.
#[derive(Debug)]
pub(super) struct Outages {
    /// By link: how many failures hold it down.
    down: Vec<u32>,
    /// By link: whether frames may cross it while it is up, since routes were made the last time.
    forwarding: Vec<bool>,
    /// Whether some links were down then.
    lacks_links: bool,
    /// By link: the rates of the failures that slow it down.
    rates: BTreeMap<u32, Vec<Bandwidth>>,
    /// By host of the whole network: how many failures hold it down.
    hosts_down: BTreeMap<NodeId, u32>,
    /// By host: the storms of its NIC.
    pub(super) storms: BTreeMap<u32, Storms>,
    /// By port whose transmitter is shut down: what it was about.
    pub(super) interrupted: BTreeMap<u32, Interrupted>,
    /// The links that the routes of now were made over, if they were made anew.
    pub(super) routed_over: Option<Vec<bool>>,
    /// Steps of the plan that were taken.
    steps: usize,
}

// Storms and interrupted transmitters are saved with their hosts and ports.
rocelab_state::state!(Outages {
    values: down, forwarding, lacks_links, rates, hosts_down, routed_over, steps;
    kept: storms, interrupted
});

/// The routes of the last step that made any: every part of a network has the same.
#[derive(Debug)]
pub(super) struct Rerouted<P: Profile> {
    last: Mutex<Option<RoutesOfStep<P>>>,
}

/// A step of the plan, and its routes, if there are any.
type RoutesOfStep<P> = (u32, Option<Arc<<P as Profile>::Routing>>);

impl<P: Profile> Default for Rerouted<P> {
    fn default() -> Self {
        Self { last: Mutex::new(None) }
    }
}

impl<P: Profile> Rerouted<P> {
    /// The routes of a step, which the first part makes that comes to it.
    pub(super) fn at_step(
        &self,
        step: u32,
        routes: impl FnOnce() -> Option<P::Routing>,
    ) -> Option<Arc<P::Routing>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, routing)) if *of == step => routing.clone(),
            _ => {
                let routing = routes().map(Arc::new);
                *last = Some((step, routing.clone()));
                routing
            }
        }
    }
}

/// A transmitter that is shut down.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Interrupted {
    /// When the frame is over, or would be, that it sent last.
    free: EventKey,
    /// Whether a `PortFree` for then is in the event queue.
    armed: bool,
}

impl Outages {
    /// Nothing is, and these links carry frames.
    pub(super) fn new(forwarding: &[bool]) -> Self {
        Self {
            down: vec![0; forwarding.len()],
            forwarding: forwarding.to_vec(),
            lacks_links: false,
            rates: BTreeMap::new(),
            hosts_down: BTreeMap::new(),
            storms: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            routed_over: None,
            steps: 0,
        }
    }

    /// A `PortFree` of a port that is shut down has left the event queue.
    #[cold]
    #[inline(never)]
    pub(super) fn forget_free(&mut self, port: u32) {
        if let Some(interrupted) = self.interrupted.get_mut(&port) {
            interrupted.armed = false;
        }
    }

    /// Whether a failure holds a host down, wherever it is.
    pub(super) fn is_dead(&self, host: NodeId) -> bool {
        self.hosts_down.get(&host).is_some_and(|&failures| failures > 0)
    }

    /// Whether links are down, or were when routes were made the last time.
    fn are_links_down(&self) -> bool {
        self.lacks_links || self.down.iter().any(|&failures| failures > 0)
    }

    /// The rate that failures leave a link, if they lower it.
    pub(super) fn rate_of(&self, link: u32) -> Option<Bandwidth> {
        self.rates.get(&link)?.iter().min().copied()
    }

    /// Whether a link is down.
    pub(super) fn is_down(&self, link: u32) -> bool {
        self.down[link as usize] > 0
    }

    /// Whether what was loaded is of a network of so many links.
    pub(super) fn check(&self, links: usize) -> rocelab_state::Result {
        let routed = self.routed_over.as_ref().map_or(links, Vec::len);
        if [self.down.len(), self.forwarding.len(), routed].iter().all(|&len| len == links) {
            Ok(())
        } else {
            Err(rocelab_state::unfit("the number of links"))
        }
    }

    /// Whether a step of the plan was taken: all before the first one that was not.
    pub(super) fn has_taken(&self, step: u32) -> bool {
        (step as usize) < self.steps
    }

    /// Whether something will break or be mended yet.
    pub(super) fn has_more(&self, plan: &Plan) -> bool {
        self.steps < plan.failures.steps.len()
    }
}

impl<P: Profile> Network<P> {
    /// Schedules the steps of what breaks.
    fn add_steps(&mut self) {
        let plan = Arc::clone(&self.plan);
        for (step, planned) in (0u32..).zip(&plan.failures.steps) {
            // All of one origin, so that those of one instant stay in order: routes are made anew
            // after the link is down.
            let tie = self.reserve_outside();
            self.queue.push(EventKey { time: planned.at, tie }, Event::Failure { step });
            self.watch_arrivals(planned.change);
        }
    }

    /// Frames on links that may fail, and for hosts that may stop, are looked at as they arrive.
    fn watch_arrivals(&mut self, change: FailureChange) {
        match change {
            FailureChange::LinkDown(link) => {
                for port in self.ends_of(link) {
                    self.ports[port as usize].far.look_at_arrivals();
                }
            }
            FailureChange::StormBegin(host, _) | FailureChange::HostDown(host) => {
                if let Role::Host(host) = self.nodes[host as usize].role {
                    let port = self.hosts[host as usize].port;
                    let far = self.ports[port as usize].far.port;
                    self.ports[far as usize].far.look_at_arrivals();
                }
            }
            _ => {}
        }
    }

    /// Something breaks, or is mended.
    #[cold]
    pub(super) fn failure_step(&mut self, key: EventKey, step: u32) {
        self.outages.steps += 1;
        match self.plan.failures.steps[step as usize].change {
            FailureChange::LinkDown(link) => {
                self.outages.down[link as usize] += 1;
                if self.outages.down[link as usize] == 1 {
                    self.active_links[link as usize] = false;
                    for port in self.ends_of(link) {
                        self.take_down(key, port);
                    }
                    self.forget_behind(self.ends_of(link), key.time);
                }
            }
            FailureChange::LinkUp(link) => {
                self.outages.down[link as usize] -= 1;
                if self.outages.down[link as usize] == 0 {
                    // One that is not in the spanning tree of now stays blocked until the next.
                    self.active_links[link as usize] = self.outages.forwarding[link as usize];
                    for port in self.ends_of(link) {
                        self.bring_up(key, port);
                    }
                }
            }
            FailureChange::LinkRate(link, rate) => {
                self.outages.rates.entry(link).or_default().push(rate);
                self.set_rate_of(key, link);
            }
            FailureChange::LinkRateEnd(link, rate) => {
                let rates = self.outages.rates.entry(link).or_default();
                if let Some(place) = rates.iter().position(|&other| other == rate) {
                    rates.swap_remove(place);
                }
                self.set_rate_of(key, link);
            }
            FailureChange::Reroute => self.reroute(key.time, step),
            FailureChange::StormBegin(host, mask) => self.begin_storm(key, host, mask),
            FailureChange::StormMuted(host, mask) => self.mute_storm(key, host, mask),
            FailureChange::StormEnd(host, mask) => self.end_storm(key, host, mask),
            FailureChange::HostDown(host) => self.take_host_down(host),
            FailureChange::HostUp(host) => self.bring_host_up(key, host),
        }
    }

    /// A link runs at the lowest of the rates that failures leave it.
    fn set_rate_of(&mut self, key: EventKey, link: u32) {
        let usual = self.plan.topology.links[link as usize].rate;
        let rate = self.outages.rate_of(link).unwrap_or(usual);
        for port in self.ends_of(link) {
            let before = self.ports[port as usize].port.link().rate();
            let free_at = self.free_at(port);
            self.link_rates.note(port, (key.time, free_at), before, rate);
            self.ports[port as usize].port.set_rate(rate);
            self.pump(key, port);
        }
    }

    /// A host dies: it sends nothing, and drops what arrives.
    fn take_host_down(&mut self, node: NodeId) {
        *self.outages.hosts_down.entry(node).or_default() += 1;
        let Role::Host(host) = self.nodes[node as usize].role else { return };
        let host = &mut self.hosts[host as usize];
        host.down += 1;
        let port = host.port;
        self.shut_transmitter_down(port);
    }

    /// A transmitter starts no frame any more.
    fn shut_transmitter_down(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if !state.port.is_up() {
            return; // A host whose link is down dies, or the other way round.
        }
        let interrupted = Interrupted { free: state.free_key(), armed: state.free_armed };
        self.outages.interrupted.insert(port, interrupted);
        state.port.shut_down();
        state.free_armed = true;
    }

    /// When what a port sends is over, whether or not its transmitter is shut down.
    pub(super) fn free_at(&self, port: u32) -> SimTime {
        let interrupted = self.outages.interrupted.get(&port);
        interrupted.map_or(self.ports[port as usize].port.free_at(), |state| state.free.time)
    }

    /// A host lives again, and goes on with what it has not sent.
    fn bring_host_up(&mut self, key: EventKey, node: NodeId) {
        *self.outages.hosts_down.entry(node).or_default() -= 1;
        let Role::Host(place) = self.nodes[node as usize].role else { return };
        let host = &mut self.hosts[place as usize];
        host.down -= 1;
        let port = host.port;
        self.go_on_handling(key, place);
        let link = self.adjacency.ports_of(node).first().map(|port| port.link);
        if link.is_some_and(|link| self.outages.down[link as usize] == 0) {
            self.bring_up(key, port);
        }
    }

    /// Whether a port belongs to a host that is dead.
    pub(super) fn is_dead(&self, port: u32) -> bool {
        match self.nodes[self.ports[port as usize].node as usize].role {
            Role::Host(host) => self.hosts[host as usize].down > 0,
            Role::Switch(_) | Role::Elsewhere(_) => false,
        }
    }

    /// The ports of a link that are here.
    fn ends_of(&self, link: u32) -> impl Iterator<Item = u32> + use<P> {
        let TopologyLink { a, b, .. } = self.plan.topology.links[link as usize];
        let both = [a, b].map(|node| self.port_at_link(node, link));
        both.into_iter().flatten()
    }

    /// A port loses its link: what waits there and what is on it is lost, and so are pauses.
    fn take_down(&mut self, key: EventKey, port: u32) {
        // Before pauses end: nothing starts on a link that is going.
        self.shut_transmitter_down(port);
        let resume = Pfc { class_enable_vector: 0xff, ..Pfc::default() };
        self.obey_pfc(key, port, &resume);
        self.doom_leaving(port);
        let on_the_link = self.pool.on_links().filter(|(sender, _)| *sender == port).count();
        let state = &mut self.ports[port as usize];
        state.doomed = u32::try_from(on_the_link).unwrap_or(u32::MAX);
        state.port.cut_off();
        self.flush(key, port, 0xff, DropCause::LinkDown);
    }

    /// A port has its link again. Its transmitter is free as soon as the frame is over that it was
    /// sending, so that what it sends now is behind what is still on its way, or was lost there.
    fn bring_up(&mut self, key: EventKey, port: u32) {
        if self.is_dead(port) {
            return;
        }
        let interrupted = self.outages.interrupted.remove(&port);
        let busy = interrupted.filter(|interrupted| interrupted.free > key);
        let state = &mut self.ports[port as usize];
        let repeated = state.port.start_up(busy.map_or(key.time, |busy| busy.free.time));
        state.free_tie = busy.map_or_else(Tie::default, |busy| busy.free.tie);
        state.free_armed = interrupted.is_some_and(|interrupted| interrupted.armed);
        self.note_repeated_pauses(key, port, repeated);
        self.pump(key, port);
    }

    /// Whether the next frame on the link of `port` was lost when it went down.
    pub(super) fn is_lost(&mut self, port: u32) -> bool {
        let state = &mut self.ports[port as usize];
        if state.doomed > 0 {
            state.doomed -= 1;
            return true;
        }
        // A host that dies does not take back what it has sent.
        !self.ports[port as usize].port.is_up() && !self.is_dead(port)
    }

    /// Drops what waits in the queues of `mask` (bit q) at a switch's port.
    pub(super) fn flush(&mut self, key: EventKey, port: u32, mask: u8, cause: DropCause) {
        let state = &self.ports[port as usize];
        let (node, egress) = (state.node, state.number);
        let Role::Switch(switch) = self.nodes[node as usize].role else { return };
        let len_of =
            |pool: &PacketPool<PacketOf<P>>, id: PacketId| u32::from(pool.get(id).frame_len);
        for waits_in in (0..8).filter(|waits_in| mask & 1 << waits_in != 0) {
            while let Some(id) =
                self.ports[port as usize].port.flush_from(waits_in, &self.pool, len_of)
            {
                let packet = self.pool.get(id);
                let (ingress, len) = (packet.switch_port, u32::from(packet.frame_len));
                let Some(priority) = packet.body.priority() else { continue };
                let state = &mut self.switches[switch as usize];
                let priority = state.priorities[usize::from(priority & 7)];
                let resume = state.buffer.release(Departure { ingress, egress, priority, len });
                let receiving = self.nodes[node as usize].first_port + u32::from(ingress);
                self.drop_frame(key, receiving, Some(egress), id, cause);
                if resume {
                    self.resume_sender(key, (switch, ingress, priority), u32::MAX);
                }
            }
        }
    }

    /// Makes all routes anew, over the links that are up.
    fn reroute(&mut self, now: SimTime, step: u32) {
        let plan = Arc::clone(&self.plan);
        if plan.failures.spanning_tree {
            self.make_tree(&plan.topology);
            self.forget_all(now);
        }
        self.outages.lacks_links = self.outages.down.iter().any(|&failures| failures > 0);
        // Routes that would be none of all are left as they were.
        let routes = || P::routing(&plan, &self.active_links).ok();
        if let Some(routing) = self.rerouted.at_step(step, routes) {
            let before = std::mem::replace(&mut self.routing, routing);
            self.routing_when_whole.get_or_insert(before);
            self.outages.routed_over = Some(self.active_links.clone());
        }
        self.reroute_frames_under_way();
    }

    /// Why a frame is dropped that a switch has no way for: because of links that are down, if it had
    /// one when none was.
    #[cold]
    pub(super) fn no_way(&self, switch: NodeId, id: PacketId) -> DropCause {
        let packet = self.pool.get(id);
        let (source, destination) = (packet.source, packet.destination);
        let had_way = || {
            let whole = self.routing_when_whole.as_ref().unwrap_or(&self.routing);
            whole.egress(switch, source, destination, packet.flow_hash).is_some()
        };
        if self.outages.are_links_down() && had_way() {
            DropCause::LinkDown
        } else {
            DropCause::NoRoute
        }
    }

    /// The spanning tree over the links that are up.
    fn make_tree(&mut self, topology: &Topology) {
        let up: Vec<_> = self.outages.down.iter().map(|&failures| failures == 0).collect();
        self.active_links = spanning_tree_over(topology, &up);
        self.outages.forwarding.clone_from(&self.active_links);
        // A port to a host is an edge port (IEEE 802.1Q, adminEdge): it forwards as soon as it is up.
        for (forwards, link) in self.outages.forwarding.iter_mut().zip(&topology.links) {
            *forwards |= topology.is_host(link.a) || topology.is_host(link.b);
        }
    }

    /// Schedules the failures of the plan.
    pub(super) fn add_failures(&mut self) {
        self.add_steps();
        let Some((time, link)) = self.plan.link_failure() else { return };
        let node = self.plan.topology.links[link as usize].a;
        let tie = self.reserve(node);
        self.queue.push(EventKey { time, tie }, Event::LinkFailure { link });
    }

    /// A link fails: what waits for it and what is on it is lost, and all routes are made anew
    /// without it at once.
    #[cold]
    pub(super) fn link_failure(&mut self, key: EventKey, link: u32) {
        self.active_links[link as usize] = false;
        let plan = Arc::clone(&self.plan);
        // A topology that had routes has them without one of its links too, if not to everywhere.
        if let Ok(routing) = P::routing(&plan, &self.active_links) {
            self.routing = Arc::new(routing);
        }
        for port in self.ends_of(link) {
            self.shut_down(key, port);
        }
        self.reroute_frames_under_way();
    }

    /// A port whose link is gone loses what waits in it. The switch's memory is not told, as in
    /// HPCC's ns-3 simulator: those bytes stay in use.
    fn shut_down(&mut self, key: EventKey, port: u32) {
        let len_of =
            |pool: &PacketPool<PacketOf<P>>, id: PacketId| u32::from(pool.get(id).frame_len);
        while let Some((id, priority)) =
            self.ports[port as usize].port.flush_one(&self.pool, len_of)
        {
            let packet = self.pool.get(id);
            let state = &self.ports[port as usize];
            let (frame_len, ingress) = (packet.frame_len, packet.switch_port);
            let (node, egress, cause) = (state.node, Some(state.number), DropCause::LinkDown);
            if let Role::Switch(switch) = self.nodes[node as usize].role {
                self.switches[switch as usize].unreturned += u64::from(frame_len);
            }
            let dropped = FrameDropped { node, ingress, egress, priority, frame_len, cause };
            self.records.keep(node, Record { key, kind: RecordKind::Drop(dropped) });
            self.totals.frames_dropped += 1;
            *self.totals.drops.entry(cause.name()).or_default() += 1;
            self.contents.take(id);
            self.pool.remove(id);
        }
        let state = &mut self.ports[port as usize];
        if let Role::Switch(switch) = self.nodes[state.node as usize].role {
            self.switches[switch as usize].buffer.forget_egress(state.number);
        }
        state.port.shut_down();
        state.free_armed = true;
        state.far.look_at_arrivals();
    }

    /// Where frames on links will be forwarded was looked up when they were sent.
    fn reroute_frames_under_way(&mut self) {
        let to_switches = |(port, id): (u32, PacketId)| {
            let far = self.ports[port as usize].far;
            matches!(far.role, Role::Switch(_)).then_some((far.node, id))
        };
        let under_way: Vec<_> = self.pool.on_links().filter_map(to_switches).collect();
        for (node, id) in under_way {
            let packet = self.pool.get_mut(id);
            let (source, destination) = (packet.source, packet.destination);
            let egress = self.routing.egress(node, source, destination, packet.flow_hash);
            packet.switch_port = egress.unwrap_or(NO_ROUTE);
        }
    }
}
