//! Partitions, and the keys of queue pairs: what can be wrong with them, and what follows.

use rocelab_fabric::{NodeId, Topology};
use rocelab_transport::Service;
use rocelab_units::SimTime;

use crate::plan::{FlowPlan, PartitionChoice, Partitions, Plan, QueuePairKeys, p_keys_match};
use crate::scenario::{
    AlternatePathConfig, Fault, Priority, QueuePairAttributes, RoceConfig, RoceVersion, Scenario,
    ensure,
};
use crate::workload::{self, HostDirectory, Workload};

/// The number of the default partition.
const DEFAULT: u16 = 0x7fff;
/// The membership bit of a P_Key.
const FULL: u16 = 0x8000;
/// The bit of a Q_Key that is controlled.
const CONTROLLED: u32 = 1 << 31;

/// The first thing that is wrong with attributes of queue pairs, wherever they are.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    for (key, attributes) in all(scenario) {
        check_attributes(attributes, &scenario.roce).map_err(|fault| fault.within(&key))?;
    }
    Ok(())
}

/// Attributes and their keys, the strongest last.
fn all(scenario: &Scenario) -> Vec<(String, &QueuePairAttributes)> {
    let mut all = vec![("roce.queue_pair".to_owned(), &scenario.roce.queue_pair)];
    all.extend(scenario.class.iter().map(|(priority, class)| {
        (format!("class.{}.queue_pair", priority.number()), &class.queue_pair)
    }));
    let items = workload::items(&scenario.workload);
    all.extend(items.into_iter().filter_map(|(name, item)| {
        item.queue_pair().map(|attributes| (format!("{name}.queue_pair"), attributes))
    }));
    all
}

fn check_attributes(attributes: &QueuePairAttributes, roce: &RoceConfig) -> Result<(), Fault> {
    if let Some(p_key) = attributes.p_key {
        ensure(p_key & !FULL != 0, || {
            Fault::at("p_key", "no partition has the number 0").help("give 1 to 32767")
        })?;
        ensure(attributes.p_key_index.is_none(), || {
            Fault::at("p_key_index", "`p_key` says which entry of the table it is")
                .help("leave one of them out")
        })?;
    }
    for (key, value) in [("q_key", attributes.q_key), ("remote_q_key", attributes.remote_q_key)] {
        ensure(value.is_none() || roce.service.is_datagram(), || {
            Fault::at(key, "only datagrams carry a Q_Key")
                .help("use `roce.service = \"ud\"`, or leave it out")
        })?;
    }
    let Some(path) = &attributes.alternate_path else { return Ok(()) };
    check_alternate(path, roce).map_err(|fault| fault.within("alternate_path"))
}

fn check_alternate(path: &AlternatePathConfig, roce: &RoceConfig) -> Result<(), Fault> {
    ensure(roce.service == Service::ReliableConnection, || {
        Fault::at("", "only reliable connections notice that a path fails")
            .value("")
            .help("use `roce.service = \"rc\"`, or leave it out")
    })?;
    ensure(roce.path_entropy.numbers() == 1, || {
        Fault::at("", "packets of a connection have several paths already, by `roce.path_entropy`")
            .value("")
            .help("leave one of them out")
    })?;
    let (most, what) = match roce.version {
        RoceVersion::V1 => (0xf_ffff, "flow labels have 20 bits"),
        RoceVersion::V2 => (0xffff, "UDP source ports have 16 bits"),
    };
    ensure(path.entropy.is_none_or(|entropy| entropy <= most), || {
        Fault::at("entropy", what).help(format!("give 0 to {most}"))
    })?;
    ensure(path.migrate_at.is_none_or(|at| at <= SimTime::LATEST), || {
        Fault::at("migrate_at", "simulated time does not reach that far")
            .help(format!("give at most {}", SimTime::LATEST))
    })
}

/// The P_Key tables of all hosts.
pub(super) fn partitions(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
) -> Result<Partitions, Fault> {
    let configs = &scenario.roce.partition;
    if configs.is_empty() {
        return Ok(Partitions::default());
    }
    let mut tables = vec![vec![DEFAULT | FULL]; topology.nodes.len()];
    for (place, partition) in configs.iter().enumerate() {
        let section = format!("roce.partition[{place}]");
        let number = partition.p_key;
        ensure((1..=DEFAULT).contains(&number), || {
            Fault::at(format!("{section}.p_key"), "the number of a partition has 15 bits")
                .help("give 1 to 32767; `full` and `limited` say who is what")
        })?;
        ensure(configs[..place].iter().all(|other| other.p_key != number), || {
            Fault::at(format!("{section}.p_key"), "a partition before has this number")
                .help("give every partition a number of its own, or add members to that one")
        })?;
        for (key, names, bit) in
            [("full", &partition.full, FULL), ("limited", &partition.limited, 0)]
        {
            let members = hosts.selected(key, Some(names));
            for host in members.map_err(|fault| fault.within(&section))? {
                let table = &mut tables[host as usize];
                if number == DEFAULT {
                    table[0] = number | bit;
                    continue;
                }
                ensure(table.iter().all(|entry| entry & !FULL != number), || {
                    let name = hosts.name(host);
                    Fault::at(format!("{section}.{key}"), format!("`{name}` is a member already"))
                        .help("name every host once, in `full` or in `limited`")
                })?;
                table.push(number | bit);
            }
        }
    }
    Ok(Partitions::new(tables))
}

