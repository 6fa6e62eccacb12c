//! What scenarios become: flows, defaults, the resolved scenario, its schema.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_fabric::topology::TopologyLink;
use rocelab_sim::scenario::HostProfileName;
use rocelab_sim::workload::SizeDistribution;
use rocelab_sim::{FlowPlan, Plan, Planning, Scenario, Verb, ideal_fct};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

fn crate_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn parsed(toml: &str) -> Scenario {
    let path = crate_folder().join("tests/data/s.toml");
    Scenario::parse(toml, &path, &[]).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn planned(toml: &str) -> Plan {
    parsed(toml).plan().unwrap_or_else(|error| panic!("{error}"))
}

/// `hosts` hosts around a switch, and `rest`.
pub(crate) fn around_a_switch(hosts: u32, rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = {hosts}\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n{rest}"
    )
}

/// What a plan says, but for its name, and with every value that a preset stands for.
fn essence(plan: &Plan) -> String {
    let mut plan = Plan { name: String::new(), ..plan.clone() };
    let is_of_host =
        |link: &&TopologyLink| plan.topology.is_host(link.a) || plan.topology.is_host(link.b);
    let rates: BTreeSet<_> =
        plan.topology.links.iter().filter(is_of_host).map(|link| link.rate).collect();
    if let (Some(&rate), 1) = (rates.first(), rates.len()) {
        for queue_pair in &mut plan.queue_pairs {
            let queue_pair = Arc::make_mut(queue_pair);
            queue_pair.congestion_control = queue_pair.congestion_control.effective(rate);
        }
    }
    format!("{plan:?}")
}

fn scenario_files() -> Vec<PathBuf> {
    let folder = crate_folder().join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("scenarios/ is part of the repository");
    let mut files: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files
}

#[test]
fn every_scenario_plans_and_its_resolved_form_gives_the_same_plan() {
    for path in scenario_files() {
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let plan = scenario.plan().unwrap_or_else(|error| panic!("{error}"));
        let resolved = scenario.resolved().to_toml().unwrap();
        let again = Scenario::parse(&resolved, &path, &[])
            .unwrap_or_else(|error| panic!("{error}\n{resolved}"));
        assert_eq!(again.resolved().to_toml().unwrap(), resolved);
        let essence_of = |scenario: &Scenario| {
            essence(&scenario.plan().unwrap_or_else(|error| panic!("{error}\n{resolved}")))
        };
        assert_eq!(essence_of(&again), essence(&plan), "{}", path.display());
        // Each value of a host's profile is there, so that its name matters no more.
        let mut nameless = again;
        for model in &mut nameless.host_model {
            model.profile = HostProfileName::None;
        }
        assert_eq!(essence_of(&nameless), essence(&plan), "{}", path.display());
    }
}

#[test]
fn the_resolved_scenario_names_what_a_profile_of_hosts_says() {
    let model = "[[host_model]]\nprofile = \"cx6\"\ncpu = { threads = 4 }\n\
                 rates = { packets = 7e6 }\n";
    let flows = "[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
    let scenario = parsed(&around_a_switch(2, &format!("{model}{flows}")));
    let resolved = scenario.resolved().to_toml().unwrap();
    for line in [
        "profile = \"cx6\"",
        "gen = 4",
        "lanes = 16",
        "tags = 128",
        "read_latency = \"500ns\"",
        "threads = 4",
        "post = \"40ns\"",
        "inline = \"220B\"",
        "units = 8",
        "packets = 7000000.0",
        "atomics = 20000000.0",
        "control_latency = \"2.5us\"",
        "transmit_latency = \"63ns\"",
        "qp_contexts = 4000",
        "translations = 65536",
        "page_size = \"2MiB\"",
        "posted_credits = 184",
        "credit_latency = \"450ns\"",
        "buffer = \"1MiB\"",
    ] {
        assert!(resolved.contains(&format!("\n{line}\n")), "`{line}` is not in:\n{resolved}");
    }
}

