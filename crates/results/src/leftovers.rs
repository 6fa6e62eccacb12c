//! Folders that killed runs leave behind, and how a run knows that nobody uses them.
//!
//! Results grow in `.NAME.partial-PID`. Results that they replace, and checkpoints that are
//! removed, are moved aside into `.NAME.replaced-PID`. Such a folder contains the file `lock`, with
//! the host's name and its boot id, and the run holds a lock on that file. The operating system
//! releases the lock when the process ends, also if it is killed. So a folder is a leftover if it
//! has such a name, its `lock` is of this host, and the lock is free. An empty folder with such a
//! name is one too: its process was killed before it wrote anything, or after it had removed
//! everything.
//!
//! Another boot id means an earlier boot of this host, or another host with the same name. On a
//! file system of one machine it must be the former, and the lock alone decides. On other file
//! systems such folders stay.
//!
//! Everything else stays: folders that have files but no `lock`, which others or earlier versions
//! made; complete results that could not be moved, whose `lock` was removed; folders of other
//! hosts, whose locks a file system may not show; and folders on a file system without locks.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::held_locks;

/// The file that marks a folder of a run, and on which the run holds a lock.
pub(crate) const LOCK: &str = "lock";
/// The name of old results in a folder that was moved aside, until new results are in place.
const OLD: &str = "results";
/// The name of old results, or checkpoints, that are no longer needed.
const REMOVED: &str = "removed";

/// A folder that a run keeps while it lasts, and its lock, if the file system has locks.
#[derive(Debug)]
pub(crate) struct LockedFolder {
    pub(crate) path: PathBuf,
    lock: Option<File>,
}

impl LockedFolder {
    /// Removes the lock file, so that the folder, which is now at `path`, is not taken for a
    /// leftover when this run has ended.
    pub(crate) fn keep(&self, path: &Path) -> io::Result<()> {
        gone(fs::remove_file(path.join(LOCK)))
    }

    /// The lock alone, for a folder that gets another name.
    pub(crate) fn into_lock(self) -> Option<File> {
        self.lock
    }
}

/// The kind of a hidden folder beside results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Results that grow.
    Partial,
    /// Results that were moved aside.
    Replaced,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Partial, Self::Replaced];

    const fn word(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Replaced => "replaced",
        }
    }
}

/// Makes a new folder `.NAME.partial-PID` in `parent`, or the first free `.NAME.partial-PID-N`: one
/// process may write the same results twice at once, and process ids are reused.
pub(crate) fn create_partial(parent: &Path, name: &OsStr) -> io::Result<LockedFolder> {
    create(parent, name, Kind::Partial)
}

