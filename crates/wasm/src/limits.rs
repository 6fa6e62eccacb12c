//! How much a module may have.

/// The most bytes of state that a module may keep for each queue pair.
pub const MOST_STATE: usize = 256;
/// The most parameters of a module.
pub const MOST_PARAMETERS: usize = 16;
