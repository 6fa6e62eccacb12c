//! One host, from programs to the wire and back.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bytes, Duration, SimTime};

use crate::cache::{CacheCounts, ContextCache};
use crate::later::Later;
use crate::memory::MemoryPath;
use crate::pcie::{Direction, Pcie};
use crate::pipeline::Pipeline;
use crate::posting::{Posting, work_queue_blocks};
use crate::profile::HostProfile;
use crate::queue_pair::{GRANULE, QueuePairPath};
use crate::reads::Reads;

/// The way of everything between the programs of a host and its NIC's port.
#[derive(Clone, Debug)]
pub struct HostPath {
    profile: HostProfile,
    seed: u64,
    posting: Posting,
    bus: Bus,
    transmit: Pipeline,
    receive: Pipeline,
    contexts: Option<ContextCache>,
    translations: Option<ContextCache>,
    memory: MemoryPath,
    buffer: Buffer,
    clocks: Clocks,
    queue_pairs: Vec<QueuePairPath>,
}

rocelab_state::state!(HostPath {
    values: posting, bus, transmit, receive, buffer, clocks, queue_pairs;
    states: contexts, translations, memory;
    kept: profile, seed
});

/// PCIe's two directions, and reads.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Bus {
    up: Direction,
    down: Direction,
    reads: Reads,
}

/// What has arrived and is not in memory.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Buffer {
    /// The bytes of each frame, by when it leaves. What has no payload does not wait behind what has.
    frames: Later<u32>,
    stored: u64,
    most: u64,
}

/// Instants that later ones keep behind.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Clocks {
    /// When the next packet with payload may leave.
    departure: SimTime,
    /// When the reads outstanding have brought what has left.
    fetching: SimTime,
    /// When the last frame that arrived is through the pipeline.
    reception: SimTime,
    /// When the next atomic operation may be carried out.
    atomic: SimTime,
    /// Places in memory that were drawn.
    places: u64,
}

/// What kind of work is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SEND or WRITE: payload leaves.
    Outbound,
    /// READ or an atomic operation: payload comes.
    Inbound,
}

/// Work that a program posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The queue pair, by its place.
    pub index: u32,
    /// Which way its payload goes.
    pub kind: Kind,
    /// Its payload (bytes).
    pub bytes: u32,
}

/// A frame that arrives for a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// The queue pair, by its place.
    pub index: u32,
    /// Bytes of the frame.
    pub frame_len: u32,
    /// Its payload (bytes).
    pub payload: u32,
    /// Whether a message begins with it.
    pub begins: bool,
    /// Whether it is a request, which is answered.
    pub is_request: bool,
    /// What it asks to read here (bytes), of a READ.
    pub reads: u32,
    /// Whether it asks for an atomic operation.
    pub is_atomic: bool,
    /// Whether it takes its sender's credits until memory has it: then it goes no farther before.
    pub credited: bool,
}

/// What becomes of a frame that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Accepted {
    /// When it reaches its queue pair.
    pub at: SimTime,
    /// When memory has its payload.
    pub written: SimTime,
}

/// What a host has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Doorbells that rang.
    pub doorbells: u64,
    /// Bytes over PCIe towards memory, headers included.
    pub pcie_up: u64,
    /// Bytes over PCIe from memory, headers included.
    pub pcie_down: u64,
    /// Contexts of queue pairs that were there, and that were not.
    pub contexts: CacheCounts,
    /// Translations that were there, and that were not.
    pub translations: CacheCounts,
    /// The same in the IOMMU.
    pub pages: CacheCounts,
    /// The most bytes that were in the NIC's buffer.
    pub max_buffered: u64,
    /// How long writes waited for memory, all together.
    pub waited_for_memory: Duration,
}

/// Bytes of a completion queue element.
const COMPLETION: u64 = 64;
/// Bytes of a doorbell.
const DOORBELL: u64 = 8;
/// Bytes of a translation that is fetched.
const TRANSLATION: u64 = 64;

impl HostPath {
    /// A host that has nothing to do.
    pub fn new(profile: HostProfile, seed: u64) -> Self {
        let cache = |entries: Option<u32>, salt| {
            entries
                .map(|entries| ContextCache::new(entries, profile.caches.replacement, seed ^ salt))
        };
        let tags = profile.pcie.map_or(1, |pcie| pcie.tags);
        Self {
            seed,
            posting: Posting::new(profile.posting.threads),
            bus: Bus {
                up: Direction::default(),
                down: Direction::default(),
                reads: Reads::new(tags),
            },
            transmit: Pipeline::new(profile.transmit.units),
            receive: Pipeline::new(profile.receive.units),
            contexts: cache(profile.caches.contexts, 1),
            translations: cache(profile.caches.translations, 2),
            memory: MemoryPath::new(profile.memory.clone(), seed ^ 3),
            buffer: Buffer::default(),
            clocks: Clocks::default(),
            queue_pairs: Vec::new(),
            profile,
        }
    }

