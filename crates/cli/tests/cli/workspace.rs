//! The crates and their dependencies are those that `ARCHITECTURE.md` describes.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::program::repository;

/// For each crate of `crates/`, the others that it may use, and does use.
const ALLOWED: [(&str, &[&str]); 15] = [
    (
        "rocelab",
        &[
            "capture",
            "fabric",
            "ns3-rdma",
            "report",
            "results",
            "serve",
            "sim",
            "sweep",
            "transport",
            "units",
        ],
    ),
    ("rocelab-capture", &["units", "wire"]),
    ("rocelab-engine", &["state", "units"]),
    ("rocelab-fabric", &["state", "units", "wire"]),
    ("rocelab-ns3-rdma", &["engine", "fabric", "units"]),
    ("rocelab-report", &["results", "units"]),
    ("rocelab-results", &["units"]),
    ("rocelab-scenario", &["fabric", "state", "transport", "units", "wire"]),
    ("rocelab-serve", &["report", "results"]),
    (
        "rocelab-sim",
        &[
            "capture",
            "engine",
            "fabric",
            "results",
            "scenario",
            "state",
            "transport",
            "units",
            "wire",
        ],
    ),
    ("rocelab-state", &[]),
    ("rocelab-sweep", &["engine", "fabric", "results", "scenario", "sim"]),
    ("rocelab-transport", &["state", "units", "wire"]),
    ("rocelab-units", &[]),
    ("rocelab-wire", &[]),
];

#[test]
fn crates_use_each_other_as_the_architecture_allows() {
    let metadata = MetadataCommand::new()
        .manifest_path(repository("Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo metadata");
    let crates = repository("crates");
    let mut edges = BTreeMap::new();
    for package in metadata.workspace_packages() {
        // Benches are not in `crates/`: they measure the crates from outside.
        if !package.manifest_path.starts_with(crates.to_str().expect("UTF-8")) {
            continue;
        }
        let normal = package.dependencies.iter().filter(|one| one.kind == DependencyKind::Normal);
        let ours = normal.filter_map(|one| one.name.strip_prefix("rocelab-"));
        let ours: BTreeSet<_> = ours.map(str::to_owned).collect();
        edges.insert(package.name.to_string(), ours);
    }
    let allowed: BTreeMap<_, BTreeSet<_>> = ALLOWED
        .iter()
        .map(|(name, uses)| ((*name).to_owned(), uses.iter().map(|one| (*one).into()).collect()))
        .collect();
    assert_eq!(edges, allowed);
}
