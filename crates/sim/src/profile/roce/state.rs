//! What a host saves, and what it loads into one that was made from the plan.

use rocelab_state::{Result, State, load_value, save_value, unfit};
use rocelab_transport::{FIRST_QPN, QueuePairConfig};

use super::host::{ConnectionEnds, FlowState, Turns};
use super::{LinkLoss, VerbsHost};
use crate::Plan;

impl VerbsHost {
    /// Appends its state, with what messages say that are on their way to its applications.
    ///
    /// # Errors
    /// If a number is not one.
    pub(crate) fn save(&self, shared: &mut LinkLoss, to: &mut Vec<u8>) -> Result {
        let Self {
            node: _,
            nic,
            queue_pairs,
            armed,
            is_plain: _,
            is_unreliable: _,
            connections,
            delivered,
            ends,
            integrity,
            apps,
            monitor,
            stacks,
            turns: Turns { scheduler, stack: _ },
            held: _,
        } = self;
        save_value(&(queue_pairs, armed, delivered, ends), to)?;
        nic.save(to)?;
        connections.save(to)?;
        integrity.save(to)?;
        apps.save(to)?;
        for (connection, side) in apps.iter().flat_map(|apps| apps.connections()) {
            save_value(shared.messages.under_way(connection, side), to)?;
        }
        for end in apps.iter().flat_map(|apps| apps.ends_of_nvlink()) {
            save_value(shared.wires.to(end), to)?;
        }
        if let Some(monitor) = monitor {
            monitor.save(to)?;
        }
        stacks.save(to)?;
        if stacks.is_some() || scheduler.minds_priorities() {
            return scheduler.save(to);
        }
        Ok(()) // It has nothing to decide.
    }

    /// Takes its state from the beginning of `from`.
    ///
    /// # Errors
    /// If that does not fit.
    pub(crate) fn load(&mut self, plan: &Plan, shared: &mut LinkLoss, from: &mut &[u8]) -> Result {
        let flows: Vec<FlowState>;
        (flows, self.armed, self.delivered, self.ends) = load_value(from)?;
        let numbers = |all: &[FlowState]| all.iter().map(|one| one.flow).collect::<Vec<_>>();
        if numbers(&flows) != numbers(&self.queue_pairs) {
            return Err(unfit("the flows of a host"));
        }
        self.queue_pairs = flows;
        self.load_nic(plan, from)?;
        self.connections.load(from)?;
        self.integrity.load(from)?;
        self.apps.load(from)?;
        for (connection, side) in self.apps.iter().flat_map(|apps| apps.connections()) {
            *shared.messages.under_way(connection, side) = load_value(from)?;
        }
        for end in self.apps.iter().flat_map(|apps| apps.ends_of_nvlink()) {
            *shared.wires.to(end) = load_value(from)?;
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.load(from)?;
        }
        self.stacks.load(from)?;
        if let Some(neighbours) = self.stacks.as_ref().and_then(|all| all.neighbours.as_ref()) {
            neighbours.check(plan)?;
        }
        if self.stacks.is_some() || self.turns.scheduler.minds_priorities() {
            return self.turns.scheduler.load(from);
        }
        Ok(())
    }

    /// Queue pairs of applications are there; those of flows are made when they start.
    fn load_nic(&mut self, plan: &Plan, from: &mut &[u8]) -> Result {
        let mut made: Vec<Option<QueuePairConfig>> = Vec::with_capacity(self.queue_pairs.len());
        for state in &self.queue_pairs {
            let flow = plan.flows.get(state.flow as usize);
            made.push(flow.map(|flow| {
                let ends = ConnectionEnds::planned(flow, flow.source == self.node);
                self.configuration(plan, state.flow, ends)
            }));
        }
        self.nic.load_with(from, |qpn| {
            let index = qpn.wrapping_sub(FIRST_QPN) as usize;
            made.get_mut(index).and_then(Option::take)
        })
    }
}
