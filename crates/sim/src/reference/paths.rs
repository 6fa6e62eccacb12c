//! Where the files are that a configuration names.

use std::path::{Component, Path, PathBuf};

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
