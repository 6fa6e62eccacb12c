//! The native switch memory: reserve, shared pool and headroom for each ingress port and priority.

use rocelab_state::{State, load_value, save_value};
use rocelab_units::{Bytes, Ratio};
use thiserror::Error;

use super::by_egress::HeldByEgress;
use super::in_use::{InUse, check_lossy, within};
use super::{
    Admission, Arrival, BufferPolicy, Departure, DropReason, MemoryParts, Occupancy,
    PauseThresholds,
};
use crate::SwitchConfig;

/// Shared-buffer accounting by ingress port and priority.
///
/// A frame of a lossless priority goes to the first of these that has room:
///
/// 1. the reserve of its ingress port and priority,
/// 2. the shared pool, up to the threshold: `alpha` times the free part of the pool, or a fixed
///    size,
/// 3. the headroom of its ingress port and priority; entering it means XOFF.
///
/// If none has room, the frame is dropped. That cannot happen if senders obey their pauses and the
/// headroom is [large enough](super::headroom). The sender resumes (XON) when its headroom is empty
/// and it holds `xon_offset` less than the threshold, or nothing. A frame of a lossy priority is
/// stored in the shared pool while its egress queue is below the threshold. Memory is released when
/// a frame starts to leave.
///
/// The fields are in the order of their use: those that every frame touches come first, on one
/// cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SharedBuffer {
    /// Indexed by priority x `ports` + ingress port. Few priorities are in use, so the entries of
    /// one priority are next to each other in the cache.
    ingress: Vec<IngressPriority>,
    threshold: Threshold,
    shared_used: u32,
    shared_limit: u32,
    reserve: u32,
    ports: u16,
    /// Bit p: PFC protects priority p.
    lossless: u8,
    xon_offset: u64,
    headroom_used: u32,
    reserve_used: u32,
    by_egress: HeldByEgress,
}

#[derive(Clone, Copy, Debug, Default)]
struct IngressPriority {
    /// Bytes in the reserve and in the shared pool.
    stored: u32,
    headroom_used: u32,
    headroom_limit: u32,
    paused: bool,
    /// Whether `by_egress` tracks it.
    followed: bool,
}

rocelab_state::state!(IngressPriority {
    values: stored, headroom_used, paused, followed;
    kept: headroom_limit
});

impl IngressPriority {
    /// Whether the fast path applies: nothing is in the headroom, and `by_egress` does not track
    /// it.
    #[inline]
    fn is_plain(&self) -> bool {
        self.headroom_used | u32::from(self.followed) == 0
    }
}

/// The most that one ingress priority or egress queue may hold in the shared pool.
#[derive(Clone, Copy, Debug)]
enum Threshold {
    Fixed(u64),
    Dynamic(Ratio),
}

impl State for SharedBuffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        self.ingress.save(to)?;
        save_value(&self.by_egress, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.ingress.load(from)?;
        self.by_egress = load_value(from)?;
        let (mut used, reserve) = (InUse::default(), self.reserve);
        for (place, state) in self.ingress.iter().enumerate() {
            if self.lossless >> (place / usize::from(self.ports)) & 1 != 0 {
                used.store(state.stored, reserve);
                used.headroom += u64::from(state.headroom_used);
            } else {
                check_lossy(state.headroom_used, state.paused)?;
                used.store(state.stored, 0);
            }
        }
        self.shared_used = within(used.shared, self.shared_limit)?;
        self.reserve_used = within(used.reserve, u32::MAX)?;
        self.headroom_used = within(used.headroom, u32::MAX)?;
        Ok(())
    }
}

/// How a switch's memory is divided, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLayout {
    /// The whole memory.
    pub total: u64,
    /// Sum of all headroom.
    pub headroom: u64,
    /// Sum of all reserves.
    pub reserve: u64,
    /// What is left to share.
    pub shared: u64,
}

/// The largest memory of a switch in bytes: the count still fits in 32 bits with one more frame on
/// top.
const MAX_BUFFER: u64 = 4_000_000_000;

/// A buffer that cannot be divided as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BufferError {
    /// Headroom and reserves leave nothing to share.
    #[error(
        "headroom {headroom} + reserves {reserve} of {ports} ports leave nothing of the buffer \
         {total} to share"
    )]
    NothingToShare {
        /// Sum of all headroom.
        headroom: Bytes,
        /// Sum of all reserves.
        reserve: Bytes,
        /// Number of ports.
        ports: usize,
        /// The buffer.
        total: Bytes,
    },
    /// The buffer is larger than 4 GB, beyond any switch.
    #[error("a buffer of {total} is more than the 4 GB that a switch can have here")]
    TooLarge {
        /// The buffer.
        total: Bytes,
    },
}

