//! From [`Scenario`] to [`Plan`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocelab_transport::{Algorithm, QueuePairProfile};
use rocelab_units::{Bytes, SimTime};
use rocelab_wire::Encapsulation;

use super::algorithms::{self, InUse};
use super::applications::Asked;
use super::markings::AskedMarkings;
use super::static_routes::Forwarding;
use super::{
    addresses, applications, buffer, checks, connections, controls, default_sampling, failures,
    faults, hop_limit, host_models, hpcc_ns3, infiniband, ingress, integrity, keys, known_hosts,
    layer2, layer3, links, measure, monitoring, multicast, neighbours, numbering, ports, receivers,
    resolve, sampling, service, static_routes, streams, switches, tcp, telemetry, topology,
};
use crate::address::Addresses;
use crate::plan::{
    ConnectionPlan, FlowPlan, MonitoringPlan, MulticastGroup, Partitions, Plan, ProfilePlan,
    RocePlan, SamplingPlan, WorkloadsPlan,
};
use crate::scenario::{
    Fault, IpVersion, OnDeadlock, ProfileConfig, RoceVersion, Sampling, Scenario, ScenarioError,
    Transport, ensure,
};
use crate::workload::{self, AppPlan, Flow, FlowRules, HostDirectory, Site, Workload};

/// The most flows of a run: one host's queue pairs are numbered in 24 bits.
pub const MAX_FLOWS: usize = (1 << 24) - 0x12;

/// See [`Planning::plan_within`](super::Planning::plan_within).
pub(super) fn plan_within(scenario: &Scenario, max_flows: usize) -> Result<Plan, ScenarioError> {
    controls::load(scenario).map_err(|fault| scenario.document.report(fault))?;
    let described = resolve::with_defaults(scenario);
    // Before what Ethernet would say of the same.
    infiniband::check(&described).map_err(|fault| scenario.document.report(fault))?;
    let resolved = infiniband::as_planned(described);
    let faults = checks::faults(&resolved).into_iter();
    let mut errors: Vec<ScenarioError> = Vec::new();
    for error in faults.map(|fault| scenario.document.report(fault)) {
        // Two parts may say the same of a key.
        if errors.iter().all(|other| other.key() != error.key()) {
            errors.push(error);
        }
    }
    if !errors.is_empty() {
        let first = errors.remove(0);
        return Err(first.with_further(errors));
    }
    build(&resolved, max_flows.min(MAX_FLOWS)).map_err(|fault| scenario.document.report(fault))
}

