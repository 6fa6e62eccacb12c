//! Refuses what the rules of HPCC's ns-3 simulator have no place for.

use rocelab_fabric::{IngressConfig, SwitchConfig};
use serde::Serialize;
use serde_json::Value;

use crate::scenario::{
    Fault, HostConfig, Layer2Config, RoceConfig, Scenario, WatchdogConfig, ensure,
};
use crate::workload;

/// The first key that says something, and means nothing. A key that says its default is let pass:
/// scenarios with every default written out have it.
pub(in crate::planning) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let switch = SwitchConfig { buffer: scenario.switch.buffer, ..SwitchConfig::default() };
    let changed = changed("roce", &scenario.roce, &RoceConfig::default())
        .or_else(|| changed("host", &scenario.host, &HostConfig::default()))
        .or_else(|| changed("layer2", &scenario.layer2, &Layer2Config::default()))
        .or_else(|| changed("switch", &scenario.switch, &switch))
        .or_else(|| changed("ingress", &scenario.ingress, &IngressConfig::default()));
    if let Some((key, value)) = changed {
        return Err(refused(&key, value));
    }
    ensure(!scenario.integrity, || refused("integrity", String::new()))?;
    ensure(scenario.capture.is_none(), || refused("capture", String::new()))?;
    ensure(scenario.faults.is_empty(), || refused("faults[0]", String::new()))?;
    ensure(scenario.link.is_empty(), || refused("link[0]", String::new()))?;
    ensure(scenario.subnet.is_empty(), || refused("subnet[0]", String::new()))?;
    ensure(scenario.address.is_empty(), || refused("address[0]", String::new()))?;
    ensure(scenario.route.is_empty(), || refused("route[0]", String::new()))?;
    ensure(scenario.failure.is_empty(), || refused("failure[0]", String::new()))?;
    ensure(scenario.slow_receiver.is_empty(), || refused("slow_receiver[0]", String::new()))?;
    ensure(scenario.monitoring.is_none(), || refused("monitoring", String::new()))?;
    ensure(scenario.host_model.is_empty(), || refused("host_model[0]", String::new()))?;
    ensure(scenario.watchdog == WatchdogConfig::default(), || refused("watchdog", String::new()))?;
    ensure(scenario.class.is_empty(), || refused("class", String::new()))?;
    ensure(scenario.tcp.is_none(), || refused("tcp", String::new()))?;
    let items = workload::items(&scenario.workload);
    if let Some((name, item)) = items.iter().find(|(_, item)| !item.transport().is_rdma()) {
        return Err(refused(&format!("{name}.transport"), item.transport().name().into()));
    }
    if let Some((name, _)) = items.iter().find(|(_, item)| item.marking().is_some()) {
        return Err(refused(&format!("{name}.marking"), String::new()));
    }
    let special = items.iter().find(|(_, item)| item.congestion_control().is_some());
    special.map_or(Ok(()), |(name, _)| {
        Err(refused(&format!("{name}.congestion_control"), String::new()))
    })
}

fn refused(key: &str, value: String) -> Fault {
    let help = match key {
        "switch.ecn" => "give the thresholds of each port rate in `profile.hpcc-ns3.ecn`",
        "roce.path_mtu" => "give `profile.hpcc-ns3.payload`",
        "roce.priority" => "give the `priority` of the workload",
        "roce.recovery" => "use `profile.hpcc-ns3.back_to_chunk`",
        "roce.ack_interval" => "give `profile.hpcc-ns3.ack_interval`",
        _ => "remove it, or `[profile.hpcc-ns3]`",
    };
    Fault::at(key, "HPCC's simulator has nothing like it").value(value).help(help)
}

/// The first key in the table `section` whose value is not the default, and that value.
fn changed<T: Serialize>(section: &str, given: &T, default: &T) -> Option<(String, String)> {
    let (Ok(Value::Object(given)), Ok(Value::Object(default))) =
        (serde_json::to_value(given), serde_json::to_value(default))
    else {
        return None;
    };
    let (key, value) = given.into_iter().find(|(key, value)| default.get(key) != Some(value))?;
    Some((format!("{section}.{key}"), value.to_string()))
}
