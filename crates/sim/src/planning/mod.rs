//! From a [`Scenario`](crate::Scenario) to a [`Plan`](crate::Plan): defaults, checks, names to numbers.

mod algorithms;
mod applications;
mod buffer;
mod build;
mod checks;
mod congestion_points;
mod connection_timers;
mod connections;
mod endless_tcp;
mod failures;
mod faults;
mod hop_limit;
mod hpcc_ns3;
mod ineffective;
mod integrity;
mod layer2;
mod numbering;
mod ports;
mod priority;
mod receivers;
mod resolve;
mod sampling;
mod service;
mod static_routes;
mod switches;
mod tables;
mod tcp;
mod telemetry;
mod topology;

pub use self::build::MAX_FLOWS;
pub(crate) use self::resolve::default_ecn;