/// On InfiniBand NICs have no buffer of their own: a resolved scenario must not give one.
#[test]
fn the_resolved_scenario_of_hosts_on_infiniband_can_be_run() {
    let text = "[infiniband]\n[[host_model]]\nprofile = \"cx7\"\n[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
    let scenario = parsed(&around_a_switch(2, text));
    let resolved = scenario.resolved().to_toml().unwrap();
    assert!(resolved.contains("qp_contexts = 8000"), "{resolved}");
    assert_eq!(essence(&planned(&resolved)), essence(&scenario.plan().unwrap()));
}

#[test]
fn the_resolved_scenario_names_every_default() {
    let toml = around_a_switch(2, "[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n");
    let resolved = parsed(&toml).resolved().to_toml().unwrap();
    for line in [
        "seed = 1",
        "version = 2",
        "path_mtu = 1024",
        "ack_timeout = 14",
        "buffer = \"32MB\"",
        "headroom = \"auto\"",
        "[congestion_control.dcqcn]",
        "kmin = \"100KB\"",
        "per_rate = \"25Gbps\"",
        "repeat = 1",
        "verb = \"write\"",
    ] {
        assert!(resolved.contains(line), "`{line}` is not in:\n{resolved}");
    }
}

#[test]
fn the_incast_pair_differs_by_version_alone() {
    let text = |name: &str| {
        let path = crate_folder().join("../../scenarios").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(String::from).collect::<Vec<_>>()
    };
    let (one, two) = (text("incast-v1.toml"), text("incast-v2.toml"));
    assert_eq!(one.len(), two.len());
    let differing: Vec<_> = one.iter().zip(&two).filter(|(a, b)| a != b).collect();
    assert_eq!(differing, [(&"version = 1".to_string(), &"version = 2".to_string())]);
}

#[test]
fn versions_get_what_they_can_do() {
    let with = |roce: &str| {
        let workload = "[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
        planned(&around_a_switch(2, &format!("[roce]\n{roce}\n{workload}")))
    };
    let v1 = with("version = 1");
    assert_eq!(v1.roce.encapsulation, Encapsulation::V1);
    assert!(v1.roce.tagged && !v1.queue_pairs[0].ecn_capable && v1.switch.ecn.is_none());
    assert_eq!(v1.queue_pairs[0].congestion_control.name(), "none");
    let v2 = with("version = 2");
    assert_eq!(v2.roce.encapsulation, Encapsulation::V2Ipv4);
    assert!(!v2.roce.tagged && v2.queue_pairs[0].ecn_capable && v2.switch.ecn.is_some());
    assert_eq!(v2.queue_pairs[0].congestion_control.name(), "dcqcn");
    assert_eq!(with("ip = \"ipv6\"").roce.encapsulation, Encapsulation::V2Ipv6);
    assert!(with("tagging = \"tagged\"").roce.tagged);
    assert!(!with("version = 1\ntagging = \"untagged\"").roce.tagged);
}

#[test]
fn v1_takes_the_links_of_a_spanning_tree_unless_told_otherwise() {
    let toml = |roce: &str| {
        format!(
            "{roce}\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [workload.incast]\nsenders = 1\nbytes = \"1MB\"\n"
        )
    };
    let blocked =
        |roce: &str| planned(&toml(roce)).active_links.iter().filter(|&&active| !active).count();
    assert_eq!(blocked("[roce]\nversion = 2"), 0);
    assert_eq!(blocked("[roce]\nversion = 1"), 1);
    assert_eq!(blocked("[roce]\nversion = 1\n[layer2]\nforwarding = \"multipath\""), 0);
}

