//! Files that commands read. Nothing that a command writes may replace or remove one of them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rocelab_sim::Scenario;

use crate::failure::Failure;

/// What the user can do if a command with `--out` would remove a file that it reads.
pub(crate) const COPY_OR_OUT: &str = "copy it elsewhere, or name another directory with --out";

/// Files that a command reads.
#[derive(Default)]
pub(crate) struct Inputs<'a>(Vec<Input<'a>>);

struct Input<'a> {
    path: PathBuf,
    /// Its description for the user.
    what: String,
    /// The scenario and the key that name it, if it is named by one.
    named_by: Option<(&'a Scenario, String)>,
}

impl<'a> Inputs<'a> {
    /// A single file.
    pub(crate) fn file(path: &Path, what: &str) -> Self {
        Self(vec![Input { path: path.to_owned(), what: what.to_owned(), named_by: None }])
    }

    /// A scenario and the files that it names.
    pub(crate) fn of_scenario(scenario: &'a Scenario) -> Self {
        let mut inputs = Self::file(scenario.file(), "the scenario itself");
        for (key, file) in scenario.input_keys() {
            let what = format!("the file of {key} in {}", scenario.file().display());
            let path = scenario.folder().join(file);
            inputs.0.push(Input { path, what, named_by: Some((scenario, key)) });
        }
        inputs
    }

    /// The files of a results directory, except pages that were drawn from it.
    pub(crate) fn of_results(directory: &Path) -> Self {
        let mut files = Vec::new();
        collect(directory, &mut files);
        let is_page = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "html");
        files.retain(|file| !is_page(file));
        let what = format!("a file of the results in {}", directory.display());
        let input = |path| Input { path, what: what.clone(), named_by: None };
        Self(files.into_iter().map(input).collect())
    }

    /// These files and others.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Refuses to overwrite one of them with the file at `path`, which the user named by `option`.
    pub(crate) fn refuse_writing(&self, option: &str, path: &Path) -> Result<(), Failure> {
        let Some(input) = self.0.iter().find(|input| is_same_file(&input.path, path)) else {
            return Ok(());
        };
        let shown = path.display();
        Err(Failure::Input(format!(
            "{option} = {shown}: is {}, which would be lost; name another file",
            input.what
        )))
    }

    /// Refuses to remove `folders` if one of these files is in them. The results go to `directory`;
    /// `fix` says what the user can do.
    pub(crate) fn refuse_removing(
        &self,
        folders: &[PathBuf],
        directory: &Path,
        fix: &str,
    ) -> Result<(), Failure> {
        let folders: Vec<_> =
            folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        for input in &self.0 {
            let places = places_of(&input.path);
            let is_within = |folder: &&PathBuf| {
                places.iter().any(|place| place.starts_with(folder) && place != *folder)
            };
            if let Some(folder) = folders.iter().find(is_within) {
                return Err(input.within(folder, directory, fix));
            }
        }
        Ok(())
    }
}

impl Input<'_> {
    /// The error: the file is in a folder that results at `directory` would remove.
    fn within(&self, folder: &Path, directory: &Path, fix: &str) -> Failure {
        let problem = format!(
            "is in {}, which results in {} would remove",
            folder.display(),
            crate::run::shown(directory).display()
        );
        match &self.named_by {
            Some((scenario, key)) => scenario.error_at(key, problem, fix.to_owned()).into(),
            None => Failure::Input(format!("{}: {problem}; {fix}", self.path.display())),
        }
    }
}

/// All files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}

/// Whether two paths lead to the same file, also by links and other spellings.
#[cfg(unix)]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((id(one), id(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether two paths lead to the same file, also by symbolic links and other spellings.
#[cfg(not(unix))]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The places on a path: every symbolic link on it, and its target. The file is lost if any of them
/// is removed.
fn places_of(path: &Path) -> Vec<PathBuf> {
    /// More links than operating systems follow.
    const MOST_LINKS: usize = 64;
    let Ok(absolute) = std::path::absolute(path) else { return Vec::new() };
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect();
    let mut rest: VecDeque<OsString> = parts(&absolute);
    let (mut here, mut places) = (PathBuf::new(), Vec::new());
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        match fs::read_link(&next) {
            Ok(target) if places.len() < MOST_LINKS => {
                places.push(next);
                let target: VecDeque<OsString> = parts(&target);
                for part in target.into_iter().rev() {
                    rest.push_front(part);
                }
            }
            _ => here = next,
        }
    }
    places.push(here);
    places
}
