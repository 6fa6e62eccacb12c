//! The network, sans-IO: ports, links and shared-buffer switches. Everything here returns what
//! happened; nothing schedules an event, owns a packet or knows a queue pair.

mod ecn;
mod pfc;
mod scheduler;
mod switch_config;
pub mod topology;

pub use scheduler::SchedulerConfig;
pub use switch_config::{BufferConfig, EcnConfig, Headroom, SwitchConfig};
pub use topology::{Node, NodeId, NodeKind, Topology, TopologyConfig, TopologyLink};
