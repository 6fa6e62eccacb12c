//! Checkpoints, from which a run can continue after it was killed.
//!
//! Beside the results directory `NAME`, the folder `NAME.checkpoints` holds the growing results
//! (`results`), and the checkpoints, each in a file named after its time. A checkpoint gets its
//! name only when all of it is on the disk, so every file with such a name is complete. It contains
//! the length of each file of the results; a run that continues cuts off what was written later.

mod checkpoint;
mod file_lengths;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rocelab_units::SimTime;

pub use self::checkpoint::{Checkpoint, CheckpointSettings, InputFile};
pub use self::file_lengths::FileLengths;
use crate::place::{Overwrite, create_parents, exists, resolve};
use crate::{ResultsError, leftovers};

/// The file name extension of a checkpoint.
const ENDING: &str = "checkpoint";
/// The file name extension of a checkpoint that is being written.
const UNFINISHED: &str = "partial";
/// Digits of a file name: enough for the longest time.
const DIGITS: usize = 20;
/// The folder of the growing results.
const WORKING: &str = "results";

/// A run's folder of checkpoints. Only one process at a time may use it.
#[derive(Debug)]
pub struct Checkpoints {
    results: PathBuf,
    folder: PathBuf,
    /// Locked as long as this exists, so that no other process continues the same run.
    _lock: File,
}