impl BufferLayout {
    /// Divides the buffer of a switch whose ports need `headroom` each, per lossless priority.
    ///
    /// # Errors
    /// If nothing is left to share, or the buffer is larger than 4 GB.
    pub fn new(config: &SwitchConfig, headroom: &[Bytes]) -> Result<Self, BufferError> {
        let priorities = u64::from(lossless_mask(&config.lossless).count_ones());
        let sum = headroom.iter().fold(0u64, |sum, h| sum.saturating_add(h.get()));
        let headroom_total = match config.headroom_pool {
            Some(pool) => pool.get(),
            None => sum.saturating_mul(priorities),
        };
        let per_port = config.reserve.get().saturating_mul(priorities).saturating_add(
            config.egress_reserve.get().saturating_mul(8_u64.saturating_sub(priorities)),
        );
        let reserve = per_port.saturating_mul(headroom.len() as u64);
        let total = config.buffer.get();
        if total > MAX_BUFFER {
            return Err(BufferError::TooLarge { total: config.buffer });
        }
        match total.checked_sub(headroom_total.saturating_add(reserve)) {
            Some(shared) if shared > 0 => {
                Ok(Self { total, headroom: headroom_total, reserve, shared })
            }
            _ => Err(BufferError::NothingToShare {
                headroom: Bytes::new(headroom_total),
                reserve: Bytes::new(reserve),
                ports: headroom.len(),
                total: config.buffer,
            }),
        }
    }
}

/// The priorities of the list as a mask: bit p for priority p.
pub(crate) fn lossless_mask(priorities: &[u8]) -> u8 {
    priorities
        .iter()
        .fold(0, |mask, &priority| mask | 1u8.checked_shl(priority.into()).unwrap_or(0))
}

impl SharedBuffer {
    /// The empty buffer of a switch whose ports have this much `headroom` each, per lossless
    /// priority.
    ///
    /// # Errors
    /// As [`BufferLayout::new`].
    pub fn new(config: &SwitchConfig, headroom: &[Bytes]) -> Result<Self, BufferError> {
        let layout = BufferLayout::new(config, headroom)?;
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let lossless = lossless_mask(&config.lossless);
        let ingress = (0..8)
            .flat_map(|priority| headroom.iter().map(move |headroom| (headroom, priority)))
            .map(|(headroom, priority)| IngressPriority {
                headroom_limit: if lossless & (1 << priority) == 0 {
                    0
                } else {
                    bounded(headroom.get())
                },
                ..IngressPriority::default()
            })
            .collect();
        Ok(Self {
            ingress,
            ports: u16::try_from(headroom.len()).unwrap_or(u16::MAX),
            shared_used: 0,
            shared_limit: bounded(layout.shared),
            threshold: match config.xoff {
                Some(xoff) => Threshold::Fixed(xoff.get()),
                None => Threshold::Dynamic(config.alpha),
            },
            // An offset larger than the buffer means: resume only when nothing is held.
            xon_offset: config.xon_offset.get().min(u64::from(u32::MAX)),
            reserve: bounded(config.reserve.get()),
            lossless,
            headroom_used: 0,
            reserve_used: 0,
            by_egress: HeldByEgress::default(),
        })
    }

    /// Whether an ingress priority has asked its sender to pause.
    pub fn is_paused(&self, ingress: u16, priority: u8) -> bool {
        self.ingress[self.place_of(ingress, priority)].paused
    }

    /// Whether `amount` bytes of the shared pool are at most the threshold. Multiplies instead of
    /// dividing, which is faster.
    #[inline]
    fn within_threshold(&self, amount: u64) -> bool {
        match self.threshold {
            Threshold::Fixed(limit) => amount <= limit,
            Threshold::Dynamic(alpha) => {
                let free = u64::from(self.shared_limit - self.shared_used);
                amount * u64::from(alpha.denominator()) <= free * u64::from(alpha.numerator())
            }
        }
    }

    /// The threshold now, in bytes.
    pub fn threshold(&self) -> u64 {
        match self.threshold {
            Threshold::Fixed(limit) => limit,
            Threshold::Dynamic(alpha) => alpha.of(u64::from(self.shared_limit - self.shared_used)),
        }
    }

    /// Bytes beyond the reserve.
    #[inline]
    fn beyond_reserve(&self, stored: u32) -> u32 {
        stored.saturating_sub(self.reserve)
    }

