//! Microsoft's RoCE simulator `ns3-rdma` (Zhu et al., SIGCOMM 2015), as it is.
//!
//! It shares nothing with the queue pairs and completions of RoCE: an application for each flow pushes
//! packets into a NIC, in a rhythm with jitter; a NIC has queues with rates; switches pause by timers, and
//! what ends a pause does not. So its rules are a crate of their own. Results are the same as those of that
//! simulator, byte for byte, for the same configuration and the second in which it would start.
//!
//! [`Input`] is what a `config.txt` and the files that it names say. A [`Simulator`] runs it, and tells
//! what happens through the traits [`Trace`] and [`Lines`]: [`MixTrace`] writes `mix.tr`, [`LineWriter`] the
//! reference log and what the branch `timely` prints. [`run`] puts these together. Times are whole nanoseconds, rates whole bit/s.

mod accident;
mod agenda;
mod application;
mod arrivals;
mod chunks;
mod config;
mod dcqcn;
mod digest;
mod error;
mod flows;
mod frame;
mod hosts;
mod input;
mod keys;
mod lines;
mod memory;
mod nic;
mod output;
mod port;
mod random;
mod rate;
mod receiver;
mod routing;
mod run;
mod sending;
mod setup;
mod simulator;
mod statistics;
mod switches;
mod time;
mod timely;
mod topology;
mod trace;
mod words;

pub use config::{Branch, Config, Files, Marking, Multipath, Options, Pause, Reaction, Recovery};
pub use digest::Digesting;
pub use error::InputError;
pub use flows::FlowSpec;
pub use input::Input;
pub use keys::is_config;
pub use lines::LineWriter;
pub use output::{Arrival, Lines, Nobody, Outputs, Packet, Trace};
pub use run::{RunError, Texts, run};
pub use simulator::{Finished, Simulator};
pub use statistics::{Arrivals, Hops, Statistics};
pub use time::Arithmetic;
pub use topology::{Link, Topology};
pub use trace::MixTrace;