/// The plan of a resolved scenario whose plain values are right.
fn build(scenario: &Scenario, max_flows: usize) -> Result<Plan, Fault> {
    let mut topology = topology::build(scenario)?;
    let hosts = HostDirectory::new(&topology).with_servers(&scenario.server)?;
    let vlans = layer2::vlans(scenario, &topology, &hosts)?;
    let addresses = addresses::build(scenario, &topology, &hosts)?;
    let domains = layer3::domains(scenario, &topology, &hosts, &vlans)?;
    let v1_hosts = layer3::v1_hosts(scenario, &hosts)?;
    let mut roce = RocePlan { v1_hosts, domains, ..roce(scenario, vlans, addresses) };
    roce.partitions = keys::partitions(scenario, &topology, &hosts)?;
    addresses::check_index(&scenario.roce, roce.encapsulation)?;
    let capture = scenario.capture.as_ref();
    let capture = capture.map(|config| ports::capture(config, &topology)).transpose()?;
    let groups = multicast::groups(scenario, &hosts, roce.encapsulation)?;
    let mesh = monitoring::mesh(scenario, &topology, &hosts)?;
    let Traffic { workloads, mut flows, apps, connections, in_use, markings, sendings, monitoring } =
        traffic(scenario, &hosts, (&roce, &groups, mesh), max_flows)?;
    roce.multicast = sendings.plan(scenario, groups)?;
    roce.keys = in_use.attributes().iter().map(keys::keys).collect();
    let mut markings = markings.numbered(
        scenario,
        &hosts,
        (&flows, &connections, monitoring.as_ref()),
        &roce.v1_hosts,
    )?;
    roce.neighbours = neighbours::build(scenario, &topology, &hosts, (&roce, &mut markings))?;
    let starts = flows.iter().map(|flow| flow.start).chain(apps.iter().map(|app| app.start));
    let last_start = starts.max().unwrap_or_default();
    let at_least = scenario.stop.map_or(last_start, |stop| stop.min(last_start));
    let sampling = match &scenario.sample {
        Sampling::Off => SamplingPlan::default(),
        // Runs by the rules of another simulator are compared with it.
        Sampling::Default if scenario.profile.is_some() => SamplingPlan::default(),
        Sampling::Default => {
            default_sampling::build(&topology, (&flows, &apps, &connections), scenario.stop)
        }
        Sampling::Of(config) => sampling::build(config, &topology, &flows, at_least)?,
    };
    let measure = measure::build(scenario)?;
    integrity::check(scenario, &flows)?;
    connections::check_flows(&scenario.roce, &flows)?;
    service::check_apps(&apps, &scenario.roce)?;
    let streams = streams::build(scenario, &hosts, &roce)?;
    let mut ways = applications::ways(&flows, &apps, &connections);
    if !streams.all.is_empty() {
        ways.to_mut().extend(streams.all.iter().map(streams::way));
    }
    if let Some(mesh) = &monitoring {
        let pings = mesh.pairs().map(|pair| monitoring::way(pair, &mesh.rules));
        ways.to_mut().extend(pings);
    }
    let faults = faults::build(&scenario.faults, &topology, (&flows, roce.multicast.as_deref()))?;
    let queue_pairs: Vec<_> = in_use
        .all()
        .iter()
        .map(|named| {
            let profile = profile(scenario, named.algorithm);
            Arc::new(QueuePairProfile { cnp_marking: markings.of_cnps(), ..profile })
        })
        .collect();
    let needs_ecn = |place: u32| {
        let profile: &QueuePairProfile = queue_pairs.get(place as usize)?;
        let algorithm = &profile.congestion_control;
        algorithm.needs_ecn().then(|| algorithm.name().to_owned())
    };
    layer3::check_algorithms(&roce, (&flows, &connections), needs_ecn, &hosts)?;
    let active_links = match &roce.domains {
        Some(domains) => domains.active_links().to_vec(),
        None => layer2::active_links(scenario, &topology),
    };
    let static_routes = static_routes::build(&scenario.route, &topology, &hosts, &active_links)?;
    let infiniband = infiniband::build(scenario, &topology, &active_links)?;
    let static_routes = match &infiniband {
        Some(subnet) => subnet.routed.routes(),
        None => static_routes,
    };
    let (profile, stop) = match &scenario.profile {
        None => {
            let links = Forwarding {
                topology: &topology,
                active: &active_links,
                by_hand: &static_routes,
                domains: roce.domains.as_deref(),
            };
            if roce.domains.is_none() {
                hop_limit::check(&roce, &links, &ways)?;
            }
            telemetry::check(in_use.all(), &links, &hosts, &ways)?;
            telemetry::check_hop_counts(in_use.all(), &roce)?;
            (ProfilePlan::Roce, scenario.stop)
        }
        Some(ProfileConfig::HpccNs3(config)) => {
            let plan = hpcc_ns3::build(config, scenario, &mut topology, &flows)?;
            (ProfilePlan::HpccNs3(Arc::new(plan)), scenario.stop.map(hpcc_ns3::truncated))
        }
    };
    let links = links::build(&scenario.link, &topology, roce.tagged)?;
    let known_hosts = known_hosts::build(scenario, &topology, &hosts)?;
    let switch_overrides = switches::build(&scenario.switch, &topology)?;
    let failures = failures::build(scenario, &topology, &hosts, &switch_overrides)?;
    let tcp = tcp::plan(scenario, &flows, &roce.addresses);
    if let Some(subnet) = &infiniband {
        infiniband::set_service_levels(&subnet.routed, &mut flows);
    }
    let mut plan = Plan {
        name: scenario.name(),
        labels: scenario.labels.clone(),
        seed: scenario.seed,
        stop,
        profile,
        active_links,
        links,
        static_routes,
        known_hosts,
        topology,
        roce,
        infiniband,
        switch: scenario.switch.clone(),
        switch_overrides,
        ingress: Vec::new(),
        queue_pairs,
        markings,
        host_scheduler: scenario.host.scheduler,
        host_shapers: scenario.host.shapers.clone(),
        tcp,
        streams,
        workloads,
        flows,
        apps,
        connections,
        faults,
        failures,
        slow_receivers: BTreeMap::new(),
        host_models: BTreeMap::new(),
        monitoring,
        integrity: scenario.integrity,
        on_deadlock: scenario.on_deadlock.unwrap_or(match scenario.watchdog.switch {
            Some(_) => OnDeadlock::Continue,
            None => OnDeadlock::Stop,
        }),
        capture,
        measure,
        sampling,
    };
    if matches!(plan.profile, ProfilePlan::Roce) {
        if plan.infiniband.is_none() {
            buffer::check(&plan)?;
        }
        let largest_frame = plan.largest_frame_of_all().get();
        plan.ingress = ingress::build(
            &scenario.ingress,
            &plan.topology,
            largest_frame,
            scenario.roce.version,
        )?;
        plan.slow_receivers = receivers::build(&plan, &scenario.slow_receiver, &hosts)?;
        plan.host_models = host_models::build(&plan, &scenario.host_model, &hosts)?;
        infiniband::check_buffers(&plan)?;
        connections::measure_paths(&mut plan, &scenario.roce);
    }
    Ok(plan)
}