impl Checkpoints {
    /// Makes the folder for results at `path`, and its parents. Checkpoints of an earlier run are
    /// replaced under the same condition as results.
    ///
    /// # Errors [`ResultsError::BrokenOff`] or [`ResultsError::Kept`] if there are checkpoints of
    /// an earlier run; [`ResultsError::NotCheckpoints`], [`ResultsError::InUse`],
    /// [`ResultsError::Unnamed`], [`ResultsError::NotWritable`].
    pub fn create(path: &Path, overwrite: Overwrite) -> Result<Self, ResultsError> {
        Self::clear_way(path, overwrite)?;
        let results = resolve(path)?;
        let folder = folder_of(&results);
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(ResultsError::Unnamed { path: results });
        };
        create_parents(parent)?;
        // The folder is built under a temporary name. So a process that is killed here leaves a
        // leftover, or a complete folder, but nothing in between.
        let failed = |source| ResultsError::NotWritable { path: parent.to_owned(), source };
        let begun = leftovers::create_partial(parent, name).map_err(failed)?;
        let path = begun.path.clone();
        let place = || {
            fs::create_dir(path.join(WORKING)).map_err(failed)?;
            let lock = begun.into_lock().map_or_else(|| lock(&path), Ok)?;
            fs::rename(&path, &folder).map_err(ResultsError::write(&folder))?;
            Ok(lock)
        };
        match place() {
            Ok(lock) => Ok(Self { results, folder, _lock: lock }),
            Err(error) => {
                let _ = leftovers::remove(&path);
                Err(error)
            }
        }
    }

    /// Checks that results at `path` are possible: there are no checkpoints of an earlier run, or
    /// they may be replaced. Changes nothing on the disk.
    ///
    /// # Errors [`ResultsError::BrokenOff`], [`ResultsError::Kept`], [`ResultsError::InUse`],
    /// [`ResultsError::Unnamed`]; [`ResultsError::NotCheckpoints`] if the folder is not one of this
    /// program.
    pub fn check_way(path: &Path, overwrite: Overwrite) -> Result<(), ResultsError> {
        let results = resolve(path)?;
        let folder = folder_of(&results);
        if !exists(&folder) {
            return Ok(());
        }
        if !is_ours(&folder) {
            return Err(ResultsError::NotCheckpoints { path: folder });
        }
        if exists(&folder.join(leftovers::LOCK)) {
            lock(&folder)?;
        }
        match overwrite {
            Overwrite::Refuse if folder.join(WORKING).is_dir() => {
                Err(ResultsError::BrokenOff { path: results })
            }
            Overwrite::Refuse => Err(ResultsError::Kept { path: results }),
            Overwrite::Replace => Ok(()),
        }
    }

    /// Removes checkpoints of an earlier run, which do not belong to the new results at `path`.
    ///
    /// # Errors As [`check_way`](Self::check_way); [`ResultsError::Write`].
    pub fn clear_way(path: &Path, overwrite: Overwrite) -> Result<(), ResultsError> {
        Self::check_way(path, overwrite)?;
        match Self::open(path) {
            Ok(old) => old.remove(),
            Err(ResultsError::NoCheckpoints { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder beside results at `path`, and removes checkpoints in it that were never
    /// completed.
    ///
    /// # Errors [`ResultsError::NoCheckpoints`] if there is no such folder, or it is not one of
    /// this program; [`ResultsError::InUse`], [`ResultsError::Unnamed`].
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        let results = resolve(path)?;
        let folder = folder_of(&results);
        if !is_ours(&folder) {
            return Err(ResultsError::NoCheckpoints { path: results });
        }
        let lock = lock(&folder)?;
        let opened = Self { results, folder, _lock: lock };
        opened.remove_unfinished();
        Ok(opened)
    }

    /// Removes checkpoints that were incomplete when their run was killed.
    fn remove_unfinished(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if time_in(&entry.file_name(), UNFINISHED).is_some() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The final path of the results.
    pub fn results_path(&self) -> &Path {
        &self.results
    }

    /// The path of the results while they grow.
    pub fn working_path(&self) -> PathBuf {
        self.folder.join(WORKING)
    }

    /// Whether the run has ended, so that its results no longer grow here.
    pub fn is_over(&self) -> bool {
        !self.working_path().is_dir()
    }

    /// Whether results at `path` are growing in such a folder now, or were when their run was
    /// killed.
    pub fn hold_growing(path: &Path) -> bool {
        resolve(path).is_ok_and(|results| {
            let folder = folder_of(&results);
            folder.join(WORKING).is_dir() && is_ours(&folder)
        })
    }

    /// The name of the results that grow in the folder at `path`, and the time of its last checkpoint;
    /// `None` if it is no such folder. It need not be free.
    pub(crate) fn growing_in(path: &Path) -> Option<(&str, Option<SimTime>)> {
        let name = path.file_name()?.to_str()?.strip_suffix(".checkpoints")?;
        if !path.join(WORKING).is_dir() || !leftovers::is_of_a_run(path) {
            return None;
        }
        let names = fs::read_dir(path).ok()?.flatten().map(|entry| entry.file_name());
        Some((name, names.filter_map(|name| time_in(&name, ENDING)).max()))
    }

    /// Whether `path` is the path of their results, or is inside the results or this folder.
    ///
    /// # Errors [`ResultsError::Unnamed`].
    pub fn are_at(&self, path: &Path) -> Result<bool, ResultsError> {
        let path = resolve(path)?;
        Ok(path.starts_with(&self.results) || path.starts_with(&self.folder))
    }

    /// Where the results are now: at their final path, or where they grow; `None` if they are at
    /// neither.
    pub fn present_results(&self) -> Option<PathBuf> {
        let present = if self.is_over() { self.results.clone() } else { self.working_path() };
        present.is_dir().then_some(present)
    }

    /// The times of all checkpoints, ascending.
    ///
    /// # Errors
    /// [`ResultsError::Read`].
    pub fn times(&self) -> Result<Vec<SimTime>, ResultsError> {
        let failed = |error| ResultsError::read(&self.folder)(error);
        let mut times = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            times.extend(time_in(&entry.map_err(failed)?.file_name(), ENDING));
        }
        times.sort_unstable();
        Ok(times)
    }

    /// Loads the checkpoint of a time.
    ///
    /// # Errors [`ResultsError::Read`]; [`ResultsError::Malformed`] if the file is not a
    /// checkpoint, or is of another version of the program.
    pub fn load(&self, time: SimTime) -> Result<Checkpoint, ResultsError> {
        let path = self.path_of(time);
        let bytes = fs::read(&path).map_err(ResultsError::read(&path))?;
        Checkpoint::from_bytes(&bytes).map_err(|reason| ResultsError::Malformed { path, reason })
    }

    /// Saves a checkpoint, and removes earlier ones unless all are kept.
    ///
    /// # Errors [`ResultsError::Write`].
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), ResultsError> {
        let path = self.path_of(checkpoint.time);
        let partial = path.with_extension(UNFINISHED);
        let write = || -> io::Result<()> {
            let mut file = File::create(&partial)?;
            file.write_all(&checkpoint.to_bytes()?)?;
            file.sync_all()?;
            fs::rename(&partial, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(ResultsError::write(&path))?;
        if checkpoint.settings.keep {
            return Ok(());
        }
        for time in self.times()?.into_iter().filter(|&time| time < checkpoint.time) {
            let old = self.path_of(time);
            fs::remove_file(&old).map_err(ResultsError::write(&old))?;
        }
        Ok(())
    }

    /// Removes the folder with its content.
    ///
    /// # Errors [`ResultsError::Write`].
    pub fn remove(self) -> Result<(), ResultsError> {
        leftovers::discard(&self.folder).map_err(ResultsError::write(&self.folder))
    }

    /// The path of the folder of checkpoints for results at `results`.
    pub(crate) fn folder_of(results: &Path) -> PathBuf {
        folder_of(results)
    }

    fn path_of(&self, time: SimTime) -> PathBuf {
        self.folder.join(format!("{:0DIGITS$}.{ENDING}", time.ps()))
    }
}

fn folder_of(results: &Path) -> PathBuf {
    let mut name = results.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".checkpoints");
    results.with_file_name(name)
}

/// The time of the checkpoint in the file `name`, if the name has that extension.
fn time_in(name: &OsStr, ending: &str) -> Option<SimTime> {
    let digits = name.to_str()?.strip_suffix(ending)?.strip_suffix('.')?;
    let is_time = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_time).map(SimTime::from_ps)
}

/// Whether a run of this program made the folder: its lock file says so, or it contains checkpoints
/// and only files of a run.
fn is_ours(folder: &Path) -> bool {
    folder.is_dir() && (leftovers::is_of_a_run(folder) || holds_only_checkpoints(folder))
}

/// The second condition of [`is_ours`], for a lock file that names no program, as on a host without
/// a name.
fn holds_only_checkpoints(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut are_any = false;
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        let is_one = time_in(&name, ENDING).is_some();
        are_any |= is_one;
        let is_beside = name == WORKING || name == leftovers::LOCK;
        if !is_one && !is_beside && time_in(&name, UNFINISHED).is_none() {
            return false;
        }
    }
    are_any
}

