//! `[infiniband]`, checked, and what it means for the rest of a scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rocelab_fabric::{LinkFlowControl, NodeId, SwitchConfig, Topology, VlWeight};
use rocelab_subnet::{AdaptiveGroups, Channel, Engine, Far, Path, Subnet};
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::Bandwidth;
use rocelab_wire::TelemetryKind;

use super::{algorithms, infiniband_files, of_ethernet, ports, switches};
use crate::plan::{FlowPlan, InfiniBandPlan, Plan, RoutedSubnet, SubnetManagerPlan};
use crate::scenario::{
    AdaptiveRouting, Fault, Forwarding, InfiniBandConfig, PathBits, RoceVersion, Scenario,
    VlBuffer, ensure,
};

/// The most entries of a list of lanes (IBTA 7.6.9).
const MOST_ENTRIES: usize = 64;

/// The scenario as it is planned: on InfiniBand nothing has an IP header, every lane is lossless, and any link may be used.
pub(super) fn as_planned(mut scenario: Scenario) -> Scenario {
    if let Some(infiniband) = &scenario.infiniband {
        scenario.roce.version = RoceVersion::V1;
        scenario.layer2.forwarding = Forwarding::Multipath;
        scenario.switch = SwitchConfig {
            lossless: (0..8).collect(),
            flow_control: LinkFlowControl::Credits,
            load_balancing: infiniband.sm.adaptive_routing.load_balancing(),
            latency: scenario.switch.latency,
            forwarding: scenario.switch.forwarding,
            ..SwitchConfig::default()
        };
    }
    scenario
}

/// What is wrong with a scenario of InfiniBand, as far as its values say so.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let Some(config) = &scenario.infiniband else { return Ok(()) };
    check_lanes(config)?;
    check_path_bits(config)?;
    engine_of(config)?;
    check_roots(config)?;
    check_choice(config)?;
    check_tables(config)?;
    check_marks(config)?;
    of_ethernet::check(scenario)?;
    check_algorithms(scenario)
}

/// LIDs are as many as the LMC says.
fn check_path_bits(config: &InfiniBandConfig) -> Result<(), Fault> {
    let lmc = config.lmc;
    ensure(lmc <= rocelab_subnet::MOST_LMC, || {
        Fault::at("infiniband.lmc", "a port has at most 128 LIDs").value(lmc).help("give 0 to 7")
    })?;
    ensure(lmc > 0 || config.path_bits == PathBits::default(), || {
        Fault::at("infiniband.path_bits", "a port has one LID: no connection has a choice")
            .help("leave it out, or give an `infiniband.lmc` above 0")
    })?;
    let PathBits::List(list) = &config.path_bits else { return Ok(()) };
    let key = "infiniband.path_bits.list";
    let fix = || format!("give numbers from 0 to {}", (1_u32 << lmc) - 1);
    ensure(!list.is_empty(), || {
        Fault::at(key, "connections would have no LID to send to").help(fix())
    })?;
    let beyond = list.iter().position(|&bits| u32::from(bits) >= 1 << lmc);
    ensure(beyond.is_none(), || {
        let place = beyond.unwrap_or(0);
        Fault::at(format!("{key}[{place}]"), format!("a port has {} LIDs", 1_u32 << lmc))
            .value(list[place])
            .help(fix())
    })
}

fn check_lanes(config: &InfiniBandConfig) -> Result<(), Fault> {
    let lanes = config.data_vls;
    ensure([1, 2, 4, 8].contains(&lanes), || {
        Fault::at("infiniband.data_vls", "a port has 1, 2, 4 or 8 lanes for data")
            .value(lanes)
            .help("give one of these numbers")
    })?;
    ensure(config.qos.sl_to_vl.len() <= 8, || {
        Fault::at("infiniband.qos.sl_to_vl", "service levels from 8 on are not simulated")
            .help("give the lanes of SL 0 to at most SL 7")
    })?;
    for (level, &lane) in config.qos.sl_to_vl.iter().enumerate() {
        ensure(lane < lanes, || {
            let key = format!("infiniband.qos.sl_to_vl[{level}]");
            Fault::at(key, format!("there are {lanes} lanes, from 0 on"))
                .value(lane)
                .help(format!("give 0 to {}, or a larger infiniband.data_vls", lanes - 1))
        })?;
    }
    let arbitration = config.qos.arbitration();
    for (key, list) in [("high", &arbitration.high), ("low", &arbitration.low)] {
        let key = format!("infiniband.qos.{key}");
        ensure(list.len() <= MOST_ENTRIES, || {
            Fault::at(&key, format!("a list has at most {MOST_ENTRIES} entries"))
                .help("leave out entries")
        })?;
        for (index, VlWeight(lane, _)) in list.iter().enumerate() {
            ensure(*lane < 8, || {
                Fault::at(format!("{key}[{index}]"), "lanes for data are 0 to 7")
                    .value(lane)
                    .help("give a lane from 0 to 7, and its weight")
            })?;
        }
    }
    let served = arbitration.lanes();
    for level in 0..8 {
        let lane = config.qos.lane_of(level, lanes);
        ensure(served & 1 << lane != 0, || {
            let text =
                format!("lane {lane}, which SL {level} takes, has no turn: it would never send");
            Fault::at("infiniband.qos", text)
                .help("name the lane in `high` or `low`, with a weight above 0")
        })?;
    }
    Ok(())
}

