//! The crates and their dependencies are those that `ARCHITECTURE.md` describes.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use crate::program::repository;

/// For the program and each crate of `crates/`, the others that it may use, and does use.
const ALLOWED: [(&str, &[&str]); 21] = [
    ("rocelab", &["cli"]),
    (
        "rocelab-cli",
        &[
            "capture",
            "fabric",
            "ns3-rdma",
            "report",
            "results",
            "serve",
            "sim",
            "subnet",
            "sweep",
            "trace",
            "transport",
            "units",
            "wasm",
        ],
    ),
    ("rocelab-capture", &["units", "wire"]),
    ("rocelab-collective", &[]),
    ("rocelab-engine", &["state", "units"]),
    ("rocelab-fabric", &["state", "subnet", "units", "wire"]),
    ("rocelab-host", &["state", "units"]),
    ("rocelab-ns3-rdma", &["engine", "fabric", "units"]),
    ("rocelab-report", &["results", "units"]),
    ("rocelab-results", &["units"]),
    ("rocelab-scenario", &["fabric", "state", "transport", "units", "wire"]),
    ("rocelab-serve", &["report", "results"]),
    (
        "rocelab-sim",
        &[
            "capture",
            "collective",
            "engine",
            "fabric",
            "host",
            "results",
            "scenario",
            "state",
            "subnet",
            "transport",
            "units",
            "wasm",
            "wire",
        ],
    ),
    ("rocelab-state", &[]),
    ("rocelab-subnet", &[]),
    ("rocelab-sweep", &["engine", "fabric", "results", "scenario", "sim"]),
    ("rocelab-trace", &["state", "units"]),
    ("rocelab-transport", &["collective", "host", "state", "trace", "units", "wire"]),
    ("rocelab-units", &[]),
    ("rocelab-wasm", &["state", "transport", "units"]),
    ("rocelab-wire", &[]),
];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(repository("Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo metadata")
}

#[test]
fn crates_use_each_other_as_the_architecture_allows() {
    let metadata = metadata();
    let crates = repository("crates");
    let mut edges = BTreeMap::new();
    for package in metadata.workspace_packages() {
        // Benches are not in `crates/`: they measure the crates from outside.
        let is_crate = package.manifest_path.starts_with(crates.to_str().expect("UTF-8"));
        if !is_crate && package.name != "rocelab" {
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

/// What `cargo install --path .` installs.
#[test]
fn the_package_at_the_root_is_the_program() {
    let metadata = metadata();
    let root = metadata.root_package().expect("a package at the root");
    let programs: Vec<_> = root.targets.iter().filter(|target| target.is_bin()).collect();
    assert_eq!(programs.len(), 1, "{programs:?}");
    assert_eq!(programs[0].name, "rocelab");
}
