//! Runs both programs, and records how they ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Whether there is an `mpirun`; prints a note if not.
pub(crate) fn has_mpirun() -> bool {
    let found = Command::new("mpirun").arg("--version").output().is_ok();
    if !found {
        eprintln!("note: no mpirun; tests of several processes are skipped");
    }
    found
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// Its output on standard error.
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code(), stderr }
    }
}

impl Ended {
    /// How often a line is in its standard error.
    pub(crate) fn times(&self, line: &str) -> usize {
        self.stderr.lines().filter(|one| *one == line).count()
    }
}

/// The program in one process, built as an example of this package.
pub(crate) fn rocelab(arguments: &[&str]) -> Ended {
    let own = std::env::current_exe().expect("this test");
    let built = own.parent().and_then(Path::parent).expect("a folder of what was built");
    let output = Command::new(built.join("examples/rocelab")).args(arguments).output();
    output.expect("the program starts").into()
}

/// The program with this number of ranks.
pub(crate) fn on_ranks(ranks: u32, arguments: &[&str]) -> Ended {
    mpirun(&["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_rocelab-mpi")], arguments)
}

/// Runs `mpirun` with the options that a test needs: as any user, with more ranks than cores.
pub(crate) fn mpirun(first: &[&str], arguments: &[&str]) -> Ended {
    let mut command = Command::new("mpirun");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.arg("--oversubscribe").args(first).args(arguments);
    // One after the other: ranks that wait for each other take the cores of others.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    command.output().expect("mpirun starts").into()
}

/// Every file below a folder, by its relative path.
pub(crate) fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}
