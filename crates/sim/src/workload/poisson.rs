//! Poisson arrivals at a load, with sizes from a distribution.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::Algorithm;
use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_PORT, DistributionSource, Flow, Site, SizeDistribution, Workload};
use crate::plan::{MAX_MESSAGE_BYTES, Verb};
use crate::scenario::{Fault, Transport, ensure};

/// `[workload.poisson]`: every host sends flows to hosts drawn uniformly from the others.
///
/// The load is the payload that a host offers a second, as a share of its link's rate: flows
/// arrive at each host with a rate of load x link rate / (8 x mean size). Every host draws from a
/// random stream of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PoissonParameters")]
pub struct Parameters {
    /// Offered payload as a share of each host's link rate, above 0 and at most 1.
    #[schemars(range(max = 1.0))]
    pub load: f64,
    /// The distribution of flow sizes: `websearch`, `facebook-hadoop`, `alistorage` or
    /// `google-rpc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// A distribution of your own instead: a CSV file with the columns `bytes` and
    /// `cumulative_percent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution_file: Option<PathBuf>,
    /// When the arrivals begin. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// How long flows arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// How many flows arrive, with or in place of `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
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
        self.check_load()?;
        let sizes = self.sizes(site)?;
        let hosts = site.hosts.selected("hosts", self.hosts.as_deref())?;
        ensure(hosts.len() >= 2, || {
            Fault::at("hosts", format!("{} host has no other to send to", hosts.len()))
                .help("name at least 2 hosts")
        })?;
        let (end, count) = self.extent(site)?;
        let mut arrivals = self.first_arrivals(site, &hosts, sizes.mean());
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

    fn files(&self) -> Vec<(&'static str, &Path)> {
        self.distribution_file.iter().map(|file| ("distribution_file", file.as_path())).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        self.distribution_file.iter_mut().collect()
    }
}

impl Parameters {
    fn check_load(&self) -> Result<(), Fault> {
        ensure(self.load > 0.0 && self.load <= 1.0, || {
            Fault::at("load", "a load is a share of the hosts' link rate")
                .help("give a number above 0 and at most 1, such as 0.5")
        })
    }

    fn sizes(&self, site: &Site<'_>) -> Result<SizeDistribution, Fault> {
        let source = match (&self.distribution, &self.distribution_file) {
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
    fn extent(&self, site: &Site<'_>) -> Result<(SimTime, u64), Fault> {
        ensure(self.duration.is_some() || self.count.is_some(), || {
            Fault::at("duration", "nothing says when arrivals end")
                .value("none")
                .help("give `duration`, such as \"10ms\", or `count`, such as 1000")
        })?;
        ensure(self.duration != Some(Duration::ZERO), || {
            Fault::at("duration", "no flow arrives in no time").help("give a time above 0s")
        })?;
        ensure(self.count != Some(0), || {
            Fault::at("count", "a workload of no flows sends nothing").help("give at least 1")
        })?;
        if let Some(count) = self.count {
            site.check_count("count", count)?;
        }
        let end = self.duration.map_or(SimTime::NEVER, |span| self.start.saturating_add(span));
        Ok((end, self.count.unwrap_or(u64::MAX)))
    }

    fn first_arrivals(&self, site: &Site<'_>, hosts: &[NodeId], mean_size: f64) -> Arrivals {
        let mut arrivals = Arrivals { next: BinaryHeap::new(), streams: vec![], intervals: vec![] };
        for (index, &host) in hosts.iter().enumerate() {
            let rate = site.link_rate(host).bits_per_second() as f64;
            arrivals.intervals.push(8e12 * mean_size / (self.load * rate));
            arrivals.streams.push(site.stream(site.hosts.name(host)));
            arrivals.schedule(index, self.start.ps());
        }
        arrivals
    }
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
