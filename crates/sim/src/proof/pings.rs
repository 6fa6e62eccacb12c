//! How long hosts ping each other where nothing says when they end.

use std::fmt;

use rocelab_units::{Bytes, Duration, SimTime};
use serde::Serialize;

use crate::plan::{MAX_PINGS, Plan};
use crate::record::Ping;
use crate::simulation::stall_limit;

/// A mesh of pings without `until`: they go on as long as the run does, and each is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PingFinding {
    /// Pairs of hosts of which one pings the other.
    pub pairs: u64,
    /// Pings in a second of simulated time.
    pub per_second: u64,
    /// When the run stops at the latest (ps); none without `stop`.
    pub stop_ps: Option<u64>,
    /// How long a run goes on whose flows are stuck (ps), with pings.
    pub stuck_ps: u64,
    /// The most pings until `stop`, or until a run is over whose flows are stuck from the beginning, whichever is less.
    pub pings: u64,
    /// What they take in memory (bytes).
    pub bytes: u64,
}

impl PingFinding {
    /// That of a plan; none where nobody pings, or `until` says when pings end.
    pub fn of(plan: &Plan) -> Option<Self> {
        let mesh = plan.monitoring.as_ref().filter(|mesh| mesh.rules.until.is_none())?;
        let pairs = mesh.pairs().count() as u64;
        let within = |time: Duration| {
            let pings = u128::from(time.ps()) * u128::from(pairs)
                / u128::from(mesh.rules.interval.ps().max(1));
            u64::try_from(pings).unwrap_or(u64::MAX)
        };
        let stuck = stall_limit(plan);
        let begun = mesh.rules.start;
        let until_stop = plan.stop.map(|stop| stop.max(begun).since(begun));
        let pings = within(until_stop.map_or(stuck, |time| time.min(stuck)));
        Some(Self {
            pairs,
            per_second: within(Duration::from_ms(1_000)),
            stop_ps: plan.stop.map(SimTime::ps),
            stuck_ps: stuck.ps(),
            pings,
            bytes: pings.saturating_mul(size_of::<Ping>() as u64),
        })
    }

    /// Whether they may be more than a run with `until` is allowed.
    pub fn are_too_many(&self) -> bool {
        self.pings > MAX_PINGS
    }
}

impl fmt::Display for PingFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, per_second, pings, bytes, .. } = self;
        let stuck = Duration::from_ps(self.stuck_ps);
        write!(
            f,
            "{pairs} pairs, {per_second} a second of simulated time, until the last flow or operation has ended"
        )?;
        match self.stop_ps {
            Some(stop) if stop <= self.stuck_ps => {
                write!(f, ", or until {}", SimTime::from_ps(stop))?;
            }
            Some(stop) => {
                let stop = SimTime::from_ps(stop);
                write!(f, ", or until {stop}; if flows are stuck, for {stuck}")?;
            }
            None => write!(f, "; if flows are stuck, for {stuck}")?,
        }
        write!(f, ": {pings} pings, {} of memory", Bytes::new(*bytes))
    }
}
