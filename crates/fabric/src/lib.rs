//! The network, sans-IO: shared-buffer switches, ports, PFC, ECN, schedulers, routes, topologies
