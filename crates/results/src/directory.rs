//! Writes the results directory.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::checkpoints::{Checkpoints, FileLengths};
use crate::leftovers::{self, LockedFolder};
use crate::names::{PAUSES_JSON, RUN_JSON, SUMMARY_JSON, TOPOLOGY_JSON};
use crate::place::{
    Overwrite, check_in_the_way, create_parents, exists, remove_parents, resolve, restore,
};
use crate::record_writer::Start;
use crate::topology_map::NodesFile;
use crate::{
    DropRecord, FlowWriter, LinkRecord, MapNode, OperationRecord, PauseCauses, PauseRecord,
    QueueSample, Record, RecordWriter, ResultsError, RunInfo, RunProgress, Summary,
};

/// A results directory while it is written.
///
/// It grows under a temporary name beside its own, `.NAME.partial-PID`, and is renamed in
/// [`finish`](Self::finish). If it is dropped earlier, everything is removed, including the parent
/// directories that it created; results that it should have replaced stay as they were.
/// [`remove_leftovers`](Self::remove_leftovers) removes what killed runs have left.
#[derive(Debug)]
pub struct ResultsDir {
    path: PathBuf,
    partial: PathBuf,
    overwrite: Overwrite,
    /// Parent directories that were missing, innermost first.
    created_parents: Vec<PathBuf>,
    /// Whether dropping this leaves the temporary directory on the disk.
    kept: bool,
    /// Whether its files begin empty or continue.
    start: Start,
    /// The lock by which other runs know that the temporary directory is not a leftover.
    held: Option<LockedFolder>,
}

