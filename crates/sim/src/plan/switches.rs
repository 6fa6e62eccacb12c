//! What each switch and port goes by: the parameters of all, and what some do otherwise.

use std::collections::BTreeMap;

use rocelab_fabric::{
    NodeId, PortExtras, Shapers, SwitchConfig, SwitchForwarding, Topology, Trust,
};
use rocelab_units::Duration;
use rocelab_wire::Encapsulation;

use super::{Plan, RocePlan, checks, ports};
use crate::scenario::{Fault, ensure};

/// Parameters of the switches and ports that differ from the others.
#[derive(Clone, Debug, Default)]
pub struct SwitchOverrides {
    configs: Vec<SwitchConfig>,
    of_switch: BTreeMap<NodeId, usize>,
    of_port: BTreeMap<(NodeId, u16), usize>,
}

impl SwitchOverrides {
    /// What a switch goes by, where all others go by `usual`.
    pub(super) fn of_switch<'a>(
        &'a self,
        switch: NodeId,
        usual: &'a SwitchConfig,
    ) -> &'a SwitchConfig {
        self.of_switch.get(&switch).map_or(usual, |&place| &self.configs[place])
    }
}

impl Plan {
    /// What a switch goes by.
    pub fn switch_at(&self, switch: NodeId) -> &SwitchConfig {
        self.switch_overrides.of_switch(switch, &self.switch)
    }

    /// What a port goes by, of a switch or of a host, which has the parameters of all switches.
    pub fn port_at(&self, node: NodeId, port: u16) -> &SwitchConfig {
        let place = self.switch_overrides.of_port.get(&(node, port));
        place.map_or_else(|| self.switch_at(node), |&place| &self.switch_overrides.configs[place])
    }

    /// The egress queue, 0 to 7, that frames of a priority wait in at a port.
    pub fn queue_of(&self, node: NodeId, port: u16, priority: u8) -> u8 {
        let mut named = self.port_at(node, port).queue_of.iter();
        let named = named.find(|(named, _)| named.number() == priority);
        named.map_or(priority, |(_, &queue)| queue)
    }

    /// The ports with parameters of their own, in the order of nodes.
    pub(crate) fn ports_of_their_own(&self) -> impl Iterator<Item = (NodeId, u16)> + '_ {
        self.switch_overrides.of_port.keys().copied()
    }

    /// Whether frames cut through a switch.
    pub fn cuts_through(&self, node: NodeId) -> bool {
        self.topology.is_switch(node)
            && self.switch_at(node).forwarding == SwitchForwarding::CutThrough
    }

    /// Time that a frame spends in a node before it is queued; none in a host.
    pub fn latency_of(&self, node: NodeId) -> Duration {
        if self.topology.is_switch(node) { self.switch_at(node).latency } else { Duration::ZERO }
    }

    /// What few ports have, of this one.
    pub(crate) fn port_extras(&self, node: NodeId, port: u16) -> Option<Box<PortExtras>> {
        let config = self.port_at(node, port);
        let is_switch = self.topology.is_switch(node);
        let extras = PortExtras {
            queue_of: (is_switch && !config.queue_of.is_empty()).then(|| queues(config)),
            shapers: if is_switch { Shapers::new(&config.shapers) } else { None },
            pause_response: config.pause_response,
            ..PortExtras::default()
        };
        let is_plain = extras.queue_of.is_none()
            && extras.shapers.is_none()
            && extras.pause_response == Duration::ZERO;
        (!is_plain).then(|| Box::new(extras))
    }

    /// The priority of the notifications of a port's congestion points, 0 to 7.
    pub(crate) fn cnm_priority(&self, switch: NodeId, port: u16) -> u8 {
        self.port_at(switch, port).qcn.as_ref().map_or(0, |qcn| qcn.cnm_priority)
    }

    /// The priorities (bit p) with which hosts send frames that a switch puts in a lossless one.
    pub(crate) fn lossless_as_sent(&self, switch: NodeId) -> u8 {
        let lossless = &self.switch_at(switch).lossless;
        let classes = (0u8..).zip(self.priorities_in(switch));
        let sent = classes.filter(|(_, class)| lossless.contains(class));
        sent.fold(0, |mask, (sent, _)| mask | 1 << sent)
    }

    /// In a switch: the priority of frames of each priority, by the field that it trusts.
    pub(crate) fn priorities_in(&self, switch: NodeId) -> [u8; 8] {
        let config = self.switch_at(switch);
        std::array::from_fn(|sent| {
            let [sent, ..] = sent.to_le_bytes();
            match code_point(config.trust, &self.roce, sent) {
                None => config.default_priority,
                Some((code, usual)) => {
                    config.priority_of.get(&code.to_string()).copied().unwrap_or(usual)
                }
            }
        })
    }
}