fn create(parent: &Path, name: &OsStr, kind: Kind) -> io::Result<LockedFolder> {
    for attempt in 0_u32.. {
        let path = parent.join(hidden_name(name, kind, attempt));
        match fs::create_dir(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        match mark(&path) {
            Ok(lock) => return Ok(LockedFolder { path, lock }),
            // Another process has removed the empty folder as a leftover: try again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let _ = remove(&path);
                return Err(error);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives a new folder its lock file, which is empty if it cannot be locked.
///
/// # Errors [`io::ErrorKind::NotFound`] if another process removed the empty folder as a leftover.
fn mark(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    // On a host without a name, the file still shows whose folder this is. Nobody can tell later
    // whether the run has ended.
    let host = Host::this().map(|host| format!(" on {host}")).unwrap_or_default();
    let said = format!("{MARK}{}{host}\n", std::process::id());
    if let Some(file) = unnamed(folder, &said)
        && give_name(&file, &path).is_ok()
    {
        return Ok(Some(file));
    }
    let mut file = File::create_new(&path)?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    file.write_all(said.as_bytes())?;
    Ok(Some(file))
}

/// A locked file with this text and without a name, if operating system and file system support it.
/// A process that is killed before the file gets its name leaves nothing.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path, text: &str) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(folder, flags, Mode::from(0o666)).ok()?);
    file.try_lock().ok()?;
    file.write_all(text.as_bytes()).ok()?;
    Some(file)
}

/// Gives such a file its name.
#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd as _;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: &str) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The beginning of a lock file.
const MARK: &str = "rocelab ";

/// The text between a host's name and its boot id.
const BOOT: &str = " boot ";

/// A host during one boot.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: String,
    /// The boot id; `None` if the operating system does not provide it.
    boot: Option<String>,
}

impl Host {
    /// This host, if the operating system provides its name.
    fn this() -> Option<Self> {
        let told = fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let told = told.or_else(|| std::env::var("HOSTNAME").ok());
        let name = told.or_else(|| std::env::var("COMPUTERNAME").ok())?.trim().to_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let boot = boot.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        (!name.is_empty()).then_some(Self { name, boot })
    }

    /// The host that a lock file names. Lock files of earlier versions have no boot id.
    fn named_in(text: &str) -> Option<Self> {
        let (_, host) = text.strip_prefix(MARK)?.trim_end().split_once(" on ")?;
        let (name, boot) = match host.split_once(BOOT) {
            Some((name, boot)) => (name, Some(boot.to_owned())),
            None => (host, None),
        };
        Some(Self { name: name.to_owned(), boot })
    }

    /// Whether `other` is this host in the same boot, so that its locks are visible here. On a file
    /// system of one machine, the same name is enough.
    fn is(&self, other: &Self, is_local: impl FnOnce() -> bool) -> bool {
        self.name == other.name && (self.boot == other.boot || is_local())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boot = self.boot.iter().flat_map(|boot| [BOOT, boot.as_str()]);
        f.write_str(&self.name)?;
        boot.into_iter().try_for_each(|part| f.write_str(part))
    }
}

/// The text of a folder's lock file; empty if there is none.
fn text_in(folder: &Path) -> String {
    let path = folder.join(LOCK);
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file { fs::read_to_string(path).unwrap_or_default() } else { String::new() }
}

/// Whether a folder's lock file says that a run made it, on any host.
pub(crate) fn is_of_a_run(folder: &Path) -> bool {
    text_in(folder).starts_with(MARK)
}

/// Whether a run on this host has made the folder.
fn is_marked(folder: &Path) -> bool {
    let named = Host::named_in(&text_in(folder));
    named.zip(Host::this()).is_some_and(|(named, this)| this.is(&named, || is_local(folder)))
}

/// Whether a folder is on a file system that only one machine uses, as far as that is known.
#[cfg(target_os = "linux")]
fn is_local(folder: &Path) -> bool {
    /// `f_type` of ext2 to ext4, XFS, Btrfs, F2FS, ZFS and tmpfs, of statfs(2).
    const LOCAL: [u32; 6] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994];
    let kind = rustix::fs::statfs(folder).ok().and_then(|found| u32::try_from(found.f_type).ok());
    kind.is_some_and(|kind| LOCAL.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_: &Path) -> bool {
    false
}

/// Whether a run still uses a folder; `None` if this host cannot see that. It only looks: a lock that
/// is taken to find out whether it is free would be in the way of a run that goes on here.
pub(crate) fn is_in_use(folder: &Path) -> Option<bool> {
    if !is_marked(folder) {
        return None;
    }
    held_locks::is_held(&folder.join(LOCK), process_in(&text_in(folder)))
}

/// The number of the process that made a lock file.
fn process_in(text: &str) -> Option<u32> {
    text.strip_prefix(MARK)?.split(' ').next()?.trim().parse().ok()
}

/// The name of the results that grow in a folder of this name; `None` if it is another folder.
pub(crate) fn partial_name(folder: &str) -> Option<&str> {
    parse(folder).filter(|(kind, _)| *kind == Kind::Partial).map(|(_, results)| results)
}

/// Takes the lock of a folder that a run on this host made; `None` if that run still holds it.
fn take(folder: &Path) -> Option<File> {
    if !is_marked(folder) {
        return None;
    }
    let path = folder.join(LOCK);
    // Some file systems lock only files that are open for writing.
    let file = OpenOptions::new().write(true).open(&path).ok()?;
    file.try_lock().ok()?;
    is_still_at(&file, &path).then_some(file)
}

/// Moves results at `path` aside, into a new folder `.NAME.replaced-PID` beside them.
pub(crate) fn move_aside(path: &Path) -> io::Result<Aside> {
    move_to(path, OLD).map(Aside)
}

/// Removes the folder at `path` for good. It is renamed first, so that a half removed folder does
/// not have its name.
pub(crate) fn discard(path: &Path) -> io::Result<()> {
    remove(&move_to(path, REMOVED)?.path)
}

/// Moves what is at `path` into a new folder `.NAME.replaced-PID` beside it, under the name
/// `called`.
fn move_to(path: &Path, called: &str) -> io::Result<LockedFolder> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let held = create(parent, name, Kind::Replaced)?;
    if let Err(error) = fs::rename(path, held.path.join(called)) {
        let _ = remove(&held.path);
        return Err(error);
    }
    Ok(held)
}

/// Results that were moved aside.
#[derive(Debug)]
pub(crate) struct Aside(LockedFolder);

impl Aside {
    /// Moves them back.
    pub(crate) fn back(self, path: &Path) -> io::Result<()> {
        fs::rename(self.0.path.join(OLD), path)?;
        remove(&self.0.path)
    }

    /// Removes them. They are renamed first, so that a kill in the middle leaves nothing that looks
    /// like results.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::rename(self.0.path.join(OLD), self.0.path.join(REMOVED))?;
        remove(&self.0.path)
    }
}