    /// What it is like.
    pub const fn profile(&self) -> &HostProfile {
        &self.profile
    }

    /// A queue pair was made before anything else happens, and its context is kept as long as others leave it room.
    pub fn add_queue_pair(&mut self, index: u32) {
        if let Some(contexts) = &mut self.contexts {
            contexts.hold(index);
        }
    }

    /// A program posts work. Gives when the NIC may take it up.
    pub fn post(&mut self, now: SimTime, work: Posted) -> SimTime {
        let HostProfile { posting, queue_pair_interval, .. } = self.profile;
        let (written, rings) = self.posting.post(now, work.index, &posting);
        let stored = if posting.batch <= 1 {
            // BlueFlame: the element itself goes with the doorbell.
            work_queue_blocks(self.inline_of(work)) * 64
        } else if rings {
            DOORBELL
        } else {
            0
        };
        let at_nic = self.store(now, written, stored);
        let state = self.queue_pair(work.index);
        let may = at_nic.max(state.next);
        state.next = may.saturating_add(queue_pair_interval);
        may
    }

    /// When the NIC has a unit for the next work request.
    pub fn unit_free_at(&self) -> SimTime {
        self.transmit.free_at()
    }

    /// The NIC takes up a work request that [may be](Self::post) taken up, and for which there is a [unit](Self::unit_free_at).
    /// Gives when its first packet may leave.
    pub fn take_up(&mut self, now: SimTime, work: Posted) -> SimTime {
        let HostProfile { posting, transmit, .. } = self.profile;
        let inline = self.inline_of(work);
        let fetches = work.kind == Kind::Outbound && inline.is_none() && work.bytes > 0;
        let place = if fetches { self.draw_place() } else { None };
        let mut known = now;
        if posting.batch > 1 {
            known = self.read(now, now, None, work_queue_blocks(inline) * 64);
        }
        let mut pipeline = std::mem::replace(&mut self.transmit, Pipeline::new(1));
        let (_, ends) = pipeline.handle(now, |begins| {
            let at = self.look_up_context(now, begins, work.index);
            self.look_up_translation(now, at, place).saturating_add(transmit.service)
        });
        self.transmit = pipeline;
        let mut ready = ends.max(known.saturating_add(transmit.service));
        let bytes = u64::from(work.bytes);
        let state = self.queue_pair(work.index);
        // Behind others of its queue pair it is fetched while those leave.
        let is_first = state.leaving == 0;
        if work.kind == Kind::Outbound {
            state.leaving += bytes;
        }
        if inline.is_some() {
            state.fetched += bytes;
        } else if fetches && is_first {
            let first = bytes.min(GRANULE);
            state.fetched += first;
            ready = self.read(now, ready, place, first);
        }
        let state = self.queue_pair(work.index);
        state.ready = state.ready.max(ready.saturating_add(transmit.latency));
        state.ready
    }

    /// The payload that goes with a work request, if it does.
    fn inline_of(&self, work: Posted) -> Option<u32> {
        let fits = work.kind == Kind::Outbound && work.bytes <= self.profile.posting.inline;
        fits.then_some(work.bytes)
    }

    /// When the next packet with payload may leave.
    pub const fn departure(&self) -> SimTime {
        self.clocks.departure
    }

    /// A packet of a queue pair with so much payload leaves, of an answer to a READ or of a work request.
    pub fn depart(&mut self, now: SimTime, index: u32, payload: u32, is_answer: bool) {
        if payload == 0 {
            return;
        }
        let payload = u64::from(payload);
        let state = self.queue_pair(index);
        let fetched = if is_answer {
            &mut state.fetched_for_answers
        } else {
            state.leaving = state.leaving.saturating_sub(payload);
            &mut state.fetched
        };
        let known = payload.min(*fetched);
        *fetched -= known;
        let mut next = now.saturating_add(self.profile.packet_interval);
        let rest = payload - known;
        if let Some(pcie) = self.profile.pcie.filter(|_| rest > 0) {
            // It was fetched ahead, as far as reads outstanding reach.
            let rate = pcie.packet_rate();
            let asked = now.saturating_sub(pcie.read_latency);
            let brought = self.bus.down.carry(asked, asked, pcie.completion_bytes(rest), rate);
            self.bus.up.carry(asked, asked, pcie.request_bytes(rest), rate);
            next = next.max(brought);
            if let Some(rate) = pcie.outstanding_rate() {
                let takes = rate.transmission_time(Bytes::new(rest));
                self.clocks.fetching = self.clocks.fetching.max(asked).saturating_add(takes);
                next = next.max(self.clocks.fetching);
            }
        }
        self.clocks.departure = self.clocks.departure.max(next);
    }

