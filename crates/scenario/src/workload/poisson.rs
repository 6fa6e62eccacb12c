//! `[workload.poisson]`: arrivals at random, at a load.

use std::path::{Path, PathBuf};

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::{QueuePairAttributes, Transport, Verb};

/// `[workload.poisson]`: every host sends flows to hosts drawn uniformly from the others.
///
/// The load is the payload that a host offers a second, as a share of its link's rate: flows
/// arrive at each host with a rate of load x link rate / (8 x mean size). Every host draws from a
/// random stream of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PoissonParameters")]
pub struct Parameters {
    /// What the results call it. Default: `poisson[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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
    /// The code points of its RDMA frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

impl Description for Parameters {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        self.marking.as_ref()
    }

    fn queue_pair(&self) -> Option<&QueuePairAttributes> {
        Some(&self.queue_pair)
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn files(&self, _: &Path) -> Vec<(&'static str, PathBuf)> {
        self.distribution_file.iter().map(|file| ("distribution_file", file.clone())).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        self.distribution_file.iter_mut().collect()
    }
}
