//! Incast: many servers answer one at once.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::Algorithm;
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_PORT, Flow, Site, Workload};
use crate::plan::{MAX_MESSAGE_BYTES, Verb};
use crate::scenario::{Fault, Transport, ensure};

/// `[workload.incast]`: every round, `senders` distinct hosts send to `receiver` at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "IncastParameters")]
pub struct Parameters {
    /// How many hosts send in a round, drawn at random from all but the receiver.
    #[schemars(range(min = 1))]
    pub senders: u32,
    /// The host that they send to. Default: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// Payload bytes of each sender.
    pub bytes: Bytes,
    /// When the first round starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// How many rounds there are. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub repeat: u32,
    /// Time from the start of one round to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(default, skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation. A READ is posted by the senders and moves bytes to them.
    #[serde(default)]
    pub verb: Verb,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How these flows react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
}

const fn once() -> u32 {
    1
}

impl Workload for Parameters {
    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        self.transport.check(self.verb, self.priority, self.congestion_control())?;
        let priority = site.priority_or_default(self.priority)?;
        let receiver = self.receiver_in(site)?;
        site.check_bytes("bytes", self.bytes.get())?;
        self.check_senders(site)?;
        self.check_rounds(site)?;
        let others: Vec<NodeId> =
            site.hosts.all().iter().copied().filter(|&host| host != receiver).collect();
        let mut stream = site.stream("senders");
        let mut flows = Vec::new();
        for round in 0..self.repeat {
            let start = self.round_start(round)?;
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

impl Parameters {
    fn receiver_in(&self, site: &Site<'_>) -> Result<NodeId, Fault> {
        match &self.receiver {
            Some(name) => site.hosts.one(name).map_err(|fault| fault.within("receiver")),
            None => Ok(site.hosts.all()[0]),
        }
    }

    fn check_senders(&self, site: &Site<'_>) -> Result<(), Fault> {
        let hosts = site.hosts.all().len();
        ensure(self.senders > 0, || {
            Fault::at("senders", "an incast without senders sends nothing").help("give at least 1")
        })?;
        ensure((self.senders as usize) < hosts, || {
            let problem = format!(
                "{} senders and a receiver are more than the {hosts} hosts there are",
                self.senders
            );
            Fault::at("senders", problem)
                .help(format!("give at most {} or a larger topology", hosts - 1))
        })
    }

    fn check_rounds(&self, site: &Site<'_>) -> Result<(), Fault> {
        ensure(self.repeat > 0, || {
            Fault::at("repeat", "an incast of no rounds sends nothing").help("give at least 1")
        })?;
        site.check_count("repeat", u64::from(self.repeat) * u64::from(self.senders))?;
        let spaced = self.interval.is_some_and(|interval| interval > Duration::ZERO);
        ensure(self.repeat == 1 || spaced, || {
            Fault::at("interval", "several rounds need the time from one to the next")
                .value(self.interval.map_or("none".into(), |interval| interval.to_string()))
                .help("give `interval`, such as \"1ms\"")
        })
    }

    fn round_start(&self, round: u32) -> Result<SimTime, Fault> {
        let interval = self.interval.map_or(0, Duration::ps);
        let start =
            interval.checked_mul(u64::from(round)).and_then(|t| t.checked_add(self.start.ps()));
        start.map(SimTime::from_ps).ok_or_else(|| {
            Fault::at("repeat", format!("round {round} would start after the end of time"))
                .help("give fewer rounds or a shorter `interval`")
        })
    }
}

/// `count` distinct ones of `hosts`, ascending.
fn chosen(hosts: &[NodeId], count: usize, stream: &mut RngStream) -> Vec<NodeId> {
    let mut order = hosts.to_vec();
    stream.shuffle(&mut order);
    order.truncate(count);
    order.sort_unstable();
    order
}
