//! Whole frames: parsed, built, and compared with frames of other implementations.

mod building;
mod described;
mod parsing;
mod vectors;