fn lock(folder: &Path) -> Result<File, ResultsError> {
    let path = folder.join(leftovers::LOCK);
    // The file is not truncated: the run that has locked it needs its content.
    let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = open.map_err(ResultsError::write(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ResultsError::InUse { path: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(ResultsError::Write { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Duration;

    use super::checkpoint::MAGIC;
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
        Checkpoint::from_bytes(bytes)
    }

    fn checkpoint(us: u64, keep: bool) -> Checkpoint {
        Checkpoint {
            time: SimTime::from_ps(us * 1_000_000),
            settings: CheckpointSettings {
                scenario: "incast".to_owned(),
                every: Duration::from_us(5),
                keep,
                replaces: false,
                inputs: vec![InputFile { file: "flows.csv".to_owned(), checksum: 7 }],
            },
            files: FileLengths::default(),
            state: vec![1, 2, 3],
        }
    }

    #[test]
    fn the_last_checkpoint_stays_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("below/results");
        let checkpoints = Checkpoints::create(&results, Overwrite::Refuse).unwrap();
        for us in [0, 5, 10] {
            checkpoints.save(&checkpoint(us, false)).unwrap();
        }
        let last = checkpoint(10, false);
        assert_eq!(checkpoints.times().unwrap(), [last.time]);
        assert_eq!(checkpoints.load(last.time).unwrap(), last);
        assert!(matches!(Checkpoints::open(&results), Err(ResultsError::InUse { .. })));
        drop(checkpoints);
        let refused = Checkpoints::create(&results, Overwrite::Refuse);
        assert!(matches!(refused, Err(ResultsError::BrokenOff { .. })));
        let anew = Checkpoints::create(&results, Overwrite::Replace).unwrap();
        assert_eq!(anew.times().unwrap(), []);
        anew.remove().unwrap();
        assert!(matches!(Checkpoints::open(&results), Err(ResultsError::NoCheckpoints { .. })));
    }

    #[test]
    fn all_are_kept_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("results");
        let checkpoints = Checkpoints::create(&results, Overwrite::Refuse).unwrap();
        let all = [0, 5, 10].map(|us| checkpoint(us, true));
        all.iter().for_each(|one| checkpoints.save(one).unwrap());
        assert_eq!(checkpoints.times().unwrap(), all.map(|one| one.time));
    }

    /// Names and contents of a folder.
    fn files(folder: &Path) -> Vec<(OsString, String)> {
        let read = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.unwrap();
            (entry.file_name(), fs::read_to_string(entry.path()).unwrap_or_default())
        };
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(read).collect();
        files.sort();
        files
    }

    /// A user's folder may have the same name as a folder of checkpoints.
    #[test]
    fn a_folder_of_others_is_refused_and_stays() {
        let parent = tempfile::tempdir().unwrap();
        let mine = "years of work";
        let foreign: [&[(&str, &str)]; 6] = [
            &[],
            &[("thesis.txt", mine), ("download.partial", mine)],
            &[("lock", ""), ("thesis.txt", mine), ("00000000000000000007.checkpoint", "")],
            &[("lock", ""), ("results", mine)],
            &[("7.checkpoint", mine), ("lock", "")],
            &[("00000000000000000007.partial", mine), ("lock", "mine")],
        ];
        for (number, content) in foreign.into_iter().enumerate() {
            let results = parent.path().join(number.to_string());
            let folder = folder_of(&results);
            fs::create_dir(&folder).unwrap();
            content.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
            let before = files(&folder);
            for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
                for refused in [
                    Checkpoints::check_way(&results, overwrite),
                    Checkpoints::clear_way(&results, overwrite),
                    Checkpoints::create(&results, overwrite).map(drop),
                ] {
                    let error = refused.unwrap_err();
                    assert!(matches!(error, ResultsError::NotCheckpoints { .. }), "{error}");
                    assert!(error.to_string().contains("--out"), "{error}");
                }
            }
            let none = Checkpoints::open(&results);
            assert!(matches!(none, Err(ResultsError::NoCheckpoints { .. })));
            assert_eq!(files(&folder), before);
        }
    }

    /// As on a host without a name, whose lock files say nothing.
    #[test]
    fn checkpoints_are_ours_without_a_lock_file_that_says_so() {
        let parent = tempfile::tempdir().unwrap();
        let results = parent.path().join("results");
        drop(Checkpoints::create(&results, Overwrite::Refuse).unwrap());
        let folder = folder_of(&results);
        fs::write(folder.join("lock"), "").unwrap();
        fs::write(folder.join("00000000000000000007.checkpoint"), "").unwrap();
        fs::write(folder.join("00000000000000000008.partial"), "").unwrap();
        let before = files(&folder);
        let refused = Checkpoints::check_way(&results, Overwrite::Refuse);
        assert!(matches!(refused, Err(ResultsError::BrokenOff { .. })));
        Checkpoints::check_way(&results, Overwrite::Replace).unwrap();
        assert_eq!(files(&folder), before, "looking changes nothing");
        let opened = Checkpoints::open(&results).unwrap();
        assert_eq!(opened.times().unwrap(), [SimTime::from_ps(7)]);
        assert_eq!(files(&folder).len(), before.len() - 1, "half of one goes");
        drop(opened);
        Checkpoints::clear_way(&results, Overwrite::Replace).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn what_is_no_checkpoint_is_refused() {
        let mut bytes = MAGIC.to_vec();
        borsh::to_writer(&mut bytes, "0.0.9").unwrap();
        assert!(parse(&bytes).unwrap_err().contains("rocelab 0.0.9"));
        assert!(parse(b"time_ps,node").unwrap_err().contains("no checkpoint"));
        let folder = tempfile::tempdir().unwrap();
        let checkpoints =
            Checkpoints::create(&folder.path().join("results"), Overwrite::Refuse).unwrap();
        let saved = checkpoint(5, true);
        checkpoints.save(&saved).unwrap();
        let mut bytes = fs::read(checkpoints.path_of(saved.time)).unwrap();
        assert_eq!(parse(&bytes).unwrap(), saved);
        for end in MAGIC.len()..bytes.len() {
            assert!(parse(&bytes[..end]).unwrap_err().contains("damaged"), "{end} bytes");
        }
        *bytes.last_mut().unwrap() ^= 1;
        assert!(parse(&bytes).unwrap_err().contains("damaged"));
    }
}
