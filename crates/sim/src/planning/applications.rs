//! The connections of applications: their numbers, and what can be wrong with their ways.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rocelab_units::SimTime;

use super::algorithms::InUse;
use super::markings::AskedMarkings;
use super::numbering::Numbering;
use crate::plan::{ConnectionPlan, FlowPlan, NvlinkPlan};
use crate::scenario::{Fault, Side, Transport, Verb, ensure};
use crate::workload::{App, AppPlan, MAX_MESSAGE_BYTES, Workload};

/// An application, and the workload that asks for it: its place, key and parameters.
pub(super) struct Asked<'n, 'a> {
    pub(super) app: App,
    pub(super) workload: (usize, &'n str, &'a dyn Workload),
}

/// Numbers the connections of all applications, behind those of all flows, and says which are over NVLink; of the others `check` refuses ways
/// that no connection can take, and `check_keys` queue pairs that no host can have.
pub(super) fn build<'a>(
    asked: Vec<Asked<'_, 'a>>,
    numbering: &mut Numbering<'_>,
    (in_use, markings, nvlink): (&mut InUse<'a>, &mut AskedMarkings, &NvlinkPlan),
    (check, check_keys): (
        impl Fn(&FlowPlan) -> Result<(), Fault>,
        impl Fn((&str, &dyn Workload), &FlowPlan) -> Result<(), Fault>,
    ),
) -> Result<(Vec<AppPlan>, Vec<ConnectionPlan>), Fault> {
    let (mut apps, mut connections) = (Vec::with_capacity(asked.len()), Vec::new());
    let mut names = BTreeSet::new();
    for (place, Asked { app, workload }) in (0u32..).zip(asked) {
        let App { plan, connections: pairs, members, priority } = app;
        let key = workload.1;
        ensure(names.insert(plan.name.clone()), || {
            Fault::at(format!("{key}.name"), format!("`{}` is there twice", plan.name))
                .value(&plan.name)
                .help("give every application a name of its own")
        })?;
        let queue_pairs = in_use.place(workload, priority);
        let marking = markings.place((workload.1, workload.2))?;
        for (number, (client, server)) in pairs.into_iter().enumerate() {
            let (ends, entropy) = numbering.connect(client, server);
            let members = members.get(number).map_or([0; 2], |&(client, server)| [client, server]);
            // Programs alone are written for whatever is between their members.
            let is_nvlink = plan.program.is_some() && nvlink.joins(client, server);
            let connection = ConnectionPlan {
                app: place,
                ends,
                members,
                is_nvlink,
                priority,
                entropy,
                queue_pairs,
                marking,
            };
            if !is_nvlink {
                let way = way(&connection, plan.start);
                check(&way).map_err(|fault| fault.within(key))?;
                check_keys((workload.1, workload.2), &way)?;
            }
            connections.push(connection);
        }
        apps.push(plan);
    }
    Ok((apps, connections))
}

/// A flow of one byte over this connection: it stands for the way.
fn way(connection: &ConnectionPlan, start: SimTime) -> FlowPlan {
    let [client, server] = [connection.end(Side::Client), connection.end(Side::Server)];
    FlowPlan {
        source: client.host,
        destination: server.host,
        start,
        bytes: 1,
        message_bytes: MAX_MESSAGE_BYTES,
        transport: Transport::Rdma,
        verb: Verb::Send,
        priority: connection.priority,
        source_qpn: client.qpn,
        destination_qpn: server.qpn,
        source_psn: client.psn,
        destination_psn: server.psn,
        entropy: connection.entropy,
        queue_pairs: connection.queue_pairs,
        marking: connection.marking,
    }
}

/// What crosses the network: flows, and flows that stand for the ways of connections.
pub(super) fn ways<'a>(
    flows: &'a [FlowPlan],
    apps: &[AppPlan],
    connections: &[ConnectionPlan],
) -> Cow<'a, [FlowPlan]> {
    if connections.is_empty() {
        return Cow::Borrowed(flows);
    }
    let start = |connection: &ConnectionPlan| apps[connection.app as usize].start;
    let over_network = connections.iter().filter(|connection| !connection.is_nvlink);
    let ways = over_network.map(|connection| way(connection, start(connection)));
    flows.iter().cloned().chain(ways).collect()
}
