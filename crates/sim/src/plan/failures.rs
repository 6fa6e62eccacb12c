//! Failures, taken apart into steps in the order of time.

use rocelab_fabric::NodeId;
use rocelab_units::{Bandwidth, SimTime};

use crate::scenario::{FailureKind, SwitchWatchdogConfig};

/// All that breaks, and who notices.
#[derive(Clone, Debug, Default)]
pub struct FailurePlan {
    /// In the order of time.
    pub steps: Vec<FailureStep>,
    /// When each failure begins, and what it is; one that repeats, each time.
    pub begins: Vec<(SimTime, FailureKind)>,
    /// The watchdog of the egress queues.
    pub switch_watchdog: Option<SwitchWatchdogConfig>,
    /// Whether a spanning tree says which links carry frames.
    pub spanning_tree: bool,
}

impl FailurePlan {
    /// Whether there is nothing of it.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.switch_watchdog.is_none()
    }

    /// Whether a host is dead at a time; so are those that die then.
    pub fn is_dead(&self, host: NodeId, now: SimTime) -> bool {
        let mut causes = 0_u32;
        for step in self.steps.iter().take_while(|step| step.at <= now) {
            match step.change {
                FailureChange::HostDown(one) if one == host => causes += 1,
                FailureChange::HostUp(one) if one == host => causes = causes.saturating_sub(1),
                _ => {}
            }
        }
        causes > 0
    }
}

/// Something that changes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureStep {
    /// When.
    pub at: SimTime,
    /// What.
    pub change: FailureChange,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureChange {
    /// A link, by its place in the topology, goes down.
    LinkDown(u32),
    /// It comes up again, unless something else holds it down.
    LinkUp(u32),
    /// It runs at a lower rate.
    LinkRate(u32, Bandwidth),
    /// This one no longer slows it down.
    LinkRateEnd(u32, Bandwidth),
    /// Routes are made anew, over the links that are up.
    Reroute,
    /// A host's NIC handles nothing any more, and asks for pauses of these priorities (bit p).
    StormBegin(NodeId, u8),
    /// This storm asks for no pauses any more, and the NIC still handles nothing.
    StormMuted(NodeId, u8),
    /// It is over, and asked for pauses of these priorities until now. The NIC works again, unless it
    /// is in another storm.
    StormEnd(NodeId, u8),
    /// A host sends nothing and handles nothing any more.
    HostDown(NodeId),
    /// It does again, unless something else holds it down.
    HostUp(NodeId),
}
