//! The runs below a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rocelab_report::ScenarioSetting;
use rocelab_results::{GrowingResults, POINT_TXT, Results};

/// How deep results may lie in the folder. Sweeps in folders of projects are five deep or less.
const DEPTH: usize = 8;

/// The most runs of one comparison: all their flows are in memory at once.
pub(crate) const COMPARED: usize = 500;

/// A folder of results. What is reached in it is found by walking through it: a name that a browser
/// sends is only ever compared with names that were found, so that it cannot lead elsewhere.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    settings: SettingsOf,
}

/// Reads what the scenario of a results directory says, for its page; nothing if it cannot be read.
pub type SettingsOf = fn(&Path) -> Vec<ScenarioSetting>;

/// A run that is complete.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Its path in the folder, with `/` between the parts.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// What there is in the folder, by name.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) runs: Vec<Run>,
    /// Runs that are not complete, each with its path in the folder.
    pub(crate) growing: Vec<(String, GrowingResults)>,
}

impl Folder {
    /// The folder at `path`.
    ///
    /// # Errors If it is no folder, or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        fs::read_dir(&root)?;
        Ok(Self { root, settings: |_| Vec::new() })
    }

    /// The same, whose pages show scenarios.
    #[must_use]
    pub fn with_settings(self, settings: SettingsOf) -> Self {
        Self { settings, ..self }
    }

    /// What the scenario of a run says.
    pub(crate) fn settings(&self, run: &Run) -> Vec<ScenarioSetting> {
        (self.settings)(&run.path)
    }

    /// All runs in it. Links are not followed, and folders that cannot be read are left out.
    pub(crate) fn content(&self) -> Content {
        let mut content = Content::default();
        // The folder may be that of a single run.
        let own = self.root.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = if is_run(&self.root) { own.unwrap_or_default() } else { String::new() };
        walk(&self.root, &name, DEPTH, &mut content);
        content.runs.sort_by_cached_key(|run| parts(&run.name));
        content.growing.sort_by_cached_key(|(name, _)| parts(name));
        content
    }

    /// The run of this name; `None` if there is none.
    pub(crate) fn run(&self, name: &str) -> Option<Run> {
        self.content().runs.into_iter().find(|run| run.name == name)
    }
}

/// Names in the order in which people count: `points/9` is before `points/10`.
fn parts(name: &str) -> Vec<(usize, String)> {
    name.split('/').map(|part| (part.parse().unwrap_or(usize::MAX), part.to_owned())).collect()
}

fn walk(folder: &Path, name: &str, depth: usize, content: &mut Content) {
    if is_run(folder) {
        if is_plain(folder) {
            content.runs.push(Run { name: name.to_owned(), path: folder.to_owned() });
        }
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // `file_type` does not follow links.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(part) = entry.file_name().into_string() else { continue };
        let below = |part: &str| match name {
            "" => part.to_owned(),
            _ => format!("{name}/{part}"),
        };
        if let Some(growing) = GrowingResults::at(&entry.path()) {
            content.growing.push((below(&growing.name), growing));
        } else if !part.starts_with('.') && depth > 0 {
            walk(&entry.path(), &below(&part), depth - 1, content);
        }
    }
}

fn is_run(folder: &Path) -> bool {
    ["summary.json", "run.json"].iter().all(|file| folder.join(file).is_file())
}

/// Whether a folder and those in it have nothing but files and folders. Links could show files from
/// elsewhere, and whoever reads a FIFO or a device waits for as long as nobody writes.
fn is_plain(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => is_plain(&entry.path()),
        Ok(kind) => kind.is_file(),
        Err(_) => false,
    })
}

impl Content {
    /// The points of the sweep whose folder has this name, in their order.
    pub(crate) fn points_of<'c>(&'c self, sweep: &'c str) -> impl Iterator<Item = &'c Run> {
        self.runs.iter().filter(move |run| run.sweep() == Some(sweep))
    }
}

impl Run {
    /// The name of the folder of the sweep that the run may be a point of; empty if that is the folder
    /// that is served.
    pub(crate) fn sweep(&self) -> Option<&str> {
        let (folder, number) = self.name.rsplit_once('/')?;
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
        let sweep = match folder {
            "points" => Some(""),
            _ => folder.strip_suffix("/points"),
        };
        sweep.filter(|_| is_number && self.path.join(POINT_TXT).is_file())
    }

    /// Its results.
    ///
    /// # Errors In words, if they cannot be read.
    pub(crate) fn results(&self) -> Result<Results, String> {
        Results::open(&self.path).map_err(|error| error.to_string())
    }
}
