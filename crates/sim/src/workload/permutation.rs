//! Permutation: every server sends to one other and receives from one other.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::Algorithm;
use rocelab_units::{Bytes, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_PORT, Flow, Site, Workload};
use crate::plan::{MAX_MESSAGE_BYTES, Verb};
use crate::scenario::{Fault, Transport, ensure};

/// `[workload.permutation]`: a random permutation of the hosts in which none stays in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PermutationParameters")]
pub struct Parameters {
    /// Payload bytes of each flow.
    pub bytes: Bytes,
    /// When all of them start. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// The hosts that take part: names, or ranges such as `host-0..host-7`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(default, skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation.
    #[serde(default)]
    pub verb: Verb,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How these flows react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
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
        site.check_bytes("bytes", self.bytes.get())?;
        let hosts = site.hosts.selected("hosts", self.hosts.as_deref())?;
        ensure(hosts.len() >= 2, || {
            Fault::at("hosts", format!("{} host cannot be permuted", hosts.len()))
                .help("name at least 2 hosts")
        })?;
        site.check_count("hosts", hosts.len() as u64)?;
        let destinations = derangement(&hosts, &mut site.stream("destinations"));
        let flow = |(&source, destination)| Flow {
            source,
            destination,
            start: self.start,
            bytes: self.bytes.get(),
            message_bytes: MAX_MESSAGE_BYTES,
            verb: self.verb,
            priority,
            port: DEFAULT_PORT,
            row: 0,
        };
        Ok(hosts.iter().zip(destinations).map(flow).collect())
    }
}

/// A uniformly random order of `hosts` that leaves none in its place: of random orders, one in e
/// does.
fn derangement(hosts: &[NodeId], stream: &mut RngStream) -> Vec<NodeId> {
    let mut order = hosts.to_vec();
    loop {
        stream.shuffle(&mut order);
        if order.iter().zip(hosts).all(|(a, b)| a != b) {
            return order;
        }
    }
}
