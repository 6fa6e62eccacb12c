//! What is decided between two windows of fixed length: whether queues wait for each other for ever,
//! which flows have lost their messages, whether the run is over, and how long the next window is.
//!
//! All of it follows from facts that are summed up over the parts of the network. So it does not
//! matter where parts are: where several processes have some each, all of them learn the same facts,
//! and decide alike.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::CompletionStatus;
use rocelab_units::{Bytes, Duration, SimTime};

use super::assembly::{Assembly, Fact};
use super::ending::Ending;
use super::running::Running;
use crate::Plan;
use crate::network::{
    Deadlock, FlowEnd, FlowFailure, Overview, Standstill, StuckQueue, every_nth_look,
};
use crate::profile::Profile;
use crate::scenario::OnDeadlock;

/// Time between two looks at whether the run is over. Fixed, and in simulated time, so that the
/// end of a run does not depend on the machine or on partitions.
const WINDOW: Duration = Duration::from_us(10);
/// Time between two searches for deadlocks, and for queue pairs that do not send though they could: at
/// its multiples, whatever happens around them.
const DEADLOCK_INTERVAL: Duration = Duration::from_us(100);
/// How long frames may stay in the network after the last flow's end without one arriving.
const DRAIN_LIMIT: Duration = Duration::from_ms(10);
/// How long nothing may move, at the least, before a run counts as stalled.
const STALL_LIMIT: Duration = Duration::from_ms(1_000);

/// What is asked for at the end of every window.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Standing {
    /// Grows as long as anything moves.
    moved: u64,
    /// Flows that have ended, well or badly.
    flows_ended: u64,
    /// Whether an application goes on.
    has_open_connections: bool,
    /// Frames on links and in queues.
    frames: u64,
    /// What is between programs and NICs of hosts that take time. It always arrives, however slow memory is.
    in_hosts: u64,
}

impl Standing {
    fn of<P: Profile>(parts: &[Running<P>]) -> Self {
        let of_part = |part: &Running<P>| {
            let network = Overview(&part.network);
            let (completed, failed, _) = network.flow_counts();
            Self {
                moved: network.movements(),
                flows_ended: u64::from(completed) + u64::from(failed),
                has_open_connections: network.has_open_connections(),
                frames: network.frames_in_network().into(),
                in_hosts: network.on_their_way(),
            }
        };
        parts.iter().map(of_part).fold(Self::default(), Self::with)
    }

    /// Whether every flow of a plan has ended, and every application.
    fn has_all_flows_ended(&self, plan: &Plan) -> bool {
        self.flows_ended == plan.flows.len() as u64 && !self.has_open_connections
    }
}

impl Fact for Standing {
    fn with(self, other: Self) -> Self {
        Self {
            moved: self.moved + other.moved,
            flows_ended: self.flows_ended + other.flows_ended,
            has_open_connections: self.has_open_connections | other.has_open_connections,
            frames: self.frames + other.frames,
            in_hosts: self.in_hosts + other.in_hosts,
        }
    }
}

/// How far a flow of an unreliable service has come.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Sent {
    has_ended: bool,
    /// Whether its source has nothing of it left to send.
    has_sent_all: bool,
}

impl Fact for Sent {
    fn with(self, other: Self) -> Self {
        Self {
            has_ended: self.has_ended | other.has_ended,
            has_sent_all: self.has_sent_all | other.has_sent_all,
        }
    }
}

/// Decides, and keeps what was decided.
#[derive(Debug)]
pub(super) struct Coordinator {
    pub(super) plan: Arc<Plan>,
    /// Those that were found, in order of time.
    pub(super) deadlocks: Vec<Deadlock>,
    /// The same: when each began, and its cycle.
    pub(super) known: BTreeSet<(SimTime, Vec<StuckQueue>)>,
    /// Flows of an unreliable service that have not ended, as far as is known, ascending.
    pub(super) open_flows: Vec<u32>,
    /// The end of the window that is being run.
    pub(super) window_end: SimTime,
    /// When deadlocks are looked for next.
    pub(super) deadlock_look: SimTime,
    /// When something was last seen to have moved, and how much had.
    pub(super) last_progress: (SimTime, u64),
    stall_limit: Duration,
    /// Of how many looks one is for queue pairs that do not send though they could.
    idle_backlog_looks: u64,
}

