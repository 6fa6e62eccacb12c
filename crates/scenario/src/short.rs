//! Scenarios without what goes without saying.

use rocelab_fabric::TopologyConfig;
use toml::{Table, Value};

use crate::{Document, Scenario};

impl Scenario {
    /// A network without anything to do, in which every key has its default.
    pub fn of_network(topology: TopologyConfig) -> Self {
        Self {
            seed: crate::first_seed(),
            stop: None,
            integrity: false,
            labels: Default::default(),
            on_deadlock: None,
            profile: None,
            roce: Default::default(),
            host: Default::default(),
            infiniband: None,
            layer2: Default::default(),
            route: Vec::new(),
            topology,
            link: Vec::new(),
            server: Vec::new(),
            layer3: None,
            subnet: Vec::new(),
            multicast_group: Vec::new(),
            address: Vec::new(),
            switch: Default::default(),
            ingress: Default::default(),
            congestion_control: None,
            class: Default::default(),
            tcp: None,
            workload: Default::default(),
            faults: Vec::new(),
            failure: Vec::new(),
            convergence: Default::default(),
            watchdog: Default::default(),
            slow_receiver: Vec::new(),
            host_model: Vec::new(),
            monitoring: None,
            capture: None,
            measure: None,
            sample: Default::default(),
            document: Document::default(),
        }
    }

    /// The scenario as TOML that reads back as the same scenario, without keys of `[roce]`, `[layer2]` and
    /// `[switch]` that have their defaults.
    ///
    /// # Errors
    /// As [`Self::to_toml`].
    pub fn to_short_toml(&self) -> Result<String, toml::ser::Error> {
        let mut table = Table::try_from(self)?;
        if self.sample.is_default() {
            table.remove("sample");
        }
        let default = Table::try_from(Self::of_network(self.topology.clone()))?;
        for key in ["roce", "layer2", "switch"] {
            let (Some(Value::Table(own)), Some(Value::Table(usual))) =
                (table.get_mut(key), default.get(key))
            else {
                continue;
            };
            own.retain(|key, value| usual.get(key) != Some(value));
            if own.is_empty() {
                table.remove(key);
            }
        }
        toml::to_string_pretty(&table)
    }
}
