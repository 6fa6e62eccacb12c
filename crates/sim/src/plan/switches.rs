//! What single switches and ports do otherwise than all.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, SwitchConfig};

/// Parameters of the switches and ports that differ from the others.
#[derive(Clone, Debug, Default)]
pub struct SwitchOverrides {
    configs: Vec<SwitchConfig>,
    of_switch: BTreeMap<NodeId, usize>,
    of_port: BTreeMap<(NodeId, u16), usize>,
}

impl SwitchOverrides {
    /// What a switch goes by, where all others go by `usual`.
    pub(crate) fn of_switch<'a>(
        &'a self,
        switch: NodeId,
        usual: &'a SwitchConfig,
    ) -> &'a SwitchConfig {
        self.of_switch.get(&switch).map_or(usual, |&place| &self.configs[place])
    }

    /// What a port goes by, where all other nodes and ports go by `usual`.
    pub(crate) fn of_port<'a>(
        &'a self,
        (node, port): (NodeId, u16),
        usual: &'a SwitchConfig,
    ) -> &'a SwitchConfig {
        let place = self.of_port.get(&(node, port));
        place.map_or_else(|| self.of_switch(node, usual), |&place| &self.configs[place])
    }

    /// The ports with parameters of their own, in the order of nodes.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (NodeId, u16)> + '_ {
        self.of_port.keys().copied()
    }

    /// Has a switch go by this.
    pub(crate) fn set_switch(&mut self, switch: NodeId, config: SwitchConfig) {
        self.of_switch.insert(switch, self.configs.len());
        self.configs.push(config);
    }

    /// Has a port go by this.
    pub(crate) fn set_port(&mut self, port: (NodeId, u16), config: SwitchConfig) {
        self.of_port.insert(port, self.configs.len());
        self.configs.push(config);
    }
}