#[test]
fn overrides_come_before_defaults() {
    let set = |pairs: &[(&str, &str)]| {
        let pairs: Vec<_> = pairs.iter().map(|&(k, v)| (k.into(), v.into())).collect();
        let path = crate_folder().join("../../scenarios/incast-v2.toml");
        let scenario = Scenario::load(&path, &pairs).unwrap_or_else(|error| panic!("{error}"));
        scenario.plan().unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(set(&[]).name, "incast-v2");
    assert_eq!(set(&[("seed", "7")]).seed, 7);
    assert_eq!(set(&[("stop", "5ms")]).stop, Some(SimTime::from_ps(5_000_000_000)));
    assert_eq!(set(&[("workload.incast.senders", "3")]).flows.len(), 3);
    assert_eq!(set(&[("roce.version", "1")]).roce.encapsulation, Encapsulation::V1);
    let timely = set(&[("congestion_control.timely", "{}")]);
    assert_eq!(timely.queue_pairs[0].congestion_control.name(), "timely");
    let bigger = set(&[
        ("topology.single-switch.hosts", "40"),
        ("topology.single-switch.link", "{ rate = \"10Gbps\", cable = \"1m\" }"),
        ("sample.queues.ports", "[\"switch-0\"]"),
    ]);
    assert_eq!(bigger.topology.host_count(), 40);
}

#[test]
fn one_table_and_an_array_of_tables_mean_the_same() {
    let one = around_a_switch(3, "[workload.incast]\nsenders = 2\nbytes = \"1MB\"\n");
    let array = around_a_switch(3, "[[workload.incast]]\nsenders = 2\nbytes = \"1MB\"\n");
    assert_eq!(planned(&one).flows, planned(&array).flows);
    let two =
        format!("{array}[[workload.incast]]\nsenders = 1\nbytes = \"1KB\"\nstart = \"1us\"\n");
    let flows = planned(&two).flows;
    assert_eq!(flows[..2], planned(&one).flows);
    assert_eq!((flows.len(), flows[2].bytes), (3, 1_000));
}

#[test]
fn an_incast_has_distinct_senders_in_every_round() {
    let plan = planned(&around_a_switch(
        20,
        "[workload.incast]\nsenders = 16\nreceiver = \"host-5\"\nbytes = \"1MB\"\nrepeat = 4\n\
         interval = \"1ms\"\nstart = \"1us\"\n",
    ));
    assert_eq!(plan.flows.len(), 64);
    let mut rounds = BTreeSet::new();
    for (round, flows) in plan.flows.chunks(16).enumerate() {
        let start = SimTime::from_ps(1_000_000 + 1_000_000_000 * round as u64);
        assert!(flows.iter().all(|flow| flow.destination == 5 && flow.start == start));
        let senders: BTreeSet<_> = flows.iter().map(|flow| flow.source).collect();
        assert!(senders.len() == 16 && !senders.contains(&5));
        rounds.insert(senders);
    }
    assert!(rounds.len() > 1, "every round drew the same senders");
}

#[test]
fn a_permutation_is_a_derangement() {
    for hosts in [2, 3, 64] {
        let toml = around_a_switch(hosts, "[workload.permutation]\nbytes = \"1MB\"\n");
        for seed in 1..=20 {
            let plan = planned(&format!("seed = {seed}\n{toml}"));
            let ends =
                |end: fn(&FlowPlan) -> u32| plan.flows.iter().map(end).collect::<BTreeSet<_>>();
            assert_eq!(ends(|flow| flow.source).len(), hosts as usize);
            assert_eq!(ends(|flow| flow.destination).len(), hosts as usize);
            assert!(plan.flows.iter().all(|flow| flow.source != flow.destination));
        }
    }
}

#[test]
fn distributions_have_their_known_means() {
    // From the tables: the area beside each linear piece, by hand for WebSearch.
    let websearch = 0.15 * 5e3
        + 0.05 * 15e3
        + 0.1 * 25e3
        + 0.1 * 40e3
        + 0.13 * 65e3
        + 0.07 * 140e3
        + 0.1 * 600e3
        + 0.1 * 1.5e6
        + 0.1 * 3.5e6
        + 0.07 * 7.5e6
        + 0.03 * 20e6;
    let expected = [
        ("websearch", websearch),
        ("facebook-hadoop", 120_420.75),
        ("alistorage", 40_869.8),
        ("google-rpc", 2_891.621),
    ];
    assert_eq!(SizeDistribution::names().collect::<Vec<_>>(), expected.map(|(name, _)| name));
    for (name, mean) in expected {
        let distribution = SizeDistribution::named(name).unwrap();
        assert!((distribution.mean() / mean - 1.0).abs() < 1e-6, "{name} {}", distribution.mean());
        let n = 200_000;
        let sampled = (0..n).map(|i| distribution.sample((f64::from(i) + 0.5) / f64::from(n)));
        let sampled = sampled.map(|bytes| bytes as f64).sum::<f64>() / f64::from(n);
        assert!((sampled / mean - 1.0).abs() < 1e-3, "{name} {sampled}");
    }
    let websearch = SizeDistribution::named("websearch").unwrap();
    assert_eq!(
        [0.0, 0.15, 0.975, 1.0].map(|u| websearch.sample(u)),
        [1, 10_000, 13_333_333, 30_000_000]
    );
}

#[test]
fn poisson_arrivals_offer_the_load() {
    let toml = around_a_switch(
        64,
        "[workload.poisson]\nload = 0.4\ndistribution = \"alistorage\"\nduration = \"20ms\"\n\
         start = \"1ms\"\n",
    );
    let plan = planned(&toml);
    let offered: u64 = plan.flows.iter().map(|flow| flow.bytes).sum();
    let per_host = offered as f64 * 8.0 / 64.0 / 20e-3;
    assert!((per_host / 40e9 - 1.0).abs() < 0.02, "{per_host}");
    let first_and_last = [plan.flows[0].start.ps(), plan.flows[plan.flows.len() - 1].start.ps()];
    assert!(first_and_last[0] >= 1_000_000_000 && first_and_last[1] < 21_000_000_000);
    assert!(plan.flows.iter().all(|flow| flow.source != flow.destination));
    assert!(plan.flows.is_sorted_by_key(|flow| flow.start));

    // Variance of the gaps of all hosts together: an exponential's is its mean squared.
    let gaps: Vec<f64> =
        plan.flows.windows(2).map(|two| (two[1].start.ps() - two[0].start.ps()) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((variance / (mean * mean) - 1.0).abs() < 0.05, "{}", variance / (mean * mean));
}

#[test]
fn another_host_does_not_move_a_host_s_arrivals() {
    let starts = |hosts: &str| {
        let toml = around_a_switch(
            8,
            &format!(
                "[workload.poisson]\nload = 0.4\ndistribution = \"websearch\"\n\
                 duration = \"5ms\"\nhosts = {hosts}\n"
            ),
        );
        let flows = planned(&toml).flows;
        flows.iter().filter(|f| f.source == 2).map(|f| f.start).collect::<Vec<_>>()
    };
    assert_eq!(starts("[\"host-2..host-4\"]"), starts("[\"host-0..host-7\"]"));
}

#[test]
fn a_count_ends_arrivals() {
    let toml = "[workload.poisson]\nload = 1.0\ndistribution = \"google-rpc\"\ncount = 1000\n";
    assert_eq!(planned(&around_a_switch(4, toml)).flows.len(), 1000);
}

/// Source, destination, start in ps, bytes, verb, priority.
fn rows(plan: &Plan) -> Vec<(u32, u32, u64, u64, Verb, u8)> {
    let row = |f: &FlowPlan| (f.source, f.destination, f.start.ps(), f.bytes, f.verb, f.priority);
    plan.flows.iter().map(row).collect()
}

#[test]
fn flow_lists() {
    let csv = planned(&around_a_switch(4, "[workload.flows]\ncsv = \"flows.csv\"\n"));
    assert_eq!(
        rows(&csv),
        [
            (1, 2, 0, 2_000_000, Verb::Write, 3),
            (0, 1, 5_000_000, 1000, Verb::Send, 4),
            (2, 3, 5_000_000, 1, Verb::Read, 0),
        ]
    );
    let reference = "[workload.flows]\nreference = \"two.flow.txt\"\nverb = \"send\"\n";
    assert_eq!(
        rows(&planned(&around_a_switch(4, reference))),
        [(0, 1, 823_000, 66_936, Verb::Send, 3), (2, 1, 100_000_000_000, 1, Verb::Send, 4),]
    );
    let unmoved = format!("{reference}start_offset = \"0s\"\n");
    assert_eq!(rows(&planned(&around_a_switch(4, &unmoved)))[0].2, 2_000_000_823_000);
    let huge =
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"5GB\" }]\n";
    let flow = &planned(&around_a_switch(4, huge)).flows[0];
    let messages: Vec<_> = flow.messages().collect();
    assert_eq!(messages, [1 << 31, 1 << 31, 5_000_000_000 - (1 << 32)]);
}

#[test]
fn the_reference_flows_of_320_hosts() {
    let folder =
        crate_folder().join("../../../shared/golden/hpcc-ns3/public/fat320-websearch-dcqcn");
    if !folder.exists() {
        println!("skipped: the reference's files are not here");
        return;
    }
    let toml =
        "[topology.file]\npath = \"topology.txt\"\n[workload.flows]\nreference = \"flow.txt\"\n";
    let scenario = Scenario::parse(toml, &folder.join("s.toml"), &[]).unwrap();
    assert_eq!(scenario.input_files(), [Path::new("flow.txt"), Path::new("topology.txt")]);
    let plan = scenario.plan().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.topology.host_count(), plan.flows.len()), (320, 5637));
    assert_eq!(rows(&plan)[0], (284, 62, 823_000, 66_936, Verb::Write, 3));
}