/// Moves results back that were moved aside for new ones which were never completed.
pub(crate) fn restore(parent: &Path) {
    for (path, kind, name) in hidden_in(parent) {
        let (old, place) = (path.join(OLD), parent.join(name));
        if kind != Kind::Replaced || !is_only_copy(&path, &place) {
            continue;
        }
        let Some(_lock) = take(&path) else { continue };
        if is_only_copy(&path, &place) && fs::rename(old, place).is_ok() {
            let _ = remove(&path);
        }
    }
}

/// Whether the folder has old results that nothing has replaced.
fn is_only_copy(aside: &Path, place: &Path) -> bool {
    aside.join(OLD).is_dir() && place.symlink_metadata().is_err()
}

/// Removes what killed runs have left in `parent`. What cannot be removed stays; it disturbs
/// nobody.
pub(crate) fn sweep(parent: &Path) {
    for (path, _, name) in hidden_in(parent) {
        // This succeeds only if the folder is empty. A run that was about to write there makes
        // another one.
        if fs::remove_dir(&path).is_ok() {
            continue;
        }
        let Some(_lock) = take(&path) else { continue };
        if !is_only_copy(&path, &parent.join(name)) {
            let _ = remove(&path);
        }
    }
}

/// The folders that [`restore`] and [`sweep`] may touch, except empty ones.
pub(crate) fn candidates(parent: &Path) -> Vec<PathBuf> {
    hidden_in(parent).into_iter().map(|(path, ..)| path).filter(|path| is_marked(path)).collect()
}

/// Removes a folder of a run, its lock file last. So if this process is killed in the middle, the
/// rest is still known to be a leftover.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        let path = entry.path();
        gone(if entry.file_type()?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        })?;
    }
    gone(fs::remove_dir_all(folder))
}

/// A file that no longer exists need not be removed.
pub(crate) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn hidden_name(name: &OsStr, kind: Kind, attempt: u32) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}", kind.word(), std::process::id()));
    if attempt > 0 {
        hidden.push(format!("-{attempt}"));
    }
    hidden
}

/// Folders in `parent` with the names of runs' folders, each with the name of its results.
fn hidden_in(parent: &Path) -> Vec<(PathBuf, Kind, String)> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let of_run = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let (kind, results) = parse(&name)?;
        let is_folder = entry.file_type().ok()?.is_dir();
        is_folder.then(|| (entry.path(), kind, results.to_owned()))
    };
    entries.flatten().filter_map(of_run).collect()
}

/// Parses `.NAME.partial-PID` or `.NAME.partial-PID-N`.
fn parse(name: &str) -> Option<(Kind, &str)> {
    let rest = name.strip_prefix('.')?;
    Kind::ALL.into_iter().find_map(|kind| {
        let (results, numbers) = rest.rsplit_once(&format!(".{}-", kind.word()))?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let (process, attempt) = numbers.split_once('-').unwrap_or((numbers, "0"));
        (!results.is_empty() && is_number(process) && is_number(attempt)).then_some((kind, results))
    })
}

/// Whether an open file is still the one at this path.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    let (Ok(open), Ok(named)) = (file.metadata(), path.symlink_metadata()) else { return false };
    id(open) == id(named)
}

