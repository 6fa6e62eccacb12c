//! Pauses that last for quanta of time, both ends of them: for controls whose frames say how long.

use core::fmt;
use core::marker::PhantomData;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::{ControlFrame, FlowControl, LinkFlowControl, LinkFrame};

/// The side that obeys: which priorities of a port's transmitter are paused, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PauseTimers {
    /// Allocated when needed: most ports are never paused.
    times: Option<Box<PauseTimes>>,
}

rocelab_state::state!(PauseTimers { values: times });

/// Times, indexed by priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct PauseTimes {
    /// Bit p: priority p must not start a frame.
    paused: u8,
    until: [SimTime; 8],
    since: [SimTime; 8],
    /// Time spent paused, summed over priorities.
    paused_time: Duration,
}

impl PauseTimers {
    /// Bit p: priority p must not start a frame. [`PauseTimers::handle_timeout`] clears expired
    /// pauses.
    pub(super) fn paused(&self) -> u8 {
        self.times.as_ref().map_or(0, |times| times.paused)
    }

    /// Obeys a frame that arrived at `now`: `quanta_of` gives the pause of a priority, 0 to go on, `None` if the
    /// frame does not speak of it; `quantum` is 512 bit times of this port. A frame that is being sent is completed.
    pub(super) fn receive(
        &mut self,
        now: SimTime,
        quanta_of: impl Fn(u8) -> Option<u16>,
        quantum: Duration,
    ) {
        for priority in 0..8u8 {
            match quanta_of(priority) {
                None => {}
                Some(0) => self.resume(now, priority),
                Some(quanta) => self.pause(now, priority, now + quantum * u64::from(quanta)),
            }
        }
    }

    /// When the earliest pause expires, or never.
    pub(super) fn poll_timeout(&self) -> SimTime {
        let Some(times) = &self.times else { return SimTime::NEVER };
        (0..8usize)
            .filter(|&p| times.paused & (1 << p) != 0)
            .map(|p| times.until[p])
            .min()
            .unwrap_or(SimTime::NEVER)
    }

    /// Clears pauses that have expired by `now`.
    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        for priority in 0..8u8 {
            let expired =
                self.times.as_ref().is_some_and(|t| t.until[usize::from(priority)] <= now);
            if self.paused() & (1 << priority) != 0 && expired {
                self.resume(now, priority);
            }
        }
    }

    /// When the pause of `priority` began; `None` while it is not paused.
    pub(super) fn paused_since(&self, priority: u8) -> Option<SimTime> {
        let times = self.times.as_ref().filter(|times| times.paused & (1 << priority) != 0)?;
        Some(times.since[usize::from(priority)])
    }

    /// Time spent paused up to `now`, summed over priorities.
    pub(super) fn paused_time(&self, now: SimTime) -> Duration {
        let Some(times) = &self.times else { return Duration::ZERO };
        (0..8usize)
            .filter(|&p| times.paused & (1 << p) != 0)
            .fold(times.paused_time, |sum, p| sum + now.since(times.since[p]))
    }

    fn pause(&mut self, now: SimTime, priority: u8, until: SimTime) {
        let times = self.times.get_or_insert_default();
        if times.paused & (1 << priority) == 0 {
            times.paused |= 1 << priority;
            times.since[usize::from(priority)] = now;
        }
        times.until[usize::from(priority)] = until;
    }

    fn resume(&mut self, now: SimTime, priority: u8) {
        if let Some(since) = self.paused_since(priority) {
            let times = self.times.get_or_insert_default();
            times.paused &= !(1 << priority);
            times.paused_time += now.since(since);
        }
    }
}

/// The side that asks: because of which priorities the other end shall pause, and what it has not been told
/// yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PauseRequests {
    /// Bit p: the other end shall pause because of priority p.
    pausing: u8,
    /// Bit p: the next frame must say something about priority p. None: no frame is due.
    pending: u8,
    /// The pause time of each request, in quanta of 512 bit times.
    quanta: u16,
    /// When the requests must be renewed, so that they do not expire.
    refresh_at: SimTime,
}