impl Coordinator {
    /// Of a run of `plan`, at its beginning.
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let flows = if plan.service().is_reliable() { 0 } else { plan.flows.len() };
        let is_native = plan.profile.hpcc_ns3().is_none();
        Self {
            deadlocks: Vec::new(),
            known: BTreeSet::new(),
            open_flows: (0u32..).take(flows).collect(),
            window_end: SimTime::ZERO,
            deadlock_look: if is_native {
                SimTime::ZERO + DEADLOCK_INTERVAL
            } else {
                SimTime::NEVER
            },
            last_progress: (SimTime::ZERO, 0),
            stall_limit: stall_limit(&plan),
            idle_backlog_looks: every_nth_look(plan.topology.host_count() as u64),
            plan,
        }
    }

    /// The end of the next window, or why the run is over without another one.
    pub(super) fn begin<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
    ) -> Result<ControlFlow<Ending, SimTime>, A::Error> {
        // Nothing happens later: sums of times do not wrap.
        let stop = self.plan.stop.map_or(SimTime::LATEST, P::last_instant);
        let next = if self.only_samples(all)? { None } else { all.next() };
        if self.deadlocked_before(all, next.unwrap_or(SimTime::NEVER).min(stop))? {
            return Ok(ControlFlow::Break(Ending::Deadlocked));
        }
        Ok(match next {
            None => ControlFlow::Break(self.ending_without_events(all)?),
            Some(next) if next > stop => ControlFlow::Break(self.idle_until(all, stop)?),
            Some(next) => {
                self.window_end = window_after(next).min(stop).min(self.deadlock_look);
                ControlFlow::Continue(self.window_end)
            }
        })
    }

    /// Whether nothing is scheduled but samples, which go on for ever: they are no reason for a run to last. It comes to its `stop`,
    /// if it has one.
    fn only_samples<P: Profile, A: Assembly<P>>(&self, all: &mut A) -> Result<bool, A::Error> {
        let idle = self.last_progress.0 < self.window_end;
        if self.plan.stop.is_some() || !self.plan.is_sampled() || !idle {
            return Ok(false);
        }
        let has_more = |network| Overview(network).has_more_than_samples();
        let here = u64::from(all.parts().iter().any(|part| has_more(&part.network)));
        Ok(all.of_all(here)? == 0)
    }

    /// At the end of a window: is the run over?
    pub(super) fn look<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
    ) -> Result<Option<Ending>, A::Error> {
        let here = Standing::of(all.parts());
        let mut standing = all.of_all(here)?;
        if standing.moved != self.last_progress.1 {
            self.last_progress = (self.window_end, standing.moved);
        }
        let idle = self.window_end.since(self.last_progress.0);
        self.end_lost_flows(all, &mut standing)?;
        let has_flows = !standing.has_all_flows_ended(&self.plan);
        if !has_flows && !self.has_streams_left(all)? {
            return Ok(self.drained(&standing).then_some(Ending::Finished));
        }
        if idle <= self.stall_limit {
            return Ok(None);
        }
        let will_move = all.parts().iter().any(|part| Overview(&part.network).will_move());
        let ending = if has_flows { Ending::Stalled } else { Ending::Finished };
        Ok((!all.of_all(will_move)?).then_some(ending))
    }

    /// Whether nothing is left in the network that a run waits for, once all flows have ended.
    fn drained(&self, standing: &Standing) -> bool {
        let mut since = self.last_progress.0;
        if let Some(mesh) = &self.plan.monitoring {
            match mesh.rules.until {
                // Some pings are always under way.
                None => return true,
                Some(until) if until > self.window_end => return false,
                Some(until) => since = since.max(until),
            }
        }
        let has_drained = standing.frames == 0 || self.window_end.since(since) > DRAIN_LIMIT;
        has_drained && standing.in_hosts == 0
    }

    /// Whether a stream has something left to send. Only asked once all flows have ended.
    fn has_streams_left<P: Profile, A: Assembly<P>>(&self, all: &mut A) -> Result<bool, A::Error> {
        if self.plan.streams.all.is_empty() {
            return Ok(false);
        }
        let here = all.parts().iter().any(|part| Overview(&part.network).has_streams_left());
        all.of_all(here)
    }

    fn ending_without_events<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
    ) -> Result<Ending, A::Error> {
        let here = Standing::of(all.parts());
        let mut standing = all.of_all(here)?;
        self.end_lost_flows(all, &mut standing)?;
        // Pings that were to go on longer end with the run.
        let is_over = self.plan.stop.is_none_or(|stop| self.pings_end() <= stop);
        if is_over && standing.has_all_flows_ended(&self.plan) {
            return Ok(Ending::Finished);
        }
        Ok(match self.plan.stop {
            Some(stop) => self.stopped(all, stop)?,
            None => Ending::Stalled,
        })
    }

    /// Until when the mesh of pings goes on, if it is said; else 0.
    fn pings_end(&self) -> SimTime {
        let until = self.plan.monitoring.as_ref().and_then(|mesh| mesh.rules.until);
        until.unwrap_or(SimTime::ZERO)
    }

    /// Nothing happens before `stop`. A run that has only waited for the end of its pings is over by then.
    fn idle_until<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
        stop: SimTime,
    ) -> Result<Ending, A::Error> {
        let pings_end = self.pings_end();
        if pings_end > SimTime::ZERO && pings_end <= stop {
            let here = Standing::of(all.parts());
            let standing = all.of_all(here)?;
            let is_empty = standing.frames == 0 && standing.in_hosts == 0;
            let has_ended = is_empty && standing.has_all_flows_ended(&self.plan);
            if has_ended && !self.has_streams_left(all)? {
                return Ok(Ending::Finished);
            }
        }
        self.stopped(all, stop)
    }

    /// The run comes to its `stop`. Deadlocks are looked for once more: one may have closed since the last
    /// time.
    fn stopped<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
        stop: SimTime,
    ) -> Result<Ending, A::Error> {
        all.advance_to(stop);
        let looks = self.deadlock_look != SimTime::NEVER;
        let found = looks && self.look_for_deadlock(all, stop)?;
        let ends = found && self.plan.on_deadlock == OnDeadlock::Stop;
        Ok(if ends { Ending::Deadlocked } else { Ending::Stopped })
    }

    /// Looks for deadlocks, and for queue pairs that do not send though they could, if that is due
    /// before `next`, when something happens again: in the network as it is until then. True if the
    /// run ends with a deadlock.
    fn deadlocked_before<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
        next: SimTime,
    ) -> Result<bool, A::Error> {
        if self.deadlock_look >= next {
            return Ok(false);
        }
        let due = self.deadlock_look;
        let intervals = next.ps().div_ceil(DEADLOCK_INTERVAL.ps());
        self.deadlock_look = SimTime::from_ps(intervals.saturating_mul(DEADLOCK_INTERVAL.ps()));
        if let Some((now, until)) = idle_look(due, next, self.idle_backlog_looks) {
            for part in all.parts() {
                part.network.backlog_search().look_for_idle_backlogs(now, until);
            }
        }
        let found = self.look_for_deadlock(all, due)?;
        let ends = found && self.plan.on_deadlock == OnDeadlock::Stop;
        if ends {
            all.advance_to(due);
        }
        Ok(ends)
    }

    /// Looks for deadlocks, and keeps those that are not known; true if there are any.
    #[cold]
    #[inline(never)] // Few windows look, and the loop over them is hot.
    fn look_for_deadlock<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
        now: SimTime,
    ) -> Result<bool, A::Error> {
        let pauses =
            all.parts().iter().map(|part| Overview(&part.network).counted().pauses).sum::<u64>();
        // Lanes of InfiniBand wait for credits without that anybody asks for it.
        if all.of_all(pauses)? < 2 && self.plan.infiniband.is_none() {
            return Ok(false);
        }
        let here = all.parts().iter().map(|part| Overview(&part.network).standstill());
        let here = here.reduce(Standstill::with).unwrap_or_default();
        let before = self.deadlocks.len();
        for deadlock in all.of_all(here)?.deadlocks(now) {
            self.keep_deadlock(all, deadlock);
        }
        Ok(self.deadlocks.len() > before)
    }

    /// Keeps a deadlock, unless it is known.
    fn keep_deadlock<P: Profile>(&mut self, all: &mut impl Assembly<P>, found: Deadlock) {
        if !self.known.insert((found.began, found.cycle.clone())) {
            return;
        }
        let first = found.cycle.first();
        if let Some(part) = first.and_then(|first| all.part_with(first.node)) {
            part.network.collecting().note_deadlock(&found);
        }
        self.deadlocks.push(found);
    }

    /// If nothing is under way any more, ends every flow of an unreliable service that has sent all:
    /// at the end of the window in which that came to be, whatever else happened in it.
    fn end_lost_flows<P: Profile, A: Assembly<P>>(
        &mut self,
        all: &mut A,
        standing: &mut Standing,
    ) -> Result<(), A::Error> {
        if self.open_flows.is_empty() || standing.frames + standing.in_hosts > 0 {
            return Ok(());
        }
        let sent = self.open_flows.iter().map(|&flow| sent_here(all, &self.plan, flow)).collect();
        let sent: Vec<Sent> = all.of_all(sent)?;
        let mut lost = Vec::new();
        let mut sent = sent.into_iter();
        self.open_flows.retain(|&flow| match sent.next() {
            Some(Sent { has_ended: false, has_sent_all }) => {
                lost.extend(has_sent_all.then_some(flow));
                !has_sent_all
            }
            _ => false,
        });
        if lost.is_empty() {
            return Ok(());
        }
        let undelivered = |&flow: &u32| {
            let destination = self.plan.flows[flow as usize].destination;
            let part = all.part_with(destination);
            part.and_then(|part| Overview(&part.network).undelivered_messages(flow)).unwrap_or(0)
        };
        let undelivered = lost.iter().map(undelivered).collect();
        let undelivered: Vec<u64> = all.of_all(undelivered)?;
        for (&flow, undelivered) in lost.iter().zip(undelivered) {
            standing.flows_ended += 1;
            self.end_lost_flow(all, flow, undelivered);
        }
        Ok(())
    }

    fn end_lost_flow<P: Profile>(&self, all: &mut impl Assembly<P>, flow: u32, undelivered: u64) {
        let Some(part) = all.part_with(self.plan.flows[flow as usize].source) else { return };
        part.network.collecting().note_sampled_end(flow);
        part.network.collecting().end_lost_flow(&FlowEnd {
            flow,
            status: CompletionStatus::Flushed,
            finished: self.window_end,
            retransmitted_packets: 0,
            failure: Some(FlowFailure::MessagesLost(undelivered)),
        });
    }
}

