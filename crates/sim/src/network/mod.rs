//! The network: the world that the engine runs. It alone schedules events, owns packets and keeps
//! records; hosts and switches only say what became of a frame.
//!
//! A frame's way is told by the modules in order: `host` takes it from a NIC, `transmit` puts
//! it on a link and takes it off at the other end, `switch` stores, marks and forwards it, and
//! `host` delivers it.

mod arrival;
mod audit;
mod balancing;
mod build;
mod capture;
mod collecting;
mod congestion;
mod contents;
mod core;
mod course;
mod credits;
mod crossing;
mod deadlock;
mod deliveries;
mod departure;
mod digest;
mod dispatch;
mod division;
mod emission;
mod event;
mod failure;
mod faults;
mod feature;
mod features;
mod forwarding;
mod hops;
mod host;
mod host_pauses;
mod idle_backlog;
mod ingress;
mod integrity;
mod keys;
mod layout;
mod link_errors;
mod link_rates;
mod multicast;
mod neighbours;
mod next_frames;
mod node;
mod notes;
mod other_frames;
mod overview;
mod own_frames;
mod owners;
mod packet;
mod part;
mod passed;
mod path;
mod pauses;
mod port;
mod prefetch;
mod receiver;
mod reception;
mod sacks;
mod sampling;
mod saved_packets;
mod setting;
mod side;
mod state;
mod stuck;
mod switch;
mod telemetry;
mod translations;
mod transmit;
mod units;
pub(crate) mod watch;
mod watchdog;

pub use self::audit::AuditError;
pub(crate) use self::capture::CapturedFrame;
pub use self::core::Network;
pub(crate) use self::crossing::{BatchOf, Crossing};
pub(crate) use self::deadlock::Standstill;
pub use self::deliveries::Accepted;
pub(crate) use self::digest::digest_of;
pub use self::event::Event;
pub use self::faults::FaultCounts;
pub(crate) use self::idle_backlog::{IdleBacklog, every_nth_look};
pub(crate) use self::link_rates::LinkUse;
pub(crate) use self::overview::{Overview, nvlink_use, under_way_by_nvlink};
pub use self::part::{Cut, Part};
pub use self::port::{PortCounters, PortView};
pub use self::receiver::ReceiverCounts;
pub(crate) use self::sampling::flow_watch::FlowCounters;
pub(crate) use self::sampling::{CountersThen, QueueHistogramDump};
pub use self::setting::Setting;
pub(crate) use self::state::{Checkpoint, SavedNetwork};
pub(crate) use self::stuck::{Awaited, FullQueue, StuckQueuePair, WaitingPackets};
pub use crate::profile::BuildError;
pub use crate::record::{
    Deadlock, DropCause, FlowAcknowledged, FlowEnd, FlowFailure, FlowGoodput, FlowRate, FlowState,
    FrameDropped, HostEnd, IngressHeld, IntegrityReport, Layer2Totals, MarksCounted, MemoryHeld,
    NeighbourTotals, OpenOperation, OperationEnd, PauseChange, PauseEvent, PauseRequest,
    PauseWithdrawal, PortUse, Promise, QueueLength, QueueStorm, Record, RecordKind, StuckQueue,
    SwitchNotifications, Totals, TrafficKind, Traversals, Violation,
};