fn roce(scenario: &Scenario, vlans: Vec<u16>, addresses: Addresses) -> RocePlan {
    let config = &scenario.roce;
    let encapsulation = match (config.version, config.ip) {
        (RoceVersion::V1, _) => Encapsulation::V1,
        (RoceVersion::V2, IpVersion::Ipv4) => Encapsulation::V2Ipv4,
        (RoceVersion::V2, IpVersion::Ipv6) => Encapsulation::V2Ipv6,
    };
    RocePlan {
        gid: scenario.roce.gid,
        addresses: Arc::new(addresses),
        v1_hosts: BTreeSet::new(),
        domains: None,
        encapsulation,
        is_infiniband: scenario.infiniband.is_some(),
        tagged: config.is_tagged(),
        neighbours: None,
        multicast: None,
        vlans,
        hop_limit: config.hop_limit,
        connection_manager: connections::manager(config),
        partitions: Partitions::default(),
        keys: Vec::new(),
    }
}

fn profile(scenario: &Scenario, algorithm: &Algorithm) -> QueuePairProfile {
    let config = &scenario.roce;
    QueuePairProfile {
        service: config.service,
        recovery: config.recovery,
        ack_interval: config.ack_interval,
        ack_timeout: config.ack_timeout,
        retry_count: config.retry_count,
        rnr_retry: config.rnr_retry,
        rnr_timer: config.rnr_timer.code(),
        max_rd_atomic: config.max_rd_atomic,
        max_dest_rd_atomic: config.max_dest_rd_atomic,
        timeouts: config.timeouts,
        ack_coalescing: config.ack_coalescing,
        cnp_priority: config.cnp_priority,
        path_entropy: config.path_entropy,
        ecn_capable: algorithms::is_ecn_capable(scenario, algorithm),
        congestion_control: algorithm.for_run(),
        // Round-trip time and packets in flight follow when all flows are known.
        ..QueuePairProfile::new(config.path_mtu)
    }
}

/// What hosts do, and the congestion controls that it takes.
struct Traffic<'a> {
    workloads: WorkloadsPlan,
    /// By start time, then in the order of the text.
    flows: Vec<FlowPlan>,
    apps: Vec<AppPlan>,
    connections: Vec<ConnectionPlan>,
    in_use: InUse<'a>,
    markings: AskedMarkings,
    sendings: multicast::Sendings,
    monitoring: Option<MonitoringPlan>,
}

