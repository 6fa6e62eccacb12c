//! Workload and topology files of SimAI and AICB.

mod convert;
mod groups;
mod row;
pub mod topology;
mod workload;

pub use convert::convert;
pub use groups::Parallelism;
pub use row::{Communication, CommunicationKind, Row, Span};
pub use workload::{Policy, Workload, parse, read};