/// How far a flow has come, as far as is known here.
fn sent_here<P: Profile>(all: &mut impl Assembly<P>, plan: &Plan, flow: u32) -> Sent {
    let has_ended =
        all.parts().iter().any(|part| Overview(&part.network).end_of_flow(flow).is_some());
    let source = all.part_with(plan.flows[flow as usize].source);
    let has_sent_all =
        !has_ended && source.is_some_and(|part| Overview(&part.network).has_sent_all(flow));
    Sent { has_ended, has_sent_all }
}

/// The end of the window that holds `time`.
fn window_after(time: SimTime) -> SimTime {
    let windows = time.ps() / WINDOW.ps() + 1;
    SimTime::from_ps(windows.saturating_mul(WINDOW.ps()))
}

/// When queue pairs that do not send are looked for, of all looks from the one that is `due` up to `next`, when
/// something happens again: the first one that is one of every `nth`. And until when nothing happens.
fn idle_look(due: SimTime, next: SimTime, nth: u64) -> Option<(SimTime, SimTime)> {
    if next == SimTime::LATEST {
        // Without an event to come and a `stop`, all stays as it is for ever.
        return Some((due, next));
    }
    let look = (due.ps() / DEADLOCK_INTERVAL.ps()).checked_next_multiple_of(nth)?;
    let time = SimTime::from_ps(look.checked_mul(DEADLOCK_INTERVAL.ps())?);
    (time < next).then_some((time, next))
}

