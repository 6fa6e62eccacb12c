//! Flows and connections that are yet to be followed.

use rocelab_units::SimTime;

use super::super::selection::Selection;
use crate::Plan;

/// What is followed when the time has come.
pub(super) struct Awaited {
    /// Flows that are yet to start, the next one last.
    flows: Vec<u32>,
    /// Connections, and the one operation that is asked for; until the first event.
    connections: Vec<(u32, Option<u64>)>,
    /// Whether every port is looked at from the start.
    all_ports: bool,
}

impl Awaited {
    pub(super) fn new(plan: &Plan, selection: &Selection) -> Self {
        let mut flows: Vec<u32> = match selection {
            Selection::Flows(flows) => flows.clone(),
            Selection::Operation { .. } => Vec::new(),
            Selection::Everything => {
                let flows = (0u32..).take(plan.flows.len());
                // One of those that share their frames.
                flows.filter(|&flow| plan.posted_flow(flow) == flow).collect()
            }
        };
        flows.sort_by_key(|&flow| std::cmp::Reverse(plan.flows[flow as usize].start));
        let connections = match *selection {
            Selection::Flows(_) => Vec::new(),
            Selection::Operation { connection, operation } => vec![(connection, Some(operation))],
            Selection::Everything => {
                (0u32..).take(plan.connections.len()).map(|one| (one, None)).collect()
            }
        };
        Self { flows, connections, all_ports: matches!(selection, Selection::Everything) }
    }

    /// The connections, once.
    pub(super) fn take_connections(&mut self) -> Vec<(u32, Option<u64>)> {
        std::mem::take(&mut self.connections)
    }

    /// Whether every port is to be looked at, once.
    pub(super) const fn take_all_ports(&mut self) -> bool {
        std::mem::replace(&mut self.all_ports, false)
    }

    /// The next flow that starts by now.
    pub(super) fn take_flow(&mut self, plan: &Plan, now: SimTime) -> Option<u32> {
        self.flows.pop_if(|flow| plan.flows[*flow as usize].start <= now)
    }
}
