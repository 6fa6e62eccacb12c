//! What can go wrong in a call.

use std::sync::{Mutex, PoisonError};

use rocelab_transport::congestion_control::ControlFault;
use rocelab_units::SimTime;

use crate::event::GuestCall;
use crate::input::Input;

/// Why a call of a guest counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// It took more instructions than it may.
    #[error(
        "the call does not end within {0} instructions; an endless loop, or `fuel` is too small"
    )]
    Fuel(u64),
    /// It wants more memory than it has declared.
    #[error("it asks for more memory (memory.grow); a module has what it declares, and no more")]
    Growth,
    /// It did what no program may do.
    #[error("{0}")]
    Trap(String),
    /// It raised an exception, or answered with what is no number.
    #[error("{0}")]
    Raised(String),
    /// There is no place for another instance of the module.
    #[error("no instance can be made: {0}")]
    Instance(String),
    /// A rate at which nothing moves, or one that is none.
    #[error("it answers rate = {0}; give 1 to 2^63 bit/s")]
    Rate(u64),
    /// Nothing would ever be sent again.
    #[error("it answers window = 0; give 1 byte or more, or 2^64 - 1 for none")]
    Window,
    /// A timer that would expire in the past, or again at once.
    #[error(
        "it answers timer {timer} = {deadline} ps, not after the time of the call, {now} ps; give a later time, or 2^64 - 1 \
         to stop it"
    )]
    Timer {
        /// Which.
        timer: usize,
        /// When.
        deadline: u64,
        /// When the call was.
        now: u64,
    },
}

/// The first thing that went wrong in the controllers of a run.
#[derive(Debug, Default)]
pub struct Latch(Mutex<Option<ControlFault>>);

impl Latch {
    /// Keeps a fault, unless an earlier one is there.
    pub fn record(&self, fault: ControlFault) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|known| fault < *known) {
            *first = Some(fault);
        }
    }

    /// The earliest fault.
    pub fn first(&self) -> Option<ControlFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A call that went wrong, in the queue pair with a seed.
pub fn fault(call: GuestCall, input: &Input, seed: u64, cause: &Cause) -> ControlFault {
    let time = SimTime::from_ps(input.now);
    ControlFault { time, seed, event: call.name(), cause: cause.to_string() }
}
