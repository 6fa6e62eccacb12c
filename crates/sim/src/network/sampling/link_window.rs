//! What links carried in the measuring window.

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_fabric::FlowControl;
use rocelab_units::{Duration, SimTime};

use super::super::port::NetworkPort;
use crate::plan::MeasurePlan;
use crate::profile::Profile;

/// A port's counters at the begin and at the end of the measuring window.
#[derive(Debug)]
pub(in crate::network) struct MeasuredLink {
    /// The port, by its place among all ports.
    pub(in crate::network) port: u32,
    /// When the window begins.
    from: SimTime,
    /// As the window began.
    pub(in crate::network) begin: Option<CountersThen>,
    /// As it ended.
    pub(in crate::network) end: Option<CountersThen>,
}

rocelab_state::state!(MeasuredLink { values: begin, end; kept: port, from });

/// What had been counted at a port at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct CountersThen {
    /// Frames that had started.
    pub(crate) frames: u64,
    /// Their bytes, FCS included.
    pub(crate) bytes: u64,
    /// Frames marked CE.
    pub(crate) ecn_marks: u64,
    /// Time paused, summed over priorities (ps).
    pub(crate) paused_ps: u64,
    /// The longest that a queue had been since the window began (bytes).
    pub(crate) max_queue_bytes: u64,
}

impl CountersThen {
    fn of<P: Profile>(port: &NetworkPort<P>, now: SimTime) -> Self {
        let counters = port.counters();
        Self {
            frames: counters.frames,
            bytes: counters.bytes,
            ecn_marks: counters.ecn_marks,
            paused_ps: port.port.flow_control().paused_time(now).ps(),
            max_queue_bytes: counters.max_queue_bytes.into(),
        }
    }

    /// What was counted since `begin`.
    pub(crate) fn since(self, begin: Self) -> Self {
        Self {
            frames: self.frames - begin.frames,
            bytes: self.bytes - begin.bytes,
            ecn_marks: self.ecn_marks - begin.ecn_marks,
            // What looks at the begin counts the picosecond in which a resume may come.
            paused_ps: self.paused_ps.saturating_sub(begin.paused_ps),
            max_queue_bytes: self.max_queue_bytes,
        }
    }
}

impl MeasuredLink {
    /// Nothing has been counted before a window that begins with the run.
    pub(super) fn new(port: u32, window: MeasurePlan) -> Self {
        let begin = (window.from == SimTime::ZERO).then(CountersThen::default);
        Self { port, from: window.from, begin, end: None }
    }

    /// The window begins with the next picosecond, or ends. As it begins, the longest queue is the present one.
    pub(super) fn note<P: Profile>(&mut self, ports: &mut [NetworkPort<P>], now: SimTime) {
        let now = now.saturating_add(Duration::from_ps(1));
        let port = &mut ports[self.port as usize];
        if self.begin.is_none() {
            let queued = (0..8).map(|priority| port.port.queued(priority)).max();
            port.rare.max_queue_bytes = queued.unwrap_or(0);
            self.begin = Some(CountersThen::of(port, now));
        } else {
            self.end = Some(CountersThen::of(port, now));
        }
    }

    /// What was counted in the window of a run that is over at `now`; nothing if it never began. Who looks may look
    /// after the end of the run.
    pub(in crate::network) fn counted<P: Profile>(
        &self,
        ports: &[NetworkPort<P>],
        now: SimTime,
    ) -> CountersThen {
        let Some(begin) = self.begin.filter(|_| self.from < now) else {
            return CountersThen::default();
        };
        let end = self.end.unwrap_or_else(|| CountersThen::of(&ports[self.port as usize], now));
        end.since(begin)
    }
}
