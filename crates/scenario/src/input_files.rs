//! The files that a scenario names.

use std::path::PathBuf;

use rocelab_fabric::TopologyConfig;

use super::Scenario;

impl Scenario {
    /// The files that the scenario names: flow lists, distributions, topologies. A copy of the
    /// scenario needs copies of them at the same relative paths.
    pub fn input_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = self.input_keys().into_iter().map(|(_, file)| file).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The same, each with the key that names it.
    pub fn input_keys(&self) -> Vec<(String, PathBuf)> {
        let mut files = self.workload.files();
        files.extend(self.topology_file().map(|file| ("topology.file.path".to_owned(), file)));
        files
    }

    /// The file that the topology is read from, as the scenario names it.
    fn topology_file(&self) -> Option<PathBuf> {
        match &self.topology {
            TopologyConfig::File(parameters) => Some(parameters.path.clone()),
            _ => None,
        }
    }
}
