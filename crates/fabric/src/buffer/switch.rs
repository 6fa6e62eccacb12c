//! The memory of a native switch, in the form that its parameters need.

use rocelab_units::Bytes;

use super::{Admission, Arrival, BufferError, BufferPolicy, Departure, PoolBuffer, SharedBuffer};
use crate::SwitchConfig;

/// A native switch's memory: the fast form where it does, the general one where it must be.
#[derive(Clone, Debug)]
pub enum SwitchBuffer {
    /// One threshold for all, headroom of each port's own, bytes.
    Shared(SharedBuffer),
    /// Everything else.
    Pools(Box<PoolBuffer>),
}

impl SwitchBuffer {
    /// The empty buffer of a switch whose ports have this much `headroom` each, per lossless
    /// priority.
    ///
    /// # Errors
    /// As [`BufferLayout::new`](super::BufferLayout::new).
    pub fn new(config: &SwitchConfig, headroom: &[Bytes]) -> Result<Self, BufferError> {
        if PoolBuffer::is_needed(config) {
            return Ok(Self::Pools(Box::new(PoolBuffer::new(config, headroom)?)));
        }
        Ok(Self::Shared(SharedBuffer::new(config, headroom)?))
    }
}

impl BufferPolicy for SwitchBuffer {
    #[inline]
    fn admit(&mut self, arrival: Arrival) -> Admission {
        match self {
            Self::Shared(buffer) => buffer.admit(arrival),
            Self::Pools(buffer) => buffer.admit(arrival),
        }
    }

    #[inline]
    fn release(&mut self, departure: Departure) -> bool {
        match self {
            Self::Shared(buffer) => buffer.release(departure),
            Self::Pools(buffer) => buffer.release(departure),
        }
    }

    fn stored(&self) -> u64 {
        match self {
            Self::Shared(buffer) => buffer.stored(),
            Self::Pools(buffer) => buffer.stored(),
        }
    }

    fn memory_of(&self, len: u32) -> u32 {
        match self {
            Self::Shared(buffer) => buffer.memory_of(len),
            Self::Pools(buffer) => buffer.memory_of(len),
        }
    }
}
