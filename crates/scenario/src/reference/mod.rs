//! Configurations of HPCC's ns-3 simulator (Li et al., SIGCOMM 2019).
//!
//! A `config.txt` becomes a [`Scenario`] with `[profile.hpcc-ns3]`, as TOML that could have been
//! written by hand: to run one and to convert it first is the same. Words that the simulator would
//! skip are errors here; what it reads and does not use is told in notes.

mod algorithm;
mod entries;
mod explanation;
mod keys;
mod notes;
mod paths;
mod settings;
mod values;
mod words;

use std::path::{Path, PathBuf};

pub use algorithm::default as default_algorithm;
pub use keys::{FCT_FILE, PFC_FILE, QUEUE_FILE};
pub use values::fraction_of;

use self::entries::Entries;
use crate::{Origin, Scenario, ScenarioError};

/// A scenario, and what is to be said about how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario.
    pub scenario: Scenario,
    /// What the file says to no effect, a sentence each. None of a TOML file.
    pub notes: Vec<String>,
    /// The files that a configuration names, found from where the program runs, whether they are
    /// read, would be written there, or change nothing. Empty of a TOML file, whose files are
    /// [`Scenario::input_files`].
    pub files: Vec<PathBuf>,
}

/// Whether the file at `path` is a configuration of HPCC's simulator, by its ending `.txt`.
pub fn is_config(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "txt")
}

/// Reads the file at `path`, a TOML scenario or a [configuration](is_config) of HPCC's simulator,
/// after setting each key of `overrides` as [`Scenario::load`] does: the keys are those of the
/// scenario in both cases.
///
/// # Errors
/// As [`Scenario::load`]; for a configuration, also words that are no key of it, and values that
/// cannot be.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Loaded, ScenarioError> {
    if !is_config(path) {
        return Ok(Loaded {
            scenario: Scenario::load(path, overrides)?,
            notes: Vec::new(),
            files: Vec::new(),
        });
    }
    let text =
        rocelab_fabric::read_text(path).map_err(|error| ScenarioError::unreadable(path, &error))?;
    parse_config(&text, path, overrides)
}

/// Like [`load`], of the `text` of a configuration that stands (or could stand) at `path`.
///
/// # Errors
/// As [`load`].
pub fn parse_config(
    text: &str,
    path: &Path,
    overrides: &[(String, String)],
) -> Result<Loaded, ScenarioError> {
    let entries = Entries::read(text, path)?;
    let (scenario, places) = settings::scenario(&entries)?;
    let toml = scenario.to_toml().map_err(|error| entries.unwritable(&error))?;
    let origin = Origin {
        file: path.into(),
        text: text.into(),
        name: name_of(path),
        places,
        explain: explanation::of,
    };
    Ok(Loaded {
        scenario: Scenario::parse_made_of(origin, &toml, overrides)?,
        notes: notes::of(&entries),
        files: paths::named(&entries),
    })
}

/// The name of the folder that holds a `config.txt`, which itself says nothing.
fn name_of(path: &Path) -> Option<String> {
    if path.file_name()? != "config.txt" {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder: PathBuf = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}