    fn admit_lossless(&mut self, arrival: Arrival) -> Admission {
        let place = self.place_of(arrival.ingress, arrival.priority);
        let state = self.ingress[place];
        let shared_before = self.beyond_reserve(state.stored);
        let shared_after = self.beyond_reserve(state.stored + arrival.len);
        let more = shared_after - shared_before;
        let fits = more == 0
            || (self.within_threshold(u64::from(shared_after))
                && u64::from(self.shared_used) + u64::from(more) <= u64::from(self.shared_limit));
        // Frames are counted in order of arrival: while some are in the headroom, later ones join
        // them there.
        if fits && state.headroom_used == 0 {
            self.shared_used += more;
            self.reserve_used += arrival.len - more;
            self.ingress[place].stored += arrival.len;
            return Admission::Stored;
        }
        let state = &mut self.ingress[place];
        if state.headroom_used + arrival.len > state.headroom_limit {
            let reason = DropReason::HeadroomExceeded {
                used: state.headroom_used,
                len: arrival.len,
                limit: state.headroom_limit,
            };
            // Without stored frames there must be no pause: no departure would ever end it.
            let pauses = !state.paused && state.stored > 0;
            state.paused |= pauses;
            return if pauses {
                Admission::DroppedAndPause(reason)
            } else {
                Admission::Dropped(reason)
            };
        }
        state.headroom_used += arrival.len;
        self.headroom_used += arrival.len;
        if std::mem::replace(&mut state.paused, true) {
            Admission::Stored
        } else {
            Admission::StoredAndPause
        }
    }

    fn admit_lossy(&mut self, arrival: Arrival) -> Admission {
        let Arrival { len, egress_queue, .. } = arrival;
        if !self.within_threshold(u64::from(egress_queue) + u64::from(len)) {
            let limit = self.threshold();
            return Admission::Dropped(DropReason::EgressThreshold {
                queued: egress_queue,
                len,
                limit,
            });
        }
        if u64::from(self.shared_used) + u64::from(len) > u64::from(self.shared_limit) {
            return Admission::Dropped(DropReason::SharedBufferFull {
                used: self.shared_used,
                len,
                limit: self.shared_limit,
            });
        }
        self.shared_used += len;
        let place = self.place_of(arrival.ingress, arrival.priority);
        self.ingress[place].stored += len;
        Admission::Stored
    }

    /// The index into `ingress` of an ingress port and priority.
    #[inline]
    fn place_of(&self, ingress: u16, priority: u8) -> usize {
        usize::from(priority) * usize::from(self.ports) + usize::from(ingress)
    }

    #[inline]
    fn is_lossless(&self, priority: u8) -> bool {
        self.lossless & (1 << priority) != 0
    }
}

impl BufferPolicy for SharedBuffer {
    #[inline(always)] // Inlined where a switch receives a frame; `admit_slow` is not.
    fn admit(&mut self, arrival: Arrival) -> Admission {
        debug_assert!(arrival.ingress < self.ports, "the switch has no such port");
        if !self.is_lossless(arrival.priority) {
            return self.admit_lossy(arrival);
        }
        // Fast path: the frame fits below the threshold, and neither reserve nor headroom is
        // involved.
        let place = self.place_of(arrival.ingress, arrival.priority);
        let state = &self.ingress[place];
        let (stored, shared) = (state.stored + arrival.len, self.shared_used + arrival.len);
        let plain = self.reserve == 0 && state.is_plain();
        if plain && shared <= self.shared_limit && self.within_threshold(u64::from(stored)) {
            self.shared_used = shared;
            self.ingress[place].stored = stored;
            return Admission::Stored;
        }
        self.admit_slow(arrival)
    }

    #[inline(always)]
    fn passes(&self, arrival: Arrival) -> bool {
        let state = &self.ingress[self.place_of(arrival.ingress, arrival.priority)];
        // The bytes that the threshold limits: of the ingress priority (lossless) or of the egress
        // queue (lossy).
        let (held, plain) = if self.is_lossless(arrival.priority) {
            (state.stored, self.reserve == 0 && state.is_plain() && !state.paused)
        } else {
            (arrival.egress_queue, true)
        };
        plain
            && self.shared_used + arrival.len <= self.shared_limit
            && self.within_threshold(u64::from(held + arrival.len))
    }

