//! The way into memory: credits for what is written, contention with processors, and the IOMMU.

use rocelab_units::{Duration, SimTime};

use crate::cache::{CacheCounts, ContextCache, Replacement};

/// How memory takes what the NIC writes. What it reads takes the latency of PCIe, whatever happens in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryConfig {
    /// Cache lines of 64 bytes that may be on their way into memory; without it, memory takes everything at once.
    pub credits: Option<u32>,
    /// How long each is on its way, without contention.
    pub credit_latency: Duration,
    /// When others use memory, and how much longer it takes then; by time, and none overlaps the next.
    pub contention: Vec<Contention>,
    /// The IOMMU, if there is one.
    pub paging: Option<Paging>,
}

impl MemoryConfig {
    /// What memory takes without contention (bits a second), if anything bounds it.
    pub fn goodput(&self) -> Option<f64> {
        let credits = self.credits?;
        let bytes = f64::from(credits) * LINE as f64;
        (self.credit_latency > Duration::ZERO)
            .then(|| bytes * 8.0 / self.credit_latency.as_secs_f64())
    }
}

/// Others use memory for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// From when on.
    pub from: SimTime,
    /// Until when.
    pub until: SimTime,
    /// How many times as long memory takes, 1 or more.
    pub factor: f64,
}

/// An IOMMU that translates what a NIC asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Translations that it keeps.
    pub entries: u32,
    /// Bytes of a page.
    pub page: u64,
    /// How long a translation takes that it does not keep.
    pub walk: Duration,
    /// How soon after one walk the next may begin.
    pub walk_interval: Duration,
}

/// Bytes of a cache line.
const LINE: u64 = 64;

/// The state of the way into memory.
#[derive(Clone, Debug)]
pub struct MemoryPath {
    config: MemoryConfig,
    /// When there are credits for what is written next.
    free_at: SimTime,
    /// When the next page walk may begin.
    walker_free_at: SimTime,
    translations: Option<ContextCache>,
    /// How long writes waited for credits.
    waited: Duration,
}

rocelab_state::state!(MemoryPath {
    values: free_at, walker_free_at, waited;
    states: translations;
    kept: config
});

impl MemoryPath {
    /// A way that is free.
    pub fn new(config: MemoryConfig, seed: u64) -> Self {
        let translations = config
            .paging
            .map(|paging| ContextCache::new(paging.entries, Replacement::Random, seed));
        Self {
            config,
            free_at: SimTime::ZERO,
            walker_free_at: SimTime::ZERO,
            translations,
            waited: Duration::ZERO,
        }
    }

    /// Writes so many bytes that have come over PCIe at `came`. Gives when the NIC is rid of them.
    pub fn write(&mut self, came: SimTime, bytes: u64) -> SimTime {
        let Some(credits) = self.config.credits else { return came };
        let begins = came.max(self.free_at);
        let takes = self.stretched(begins, self.config.credit_latency.ps());
        let lines = u128::from(bytes.div_ceil(LINE));
        let busy = u128::from(takes) * lines / u128::from(credits.max(1));
        let busy = Duration::from_ps(u64::try_from(busy).unwrap_or(u64::MAX));
        self.free_at = begins.saturating_add(busy);
        self.waited += begins.since(came);
        begins
    }

    /// A page is looked up by the IOMMU at `asked`. Gives when that begins, and how long it takes.
    pub fn translate(&mut self, asked: SimTime, place: u64) -> (SimTime, Duration) {
        let (Some(paging), Some(translations)) = (self.config.paging, &mut self.translations)
        else {
            return (asked, Duration::ZERO);
        };
        let page = u32::try_from(place / paging.page).unwrap_or(u32::MAX - 1);
        if translations.has(page) {
            return (asked, Duration::ZERO);
        }
        let begins = asked.max(self.walker_free_at);
        self.walker_free_at = begins.saturating_add(paging.walk_interval);
        (begins, paging.walk)
    }

    /// How long writes have waited for credits, all together.
    pub const fn waited(&self) -> Duration {
        self.waited
    }

    /// How often the IOMMU had a translation, and had not.
    pub fn translations(&self) -> CacheCounts {
        self.translations.as_ref().map(ContextCache::counts).unwrap_or_default()
    }

    /// A time as contention at this moment makes it.
    fn stretched(&self, at: SimTime, ps: u64) -> u64 {
        let steps = &self.config.contention;
        let place = steps.partition_point(|step| step.until <= at);
        match steps.get(place) {
            Some(step) if step.from <= at => {
                #[expect(clippy::cast_possible_truncation, reason = "clamped by the conversion")]
                #[expect(clippy::cast_sign_loss, reason = "a factor is 1 or more")]
                let longer = (ps as f64 * step.factor) as u64;
                longer
            }
            _ => ps,
        }
    }
}
