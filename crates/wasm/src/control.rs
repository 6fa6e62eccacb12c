//! The controller of a queue pair that asks a guest.

use core::fmt;

use rocelab_state::{State, load_value, save_value};
use rocelab_transport::congestion_control::{
    Ack, CongestionControl, LossEvent, Path, Sent, Timers,
};
use rocelab_units::{Bandwidth, SimTime};

use crate::answers::{Answers, FLAG_REPACE};
use crate::event::{GuestCall, GuestEvent};
use crate::fault::Cause;
use crate::input::{FLAG_ECN, FLAG_RTT, FLAG_TIMEOUT, Input, NEVER};

/// What decides for one queue pair.
pub trait Guest: fmt::Debug + Send {
    /// Whether it is called for an event.
    fn wants(&self, event: GuestEvent) -> bool;

    /// Lets it answer to what happened, and keeps what it answers.
    ///
    /// # Errors
    /// Why the call counts for nothing. All stays as it was.
    fn ask(&mut self, call: GuestCall, input: &Input) -> Result<(), Cause>;

    /// What it answered last.
    fn answers(&self) -> &Answers;

    /// Tells of the call that went wrong, in the queue pair with a seed. It is not asked any more.
    fn failed(&mut self, call: GuestCall, input: &Input, seed: u64, cause: &Cause);

    /// Appends what it keeps, to a checkpoint.
    ///
    /// # Errors
    /// Why it cannot be saved.
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result;

    /// Goes on from what was saved, of the queue pair with this seed.
    ///
    /// # Errors
    /// If it does not fit.
    fn load(&mut self, seed: u64, from: &mut &[u8]) -> rocelab_state::Result;
}

/// The controller of a queue pair.
#[derive(Debug)]
pub struct Controller<G> {
    guest: G,
    timers: Timers,
    seed: u64,
    /// After a fault: the guest is not asked any more, and nothing expires.
    has_failed: bool,
}

impl<G: Guest> Controller<G> {
    /// Starts a queue pair.
    pub fn open(guest: G, path: &Path) -> Self {
        let mut opened = Self { guest, timers: Timers::new(), seed: path.seed, has_failed: false };
        opened.ask(GuestCall::Open, &Input::at(path.start.ps()));
        opened
    }

    // Always: what a call is about stays in registers.
    #[inline(always)]
    fn tell(&mut self, event: GuestEvent, input: &Input) {
        if self.guest.wants(event) {
            self.ask(GuestCall::Event(event), input);
        }
    }

    #[inline(always)]
    fn ask(&mut self, call: GuestCall, input: &Input) {
        if self.has_failed {
            return;
        }
        let before = self.guest.answers().timers;
        match self.guest.ask(call, input) {
            Ok(()) if !self.guest.answers().moves(&before) => {}
            Ok(()) => self.set_timers(before),
            Err(cause) => self.fail(call, input, &cause),
        }
    }

    /// Moves the timers that the guest has moved.
    fn set_timers(&mut self, before: [u64; Timers::MAX]) {
        let answered = self.guest.answers().timers.into_iter().zip(before).enumerate();
        for (timer, (deadline, before)) in answered {
            match deadline {
                _ if deadline == before => {}
                NEVER => self.timers.stop(timer),
                _ => self.timers.arm(timer, SimTime::from_ps(deadline)),
            }
        }
    }

    #[cold]
    fn fail(&mut self, call: GuestCall, input: &Input, cause: &Cause) {
        self.has_failed = true;
        self.timers = Timers::new();
        self.guest.failed(call, input, self.seed, cause);
    }
}

impl<G: Guest> State for Controller<G> {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&(self.seed, self.timers), to)?;
        self.guest.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        (self.seed, self.timers) = load_value(from)?;
        self.guest.load(self.seed, from)
    }
}

impl<G: Guest> CongestionControl for Controller<G> {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.guest.answers().rate)
    }

    fn window(&self) -> Option<u64> {
        Some(self.guest.answers().window).filter(|&window| window != NEVER)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let flags = u32::from(ack.ecn_echo) * FLAG_ECN + u32::from(ack.rtt.is_some()) * FLAG_RTT;
        let input = Input {
            acked: ack.acked_bytes,
            acknowledged: ack.acknowledged,
            sent: ack.sent,
            rtt: ack.rtt.map_or(NEVER, |rtt| rtt.ps()),
            flags,
            ..Input::at(ack.now.ps())
        };
        let told = ack.endpoint().map_or(input, |report| input.with_endpoint(report));
        self.tell(GuestEvent::Ack, &told);
    }

    fn on_cnp(&mut self, now: SimTime) {
        self.tell(GuestEvent::Cnp, &Input::at(now.ps()));
    }

    fn on_cnm(&mut self, now: SimTime, feedback: u8) {
        let input = Input { value: feedback.into(), ..Input::at(now.ps()) };
        self.tell(GuestEvent::Cnm, &input);
    }

    fn counts_sent_bytes(&self) -> bool {
        self.guest.wants(GuestEvent::Sent)
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        let before = *self.guest.answers();
        let input = Input { bytes: sent.bytes, ..Input::at(sent.now.ps()) };
        self.tell(GuestEvent::Sent, &input);
        before != *self.guest.answers() || self.has_failed
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let flags = u32::from(loss.timeout) * FLAG_TIMEOUT;
        self.tell(GuestEvent::Loss, &Input { flags, ..Input::at(loss.now.ps()) });
    }

    fn repaces(&self) -> bool {
        self.guest.answers().flags & FLAG_REPACE != 0
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if self.has_failed || self.timers.deadline(timer) > now {
            return;
        }
        let value = u32::try_from(timer).unwrap_or(u32::MAX);
        self.ask(GuestCall::Event(GuestEvent::Timer), &Input { value, ..Input::at(now.ps()) });
    }
}
