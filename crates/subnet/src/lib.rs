//! InfiniBand subnets: topologies, LIDs, forwarding tables and service levels, as the subnet manager OpenSM makes them.
//!
//! A [`Topology`] is read from the output of [`ibnetdiscover`]. A [`Subnet`] is what a manager finds of it, with LIDs.
//! [`route`] asks an [`Engine`] for [`Tables`]: the port of each switch for each LID, and the service level of each path.
//! [`credit_loops`] says on which lanes packets may wait for each other in a circle. [`dump`] has OpenSM's files.
//!
//! ```
//! use std::path::Path;
//!
//! use rocelab_subnet::{Engine, Options, Subnet, ibnetdiscover, route};
//!
//! let net = "Switch 8 \"S\"\n[1] \"A\"[1]\n[2] \"B\"[1]\nHca 1 \"A\"\nHca 1 \"B\"\n";
//! let topology = ibnetdiscover::read(Path::new("net"), net)?;
//! let subnet = Subnet::new(topology, 0, 0)?;
//! let routing = route(&subnet, Engine::MinHop, &Options::default());
//! let host = subnet.end_ports().iter().find(|one| one.id.node == 2).ok_or("no B")?;
//! assert_eq!(routing.tables.forwarding.port(0, host.lids.base), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Switches and end ports are indices into lists in the order of a sweep ([`Guid::sweep_key`]), which decides ties.

mod adaptive;
mod balance;
mod channels;
mod credit_loops;
mod dependencies;
pub mod dump;
mod engine;
mod error;
mod graph;
mod guid;
mod hops;
pub mod ibnetdiscover;
pub mod lft_file;
mod lids;
mod link_speed;
mod ordered;
pub mod roots;
mod scan;
pub mod sl_file;
mod subnet;
mod tables;
mod topology;

pub use adaptive::AdaptiveGroups;
pub use credit_loops::{CreditLoop, SERVICE_LEVELS, credit_loops, credit_loops_by};
pub use engine::{Engine, Options, Routing, route};
pub use error::InputError;
pub use graph::{Attachment, Far, SwitchGraph};
pub use guid::Guid;
pub use lids::{LAST_UNICAST_LID, LidRange};
pub use link_speed::LinkSpeed;
pub use subnet::{EndPort, MOST_HOPS, MOST_LMC, Subnet, SubnetError};
pub use tables::{Channel, ForwardingTables, MissingPaths, NO_PORT, Path, ServiceLevels, Tables};
pub use topology::{MOST_PORTS, Node, NodeKind, Port, PortId, Topology, TopologyError};