/// Roots are for engines that read them.
fn check_roots(config: &InfiniBandConfig) -> Result<(), Fault> {
    let reads_them = [Engine::UpDown, Engine::FatTree].map(Engine::name);
    let engine = &*config.sm.engine;
    ensure(config.sm.roots.is_empty() || reads_them.contains(&engine), || {
        let help = format!("leave it out, or use `engine = \"{}\"`", reads_them.join("\"` or `\""));
        Fault::at("infiniband.sm.roots", format!("`{engine}` does not look for roots")).help(help)
    })
}

/// The engine `file` has tables, and no other reads any.
fn check_tables(config: &InfiniBandConfig) -> Result<(), Fault> {
    let is_file = engine_of(config)? == Engine::File;
    ensure(is_file == config.sm.lfts.is_some(), || match is_file {
        true => Fault::at("infiniband.sm.lfts", "the engine `file` has no tables")
            .help("name a file such as OpenSM's opensm-lfts.dump"),
        false => Fault::at("infiniband.sm.lfts", format!("`{}` reads no tables", config.sm.engine))
            .help("leave it out, or use `engine = \"file\"`"),
    })?;
    ensure(is_file || config.sm.sl_file.is_none(), || {
        let text = format!("`{}` reads no service levels", config.sm.engine);
        Fault::at("infiniband.sm.sl_file", text).help("leave it out, or use `engine = \"file\"`")
    })
}

/// Engines whose ways are no matter of choice leave none.
fn check_choice(config: &InfiniBandConfig) -> Result<(), Fault> {
    let chooses = config.sm.adaptive_routing != AdaptiveRouting::None;
    let engine = engine_of(config)?;
    ensure(!chooses || AdaptiveGroups::ENGINES.contains(&engine), || {
        let names = AdaptiveGroups::ENGINES.map(Engine::name);
        let text = format!("`{engine}` leaves switches no choice: its ways depend on each other");
        Fault::at("infiniband.sm.adaptive_routing", text)
            .help(format!("leave it out, or use the engine {}", names.join(" or ")))
    })
}

fn engine_of(config: &InfiniBandConfig) -> Result<Engine, Fault> {
    let mut all = Engine::ALL.into_iter();
    all.find(|engine| engine.name() == config.sm.engine).ok_or_else(|| {
        let names = Engine::ALL.map(Engine::name);
        Fault::at("infiniband.sm.engine", "there is no such routing engine")
            .value(&config.sm.engine)
            .help(format!("use one of {}", names.join(", ")))
    })
}

fn check_marks(config: &InfiniBandConfig) -> Result<(), Fault> {
    let Some(marks) = &config.congestion_control else { return Ok(()) };
    ensure(marks.has_valid_threshold(), || {
        Fault::at("infiniband.congestion_control.threshold", "a threshold is a field of 4 bits")
            .value(marks.threshold)
            .help("give 0 (never) to 15 (as soon as a sixteenth of a buffer waits)")
    })
}

/// What acknowledgements tell by their time reaches a sender, and marks, for those that are made for them.
fn check_algorithms(scenario: &Scenario) -> Result<(), Fault> {
    for named in algorithms::named(scenario) {
        let feedback = named.algorithm.feedback(Bandwidth::default());
        let by_ends = feedback.telemetry().is_some_and(TelemetryKind::is_echo);
        let follows_fecn = matches!(
            named.algorithm,
            Algorithm::InfiniBand(_) | Algorithm::Wasm(_) | Algorithm::Python(_)
        ) && named.algorithm.needs_ecn();
        let is_told = by_ends || matches!(feedback, Feedback::None | Feedback::Rtt);
        let has_delay = ["timely", "patched-timely", "swift"].contains(&named.algorithm.name());
        ensure(is_told || !has_delay, || {
            let text = "switches of InfiniBand tell nothing of queues";
            Fault::at(format!("{}.delay", named.section()), text)
                .help("leave it out, for the round-trip time that the channel adapter measures")
        })?;
        ensure(follows_fecn || is_told, || {
            let name = named.algorithm.name();
            let text = format!("`{name}` needs what switches of Ethernet tell of congestion");
            Fault::at(named.section(), text)
                .help("use `infiniband`, `none`, `timely`, `patched-timely` or `swift`")
        })?;
    }
    Ok(())
}

