//! The network, sans-IO: ports, links and shared-buffer switches. Every function returns what
//! happened; nothing here schedules an event, owns a packet or knows a queue pair.
//!
//! From the wire inwards: a [`Link`] says when a frame arrives; a [`Port`] holds the frames that
//! wait, chained through the owner's slab by a [`Chain`], picks the next one by its [`Scheduler`],
//! and requests and obeys pauses ([`LinkFlowControl`]); an [`EcnMarker`] or [`FecnMarker`] marks frames, and a
//! [`CongestionPoint`] samples them; a [`BufferPolicy`] such as the [`SharedBuffer`] decides what is stored, paused and
//! dropped; a [`Topology`] says what is connected to what.
//!
//! Ports take their link and their flow control as type parameters ([`Serialisation`],
//! [`FlowControl`]). Beside the native types there are those of HPCC's ns-3 simulator, for runs
//! that reproduce its numbers: [`TruncatingLink`], [`OnOffFlowControl`], [`HpccNs3Buffer`],
//! [`ThresholdMarker`], [`HpccNs3Routes`] and [`PairProperties`].

mod buffer;
mod buffer_dependency;
mod chain;
mod domains;
mod ecn;
mod fecn;
mod flow_control;
mod forwarding;
mod ingress;
mod input_file;
mod link;
mod load_balancing;
mod nvlink;
mod port;
mod port_selection;
mod priority;
mod qcn;
mod routes;
mod scheduler;
mod shaper;
mod switch_config;
mod switch_override;
pub mod topology;
mod vl_arbiter;

pub use buffer::{
    Admission, Arrival, BufferError, BufferLayout, BufferPolicy, CreditedBuffer, Departure,
    DropReason, GeneralBuffer, HeadroomInput, HeadroomTerms, HpccNs3Buffer, HpccNs3Port,
    IngressPeak, LosslessHop, MeasuredBuffer, MemoryParts, Occupancy, PauseThresholds, Peaks,
    PoolBuffer, SharedBuffer, SwitchBuffer, headroom, rate_of_response, standard_response,
};
pub use buffer_dependency::{
    BufferDependencies, BufferWait, DependencyCycle, FailureFindings, FloodedRoutes, LinkFailures,
    RouteFunction, StaticRoutes,
};
pub use chain::{Chain, Fifo, PacketId};
pub use domains::{DomainConfig, DomainForwarding, DomainFrame, DomainPlace, Domains, SwitchRole};
pub use ecn::{EcnMarker, ThresholdMarker};
pub use fecn::{FecnConfig, FecnMarker, StartingPacket, VictimMask};
pub use flow_control::{
    ControlFrame, CreditConfig, CreditControl, CreditCounts, DATA_LANES, FlowControl, LaneCounts,
    LeavingFrame, LinkController, LinkFlowControl, LinkFrame, OnOffFlowControl, PauseFrame,
    blocks_of,
};
pub use forwarding::{
    ForwardedFrame, Forwarding, ForwardingDrop, ForwardingPlane, KnownHosts, LearningConfig,
    MacEntries, MissingEntries, PlaneState,
};
pub use ingress::{
    IngressCause, IngressCondition, IngressConfig, IngressFlow, IngressFrame, IngressState,
    IngressVerdict, InvalidIngress,
};
pub use input_file::{read_named_text, read_text};
pub use link::{
    INTERPACKET_GAP, Link, MIN_FRAME, PREAMBLE, QUANTUM_BITS, Serialisation, Transmission,
    TruncatingLink, serialisation_ns, truncated_nanoseconds, truncated_nanoseconds_of,
};
pub use load_balancing::{Choice, LoadBalancer, LoadBalancing};
pub use nvlink::{
    DEFAULT_NVLINK_DELAY, InvalidNvlink, Nvlink, NvlinkConfig, NvlinkModel, ServerPreset,
};
pub use port::{CountedPort, InputQueues, Port, PortExtras};
pub use port_selection::{PortSelection, ServerFlow};
pub use priority::{Priority, by_priority_schema};
pub use qcn::{CongestionPoint, CongestionSample, QcnConfig};
pub use routes::{
    DistributionTree, FiveTuple, HostPair, HpccNs3Routes, LayerTwoFlow, PairProperties, PathError,
    PathsTo, RouteError, Routes, StaticRoute,
};
pub use scheduler::{DeficitRoundRobin, RoundRobin, Scheduler, SchedulerConfig};
pub use shaper::{ShaperConfig, Shapers};
pub use switch_config::{
    EcnConfig, Headroom, MarkAt, OtherCodePoints, SwitchConfig, SwitchForwarding, Trust,
};
pub use switch_override::SwitchOverride;
pub use topology::{Node, NodeId, NodeKind, Topology, TopologyConfig, TopologyLink};
pub use vl_arbiter::{VlArbiter, VlArbitration, VlWeight};