/// The attributes of a workload's queue pairs of a priority.
pub(super) fn attributes_of(
    scenario: &Scenario,
    item: &dyn Workload,
    priority: u8,
) -> QueuePairAttributes {
    let class = Priority::new(priority).and_then(|priority| scenario.class.get(&priority));
    let mut attributes = scenario.roce.queue_pair.clone();
    if let Some(class) = class {
        attributes = class.queue_pair.or(&attributes);
    }
    item.queue_pair().map_or(attributes.clone(), |own| own.or(&attributes))
}

/// What queue pairs of these attributes have.
pub(super) fn keys(attributes: &QueuePairAttributes) -> QueuePairKeys {
    let q_key = attributes.q_key.unwrap_or(QueuePairKeys::Q_KEY);
    let asked = attributes.remote_q_key.unwrap_or(q_key);
    QueuePairKeys {
        partition: match (attributes.p_key, attributes.p_key_index) {
            (Some(number), _) => PartitionChoice::Number(number & !FULL),
            (None, Some(place)) => PartitionChoice::Index(place),
            (None, None) => PartitionChoice::Default,
        },
        q_key,
        // IBTA, Q_Keys: of a controlled one, the queue pair's own takes the place.
        sent_q_key: if asked & CONTROLLED != 0 { q_key } else { asked },
        alternate_path: attributes.alternate_path,
    }
}

/// Refuses a connection at whose ends the tables do not have what its queue pairs ask for.
pub(super) fn check_flow(
    scenario: &Scenario,
    partitions: &Partitions,
    hosts: &HostDirectory,
    (name, item): (&str, &dyn Workload),
    flow: &FlowPlan,
) -> Result<(), Fault> {
    let attributes = attributes_of(scenario, item, flow.priority);
    let choice = keys(&attributes).partition;
    if choice == PartitionChoice::Default {
        return Ok(());
    }
    let key = if attributes.p_key.is_some() { "p_key" } else { "p_key_index" };
    let says = |own: &QueuePairAttributes| own.p_key.is_some() || own.p_key_index.is_some();
    let class = Priority::new(flow.priority).and_then(|priority| scenario.class.get(&priority));
    let section = if item.queue_pair().is_some_and(says) {
        name.to_owned()
    } else if class.is_some_and(|class| says(&class.queue_pair)) {
        format!("class.{}", flow.priority)
    } else {
        "roce".to_owned()
    };
    for host in [flow.source, flow.destination] {
        ensure(partitions.p_key(host, choice).is_some(), || {
            let fault = |text| Fault::at(format!("{section}.queue_pair.{key}"), text);
            missing(partitions, hosts, host, choice, fault)
        })?;
    }
    Ok(())
}

/// Connections between two hosts whose P_Keys do not match: receivers drop all of their packets.
pub(super) fn parted(plan: &Plan) -> Option<Fault> {
    let of_flows = plan.flows.iter().filter(|flow| !flow.is_tcp());
    let of_flows = of_flows.map(|flow| (flow.queue_pairs, flow.source, flow.destination));
    let of_apps = crate::plan::network_connections(plan).map(|(_, connection)| {
        let [client, server] = &connection.ends;
        (connection.queue_pairs, client.host, server.host)
    });
    let mut parted = of_flows.chain(of_apps).filter(|&(place, source, destination)| {
        !p_keys_match(plan.p_key(place, source), plan.p_key(place, destination))
    });
    let (place, source, destination) = parted.next()?;
    let name = |host: NodeId| &plan.topology.nodes[host as usize].name;
    let (near, far) = (plan.p_key(place, source), plan.p_key(place, destination));
    let more = match parted.count() {
        0 => String::new(),
        more => format!(", and {more} other connections are like that"),
    };
    let text = format!(
        "`{}` has the P_Key {near:#06x} and `{}` {far:#06x}, so each drops what the other sends{more}",
        name(source),
        name(destination)
    );
    Some(Fault::at("roce.partition", text).value("").help(
        "let one of the two be a full member of the same partition, or say otherwise what `queue_pair` uses",
    ))
}

/// Partitions that no queue pair uses.
pub(super) fn unused_partitions(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let is_said = plan.roce.keys.iter().any(|keys| keys.partition != PartitionChoice::Default);
    let mut others = scenario.roce.partition.iter().filter(|one| one.p_key != DEFAULT);
    let unused = !is_said && others.next().is_some();
    unused.then(|| {
        Fault::at("roce.partition", "no queue pair uses any of them but the default one")
            .value("")
            .help("give `queue_pair = { p_key = .. }` in `[roce]`, `[class.N]` or a workload")
    })
}

fn missing(
    partitions: &Partitions,
    hosts: &HostDirectory,
    host: NodeId,
    choice: PartitionChoice,
    fault: impl Fn(String) -> Fault,
) -> Fault {
    let name = hosts.name(host);
    match choice {
        PartitionChoice::Index(_) | PartitionChoice::Default => {
            let last = partitions.table(host).len().saturating_sub(1);
            let text = format!("the P_Key table of `{name}` ends with place {last}");
            fault(text).help(format!("give 0 to {last}, or add it to a `[[roce.partition]]`"))
        }
        PartitionChoice::Number(number) => {
            let text = format!("`{name}` is in no partition {number:#06x}");
            fault(text).help(format!(
                "name it in `full` or `limited` of a `[[roce.partition]]` with `p_key = {number:#06x}`"
            ))
        }
    }
}
