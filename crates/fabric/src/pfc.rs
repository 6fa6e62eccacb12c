//! Priority flow control (IEEE 802.1Qbb), both ends of it.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Pfc;

/// The priorities that a PFC frame stops: those in its class-enable vector with a pause time of at
/// least one quantum of 512 bit times.
pub fn paused_priorities(frame: &Pfc) -> u8 {
    let stops = |p: &u8| enables(frame, *p) && frame.quanta[usize::from(*p)] > 0;
    (0..8u8).filter(stops).fold(0, |mask, priority| mask | 1 << priority)
}

/// The priorities that a PFC frame lets go on: those in its class-enable vector with a pause time
/// of zero.
pub fn resumed_priorities(frame: &Pfc) -> u8 {
    frame.class_enable_vector & !paused_priorities(frame)
}

fn enables(frame: &Pfc, priority: u8) -> bool {
    frame.class_enable_vector & (1 << priority) != 0
}

/// The side that obeys: which priorities of a port's transmitter are paused, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseTimers {
    /// Bit p: priority p must not start a frame.
    paused: u8,
    /// Allocated when needed: most ports are never paused.
    times: Option<Box<PauseTimes>>,
}

rocelab_state::state!(PauseTimers { values: paused, times });

/// Times, indexed by priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct PauseTimes {
    until: [SimTime; 8],
    since: [SimTime; 8],
    /// Time spent paused, summed over priorities.
    paused_time: Duration,
}

impl PauseTimers {
    /// Bit p: priority p must not start a frame. [`PauseTimers::handle_timeout`] clears expired
    /// pauses.
    #[inline]
    pub fn paused(&self) -> u8 {
        self.paused
    }

    /// Obeys a PFC frame that arrived at `now`; `quantum` is 512 bit times of this port. A frame
    /// that is being sent is completed.
    pub fn receive(&mut self, now: SimTime, frame: &Pfc, quantum: Duration) {
        for priority in 0..8u8 {
            if !enables(frame, priority) {
                continue;
            }
            let quanta = frame.quanta[usize::from(priority)];
            if quanta == 0 {
                self.resume(now, priority);
            } else {
                self.pause(now, priority, now + quantum * u64::from(quanta));
            }
        }
    }

    /// When the earliest pause expires, or never.
    pub fn poll_timeout(&self) -> SimTime {
        let Some(times) = &self.times else { return SimTime::NEVER };
        (0..8usize)
            .filter(|&p| self.paused & (1 << p) != 0)
            .map(|p| times.until[p])
            .min()
            .unwrap_or(SimTime::NEVER)
    }

    /// Clears pauses that have expired by `now`.
    pub fn handle_timeout(&mut self, now: SimTime) {
        for priority in 0..8u8 {
            let expired =
                self.times.as_ref().is_some_and(|t| t.until[usize::from(priority)] <= now);
            if self.paused & (1 << priority) != 0 && expired {
                self.resume(now, priority);
            }
        }
    }

    /// When the pause of `priority` began; `None` while it is not paused.
    pub fn paused_since(&self, priority: u8) -> Option<SimTime> {
        let times = self.times.as_ref().filter(|_| self.paused & (1 << priority) != 0)?;
        Some(times.since[usize::from(priority)])
    }

    /// Time spent paused up to `now`, summed over priorities.
    pub fn paused_time(&self, now: SimTime) -> Duration {
        let Some(times) = &self.times else { return Duration::ZERO };
        (0..8usize)
            .filter(|&p| self.paused & (1 << p) != 0)
            .fold(times.paused_time, |sum, p| sum + now.since(times.since[p]))
    }

    fn pause(&mut self, now: SimTime, priority: u8, until: SimTime) {
        let times = self.times.get_or_insert_default();
        if self.paused & (1 << priority) == 0 {
            self.paused |= 1 << priority;
            times.since[usize::from(priority)] = now;
        }
        times.until[usize::from(priority)] = until;
    }

    fn resume(&mut self, now: SimTime, priority: u8) {
        if let Some(since) = self.paused_since(priority) {
            self.paused &= !(1 << priority);
            self.times.get_or_insert_default().paused_time += now.since(since);
        }
    }
}

/// The side that asks: which priorities the other end shall pause, and which changes it has not
/// been told yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequests {
    /// Bit p: the other end shall pause priority p.
    pausing: u8,
    /// Bit p: the next PFC frame must include priority p.
    pending: u8,
    /// The pause time of each request, in quanta of 512 bit times.
    quanta: u16,
    /// When the requests must be renewed, so that they do not expire.
    refresh_at: SimTime,
}

rocelab_state::state!(PauseRequests { values: pausing, pending, refresh_at; kept: quanta });

impl PauseRequests {
    /// Requests of `quanta` (512 bit times) each.
    pub fn new(quanta: u16) -> Self {
        Self { pausing: 0, pending: 0, quanta, refresh_at: SimTime::NEVER }
    }