/// The flows and applications of all workloads.
fn traffic<'a>(
    scenario: &'a Scenario,
    hosts: &HostDirectory,
    (roce, groups, mesh): (&RocePlan, &[MulticastGroup], Option<monitoring::Mesh>),
    max_flows: usize,
) -> Result<Traffic<'a>, Fault> {
    let items = workload::items(&scenario.workload);
    let (mut all, mut asked, mut connected) = (Vec::new(), Vec::new(), 0);
    let mut workloads = WorkloadsPlan::default();
    for (item, (name, workload)) in items.iter().enumerate() {
        let site = Site {
            name,
            seed: scenario.seed,
            hosts,
            rules: match scenario.profile {
                None => FlowRules::Roce,
                Some(ProfileConfig::HpccNs3(_)) => FlowRules::HpccNs3,
            },
            priority: scenario.roce.priority,
            folder: scenario.folder(),
            groups,
            path_mtu: scenario.roce.path_mtu.bytes().into(),
            max_flows: max_flows - all.len() - connected,
        };
        workloads
            .labels
            .push(workload::labels(name, *workload).map_err(|fault| fault.within(name))?);
        let flows = workload.flows(&site).map_err(|fault| fault.within(name))?;
        let group = workload.group(&site);
        all.extend(flows.into_iter().map(|flow| (item, group, flow)));
        if let Some(app) = workload.app(&site).map_err(|fault| fault.within(name))? {
            connected += app.connections.len();
            asked.push(Asked { app, workload: (item, name, *workload) });
        }
    }
    if all.is_empty() && asked.is_empty() {
        return Err(Fault::at("workload", "no flow would start")
            .value("")
            .help("add a workload, such as `[workload.incast]` with `senders` and `bytes`"));
    }
    all.sort_by_key(|(.., flow)| flow.start);
    let mut numbering = Numbers::of(scenario, hosts, roce);
    let mut connections_of_tcp = tcp::TcpNumbering::new(scenario, hosts);
    let (mut in_use, mut markings) = (InUse::new(scenario), AskedMarkings::default());
    let mut sendings = multicast::Sendings::default();
    let mut plans: Vec<FlowPlan> = Vec::with_capacity(all.len());
    for (item, group, flow) in all {
        let (name, workload) = &items[item];
        workloads.of_flows.push(u32::try_from(item).unwrap_or(u32::MAX));
        let is_tcp = workload.transport() == Transport::Tcp;
        let first = group.and_then(|_| sendings.first(item)).map(|first| &plans[first as usize]);
        let planned = match first {
            Some(first) => Ok(numbering.number_member(&flow, first)),
            None if is_tcp => Ok(connections_of_tcp.number(&flow)),
            None => numbering.number(&flow),
        };
        let plan = planned
            .and_then(|plan| check_flow(&plan, roce, hosts).map(|()| plan))
            .and_then(|plan| service::check_flow(&plan, &scenario.roce).map(|()| plan))
            .map_err(|fault| fault.within(&workload.key_of(flow.row)).within(name))?;
        if is_tcp {
            plans.push(plan);
            continue;
        }
        keys::check_flow(scenario, &roce.partitions, hosts, (name, *workload), &plan)?;
        let queue_pairs = in_use.place((item, name, *workload), flow.priority);
        let marking = markings.place((name.as_str(), *workload))?;
        if let Some(group) = group {
            sendings.note(item, group, (plan.source, plans.len()));
        }
        plans.push(FlowPlan { queue_pairs, marking, ..plan });
    }
    let check = |way: &FlowPlan| check_flow(way, roce, hosts);
    let check_keys = |of: (&str, &dyn Workload), way: &FlowPlan| {
        keys::check_flow(scenario, &roce.partitions, hosts, of, way)
    };
    let (apps, connections) = match &mut numbering {
        Numbers::Roce(numbering) => {
            let checks = (check, check_keys);
            applications::build(asked, numbering, (&mut in_use, &mut markings), checks)?
        }
        Numbers::HpccNs3(_) => Default::default(), // Its rules refuse applications.
    };
    let monitoring = match (&mut numbering, mesh) {
        (Numbers::Roce(numbering), Some(mesh)) => monitoring::build(scenario, mesh, numbering),
        _ => None,
    };
    if let Some(mesh) = &monitoring {
        let pings = mesh.pairs().map(|pair| monitoring::way(pair, &mesh.rules));
        for way in pings {
            check_flow(&way, roce, hosts).map_err(|fault| fault.within("monitoring"))?;
        }
    }
    in_use.name_one();
    Ok(Traffic {
        workloads,
        flows: plans,
        apps,
        connections,
        in_use,
        markings,
        sendings,
        monitoring,
    })
}

/// What gives flows their numbers.
enum Numbers<'a> {
    Roce(numbering::Numbering<'a>),
    HpccNs3(hpcc_ns3::Numbering),
}

impl<'a> Numbers<'a> {
    fn of(scenario: &'a Scenario, hosts: &'a HostDirectory, roce: &'a RocePlan) -> Self {
        match scenario.profile {
            None => Self::Roce(numbering::Numbering::new(
                scenario.seed,
                hosts,
                roce,
                &scenario.roce.entropy,
            )),
            Some(ProfileConfig::HpccNs3(_)) => Self::HpccNs3(hpcc_ns3::Numbering::default()),
        }
    }

    fn number(&mut self, flow: &Flow) -> Result<FlowPlan, Fault> {
        match self {
            Self::Roce(numbering) => Ok(numbering.number(flow)),
            Self::HpccNs3(numbering) => numbering.number(flow),
        }
    }

    /// A flow to another member of a group, by the queue pair of the `first`. Only RoCE has groups.
    fn number_member(&mut self, flow: &Flow, first: &FlowPlan) -> FlowPlan {
        match self {
            Self::Roce(numbering) => numbering.number_member(flow, first),
            Self::HpccNs3(_) => first.clone(),
        }
    }
}

/// Whether a flow can run whatever the workload that it comes from.
fn check_flow(flow: &FlowPlan, roce: &RocePlan, hosts: &HostDirectory) -> Result<(), Fault> {
    if roce.encapsulation == Encapsulation::V1 && roce.domains.is_none() {
        layer2::check_domain(flow, &roce.vlans, hosts)?;
    }
    let rate = hosts.link_rate(flow.source).min(hosts.link_rate(flow.destination));
    let sending = rate.transmission_time(Bytes::new(flow.bytes));
    ensure(flow.start.saturating_add(sending) <= SimTime::LATEST, || {
        let size = Bytes::new(flow.bytes);
        let (start, latest) = (flow.start, SimTime::LATEST);
        let message = format!("{size} from {start} on do not end within {latest}");
        Fault::at("", message).help("let it start earlier, or send less")
    })
}
