//! The native switch memory in its general form, with all options of a scenario.

use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_units::Ratio;

use super::by_egress::HeldByEgress;
use super::in_use::{InUse, check_lossy, within};
use super::shared::{BufferError, BufferLayout, lossless_mask};
use super::{
    Admission, Arrival, BufferPolicy, Departure, DropReason, MemoryParts, Occupancy,
    PauseThresholds,
};
use crate::{Priority, SwitchConfig};

/// Accounting by ingress port and priority and by egress port and priority, in whole cells.
///
/// A frame of a lossless priority is stored as in [`SharedBuffer`](super::SharedBuffer), with these
/// additions:
///
/// * each priority may have a threshold of its own,
/// * the headroom may come from a pool that all ingress ports share (each up to its own limit),
/// * its egress queue may have a limit; a frame beyond it is dropped although it is lossless.
///
/// A frame of a lossy priority is stored in the reserve of its egress queue, or in the shared pool
/// up to the threshold of that queue and, if there is one, of its ingress port and priority.
///
/// [`SharedBuffer`](super::SharedBuffer) is faster. Where both support the parameters, both decide
/// alike (a property test compares them).
#[derive(Clone, Debug)]
pub struct PoolBuffer {
    /// By ingress port x 8 + priority.
    ingress: Vec<Ingress>,
    /// Bytes of memory in use, by egress port x 8 + priority.
    egress: Vec<u32>,
    shared: Pool,
    /// The pool of headroom, where all ports share one.
    headroom_pool: Option<Pool>,
    headroom_used: u32,
    reserve_used: u32,
    by_egress: HeldByEgress,
    rules: Rules,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    used: u32,
    limit: u32,
}

