//! What a scenario says of NVLink to no effect.

use rocelab_fabric::NodeId;

use crate::Plan;
use crate::scenario::{Fault, Scenario, ServerConfig};

/// NVLink that carries nothing, and presets that are about other NICs.
pub(super) fn notes(scenario: &Scenario, plan: &Plan) -> Vec<Fault> {
    let other_nics = (0..).zip(&scenario.server).filter_map(|(place, server)| {
        let fault = other_nics(plan, server)?;
        Some(fault.within(&format!("server[{place}]")))
    });
    unused(scenario, plan).into_iter().chain(other_nics).collect()
}

/// No connection of a program is between two hosts of a server.
fn unused(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let place =
        scenario.server.iter().position(|one| one.nvlink.is_some() || one.preset.is_some())?;
    let is_used = plan.connections.iter().any(|connection| connection.is_nvlink);
    (!is_used && !plan.nvlink.domains().is_empty()).then(|| {
        let text = "nothing goes over NVLink: no program has messages between two hosts of a server";
        let key = if scenario.server[place].nvlink.is_some() { "nvlink" } else { "preset" };
        Fault::at(format!("server[{place}].{key}"), text).help(
            "name hosts of one server next to each other in a program such as `[workload.all-reduce]`; flows and other applications take the network",
        )
    })
}

/// NICs that have another rate than those of the preset's server.
fn other_nics(plan: &Plan, server: &ServerConfig) -> Option<Fault> {
    let preset = server.preset?;
    let domains = plan.nvlink.domains().iter();
    let is_of = |name: &str| {
        let rest = name.strip_prefix(&server.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut hosts = domains.filter(|domain| is_of(&domain.server)).flat_map(|one| &one.hosts);
    let rate = |host: NodeId| {
        let mut links = plan.topology.links.iter();
        links.find(|link| link.a == host || link.b == host).map(|link| link.rate)
    };
    let first = *hosts.next()?;
    let rate = rate(first).filter(|&rate| rate != preset.nic_rate())?;
    let name = &plan.topology.nodes[first as usize].name;
    let text = format!(
        "a GPU of `{}` has a NIC of {}, and the link of `{name}` has {rate}",
        preset.name(),
        preset.nic_rate()
    );
    Some(Fault::at("preset", text).value(preset.name()).help(
        "give the links of hosts that rate, or `nvlink` without `preset` if it is another server",
    ))
}
