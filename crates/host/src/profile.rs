//! What hosts are like: all parameters, and presets for NICs of several generations.

use rocelab_units::{Bytes, Duration};

use crate::cache::Replacement;
use crate::memory::{MemoryConfig, Paging};
use crate::pcie::Pcie;
use crate::pipeline::PipelineConfig;
use crate::posting::PostingConfig;

/// A host with one NIC.
///
/// With [`HostProfile::none`] nothing takes any time; each part may be set alone.
#[derive(Clone, Debug, PartialEq)]
pub struct HostProfile {
    /// PCIe; without it, the NIC has all of memory at once.
    pub pcie: Option<Pcie>,
    /// How programs post.
    pub posting: PostingConfig,
    /// The pipeline that sends: one thing is one work request.
    pub transmit: PipelineConfig,
    /// The pipeline that receives: one thing is one frame.
    pub receive: PipelineConfig,
    /// Between the beginnings of two work requests of one queue pair, at the least.
    pub queue_pair_interval: Duration,
    /// Between two packets with payload that leave, at the least.
    pub packet_interval: Duration,
    /// Between two atomic operations at the responder, at the least.
    pub atomic_interval: Duration,
    /// From feedback at the NIC until the rate or window counts that follows from it.
    pub control_latency: Duration,
    /// The NIC's caches.
    pub caches: CacheConfig,
    /// The way into memory.
    pub memory: MemoryConfig,
    /// The NIC's buffer for what arrives (bytes); without it, all that arrives has room.
    pub buffer: Option<u64>,
}

/// The NIC's caches of contexts and translations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    /// Contexts of queue pairs that it keeps; all, without it.
    pub contexts: Option<u32>,
    /// Bytes of a context, which is fetched if it is not there.
    pub context_len: u32,
    /// Translations that it keeps, of a page each; all, without it.
    pub translations: Option<u32>,
    /// Bytes of a page.
    pub page: u64,
    /// What is forgotten for what is fetched.
    pub replacement: Replacement,
    /// Registered memory that messages lie in, each at a random place (bytes); 0 if it does not matter where.
    pub registered: u64,
}

/// A generation of NICs. Values are calibrations: published figures follow from them, and no vendor has stated them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// ConnectX-3 on PCIe 3.0 x8.
    Cx3,
    /// ConnectX-5 on PCIe 3.0 x16.
    Cx5,
    /// ConnectX-6 on PCIe 4.0 x16.
    Cx6,
    /// ConnectX-7 on PCIe 5.0 x16.
    Cx7,
}

impl HostProfile {
    /// A host at which nothing takes any time.
    pub fn none() -> Self {
        let instant = PipelineConfig { units: 1, service: Duration::ZERO, latency: Duration::ZERO };
        Self {
            pcie: None,
            posting: PostingConfig {
                threads: 1,
                post: Duration::ZERO,
                doorbell: Duration::ZERO,
                batch: 1,
                inline: 0,
                poll: Duration::ZERO,
                interrupt: None,
            },
            transmit: instant,
            receive: instant,
            queue_pair_interval: Duration::ZERO,
            packet_interval: Duration::ZERO,
            atomic_interval: Duration::ZERO,
            control_latency: Duration::ZERO,
            caches: CacheConfig {
                contexts: None,
                context_len: CONTEXT_LEN,
                translations: None,
                page: 2 << 20,
                replacement: Replacement::Random,
                registered: 0,
            },
            memory: MemoryConfig {
                credits: None,
                credit_latency: Duration::ZERO,
                contention: Vec::new(),
                paging: None,
            },
            buffer: None,
        }
    }

