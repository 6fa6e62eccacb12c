//! The transport as a whole: two NICs and a wire, no network.

mod arbitration;
mod congestion;
mod errors;
mod go_back_zero;
mod hpcc_ns3;
mod operations;
mod pair;
mod random_faults;
mod read;
mod segmentation;
mod telemetry;
