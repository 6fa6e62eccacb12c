//! The memory of a native switch, in the form that its parameters need.

use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_units::Bytes;

use super::{
    Admission, Arrival, BufferError, BufferPolicy, CreditedBuffer, Departure, MeasuredBuffer,
    MemoryParts, Occupancy, Peaks, PoolBuffer, SharedBuffer,
};
use crate::SwitchConfig;

/// A native switch's memory: the fast form where it supports the parameters, else the general form.
#[derive(Clone, Debug)]
pub enum SwitchBuffer {
    /// One threshold for all priorities, a headroom for each port, counted in bytes.
    Shared(SharedBuffer),
    /// All other configurations. One form beside the fast one, so that this costs as little to tell as possible.
    General(Box<GeneralBuffer>),
}

/// A memory that is not the fast form.
#[derive(Clone, Debug)]
pub enum GeneralBuffer {
    /// With all options of a scenario.
    Pools(PoolBuffer),
    /// Any configuration, with its peaks.
    Measured(MeasuredBuffer),
    /// That of a switch of InfiniBand.
    Credited(CreditedBuffer),
}

/// Calls the method of either form.
macro_rules! of_general {
    ($general:expr, $buffer:ident => $call:expr) => {
        match $general {
            GeneralBuffer::Pools($buffer) => $call,
            GeneralBuffer::Measured($buffer) => $call,
            GeneralBuffer::Credited($buffer) => $call,
        }
    };
}

impl SwitchBuffer {
    /// The empty buffer of a switch whose ports have this much `headroom` each, per lossless
    /// priority.
    ///
    /// # Errors
    /// As [`BufferLayout::new`](super::BufferLayout::new).
    pub fn new(config: &SwitchConfig, headroom: &[Bytes]) -> Result<Self, BufferError> {
        if PoolBuffer::is_needed(config) {
            let pools = PoolBuffer::new(config, headroom)?;
            return Ok(Self::General(Box::new(GeneralBuffer::Pools(pools))));
        }
        Ok(Self::Shared(SharedBuffer::new(config, headroom)?))
    }

    /// The same memory, of a switch with so many `ports`, with its [peaks](BufferPolicy::peaks) from now on. Buffers
    /// of InfiniBand have none.
    #[must_use]
    pub fn measured(self, ports: usize) -> Self {
        let measured = match self {
            Self::Shared(buffer) => MeasuredBuffer::shared(buffer, ports),
            Self::General(buffer) => match *buffer {
                GeneralBuffer::Pools(buffer) => MeasuredBuffer::pools(buffer, ports),
                GeneralBuffer::Measured(buffer) => buffer,
                credited @ GeneralBuffer::Credited(_) => return Self::General(Box::new(credited)),
            },
        };
        Self::General(Box::new(GeneralBuffer::Measured(measured)))
    }

    /// A number for its form, which is saved with its state.
    const fn form(&self) -> u8 {
        match self {
            Self::Shared(_) => 0,
            Self::General(buffer) => match **buffer {
                GeneralBuffer::Pools(_) => 1,
                GeneralBuffer::Measured(_) => 2,
                GeneralBuffer::Credited(_) => 3,
            },
        }
    }
}

/// The form follows from the settings, so a checkpoint of one form cannot be loaded into the other.
impl State for SwitchBuffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.form(), to)?;
        match self {
            Self::Shared(buffer) => buffer.save(to),
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.save(to)),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        if load_value::<u8>(from)? != self.form() {
            return Err(unfit("what a switch's buffer accounts for"));
        }
        match self {
            Self::Shared(buffer) => buffer.load(from),
            Self::General(buffer) => of_general!(&mut **buffer, buffer => buffer.load(from)),
        }
    }
}

/// Not inlined: few switches use the general form, and the code of all others stays short.
#[cold]
fn admit_to_general(buffer: &mut GeneralBuffer, arrival: Arrival) -> Admission {
    of_general!(buffer, buffer => buffer.admit(arrival))
}

#[cold]
fn release_from_general(buffer: &mut GeneralBuffer, departure: Departure) -> bool {
    of_general!(buffer, buffer => buffer.release(departure))
}

impl BufferPolicy for SwitchBuffer {
    #[inline(always)] // The code of the general form must not keep the fast form from being inlined.
    fn admit(&mut self, arrival: Arrival) -> Admission {
        match self {
            Self::Shared(buffer) => buffer.admit(arrival),
            Self::General(buffer) => admit_to_general(buffer, arrival),
        }
    }

    #[inline(always)]
    fn passes(&self, arrival: Arrival) -> bool {
        match self {
            Self::Shared(buffer) => buffer.passes(arrival),
            Self::General(_) => false,
        }
    }

    #[inline(always)]
    fn release(&mut self, departure: Departure) -> bool {
        match self {
            Self::Shared(buffer) => buffer.release(departure),
            Self::General(buffer) => release_from_general(buffer, departure),
        }
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        match self {
            Self::Shared(buffer) => buffer.held(ingress, priority),
            Self::General(buffer) => {
                of_general!(&**buffer, buffer => buffer.held(ingress, priority))
            }
        }
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        match self {
            Self::Shared(buffer) => buffer.held_by_egress(ingress, priority),
            Self::General(buffer) => {
                of_general!(&**buffer, buffer => buffer.held_by_egress(ingress, priority))
            }
        }
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        match self {
            Self::Shared(buffer) => buffer.follow(ingress, priority, held),
            Self::General(buffer) => {
                of_general!(&mut **buffer, buffer => buffer.follow(ingress, priority, held));
            }
        }
    }

    #[inline]
    fn account(&self, ingress: u16, priority: u8) -> Option<&u32> {
        match self {
            Self::Shared(buffer) => buffer.account(ingress, priority),
            Self::General(_) => None,
        }
    }

    fn stored(&self) -> u64 {
        match self {
            Self::Shared(buffer) => buffer.stored(),
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.stored()),
        }
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        match self {
            Self::Shared(buffer) => buffer.occupancy(ingress, priority),
            Self::General(buffer) => {
                of_general!(&**buffer, buffer => buffer.occupancy(ingress, priority))
            }
        }
    }

    fn in_use(&self) -> MemoryParts {
        match self {
            Self::Shared(buffer) => buffer.in_use(),
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.in_use()),
        }
    }

    fn sizes(&self) -> MemoryParts {
        match self {
            Self::Shared(buffer) => buffer.sizes(),
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.sizes()),
        }
    }

    fn peaks(&self) -> Option<&Peaks> {
        match self {
            Self::Shared(_) => None,
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.peaks()),
        }
    }

    fn memory_of(&self, len: u32) -> u32 {
        match self {
            Self::Shared(buffer) => buffer.memory_of(len),
            Self::General(buffer) => of_general!(&**buffer, buffer => buffer.memory_of(len)),
        }
    }
}
