//! Many runs of one scenario.
//!
//! A [`Sweep`] is read from the `[sweep]` of a file: which keys take which values. Each combination is a
//! [`Point`]. [`Points`] carries them out, each into a results directory of its own, and goes on where it was
//! broken off; [`combine`] puts what came of them into `runs.parquet`, `flows.parquet` and, with applications, `operations.parquet` and `kinds.parquet`, in the
//! order of the points, so that the tables are the same bytes however, where and in which order the points ran.
//! [`Batch`] writes the scripts with which clusters carry points out.

mod axis;
mod batch;
mod carry_out;
mod drawn;
mod error;
mod folder;
mod point;
mod points_file;
mod reading;
mod setting;
mod sweep;
mod tables;

pub use batch::Batch;
pub use carry_out::{Clock, Observed, Points, Status};
pub use error::SweepError;
pub use folder::done_points;
pub use point::Point;
pub use points_file::{PointRow, write_points};
pub use setting::{Setting, SettingValue};
pub use sweep::{MAX_POINTS, Sweep};
pub use tables::combine;
