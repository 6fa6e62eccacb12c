//! Poisson arrivals at a load, with sizes from a distribution.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_units::{Duration, SimTime};

use super::Workload;
use super::distribution::{DistributionSource, SizeDistribution};
use super::flow::{DEFAULT_PORT, Flow};
use super::rules::MAX_MESSAGE_BYTES;
use super::site::Site;
pub use crate::scenario::workload::poisson::Parameters;
use crate::scenario::{Fault, ensure};

impl Workload for Parameters {
    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        self.transport.check(self.verb, self.priority, self.congestion_control.as_ref())?;
        let priority = site.priority_or_default(self.priority)?;
        check_load(self)?;
        let sizes = sizes(self, site)?;
        let hosts = site.hosts.selected("hosts", self.hosts.as_deref())?;
        ensure(hosts.len() >= 2, || {
            Fault::at("hosts", format!("{} host has no other to send to", hosts.len()))
                .help("name at least 2 hosts")
        })?;
        let (end, count) = extent(self, site)?;
        let mut arrivals = first_arrivals(self, site, &hosts, sizes.mean());
        if self.count.is_none() {
            let span = end.since(self.start).ps() as f64;
            let expected: f64 = arrivals.intervals.iter().map(|interval| span / interval).sum();
            site.check_count("load", whole(expected))?;
        }
        let mut flows = Vec::new();
        while let Some(Reverse((start, index))) = arrivals.next.pop() {
            if start >= end.ps() || flows.len() as u64 >= count {
                break;
            }
            site.check_count("load", flows.len() as u64 + 1)?;
            let (destination, bytes) = {
                let stream = &mut arrivals.streams[index];
                (other_than(&hosts, index, stream), sizes.sample(stream.uniform()))
            };
            arrivals.schedule(index, start);
            flows.push(Flow {
                source: hosts[index],
                destination,
                start: SimTime::from_ps(start),
                bytes,
                message_bytes: MAX_MESSAGE_BYTES,
                verb: self.verb,
                priority,
                port: DEFAULT_PORT,
                row: 0,
            });
        }
        Ok(flows)
    }
}

fn check_load(parameters: &Parameters) -> Result<(), Fault> {
    ensure(parameters.load > 0.0 && parameters.load <= 1.0, || {
        Fault::at("load", "a load is a share of the hosts' link rate")
            .help("give a number above 0 and at most 1, such as 0.5")
    })
}

fn sizes(parameters: &Parameters, site: &Site<'_>) -> Result<SizeDistribution, Fault> {
    let source = match (&parameters.distribution, &parameters.distribution_file) {
        (Some(name), None) => DistributionSource::Named(name),
        (None, Some(file)) => DistributionSource::File(site.folder, file),
        (Some(_), Some(_)) => {
            return Err(Fault::at("distribution_file", "there are two distributions")
                .help("keep either `distribution` or `distribution_file`"));
        }
        (None, None) => {
            return Err(Fault::at("distribution", "there is no flow-size distribution")
                .value("none")
                .help("give `distribution = \"websearch\"`, or a `distribution_file`"));
        }
    };
    SizeDistribution::read(source)
}

/// When arrivals end, and how many there may be.
fn extent(parameters: &Parameters, site: &Site<'_>) -> Result<(SimTime, u64), Fault> {
    ensure(parameters.duration.is_some() || parameters.count.is_some(), || {
        Fault::at("duration", "nothing says when arrivals end")
            .value("none")
            .help("give `duration`, such as \"10ms\", or `count`, such as 1000")
    })?;
    ensure(parameters.duration != Some(Duration::ZERO), || {
        Fault::at("duration", "no flow arrives in no time").help("give a time above 0s")
    })?;
    ensure(parameters.count != Some(0), || {
        Fault::at("count", "a workload of no flows sends nothing").help("give at least 1")
    })?;
    if let Some(count) = parameters.count {
        site.check_count("count", count)?;
    }
    let end =
        parameters.duration.map_or(SimTime::NEVER, |span| parameters.start.saturating_add(span));
    Ok((end, parameters.count.unwrap_or(u64::MAX)))
}

fn first_arrivals(
    parameters: &Parameters,
    site: &Site<'_>,
    hosts: &[NodeId],
    mean_size: f64,
) -> Arrivals {
    let mut arrivals = Arrivals { next: BinaryHeap::new(), streams: vec![], intervals: vec![] };
    for (index, &host) in hosts.iter().enumerate() {
        let rate = site.link_rate(host).bits_per_second() as f64;
        arrivals.intervals.push(8e12 * mean_size / (parameters.load * rate));
        arrivals.streams.push(site.stream(site.hosts.name(host)));
        arrivals.schedule(index, parameters.start.ps());
    }
    arrivals
}

/// The next arrival at every host, earliest first; equal times in the order of the hosts.
struct Arrivals {
    next: BinaryHeap<Reverse<(u64, usize)>>,
    streams: Vec<RngStream>,
    /// Mean time between two arrivals at a host, in ps.
    intervals: Vec<f64>,
}

impl Arrivals {
    fn schedule(&mut self, index: usize, after: u64) {
        let gap = self.streams[index].exponential(self.intervals[index]);
        self.next.push(Reverse((after.saturating_add(whole(gap)), index)));
    }
}

/// The nearest whole number, up to the largest there is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and these are not negative"
)]
fn whole(number: f64) -> u64 {
    libm::round(number) as u64
}

/// One of `hosts`, but not the one at `index`.
fn other_than(hosts: &[NodeId], index: usize, stream: &mut RngStream) -> NodeId {
    let drawn = usize::try_from(stream.below(hosts.len() as u64 - 1)).unwrap_or(0);
    hosts[if drawn < index { drawn } else { drawn + 1 }]
}
