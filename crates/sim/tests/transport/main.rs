//! The transport in the simulator: integrity mode, the keys of connections, and connections that
//! are made by messages.

mod addresses;
mod bridges_and_routers;
mod code_points;
mod connections;
mod connections_captured;
mod documentation;
mod fast_cnp;
mod graph;
mod host_priorities;
mod host_scheduler;
mod integrity;
mod integrity_errors;
mod integrity_results;
mod keys;
mod link_flow_control;
mod load_balancing;
mod multicast;
mod neighbours;
mod partition_keys;
mod path_entropy;
mod path_migration;
mod policer;
mod streams;
mod support;
mod tcp_captured;
mod unreliable;
mod verbs_together;