    /// A NIC of some generation in a host of its time.
    pub fn preset(preset: Preset) -> Self {
        let values = values(preset);
        let ns = Duration::from_ns;
        Self {
            pcie: Some(Pcie {
                generation: values.generation,
                lanes: values.lanes,
                max_payload: 256,
                max_read_request: 512,
                tags: values.tags,
                read_latency: ns(values.read_ns),
                write_latency: ns(values.write_ns),
                doorbell_latency: ns(140),
            }),
            posting: PostingConfig {
                threads: 1,
                post: ns(40),
                doorbell: ns(60),
                batch: 1,
                inline: 220,
                poll: ns(25),
                interrupt: None,
            },
            transmit: PipelineConfig {
                units: values.units,
                service: ns(values.service_ns),
                latency: ns(values.fixed_ns / 2 - values.service_ns),
            },
            receive: PipelineConfig {
                units: values.units,
                service: ns(values.service_ns),
                latency: ns(values.fixed_ns / 2 - values.service_ns),
            },
            queue_pair_interval: ns(values.queue_pair_ns),
            packet_interval: ns(values.packet_ns),
            atomic_interval: ns(values.atomic_ns),
            control_latency: ns(2_500),
            caches: CacheConfig {
                contexts: Some(values.contexts),
                context_len: CONTEXT_LEN,
                translations: Some(values.translations),
                page: 2 << 20,
                replacement: Replacement::Random,
                registered: 0,
            },
            memory: MemoryConfig {
                credits: Some(values.credits),
                credit_latency: ns(450),
                contention: Vec::new(),
                paging: None,
            },
            buffer: Some(values.buffer_kib << 10),
        }
    }

    /// What a frame's round trip takes longer than the network: reception at both ends, and the answer on its way out
    /// of the responder's NIC.
    pub fn added_to_round_trip(near: &Self, far: &Self) -> Duration {
        let in_and_out = |profile: &Self| profile.receive.service + profile.receive.latency;
        in_and_out(near) + in_and_out(far) + far.transmit.latency
    }

    /// How long a frame of so many bytes takes until memory has it, if nothing waits.
    pub fn taking(&self, bytes: u64) -> Duration {
        let written = self.pcie.map_or(Duration::ZERO, |pcie| {
            pcie.packet_rate().transmission_time(Bytes::new(pcie.write_bytes(bytes)))
        });
        self.receive.service + self.receive.latency + written
    }
}

impl Paging {
    /// An IOMMU of a server of 2018 with pages of 4 KiB (Neugebauer et al., SIGCOMM 2018, section 6.5).
    pub const fn small_pages() -> Self {
        Self {
            entries: 64,
            page: 4 << 10,
            walk: Duration::from_ns(330),
            walk_interval: Duration::from_ns(72),
        }
    }
}

const CONTEXT_LEN: u32 = 256;

/// What presets differ in.
struct Values {
    generation: u8,
    lanes: u8,
    tags: u32,
    read_ns: u64,
    write_ns: u64,
    units: u8,
    service_ns: u64,
    fixed_ns: u64,
    queue_pair_ns: u64,
    packet_ns: u64,
    atomic_ns: u64,
    contexts: u32,
    translations: u32,
    credits: u32,
    buffer_kib: u64,
}

const fn values(preset: Preset) -> Values {
    match preset {
        Preset::Cx3 => Values {
            generation: 3,
            lanes: 8,
            tags: 16,
            read_ns: 650,
            write_ns: 300,
            units: 4,
            service_ns: 114,
            fixed_ns: 260,
            queue_pair_ns: 250,
            packet_ns: 50,
            atomic_ns: 400,
            contexts: 200,
            translations: 2048,
            credits: 92,
            buffer_kib: 256,
        },
        Preset::Cx5 => Values {
            generation: 3,
            lanes: 16,
            tags: 64,
            read_ns: 480,
            write_ns: 240,
            units: 8,
            service_ns: 40,
            fixed_ns: 270,
            queue_pair_ns: 120,
            packet_ns: 33,
            atomic_ns: 50,
            contexts: 1200,
            translations: 16384,
            credits: 92,
            buffer_kib: 512,
        },
        Preset::Cx6 => Values {
            generation: 4,
            lanes: 16,
            tags: 128,
            read_ns: 500,
            write_ns: 240,
            units: 8,
            service_ns: 37,
            fixed_ns: 200,
            queue_pair_ns: 100,
            packet_ns: 14,
            atomic_ns: 50,
            contexts: 4000,
            translations: 65536,
            credits: 184,
            buffer_kib: 1024,
        },
        Preset::Cx7 => Values {
            generation: 5,
            lanes: 16,
            tags: 256,
            read_ns: 550,
            write_ns: 250,
            units: 16,
            service_ns: 48,
            fixed_ns: 200,
            queue_pair_ns: 80,
            packet_ns: 8,
            atomic_ns: 50,
            contexts: 8000,
            translations: 131_072,
            credits: 368,
            buffer_kib: 2048,
        },
    }
}
