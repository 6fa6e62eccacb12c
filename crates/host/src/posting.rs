//! How programs post work: what a processor does for it, and what goes to the NIC.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

/// What posting costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostingConfig {
    /// Threads that post, each for its share of the queue pairs.
    pub threads: u16,
    /// Writing one work queue element.
    pub post: Duration,
    /// Ringing the doorbell, with the barriers before it.
    pub doorbell: Duration,
    /// Requests that one doorbell tells of, of those that are posted at once.
    pub batch: u16,
    /// Payload up to this goes with the work queue element (bytes).
    pub inline: u32,
    /// Finding a completion.
    pub poll: Duration,
    /// From a completion in memory until a sleeping program runs, if it sleeps.
    pub interrupt: Option<Duration>,
}

/// The threads that post.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Posting {
    free_at: Vec<SimTime>,
    /// When each has found all completions that are on their way.
    found: Vec<SimTime>,
    /// The queue pair, time and count of the requests of the last doorbell.
    last: (u32, SimTime, u16),
    doorbells: u64,
}

impl Posting {
    /// So many threads, at least one, and all are idle.
    pub fn new(threads: u16) -> Self {
        let free_at = vec![SimTime::ZERO; usize::from(threads.max(1))];
        Self { found: free_at.clone(), free_at, last: (u32::MAX, SimTime::ZERO, 0), doorbells: 0 }
    }

    /// A program posts a request to queue pair number `index` at `now`. Gives when the processor is done with it, and whether a
    /// doorbell rings for it.
    ///
    /// The doorbell counts with the first request of those that it tells of.
    pub fn post(&mut self, now: SimTime, index: u32, config: &PostingConfig) -> (SimTime, bool) {
        let (of, at, count) = self.last;
        let joins = of == index && at == now && count < config.batch;
        self.last = (index, now, if joins { count + 1 } else { 1 });
        let mut takes = config.post;
        if !joins {
            self.doorbells += 1;
            takes += config.doorbell;
        }
        let free_at = self.thread_of(index);
        *free_at = now.max(*free_at).saturating_add(takes);
        (*free_at, !joins)
    }

    /// A completion of queue pair number `index` is in memory at `there`. Gives when a program has it: they find one after the
    /// other.
    pub fn find(&mut self, there: SimTime, index: u32, config: &PostingConfig) -> SimTime {
        let woken = there.saturating_add(config.interrupt.unwrap_or_default());
        let place = index as usize % self.free_at.len();
        let found = &mut self.found[place];
        *found = woken.max(*found).saturating_add(config.poll);
        *found
    }

    /// A program has found a completion of queue pair number `index` by now, which kept its thread from posting.
    pub fn note_found(&mut self, now: SimTime, index: u32) {
        let free_at = self.thread_of(index);
        *free_at = now.max(*free_at);
    }

    /// How often a doorbell rang.
    pub const fn doorbells(&self) -> u64 {
        self.doorbells
    }

    fn thread_of(&mut self, index: u32) -> &mut SimTime {
        let place = index as usize % self.free_at.len();
        &mut self.free_at[place]
    }
}

/// Blocks of 64 bytes of a work queue element: control, remote address and data of 16 bytes each, or with `inline` bytes
/// of payload behind a header of 4.
pub fn work_queue_blocks(inline: Option<u32>) -> u64 {
    const BLOCK: u64 = 64;
    match inline {
        Some(bytes) => (16 + 16 + 4 + u64::from(bytes)).div_ceil(BLOCK),
        None => 1,
    }
}
