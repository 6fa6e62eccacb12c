//! Where the files are that a configuration names.

use std::path::{Component, Path, PathBuf};

use super::entries::Entries;

/// The keys that name files.
const FILES: [&str; 7] = [
    "TOPOLOGY_FILE",
    "FLOW_FILE",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_FILE",
];

/// Every file that a configuration names, from where the program runs.
pub(super) fn named(entries: &Entries) -> Vec<PathBuf> {
    let folder = entries.file.parent().unwrap_or(Path::new(""));
    let files = FILES.iter().filter_map(|key| entries.text(key));
    files.map(|named| folder.join(found(&entries.file, named))).collect()
}

/// The file that the configuration at `config` calls `named`, relative to the configuration's
/// folder.
///
/// HPCC's simulator takes paths from where it is started, which by its instructions is one folder
/// above the configuration, as in `mix/config.txt` with `TOPOLOGY_FILE mix/topology.txt`. A file
/// that is not in the configuration's folder is therefore looked for there.
pub(super) fn found(config: &Path, named: &str) -> PathBuf {
    let named = PathBuf::from(named);
    let folder = config.parent().unwrap_or(Path::new(""));
    if named.is_absolute() || folder.join(&named).exists() {
        return named;
    }
    below(folder, &named)
        .filter(|path| folder.join(path).exists())
        .or_else(|| Some(Path::new("..").join(&named)).filter(|path| folder.join(path).exists()))
        .unwrap_or(named)
}

/// `named` without its first folder, if that is `folder` itself.
fn below(folder: &Path, named: &Path) -> Option<PathBuf> {
    let here = std::fs::canonicalize(Path::new(".").join(folder)).ok()?;
    let mut parts = named.components();
    let first = parts.find(|part| *part != Component::CurDir)?;
    (first == Component::Normal(here.file_name()?)).then(|| parts.as_path().to_owned())
}
