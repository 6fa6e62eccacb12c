//! The controller of a queue pair that asks a guest.

use std::sync::Arc;

use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_transport::congestion_control::{
    Ack, CongestionControl, LossEvent, Path, Sent, Timers,
};
use rocelab_units::{Bandwidth, SimTime};

use crate::block::{Answers, FLAG_ECN, FLAG_REPACE, FLAG_RTT, FLAG_TIMEOUT, Input, NEVER};
use crate::fault::{Cause, Latch, fault};
use crate::instance;
use crate::metadata::GuestEvent;
use crate::module::GuestModule;
use crate::queue_pair::QueuePair;

/// What all controllers of an algorithm share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) module: Arc<GuestModule>,
    /// The values of its parameters.
    pub(crate) values: Vec<i64>,
    /// Instructions of a call.
    pub(crate) fuel: u64,
    pub(crate) latch: Latch,
}

/// The controller of a queue pair.
#[derive(Debug)]
pub(crate) struct Controller {
    shared: Arc<Shared>,
    pair: QueuePair,
    timers: Timers,
    seed: u64,
    /// After a fault: the guest is not asked any more, and nothing expires.
    has_failed: bool,
}

impl Controller {
    /// Starts a queue pair.
    pub(crate) fn open(shared: Arc<Shared>, path: &Path) -> Self {
        let pair = QueuePair::new(path, &shared.values, shared.module.metadata().state);
        let mut opened =
            Self { shared, pair, timers: Timers::new(), seed: path.seed, has_failed: false };
        let (now, fuel) = (path.start.ps(), opened.shared.fuel);
        opened.ask("open", now, |pair, instance| pair.open(instance, now, fuel));
        opened
    }

    fn tell(&mut self, event: GuestEvent, input: &Input) {
        if self.shared.module.wants(event) {
            let fuel = self.shared.fuel;
            self.ask(event.name(), input.now, |pair, instance| {
                pair.call(instance, event.kind(), input, fuel)
            });
        }
    }

    fn ask(
        &mut self,
        event: &'static str,
        now: u64,
        call: impl FnOnce(&mut QueuePair, &mut instance::Instance) -> Result<(), Cause>,
    ) {
        if self.has_failed {
            return;
        }
        let before = self.pair.answers().timers;
        match instance::call(&self.shared.module, |instance| call(&mut self.pair, instance)) {
            Ok(()) => self.set_timers(before),
            Err(cause) => self.fail(event, now, &cause),
        }
    }

    /// Moves the timers that the guest has moved.
    fn set_timers(&mut self, before: [u64; Timers::MAX]) {
        let answered = self.pair.answers().timers.into_iter().zip(before).enumerate();
        for (timer, (deadline, before)) in answered {
            match deadline {
                _ if deadline == before => {}
                NEVER => self.timers.stop(timer),
                _ => self.timers.arm(timer, SimTime::from_ps(deadline)),
            }
        }
    }

    fn fail(&mut self, event: &'static str, now: u64, cause: &Cause) {
        self.has_failed = true;
        self.timers = Timers::new();
        self.shared.latch.record(fault(now, self.seed, event, cause));
    }
}

impl State for Controller {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&(self.seed, self.pair.answers(), self.pair.state().to_vec()), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        let (seed, answers, state): (u64, Answers, Vec<u8>) = load_value(from)?;
        if !self.pair.restore(seed, answers, &state) {
            return Err(unfit("the module has another length of state"));
        }
        self.seed = seed;
        self.timers = Timers::new();
        self.set_timers([NEVER; Timers::MAX]);
        Ok(())
    }
}

impl CongestionControl for Controller {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.pair.answers().rate)
    }

    fn window(&self) -> Option<u64> {
        Some(self.pair.answers().window).filter(|&window| window != NEVER)
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
        self.shared.module.wants(GuestEvent::Sent)
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        let before = *self.pair.answers();
        let input = Input { bytes: sent.bytes, ..Input::at(sent.now.ps()) };
        self.tell(GuestEvent::Sent, &input);
        before != *self.pair.answers() || self.has_failed
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let flags = u32::from(loss.timeout) * FLAG_TIMEOUT;
        self.tell(GuestEvent::Loss, &Input { flags, ..Input::at(loss.now.ps()) });
    }

    fn repaces(&self) -> bool {
        self.pair.answers().flags & FLAG_REPACE != 0
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if self.has_failed || self.timers.deadline(timer) > now {
            return;
        }
        let value = u32::try_from(timer).unwrap_or(u32::MAX);
        let (input, fuel) = (Input { value, ..Input::at(now.ps()) }, self.shared.fuel);
        self.ask(GuestEvent::Timer.name(), now.ps(), |pair, instance| {
            pair.call(instance, GuestEvent::Timer.kind(), &input, fuel)?;
            pair.check_expired(timer, input.now)
        });
    }
}
