//! Results that a run is still writing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rocelab_units::SimTime;
use serde::{Deserialize, Serialize};

use crate::names::PROGRESS_JSON;
use crate::{Checkpoints, leftovers};

/// The next content, until it is whole.
const NEW: &str = ".progress.json.new";

/// How far a run is: the content of `progress.json`, which exists only while the run lasts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunProgress {
    /// Simulated time, in picoseconds.
    pub simulated_ps: u64,
    /// When the run ends at the latest, in picoseconds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_ps: Option<u64>,
    /// Flows that have ended, well or badly.
    pub flows_ended: u64,
    /// All flows.
    pub flows: u64,
    /// Operations of applications that have ended, well or badly.
    pub operations_ended: u64,
    /// The share of the run that is done, 0 to 1: of its flows or of its time, whichever is larger.
    pub share: f64,
}

impl RunProgress {
    /// The share that is done, from 0 to less than 1; `None` if nothing tells when the run ends: if it
    /// has neither flows nor an end of its time, or if it goes on after what was counted.
    pub fn known_share(&self) -> Option<f64> {
        let is_counted = self.flows > 0 || self.stop_ps.is_some();
        (is_counted && (0.0..1.0).contains(&self.share)).then_some(self.share)
    }

    /// Writes it into the folder of a run, whole or not at all.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let new = folder.join(NEW);
        fs::write(&new, serde_json::to_string(self)?)?;
        fs::rename(new, folder.join(PROGRESS_JSON))
    }

    fn read(folder: &Path) -> Option<Self> {
        let path = folder.join(PROGRESS_JSON);
        let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_file
            .then(|| fs::read_to_string(path).ok())?
            .and_then(|text| serde_json::from_str(&text).ok())
    }

    /// Removes it from results that are complete.
    pub(crate) fn remove(folder: &Path) -> io::Result<()> {
        leftovers::gone(fs::remove_file(folder.join(NEW)))?;
        leftovers::gone(fs::remove_file(folder.join(PROGRESS_JSON)))
    }
}

/// Results that are not complete: a run is writing them, or was killed.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowingResults {
    /// The name that they will have.
    pub name: String,
    /// Where they grow.
    pub path: PathBuf,
    /// Whether the run goes on; `None` if that cannot be known, because it is on another machine.
    pub is_running: Option<bool>,
    /// How far the run is; `None` in its first second, of points of a sweep, and beside checkpoints.
    pub progress: Option<RunProgress>,
    /// The time of the last checkpoint, in picoseconds, if the run makes some.
    pub checkpoint_ps: Option<u64>,
}

impl GrowingResults {
    /// Those in the folder at `path`, which is hidden or one of checkpoints; `None` if it is no such
    /// folder.
    pub fn at(path: &Path) -> Option<Self> {
        if path.symlink_metadata().ok()?.is_symlink() {
            return None;
        }
        if let Some((name, checkpoint)) = Checkpoints::growing_in(path) {
            let checkpoint_ps = checkpoint.map(SimTime::ps);
            return Some(Self { checkpoint_ps, ..Self::new(name, path) });
        }
        let name = leftovers::partial_name(path.file_name()?.to_str()?)?;
        let progress = RunProgress::read(path);
        leftovers::is_of_a_run(path).then(|| Self { progress, ..Self::new(name, path) })
    }

    fn new(name: &str, path: &Path) -> Self {
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            is_running: leftovers::is_in_use(path),
            progress: None,
            checkpoint_ps: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overwrite, ResultsDir, RunInfo, Summary};

    #[test]
    fn a_run_is_seen_while_it_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let directory = ResultsDir::create(folder.path().join("a.b"), Overwrite::Refuse).unwrap();
        let growing = |path: &Path| GrowingResults::at(path);
        let path = directory.working_path().to_owned();
        let begun = growing(&path).unwrap();
        assert_eq!((begun.name.as_str(), begun.is_running), ("a.b", Some(true)));
        assert_eq!(begun.progress, None);
        let progress = RunProgress { simulated_ps: 7, share: 0.25, ..RunProgress::default() };
        directory.tell_progress(&progress).unwrap();
        assert_eq!(growing(&path).unwrap().progress, Some(progress));
        let done = directory.finish(&Summary::default(), &RunInfo::default()).unwrap();
        assert_eq!((growing(&path), growing(&done)), (None, None));
        let names = fs::read_dir(done).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("progress")));
    }

    /// Their checkpoints tell of runs that make some.
    #[test]
    fn a_run_with_checkpoints_is_seen_too() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("big");
        let checkpoints = Checkpoints::create(&results, Overwrite::Refuse).unwrap();
        let path = folder.path().join("big.checkpoints");
        let growing = GrowingResults::at(&path).unwrap();
        assert_eq!((growing.name.as_str(), growing.is_running), ("big", Some(true)));
        assert_eq!((growing.checkpoint_ps, growing.progress), (None, None));
        fs::write(path.join("00000000000000000070.checkpoint"), "").unwrap();
        fs::write(path.join("00000000000000000900.partial"), "").unwrap();
        drop(checkpoints);
        let growing = GrowingResults::at(&path).unwrap();
        assert_eq!((growing.is_running, growing.checkpoint_ps), (Some(false), Some(70)));
    }

    #[test]
    fn a_run_that_was_killed_does_not_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let directory = ResultsDir::create(folder.path().join("a"), Overwrite::Refuse).unwrap();
        let text = fs::read_to_string(directory.working_path().join("lock")).unwrap();
        let killed = folder.path().join(".b.partial-77");
        fs::create_dir(&killed).unwrap();
        assert_eq!(GrowingResults::at(&killed), None, "nobody says that it is of a run");
        fs::write(killed.join("lock"), text).unwrap();
        assert_eq!(GrowingResults::at(&killed).unwrap().is_running, Some(false));
    }
}