#[test]
fn queue_pairs_are_numbered_by_host() {
    let list = "[workload.flows]\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"1B\", start = \"2us\" },\n\
                { from = \"host-0\", to = \"host-1\", bytes = \"1B\" },\n\
                { from = \"host-2\", to = \"host-0\", bytes = \"1B\" },\n]\n";
    let plan = planned(&around_a_switch(3, list));
    let numbers: Vec<_> =
        plan.flows.iter().map(|f| (f.source, f.source_qpn, f.destination_qpn)).collect();
    assert_eq!(numbers, [(0, 0x11, 0x11), (2, 0x11, 0x12), (1, 0x12, 0x13)]);
    assert!(plan.flows.iter().all(|f| f.source_psn < 1 << 24 && f.destination_psn < 1 << 24));
    assert!(plan.flows.iter().all(|f| (0xc000..=0xffff).contains(&f.entropy)));
    let v1 = planned(&around_a_switch(3, &format!("[roce]\nversion = 1\n{list}")));
    assert!(v1.flows.iter().all(|f| (1..1 << 20).contains(&f.entropy)));
    let psn = |plan: &Plan| plan.flows.iter().map(|f| f.source_psn).collect::<Vec<_>>();
    assert_eq!(psn(&plan), psn(&v1));
    assert_eq!(psn(&plan).into_iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn a_node_s_name_stands_for_all_of_its_ports() {
    let plan = planned(&around_a_switch(
        3,
        "[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n\
         [capture]\nports = [\"host-1\", \"switch-0:2\", \"switch-0\"]\n",
    ));
    assert_eq!(plan.capture.unwrap().ports, [(1, 0), (3, 2), (3, 0), (3, 1)]);
}

/// By hand: 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 4 ICRC + 4 FCS around 1024 bytes is 1086, and
/// 16 more with a RETH; an acknowledgement is 66. A byte takes 80 ps at 100 Gb/s.
#[test]
fn ideal_completion_times_by_hand() {
    let time = |list: &str| {
        let plan =
            planned(&around_a_switch(2, &format!("[workload.flows]\nlist = [{{ {list} }}]\n")));
        ideal_fct(&plan, &plan.flows[0]).ps()
    };
    let write =
        |bytes: &str| time(&format!("from = \"host-0\", to = \"host-1\", bytes = \"{bytes}\""));
    let (delay, ack) = (15_000, 2 * ((8 + 66) * 80 + 15_000));
    let only = 2 * ((8 + 1102) * 80 + delay);
    assert_eq!(write("1024B"), only + ack);
    // First, 98 middles and a last: each starts when the one before and its gap are over.
    let spaced = (8 + 1102 + 12) * 80 + 98 * (8 + 1086 + 12) * 80;
    let last = 2 * ((8 + 1086) * 80 + delay);
    // The first is 16 bytes longer than those behind it: they queue up behind it at the switch.
    let queued = 16 * 80;
    assert_eq!(write("102400B"), spaced + queued + last + ack);
    let read = time("from = \"host-0\", to = \"host-1\", bytes = \"1024B\", verb = \"read\"");
    let request = 2 * ((8 + 14 + 20 + 8 + 12 + 16 + 4 + 4) * 80 + delay);
    assert_eq!(read, request + 2 * ((8 + 1086 + 4) * 80 + delay));
    let send = time("from = \"host-0\", to = \"host-1\", bytes = \"1024B\", verb = \"send\"");
    assert_eq!(send, only - 2 * 16 * 80 + ack);
}

#[test]
fn the_schema_covers_every_key_and_accepts_every_scenario() {
    let schema = Scenario::json_schema();
    let text = schema.to_string();
    for name in ["leaf-spine", "fat-tree", "dcqcn", "timely", "incast", "permutation", "poisson"] {
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not in the schema");
    }
    for path in scenario_files() {
        let scenario = Scenario::load(&path, &[]).unwrap().resolved();
        let value = serde_json::to_value(&scenario).unwrap();
        covered(&schema, &schema, &value, &path.display().to_string());
    }
}

/// Walks a value beside its schema: every key is a documented property, every reference resolves.
fn covered(
    root: &serde_json::Value,
    schema: &serde_json::Value,
    value: &serde_json::Value,
    at: &str,
) {
    let fits = alternatives(root, schema);
    match value {
        serde_json::Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(_, inner)| !inner.is_null()) {
                let property = fits.iter().find_map(|schema| schema.get("properties")?.get(key));
                // A map has keys of its own, such as code points.
                let of_map = || {
                    let all = fits.iter().filter_map(|schema| schema.get("additionalProperties"));
                    all.into_iter().find(|every| every.is_object())
                };
                let property = property.or_else(of_map);
                let Some(property) = property else { panic!("{at}.{key} is not in the schema") };
                covered(root, property, inner, &format!("{at}.{key}"));
            }
        }
        serde_json::Value::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                // Pairs say what is in each place.
                let of_place = fits.iter().find_map(|schema| schema.get("prefixItems")?.get(place));
                let item = of_place.or_else(|| fits.iter().find_map(|schema| schema.get("items")));
                let Some(item) = item else { panic!("{at}[{place}] is not in the schema") };
                covered(root, item, inner, at);
            }
        }
        _ => {}
    }
}