    /// Bytes in the NIC's buffer.
    pub fn buffered(&mut self, now: SimTime) -> u64 {
        self.buffer.drain(now);
        self.buffer.stored
    }

    /// When no more than so many bytes will be in the buffer, if nothing else arrives.
    pub fn drained_to(&self, bytes: u64) -> SimTime {
        let mut left = self.buffer.stored;
        for (at, &len) in self.buffer.frames.iter() {
            left -= u64::from(len);
            if left <= bytes {
                return at;
            }
        }
        SimTime::ZERO
    }

    /// A frame arrives. Gives when it reaches its queue pair; nothing if the NIC has no room for it.
    pub fn accept(&mut self, now: SimTime, frame: &Arriving) -> Option<Accepted> {
        self.buffer.drain(now);
        let room = self.profile.buffer.unwrap_or(u64::MAX);
        if self.buffer.stored + u64::from(frame.frame_len) > room {
            return None;
        }
        let HostProfile { receive, .. } = self.profile;
        let payload = u64::from(frame.payload);
        if payload > 0 && frame.begins {
            let place = self.draw_place();
            self.queue_pair(frame.index).place = place.unwrap_or(0);
        }
        let place = (payload > 0 && self.minds_places()).then(|| {
            let state = self.queue_pair(frame.index);
            state.place + if frame.begins { 0 } else { state.arriving }
        });
        let mut pipeline = std::mem::replace(&mut self.receive, Pipeline::new(1));
        let (_, handled) = pipeline.handle(now, |begins| {
            let at = self.look_up_context(now, begins, frame.index);
            self.look_up_translation(now, at, place).saturating_add(receive.service)
        });
        self.receive = pipeline;
        let through = handled.saturating_add(receive.latency).max(self.clocks.reception);
        self.clocks.reception = through;
        let (left, written) = self.write(now, through, frame, place);
        self.buffer.hold(left, frame.frame_len);
        let reached = if frame.credited { through.max(left) } else { through };
        Some(Accepted { at: self.deliver(now, reached, frame), written })
    }

    /// A frame reaches its queue pair, whose payload is written at that time.
    pub fn note_reached(&mut self, index: u32, written: SimTime) {
        let state = self.queue_pair(index);
        state.written = state.written.max(written);
    }

    /// A work request of a queue pair is over, or a message has arrived; `with_payload` if it counts that payload came.
    /// Gives when the program knows.
    pub fn complete(&mut self, now: SimTime, index: u32, with_payload: bool) -> SimTime {
        // A request has reached its queue pair as its answer may leave; what it brought was through the pipeline before.
        let mut at = if with_payload { self.queue_pair(index).written } else { now };
        if let Some(pcie) = self.profile.pcie {
            let bytes = pcie.write_bytes(COMPLETION);
            let carried = self.bus.up.carry(now, at, bytes, pcie.packet_rate());
            at = carried.saturating_add(pcie.write_latency);
        }
        let posting = self.profile.posting;
        if posting.poll > Duration::ZERO || posting.interrupt.is_some() {
            at = self.posting.find(at, index, &posting);
        }
        let state = self.queue_pair(index);
        state.found = at.max(now).max(state.found);
        state.found
    }

    /// A program has a completion of a queue pair now, as [`complete`](Self::complete) said.
    pub fn note_found(&mut self, now: SimTime, index: u32) {
        self.posting.note_found(now, index);
    }

    /// What it has done.
    pub fn counts(&self) -> HostCounts {
        let of = |cache: &Option<ContextCache>| {
            cache.as_ref().map(ContextCache::counts).unwrap_or_default()
        };
        HostCounts {
            doorbells: self.posting.doorbells(),
            pcie_up: self.bus.up.bytes(),
            pcie_down: self.bus.down.bytes(),
            contexts: of(&self.contexts),
            translations: of(&self.translations),
            pages: self.memory.translations(),
            max_buffered: self.buffer.most,
            waited_for_memory: self.memory.waited(),
        }
    }

    fn queue_pair(&mut self, index: u32) -> &mut QueuePairPath {
        let place = index as usize;
        if self.queue_pairs.len() <= place {
            self.queue_pairs.resize(place + 1, QueuePairPath::default());
        }
        &mut self.queue_pairs[place]
    }

