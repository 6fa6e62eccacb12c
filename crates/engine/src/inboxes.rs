//! What waits in each unit of a world, by windows of time.

use rocelab_units::SimTime;

use crate::bins::Blocks;
use crate::{EventKey, Scheduled};

/// Precision of divisions by the length of a window.
const RECIPROCAL_BITS: u32 = 44;

/// Windows that inboxes hold at once: the one that runs, and those that follow it.
const RING: usize = 16;

/// The inboxes of all units.
///
/// A window's events are a bag for each unit, in blocks out of one store; they are put in order as the unit's turn
/// comes. Windows are counted from time zero.
#[derive(Debug)]
pub(crate) struct Inboxes<E> {
    /// Picoseconds of a window.
    length: u64,
    /// 2^[`RECIPROCAL_BITS`] / `length`, rounded down.
    reciprocal: u64,
    /// The first window that may hold something.
    window: u64,
    /// When it begins, in ps.
    start: u64,
    /// For each unit and window, the place in the store behind the last event; 0 if there is none.
    ends: Vec<[u32; RING]>,
    windows: [Window; RING],
    /// The memory of a list of units, for the next window.
    spare: Vec<u32>,
    blocks: Blocks<E>,
}

/// A window of time.
#[derive(Debug)]
struct Window {
    /// The units that something happens in.
    units: Vec<u32>,
    /// When the first of it does.
    first: SimTime,
}

impl Window {
    const EMPTY: Self = Self { units: Vec::new(), first: SimTime::NEVER };
}

impl<E: Copy> Inboxes<E> {
    /// No inboxes.
    pub(crate) fn none() -> Self {
        Self {
            length: 1,
            reciprocal: 0,
            window: 0,
            start: 0,
            ends: Vec::new(),
            windows: [Window::EMPTY; RING],
            spare: Vec::new(),
            blocks: Blocks::new(),
        }
    }

    /// Those of so many units, empty, with windows of `length` ps.
    pub(crate) fn of(units: u32, length: u64) -> Self {
        let (reciprocal, count) = ((1 << RECIPROCAL_BITS) / length, units as usize);
        // A list has each unit once at the most: it never has to grow.
        let list = || Vec::with_capacity(count);
        let windows = std::array::from_fn(|_| Window { units: list(), ..Window::EMPTY });
        let ends = vec![[0; RING]; count];
        Self { length, reciprocal, ends, windows, spare: list(), ..Self::none() }
    }

    /// Whether there are any.
    #[inline(always)]
    pub(crate) fn are_any(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Number of events that wait.
    pub(crate) fn len(&self) -> usize {
        self.scheduled().count()
    }

    /// In how many inboxes of units and windows something waits that no unit has begun with.
    pub(crate) fn occupied(&self) -> usize {
        self.windows.iter().map(|window| window.units.len()).sum()
    }

    /// Puts an event into a unit's inbox. False if it is too many windows away.
    #[inline(always)]
    pub(crate) fn push(&mut self, unit: u32, key: EventKey, event: E) -> bool {
        debug_assert!(key.time.ps() >= self.start, "a window that is over");
        let since = key.time.ps() - self.start;
        if since >= self.length * RING as u64 {
            return false;
        }
        let mut ahead = (since * self.reciprocal) >> RECIPROCAL_BITS;
        // The quotient may be one too small.
        ahead += u64::from(since - ahead * self.length >= self.length);
        let slot = slot_of(self.window + ahead);
        let end = &mut self.ends[unit as usize][slot];
        let window = &mut self.windows[slot];
        if *end == 0 {
            window.units.push(unit);
        }
        window.first = window.first.min(key.time);
        *end = self.blocks.push(*end, key, || event);
        true
    }

    /// When the first event happens.
    pub(crate) fn next(&self) -> SimTime {
        self.next_window().map_or(SimTime::NEVER, |number| self.windows[slot_of(number)].first)
    }

    /// The first window that holds something.
    pub(crate) fn next_window(&self) -> Option<u64> {
        let mut all = self.window..self.window + RING as u64;
        all.find(|&number| !self.windows[slot_of(number)].units.is_empty())
    }

    /// Makes sure that a window is one that inboxes hold, if they hold nothing at all.
    pub(crate) fn reach(&mut self, window: u64) {
        if window.wrapping_sub(self.window) >= RING as u64 {
            self.go_to(window);
        }
    }

    /// Nothing waits in windows before this one, and nothing is put there any more.
    pub(crate) fn go_to(&mut self, window: u64) {
        debug_assert!(
            self.next_window().is_none_or(|next| next >= window),
            "a window is passed over"
        );
        (self.window, self.start) = (window, window * self.length);
    }

    /// The window that a time is in.
    pub(crate) fn window_of(&self, time: SimTime) -> u64 {
        time.ps() / self.length
    }

    /// The first instant of a window.
    pub(crate) fn start_of(&self, window: u64) -> SimTime {
        SimTime::from_ps(window * self.length)
    }

    /// The last instant of a window; a run ends before the last instant of all.
    pub(crate) fn end_of(&self, window: u64) -> SimTime {
        SimTime::from_ps((window * self.length).saturating_add(self.length - 1).min(u64::MAX - 1))
    }

    /// The units that something happens in during the first window, which are given back
    /// by [`Self::give_back`].
    pub(crate) fn take_units(&mut self) -> Vec<u32> {
        let window = &mut self.windows[slot_of(self.window)];
        window.first = SimTime::NEVER;
        std::mem::replace(&mut window.units, std::mem::take(&mut self.spare))
    }

    /// The memory of a list of units, for the next one.
    pub(crate) fn give_back(&mut self, mut units: Vec<u32>) {
        units.clear();
        self.spare = units;
    }

    /// Moves the events of a unit in the first window behind those of a list, in order.
    #[inline(always)]
    pub(crate) fn pour(&mut self, unit: u32, to: &mut Vec<Scheduled<E>>) {
        let end = std::mem::take(&mut self.ends[unit as usize][slot_of(self.window)]);
        let width = u64::BITS - (self.length - 1).leading_zeros();
        self.blocks.pour(end, (self.start, width), to);
    }

    /// Asks for the last events of a unit in the first window.
    #[inline(always)]
    pub(crate) fn prefetch(&self, unit: u32) {
        self.blocks.prefetch(self.ends[unit as usize][slot_of(self.window)]);
    }

    /// All events that wait, in no order.
    pub(crate) fn scheduled(&self) -> impl Iterator<Item = Scheduled<E>> + '_ {
        self.ends.iter().flatten().flat_map(|&end| self.blocks.of(end)).copied()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "its last bits are what counts")]
#[inline(always)]
const fn slot_of(window: u64) -> usize {
    window as usize % RING
}
