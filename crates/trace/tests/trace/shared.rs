//! Recorded data of other programs.
//!
//! It is in `golden/ai` of the folder that `ROCELAB_SHARED` names, or of `shared` beside the repository. Without it, a test
//! says that it skips.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// A folder of the data, if it is there.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("ROCELAB_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("golden/ai").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} does not exist", folder.display());
    None
}

/// The files of a folder whose names end so, sorted.
pub(crate) fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("folder").map(|entry| entry.expect("entry").path());
    let mut files: Vec<_> = entries.filter(|path| name(path).ends_with(end)).collect();
    files.sort();
    files
}

pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("name")
}

pub(crate) fn json(path: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(path).expect("file")).expect("JSON")
}