    /// A store of the processor to the NIC, at `from`.
    fn store(&mut self, now: SimTime, from: SimTime, bytes: u64) -> SimTime {
        let Some(pcie) = self.profile.pcie else { return from };
        let bytes = pcie.write_bytes(bytes);
        let carried = self.bus.down.carry(now, from, bytes, pcie.packet_rate());
        carried.saturating_add(pcie.doorbell_latency)
    }

    fn read(&mut self, now: SimTime, from: SimTime, place: Option<u64>, bytes: u64) -> SimTime {
        let Some(pcie) = self.profile.pcie else { return from };
        let Bus { up, down, reads } = &mut self.bus;
        reads.read(now, from, (place, bytes), pcie, (up, down), &mut self.memory)
    }

    fn look_up_context(&mut self, now: SimTime, from: SimTime, index: u32) -> SimTime {
        let is_there = self.contexts.as_mut().is_none_or(|contexts| contexts.has(index));
        let bytes = self.profile.caches.context_len.into();
        if is_there { from } else { self.read(now, from, None, bytes) }
    }

    fn look_up_translation(&mut self, now: SimTime, from: SimTime, place: Option<u64>) -> SimTime {
        let (Some(translations), Some(place)) = (&mut self.translations, place) else {
            return from;
        };
        let page = u32::try_from(place / self.profile.caches.page).unwrap_or(u32::MAX - 1);
        if translations.has(page) { from } else { self.read(now, from, None, TRANSLATION) }
    }

    const fn minds_places(&self) -> bool {
        self.profile.caches.registered > 0
    }

    /// Where the next message lies.
    fn draw_place(&mut self) -> Option<u64> {
        if !self.minds_places() {
            return None;
        }
        self.clocks.places += 1;
        let drawn =
            SplitMix64::seed_from_u64(self.seed.wrapping_add(self.clocks.places)).next_u64();
        let granules = (self.profile.caches.registered / GRANULE).max(1);
        Some(drawn % granules * GRANULE)
    }

    /// Payload goes to memory from `from` on. Gives when the NIC is rid of it, and when all of it that it gathers with it is written.
    fn write(
        &mut self,
        now: SimTime,
        from: SimTime,
        frame: &Arriving,
        place: Option<u64>,
    ) -> (SimTime, SimTime) {
        let bytes = u64::from(frame.payload);
        if bytes == 0 {
            return (from, from);
        }
        let gathered = self.queue_pair(frame.index).arrive(bytes, frame.begins);
        let (found, walk) = match place {
            Some(place) => self.memory.translate(from, place),
            None => (from, Duration::ZERO),
        };
        let Some(pcie) = self.profile.pcie else {
            let left = self.memory.write(found.saturating_add(walk), bytes);
            return (left, left);
        };
        let rate = pcie.packet_rate();
        let carried = self.bus.up.carry(now, found, pcie.write_bytes(bytes), rate);
        let left = self.memory.write(carried.saturating_add(walk), bytes);
        // The part of its granule that came before is written with it.
        let before = pcie.write_bytes(gathered) - pcie.write_bytes(bytes.min(gathered));
        (left, left.saturating_add(rate.transmission_time(Bytes::new(before))))
    }

    /// When a frame that is through the pipeline reaches its queue pair: what is answered, as the answer may leave. Requests of a
    /// queue pair keep their order.
    fn deliver(&mut self, now: SimTime, through: SimTime, frame: &Arriving) -> SimTime {
        if !frame.is_request {
            return through;
        }
        let HostProfile { transmit, atomic_interval, .. } = self.profile;
        let mut at = through;
        if frame.reads > 0 {
            let first = u64::from(frame.reads).min(GRANULE);
            let place = self.draw_place();
            at = self.look_up_translation(now, at, place);
            at = self.read(now, at, place, first).saturating_add(transmit.service);
            let most = self.profile.pcie.map_or(GRANULE, Pcie::outstanding_bytes);
            let state = self.queue_pair(frame.index);
            state.fetched_for_answers = (state.fetched_for_answers + first).min(most);
        } else if frame.is_atomic {
            at = self.read(now, at, None, 8).max(self.clocks.atomic);
            self.clocks.atomic = at.saturating_add(atomic_interval);
        }
        let state = self.queue_pair(frame.index);
        state.requested = state.requested.max(at.saturating_add(transmit.latency));
        state.requested
    }
}

impl Buffer {
    fn drain(&mut self, now: SimTime) {
        while let Some(len) = self.frames.pop_due(now) {
            self.stored -= u64::from(len);
        }
    }

    fn hold(&mut self, until: SimTime, len: u32) {
        self.frames.push(until, len);
        self.stored += u64::from(len);
        self.most = self.most.max(self.stored);
    }
}
