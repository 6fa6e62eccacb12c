//! The table of fields in the documentation is complete. Rustdoc checks that its links are valid.

use std::fs;
use std::path::{Path, PathBuf};

/// Files whose types contain whole headers, not fields, or say how a header is written or counts.
const CONTAINERS: [&str; 7] = [
    "src/ext/telemetry",
    "src/frame",
    "src/icrc.rs",
    "src/infiniband.rs",
    "src/roce_frame.rs",
    "src/transport_packet.rs",
    "src/error.rs",
];

#[test]
fn the_table_has_every_public_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("docs/fields.md")).expect("the table");
    let mut fields = Vec::new();
    for path in sources(&root.join("src")) {
        if CONTAINERS.iter().all(|container| !path.starts_with(root.join(container))) {
            fields.extend(public_fields(&fs::read_to_string(path).expect("a readable file")));
        }
    }
    assert!(fields.len() > 150, "{}", fields.len());
    let missing: Vec<_> =
        fields.iter().filter(|field| !table.contains(&format!("::{field})"))).collect();
    assert!(missing.is_empty(), "not in docs/fields.md: {missing:?}");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Each public field of a public struct, as `Struct::field`.
fn public_fields(source: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut current = None;
    for line in source.lines() {
        let braced = line.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {"));
        if let Some(name) = braced {
            current = name.split('<').next();
        } else if line == "}" {
            current = None;
        }
        let name = line.strip_prefix("    pub ").and_then(|rest| rest.split_once(": "));
        if let (Some(header), Some((field, _))) = (current, name) {
            fields.push(format!("{header}::{field}"));
        }
    }
    fields
}
