//! Code that the programs `golden`, `field-comparison` and `growth` share. `README.md` lists the
//! benches, and what each of them measures.

pub mod machine;
pub mod page;
pub mod percentile;
pub mod usage;

use std::path::Path;

/// The root of the repository.
pub fn repository() -> &'static Path {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    benches.parent().unwrap_or(benches)
}

/// The content of a file.
///
/// # Errors
/// If it cannot be read as text; the error names the file.
pub fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