fn alternatives<'a>(
    root: &'a serde_json::Value,
    schema: &'a serde_json::Value,
) -> Vec<&'a serde_json::Value> {
    let mut all = vec![schema];
    if let Some(reference) = schema.get("$ref").and_then(|reference| reference.as_str()) {
        let target = root.pointer(reference.trim_start_matches('#'));
        all.extend(alternatives(root, target.expect("a reference resolves")));
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        let several = schema.get(key).and_then(|several| several.as_array());
        all.extend(several.into_iter().flatten().flat_map(|one| alternatives(root, one)));
    }
    all
}

/// What the fuzz target does for hours, for a moment: damaged scenarios are refused, not fatal.
#[test]
fn damaged_scenarios_do_not_panic() {
    let mut stream = rocelab_engine::RngStream::new(1, "damage");
    let mut below = |bound: usize| usize::try_from(stream.below(bound as u64)).unwrap();
    let files = scenario_files();
    let texts: Vec<_> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let mut planned = 0;
    for _ in 0..2_000 {
        let mut bytes = texts[below(texts.len())].clone().into_bytes();
        for _ in 0..1 + below(3) {
            let (at, from) = (below(bytes.len()), below(bytes.len()));
            match below(3) {
                0 => _ = bytes.remove(at),
                1 => bytes[at] = bytes[from],
                _ => bytes.truncate(at.max(20)),
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if let Ok(scenario) = Scenario::parse(&text, &files[0], &[])
            && largest_number(&serde_json::to_value(&scenario.topology).unwrap()) < 100
        {
            planned += usize::from(scenario.plan_within(10_000).is_ok());
        }
    }
    assert!(planned > 50, "{planned} damaged scenarios planned: the damage is too great");
}

fn largest_number(value: &serde_json::Value) -> u64 {
    match value {
        serde_json::Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        serde_json::Value::Array(items) => items.iter().map(largest_number).max().unwrap_or(0),
        serde_json::Value::Object(map) => map.values().map(largest_number).max().unwrap_or(0),
        _ => 0,
    }
}

fn reference_page() -> String {
    std::fs::read_to_string(crate_folder().join("../../docs/scenario.md")).unwrap()
}

#[test]
fn the_reference_page_names_every_key() {
    let page = reference_page();
    let schema = Scenario::json_schema();
    let definitions = schema["$defs"].as_object().unwrap().iter();
    // Parameters of algorithms are in the schema alone, as the page says.
    let algorithms = schema["$defs"]["Algorithm"].to_string();
    let ours = definitions.filter(|(name, _)| !algorithms.contains(&format!("\"#/$defs/{name}\"")));
    let tables = ours.map(|(_, table)| table).chain([&schema]);
    let keys: BTreeSet<&str> = tables
        .filter_map(|table| table["properties"].as_object())
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    assert!(keys.len() > 60, "{keys:?}");
    for key in keys {
        let written =
            [format!("`{key}`"), format!("{key} ="), format!("[{key}"), format!(".{key}")];
        assert!(
            written.iter().any(|text| page.contains(text)),
            "`{key}` is not in docs/scenario.md"
        );
    }
}

#[test]
fn the_reference_page_s_examples_are_true() {
    let page = reference_page();
    let example = page.split("```toml").nth(1).and_then(|text| text.split("```").next()).unwrap();
    assert_eq!(planned(example).flows.len(), 16);
    let error = page.split("```text\n").nth(1).and_then(|text| text.lines().next()).unwrap();
    let ecn = "[switch]\necn.kmin = \"400KB\"\necn.kmax = \"100KB\"\necn.pmax = 0.2\n";
    let workload = "[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
    let refused = parsed(&around_a_switch(2, &format!("{ecn}{workload}"))).plan().unwrap_err();
    let shown = |text: &str| text.split_once("switch.ecn").unwrap().1.to_string();
    assert_eq!(shown(error), shown(&refused.to_string()));
}

#[test]
fn a_workload_s_congestion_control_goes_before_its_class_s_and_the_scenario_s() {
    let plan = planned(&around_a_switch(
        3,
        "[congestion_control.dcqcn]\n[class.4.congestion_control.hpcc]\n\
         [[workload.flows]]\nlist = [\n\
         { from = \"host-1\", to = \"host-0\", bytes = \"1KB\" },\n\
         { from = \"host-1\", to = \"host-0\", bytes = \"1KB\", priority = 4 },\n]\n\
         [[workload.flows]]\ncongestion_control = { timely = {} }\nlist = [\n\
         { from = \"host-2\", to = \"host-0\", bytes = \"1KB\", priority = 4 },\n]\n\
         [workload.incast]\nsenders = 1\nbytes = \"1KB\"\ncongestion_control = { dcqcn = {} }\n",
    ));
    let names: Vec<_> =
        plan.flows.iter().map(|flow| plan.queue_pairs_of(flow).congestion_control.name()).collect();
    assert_eq!(names, ["dcqcn", "hpcc", "timely", "dcqcn"]);
    assert_eq!(plan.queue_pairs.len(), 3, "equal ones are one");
    let capable: Vec<_> = plan.queue_pairs.iter().map(|profile| profile.ecn_capable).collect();
    assert_eq!(capable, [true, false, false]);
    assert!(plan.switch.ecn.is_some(), "dcqcn needs marks");
}

#[test]
fn marking_is_on_only_for_those_who_need_it() {
    let incast = "[workload.incast]\nsenders = 1\nbytes = \"1KB\"\n";
    let timely = format!("{incast}congestion_control = {{ timely = {{}} }}\n");
    let plan = planned(&around_a_switch(2, &timely));
    assert_eq!(plan.switch.ecn, None, "no flow uses the default");
    let class = format!("[class.3.congestion_control.timely]\n{incast}");
    let resolved = parsed(&around_a_switch(2, &class)).resolved().to_toml().unwrap();
    assert!(resolved.contains("[class.3.congestion_control.timely]"), "{resolved}");
    let chosen = planned(&around_a_switch(2, &class));
    assert_eq!(chosen.queue_pairs[0].congestion_control.name(), "timely");
    let overridden = Scenario::parse(
        &around_a_switch(2, &class),
        Path::new("s.toml"),
        &[("class.3.congestion_control.swift".into(), "{}".into())],
    );
    let overridden = overridden.and_then(|scenario| scenario.plan()).unwrap();
    assert_eq!(overridden.queue_pairs[0].congestion_control.name(), "swift");
}

#[test]
fn the_base_round_trip_is_that_of_the_longest_path() {
    let base_rtt = |algorithm: &str, workload: &str| {
        let plan = planned(&format!(
            "[congestion_control.{algorithm}]\n[topology.leaf-spine]\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 2\nhost_link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
             fabric_link = {{ rate = \"400Gbps\", delay = \"2us\" }}\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }}{workload}]"
        ));
        plan.queue_pairs[0].base_rtt.ps()
    };
    // Each link takes (8 + frame) bytes of 80 ps or 20 ps, and its delay; frames are 1086 and 66
    // bytes, with INT 44 more.
    let near = |extra: u64| 2 * (1_094 + extra + 74 + extra) * 80 + 4 * 1_000_000;
    let far = |extra: u64| near(extra) + 2 * (1_094 + extra + 74 + extra) * 20 + 4 * 2_000_000;
    let across = ", { from = \"host-3\", to = \"host-0\", bytes = \"1KB\" }";
    assert_eq!(base_rtt("dcqcn", ""), near(0));
    assert_eq!(base_rtt("hpcc", ""), near(44));
    assert_eq!(base_rtt("hpcc", across), far(44));
    assert_eq!(base_rtt("hpcc-pint", across), far(4));
}

#[test]
fn congestion_points_come_with_those_who_need_them() {
    let qcn = |rest: &str| {
        let workload = "[workload.incast]\nsenders = 3\nbytes = \"1MB\"\n";
        let text = around_a_switch(4, &format!("{workload}[roce]\nversion = 1\n{rest}"));
        parsed(&text).resolved().switch.qcn
    };
    assert!(qcn("[congestion_control.qcn]").is_some());
    assert!(qcn("[class.3]\ncongestion_control = { qcn = {} }").is_some());
    assert!(qcn("").is_none());
    let given = qcn("[congestion_control.qcn]\n[switch]\nqcn = { weight = 1 }").unwrap();
    assert_eq!((given.weight, given.cnm_priority), (1, 6));
}
