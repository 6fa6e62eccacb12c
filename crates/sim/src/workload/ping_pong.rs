//! Ping-pong: how long a message takes there and back.

use rocelab_units::Duration;

use super::Workload;
use super::app::{App, Common, OperationKind, Pace, Pairs, Peers, StepPlan, StepVerb, step_size};
use super::site::Site;
use crate::scenario::workload::app::Side;
pub use crate::scenario::workload::ping_pong::Parameters;
use crate::scenario::{Fault, ensure};

impl Workload for Parameters {
    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers {
                clients: &self.clients,
                servers: &self.servers,
                pairs: Pairs::RoundRobin,
            },
            pace: Pace {
                count: Some(self.iterations),
                count_key: "iterations",
                until: None,
                start: self.start,
                think_time: Duration::ZERO,
                queue_depth: 1,
            },
            receive_depth: None,
            completion_events: None,
            priority: self.priority,
        };
        let steps = steps(self)?;
        let kind = OperationKind::of_steps("round-trip", 1.0, steps);
        common.app(site, vec![kind]).map(Some)
    }
}

fn steps(parameters: &Parameters) -> Result<Vec<StepPlan>, Fault> {
    let verb = StepVerb::from(parameters.verb);
    ensure(verb.is_noticed() || verb.awaits_response(), || {
        Fault::at("verb", "nothing tells the other side of a plain WRITE")
            .help("use `write-with-immediate`, or `read`")
    })?;
    let bytes = step_size("bytes", verb, parameters.bytes)?;
    let ping = StepPlan {
        by: Side::Client,
        verb,
        bytes,
        after: Duration::ZERO,
        chained: false,
        solicited: false,
    };
    if verb.awaits_response() {
        return Ok(vec![ping]);
    }
    Ok(vec![ping, StepPlan { by: Side::Server, ..ping }])
}