/// The subnet, routed.
pub(super) fn build(
    scenario: &Scenario,
    topology: &Topology,
    active: &[bool],
) -> Result<Option<InfiniBandPlan>, Fault> {
    let Some(config) = &scenario.infiniband else { return Ok(None) };
    let roots = match &config.sm.roots[..] {
        [] => None,
        names => {
            let found = switches::named_switches(names, topology);
            Some(found.map_err(|fault| fault.within("infiniband.sm.roots"))?)
        }
    };
    let no_subnet = |reason: String| {
        Fault::at("infiniband", format!("the topology is no subnet: {reason}"))
            .help("use a smaller topology or LMC, or one whose hosts are all connected")
    };
    if topology.is_in_parts {
        return Err(no_subnet("nothing joins its rails".to_owned()));
    }
    let (tables, levels) = match &config.sm.lfts {
        Some(_) => {
            let subnet =
                SubnetManagerPlan::subnet(topology, active, config.lmc).map_err(no_subnet)?;
            let (tables, levels) = infiniband_files::read(scenario, &config.sm, &subnet)?;
            (Some(tables), levels)
        }
        None => (None, None),
    };
    let manager = SubnetManagerPlan {
        tables,
        levels,
        engine: engine_of(config)?,
        lmc: config.lmc,
        roots,
        lanes: config.data_vls,
        is_adaptive: config.sm.adaptive_routing != AdaptiveRouting::None,
    };
    let routed = manager.route(topology, active).map_err(no_subnet)?;
    if !manager.reroutes() {
        check_tables_of_file(topology, &routed)?;
    }
    check_ways(config, topology, &routed)?;
    Ok(Some(InfiniBandPlan {
        data_vls: config.data_vls,
        lane_of: std::array::from_fn(|level| {
            let [level, ..] = level.to_le_bytes();
            config.qos.lane_of(level, config.data_vls)
        }),
        arbitration: config.qos.arbitration(),
        vl_buffer: config.vl_buffer,
        update_interval: config.update_interval,
        congestion_control: config.congestion_control.clone(),
        victim_ports: victim_ports(config, topology)?,
        manager,
        routed: Arc::new(routed),
    }))
}

/// The ports that set FECN without credits, by name.
fn victim_ports(
    config: &InfiniBandConfig,
    topology: &Topology,
) -> Result<BTreeSet<(NodeId, u16)>, Fault> {
    let named = config.congestion_control.as_ref().map(|marks| &marks.victim_ports[..]);
    match named.unwrap_or_default() {
        [] => Ok(BTreeSet::new()),
        names => {
            let key = "infiniband.congestion_control.victim_ports";
            Ok(ports::of_switches(key, names, topology)?.into_iter().collect())
        }
    }
}

/// Gives flows the service levels of their paths, where the routing engine says them.
pub(super) fn set_service_levels(routed: &RoutedSubnet, flows: &mut [FlowPlan]) {
    for flow in flows {
        let level = routed.service_level(flow.source, flow.destination, flow.entropy);
        flow.priority = level.unwrap_or(flow.priority);
    }
}

/// Every host has a way to every other.
fn check_ways(
    config: &InfiniBandConfig,
    topology: &Topology,
    routed: &RoutedSubnet,
) -> Result<(), Fault> {
    let routes = routed.routes();
    let switches = topology.switches().count();
    let adjacency = topology.adjacency();
    let leaves = topology.hosts().filter_map(|host| adjacency.ports_of(host).first());
    let mut leaves: Vec<_> =
        leaves.map(|far| far.node).filter(|&one| topology.is_switch(one)).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let lids_of_a_host = 1_usize << config.lmc;
    let lacks = |&leaf: &u32| {
        let of_leaf = routes.partition_point(|route| route.switch < leaf);
        let known = routes[of_leaf..].iter().take_while(|route| route.switch == leaf);
        let mut lids = BTreeMap::<NodeId, usize>::new();
        known.for_each(|route| *lids.entry(route.destination).or_default() += 1);
        let lacking = |host: &NodeId| lids.get(host).is_none_or(|&lids| lids < lids_of_a_host);
        topology.hosts().find(lacking).map(|host| (leaf, host))
    };
    let lacking = leaves.iter().find_map(lacks).filter(|_| switches > 0);
    ensure(lacking.is_none(), || {
        let (from, to) = lacking.unwrap_or_default();
        let name = |node: u32| &topology.nodes[node as usize].name;
        let (engine, from, to) = (&config.sm.engine, name(from), name(to));
        let text = format!("`{engine}` finds no way from {from} to {to}");
        Fault::at("infiniband.sm", text).help("use another engine, or other roots or tables")
    })
}

