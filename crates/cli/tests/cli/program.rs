//! Runs the program in a temporary folder, and records how it ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A scenario of three senders and one receiver that a debug build runs quickly.
pub(crate) const SMALL: &str = r#"
[topology.single-switch]
hosts = 4
link = { rate = "100Gbps", cable = "3m" }

[workload.incast]
senders = 3
bytes = "100KB"
"#;

/// A temporary folder, in which the program runs.
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with [`SMALL`] as `small.toml`.
    pub(crate) fn with_small() -> Self {
        let sandbox = Self::new();
        sandbox.write("small.toml", SMALL);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The program, not yet started.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rocelab"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn rocelab(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.program(arguments).output().expect("the program starts"))
    }

    /// Runs the program, which must succeed and print nothing to standard error.
    #[track_caller]
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let ended = self.rocelab(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        ended.stdout
    }

    /// Every file and folder in it, including hidden ones, by relative path.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut all = Vec::new();
        collect(self.0.path(), self.0.path(), &mut all);
        all.sort();
        all
    }

    /// The content of every file of a folder.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(self.path(folder)).expect("a folder of results") {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let below = self.files(&format!("{folder}/{name}"));
                files.extend(
                    below.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)),
                );
            } else {
                files.insert(name, fs::read(&path).unwrap());
            }
        }
        files
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).expect("JSON")
    }

    /// A CSV file without quoted fields: its column names and its rows.
    pub(crate) fn csv(&self, file: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let text = self.text(file);
        let mut lines =
            text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        (lines.next().expect("a header"), lines.collect())
    }
}

fn collect(root: &Path, folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        if path.is_dir() {
            collect(root, &path, all);
        }
    }
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().expect("the repository").join(path)
}

/// A file of the repository, as an argument.
pub(crate) fn repository_argument(path: &str) -> String {
    repository(path).to_str().expect("UTF-8").to_owned()
}
