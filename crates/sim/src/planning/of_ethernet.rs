//! What a scenario of InfiniBand must not say: it is of Ethernet, IP, or stacks that InfiniBand does not have.

use serde::Serialize;

use super::tcp;
use crate::scenario::{
    FailureKind, Fault, FaultPattern, FaultVerb, HostConfig, Layer2Config, RoceConfig, Sampling,
    Scenario, ensure,
};
use rocelab_fabric::{IngressConfig, LinkFlowControl, SwitchConfig};

fn refuse(is_there: bool, key: &str, why: &str) -> Result<(), Fault> {
    ensure(!is_there, || Fault::at(key, why).help("leave it out, or leave out `[infiniband]`"))
}

/// Refuses what Ethernet has and InfiniBand does not, or what is not simulated of it.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let storms = scenario.failure.iter().position(|one| one.kind == FailureKind::PauseStorm);
    let storm = format!("failure[{}].kind", storms.unwrap_or(0));
    refuse(scenario.profile.is_some(), "profile", "other simulators have no InfiniBand")?;
    refuse(scenario.layer3.is_some(), "layer3", "a subnet of InfiniBand has no IP routers")?;
    refuse(!scenario.route.is_empty(), "route", "the subnet manager makes all routes")?;
    let of_ethernet = other_key_of_switches(&scenario.switch);
    let key = format!("switch.{}", of_ethernet.as_deref().unwrap_or_default());
    refuse(
        of_ethernet.is_some(),
        &key,
        "it is of Ethernet: switches of InfiniBand have `latency` and `forwarding`",
    )?;
    let asks_for_memory = matches!(&scenario.sample, Sampling::Of(of) if of.ingress.is_some());
    refuse(asks_for_memory, "sample.ingress", "ports of InfiniBand switches share no memory")?;
    check_frames(scenario)?;
    check_faults(scenario)?;
    refuse(tcp::is_used(scenario), "workload", "TCP over InfiniBand is not simulated")?;
    refuse(
        scenario.host != HostConfig::default(),
        "host",
        "channel adapters share their ports by the arbitration of lanes, and have no other stacks",
    )?;
    refuse(
        !scenario.slow_receiver.is_empty(),
        "slow_receiver",
        "slow receivers work by pauses, which InfiniBand does not have",
    )?;
    refuse(storms.is_some(), &storm, "InfiniBand has no pauses")?;
    let disorder = |one: &FaultVerb| matches!(one, FaultVerb::Duplicate | FaultVerb::Reorder);
    let disorderly = scenario.faults.iter().position(|one| disorder(&one.action));
    let action = format!("faults[{}].action", disorderly.unwrap_or(0));
    refuse(disorderly.is_some(), &action, "links count blocks, and keep packets in order")?;
    refuse(scenario.watchdog.switch.is_some(), "watchdog.switch", "InfiniBand has no pauses")?;
    refuse(scenario.watchdog.nic.is_some(), "watchdog.nic", "InfiniBand has no pauses")?;
    refuse(
        !scenario.multicast_group.is_empty(),
        "multicast_group",
        "multicast is not simulated on InfiniBand",
    )?;
    refuse(
        scenario.capture.as_ref().is_some_and(|capture| capture.fcs),
        "capture.fcs",
        "packets of InfiniBand have a VCRC, which is always captured, and no FCS",
    )
}

