//! A host or switch, with its ports.

use rocelab_fabric::{NodeId, PacketId};
use rocelab_state::{Result, State, load_value, save_value, unfit};

use super::super::idle_backlog::HostBacklogs;
use super::super::link_rates::PortRates;
use super::super::watchdog::Storm;
use super::Checkpoint;
use crate::network::failure::Storms;
use crate::network::feature::StateOf;
use crate::network::node::{Role, Switch};
use crate::network::port::NetworkPort;

/// What must not change of a switch, see [`Checkpoint::ways`].
type Ways = (Vec<u8>, u64, bool, String, String);

impl Checkpoint<'_> {
    pub(super) fn save_node(&mut self, node: NodeId, to: &mut Vec<u8>) -> Result {
        self.0.nodes[node as usize].order.save(to)?;
        save_value(self.0.course.records.digest_mut(node), to)?;
        match self.0.nodes[node as usize].role {
            Role::Host(host) => self.save_host(host, to)?,
            Role::Switch(switch) => self.save_switch(switch, to)?,
            Role::Elsewhere(_) => return Err(unfit("a node of another part")),
        }
        for port in self.ports_at(node) {
            self.save_port(port, to)?;
        }
        self.0.features.sampling.save_node(node, to)
    }

    pub(super) fn load_node(&mut self, node: NodeId, from: &mut &[u8]) -> Result {
        self.0.nodes[node as usize].order.load(from)?;
        *self.0.course.records.digest_mut(node) = load_value(from)?;
        match self.0.nodes[node as usize].role {
            Role::Host(host) => self.load_host(host, from)?,
            Role::Switch(switch) => self.load_switch(switch, from)?,
            Role::Elsewhere(_) => return Err(unfit("a node of another part")),
        }
        for port in self.ports_at(node) {
            self.load_port(port, from)?;
        }
        self.0.features.sampling.load_node(node, from)
    }

    /// The ports of a node that is here.
    fn ports_at(&self, node: NodeId) -> std::ops::Range<u32> {
        let first = self.0.nodes[node as usize].first_port;
        let count = u32::try_from(self.0.layout.adjacency.ports_of(node).len()).unwrap_or(0);
        first..first + count
    }

    fn save_host(&mut self, host: u32, to: &mut Vec<u8>) -> Result {
        let state = &self.0.hosts[host as usize];
        save_value(&(state.digest, state.stopped, state.down), to)?;
        state.end_host.save(&mut self.0.shared, to)?;
        let (node, plan) = (state.node, &self.0.plan);
        save_value(&self.0.course.starts.left(plan, node), to)?;
        save_value(&self.0.failures.outages.storms.get(&host), to)?;
        save_value(&self.next_identification(host), to)?;
        save_value(&self.0.features.idle_backlogs.by_host.get(&host), to)?;
        self.save_features(StateOf::Host(host), to)
    }

    fn load_host(&mut self, host: u32, from: &mut &[u8]) -> Result {
        let plan = &self.0.plan;
        let state = &mut self.0.hosts[host as usize];
        (state.digest, state.stopped, state.down) = load_value(from)?;
        state.end_host.load(plan, &mut self.0.shared, from)?;
        self.0.course.starts.leave(plan, state.node, load_value(from)?)?;
        if let Some(storms) = load_value::<Option<Storms>>(from)? {
            self.0.failures.outages.storms.insert(host, storms);
        }
        let next: Option<u16> = load_value(from)?;
        if let (Some(notes), Some(next)) = (&mut self.0.side.notes, next) {
            notes.identify_from(host, next);
        }
        if let Some(seen) = load_value::<Option<HostBacklogs>>(from)? {
            self.0.features.idle_backlogs.by_host.insert(host, seen);
        }
        self.load_features(StateOf::Host(host), from)
    }

    /// The identification of a host's next frame, where frames have one.
    fn next_identification(&self, host: u32) -> Option<u16> {
        let notes = self.0.side.notes.as_ref()?;
        notes.next_identification.get(host as usize).copied()
    }

    fn save_switch(&mut self, switch: u32, to: &mut Vec<u8>) -> Result {
        let state = &self.0.switches[switch as usize];
        save_value(&state.unreturned, to)?;
        save_value(&self.ways(switch), to)?;
        state.buffer.save(to)?;
        self.save_features(StateOf::Switch(switch), to)
    }

    /// What frames in a switch and on their way to it were treated by, so that it must not change: its
    /// priorities, its latency (picoseconds), whether it cuts through, its load balancing, and its forwarding plane.
    fn ways(&self, switch: u32) -> Ways {
        let Switch { node, priorities, .. } = &self.0.switches[switch as usize];
        let (node, priorities) = (*node, priorities.all());
        let plan = &self.0.plan;
        let balancing = plan.load_balancing_of(node).name().to_owned();
        let forwarding =
            plan.forwarding_plane_of(node).resolved(plan.roce.encapsulation).name().to_owned();
        (priorities, plan.latency_of(node).ps(), plan.cuts_through(node), balancing, forwarding)
    }

    fn load_switch(&mut self, switch: u32, from: &mut &[u8]) -> Result {
        let unreturned = load_value(from)?;
        if load_value::<Ways>(from)? != self.ways(switch) {
            let what =
                "priorities in a switch, its latency, its load balancing, or how it forwards";
            return Err(unfit(what));
        }
        let state = &mut self.0.switches[switch as usize];
        state.unreturned = unreturned;
        state.buffer.load(from)?;
        self.load_features(StateOf::Switch(switch), from)
    }

    fn save_port(&mut self, port: u32, to: &mut Vec<u8>) -> Result {
        // What is on the link and what was lost there is saved with the link.
        let NetworkPort {
            far: _,
            node: _,
            role: _,
            last: _,
            marks_above: _,
            number: _,
            departs_specially: _,
            marks_departures: _,
            free_armed,
            sent,
            free_tie,
            port: transmitter,
            marking,
            rare,
        } = &self.0.ports[port as usize];
        save_value(&(free_armed, free_tie), to)?;
        save_value(&(sent.frames, sent.bytes), to)?;
        save_value(&(rare.ecn_marks, rare.max_queue_bytes, rare.timeout_armed), to)?;
        transmitter.save(to)?;
        marking.save(to)?;
        let mut waiting = Vec::new();
        transmitter.for_each_waiting(&self.0.pool, |id, queue| waiting.push((id, queue)));
        for queue in 0..8 {
            let of_queue = waiting.iter().filter(|(_, of)| *of == queue).map(|(id, _)| *id);
            self.packets().save_all(&of_queue.collect::<Vec<PacketId>>(), to)?;
        }
        save_value(&self.0.failures.outages.interrupted.get(&port), to)?;
        save_value(&self.0.failures.link_rates.by_port.get(&port), to)?;
        let storms = self.0.failures.watchdogs.storms.iter().filter(|storm| storm.port == port);
        save_value(&storms.collect::<Vec<_>>(), to)?;
        self.save_features(StateOf::Port(port), to)?;
        if let Some(telemetry) = &self.0.side.telemetry {
            telemetry.save_port(port, to)?;
        }
        self.0.shared.rounding(port).map_or(Ok(()), |dice| save_value(dice, to))
    }

    /// The queue in which a frame waits at a port of a switch by the settings that hold now. A branch may have others, and pauses
    /// hold back what waits in the queues of these.
    fn queue_now(&self, port: u32, id: PacketId) -> Option<u8> {
        let state = &self.0.ports[port as usize];
        let Role::Switch(switch) = self.0.nodes[state.node as usize].role else { return None };
        let marking = self.0.pool.get(id).body.marking()?;
        Some(state.port.queue_of(self.0.switches[switch as usize].priorities.of(marking)))
    }

    fn load_port(&mut self, port: u32, from: &mut &[u8]) -> Result {
        let node = self.0.ports[port as usize].node;
        let is_switch = matches!(self.0.nodes[node as usize].role, Role::Switch(_));
        let ports = self.0.layout.adjacency.ports_of(node).len();
        let state = &mut self.0.ports[port as usize];
        (state.free_armed, state.free_tie) = load_value(from)?;
        (state.sent.frames, state.sent.bytes) = load_value(from)?;
        (state.rare.ecn_marks, state.rare.max_queue_bytes) = load_value(from)?;
        state.rare.timeout_armed = load_value(from)?;
        state.port.load(from)?;
        state.marking.load(from)?;
        for saved_in in 0..8 {
            for id in self.packets().load_all(from)? {
                let packet = self.0.pool.get(id);
                let frame = (id, u32::from(packet.frame_len), packet.switch_port);
                if is_switch && usize::from(packet.switch_port) >= ports {
                    return Err(unfit("the port that a packet came in by"));
                }
                let queue = self.queue_now(port, id).unwrap_or(saved_in);
                let state = &mut self.0.ports[port as usize].port;
                state.restore_waiting((saved_in, queue), frame, &mut self.0.pool);
            }
        }
        if let Some(interrupted) = load_value(from)? {
            self.0.failures.outages.interrupted.insert(port, interrupted);
        }
        if let Some(rates) = load_value::<Option<PortRates>>(from)? {
            self.0.failures.link_rates.by_port.insert(port, rates);
        }
        let storms: Vec<Storm> = load_value(from)?;
        self.0.failures.watchdogs.storms.extend(storms.into_iter().map(|storm| storm.at(port)));
        self.load_features(StateOf::Port(port), from)?;
        if let Some(telemetry) = &mut self.0.side.telemetry {
            telemetry.load_port(port, from)?;
        }
        if let Some(dice) = self.0.shared.rounding(port) {
            *dice = load_value(from)?;
        }
        Ok(())
    }

    /// The watchdogs' storms in the order in which this part would have found them.
    pub(super) fn sort_watchdogs(&mut self) {
        self.0.failures.watchdogs.storms.sort_by_key(Storm::found);
    }
}
