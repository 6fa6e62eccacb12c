//! InfiniBand subnets: topologies, LIDs, forwarding tables and service levels, as the subnet manager OpenSM makes them.

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
mod ordered;
pub mod roots;
mod scan;
mod subnet;
mod tables;
mod topology;

pub use credit_loops::{CreditLoop, SERVICE_LEVELS, credit_loops};
pub use engine::{Engine, Options, Routing, route};
pub use error::InputError;
pub use graph::{Attachment, Far, SwitchGraph};
pub use guid::Guid;
pub use lids::{LAST_UNICAST_LID, LidRange};
pub use subnet::{EndPort, MOST_HOPS, MOST_LMC, Subnet, SubnetError};
pub use tables::{Channel, ForwardingTables, NO_PORT, Path, ServiceLevels, Tables};
pub use topology::{MOST_PORTS, Node, NodeKind, Port, PortId, Topology, TopologyError};