/// How frames of Ethernet look, and who is told what of them.
fn check_frames(scenario: &Scenario) -> Result<(), Fault> {
    const OF_FRAMES: [&str; 7] =
        ["v1_hosts", "ip", "tagging", "gid_index", "cnp_marking", "neighbours", "path_entropy"];
    let usual = RoceConfig::default();
    let of_frames = other_key(&scenario.roce, &usual, |key| OF_FRAMES.contains(&key));
    let key = format!("roce.{}", of_frames.as_deref().unwrap_or_default());
    refuse(of_frames.is_some(), &key, "packets of InfiniBand have an LRH, and no header of RoCE")?;
    refuse(
        scenario.roce.cnp_priority != usual.cnp_priority,
        "roce.cnp_priority",
        "a congestion notification packet of InfiniBand has the service level of its data",
    )?;
    let mut classes = scenario.class.iter();
    let marked = classes.find(|(_, class)| class.marking.is_some()).map(|(priority, _)| priority);
    let key = format!("class.{}.marking", marked.map_or(0, |priority| priority.number()));
    refuse(marked.is_some(), &key, "packets of InfiniBand have no code points")?;
    let limited = scenario.link.iter().position(|link| link.mtu.is_some());
    let key = format!("link[{}].mtu", limited.unwrap_or(0));
    refuse(limited.is_some(), &key, "it is of Ethernet frames; `roce.path_mtu` holds for packets")?;
    let is_bridge = scenario.layer2 != Layer2Config::default();
    refuse(
        is_bridge,
        "layer2",
        "switches of InfiniBand forward by the tables of a subnet manager",
    )?;
    let asks = scenario.ingress != IngressConfig::default();
    refuse(asks, "ingress", "ports of InfiniBand take what they gave credits for")?;
    refuse(!scenario.subnet.is_empty(), "subnet", "hosts have LIDs of the subnet manager")?;
    refuse(!scenario.address.is_empty(), "address", "hosts have LIDs of the subnet manager")?;
    refuse(scenario.tcp.is_some(), "tcp", "TCP over InfiniBand is not simulated")
}

/// Faults of frames that InfiniBand does not have.
fn check_faults(scenario: &Scenario) -> Result<(), Fault> {
    let by_header = |pattern: Option<FaultPattern>| pattern == Some(FaultPattern::IpIdentification);
    let found = scenario.faults.iter().position(|one| by_header(one.pattern));
    let key = format!("faults[{}].pattern", found.unwrap_or(0));
    refuse(found.is_some(), &key, "packets of InfiniBand have no IP header")?;
    for (index, fault) in scenario.faults.iter().enumerate() {
        let pauses: Vec<_> = LinkFlowControl::PAUSES.iter().map(|one| one.frame_name()).collect();
        let is_pause = |name: &&String| pauses.iter().any(|one| one.eq_ignore_ascii_case(name));
        let named = fault.opcode.as_ref().and_then(|names| names.0.iter().find(is_pause));
        ensure(named.is_none(), || {
            let key = format!("faults[{index}].opcode");
            Fault::at(key, "links of InfiniBand have no pause frames")
                .help("use `flow-control`, or leave out the rule")
        })?;
        let mut names = fault.opcode.iter().flat_map(|names| &names.0);
        ensure(!names.any(|name| name.trim().eq_ignore_ascii_case("cnp")), || {
            let key = format!("faults[{index}].opcode");
            Fault::at(key, "congestion notification packets of InfiniBand are not those of RoCE")
                .value("CNP")
                .help("use `CN`")
        })?;
    }
    Ok(())
}

/// A key of `[switch]` that says something, and has no meaning on InfiniBand.
fn other_key_of_switches(switch: &SwitchConfig) -> Option<String> {
    const KEPT: [&str; 2] = ["latency", "forwarding"];
    other_key(switch, &SwitchConfig::default(), |key| !KEPT.contains(&key))
}

/// A key of a section whose value is not the `usual` one, of those that are `meant`.
fn other_key<T: Serialize>(
    section: &T,
    usual: &T,
    is_meant: impl Fn(&str) -> bool,
) -> Option<String> {
    let [own, usual] = [section, usual].map(|one| toml::Table::try_from(one).unwrap_or_default());
    let mut others = own.iter().filter(|(key, value)| usual.get(*key) != Some(*value));
    others.find(|(key, _)| is_meant(key)).map(|(key, _)| key.clone())
}