/// Tables of a file have a way to every host from every switch that has hosts.
fn check_tables_of_file(topology: &Topology, routed: &RoutedSubnet) -> Result<(), Fault> {
    let (subnet, tables) = (&routed.subnet, &routed.routing.tables.forwarding);
    let lids: Vec<_> = routed.lids().collect();
    let leaves = (0..subnet.graph().len()).filter(|&leaf| subnet.adapters(leaf).next().is_some());
    for (leaf, &(host, _, lid)) in leaves.flat_map(|leaf| lids.iter().map(move |to| (leaf, to))) {
        let passed = match tables.path(subnet, leaf, lid) {
            Path::Delivered(_) => continue,
            Path::Looping(passed) => {
                let host = &topology.nodes[host as usize].name;
                return Err(circle(subnet, (leaf, &passed), host, lid));
            }
            Path::Dropped(passed) => passed,
        };
        let last = passed.last().map_or(leaf, |last| {
            match subnet.graph().ports(last.switch).get(usize::from(last.port)) {
                Some(&Far::Switch { switch, .. }) => switch,
                _ => last.switch,
            }
        });
        let host = &topology.nodes[host as usize].name;
        let [from, at] = [leaf, last].map(|switch| subnet.switch_name(switch));
        let text = format!(
            "the tables have no way from {from} to {host}: {at} has no port for LID 0x{lid:04x} that leads there"
        );
        return Err(Fault::at("infiniband.sm.lfts", text)
            .help("add the entry to the file, or use tables of the whole subnet"));
    }
    Ok(())
}

/// Packets of an alternate path have the service level of the first path, which is that of another LID.
pub(super) fn check_alternate_paths(plan: &Plan) -> Result<(), Fault> {
    let Some(infiniband) = &plan.infiniband else { return Ok(()) };
    let by_lid = infiniband.routed.routing.engine == Engine::Dfsssp;
    ensure(!by_lid || infiniband.manager.lmc == 0 || !plan.has_alternate_paths(), || {
        let text = "`dfsssp` gives each LID of a host a service level of its own, and the packets of an alternate path keep that \
                    of the first path";
        Fault::at("infiniband.lmc", text)
            .value(infiniband.manager.lmc)
            .help("use `lmc = 0` or another engine, or leave out `alternate_path`")
    })
}

/// Tables that lead a packet back to a switch where it has been.
fn circle(subnet: &Subnet, (from, passed): (usize, &[Channel]), host: &str, lid: u16) -> Fault {
    let end = passed.last().and_then(|last| {
        match subnet.graph().ports(last.switch).get(usize::from(last.port)) {
            Some(&Far::Switch { switch, .. }) => Some(switch),
            _ => None,
        }
    });
    let way: Vec<_> = passed.iter().map(|channel| channel.switch).chain(end).collect();
    let began = way.iter().position(|&switch| Some(switch) == end).unwrap_or(0);
    let names: Vec<_> = way[began..].iter().map(|&switch| subnet.switch_name(switch)).collect();
    let text = format!(
        "the tables lead in a circle from {} to {host}: {} for LID 0x{lid:04x}",
        subnet.switch_name(from),
        names.join(" -> ")
    );
    Fault::at("infiniband.sm.lfts", text)
        .help("mend the entries of these switches for this LID in the file")
}

/// What a plan says of buffers: each lane has room for a packet of the path MTU.
pub(super) fn check_buffers(plan: &Plan) -> Result<(), Fault> {
    let has_code_points = plan.infiniband.is_some() && plan.markings.all().len() > 8;
    ensure(!has_code_points, || {
        Fault::at("infiniband", "packets of InfiniBand have no code points")
            .help("leave out every `marking` and `roce.cnp_marking`")
    })?;
    let Some(VlBuffer::Fixed(size)) = plan.infiniband.as_ref().map(|own| own.vl_buffer) else {
        return Ok(());
    };
    let largest = u32::try_from(plan.largest_frame().get()).unwrap_or(u32::MAX);
    let least = u64::from(rocelab_fabric::blocks_of(largest)) * 64;
    ensure(size.get() >= least, || {
        let text = format!("a lane never has credits for a packet of {} bytes", largest - 2);
        Fault::at("infiniband.vl_buffer", text)
            .value(size)
            .help(format!("give at least {least}B, or \"auto\""))
    })?;
    ensure(size.get() <= u64::from(u16::MAX) * 64, || {
        Fault::at("infiniband.vl_buffer", "that is more memory than any port has")
            .value(size)
            .help("give at most 4194240B: more than 131072 bytes of a lane are never ahead anyway")
    })
}
