//! Incast: many servers answer one at once.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_units::{Duration, SimTime};

use super::Workload;
use super::flow::{DEFAULT_PORT, Flow};
use super::rules::MAX_MESSAGE_BYTES;
use super::site::Site;
pub use crate::scenario::workload::incast::Parameters;
use crate::scenario::{Fault, ensure};

impl Workload for Parameters {
    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        self.transport.check(self.verb, self.priority, self.congestion_control.as_ref())?;
        let priority = site.priority_or_default(self.priority)?;
        let receiver = receiver_in(self, site)?;
        site.check_bytes("bytes", self.bytes.get())?;
        check_senders(self, site)?;
        check_rounds(self, site)?;
        let others: Vec<NodeId> =
            site.hosts.all().iter().copied().filter(|&host| host != receiver).collect();
        let mut stream = site.stream("senders");
        let mut flows = Vec::new();
        for round in 0..self.repeat {
            let start = round_start(self, round)?;
            let senders = chosen(&others, self.senders as usize, &mut stream);
            flows.extend(senders.into_iter().map(|source| Flow {
                source,
                destination: receiver,
                start,
                bytes: self.bytes.get(),
                message_bytes: MAX_MESSAGE_BYTES,
                verb: self.verb,
                priority,
                port: DEFAULT_PORT,
                row: round,
            }));
        }
        Ok(flows)
    }
}

fn receiver_in(parameters: &Parameters, site: &Site<'_>) -> Result<NodeId, Fault> {
    match &parameters.receiver {
        Some(name) => site.hosts.one(name).map_err(|fault| fault.within("receiver")),
        None => Ok(site.hosts.all()[0]),
    }
}

fn check_senders(parameters: &Parameters, site: &Site<'_>) -> Result<(), Fault> {
    let hosts = site.hosts.all().len();
    ensure(parameters.senders > 0, || {
        Fault::at("senders", "an incast without senders sends nothing").help("give at least 1")
    })?;
    ensure((parameters.senders as usize) < hosts, || {
        let problem = format!(
            "{} senders and a receiver are more than the {hosts} hosts there are",
            parameters.senders
        );
        Fault::at("senders", problem)
            .help(format!("give at most {} or a larger topology", hosts - 1))
    })
}

fn check_rounds(parameters: &Parameters, site: &Site<'_>) -> Result<(), Fault> {
    ensure(parameters.repeat > 0, || {
        Fault::at("repeat", "an incast of no rounds sends nothing").help("give at least 1")
    })?;
    site.check_count("repeat", u64::from(parameters.repeat) * u64::from(parameters.senders))?;
    let spaced = parameters.interval.is_some_and(|interval| interval > Duration::ZERO);
    ensure(parameters.repeat == 1 || spaced, || {
        Fault::at("interval", "several rounds need the time from one to the next")
            .value(parameters.interval.map_or("none".into(), |interval| interval.to_string()))
            .help("give `interval`, such as \"1ms\"")
    })
}

fn round_start(parameters: &Parameters, round: u32) -> Result<SimTime, Fault> {
    let interval = parameters.interval.map_or(0, Duration::ps);
    let start =
        interval.checked_mul(u64::from(round)).and_then(|t| t.checked_add(parameters.start.ps()));
    start.map(SimTime::from_ps).ok_or_else(|| {
        Fault::at("repeat", format!("round {round} would start after the end of time"))
            .help("give fewer rounds or a shorter `interval`")
    })
}

/// `count` distinct ones of `hosts`, ascending.
fn chosen(hosts: &[NodeId], count: usize, stream: &mut RngStream) -> Vec<NodeId> {
    let mut order = hosts.to_vec();
    stream.shuffle(&mut order);
    order.truncate(count);
    order.sort_unstable();
    order
}