impl ResultsDir {
    /// Makes the temporary directory for results at `path`, and its parents.
    ///
    /// # Errors All errors are of the kind [`BadInput`](crate::ErrorKind::BadInput), and are found
    /// before anything is simulated: [`Exists`](ResultsError::Exists),
    /// [`NotResults`](ResultsError::NotResults), [`HoldsOthers`](ResultsError::HoldsOthers),
    /// [`Unnamed`](ResultsError::Unnamed), [`NotWritable`](ResultsError::NotWritable).
    pub fn create(path: impl AsRef<Path>, overwrite: Overwrite) -> Result<Self, ResultsError> {
        let path = resolve(path.as_ref())?;
        restore(&path);
        check_in_the_way(&path, overwrite)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ResultsError::Unnamed { path });
        };
        let created_parents = create_parents(parent)?;
        match leftovers::create_partial(parent, name) {
            Ok(held) => Ok(Self {
                partial: held.path.clone(),
                overwrite,
                created_parents,
                kept: false,
                start: Start::Anew,
                held: Some(held),
                path,
            }),
            Err(source) => {
                remove_parents(&created_parents);
                Err(ResultsError::NotWritable { path: parent.to_owned(), source })
            }
        }
    }

    /// Removes what killed runs have left beside these results. Call it only when no error can
    /// refuse the run any more.
    pub fn remove_leftovers(&self) {
        if let Some(parent) = self.path.parent() {
            leftovers::sweep(parent);
        }
    }

    /// The directories that a run, or moving its results to their place, may remove: those at
    /// `path` if they are replaced, their checkpoints, and leftovers of killed runs.
    ///
    /// # Errors [`Unnamed`](ResultsError::Unnamed).
    pub fn removed_for(path: &Path, overwrite: Overwrite) -> Result<Vec<PathBuf>, ResultsError> {
        let path = resolve(path)?;
        let mut removed = path.parent().map(leftovers::candidates).unwrap_or_default();
        removed.push(Checkpoints::folder_of(&path));
        if overwrite == Overwrite::Replace {
            removed.push(path);
        }
        Ok(removed)
    }

    /// Results that grow in the folder of checkpoints of their run, and stay there if the run does
    /// not reach its end.
    ///
    /// # Errors As [`create`](Self::create).
    pub fn with_checkpoints(
        checkpoints: &Checkpoints,
        overwrite: Overwrite,
    ) -> Result<Self, ResultsError> {
        restore(checkpoints.results_path());
        check_in_the_way(checkpoints.results_path(), overwrite)?;
        Ok(Self::kept_at(checkpoints, overwrite, Start::Anew))
    }

    /// Results that continue from a checkpoint: what was written later is cut off, and new records
    /// are appended.
    ///
    /// # Errors As [`create`](Self::create); [`ResultsError::Write`]; [`ResultsError::Malformed`]
    /// if a part of them is missing.
    pub fn going_on(
        checkpoints: &Checkpoints,
        overwrite: Overwrite,
        files: &FileLengths,
    ) -> Result<Self, ResultsError> {
        restore(checkpoints.results_path());
        check_in_the_way(checkpoints.results_path(), overwrite)?;
        files.cut_back(&checkpoints.working_path())?;
        Ok(Self::kept_at(checkpoints, overwrite, Start::GoOn))
    }

    /// Starts these results with a copy of another run's results, which are in `folder`, as a
    /// checkpoint describes them.
    ///
    /// # Errors [`ResultsError::Write`]; [`ResultsError::Malformed`] if a part of them is missing.
    pub fn begin_with(&mut self, files: &FileLengths, folder: &Path) -> Result<(), ResultsError> {
        files.copy(folder, &self.partial)?;
        self.start = Start::GoOn;
        Ok(())
    }

    fn kept_at(checkpoints: &Checkpoints, overwrite: Overwrite, start: Start) -> Self {
        Self {
            path: checkpoints.results_path().to_owned(),
            partial: checkpoints.working_path(),
            overwrite,
            created_parents: Vec::new(),
            kept: true,
            start,
            held: None,
        }
    }

    /// Whether files of other kinds, such as captures, must be continued if they exist.
    pub fn goes_on(&self) -> bool {
        self.start == Start::GoOn
    }

    /// The temporary directory, where files of other kinds, such as captures, are written too.
    pub fn working_path(&self) -> &Path {
        &self.partial
    }

    /// The final path of the results.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts `flows.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`], as those that follow.
    pub fn flows(&self) -> Result<FlowWriter<'_>, ResultsError> {
        self.records()
    }

    /// Starts `pfc.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn pauses(&self) -> Result<RecordWriter<PauseRecord<'_>>, ResultsError> {
        self.records()
    }

    /// Starts `queues.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn queues(&self) -> Result<RecordWriter<QueueSample<'_>>, ResultsError> {
        self.records()
    }

    /// Starts `operations.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn operations(&self) -> Result<RecordWriter<OperationRecord<'_>>, ResultsError> {
        self.records()
    }

    /// Starts `drops.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn drops(&self) -> Result<RecordWriter<DropRecord<'_>>, ResultsError> {
        self.records()
    }

    /// Starts `links.csv`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn links(&self) -> Result<RecordWriter<LinkRecord<'_>>, ResultsError> {
        self.records()
    }

    /// Starts the file of the record type `R`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn records<R: Record>(&self) -> Result<RecordWriter<R>, ResultsError> {
        RecordWriter::create(&self.partial, self.start)
    }

    /// Writes a whole file of text, such as `scenario.resolved.toml`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), ResultsError> {
        let path = self.partial.join(name);
        fs::write(&path, text).map_err(ResultsError::write(&path))
    }

    /// Writes `pauses.json`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write_pause_causes(&self, causes: &PauseCauses) -> Result<(), ResultsError> {
        self.write_line(PAUSES_JSON, causes)
    }

    /// Writes `topology.json`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write_nodes(&self, nodes: Vec<MapNode>) -> Result<(), ResultsError> {
        self.write_line(TOPOLOGY_JSON, &NodesFile { nodes })
    }

    /// Tells others how far the run is, until it ends. Results that grow beside checkpoints do not: their
    /// checkpoints tell.
    ///
    /// # Errors The operating system's, which do not matter to the run.
    pub fn tell_progress(&self, progress: &RunProgress) -> io::Result<()> {
        if self.held.is_none() { Ok(()) } else { progress.write(&self.partial) }
    }

    /// Writes a JSON file on one line, because it may be large.
    fn write_line<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ResultsError> {
        let path = self.partial.join(name);
        let file = File::create(&path).map_err(ResultsError::write(&path))?;
        let mut file = BufWriter::new(file);
        serde_json::to_writer(&mut file, value)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(b"\n"))
            .and_then(|()| file.flush())
            .map_err(ResultsError::write(&path))
    }

    /// Writes `summary.json` and `run.json`, and moves the results to their final path, which it
    /// returns. All record writers must be finished before.
    ///
    /// # Errors [`ResultsError::Write`]; [`ResultsError::NotMoved`], after which both the new and
    /// the old results still exist.
    pub fn finish(mut self, summary: &Summary, run: &RunInfo) -> Result<PathBuf, ResultsError> {
        RunProgress::remove(&self.partial).map_err(ResultsError::write(&self.partial))?;
        self.write_json(SUMMARY_JSON, summary)?;
        self.write_json(RUN_JSON, run)?;
        // From here on the results are complete and must not be removed, wherever they end.
        self.kept = true;
        let moved = self.take_place();
        let path = if moved.is_ok() { &self.path } else { &self.partial };
        // Complete results are not a leftover, so their lock file goes. A kill before this leaves
        // the lock file in the results, where it does no harm.
        if let Some(held) = &self.held {
            held.keep(path).map_err(ResultsError::write(path))?;
        }
        moved.map(|()| self.path.clone()).map_err(|source| ResultsError::NotMoved {
            partial: self.partial.clone(),
            path: self.path.clone(),
            source,
        })
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ResultsError> {
        let path = self.partial.join(name);
        let write = || -> io::Result<()> {
            let mut file = BufWriter::new(File::create(&path)?);
            serde_json::to_writer_pretty(&mut file, value)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write().map_err(ResultsError::write(&path))
    }

    /// Renames the temporary directory to its final name. Old results are moved aside first and
    /// removed last. If removing them fails, the new results are in place nevertheless, and a later
    /// run removes the old ones.
    fn take_place(&self) -> io::Result<()> {
        if !exists(&self.path) {
            return fs::rename(&self.partial, &self.path);
        }
        if check_in_the_way(&self.path, self.overwrite).is_err() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "something was created there in the meantime",
            ));
        }
        let aside = leftovers::move_aside(&self.path)?;
        if let Err(error) = fs::rename(&self.partial, &self.path) {
            aside.back(&self.path)?;
            return Err(error);
        }
        let _ = aside.remove();
        Ok(())
    }
}

impl Drop for ResultsDir {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // An error cannot be reported from `drop`; the next run tries again.
        let _ = leftovers::remove(&self.partial);
        remove_parents(&self.created_parents);
    }
}

/// Removes what killed runs have left beside results at `path`. What cannot be removed stays; it
/// disturbs nobody.
pub fn clear_leftovers(path: &Path) {
    let Ok(path) = &resolve(path) else { return };
    restore(path);
    if let Some(parent) = path.parent() {
        leftovers::sweep(parent);
    }
}