    #[inline(always)]
    fn release(&mut self, departure: Departure) -> bool {
        let place = self.place_of(departure.ingress, departure.priority);
        let state = &mut self.ingress[place];
        let plain = self.reserve == 0 && state.is_plain() && !state.paused;
        if plain || self.lossless & (1 << departure.priority) == 0 {
            state.stored -= departure.len;
            self.shared_used -= departure.len;
            return false;
        }
        self.release_lossless(departure)
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        let state = &self.ingress[self.place_of(ingress, priority)];
        state.stored + state.headroom_used
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        self.by_egress.of(self.place_of(ingress, priority))
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        let place = self.place_of(ingress, priority);
        self.ingress[place].followed = true;
        self.by_egress.follow(place, held);
    }

    #[inline]
    fn account(&self, ingress: u16, priority: u8) -> Option<&u32> {
        self.ingress.get(self.place_of(ingress, priority)).map(|state| &state.stored)
    }

    fn stored(&self) -> u64 {
        u64::from(self.shared_used) + u64::from(self.reserve_used) + u64::from(self.headroom_used)
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        let state = &self.ingress[self.place_of(ingress, priority)];
        let free = u64::from(self.shared_limit - self.shared_used);
        let shared = self.beyond_reserve(state.stored);
        let thresholds = PauseThresholds::new(
            self.threshold(),
            u64::from(shared) + free,
            u64::from(self.reserve),
            self.xon_offset,
        );
        Occupancy {
            stored: state.stored,
            headroom: state.headroom_used,
            headroom_limit: state.headroom_limit,
            thresholds: self.is_lossless(priority).then_some(thresholds),
        }
    }

    fn in_use(&self) -> MemoryParts {
        MemoryParts { shared: self.shared_used.into(), headroom: self.headroom_used.into() }
    }

    fn sizes(&self) -> MemoryParts {
        MemoryParts {
            shared: self.shared_limit.into(),
            headroom: self.ingress.iter().map(|state| u64::from(state.headroom_limit)).sum(),
        }
    }
}

impl SharedBuffer {
    /// The general case of [`BufferPolicy::admit`], kept out of the fast path's code.
    #[cold]
    #[inline(never)] // Keeps the fast path short.
    fn admit_slow(&mut self, arrival: Arrival) -> Admission {
        let admission = self.admit_lossless(arrival);
        if admission.is_stored() {
            let place = self.place_of(arrival.ingress, arrival.priority);
            self.by_egress.add(place, arrival.egress, arrival.len);
        }
        admission
    }

