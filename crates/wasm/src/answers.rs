//! What a guest answers, and what it must not.

use rocelab_transport::congestion_control::Timers;

use crate::event::{GuestCall, GuestEvent};
use crate::fault::Cause;
use crate::input::{Input, NEVER};

/// Rates beyond are none.
const MOST_RATE: u64 = 1 << 63;

/// Bit of [`Answers::flags`]: the rate counts for the packet that waits already.
pub const FLAG_REPACE: u32 = 1;

/// What a guest answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Answers {
    /// How fast data may leave [bit/s].
    pub rate: u64,
    /// How much payload may be unacknowledged (bytes).
    pub window: u64,
    /// When each timer expires (ps).
    pub timers: [u64; Timers::MAX],
    /// See [`FLAG_REPACE`].
    pub flags: u32,
}

impl Answers {
    /// Of a queue pair that has not started: no rate yet, no window, no timer.
    pub const NONE: Self = Self { rate: 0, window: NEVER, timers: [NEVER; Timers::MAX], flags: 0 };

    /// Whether a timer is another than `before`.
    #[inline]
    pub(crate) fn moves(&self, before: &[u64; Timers::MAX]) -> bool {
        // Not `!=` of arrays, which reads several numbers in one piece that were just written one by one: that makes a
        // processor wait.
        self.timers.iter().zip(before).fold(0, |all, (one, before)| all | one ^ before) != 0
    }

    /// Checks the answers to a call, `before` which there were others.
    ///
    /// # Errors
    /// The first of them that cannot be.
    #[inline]
    pub fn check(&self, before: &Self, call: GuestCall, input: &Input) -> Result<(), Cause> {
        if self.rate == 0 || self.rate > MOST_RATE {
            return Err(Cause::Rate(self.rate));
        }
        if self.window == 0 {
            return Err(Cause::Window);
        }
        if self.moves(&before.timers) {
            self.check_moved(before, input.now)?;
        }
        if call == GuestCall::Event(GuestEvent::Timer) { self.check_expired(input) } else { Ok(()) }
    }

    /// A timer is moved to a later time.
    fn check_moved(&self, before: &Self, now: u64) -> Result<(), Cause> {
        for (timer, (&deadline, &before)) in self.timers.iter().zip(&before.timers).enumerate() {
            if deadline != before && deadline <= now {
                return Err(Cause::Timer { timer, deadline, now });
            }
        }
        Ok(())
    }

    /// A timer that has expired must not expire again at once.
    fn check_expired(&self, input: &Input) -> Result<(), Cause> {
        let (timer, now) = (input.value as usize, input.now);
        match self.timers.get(timer) {
            Some(&deadline) if deadline <= now => Err(Cause::Timer { timer, deadline, now }),
            _ => Ok(()),
        }
    }
}
