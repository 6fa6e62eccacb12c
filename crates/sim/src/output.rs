//! From records to results.

mod checkpointing;
mod collectives;
mod collisions;
mod control_faults;
mod deadlocks;
mod error;
mod flow_counters;
mod flow_paths;
mod hosts;
mod known_paths;
mod links;
mod lossless;
mod monitoring;
mod nvlink;
mod outcome;
mod ranked;
mod record;
mod reference_files;
mod run;
mod samples;
mod scenario_files;
mod statistics;
mod status;
mod summary;
mod switches;
mod tables;

pub use self::checkpointing::{branch, fits, resume, run_with_checkpoints};
pub use self::control_faults::FailedControl;
pub(crate) use self::deadlocks::deadlock_records;
pub use self::error::RunError;
pub use self::outcome::{Before, Outcome};
pub use self::ranked::{follow, lead};
pub use self::run::{Observer, run, run_in_parts};
pub use self::scenario_files::store_scenario;
pub(crate) use self::status::{flow_status, operation_status};
