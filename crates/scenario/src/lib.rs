//! What the user wrote: a TOML file, exactly as it stands, with defaults where it is silent.
//!
//! A [`Scenario`] can hold nonsense (a host that does not exist, a threshold above another); the plan
//! that the crate `rocelab-sim` makes of it cannot. Every error names file,
//! line, key and value, and says what to write. Enums are externally tagged throughout
//! (`[topology.leaf-spine]`): other taggings buffer the table and lose the place of an error.

pub mod address;
mod bounds;
mod capture;
mod class;
mod connect;
mod deadlock;
mod document;
mod entropy;
mod error;
mod failure;
mod faults;
mod further_errors;
mod host;
mod host_model;
mod infiniband;
mod input_files;
mod items;
mod layer2;
mod layer3;
mod link;
mod measure;
mod monitoring;
mod multicast;
mod neighbours;
mod origin;
mod overrides;
mod partition;
mod path_bits;
mod profile;
mod queue_pair;
mod reading;
pub mod reference;
mod relocation;
mod rnr_timer;
mod roce;
mod route;
mod sample;
mod server;
mod short;
mod slow_receiver;
mod subnet;
mod suggestion;
mod sweep_schema;
mod transport;
mod verb;
pub mod workload;

use std::collections::BTreeMap;
use std::path::Path;

pub use rocelab_fabric::Priority;
use rocelab_fabric::{IngressConfig, SwitchConfig, TopologyConfig, by_priority_schema};
use rocelab_transport::Algorithm;
use rocelab_transport::tcp::TcpParameters;
use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::address::{GidKind, IpVersion};
pub use capture::{CaptureConfig, CaptureFormat};
pub use class::ClassConfig;
pub use connect::{CmTimersConfig, Connect};
pub use deadlock::OnDeadlock;
pub use entropy::ConnectionEntropy;
pub use error::ScenarioError;
pub use failure::{
    FailureConfig, FailureKind, NicWatchdogConfig, SwitchWatchdogConfig, WatchdogAction,
    WatchdogConfig,
};
pub use faults::{CorruptedPart, FaultConfig, FaultPattern, FaultVerb, OpcodeNames, PsnRange};
pub use host::{HostConfig, HostMarking};
pub use host_model::{
    CompletionConfig, ContentionConfig, CpuConfig, HostCachesConfig, HostMemoryConfig,
    HostModelConfig, HostProfileName, HostRatesConfig, IommuConfig, PcieConfig, Replacement,
};
pub use infiniband::{
    AdaptiveRouting, InfiniBandConfig, LaneConfig, SubnetManagerConfig, VlBuffer,
};
pub use items::Items;
pub use layer2::{EntryConfig, EntryState, Forwarding, Layer2Config, VlanConfig};
pub use layer3::Layer3Config;
pub use link::LinkOverride;
pub use measure::MeasureConfig;
pub use monitoring::{MonitoringConfig, PingPairs};
pub use multicast::{MulticastForwarding, MulticastGroupConfig};
pub use neighbours::NeighboursConfig;
pub use partition::PartitionConfig;
pub use path_bits::PathBits;
pub use profile::{
    HpccNs3Config, LinkDownConfig, ProfileConfig, QueueMonitorConfig, RateEcnConfig,
};
pub use queue_pair::{AlternatePathConfig, QueuePairAttributes};
pub use rnr_timer::RnrTimer;
pub use roce::{RoceConfig, RoceVersion, Tagging};
pub use rocelab_fabric::LearningConfig;
pub use route::RouteConfig;
pub use sample::{FlowSampling, PortSampling, SampleConfig, Sampling};
pub use server::ServerConfig;
pub use slow_receiver::{SlowReceiverConfig, TranslationConfig};
pub use subnet::{AddressConfig, SubnetConfig};
pub use transport::Transport;
pub use verb::Verb;
pub use workload::app::Side;

pub use document::Document;
pub use error::{Fault, FilePlace, Place, ensure};
pub use origin::{Explain, Origin, OriginPlace};
pub use suggestion::known_names;
pub use transport::check_verb;

use self::workload::WorkloadConfig;

