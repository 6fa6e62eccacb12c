//! Whole frames: parsed, built, and compared with frames of other implementations.

mod building;
mod described;
mod infiniband;
mod parsing;
mod vectors;
