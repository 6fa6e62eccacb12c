//! Flows start in the order of the file.

use std::ops::Range;

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use crate::Plan;
use crate::profile::FlowStarts;

/// One pending event for the whole file. It takes all flows of its instant, each of which takes
/// two further events of that instant before it starts, and then schedules the next one.
#[derive(Debug)]
pub struct StartsByFile {
    flows: Vec<u32>,
    /// The first flow that no event has taken.
    next: usize,
}

/// What an event is for: two bits of its ticket, the flow above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Takes the flows of an instant from this one on.
    Take,
    /// One of them, on its way.
    Pass,
    /// It starts.
    Start,
}

impl Stage {
    fn ticket(self, flow: usize) -> u32 {
        u32::try_from(flow).unwrap_or(u32::MAX) << 2 | self as u32
    }

    fn of(ticket: u32) -> (Self, usize) {
        let stage = match ticket & 0b11 {
            0 => Self::Take,
            1 => Self::Pass,
            _ => Self::Start,
        };
        (stage, (ticket >> 2) as usize)
    }
}

impl StartsByFile {
    /// The flows of `plan`, none of which has started.
    pub fn new(plan: &Plan) -> Self {
        Self { flows: (0u32..).take(plan.flows.len()).collect(), next: 0 }
    }
}

impl FlowStarts for StartsByFile {
    fn arm(&mut self, plan: &Plan, mut schedule: impl FnMut(NodeId, SimTime, u32)) {
        if let Some(first) = plan.flows.first() {
            schedule(first.source, first.start, Stage::Take.ticket(0));
        }
    }

    fn on_event(
        &mut self,
        plan: &Plan,
        now: SimTime,
        ticket: u32,
        mut schedule: impl FnMut(NodeId, SimTime, u32),
    ) -> Range<usize> {
        let (stage, flow) = Stage::of(ticket);
        match stage {
            Stage::Take => {
                while let Some(taken) = plan.flows.get(self.next).filter(|f| f.start == now) {
                    schedule(taken.source, now, Stage::Pass.ticket(self.next));
                    self.next += 1;
                }
                if let Some(next) = plan.flows.get(self.next) {
                    schedule(next.source, next.start, Stage::Take.ticket(self.next));
                }
                0..0
            }
            Stage::Pass => {
                schedule(plan.flows[flow].source, now, Stage::Start.ticket(flow));
                0..0
            }
            Stage::Start => flow..flow + 1,
        }
    }

    fn host_of(&self, _plan: &Plan, _ticket: u32) -> Option<NodeId> {
        None
    }

    fn in_order(&self) -> &[u32] {
        &self.flows
    }

    fn has_more(&self) -> bool {
        self.next < self.flows.len()
    }
}