/// How long nothing moves in a network that is stalled and in no other: longer than a frame takes
/// over the slowest link, a pause lasts, and a lost packet waits to be sent again.
pub(crate) fn stall_limit(plan: &Plan) -> Duration {
    let slowest = plan.topology.links.iter().map(|link| link.rate).min().unwrap_or_default();
    let farthest = plan.topology.links.iter().map(|link| link.delay).max().unwrap_or_default();
    let mut limit = STALL_LIMIT.max(farthest * 4);
    if slowest.bits_per_second() > 0 {
        let pause = u64::from(u16::MAX) * u64::from(rocelab_fabric::QUANTUM_BITS / 8);
        limit = limit.max(slowest.transmission_time(Bytes::new(pause)) * 2);
    }
    limit.max(plan.common_queue_pair().ack_timeout.duration().unwrap_or_default() * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    #[test]
    fn a_look_that_lies_in_a_silent_gap_is_made() {
        for (due, next, nth, look) in [
            // Every look, at the time that it is due.
            (300, 310, 1, Some(300)),
            (300, 900, 1, Some(300)),
            // Every fourth: at its own time, in a short gap and in a long one; and not where it lies outside.
            (400, 410, 4, Some(400)),
            (300, 410, 4, Some(400)),
            (500, 1_700, 4, Some(800)),
            (300, 400, 4, None),
            (500, 799, 4, None),
        ] {
            let expected = look.map(|look| (at(look), at(next)));
            assert_eq!(idle_look(at(due), at(next), nth), expected, "{due} {next} {nth}");
        }
        // The run ends: what could send now never will.
        let for_ever = (at(300), SimTime::LATEST);
        assert_eq!(idle_look(at(300), SimTime::LATEST, 4), Some(for_ever));
    }
}
