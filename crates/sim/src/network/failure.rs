//! Links, switches and hosts that fail, and work again.

mod outages;

use std::sync::Arc;

use rocelab_engine::{EventKey, Tie};
use rocelab_fabric::topology::spanning_tree_over;
use rocelab_fabric::{
    BufferPolicy, Departure, FlowControl, NodeId, PacketId, Serialisation, Topology, TopologyLink,
};
use rocelab_units::SimTime;

use self::outages::Interrupted;
pub(in crate::network) use self::outages::{Failures, Rerouted, Storms, priorities};
use super::core::Network;
use super::crossing::Crossing;
use super::event::Event;
use super::host_pauses::HostPauses;
use super::node::Role;
use super::packet::{NO_ROUTE, PacketOf, PacketPool};
use super::pauses::PortPauses;
use super::receiver::Receiving;
use crate::plan::FailureChange;
use crate::profile::{Profile, Routing};
use crate::record::{DropCause, FrameDropped, Record, RecordKind};

/// A network in which something breaks, or is mended.
#[derive(Debug)]
pub(super) struct Failing<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Failing<'_, P> {
    /// Schedules the steps of what breaks.
    fn add_steps(&mut self) {
        let plan = Arc::clone(&self.0.plan);
        for (step, planned) in (0u32..).zip(&plan.failures.steps) {
            // All of one origin, so that those of one instant stay in order: routes are made anew
            // after the link is down.
            let tie = self.0.reserve_outside();
            self.0.queue.push(EventKey { time: planned.at, tie }, Event::Failure { step });
            self.watch_arrivals(planned.change);
        }
    }

    /// Frames on links that may fail, and for hosts that may stop, are looked at as they arrive.
    fn watch_arrivals(&mut self, change: FailureChange) {
        match change {
            FailureChange::LinkDown(link) => {
                for port in self.ends_of(link) {
                    self.0.ports[port as usize].far.look_at_arrivals();
                }
            }
            FailureChange::StormBegin(host, _) | FailureChange::HostDown(host) => {
                if let Role::Host(host) = self.0.nodes[host as usize].role {
                    let port = self.0.hosts[host as usize].port;
                    let far = self.0.ports[port as usize].far.port;
                    self.0.ports[far as usize].far.look_at_arrivals();
                }
            }
            _ => {}
        }
    }

    /// Something breaks, or is mended.
    #[cold]
    pub(super) fn failure_step(&mut self, key: EventKey, step: u32) {
        self.0.failures.outages.steps += 1;
        match self.0.plan.failures.steps[step as usize].change {
            FailureChange::LinkDown(link) => {
                self.0.failures.outages.down[link as usize] += 1;
                if self.0.failures.outages.down[link as usize] == 1 {
                    self.0.failures.active_links[link as usize] = false;
                    for port in self.ends_of(link) {
                        self.take_down(key, port);
                    }
                    self.forget_hosts_behind(self.ends_of(link), key.time);
                }
            }
            FailureChange::LinkUp(link) => {
                self.0.failures.outages.down[link as usize] -= 1;
                if self.0.failures.outages.down[link as usize] == 0 {
                    // One that is not in the spanning tree of now stays blocked until the next.
                    self.0.failures.active_links[link as usize] =
                        self.0.failures.outages.forwarding[link as usize];
                    for port in self.ends_of(link) {
                        self.bring_up(key, port);
                    }
                }
            }
            FailureChange::LinkRate(link, rate) => {
                self.0.failures.outages.rates.entry(link).or_default().push(rate);
                self.set_rate_of(key, link);
            }
            FailureChange::LinkRateEnd(link, rate) => {
                let rates = self.0.failures.outages.rates.entry(link).or_default();
                if let Some(place) = rates.iter().position(|&other| other == rate) {
                    rates.swap_remove(place);
                }
                self.set_rate_of(key, link);
            }
            FailureChange::Reroute => self.reroute(key.time, step),
            FailureChange::StormBegin(host, mask) => {
                HostPauses(self.0).begin_storm(key, host, mask);
            }
            FailureChange::StormMuted(host, mask) => HostPauses(self.0).mute_storm(key, host, mask),
            FailureChange::StormEnd(node, mask) => {
                HostPauses(self.0).end_storm(key, node, mask);
                if let Role::Host(host) = self.0.nodes[node as usize].role {
                    Receiving(self.0).go_on_handling(key, host);
                }
            }
            FailureChange::HostDown(host) => self.take_host_down(host),
            FailureChange::HostUp(host) => self.bring_host_up(key, host),
        }
    }

    /// A link runs at the lowest of the rates that failures leave it.
    fn set_rate_of(&mut self, key: EventKey, link: u32) {
        let usual = self.0.plan.topology.links[link as usize].rate;
        let rate = self.0.failures.outages.rate_of(link).unwrap_or(usual);
        for port in self.ends_of(link) {
            let transmitter = &self.0.ports[port as usize].port;
            let before = transmitter.link().rate();
            let free_at = self.0.failures.outages.free_at(port, transmitter.free_at());
            self.0.failures.link_rates.note(port, (key.time, free_at), before, rate);
            self.0.ports[port as usize].port.set_rate(rate);
            self.0.pump(key, port);
        }
    }

    /// A host dies: it sends nothing, and drops what arrives.
    fn take_host_down(&mut self, node: NodeId) {
        *self.0.failures.outages.hosts_down.entry(node).or_default() += 1;
        let Role::Host(host) = self.0.nodes[node as usize].role else { return };
        let host = &mut self.0.hosts[host as usize];
        host.down += 1;
        let port = host.port;
        self.shut_transmitter_down(port);
    }

    /// A transmitter starts no frame any more.
    fn shut_transmitter_down(&mut self, port: u32) {
        let state = &mut self.0.ports[port as usize];
        if !state.port.is_up() {
            return; // A host whose link is down dies, or the other way round.
        }
        let interrupted = Interrupted { free: state.free_key(), armed: state.free_armed };
        self.0.failures.outages.interrupted.insert(port, interrupted);
        state.port.shut_down();
        state.free_armed = true;
    }

    /// A host lives again, and goes on with what it has not sent.
    fn bring_host_up(&mut self, key: EventKey, node: NodeId) {
        *self.0.failures.outages.hosts_down.entry(node).or_default() -= 1;
        let Role::Host(place) = self.0.nodes[node as usize].role else { return };
        let host = &mut self.0.hosts[place as usize];
        host.down -= 1;
        let port = host.port;
        Receiving(self.0).go_on_handling(key, place);
        let link = self.0.layout.adjacency.ports_of(node).first().map(|port| port.link);
        if link.is_some_and(|link| self.0.failures.outages.down[link as usize] == 0) {
            self.bring_up(key, port);
        }
    }

    /// The ports of a link that are here.
    fn ends_of(&self, link: u32) -> impl Iterator<Item = u32> + use<P> {
        let TopologyLink { a, b, .. } = self.0.plan.topology.links[link as usize];
        let both = [a, b].map(|node| self.0.layout.port_at_link(node, link));
        both.into_iter().flatten()
    }

    /// Switches forget what they have learnt behind these ports.
    fn forget_hosts_behind(&mut self, ports: impl Iterator<Item = u32>, now: SimTime) {
        let Network { features, ports: all, nodes, .. } = &mut *self.0;
        let Some(forwarding) = &mut features.arrivals.forwarding else { return };
        for port in ports {
            let port = &all[port as usize];
            if let Role::Switch(switch) = nodes[port.node as usize].role {
                forwarding.flush(switch, port.number, now);
            }
        }
    }

    /// A port loses its link: what waits there and what is on it is lost, and so are pauses.
    fn take_down(&mut self, key: EventKey, port: u32) {
        // Before pauses end: nothing starts on a link that is going.
        self.shut_transmitter_down(port);
        let resume = self.0.ports[port as usize].port.flow_control().end_of_pauses();
        PortPauses(self.0).obey_control(key, port, &resume);
        Crossing(self.0).doom_leaving(port);
        let on_the_link = self.0.pool.on_links().filter(|(sender, _)| *sender == port).count();
        let state = &mut self.0.ports[port as usize];
        state.rare.doomed = u32::try_from(on_the_link).unwrap_or(u32::MAX);
        state.port.cut_off();
        self.lose_delayed(key, port);
        PortPauses(self.0).free_what_left(key, port);
        self.flush(key, port, 0xff, DropCause::LinkDown);
    }

    /// Frames that faults delay on the link of a port are lost with it where ends count frames: they begin again.
    fn lose_delayed(&mut self, key: EventKey, port: u32) {
        let state = &self.0.ports[port as usize];
        let (receiving, is_counted) = (state.far.port, state.port.is_counted());
        let faults = self.0.features.arrivals.faults.as_mut().filter(|_| is_counted);
        let direction = faults.and_then(|faults| faults.direction(port));
        let delayed = direction.map_or_else(Vec::new, |direction| direction.held.take_all());
        for id in delayed {
            self.0.drop_frame(key, receiving, None, id, DropCause::LinkDown);
        }
    }

    /// A port has its link again. Its transmitter is free as soon as the frame is over that it was
    /// sending, so that what it sends now is behind what is still on its way, or was lost there.
    fn bring_up(&mut self, key: EventKey, port: u32) {
        if self.0.is_dead(port) {
            return;
        }
        let interrupted = self.0.failures.outages.interrupted.remove(&port);
        let busy = interrupted.filter(|interrupted| interrupted.free > key);
        let state = &mut self.0.ports[port as usize];
        let repeated = state.port.start_up(busy.map_or(key.time, |busy| busy.free.time));
        state.free_tie = busy.map_or_else(Tie::default, |busy| busy.free.tie);
        state.free_armed = interrupted.is_some_and(|interrupted| interrupted.armed);
        PortPauses(self.0).note_repeated_pauses(key, port, repeated);
        self.0.pump(key, port);
    }

    /// Whether the next frame on the link of `port` was lost when it went down.
    pub(super) fn is_lost(&mut self, port: u32) -> bool {
        let state = &mut self.0.ports[port as usize];
        if state.rare.doomed > 0 {
            state.rare.doomed -= 1;
            return true;
        }
        // A host that dies does not take back what it has sent.
        !self.0.ports[port as usize].port.is_up() && !self.0.is_dead(port)
    }

    /// Drops what waits in the queues of `mask` (bit q) at a switch's port.
    pub(super) fn flush(&mut self, key: EventKey, port: u32, mask: u8, cause: DropCause) {
        let state = &self.0.ports[port as usize];
        let (node, egress) = (state.node, state.number);
        let Role::Switch(switch) = self.0.nodes[node as usize].role else { return };
        let len_of =
            |pool: &PacketPool<PacketOf<P>>, id: PacketId| u32::from(pool.get(id).frame_len);
        for waits_in in (0..8).filter(|waits_in| mask & 1 << waits_in != 0) {
            while let Some(id) =
                self.0.ports[port as usize].port.flush_from(waits_in, &self.0.pool, len_of)
            {
                let packet = self.0.pool.get(id);
                let (ingress, len) = (packet.switch_port, u32::from(packet.frame_len));
                let Some(marking) = packet.body.marking() else { continue };
                let state = &mut self.0.switches[switch as usize];
                let priority = state.priorities.of(marking);
                let resume = state.buffer.release(Departure { ingress, egress, priority, len });
                let receiving = self.0.nodes[node as usize].first_port + u32::from(ingress);
                self.0.drop_frame(key, receiving, Some(egress), id, cause);
                PortPauses(self.0).note_freed(key, receiving, (priority, len));
                if resume {
                    self.0.resume_sender(key, (switch, ingress, priority), u32::MAX);
                }
            }
        }
    }

    /// Makes all routes anew, over the links that are up.
    fn reroute(&mut self, now: SimTime, step: u32) {
        let plan = Arc::clone(&self.0.plan);
        if plan.failures.spanning_tree {
            self.make_tree(&plan.topology);
            // The spanning tree is another one now: every bridge forgets what it has learnt.
            self.forget_hosts_behind(0..u32::try_from(self.0.ports.len()).unwrap_or(u32::MAX), now);
        }
        self.0.failures.outages.lacks_links =
            self.0.failures.outages.down.iter().any(|&failures| failures > 0);
        // Routes that would be none of all are left as they were.
        let routes = || P::routing(&plan, &self.0.failures.active_links).ok();
        if let Some(routing) = self.0.failures.rerouted.at_step(step, routes) {
            let before = std::mem::replace(&mut self.0.routing, routing);
            self.0.failures.routing_when_whole.get_or_insert(before);
            self.0.failures.outages.routed_over = Some(self.0.failures.active_links.clone());
        }
        self.reroute_frames_under_way();
    }

    /// The spanning tree over the links that are up.
    fn make_tree(&mut self, topology: &Topology) {
        let up: Vec<_> =
            self.0.failures.outages.down.iter().map(|&failures| failures == 0).collect();
        self.0.failures.active_links = spanning_tree_over(topology, &up);
        self.0.failures.outages.forwarding.clone_from(&self.0.failures.active_links);
        // A port to a host is an edge port (IEEE 802.1Q, adminEdge): it forwards as soon as it is up.
        for (forwards, link) in self.0.failures.outages.forwarding.iter_mut().zip(&topology.links) {
            *forwards |= topology.is_host(link.a) || topology.is_host(link.b);
        }
    }

    /// Schedules the failures of the plan.
    pub(super) fn add_failures(&mut self) {
        self.add_steps();
        let Some((time, link)) = self.0.plan.link_failure() else { return };
        let node = self.0.plan.topology.links[link as usize].a;
        let tie = self.0.reserve(node);
        self.0.queue.push(EventKey { time, tie }, Event::LinkFailure { link });
    }

    /// A link fails: what waits for it and what is on it is lost, and all routes are made anew
    /// without it at once.
    #[cold]
    pub(super) fn link_failure(&mut self, key: EventKey, link: u32) {
        self.0.failures.active_links[link as usize] = false;
        let plan = Arc::clone(&self.0.plan);
        // A topology that had routes has them without one of its links too, if not to everywhere.
        if let Ok(routing) = P::routing(&plan, &self.0.failures.active_links) {
            self.0.routing = Arc::new(routing);
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
            self.0.ports[port as usize].port.flush_one(&self.0.pool, len_of)
        {
            let packet = self.0.pool.get(id);
            let state = &self.0.ports[port as usize];
            let (frame_len, ingress) = (packet.frame_len, packet.switch_port);
            let marking = packet.body.marking().unwrap_or(0);
            let (node, egress, cause) = (state.node, Some(state.number), DropCause::LinkDown);
            if let Role::Switch(switch) = self.0.nodes[node as usize].role {
                self.0.switches[switch as usize].unreturned += u64::from(frame_len);
            }
            let dropped =
                FrameDropped { node, ingress, egress, priority, marking, frame_len, cause };
            self.0.course.records.keep(node, Record { key, kind: RecordKind::Drop(dropped) });
            self.0.course.totals.frames_dropped += 1;
            *self.0.course.totals.drops.entry(cause.name()).or_default() += 1;
            self.0.side.contents.take(id);
            self.0.pool.remove(id);
        }
        let state = &mut self.0.ports[port as usize];
        if let Role::Switch(switch) = self.0.nodes[state.node as usize].role {
            self.0.switches[switch as usize].buffer.forget_egress(state.number);
        }
        state.port.shut_down();
        state.free_armed = true;
        state.far.look_at_arrivals();
    }

    /// Where frames on links will be forwarded was looked up when they were sent.
    fn reroute_frames_under_way(&mut self) {
        let to_switches = |(port, id): (u32, PacketId)| {
            let far = self.0.ports[port as usize].far;
            let is_decided = matches!(far.role, Role::Switch(_)) && !far.switch.chooses();
            is_decided.then_some((far.node, id))
        };
        let under_way: Vec<_> = self.0.pool.on_links().filter_map(to_switches).collect();
        for (node, id) in under_way {
            let packet = self.0.pool.get_mut(id);
            let (source, destination) = (packet.source, packet.destination);
            let egress = self.0.routing.egress(node, source, destination, packet.flow_hash);
            packet.switch_port = egress.unwrap_or(NO_ROUTE);
        }
    }
}