/// A scenario: what is simulated, from the cables to the flows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Where every random stream starts.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// When the run ends even if flows are unfinished; without it, when the last flow ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<SimTime>,
    /// What tells this run from others, in its results: any names, each with a text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Whether payload bytes are real, and both ends' memory is compared at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub integrity: bool,
    /// Whether the run ends when queues wait for each other for ever.
    /// Default: it does, unless watchdogs of switches may free them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_deadlock: Option<OnDeadlock>,
    /// Whose rules hold in place of RoCE's: one `[profile.NAME]`; RoCE's without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileConfig>,
    /// RoCE version, path MTU, recovery, priorities.
    #[serde(default)]
    pub roce: RoceConfig,
    /// Links and switches of InfiniBand in place of Ethernet; Ethernet without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infiniband: Option<InfiniBandConfig>,
    /// What all hosts do.
    #[serde(default, skip_serializing_if = "is_default_host")]
    pub host: HostConfig,
    /// Layer-2 forwarding and broadcast domains.
    #[serde(default)]
    pub layer2: Layer2Config,
    /// Which switches are routers, in a network that has bridges too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer3: Option<Layer3Config>,
    /// Static routes, in place of shortest paths: any number of `[[route]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<RouteConfig>,
    /// Hosts, switches and links: exactly one `[topology.NAME]`.
    pub topology: TopologyConfig,
    /// What single links do otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkOverride>,
    /// Hosts that are ports of one machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<ServerConfig>,
    /// Hosts whose IP addresses have a prefix in common: any number of `[[subnet]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subnet: Vec<SubnetConfig>,
    /// Addresses of single hosts: any number of `[[address]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address: Vec<AddressConfig>,
    /// Hosts that receive what is sent to one address: any number of `[[multicast_group]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multicast_group: Vec<MulticastGroupConfig>,
    /// Every switch's buffer, PFC, ECN and scheduling.
    #[serde(default)]
    pub switch: SwitchConfig,
    /// What ports of switches ask of frames as they come in.
    #[serde(default, skip_serializing_if = "asks_nothing")]
    pub ingress: IngressConfig,
    /// How senders react to congestion: one `[congestion_control.NAME]`. Default: `dcqcn` on RoCE
    /// v2, `none` on v1, which has no ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// What the flows of a priority do otherwise than all others: `[class.0]` to `[class.7]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "by_priority_schema::<ClassConfig>")]
    pub class: BTreeMap<Priority, ClassConfig>,
    /// How hosts' TCP behaves, for workloads with `transport = "tcp"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpParameters>,
    /// What is sent: any number of `[workload.NAME]` or `[[workload.NAME]]`.
    #[serde(default)]
    pub workload: WorkloadConfig,
    /// What links do to frames that they should deliver: any number of `[[faults]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultConfig>,
    /// What breaks: any number of `[[failure]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<FailureConfig>,
    /// How long routes stay as they were after a link goes down or comes up.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub convergence: Duration,
    /// Who ends pauses that do not end; nobody without it.
    #[serde(default, skip_serializing_if = "is_unwatched")]
    pub watchdog: WatchdogConfig,
    /// NICs that handle what arrives no faster than they can: any number of `[[slow_receiver]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_receiver: Vec<SlowReceiverConfig>,
    /// Hosts that take time: any number of `[[host_model]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_model: Vec<HostModelConfig>,
    /// Hosts that ping each other; nobody does without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<MonitoringConfig>,
    /// Which ports are captured; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureConfig>,
    /// The part of the run that its results are about; all of it without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<MeasureConfig>,
    /// What is measured at regular intervals: tables, `"default"` or `"off"`.
    #[serde(default)]
    pub sample: Sampling,
    /// The text that it was read from, for the places of errors.
    #[serde(skip)]
    pub document: Document,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_no_time(time: &Duration) -> bool {
    *time == Duration::ZERO
}

fn is_default_host(host: &HostConfig) -> bool {
    *host == HostConfig::default()
}

fn asks_nothing(ingress: &IngressConfig) -> bool {
    *ingress == IngressConfig::default()
}

fn is_unwatched(watchdog: &WatchdogConfig) -> bool {
    *watchdog == WatchdogConfig::default()
}

const fn first_seed() -> u64 {
    1
}

impl Scenario {
    /// Reads the scenario file at `path`, after setting each key of `overrides` (`switch.alpha`)
    /// to its value, which is read as TOML, or as text if it is not TOML (`20ms`).
    ///
    /// # Errors
    /// If the file cannot be read, is no TOML, or has a key or value that does not exist. What
    /// concerns several values together is found where a plan is made of it.
    pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let text = rocelab_fabric::read_text(path)
            .map_err(|error| ScenarioError::unreadable(path, &error))?;
        Self::parse(&text, path, overrides)
    }

    /// Like [`Scenario::load`], of `text` that stands (or could stand) in the file at `path`.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(
        text: &str,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        reading::read(Document::new(path, text, overrides))
    }

    /// Like [`Scenario::parse`], of `text` that was made of the file `origin`.
    pub fn parse_made_of(
        origin: Origin,
        text: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        reading::read(Document::made_of(origin, text, overrides))
    }

    /// The file's name without its ending; of a `config.txt`, the name of its folder.
    pub fn name(&self) -> String {
        if let Some(name) = self.document.name() {
            return name.into();
        }
        let stem = self.document.file().file_stem();
        stem.map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The scenario as TOML that reads back as the same scenario.
    ///
    /// # Errors
    /// If a number is not representable in TOML (an integer above 2^63 - 1).
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        if self.profile.is_none() {
            return toml::to_string_pretty(self);
        }
        // What has no meaning is left out.
        let mut table = toml::Table::try_from(self)?;
        table.remove("roce");
        table.remove("layer2");
        if let Some(toml::Value::Table(switch)) = table.get_mut("switch") {
            switch.retain(|key, _| key == "buffer");
        }
        toml::to_string_pretty(&table)
    }

    /// The JSON Schema of scenario files, for editors.
    pub fn json_schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Self);
        schema.insert("title".into(), "RoCE Lab scenario".into());
        if let Some(properties) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) {
            properties.insert("sweep".to_owned(), sweep_schema::sweep_schema());
        }
        schema.to_value()
    }

    /// An error at `key`, in the place where the scenario has it.
    pub fn error_at(&self, key: &str, problem: String, fix: String) -> ScenarioError {
        self.document.report(Fault::at(key, problem).help(fix))
    }

    /// The file that it was read from.
    pub fn file(&self) -> &Path {
        self.document.file()
    }

    /// The folder that relative paths start from: the scenario file's own.
    pub fn folder(&self) -> &Path {
        self.document.folder()
    }
}
