//! What single switches and ports do otherwise than all, found and checked.

use rocelab_fabric::topology::{NodeSelector, matches_pattern};
use rocelab_fabric::{NodeId, SwitchConfig, Topology};

use super::{checks, ports};
use crate::plan::SwitchOverrides;
use crate::scenario::{Fault, ensure};

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
            let mut changed = overrides.of_switch(switch, &base).clone();
            one.apply(&mut changed);
            checks::check_switch(&changed).map_err(|fault| fault.moved("switch", &section))?;
            overrides.set_switch(switch, changed);
        }
        if !one.ports.is_empty() {
            override_ports(&mut overrides, &base, one, &section, topology)?;
        }
    }
    check_link_ends(&overrides, &base, config, topology)?;
    Ok(overrides)
}

/// Both ends of a link have the same flow control. Hosts have that of their switch.
fn check_link_ends(
    overrides: &SwitchOverrides,
    base: &SwitchConfig,
    config: &SwitchConfig,
    topology: &Topology,
) -> Result<(), Fault> {
    let sets = |one: &rocelab_fabric::SwitchOverride| one.flow_control.is_some();
    let Some(last) = config.overrides.iter().rposition(sets) else { return Ok(()) };
    let adjacency = topology.adjacency();
    for switch in topology.switches() {
        for (number, far) in (0u16..).zip(adjacency.ports_of(switch)) {
            if !topology.is_switch(far.node) {
                continue;
            }
            let far_number = adjacency.port_of_link(far.node, far.link).unwrap_or(0);
            let far_number = u16::try_from(far_number).unwrap_or(u16::MAX);
            let of = |port| overrides.of_port(port, base).flow_control;
            let (here, there) = (of((switch, number)), of((far.node, far_number)));
            ensure(here == there, || {
                let name = |node: NodeId| &topology.nodes[node as usize].name;
                let ends = [(switch, number), (far.node, far_number)]
                    .map(|(node, port)| format!("{}:{port}", name(node)));
                let [one, other] = &ends;
                let (this, that) = (here.name(), there.name());
                Fault::at(
                    format!("switch.override[{last}].flow_control"),
                    format!("the ends of a link differ: `{one}` has \"{this}\", `{other}` has \"{that}\""),
                )
                .help(format!("name both of its ports: `ports = [\"{one}\", \"{other}\"]`"))
            })?;
        }
    }
    Ok(())
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
    for (node, port) in ports::of_switches(&format!("{section}.ports"), &one.ports, topology)? {
        let mut changed = overrides.of_port((node, port), base).clone();
        one.apply(&mut changed);
        checks::check_switch(&changed).map_err(|fault| fault.moved("switch", section))?;
        overrides.set_port((node, port), changed);
    }
    Ok(())
}

/// Switches by texts of [`NodeSelector`], in their order.
pub(super) fn named_switches(texts: &[String], topology: &Topology) -> Result<Vec<NodeId>, Fault> {
    let one = |name: &str, place: &str| {
        let found = topology.node_by_name(name.trim()).filter(|&node| topology.is_switch(node));
        found.ok_or_else(|| missing(place, name.trim(), topology))
    };
    let mut switches = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let place = format!("[{index}]");
        match NodeSelector::new(text) {
            NodeSelector::All => switches.extend(topology.switches()),
            NodeSelector::One(name) => switches.push(one(name, &place)?),
            NodeSelector::Range(first, last) => {
                let (first, last) = (one(first, &place)?, one(last, &place)?);
                ensure(first <= last, || {
                    Fault::at(&place, "the range ends before it begins")
                        .help("write the lower switch first")
                })?;
                let inside = topology.switches().filter(|switch| (first..=last).contains(switch));
                switches.extend(inside);
            }
            NodeSelector::Like(pattern) => {
                let name = |switch: NodeId| &topology.nodes[switch as usize].name;
                let before = switches.len();
                switches.extend(
                    topology.switches().filter(|&node| matches_pattern(name(node), pattern)),
                );
                ensure(switches.len() > before, || missing(&place, pattern, topology))?;
            }
        }
    }
    Ok(switches)
}

/// No switch has a name, or one like a pattern.
fn missing(place: &str, name: &str, topology: &Topology) -> Fault {
    let nodes = topology.switches().map(|id| topology.nodes[id as usize].clone()).collect();
    let switches = Topology { nodes, ..Topology::default() }.describe_names();
    Fault::at(place, format!("there is no switch `{name}`"))
        .help(format!("the switches are {switches}"))
}
