//! Traces of AI workloads: each rank does what its graph says, as soon as what it waits for is done.
//!
//! A member is one rank. It has a [`Scheduler`](rocelab_trace::Scheduler) and a [`Matching`](rocelab_trace::Matching) of its own, and
//! knows nothing of other ranks but by messages. A message that a node sends is an RDMA WRITE with immediate data; the node is done at its completion. A
//! collective operation is carried out by a schedule of the crate `rocelab-collective`, as the program `collective` does it.

mod files;
mod options;
mod rank;
mod tag;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_units::{Bandwidth, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::files::Format;
pub use self::options::{Algorithms, CollectiveOptions};
use self::rank::Rank;
use self::tag::MOST_ITERATIONS;
use self::work::Work;
use super::{Common, Definition, Members, Operations, Program};
use crate::MarkingConfig;
use crate::congestion_control::{self, InvalidParameter};

/// `[workload.trace]`: each host does what a rank of a recorded or generated trace does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TraceParameters")]
pub struct Parameters {
    /// What the results call it. Default: `trace[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the files are.
    pub format: Format,
    /// The file, relative to the scenario's folder. For Chakra, its path without the ending `.RANK.et`.
    pub path: PathBuf,
    /// Communicator groups of a Chakra trace: a file of JSON such as `{"1": [0, 1]}`. Default: those that the trace describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<PathBuf>,
    /// The hosts of the ranks, rank 0 first, as many as the trace has ranks: names, or ranges such as `host-0..host-7`.
    pub hosts: Vec<String>,
    /// Whether nodes of one GPU stream of a Chakra trace wait for each other, as recorded. Default: false.
    #[serde(default)]
    pub serialise_streams: bool,
    /// What times of computation are multiplied by, at least 0. Default: 1.
    #[serde(default = "unscaled")]
    pub compute_scale: f64,
    /// How often each rank does all of it: 1 to 1048576. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub iterations: u64,
    /// How collective operations are carried out.
    #[serde(default)]
    pub collective: CollectiveOptions,
    /// When it starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<congestion_control::Algorithm>,
    /// The code points of its frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// What the files say, once they are read.
    #[serde(skip)]
    read: Read,
}

/// What was read. It follows from the other keys and the files, so any two are equal.
#[derive(Clone, Debug, Default)]
struct Read(Option<Arc<Work>>);

impl PartialEq for Read {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

const fn unscaled() -> f64 {
    1.0
}

const fn once() -> u64 {
    1
}

/// The most queue pairs of a connection and channel (NCCL's limit).
const MOST_QUEUE_PAIRS: u32 = 128;
/// The most messages that are posted and not done: each has a receive request.
const MOST_WINDOW: u64 = 4096;
/// The most channels.
const MOST_CHANNELS: u32 = 1024;

impl Parameters {
    /// What the files say; only after they were read.
    fn work(&self) -> &Arc<Work> {
        match &self.read.0 {
            Some(work) => work,
            None => unreachable!("files are read before anybody asks for what they say"),
        }
    }

    /// That the trace cannot be run, for what it says.
    fn refused(&self, problem: String, fix: &str) -> InvalidParameter {
        InvalidParameter {
            key: "path",
            value: self.path.display().to_string(),
            problem: format!("cannot be run: {problem}").into(),
            fix: fix.to_owned().into(),
        }
    }

    /// What is wrong with numbers, apart from what the files say.
    fn check_numbers(&self, hosts: u32) -> Result<(), InvalidParameter> {
        let unless = InvalidParameter::unless;
        unless(
            hosts > 1,
            "hosts",
            &hosts,
            "has nobody to exchange data with",
            "name at least two hosts",
        )?;
        let fits = (1..=MOST_ITERATIONS).contains(&self.iterations);
        unless(fits, "iterations", &self.iterations, "is out of range", "give 1 to 1048576")?;
        let fits = self.compute_scale.is_finite() && self.compute_scale >= 0.0;
        unless(fits, "compute_scale", &self.compute_scale, "is no factor", "give 0 or more")?;
        let is_chakra = self.format == Format::Chakra;
        let fits = is_chakra || !self.serialise_streams;
        let fix = "leave it out, or give `format = \"chakra\"`";
        unless(fits, "serialise_streams", &true, "is for Chakra traces", fix)?;
        if let Some(groups) = self.groups.as_ref().filter(|_| !is_chakra) {
            unless(false, "groups", &groups.display(), "is for Chakra traces", fix)?;
        }
        self.check_collective()
    }

    fn check_collective(&self) -> Result<(), InvalidParameter> {
        let unless = InvalidParameter::unless;
        let CollectiveOptions { channels, queue_pairs, window, reduce_rate, .. } = &self.collective;
        let fits = (1..=MOST_CHANNELS).contains(channels);
        unless(fits, "collective.channels", channels, "is out of range", "give 1 to 1024")?;
        let fits = (1..=MOST_QUEUE_PAIRS).contains(queue_pairs);
        unless(fits, "collective.queue_pairs", queue_pairs, "is out of range", "give 1 to 128")?;
        let window = window.unwrap_or(1);
        let fits = (1..=MOST_WINDOW).contains(&window);
        unless(fits, "collective.window", &window, "is out of range", "give 1 to 4096")?;
        let rate = reduce_rate.unwrap_or(Bandwidth::from_bps(1));
        let positive = rate.bits_per_second() > 0;
        let fix = "give more, or leave it out";
        unless(positive, "collective.reduce_rate", &rate, "never adds anything up", fix)
    }
}

impl Definition for Parameters {
    fn congestion_control_mut(&mut self) -> Option<&mut congestion_control::Algorithm> {
        self.congestion_control.as_mut()
    }

    fn common(&self) -> Common<'_> {
        Common {
            name: self.name.as_deref(),
            start: self.start,
            priority: self.priority,
            congestion_control: self.congestion_control.as_ref(),
        }
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        self.marking.as_ref()
    }

    fn hosts(&self) -> Vec<(&'static str, &[String])> {
        vec![("hosts", &self.hosts)]
    }

    fn files(&self, folder: &Path) -> Vec<(&'static str, PathBuf)> {
        self.input_files(folder)
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        std::iter::once(&mut self.path).chain(&mut self.groups).collect()
    }

    fn read(&mut self, folder: &Path, members: &Members) -> Result<(), InvalidParameter> {
        let hosts = members.count();
        self.check_numbers(hosts)?;
        let trace = self.read_files(folder, hosts)?;
        self.check_ranks(trace.ranks().len(), hosts)?;
        self.read = Read(Some(Arc::new(Work::new(trace, self)?)));
        Ok(())
    }

    /// All was checked as the files were read.
    fn validate(&self, _: &Members) -> Result<(), InvalidParameter> {
        Ok(())
    }

    fn connections<'a>(&'a self, _: &'a Members) -> Box<dyn Iterator<Item = (u32, u32)> + 'a> {
        Box::new(self.work().connections())
    }

    fn operations(&self, members: &Members) -> Operations {
        let planned = self.iterations.saturating_mul(members.count().into());
        Operations { kind: "trace", payload: self.work().payload, planned: Some(planned) }
    }

    fn largest_message(&self, _: &Members) -> u32 {
        self.work().largest_message
    }

    fn receive_depth(&self, _: &Members) -> u32 {
        self.work().receive_depth.max(super::RECEIVE_DEPTH)
    }

    fn member(&self, _: &Members, number: u32) -> Box<dyn Program> {
        let reduce_rate = self.collective.reduce_rate;
        Box::new(Rank::new(Arc::clone(self.work()), number, self.iterations, reduce_rate))
    }
}
