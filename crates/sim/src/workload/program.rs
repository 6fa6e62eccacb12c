//! Programs: members that react to each other, as their definitions say.

use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_transport::congestion_control::InvalidParameter;
use rocelab_transport::program::{Common, Definition, Members};
use rocelab_units::{Duration, SimTime};

use super::app::{App, AppPlan, OperationKind, named};
use super::rules::FlowRules;
use super::site::Site;
use crate::scenario::{Fault, ensure};

/// What the members of a program do, and where.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// What its keys say.
    pub definition: Arc<dyn Definition>,
    /// The numbers of its members.
    pub members: Members,
    /// The host of each.
    pub hosts: Vec<NodeId>,
    /// The largest message that a member gets (bytes).
    pub largest_message: u32,
    /// How many operations there will be of all members together, if that is known.
    pub operations: Option<u64>,
}

/// The application that a program's keys describe.
pub(super) fn app<P: Definition + Clone + 'static>(
    parameters: &P,
    site: &Site<'_>,
) -> Result<App, Fault> {
    let Common { name, start, priority, .. } = parameters.common();
    ensure(site.rules == FlowRules::Roce, || {
        Fault::at("", "HPCC's simulator knows flows and no programs")
            .help("use `[workload.flows]`, or leave the profile out")
    })?;
    let priority = site.priority_or_default(priority)?;
    ensure(start <= SimTime::LATEST, || {
        Fault::at("start", "simulated time does not reach that far")
            .help(format!("give at most {}", SimTime::LATEST))
    })?;
    let (members, hosts) = members(parameters, site)?;
    let wrong = |error: InvalidParameter| {
        Fault::at(error.key, error.problem).value(error.value).help(error.fix)
    };
    let mut parameters = parameters.clone();
    parameters.read(site.folder, &members).map_err(wrong)?;
    let parameters = &parameters;
    parameters.validate(&members).map_err(wrong)?;
    let pairs = pairs(parameters, site, &members)?;
    let between = |&(client, server): &(u32, u32)| {
        let [client, server] = [client, server].map(|member| hosts[member as usize]);
        ensure(client != server, || {
            let name = site.hosts.name(client);
            Fault::at(last_key(parameters), format!("`{name}` would talk to itself"))
                .value(name)
                .help("name hosts that are none of the other ones")
        })?;
        Ok((client, server))
    };
    let connections = pairs.iter().map(between).collect::<Result<_, Fault>>()?;
    let operations = parameters.operations(&members);
    let kind = OperationKind {
        name: operations.kind.into(),
        cumulative_share: 1.0,
        payload: operations.payload,
        steps: Vec::new(),
    };
    let program = ProgramPlan {
        definition: Arc::new(parameters.clone()),
        largest_message: parameters.largest_message(&members),
        members,
        hosts,
        operations: operations.planned,
    };
    let plan = AppPlan {
        name: named(name, site.name)?,
        kinds: vec![kind],
        queue_depth: 1,
        operations: None,
        start,
        until: None,
        think_time: Duration::ZERO,
        receive_depth: parameters.receive_depth(&program.members),
        completion_events: None,
        program: Some(program),
    };
    Ok(App { plan, connections, members: pairs, priority })
}

/// The hosts that the keys name, by member.
fn members(definition: &dyn Definition, site: &Site<'_>) -> Result<(Members, Vec<NodeId>), Fault> {
    let (mut sizes, mut all) = (Vec::new(), Vec::new());
    for (key, names) in definition.hosts() {
        ensure(!names.is_empty(), || {
            Fault::at(key, "nobody is named here")
                .value("[]")
                .help("name at least one host, such as \"host-0\"")
        })?;
        let hosts = site.hosts.selected(key, Some(names))?;
        sizes.push(hosts.len());
        all.extend(hosts);
    }
    Ok((Members::new(sizes), all))
}

/// Client and server of each connection, by member.
fn pairs(
    definition: &dyn Definition,
    site: &Site<'_>,
    members: &Members,
) -> Result<Vec<(u32, u32)>, Fault> {
    // One more than a run can have is enough to refuse it.
    let pairs: Vec<_> = definition.connections(members).take(site.max_flows + 1).collect();
    site.check_connections(last_key(definition), pairs.len() as u64)?;
    Ok(pairs)
}

/// The key to blame for the hosts of members that do not fit together.
fn last_key(definition: &dyn Definition) -> &'static str {
    definition.hosts().last().map_or("", |(key, _)| key)
}
