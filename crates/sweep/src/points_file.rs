//! `points.csv`: how points were carried out, which differs from time to time.

use std::path::Path;

use rocelab_results::{Results, ResultsError};
use serde::Serialize;

use crate::tables::partial_file;
use crate::{Points, Status, SweepError};

/// A row of `points.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointRow {
    /// The number of the point, from 0.
    pub point: usize,
    /// What is set, as `key=value`.
    pub settings: String,
    /// The results directory, in the sweep's.
    pub directory: String,
    /// `done`, `failed`, or `open`: not carried out, or broken off.
    pub status: &'static str,
    /// Wall-clock time, in seconds.
    pub wall_s: Option<f64>,
    /// CPU time, in seconds.
    pub cpu_s: Option<f64>,
    /// The machine that it ran on.
    pub host: Option<String>,
    /// Why it failed.
    pub error: String,
}

impl PointRow {
    /// What there is to say of a point.
    fn of(points: &Points<'_>, point: usize, status: &Status) -> Self {
        let directory = points.directory(point);
        let run = Results::open(&directory).ok().filter(|_| matches!(status, Status::Done));
        let run = run.as_ref().map(Results::run);
        let below = directory.strip_prefix(points.folder()).unwrap_or(&directory);
        Self {
            point,
            settings: points.sweep().points()[point].to_string(),
            directory: below.display().to_string(),
            status: match status {
                Status::Done => "done",
                Status::Failed(_) => "failed",
                Status::Open => "open",
            },
            wall_s: run.map(|run| run.wall_s),
            cpu_s: run.map(|run| run.cpu_s),
            host: run.and_then(|run| run.host.clone()),
            error: match status {
                Status::Failed(error) => error.to_string(),
                _ => String::new(),
            },
        }
    }
}

/// Writes `points.csv` into the folder of the sweep: a row for each point, with its status.
///
/// # Errors
/// [`SweepError::Results`] if it cannot be written.
pub fn write_points(points: &Points<'_>, statuses: &[Status]) -> Result<(), SweepError> {
    let path = points.folder().join("points.csv");
    let partial = partial_file(points.folder(), "points.csv");
    write(&partial, points, statuses).map_err(|error| ResultsError::write_csv(&path, error))?;
    std::fs::rename(&partial, &path).map_err(|error| SweepError::Machine { path, error })
}

fn write(path: &Path, points: &Points<'_>, statuses: &[Status]) -> csv::Result<()> {
    let mut rows = csv::Writer::from_path(path)?;
    for (point, status) in statuses.iter().enumerate() {
        rows.serialize(PointRow::of(points, point, status))?;
    }
    rows.flush()?;
    Ok(())
}
