//! Storage: blocks read and written, as NVMe over Fabrics does it over RDMA.
//!
//! A command is a SEND. Of a read, the target writes the data into the client's memory by RDMA
//! WRITE, and of a write it fetches them by RDMA READ; its response is a SEND.

use rocelab_units::Duration;

use super::Workload;
use super::app::{
    App, Common, OperationKind, Pace, Peers, StepPlan, StepVerb, check_work_time, step_size,
};
use super::site::Site;
use crate::scenario::workload::app::Side;
pub use crate::scenario::workload::storage::Parameters;
use crate::scenario::{Fault, ensure};

impl Workload for Parameters {
    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers { clients: &self.clients, servers: &self.servers, pairs: self.pairs },
            pace: Pace {
                count: self.operations,
                count_key: "operations",
                until: self.until,
                start: self.start,
                think_time: Duration::ZERO,
                queue_depth: self.queue_depth,
            },
            receive_depth: self.receive_depth,
            completion_events: None,
            priority: self.priority,
        };
        common.app(site, kinds(self)?).map(Some)
    }
}

/// Reads and writes, or one of them if there are no others.
fn kinds(parameters: &Parameters) -> Result<Vec<OperationKind>, Fault> {
    ensure((0.0..=1.0).contains(&parameters.read_fraction), || {
        Fault::at("read_fraction", "this is a share").help("give a number from 0 to 1")
    })?;
    let kind = |name: &str, cumulative_share, data| {
        let steps = steps(parameters, data)?;
        Ok(OperationKind::of_steps(name, cumulative_share, steps))
    };
    let mut kinds = Vec::new();
    if parameters.read_fraction > 0.0 {
        kinds.push(kind("read", parameters.read_fraction, StepVerb::Write)?);
    }
    if parameters.read_fraction < 1.0 {
        kinds.push(kind("write", 1.0, StepVerb::Read)?);
    }
    Ok(kinds)
}

/// Command, data and response. What has to be found first is sent after the access time; what
/// was fetched is stored before the response.
fn steps(parameters: &Parameters, data: StepVerb) -> Result<Vec<StepPlan>, Fault> {
    check_work_time("access_time", parameters.access_time)?;
    let fetches = data.awaits_response();
    let step = |by, verb, bytes, after, chained| StepPlan {
        by,
        verb,
        bytes,
        after,
        chained,
        solicited: false,
    };
    let [before_data, before_response] = if fetches {
        [Duration::ZERO, parameters.access_time]
    } else {
        [parameters.access_time, Duration::ZERO]
    };
    let command = step_size("command", StepVerb::Send, Some(parameters.command))?;
    let block = step_size("block", data, Some(parameters.block))?;
    let response = step_size("response", StepVerb::Send, Some(parameters.response))?;
    Ok(vec![
        step(Side::Client, StepVerb::Send, command, Duration::ZERO, false),
        step(Side::Server, data, block, before_data, false),
        step(Side::Server, StepVerb::Send, response, before_response, !fetches),
    ])
}
