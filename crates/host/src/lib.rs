//! Hosts that take time: what lies between a program and the wire.
//!
//! A program posts work by a processor, and rings a doorbell over PCIe. The NIC looks up contexts of queue pairs, fetches
//! what it has to send over PCIe, and has pipelines with a rate of their own. What arrives waits in the NIC's buffer until
//! memory has it. A completion goes to memory, and the program finds it there.
//!
//! A [`HostPath`] is all of this of one NIC. It has no clock and no events: each call tells when something will have
//! happened, by stations that each know when they are free again. Times are whole picoseconds.
//!
//! The structure follows Neugebauer et al., "Understanding PCIe performance for end host networking" (SIGCOMM 2018), for
//! PCIe; Kalia et al., "Design guidelines for high performance RDMA systems" (USENIX ATC 2016), for posting and pipelines;
//! and Agarwal et al., "Host congestion control" (SIGCOMM 2023), for the way into memory.

mod cache;
mod later;
mod memory;
mod path;
mod pcie;
mod pipeline;
mod posting;
mod profile;
mod queue_pair;
mod reads;
mod unloaded;

pub use cache::{CacheCounts, ContextCache, Replacement};
pub use later::Later;
pub use memory::{Contention, MemoryConfig, MemoryPath, Paging};
pub use path::{Accepted, Arriving, HostCounts, HostPath, Kind, Posted};
pub use pcie::{Direction, Pcie};
pub use pipeline::{Pipeline, PipelineConfig};
pub use posting::{Posting, PostingConfig, work_queue_blocks};
pub use profile::{CacheConfig, HostProfile, Preset};
pub use reads::Reads;
pub use unloaded::Alone;