impl Pool {
    const fn free(self) -> u32 {
        self.limit - self.used
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Ingress {
    /// Bytes in the reserve and in the shared pool.
    stored: u32,
    headroom_used: u32,
    headroom_limit: u32,
    paused: bool,
}

rocelab_state::state!(Ingress { values: stored, headroom_used, paused; kept: headroom_limit });

/// The most that one queue may hold in the shared pool.
#[derive(Clone, Copy, Debug)]
enum Threshold {
    Fixed(u64),
    Dynamic(Ratio),
}

impl Threshold {
    /// The threshold in bytes while `free` bytes of the pool are free.
    fn bytes(self, free: u32) -> u64 {
        match self {
            Self::Fixed(limit) => limit,
            Self::Dynamic(alpha) => alpha.of(u64::from(free)),
        }
    }

    /// Whether `amount` is at most the threshold. Multiplies instead of dividing, which is faster.
    fn covers(self, amount: u64, free: u32) -> bool {
        match self {
            Self::Fixed(limit) => amount <= limit,
            Self::Dynamic(alpha) => {
                amount * u64::from(alpha.denominator())
                    <= u64::from(free) * u64::from(alpha.numerator())
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Rules {
    cell: u32,
    /// Bit p: PFC protects priority p.
    lossless: u8,
    xon_offset: u64,
    ingress_reserve: u32,
    egress_reserve: u32,
    /// By priority: the limit of its ingress ports (lossless) or of its egress queues (lossy).
    thresholds: [Threshold; 8],
    lossy_ingress: Option<Threshold>,
    lossless_egress_limit: Option<u64>,
}

impl State for PoolBuffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        self.ingress.save(to)?;
        save_value(&(&self.egress, &self.by_egress, self.rules.cell), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.ingress.load(from)?;
        let (egress, by_egress, cell): (Vec<u32>, _, u32) = load_value(from)?;
        if egress.len() != self.egress.len() {
            return Err(unfit("the number of a switch's ports"));
        }
        (self.egress, self.by_egress) = (egress, by_egress);
        let used = self.added_up()?;
        // Amounts that were counted in cells of one size cannot be released in cells of another.
        if cell != self.rules.cell && !used.is_empty() {
            return Err(unfit("the size of a buffer's cells"));
        }
        self.shared.used = within(used.shared, self.shared.limit)?;
        self.reserve_used = within(used.reserve, u32::MAX)?;
        self.headroom_used = within(used.headroom, u32::MAX)?;
        if let Some(pool) = &mut self.headroom_pool {
            pool.used = within(used.headroom, pool.limit)?;
        }
        Ok(())
    }
}

impl PoolBuffer {
    /// The memory in use, added up over all ports.
    fn added_up(&self) -> rocelab_state::Result<InUse> {
        let Rules { lossless, ingress_reserve, egress_reserve, .. } = self.rules;
        let mut used = InUse::default();
        for ((priority, state), &queued) in (0..8).cycle().zip(&self.ingress).zip(&self.egress) {
            if lossless & (1 << priority) != 0 {
                used.store(state.stored, ingress_reserve);
                used.headroom += u64::from(state.headroom_used);
            } else {
                check_lossy(state.headroom_used, state.paused)?;
                used.store(queued, egress_reserve);
            }
        }
        Ok(used)
    }

    /// The empty buffer of a switch whose ports have this much `headroom` each (bytes), per lossless
    /// priority.
    ///
    /// # Errors
    /// As [`BufferLayout::new`].
    pub fn new(
        config: &SwitchConfig,
        headroom: &[rocelab_units::Bytes],
    ) -> Result<Self, BufferError> {
        let layout = BufferLayout::new(config, headroom)?;
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let lossless = lossless_mask(&config.lossless);
        let is_lossless = |priority: u8| lossless & (1 << priority) != 0;
        let ingress = headroom
            .iter()
            .flat_map(|headroom| (0..8).map(move |priority| (headroom, priority)))
            .map(|(headroom, priority)| Ingress {
                headroom_limit: if is_lossless(priority) { bounded(headroom.get()) } else { 0 },
                ..Ingress::default()
            })
            .collect();
        let threshold = |priority: u8| match (config.xoff, is_lossless(priority)) {
            (Some(xoff), _) => Threshold::Fixed(xoff.get()),
            (None, is_lossless) => {
                let own = Priority::new(priority).and_then(|p| config.priority_alpha.get(&p));
                let class = if is_lossless { None } else { config.egress_alpha };
                Threshold::Dynamic(own.copied().or(class).unwrap_or(config.alpha))
            }
        };
        Ok(Self {
            ingress,
            egress: vec![0; headroom.len() * 8],
            shared: Pool { used: 0, limit: bounded(layout.shared) },
            headroom_pool: config
                .headroom_pool
                .map(|pool| Pool { used: 0, limit: bounded(pool.get()) }),
            headroom_used: 0,
            reserve_used: 0,
            by_egress: HeldByEgress::default(),
            rules: Rules {
                cell: bounded(config.cell.get()).max(1),
                lossless,
                // An offset larger than the buffer means: resume only when nothing is held.
                xon_offset: config.xon_offset.get().min(u64::from(u32::MAX)),
                ingress_reserve: bounded(config.reserve.get()),
                egress_reserve: bounded(config.egress_reserve.get()),
                thresholds: std::array::from_fn(|priority| {
                    threshold(u8::try_from(priority).unwrap_or(0))
                }),
                lossy_ingress: config.lossy_ingress_alpha.map(Threshold::Dynamic),
                lossless_egress_limit: config.lossless_egress_limit.map(|limit| limit.get()),
            },
        })
    }

    /// Whether a configuration needs this general form; [`SharedBuffer`](super::SharedBuffer) is
    /// enough for all others.
    pub fn is_needed(config: &SwitchConfig) -> bool {
        config.cell.get() > 1
            || !config.priority_alpha.is_empty()
            || config.egress_alpha.is_some_and(|alpha| alpha != config.alpha)
            || config.egress_reserve.get() > 0
            || config.lossy_ingress_alpha.is_some()
            || config.lossless_egress_limit.is_some()
            || config.headroom_pool.is_some()
    }

    /// The threshold of a priority now, in bytes of the shared pool.
    pub fn threshold(&self, priority: u8) -> u64 {
        self.rules.thresholds[usize::from(priority)].bytes(self.shared.free())
    }

    fn admit_lossless(&mut self, arrival: Arrival, memory: u32) -> Admission {
        let Arrival { ingress, egress, priority, .. } = arrival;
        let place = index(ingress, priority);
        let queued = self.egress[index(egress, priority)];
        if let Some(limit) = self.rules.lossless_egress_limit
            && u64::from(queued) + u64::from(memory) > limit
        {
            return Admission::Dropped(DropReason::EgressThreshold { queued, len: memory, limit });
        }
        let state = self.ingress[place];
        let reserve = self.rules.ingress_reserve;
        let after = (state.stored + memory).saturating_sub(reserve);
        let more = after - state.stored.saturating_sub(reserve);
        let threshold = self.rules.thresholds[usize::from(priority)];
        let free = self.shared.free();
        let fits = more == 0 || threshold.covers(u64::from(after), free) && more <= free;
        // Frames are counted in order of arrival: while some are in the headroom, later ones join
        // them there.
        if fits && state.headroom_used == 0 {
            self.shared.used += more;
            self.reserve_used += memory - more;
            self.ingress[place].stored += memory;
            self.egress[index(egress, priority)] += memory;
            return Admission::Stored;
        }
        self.admit_to_headroom(place, index(egress, priority), memory)
    }

    fn admit_to_headroom(&mut self, place: usize, egress: usize, memory: u32) -> Admission {
        let state = &mut self.ingress[place];
        let own = state.headroom_used + memory > state.headroom_limit;
        let pool = self.headroom_pool.filter(|pool| memory > pool.free());
        let reason = match (own, pool) {
            (true, _) => Some(DropReason::HeadroomExceeded {
                used: state.headroom_used,
                len: memory,
                limit: state.headroom_limit,
            }),
            (false, Some(Pool { used, limit })) => {
                Some(DropReason::HeadroomPoolExceeded { used, len: memory, limit })
            }
            (false, None) => None,
        };
        if let Some(reason) = reason {
            // Without stored frames there must be no pause: no departure would ever end it.
            let pauses = !state.paused && state.stored > 0;
            state.paused |= pauses;
            return if pauses {
                Admission::DroppedAndPause(reason)
            } else {
                Admission::Dropped(reason)
            };
        }
        state.headroom_used += memory;
        self.headroom_used += memory;
        self.egress[egress] += memory;
        if let Some(pool) = &mut self.headroom_pool {
            pool.used += memory;
        }
        if std::mem::replace(&mut state.paused, true) {
            Admission::Stored
        } else {
            Admission::StoredAndPause
        }
    }

    fn admit_lossy(&mut self, arrival: Arrival, memory: u32) -> Admission {
        let Arrival { ingress, egress, priority, .. } = arrival;
        let (place, queue) = (index(ingress, priority), index(egress, priority));
        let queued = self.egress[queue];
        let reserve = self.rules.egress_reserve;
        let after = (queued + memory).saturating_sub(reserve);
        let more = after - queued.saturating_sub(reserve);
        let (free, used, limit) = (self.shared.free(), self.shared.used, self.shared.limit);
        if more > 0 {
            let threshold = self.rules.thresholds[usize::from(priority)];
            if !threshold.covers(u64::from(after), free) {
                let limit = threshold.bytes(free).saturating_add(u64::from(reserve));
                let reason = DropReason::EgressThreshold { queued, len: memory, limit };
                return Admission::Dropped(reason);
            }
            let held = self.ingress[place].stored;
            if let Some(threshold) = self.rules.lossy_ingress
                && !threshold.covers(u64::from(held) + u64::from(more), free)
            {
                let limit = threshold.bytes(free);
                let reason = DropReason::IngressThreshold { used: held, len: more, limit };
                return Admission::Dropped(reason);
            }
            if more > free {
                return Admission::Dropped(DropReason::SharedBufferFull { used, len: more, limit });
            }
        }
        self.shared.used += more;
        self.reserve_used += memory - more;
        self.ingress[place].stored += memory;
        self.egress[queue] += memory;
        Admission::Stored
    }

    fn release_lossless(&mut self, place: usize, priority: u8, memory: u32) -> bool {
        let state = self.ingress[place];
        let reserve = self.rules.ingress_reserve;
        let from_headroom = memory.min(state.headroom_used);
        let from_stored = memory - from_headroom;
        let after = (state.stored - from_stored).saturating_sub(reserve);
        let from_shared = state.stored.saturating_sub(reserve) - after;
        self.headroom_used -= from_headroom;
        if let Some(pool) = &mut self.headroom_pool {
            pool.used -= from_headroom;
        }
        self.shared.used -= from_shared;
        self.reserve_used -= from_stored - from_shared;
        let state = &mut self.ingress[place];
        state.headroom_used -= from_headroom;
        state.stored -= from_stored;
        if !state.paused || state.headroom_used > 0 {
            return false;
        }
        let threshold = self.rules.thresholds[usize::from(priority)];
        let low = threshold.covers(u64::from(after) + self.rules.xon_offset, self.shared.free());
        let resume = state.stored == 0 || low;
        state.paused &= !resume;
        resume
    }

    fn release_lossy(&mut self, place: usize, queued_after: u32, memory: u32) {
        let reserve = self.rules.egress_reserve;
        let before = (queued_after + memory).saturating_sub(reserve);
        let from_shared = before - queued_after.saturating_sub(reserve);
        self.shared.used -= from_shared;
        self.reserve_used -= memory - from_shared;
        self.ingress[place].stored -= memory;
    }
}

impl BufferPolicy for PoolBuffer {
    fn admit(&mut self, arrival: Arrival) -> Admission {
        let memory = arrival.len.next_multiple_of(self.rules.cell);
        if self.rules.lossless & (1 << arrival.priority) == 0 {
            return self.admit_lossy(arrival, memory);
        }
        let admission = self.admit_lossless(arrival, memory);
        if admission.is_stored() {
            let place = index(arrival.ingress, arrival.priority);
            self.by_egress.add(place, arrival.egress, memory);
        }
        admission
    }

    fn release(&mut self, departure: Departure) -> bool {
        let Departure { ingress, egress, priority, len } = departure;
        let memory = len.next_multiple_of(self.rules.cell);
        let queue = index(egress, priority);
        self.egress[queue] -= memory;
        let place = index(ingress, priority);
        if self.rules.lossless & (1 << priority) == 0 {
            self.release_lossy(place, self.egress[queue], memory);
            return false;
        }
        self.by_egress.remove(place, egress, memory);
        self.release_lossless(place, priority, memory)
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        let state = &self.ingress[index(ingress, priority)];
        state.stored + state.headroom_used
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        self.by_egress.of(index(ingress, priority))
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        self.by_egress.follow(index(ingress, priority), held);
    }

    fn stored(&self) -> u64 {
        u64::from(self.shared.used) + u64::from(self.reserve_used) + u64::from(self.headroom_used)
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        let (state, rules) = (&self.ingress[index(ingress, priority)], &self.rules);
        let shared = state.stored.saturating_sub(rules.ingress_reserve);
        let thresholds = PauseThresholds::new(
            self.threshold(priority),
            u64::from(shared) + u64::from(self.shared.free()),
            u64::from(rules.ingress_reserve),
            rules.xon_offset,
        );
        Occupancy {
            stored: state.stored,
            headroom: state.headroom_used,
            headroom_limit: state.headroom_limit,
            thresholds: (rules.lossless & (1 << priority) != 0).then_some(thresholds),
        }
    }

    fn in_use(&self) -> MemoryParts {
        MemoryParts { shared: self.shared.used.into(), headroom: self.headroom_used.into() }
    }

    fn sizes(&self) -> MemoryParts {
        let sum = || self.ingress.iter().map(|state| u64::from(state.headroom_limit)).sum();
        MemoryParts {
            shared: self.shared.limit.into(),
            headroom: self.headroom_pool.map_or_else(sum, |pool| pool.limit.into()),
        }
    }

    fn memory_of(&self, len: u32) -> u32 {
        len.next_multiple_of(self.rules.cell)
    }
}

fn index(port: u16, priority: u8) -> usize {
    usize::from(port) * 8 + usize::from(priority)
}

#[cfg(test)]
mod tests;
