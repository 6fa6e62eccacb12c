//! A switch's memory whose peaks are kept.

use rocelab_state::State;

use super::{
    Admission, Arrival, BufferPolicy, Departure, MemoryParts, Occupancy, Peaks, PoolBuffer,
    SharedBuffer,
};

/// A memory of one form or the other, and the most that it ever held. It decides as without peaks, and a memory without
/// peaks does not know of this form.
#[derive(Clone, Debug)]
pub struct MeasuredBuffer {
    memory: Form,
    peaks: Peaks,
}

rocelab_state::state!(MeasuredBuffer { states: memory, peaks });

#[derive(Clone, Debug)]
enum Form {
    Shared(SharedBuffer),
    Pools(PoolBuffer),
}

/// Calls the method of either form.
macro_rules! either {
    ($form:expr, $memory:ident => $call:expr) => {
        match $form {
            Form::Shared($memory) => $call,
            Form::Pools($memory) => $call,
        }
    };
}

impl State for Form {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        either!(self, memory => memory.save(to))
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        either!(self, memory => memory.load(from))
    }
}

impl MeasuredBuffer {
    /// The fast form of memory, of a switch with so many `ports`.
    pub(super) fn shared(memory: SharedBuffer, ports: usize) -> Self {
        Self { memory: Form::Shared(memory), peaks: Peaks::new(ports) }
    }

    /// The general form of memory, of a switch with so many `ports`.
    pub(super) fn pools(memory: PoolBuffer, ports: usize) -> Self {
        Self { memory: Form::Pools(memory), peaks: Peaks::new(ports) }
    }
}

/// A frame that leaves at once is held for no time, but held: it counts in the peaks. So no frame
/// [passes](BufferPolicy::passes) here.
impl BufferPolicy for MeasuredBuffer {
    fn admit(&mut self, arrival: Arrival) -> Admission {
        let Self { memory, peaks } = self;
        let place = (arrival.ingress, arrival.priority);
        either!(memory, memory => {
            let admission = memory.admit(arrival);
            peaks.note(memory, place, admission);
            admission
        })
    }

    fn release(&mut self, departure: Departure) -> bool {
        either!(&mut self.memory, memory => memory.release(departure))
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        either!(&self.memory, memory => memory.held(ingress, priority))
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        either!(&self.memory, memory => memory.held_by_egress(ingress, priority))
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        either!(&mut self.memory, memory => memory.follow(ingress, priority, held));
    }

    fn stored(&self) -> u64 {
        either!(&self.memory, memory => memory.stored())
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        either!(&self.memory, memory => memory.occupancy(ingress, priority))
    }

    fn in_use(&self) -> MemoryParts {
        either!(&self.memory, memory => memory.in_use())
    }

    fn sizes(&self) -> MemoryParts {
        either!(&self.memory, memory => memory.sizes())
    }

    fn peaks(&self) -> Option<&Peaks> {
        Some(&self.peaks)
    }

    fn memory_of(&self, len: u32) -> u32 {
        either!(&self.memory, memory => memory.memory_of(len))
    }
}
