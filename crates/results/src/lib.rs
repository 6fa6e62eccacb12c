//! The results directory: what a run writes, and how to read it back.
//!
//! A simulation creates a [`ResultsDir`], streams records into it, and finishes it with a
//! [`Summary`] and a [`RunInfo`]; until then nothing exists under the directory's own name. The
//! directory is a [`Sink`]; another one is [`MemorySink`], which keeps a [`Table`] of each record
//! type.
//!
//! | file | record | one row for |
//! |---|---|---|
//! | `flows.csv`, `flows.parquet` | [`FlowRecord`] | a flow, in order of completion |
//! | `operations.csv`, `operations.parquet` | [`OperationRecord`] | an operation of an application, in order of its end |
//! | `pfc.csv` | [`PauseRecord`] | a PFC event at the port that it paused or resumed |
//! | `queues.csv` | [`QueueSample`] | a sampled egress queue |
//! | `drops.csv` | [`DropRecord`] | a dropped frame, with the inequality that failed |
//! | `links.csv` | [`LinkRecord`] | a link direction |
//! | `flow_counters.csv` | [`FlowCountersRecord`] | a flow of `[sample.flows]` |
//! | `hosts.csv` | [`HostRecord`] | a host that takes time |
//! | `collectives.csv` | [`CollectiveRecord`] | a collective operation of a group of ranks |
//! | `monitoring.csv` | [`MonitoringRecord`] | the pings of a pair of hosts in a window of time |
//! | `nvlink.csv` | [`NvlinkRecord`] | a host that NVLink joins to others |
//! | `switches.csv` | [`SwitchRecord`] | an ingress port and priority of a switch |
//! | `summary.json` | [`Summary`] | the run, the same for the same scenario and seed |
//! | `run.json` | [`RunInfo`] | the run, what varies: time, memory, machine |
//!
//! The name of a column ends with its unit. All numbers are integers except ratios, which have six
//! decimals. Nothing here reads a clock or the environment: equal records give equal bytes.
//!
//! ```
//! use rocelab_results::{FlowRecord, FlowStatistics, FlowStatus, Overwrite, Results, ResultsDir};
//! # use rocelab_results::{RunInfo, Summary};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("incast-1");
//!
//! let directory = ResultsDir::create(&path, Overwrite::Refuse)?;
//! let mut statistics = FlowStatistics::default();
//! let mut flows = directory.flows()?;
//! let flow = FlowRecord {
//!     flow: 0,
//!     workload: "incast[0]".into(),
//!     name: "incast[0]".into(),
//!     source: "host-0".into(),
//!     destination: "host-1".into(),
//!     source_qpn: 0x11,
//!     destination_qpn: 0x11,
//!     transport: "rdma".into(),
//!     verb: "write".into(),
//!     priority: 3,
//!     congestion_control: "dcqcn".into(),
//!     bytes: 1_000_000,
//!     packets: 977,
//!     messages: 1,
//!     start_ps: 0,
//!     fct_ps: Some(90_000_000),
//!     ideal_fct_ps: 88_000_000,
//!     retransmitted_packets: 0,
//!     messages_delivered: Some(1),
//!     status: FlowStatus::Completed,
//!     measured: 1,
//!     path: None,
//!     collisions: None,
//! };
//! statistics.add(&flow);
//! flows.write(&flow)?;
//! flows.finish()?;
//! let summary = Summary {
//!     scenario: "incast".into(),
//!     flows: statistics.counts(),
//!     slowdown: statistics.slowdown(90_000_000),
//!     ..Summary::default()
//! };
//! directory.finish(&summary, &RunInfo::default())?;
//!
//! let results = Results::open(&path)?;
//! assert_eq!(results.summary(), &summary);
//! assert_eq!(results.flows()?.next().expect("one flow")?, flow);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algorithms;
mod branch;
mod checkpoints;
mod collective;
mod column;
#[cfg(feature = "parquet")]
mod combined;
mod declaration;
mod delivery_log;
mod directory;
mod distribution;
mod drop;
mod error;
mod flow;
mod flow_counters;
mod flow_counts;
mod flow_statistics;
mod frozen;
mod goodput;
mod growing;
mod held_locks;
mod host;
mod idle_queue_pair;
mod kind_record;
mod leftovers;
mod link;
mod measured_window;
mod memory;
mod millionths;
mod monitoring;
mod names;
mod ns3_rdma;
mod nvlink;
mod open;
mod operation;
mod operation_activity;
mod operation_statistics;
mod parameters;
#[cfg(feature = "parquet")]
mod parquet_file;
mod path_migration;
mod pause;
mod pause_causes;
mod place;
mod queue;
mod record;
mod record_reader;
mod record_types;
mod record_writer;
mod results_name;
mod run_info;
mod run_record;
mod sample_interval;
mod sample_intervals;
mod samples;
mod series;
mod sink;
mod stall;
mod storm;
mod stream;
mod summary;
mod switch;
mod table;
mod topology_map;
mod transports;
mod words;