    /// Whether a PFC frame is due.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.pending != 0
    }

    /// Bit p: the other end shall pause priority p.
    pub fn pausing(&self) -> u8 {
        self.pausing
    }

    /// Asks the other end to stop sending `priority`.
    pub fn pause(&mut self, priority: u8) {
        self.pausing |= 1 << priority;
        self.pending |= 1 << priority;
    }

    /// Lets the other end go on sending `priority`.
    pub fn resume(&mut self, priority: u8) {
        self.pausing &= !(1 << priority);
        self.pending |= 1 << priority;
        if self.pausing == 0 {
            self.refresh_at = SimTime::NEVER;
        }
    }

    /// Makes the PFC frame that starts at `now`: every pause in force, and all changes; `quantum`
    /// is 512 bit times of this port. So all pauses are renewed together, after half of their time,
    /// for as long as one of them lasts.
    pub fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Pfc {
        let mut frame =
            Pfc { reserved: 0, class_enable_vector: self.pending | self.pausing, quanta: [0; 8] };
        for priority in 0..8u8 {
            if self.pausing & (1 << priority) != 0 {
                frame.quanta[usize::from(priority)] = self.quanta;
            }
        }
        self.pending = 0;
        if self.pausing != 0 {
            let half = Duration::from_ps((quantum * u64::from(self.quanta)).ps() / 2);
            self.refresh_at = now + half;
        }
        frame
    }

    /// Makes all requests due again: the other end has lost its state.
    pub fn repeat(&mut self) {
        self.pending |= self.pausing;
    }

    /// When requests must be renewed, or never.
    pub fn poll_timeout(&self) -> SimTime {
        self.refresh_at
    }

    /// Makes a PFC frame due if it is time to renew requests.
    pub fn handle_timeout(&mut self, now: SimTime) {
        if self.refresh_at <= now {
            self.pending |= self.pausing;
            self.refresh_at = SimTime::NEVER;
        }
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
        let mut pause =
            Pfc { reserved: 0, class_enable_vector: 0b1000, quanta: [0, 0, 0, 100, 7, 0, 0, 0] };
        timers.receive(at(1_000), &pause, QUANTUM);
        assert_eq!(timers.paused(), 0b1000, "priority 4 is not enabled");
        assert_eq!(timers.poll_timeout(), at(1_000 + 512_000));
        timers.receive(at(200_000), &pause, QUANTUM);
        timers.handle_timeout(at(513_000));
        assert_eq!(timers.paused(), 0b1000, "refreshed");
        timers.handle_timeout(at(712_000));
        assert_eq!(timers.paused(), 0);
        assert_eq!(timers.poll_timeout(), SimTime::NEVER);
        timers.receive(at(800_000), &pause, QUANTUM);
        pause.quanta[3] = 0;
        timers.receive(at(900_000), &pause, QUANTUM);
        assert_eq!(timers.paused(), 0);
        assert_eq!(timers.paused_time(at(950_000)).ps(), 711_000 + 100_000);
    }

    #[test]
    fn one_frame_says_all_that_is_pending() {
        let mut requests = PauseRequests::new(u16::MAX);
        requests.pause(3);
        requests.pause(5);
        requests.resume(5);
        let frame = requests.take_frame(at(0), QUANTUM);
        assert_eq!((paused_priorities(&frame), resumed_priorities(&frame)), (0b1000, 0b10_0000));
        assert!(!requests.is_pending());
        assert_eq!(requests.poll_timeout(), at(65_535 * 5_120 / 2));
    }

    #[test]
    fn a_frame_about_one_priority_renews_the_pauses_of_all() {
        let mut requests = PauseRequests::new(100);
        requests.pause(3);
        requests.take_frame(at(0), QUANTUM);
        requests.pause(4);
        assert_eq!(paused_priorities(&requests.take_frame(at(255_000), QUANTUM)), 0b1_1000);
        requests.resume(4);
        let frame = requests.take_frame(at(510_000), QUANTUM);
        assert_eq!((paused_priorities(&frame), resumed_priorities(&frame)), (0b1000, 0b1_0000));
    }

    #[test]
    fn a_pause_is_repeated_until_it_is_over() {
        let mut requests = PauseRequests::new(1000);
        requests.pause(3);
        let half = requests.take_frame(at(0), QUANTUM);
        assert_eq!(half.quanta[3], 1000);
        requests.handle_timeout(requests.poll_timeout());
        assert!(requests.is_pending());
        assert_eq!(paused_priorities(&requests.take_frame(at(2_560_000), QUANTUM)), 0b1000);
        requests.resume(3);
        assert_eq!(resumed_priorities(&requests.take_frame(at(3_000_000), QUANTUM)), 0b1000);
        assert_eq!(requests.poll_timeout(), SimTime::NEVER);
    }
}
