//! The files that a scenario names.

use std::path::PathBuf;

use rocelab_fabric::TopologyConfig;
use rocelab_transport::Algorithm;

use super::Scenario;

impl Scenario {
    /// The files that the scenario names: flow lists, distributions, traces, topologies, forwarding tables, modules. A copy of the
    /// scenario needs copies of them at the same relative paths.
    pub fn input_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = self.input_keys().into_iter().map(|(_, file)| file).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The same, each with the key that names it.
    pub fn input_keys(&self) -> Vec<(String, PathBuf)> {
        let mut files = self.workload.files(self.folder());
        files.extend(self.modules());
        files.extend(self.topology_file().map(|file| ("topology.file.path".to_owned(), file)));
        let tables = self.infiniband.as_ref().and_then(|own| own.sm.lfts.clone());
        files.extend(tables.map(|file| ("infiniband.sm.lfts".to_owned(), file)));
        let levels = self.infiniband.as_ref().and_then(|own| own.sm.sl_file.clone());
        files.extend(levels.map(|file| ("infiniband.sm.sl_file".to_owned(), file)));
        files
    }

    /// The modules of congestion controls that users wrote.
    fn modules(&self) -> Vec<(String, PathBuf)> {
        let of_all = self.congestion_control.iter().map(|one| (String::new(), one));
        let of_classes = self.class.iter().filter_map(|(priority, class)| {
            let key = format!("class.{}.", priority.number());
            Some((key, class.congestion_control.as_ref()?))
        });
        let items = self.workload.items();
        let of_workloads = items.iter().filter_map(|(name, kind)| {
            Some((format!("{name}."), kind.description().congestion_control()?))
        });
        let all = of_all.chain(of_classes).chain(of_workloads);
        let module = |(at, algorithm): (String, &Algorithm)| match algorithm {
            Algorithm::Wasm(parameters) => {
                Some((format!("{at}congestion_control.wasm.path"), parameters.path.clone()))
            }
            _ => None,
        };
        all.filter_map(module).collect()
    }

    /// The file that the topology is read from, as the scenario names it.
    fn topology_file(&self) -> Option<PathBuf> {
        match &self.topology {
            TopologyConfig::File(parameters) => Some(parameters.path.clone()),
            _ => None,
        }
    }
}