pub use algorithms::AlgorithmChoice;
pub use branch::BranchRecord;
pub use checkpoints::{Checkpoint, CheckpointSettings, Checkpoints, FileLengths, InputFile};
pub use collective::{CollectiveRecord, CollectiveSummary};
pub use column::{Column, Content, Value};
#[cfg(feature = "parquet")]
pub use combined::{CombinedWriter, KeyColumn, KeyValues};
pub use delivery_log::DeliveryLog;
pub use directory::{ResultsDir, clear_leftovers};
pub use distribution::{Distribution, Missing, Statistic, Statistics};
pub use drop::DropRecord;
pub use error::{ErrorKind, ResultsError};
pub use flow::{FlowRecord, FlowStatus};
pub use flow_counters::FlowCountersRecord;
pub use flow_counts::{FlowCounts, MessageCounts};
pub use flow_statistics::FlowStatistics;
pub use frozen::{FrozenRecord, FrozenRoot};
pub use goodput::{Goodput, GoodputRule, GoodputTail, RunSpan, is_most};
pub use growing::{GrowingResults, RunProgress};
pub use host::HostRecord;
pub use idle_queue_pair::IdleQueuePairRecord;
pub use kind_record::KindRecord;
pub use link::LinkRecord;
pub use measured_window::MeasuredWindow;
pub use memory::{MemoryResults, MemorySink, TableWriter};
pub use millionths::Millionths;
pub use monitoring::{MonitoredPair, MonitoringRecord, MonitoringSummary};
pub use names::{POINT_TXT, SCENARIO_TOML, is_name_of_results};
pub use ns3_rdma::Ns3RdmaCounts;
pub use nvlink::{NvlinkCounts, NvlinkRecord};
pub use open::Results;
pub use operation::{OperationRecord, OperationStatus};
pub use operation_statistics::{KindCounts, OperationCounts, OperationStatistics};
pub use path_migration::PathMigrationRecord;
pub use pause::{PauseEvent, PauseRecord};
pub use pause_causes::{PauseCause, PauseCauses};
pub use place::Overwrite;
pub use queue::QueueSample;
pub use record::Record;
pub use record_reader::RecordReader;
pub use record_types::{RECORD_TYPES, RecordType};
pub use record_writer::{FlowWriter, RecordWriter};
pub use results_name::results_name;
pub use run_info::{Machine, RunInfo, UserControl};
pub use run_record::RunRecord;
pub use sample_interval::SampleInterval;
pub use samples::{
    FlowSample, IngressSample, MarkSample, MemorySample, RateSample, UtilisationSample,
};
pub use series::{SeriesFile, SeriesReader, SeriesSample};
pub use sink::{RecordSink, Sink};
pub use stall::{StallRecord, StuckQueuePairRecord, StuckQueueRecord, WaitsFor};
pub use storm::{StormEvent, StormRecord};
pub use stream::StreamRecord;
pub use summary::{
    CongestionCounts, DeadlockRecord, DeadlockedQueue, DropCounts, EcnCounts, FaultRuleCounts,
    InfiniBandCounts, IntegrityResult, IntegrityViolation, Layer2Counts, LinkTraversals,
    NeighbourCounts, PfcCounts, RefusedEngine, RefusedReroute, SlowReceiverRecord, Summary,
};
pub use switch::SwitchRecord;
pub use table::{Array, Table, Texts, Values};
pub use topology_map::{MapLink, MapNode, MapNodeKind, TopologyMap};
pub use transports::{TcpCounts, TransportFlows};
