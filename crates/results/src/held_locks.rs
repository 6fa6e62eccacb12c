//! Whether somebody holds a lock, without touching it.

use std::path::Path;

/// Whether any process holds a lock on the file at `path`; `None` if this cannot be seen. `process` is
/// the one that made the file.
///
/// Linux lists all locks in `/proc/locks`, by device, inode and process. On some file systems, such as
/// Btrfs, the device there is not that of the file: a lock on a file with the same inode is this one if
/// the process is the same, and otherwise nobody knows.
#[cfg(target_os = "linux")]
pub(crate) fn is_held(path: &Path, process: Option<u32>) -> Option<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let file = path.symlink_metadata().ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let device = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
    let mut is_sure = true;
    for lock in locks.lines().filter_map(Lock::parse).filter(|lock| lock.inode == file.ino()) {
        if lock.device == device || Some(lock.process) == process {
            return Some(true);
        }
        is_sure = false;
    }
    is_sure.then_some(false)
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_held(_: &Path, _: Option<u32>) -> Option<bool> {
    None
}

/// A lock in `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 4711 fe:01:262145 0 EOF`.
#[derive(Debug, PartialEq, Eq)]
struct Lock {
    process: u32,
    /// Major and minor number.
    device: (u32, u32),
    inode: u64,
}

impl Lock {
    /// That of a line; `None` if it is of another kind, or of a process that waits for a lock.
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, place, ..] = words[..] else { return None };
        let mut parts = place.split(':');
        let major = u32::from_str_radix(parts.next()?, 16).ok()?;
        let minor = u32::from_str_radix(parts.next()?, 16).ok()?;
        let inode = parts.next()?.parse().ok()?;
        Some(Self { process: process.parse().ok()?, device: (major, minor), inode })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_kernel() {
        let lock = Lock::parse("12: FLOCK  ADVISORY  WRITE 4711 fe:0a:262145 0 EOF");
        assert_eq!(lock, Some(Lock { process: 4711, device: (254, 10), inode: 262_145 }));
        for other in [
            "1: POSIX  ADVISORY  WRITE 7 fe:01:5 0 EOF",
            "1: -> FLOCK  ADVISORY  WRITE 7 fe:01:5 0 EOF",
            "",
        ] {
            assert_eq!(Lock::parse(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_is_seen_and_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = std::fs::File::create(&path).unwrap();
        assert_eq!(is_held(&path, None), Some(false));
        file.try_lock().unwrap();
        let own = Some(std::process::id());
        assert_eq!(is_held(&path, own), Some(true));
        // Whoever looks does not need to write, and is in nobody's way.
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        file.unlock().unwrap();
        for _ in 0..2_000 {
            assert_eq!(is_held(&path, own), Some(false));
        }
        assert_eq!(is_held(&folder.path().join("absent"), own), None);
    }
}
