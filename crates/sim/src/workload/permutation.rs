//! Permutation: every server sends to one other and receives from one other.

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;

use super::Workload;
use super::flow::{DEFAULT_PORT, Flow};
use super::rules::MAX_MESSAGE_BYTES;
use super::site::Site;
pub use crate::scenario::workload::permutation::Parameters;
use crate::scenario::{Fault, ensure};

impl Workload for Parameters {
    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        self.transport.check(self.verb, self.priority, self.congestion_control.as_ref())?;
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
