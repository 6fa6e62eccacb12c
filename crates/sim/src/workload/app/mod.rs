//! Applications: operations of several steps, with the verb of each.

mod check;
mod operations;
mod peers;
mod step;

pub(crate) use self::check::App;
pub(super) use self::check::{Common, Pace, check_work_time, named};
pub use self::operations::{AppPlan, OperationKind, StepPlan, StepVerb};
pub(super) use self::peers::Peers;
pub(super) use self::step::step_size;
use super::Workload;
use crate::scenario::Fault;
pub use crate::scenario::workload::app::{Pairs, Parameters, Side, StepConfig, VerbName};
use crate::workload::site::Site;

impl Workload for Parameters {
    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let steps = step::planned(&self.steps)?;
        if let Some(events) = &self.completion_events {
            step::check_events(events, &steps)?;
        }
        let kind = OperationKind::of_steps("operation", 1.0, steps);
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers { clients: &self.clients, servers: &self.servers, pairs: self.pairs },
            pace: Pace {
                count: self.operations,
                count_key: "operations",
                until: self.until,
                start: self.start,
                think_time: self.think_time,
                queue_depth: self.queue_depth,
            },
            receive_depth: self.receive_depth,
            completion_events: self.completion_events,
            priority: self.priority,
        };
        common.app(site, vec![kind]).map(Some)
    }
}