rocelab_state::state!(PauseRequests { values: pausing, pending, refresh_at; kept: quanta });

/// What the other end is told by the frame that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseUpdate {
    /// Bit p: something is to be said about priority p.
    pub due: u8,
    /// Bit p: the other end shall pause because of priority p.
    pub pausing: u8,
    /// For how long (512 bit times).
    pub quanta: u16,
}

impl PauseRequests {
    /// Requests of `quanta` (512 bit times) each.
    pub(super) fn new(quanta: u16) -> Self {
        Self { pausing: 0, pending: 0, quanta, refresh_at: SimTime::NEVER }
    }

    /// Whether a frame is due.
    pub(super) fn is_pending(&self) -> bool {
        self.pending != 0
    }

    /// Bit p: the other end shall pause because of priority p.
    pub(super) fn pausing(&self) -> u8 {
        self.pausing
    }

    /// `priority` is a reason for a pause.
    pub(super) fn ask(&mut self, priority: u8) {
        self.pausing |= 1 << priority;
    }

    /// `priority` is no reason any more.
    pub(super) fn withdraw(&mut self, priority: u8) {
        self.pausing &= !(1 << priority);
        if self.pausing == 0 {
            self.refresh_at = SimTime::NEVER;
        }
    }

    /// Makes a frame due, which says something about the priorities of `mask` (bit p).
    pub(super) fn make_due(&mut self, mask: u8) {
        self.pending |= mask;
    }

    /// Takes what the frame says that starts at `now`, if one is due; `quantum` is 512 bit times of this port.
    /// Requests in force are due again after half of their time, for as long as one of them lasts.
    pub(super) fn take(&mut self, now: SimTime, quantum: Duration) -> Option<PauseUpdate> {
        if self.pending == 0 {
            return None;
        }
        let update = PauseUpdate { due: self.pending, pausing: self.pausing, quanta: self.quanta };
        self.pending = 0;
        if self.pausing != 0 {
            let half = Duration::from_ps((quantum * u64::from(self.quanta)).ps() / 2);
            self.refresh_at = now + half;
        }
        Some(update)
    }

    /// Makes all requests due again: the other end has lost its state.
    pub(super) fn repeat(&mut self) {
        self.pending |= self.pausing;
    }

    /// When requests must be renewed, or never.
    pub(super) fn poll_timeout(&self) -> SimTime {
        self.refresh_at
    }

    /// Makes a frame due if it is time to renew requests.
    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        if self.refresh_at <= now {
            self.pending |= self.pausing;
            self.refresh_at = SimTime::NEVER;
        }
    }
}

/// What a control whose pauses last for quanta of time has of its own.
pub trait QuantaRule: Copy + fmt::Debug + Send + LinkFrame + Into<ControlFrame> + 'static {
    /// Whose frames it obeys.
    const CONTROL: LinkFlowControl;

    /// Of which priorities (bit p) the next frame must say something as `priority` begins or ends to be a reason for a
    /// pause: reasons (bit p) were those `before`, and are those `after`.
    fn due(priority: u8, before: u8, after: u8) -> u8;

    /// The frame that tells the other end.
    fn frame(update: PauseUpdate) -> Self;
}

/// A control at one port whose pauses last for the quanta in its frames, and are renewed while they are needed.
///
/// The requests come before the timers: this is the order of their use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct QuantaControl<R> {
    requests: PauseRequests,
    timers: PauseTimers,
    rule: PhantomData<R>,
}

rocelab_state::state!([R] QuantaControl<R> { states: requests, timers; kept: rule });

impl<R> QuantaControl<R> {
    pub(super) fn new(quanta: u16) -> Self {
        let (requests, timers) = (PauseRequests::new(quanta), PauseTimers::default());
        Self { requests, timers, rule: PhantomData }
    }
}