#[cfg(not(unix))]
fn is_still_at(_: &File, path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of a run that was killed.
    fn left(parent: &Path, name: &str, files: &[&str]) {
        let folder = parent.join(name);
        fs::create_dir_all(&folder).unwrap();
        drop(mark(&folder).unwrap());
        for file in files {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
    }

    fn names(parent: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<_> =
            fs::read_dir(parent).unwrap().map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_names_of_runs_are_taken_apart() {
        assert!(parse(".a.b.partial-12").is_some_and(|(_, name)| name == "a.b"));
        assert!(parse(".a.replaced-12-3").is_some_and(|(_, name)| name == "a"));
        for name in ["a.partial-1", ".a.partial-", ".a.partial-1x", ".partial-1", ".a.partial-1-"] {
            assert!(parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn what_a_killed_run_left_goes_and_all_else_stays() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        left(at, ".a.partial-1", &["scenario.resolved.toml", "flows.csv"]);
        left(at, ".a.partial-2-1", &[]);
        left(at, "a.partial-4", &[]);
        fs::write(at.join(".a.partial-0"), "a file").unwrap();
        let alive = create_partial(at, OsStr::new("a")).unwrap();
        let own = alive.path.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(candidates(at).len(), 3);
        sweep(at);
        assert_eq!(names(at), [".a.partial-0", &own, "a.partial-4"]);
        drop(alive);
        sweep(at);
        assert_eq!(names(at), [".a.partial-0", "a.partial-4"]);
    }

    /// A run may still write to them: if the file system has no locks, if they are of an earlier
    /// version, or of another host.
    #[test]
    fn folders_without_a_lock_of_this_host_stay() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        fs::create_dir(at.join(".a.partial-2")).unwrap();
        fs::write(at.join(".a.partial-2/scenario.resolved.toml"), "x").unwrap();
        for (number, text) in [(3, ""), (4, "rocelab 4 on another-host-of-ours\n"), (5, "mine")] {
            let folder = at.join(format!(".a.partial-{number}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(LOCK), text).unwrap();
        }
        let before = names(at);
        restore(at);
        sweep(at);
        assert_eq!(names(at), before);
        assert_eq!(candidates(at), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn another_boot_is_of_this_host_only_where_no_other_host_can_be() {
        let host = |boot: Option<&str>| Host { name: "vm".into(), boot: boot.map(str::to_owned) };
        let this = host(Some("b1"));
        for boot in [None, Some("b1"), Some("b2")] {
            let named = Host::named_in(&format!("rocelab 7 on {}\n", host(boot))).unwrap();
            assert_eq!(named, host(boot));
            assert!(this.is(&named, || true), "{boot:?}");
            assert_eq!(this.is(&named, || false), boot == Some("b1"), "{boot:?}");
        }
        let other = Host { name: "other".into(), ..this.clone() };
        assert!(!this.is(&other, || true));
        // Without boot ids, only the name can be compared.
        assert!(host(None).is(&host(None), || false));
        assert_eq!(Host::named_in("mine"), None);
        #[cfg(target_os = "linux")]
        assert!(!is_local(Path::new("/proc")) && Host::this().unwrap().boot.is_some());
    }

    /// A process that is killed while it makes or removes a folder leaves an empty one.
    #[test]
    fn empty_folders_go() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        fs::create_dir(at.join(".a.replaced-1")).unwrap();
        fs::create_dir(at.join(".a.checkpoints")).unwrap();
        sweep(at);
        assert_eq!(names(at), [".a.checkpoints"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_has_no_name_before_it_says_whose_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let file = unnamed(parent.path(), "rocelab 1 on vm\n").unwrap();
        assert_eq!(names(parent.path()), [""; 0]);
        let path = parent.path().join(LOCK);
        give_name(&file, &path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "rocelab 1 on vm\n");
        assert!(File::open(&path).unwrap().try_lock().is_err());
    }

    #[test]
    fn a_folder_is_there_however_often_others_sweep() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let order = std::sync::atomic::Ordering::Relaxed;
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    sweep(at);
                }
            });
            for _ in 0..500 {
                let made = create_partial(at, OsStr::new("a")).map(|held| {
                    let is_there = held.path.is_dir();
                    let _ = remove(&held.path);
                    is_there
                });
                if made.is_err() || made.is_ok_and(|is_there| !is_there) {
                    done.store(true, order);
                    panic!("a folder is gone");
                }
            }
            done.store(true, order);
        });
    }

    #[test]
    fn what_stepped_aside_for_nothing_comes_back() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        let place = at.join("a");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("flows.csv"), "x").unwrap();
        let aside = move_aside(&place).unwrap();
        restore(at);
        sweep(at);
        assert!(!place.exists() && aside.0.path.exists(), "a run needs it");
        drop(aside);
        sweep(at);
        assert!(!place.exists() && names(at).len() == 1, "it is the only copy");
        restore(at);
        assert_eq!((names(at), names(&place)), (vec!["a".into()], vec!["flows.csv".into()]));
        // When the new results are in place, the old ones are not needed, nor are half removed
        // ones.
        left(at, ".a.replaced-7", &["results/flows.csv"]);
        left(at, ".b.replaced-8", &["removed/flows.csv"]);
        restore(at);
        assert_eq!(names(at), [".a.replaced-7", ".b.replaced-8", "a"]);
        sweep(at);
        assert_eq!(names(at), ["a"]);
    }
}