    /// The general case of [`BufferPolicy::release`]: headroom first, then shared pool, then
    /// reserve.
    #[cold]
    #[inline(never)]
    fn release_lossless(&mut self, departure: Departure) -> bool {
        let place = self.place_of(departure.ingress, departure.priority);
        self.by_egress.remove(place, departure.egress, departure.len);
        let state = self.ingress[place];
        let from_headroom = departure.len.min(state.headroom_used);
        let from_stored = departure.len - from_headroom;
        let shared_before = self.beyond_reserve(state.stored);
        let shared_after = self.beyond_reserve(state.stored - from_stored);
        self.headroom_used -= from_headroom;
        self.shared_used -= shared_before - shared_after;
        self.reserve_used -= from_stored - (shared_before - shared_after);
        let state = &mut self.ingress[place];
        state.headroom_used -= from_headroom;
        state.stored -= from_stored;
        if !state.paused || state.headroom_used > 0 {
            return false;
        }
        let empty = state.stored == 0;
        let resume = empty || self.within_threshold(u64::from(shared_after) + self.xon_offset);
        if resume {
            self.ingress[place].paused = false;
        }
        resume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SwitchConfig {
        SwitchConfig {
            buffer: Bytes::new(100_000),
            alpha: Ratio::new(1, 1),
            xon_offset: Bytes::new(1_000),
            ..SwitchConfig::default()
        }
    }

    fn buffer(config: &SwitchConfig) -> SharedBuffer {
        SharedBuffer::new(config, &[Bytes::new(5_000); 2]).unwrap()
    }

    fn arrive(buffer: &mut SharedBuffer, ingress: u16, priority: u8) -> Admission {
        buffer.admit(Arrival { ingress, egress: 0, priority, len: 1_000, egress_queue: 0 })
    }

    fn depart(buffer: &mut SharedBuffer, ingress: u16, priority: u8) -> bool {
        buffer.release(Departure { ingress, egress: 0, priority, len: 1_000 })
    }

    /// All of these fields and the entries of the switch's priorities are on one cache line.
    #[test]
    fn what_every_frame_touches_is_together() {
        assert!(std::mem::offset_of!(SharedBuffer, xon_offset) <= 56);
        assert_eq!(size_of::<crate::SwitchBuffer>(), size_of::<SharedBuffer>());
    }

    #[test]
    fn the_dynamic_threshold_pauses_at_alpha_times_the_free_pool() {
        // 90,000 shared: with alpha 1 an ingress priority gets half of it.
        let mut buffer = buffer(&config());
        for _ in 0..45 {
            assert_eq!(arrive(&mut buffer, 0, 3), Admission::Stored);
        }
        assert_eq!(arrive(&mut buffer, 0, 3), Admission::StoredAndPause);
        assert!(buffer.is_paused(0, 3) && !buffer.is_paused(1, 3));
        for _ in 0..4 {
            assert_eq!(arrive(&mut buffer, 0, 3), Admission::Stored);
        }
        assert_eq!(
            arrive(&mut buffer, 0, 3),
            Admission::Dropped(DropReason::HeadroomExceeded {
                used: 5_000,
                len: 1_000,
                limit: 5_000
            })
        );
        assert_eq!(buffer.stored(), 50_000);
    }

    #[test]
    fn without_headroom_a_crossing_drops_and_pauses() {
        let mut buffer = SharedBuffer::new(&config(), &[Bytes::ZERO; 2]).unwrap();
        while arrive(&mut buffer, 0, 3) == Admission::Stored {}
        assert!(buffer.is_paused(0, 3));
        assert!(matches!(arrive(&mut buffer, 0, 3), Admission::Dropped(_)), "asked for once");
        let mut never = SharedBuffer::new(
            &SwitchConfig { xoff: Some(Bytes::ZERO), ..config() },
            &[Bytes::ZERO; 2],
        )
        .unwrap();
        assert!(matches!(arrive(&mut never, 0, 3), Admission::Dropped(_)));
        assert!(!never.is_paused(0, 3), "nothing would end that pause");
    }

    #[test]
    fn the_sender_resumes_below_the_offset_with_an_empty_headroom() {
        let mut buffer = buffer(&config());
        for _ in 0..50 {
            arrive(&mut buffer, 0, 3);
        }
        let resumed = (1..=50).find(|_| depart(&mut buffer, 0, 3));
        // Five frames leave the headroom. At 44,000 stored, the threshold is 46,000; this is the
        // first time that the amount is below it by the offset of 1,000.
        assert_eq!(resumed, Some(6));
        while buffer.stored() > 0 {
            assert!(!depart(&mut buffer, 0, 3));
        }
    }

    #[test]
    fn an_empty_priority_always_resumes() {
        let mut buffer = buffer(&SwitchConfig { xoff: Some(Bytes::ZERO), ..config() });
        assert_eq!(arrive(&mut buffer, 0, 3), Admission::StoredAndPause);
        assert!(depart(&mut buffer, 0, 3));
        assert_eq!(buffer.stored(), 0);
    }

    #[test]
    fn a_reserve_is_used_before_the_pool() {
        let config = SwitchConfig { reserve: Bytes::new(2_500), ..config() };
        let mut buffer = buffer(&config);
        for _ in 0..3 {
            arrive(&mut buffer, 0, 3);
        }
        assert_eq!((buffer.shared_used, buffer.reserve_used), (500, 2_500));
        for _ in 0..3 {
            depart(&mut buffer, 0, 3);
        }
        assert_eq!((buffer.shared_used, buffer.reserve_used), (0, 0));
    }

    #[test]
    fn a_lossy_priority_drops_at_the_tail_and_says_why() {
        let mut buffer = buffer(&config());
        let long = Arrival { ingress: 0, egress: 0, priority: 0, len: 1_000, egress_queue: 89_500 };
        assert_eq!(
            buffer.admit(long),
            Admission::Dropped(DropReason::EgressThreshold {
                queued: 89_500,
                len: 1_000,
                limit: 90_000
            })
        );
        for _ in 0..90 {
            assert_eq!(arrive(&mut buffer, 0, 0), Admission::Stored);
        }
        let full = arrive(&mut buffer, 0, 0);
        assert!(matches!(full, Admission::Dropped(DropReason::EgressThreshold { limit: 0, .. })));
        assert!(full != Admission::Stored && buffer.stored() == 90_000);
    }

    #[test]
    fn a_buffer_that_is_all_headroom_is_refused() {
        let config = SwitchConfig { buffer: Bytes::new(10_000), ..config() };
        let error = SharedBuffer::new(&config, &[Bytes::new(5_000); 2]).unwrap_err();
        assert!(error.to_string().contains("leave nothing"), "{error}");
    }
}
