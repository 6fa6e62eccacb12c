//! Topologies, routes, ports and buffers from outside.

mod buffer_dependency;
mod buffer_state;
mod hpcc_ns3;
mod port_state;
mod random_network;
mod routes;
mod static_routes;
mod topology;
mod topology_file;
mod topology_ibnet;
mod topology_servers;
mod topology_spanning_tree;