/// What a frame of a priority has in the trusted field, and the priority that this usually means.
fn code_point(trust: Trust, roce: &RocePlan, sent: u8) -> Option<(u8, u8)> {
    let is_v1 = roce.encapsulation == Encapsulation::V1;
    let traffic_class = (sent << 5, sent);
    match trust {
        Trust::Auto => Some((sent, sent)),
        Trust::Pcp => roce.tagged.then_some((sent, sent)),
        Trust::Dscp => (!is_v1).then_some((sent << 3, sent)),
        Trust::TrafficClass => is_v1.then_some(traffic_class),
    }
}

/// The egress queue of each priority.
pub(crate) fn queues(config: &SwitchConfig) -> [u8; 8] {
    let mut queues = [0, 1, 2, 3, 4, 5, 6, 7];
    for (priority, &queue) in &config.queue_of {
        queues[usize::from(priority.number())] = queue;
    }
    queues
}

/// Finds and checks what single switches and ports do otherwise.
pub(super) fn build(config: &SwitchConfig, topology: &Topology) -> Result<SwitchOverrides, Fault> {
    let mut overrides = SwitchOverrides::default();
    let base = SwitchConfig { overrides: Vec::new(), ..config.clone() };
    for (index, one) in config.overrides.iter().enumerate() {
        let section = format!("switch.override[{index}]");
        ensure(!one.switches.is_empty() || !one.ports.is_empty(), || {
            Fault::at(&section, "it names no switch and no port")
                .help("give `switches = [\"leaf-0\"]` or `ports = [\"leaf-0:3\"]`")
        })?;
        for switch in named_switches(&one.switches, topology)
            .map_err(|fault| fault.within(&format!("{section}.switches")))?
        {
            let before = overrides.of_switch.get(&switch);
            let mut changed = before.map_or(&base, |&place| &overrides.configs[place]).clone();
            one.apply(&mut changed);
            checks::check_switch(&changed).map_err(|fault| fault.moved("switch", &section))?;
            overrides.of_switch.insert(switch, overrides.configs.len());
            overrides.configs.push(changed);
        }
        if !one.ports.is_empty() {
            override_ports(&mut overrides, &base, one, &section, topology)?;
        }
    }
    Ok(overrides)
}

fn override_ports(
    overrides: &mut SwitchOverrides,
    base: &SwitchConfig,
    one: &rocelab_fabric::SwitchOverride,
    section: &str,
    topology: &Topology,
) -> Result<(), Fault> {
    if let Some(key) = one.key_of_whole_switch() {
        return Err(Fault::at(format!("{section}.{key}"), "a single port has no such parameter")
            .help("name `switches` in place of `ports`"));
    }
    for (node, port) in ports::named(&format!("{section}.ports"), &one.ports, topology)? {
        ensure(topology.is_switch(node), || {
            let name = &topology.nodes[node as usize].name;
            Fault::at(format!("{section}.ports"), format!("`{name}` is no switch"))
                .help("name ports of switches, such as \"leaf-0:3\"")
        })?;
        let place = overrides.of_port.get(&(node, port)).or(overrides.of_switch.get(&node));
        let mut changed = place.map_or(base, |&place| &overrides.configs[place]).clone();
        one.apply(&mut changed);
        checks::check_switch(&changed).map_err(|fault| fault.moved("switch", section))?;
        overrides.of_port.insert((node, port), overrides.configs.len());
        overrides.configs.push(changed);
    }
    Ok(())
}

/// Switches by name, or ranges of them, both ends included.
pub(super) fn named_switches(texts: &[String], topology: &Topology) -> Result<Vec<NodeId>, Fault> {
    let one = |name: &str, place: &str| {
        let found = topology.node_by_name(name.trim()).filter(|&node| topology.is_switch(node));
        found.ok_or_else(|| {
            let nodes = topology.switches().map(|id| topology.nodes[id as usize].clone()).collect();
            let switches = Topology { nodes, links: Vec::new() }.describe_names();
            Fault::at(place, format!("there is no switch `{}`", name.trim()))
                .help(format!("the switches are {switches}"))
        })
    };
    let mut switches = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let place = format!("[{index}]");
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let (first, last) = (one(first, &place)?, one(last, &place)?);
        ensure(first <= last, || {
            Fault::at(&place, "the range ends before it begins")
                .help("write the lower switch first")
        })?;
        switches.extend(topology.switches().filter(|switch| (first..=last).contains(switch)));
    }
    Ok(switches)
}
