//! What the parts of a network count each for itself, and what is looked up by its number in any of
//! them.

use std::collections::BTreeMap;

use rocelab_results::DeliveryLog;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, unfit};
use rocelab_transport::CompletionStatus;
use rocelab_units::Duration;

use crate::network::core::Network;
use crate::network::course::{Course, Flows, Operations};
use crate::profile::roce::Roce;
use crate::record::{
    DropCause, Layer2Totals, NeighbourTotals, SwitchNotifications, Totals, Traversals,
};

/// Sums over all parts.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Sums {
    flows: Flows,
    /// But for open connections, which each part counts down.
    operations: Operations,
    opcodes: Vec<u64>,
    /// What hosts accepted of flows of RDMA, of TCP, and of each application.
    deliveries: Vec<DeliveryLog>,
    totals: SavedTotals,
    flow_ends: BTreeMap<u32, CompletionStatus>,
}

/// [`Totals`], but for what is worked out at the end.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct SavedTotals {
    traversals: Traversals,
    frames_created: u64,
    frames_delivered: u64,
    packets_delivered: u64,
    frames_dropped: u64,
    drops: BTreeMap<String, u64>,
    pauses: u64,
    storms: u64,
    resumes: u64,
    cnms: u64,
    switch_cnps: u64,
    multicast_copies: u64,
    floods: u64,
    flooded_frames: u64,
    neighbours: NeighbourTotals,
}

impl Sums {
    /// What a part has.
    pub(super) fn of(network: &Network<Roce>) -> Self {
        let flows = network.course.flows;
        let Operations { completed: done, failed: not_done, payload, .. } =
            network.course.operations;
        let ends = network.course.flow_ends.as_ref();
        Self {
            flows,
            operations: Operations {
                open_connections: 0,
                completed: done,
                failed: not_done,
                payload,
            },
            opcodes: network.course.opcodes.to_vec(),
            deliveries: network.course.deliveries.logs().cloned().collect(),
            totals: SavedTotals::of(&network.course.totals),
            flow_ends: ends.map(|ends| ends.by_flow.clone()).unwrap_or_default(),
        }
    }

    /// Adds what other parts have.
    pub(super) fn add(&mut self, other: Self) {
        let Self { flows, operations, opcodes, deliveries, totals, flow_ends } = other;
        self.flows.started += flows.started;
        self.flows.completed += flows.completed;
        self.flows.failed += flows.failed;
        self.flows.unopened_bytes += flows.unopened_bytes;
        self.flows.last_end = self.flows.last_end.max(flows.last_end);
        self.operations.completed += operations.completed;
        self.operations.failed += operations.failed;
        self.operations.payload += operations.payload;
        self.opcodes.resize(self.opcodes.len().max(opcodes.len()), 0);
        for (sum, count) in self.opcodes.iter_mut().zip(opcodes) {
            *sum += count;
        }
        if self.deliveries.is_empty() {
            self.deliveries = deliveries;
        } else {
            for (sum, log) in self.deliveries.iter_mut().zip(&deliveries) {
                sum.merge(log);
            }
        }
        self.totals.add(totals);
        self.flow_ends.extend(flow_ends);
    }

    /// Gives one part all that was counted.
    pub(super) fn put(&self, course: &mut Course<Roce>) -> Result {
        course.flows = self.flows;
        let Operations { open_connections: _, completed, failed, payload } = self.operations;
        let open_connections = course.operations.open_connections;
        course.operations = Operations { open_connections, completed, failed, payload };
        if self.opcodes.len() != course.opcodes.len() {
            return Err(unfit("the opcodes"));
        }
        course.opcodes.copy_from_slice(&self.opcodes);
        for (log, saved) in course.deliveries.logs_mut().zip(&self.deliveries) {
            log.clone_from(saved);
        }
        course.totals = self.totals.to_totals()?;
        Ok(())
    }

    /// Gives a part, whichever it is, what it may look up.
    ///
    /// # Errors
    /// If it does not fit.
    pub(super) fn put_everywhere(&self, course: &mut Course<Roce>) -> Result {
        let fits = course.deliveries.logs().count() == self.deliveries.len();
        if !fits || !self.deliveries.iter().all(DeliveryLog::is_sound) {
            return Err(unfit("what was delivered"));
        }
        // A branch may start its flows at other times.
        for (log, saved) in course.deliveries.logs_mut().zip(&self.deliveries) {
            if log.origin_ps() != saved.origin_ps() {
                *log = log.emptied(saved.origin_ps());
            }
        }
        if let Some(ends) = &mut course.flow_ends {
            ends.by_flow.clone_from(&self.flow_ends);
        }
        Ok(())
    }
}

impl SavedTotals {
    fn of(part: &Totals) -> Self {
        // Paused time, marks and opcodes are counted elsewhere and MAC entries in switches.
        let Totals {
            traversals,
            frames_created,
            frames_delivered,
            packets_delivered,
            frames_dropped,
            ref drops,
            pauses,
            storms,
            resumes,
            paused_time: _,
            notifications: SwitchNotifications { cnms, cnps: switch_cnps },
            multicast_copies,
            layer2: Layer2Totals { floods, flooded_frames, neighbours, mac_entries: _ },
            ecn_marks: _,
            opcodes: _,
        } = *part;
        Self {
            traversals,
            frames_created,
            frames_delivered,
            packets_delivered,
            frames_dropped,
            drops: drops.iter().map(|(&cause, &frames)| (cause.to_owned(), frames)).collect(),
            pauses,
            storms,
            resumes,
            cnms,
            switch_cnps,
            multicast_copies,
            floods,
            flooded_frames,
            neighbours,
        }
    }

    fn add(&mut self, other: Self) {
        let Self {
            traversals,
            frames_created,
            frames_delivered,
            packets_delivered,
            frames_dropped,
            drops,
            pauses,
            storms,
            resumes,
            cnms,
            switch_cnps,
            multicast_copies,
            floods,
            flooded_frames,
            neighbours,
        } = other;
        self.traversals += traversals;
        self.frames_created += frames_created;
        self.frames_delivered += frames_delivered;
        self.packets_delivered += packets_delivered;
        self.frames_dropped += frames_dropped;
        for (cause, frames) in drops {
            *self.drops.entry(cause).or_default() += frames;
        }
        self.pauses += pauses;
        self.storms += storms;
        self.resumes += resumes;
        self.cnms += cnms;
        self.switch_cnps += switch_cnps;
        self.multicast_copies += multicast_copies;
        self.floods += floods;
        self.flooded_frames += flooded_frames;
        self.neighbours += neighbours;
    }

    fn to_totals(&self) -> Result<Totals> {
        let mut drops = BTreeMap::new();
        for (cause, &frames) in &self.drops {
            let name = DropCause::named(cause).ok_or_else(|| unfit("why frames were dropped"))?;
            drops.insert(name, frames);
        }
        Ok(Totals {
            traversals: self.traversals,
            frames_created: self.frames_created,
            frames_delivered: self.frames_delivered,
            packets_delivered: self.packets_delivered,
            frames_dropped: self.frames_dropped,
            drops,
            pauses: self.pauses,
            storms: self.storms,
            resumes: self.resumes,
            paused_time: Duration::ZERO,
            notifications: SwitchNotifications { cnms: self.cnms, cnps: self.switch_cnps },
            multicast_copies: self.multicast_copies,
            layer2: Layer2Totals {
                floods: self.floods,
                flooded_frames: self.flooded_frames,
                neighbours: self.neighbours,
                ..Layer2Totals::default()
            },
            ..Totals::default()
        })
    }
}
