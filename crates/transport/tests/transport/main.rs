//! The transport as a whole: two NICs and a wire, no network.

mod arbitration;
mod congestion;
mod errors;
mod go_back_zero;
mod operations;
mod pair;
mod random_faults;
mod read;
mod segmentation;
