//! The transport as a whole: two NICs and a wire, no network.

mod arbitration;
mod checkpoint;
mod congestion;
mod errors;
mod fault_scripts;
mod go_back_zero;
mod hostile;
mod hpcc_ns3;
mod looking;
mod memory;
mod operations;
mod pacing;
mod pair;
mod path_entropy;
mod random_faults;
mod read;
mod receive_queues;
mod segmentation;
mod selective_repeat;
mod telemetry;
mod together;
mod unreliable;
