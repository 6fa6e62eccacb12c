//! The memory of a native switch, in the form that its parameters need.

use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_units::Bytes;

use super::{Admission, Arrival, BufferError, BufferPolicy, Departure, PoolBuffer, SharedBuffer};
use crate::SwitchConfig;

/// A native switch's memory: the fast form where it supports the parameters, else the general form.
#[derive(Clone, Debug)]
pub enum SwitchBuffer {
    /// One threshold for all priorities, a headroom for each port, counted in bytes.
    Shared(SharedBuffer),
    /// All other configurations.
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

/// The form follows from the settings, so a checkpoint of one form cannot be loaded into the other.
impl State for SwitchBuffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&matches!(self, Self::Pools(_)), to)?;
        match self {
            Self::Shared(buffer) => buffer.save(to),
            Self::Pools(buffer) => buffer.save(to),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        match (load_value(from)?, self) {
            (false, Self::Shared(buffer)) => buffer.load(from),
            (true, Self::Pools(buffer)) => buffer.load(from),
            _ => Err(unfit("what a switch's buffer accounts for")),
        }
    }
}

/// Not inlined: few switches use the general form, and the code of all others stays short.
#[cold]
fn admit_to_pools(buffer: &mut PoolBuffer, arrival: Arrival) -> Admission {
    buffer.admit(arrival)
}

#[cold]
fn release_from_pools(buffer: &mut PoolBuffer, departure: Departure) -> bool {
    buffer.release(departure)
}

impl BufferPolicy for SwitchBuffer {
    #[inline(always)] // The code of the general form must not keep the fast form from being inlined.
    fn admit(&mut self, arrival: Arrival) -> Admission {
        match self {
            Self::Shared(buffer) => buffer.admit(arrival),
            Self::Pools(buffer) => admit_to_pools(buffer, arrival),
        }
    }

    #[inline(always)]
    fn passes(&self, arrival: Arrival) -> bool {
        match self {
            Self::Shared(buffer) => buffer.passes(arrival),
            Self::Pools(_) => false,
        }
    }

    #[inline(always)]
    fn release(&mut self, departure: Departure) -> bool {
        match self {
            Self::Shared(buffer) => buffer.release(departure),
            Self::Pools(buffer) => release_from_pools(buffer, departure),
        }
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        match self {
            Self::Shared(buffer) => buffer.held(ingress, priority),
            Self::Pools(buffer) => buffer.held(ingress, priority),
        }
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        match self {
            Self::Shared(buffer) => buffer.held_by_egress(ingress, priority),
            Self::Pools(buffer) => buffer.held_by_egress(ingress, priority),
        }
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        match self {
            Self::Shared(buffer) => buffer.follow(ingress, priority, held),
            Self::Pools(buffer) => buffer.follow(ingress, priority, held),
        }
    }

    #[inline]
    fn account(&self, ingress: u16, priority: u8) -> Option<&u32> {
        match self {
            Self::Shared(buffer) => buffer.account(ingress, priority),
            Self::Pools(_) => None,
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