impl<R: QuantaRule> FlowControl for QuantaControl<R> {
    fn request_pause(&mut self, priority: u8) {
        let before = self.requests.pausing();
        self.requests.ask(priority);
        self.requests.make_due(R::due(priority, before, self.requests.pausing()));
    }

    fn request_resume(&mut self, priority: u8) {
        let before = self.requests.pausing();
        self.requests.withdraw(priority);
        self.requests.make_due(R::due(priority, before, self.requests.pausing()));
    }

    fn pausing(&self) -> u8 {
        self.requests.pausing()
    }

    fn repeat_requests(&mut self) -> u8 {
        self.requests.repeat();
        self.requests.pausing()
    }

    fn is_pending(&self) -> bool {
        self.requests.is_pending()
    }

    fn pending_bytes(&self) -> u32 {
        u32::from(self.requests.is_pending()) * u32::from(R::WIRE_LEN)
    }

    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<ControlFrame> {
        self.requests.take(now, quantum).map(|update| R::frame(update).into())
    }

    fn end_of_pauses(&self) -> ControlFrame {
        R::frame(PauseUpdate { due: u8::MAX, pausing: 0, quanta: 0 }).into()
    }

    fn receive(&mut self, now: SimTime, frame: &ControlFrame, quantum: Duration) {
        if frame.control() == R::CONTROL {
            self.timers.receive(now, |priority| frame.quanta_of(priority), quantum);
        }
    }

    fn paused(&self) -> u8 {
        self.timers.paused()
    }

    fn paused_since(&self, priority: u8) -> Option<SimTime> {
        self.timers.paused_since(priority)
    }

    fn paused_time(&self, now: SimTime) -> Duration {
        self.timers.paused_time(now)
    }

    fn poll_timeout(&self) -> SimTime {
        self.timers.poll_timeout().min(self.requests.poll_timeout())
    }

    fn handle_timeout(&mut self, now: SimTime) {
        self.timers.handle_timeout(now);
        self.requests.handle_timeout(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Duration = Duration::from_ps(5_120);

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn a_pause_lasts_its_quanta_unless_refreshed_or_resumed() {
        let mut timers = PauseTimers::default();
        let pause = |priority: u8| (priority == 3).then_some(100);
        timers.receive(at(1_000), pause, QUANTUM);
        assert_eq!(timers.paused(), 0b1000, "of others nothing is said");
        assert_eq!(timers.poll_timeout(), at(1_000 + 512_000));
        timers.receive(at(200_000), pause, QUANTUM);
        timers.handle_timeout(at(513_000));
        assert_eq!(timers.paused(), 0b1000, "refreshed");
        timers.handle_timeout(at(712_000));
        assert_eq!(timers.paused(), 0);
        assert_eq!(timers.poll_timeout(), SimTime::NEVER);
        timers.receive(at(800_000), pause, QUANTUM);
        timers.receive(at(900_000), |priority| (priority == 3).then_some(0), QUANTUM);
        assert_eq!(timers.paused(), 0);
        assert_eq!(timers.paused_time(at(950_000)).ps(), 711_000 + 100_000);
    }

    #[test]
    fn a_pause_is_repeated_until_it_is_over() {
        let mut requests = PauseRequests::new(1000);
        requests.ask(3);
        requests.make_due(1 << 3);
        let first = PauseUpdate { due: 0b1000, pausing: 0b1000, quanta: 1000 };
        assert_eq!(requests.take(at(0), QUANTUM), Some(first));
        assert_eq!(requests.take(at(0), QUANTUM), None);
        requests.handle_timeout(requests.poll_timeout());
        assert!(requests.is_pending());
        assert_eq!(requests.take(at(2_560_000), QUANTUM), Some(first));
        requests.withdraw(3);
        requests.make_due(1 << 3);
        assert_eq!(
            requests.take(at(3_000_000), QUANTUM),
            Some(PauseUpdate { pausing: 0, ..first })
        );
        assert_eq!(requests.poll_timeout(), SimTime::NEVER);
    }
}
