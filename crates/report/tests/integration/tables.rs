//! Compares tables and pictures with golden files that people can read.

use std::fs;
use std::path::Path;

use rocelab_report::{summary_table, topology_svg, topology_table};
use rocelab_results::*;
use rocelab_units::{Bandwidth, Duration};

/// Set `UPDATE_GOLDEN` to write the files anew, and check the difference before you commit it.
fn check(text: &str, name: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(golden).unwrap(), "{name}");
}

fn summary() -> Summary {
    let mut drops = DropCounts::default();
    drops.add_frames("headroom_exceeded", 1_200);
    drops.add("egress_threshold");
    let mut fct_ps: Vec<u64> = (1..=16).map(|flow| flow * 87_654_321).collect();
    let mut slowdown: Vec<u64> = (1..=16).map(|flow| flow * 1_012_345).collect();
    Summary {
        scenario: "incast-v2".into(),
        seed: 1,
        roce_version: 2,
        digest: "9f86d081884c7d659a2feaa0c55ad015".into(),
        simulated_ps: 1_402_469_136,
        link_traversals: LinkTraversals {
            total: 12_345_678,
            data: 6_345_678,
            ack: 5_000_000,
            control: 1_000_000,
        },
        flows: FlowCounts { total: 18, completed: 16, failed: 1, unfinished: 1 },
        goodput_bps: Some(93_104_000_000),
        goodput: Some(Goodput {
            rule: GoodputRule::Until95Percent,
            bytes: 15_200_000,
            duration_ps: 1_306_066_334,
            tail: Some(GoodputTail { bytes: 800_000, duration_ps: 96_402_802 }),
        }),
        fct_ps: Distribution::with_missing(&mut fct_ps, &Missing::never(2)),
        slowdown: Distribution::with_missing(&mut slowdown, &Missing::never(2))
            .map(Distribution::into_millionths),
        frozen: Some(FrozenRecord {
            flows: 1,
            since_ps: 1_002_003_004,
            roots: vec![FrozenRoot { root: "leaf-0:12".into(), held: 1 }],
            ..FrozenRecord::default()
        }),
        drops,
        faults: vec![fault("lost ACKs", "drop", 50_000, 12), fault("faults[1]", "delay", 0, 0)],
        pfc: PfcCounts { pauses: 120, resumes: 119, paused_ps: 3_210_000_000 },
        ecn: EcnCounts { marks: 4_321 },
        cnps: 456,
        cnms: 0,
        switch_cnps: 0,
        ns3_rdma: None,
        naks: 1,
        timeouts: 0,
        retransmissions: 1_201,
        ..Summary::default()
    }
}

/// A fault of the model must not be overlooked, so it is a warning.
#[test]
fn idle_queue_pairs_are_a_warning() {
    let idle = |qpn| IdleQueuePairRecord {
        host: "host-1".into(),
        qpn,
        flow: Some(3),
        since_ps: 310_000_000,
        until_ps: 600_500_000,
        rate_bps: 200_000_000_000,
    };
    let mut summary = Summary { idle_queue_pairs: vec![idle(17)], ..summary() };
    let warning = "Warning          queue pair 0x11 of host-1 (flow 3) could send and did not for\n\
                   \x20                290.50 us from 310.00 us on\n";
    let table = summary_table(&summary, &run(), Path::new("results"));
    assert!(table.contains(warning) && !table.contains(" more "), "{table}");
    summary.idle_queue_pairs = (17..21).map(idle).collect();
    let table = summary_table(&summary, &run(), Path::new("results"));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert_eq!(table.matches("Warning ").count(), 4);
    assert!(table.contains("1 queue pair more that could send and did not: see"), "{table}");
}

fn fault(rule: &str, action: &str, matched: u64, acted: u64) -> FaultRuleCounts {
    FaultRuleCounts { rule: rule.into(), action: action.into(), matched, acted }
}

fn run() -> RunInfo {
    let mut run = RunInfo {
        wall_s: 2.513,
        cpu_s: 2.4,
        peak_memory_bytes: 45_120_000,
        events: 20_000_000,
        ..RunInfo::default()
    };
    run.set_rates(run.events, 12_345_678);
    run
}

/// Leaves and spines, with `hosts` at each leaf, at the positions of the topologies' layout.
fn leaf_spine(leaves: usize, spines: usize, hosts: usize) -> TopologyMap {
    let row = |index: usize, of: usize| (index as f64 + 0.5) / of as f64;
    let mut map = TopologyMap::default();
    let mut add = |name: String, kind, tier: u8, x| {
        let y = 1.0 - (f64::from(tier) + 0.5) / 3.0;
        map.nodes.push(MapNode { name, kind, tier, x, y });
    };
    for host in 0..leaves * hosts {
        add(format!("host-{host}"), MapNodeKind::Host, 0, row(host, leaves * hosts));
    }
    for leaf in 0..leaves {
        add(format!("leaf-{leaf}"), MapNodeKind::Switch, 1, row(leaf, leaves));
    }
    for spine in 0..spines {
        add(format!("spine-{spine}"), MapNodeKind::Switch, 2, row(spine, spines));
    }
    for leaf in 0..leaves {
        let b = leaves * hosts + leaf;
        for host in 0..hosts {
            let rate = Bandwidth::from_gbps(100);
            map.links.push(MapLink {
                a: leaf * hosts + host,
                b,
                rate,
                delay: Duration::from_ns(15),
            });
        }
        for spine in 0..spines {
            let (rate, delay) = (Bandwidth::from_gbps(400), Duration::from_ns(150));
            map.links.push(MapLink { a: b, b: leaves * (hosts + 1) + spine, rate, delay });
        }
    }
    map
}

#[test]
fn a_summary_fits_80_columns() {
    let table = summary_table(&summary(), &run(), Path::new("results/incast-v2-1"));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    check(&table, "summary.txt");
}

fn of_kind(per_second: u64) -> KindCounts {
    KindCounts {
        completed: per_second / 10,
        per_second: Some(per_second),
        latency_ps: Distribution::of(&mut [12_345_678; 2_000]),
        open_mean: None,
    }
}

#[test]
fn applications_have_their_lines() {
    let disk = OperationCounts {
        app: "disk".into(),
        total: 400_000,
        completed: 399_984,
        failed: 0,
        unfinished: 16,
        per_second: 1_234_567,
        goodput_bps: Some(41_256_000_000),
        goodput: Some(Goodput {
            rule: GoodputRule::BetweenStarts,
            bytes: 5_157_000,
            duration_ps: 1_000_000_000,
            tail: None,
        }),
        latency_ps: Distribution::of(&mut [12_345_678, 13_456_789, 15_000_000]),
        open_mean: Some(Millionths(15_500_000)),
        kinds: [("read", 1_000_000), ("write", 234_567)]
            .map(|(kind, per_second)| (kind.to_owned(), of_kind(per_second)))
            .into(),
    };
    // A name that is too long for its column has a line of its own.
    let long = OperationCounts {
        app: "key-value store".into(),
        latency_ps: Distribution::with_missing(&mut [7_000_000; 20], &Missing::never(1)),
        ..OperationCounts::default()
    };
    let kv = OperationCounts { app: "kv".into(), total: 1, failed: 1, ..Default::default() };
    let flows = FlowCounts::default();
    let summary = Summary {
        flows,
        fct_ps: None,
        slowdown: None,
        operations: vec![disk, long, kv],
        rnr_naks: 2,
        ..summary()
    };
    let table = summary_table(&summary, &run(), Path::new("results/storage-1"));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    check(&table, "applications.txt");
}

/// The flows, goodput and percentiles of each transport do not fit on one line.
#[test]
fn transports_fit_80_columns() {
    let flows = FlowCounts { total: 123_456, completed: 123_450, failed: 3, unfinished: 3 };
    let own = TransportFlows {
        flows,
        goodput_bps: Some(93_104_000_000),
        goodput: summary().goodput,
        fct_ps: Distribution::with_missing(&mut [12_345_678_901; 200], &Missing::never(6)),
        slowdown: None,
    };
    let transports = ["rdma", "tcp"].map(|name| (name.to_owned(), own.clone())).into();
    let table = summary_table(&Summary { transports, ..summary() }, &run(), Path::new("results"));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("p99 >=12.35 ms"), "{table}");
}

#[test]
fn messages_have_a_line_on_an_unreliable_service() {
    let lines = |total, delivered, lost| -> Vec<String> {
        let messages = Some(MessageCounts { total, delivered, lost });
        let table = summary_table(&Summary { messages, ..summary() }, &run(), Path::new("results"));
        table.lines().filter(|line| line.starts_with("Messages")).map(str::to_owned).collect()
    };
    let expected = "Messages         9,997 of 10,000 delivered, 2 lost";
    assert_eq!(lines(10_000, 9_997, 2), [expected]);
    assert_eq!(lines(10, 10, 0), ["Messages         10 of 10 delivered"]);
}

#[test]
fn a_quiet_and_interrupted_run_says_so() {
    let summary = Summary {
        scenario: "idle".into(),
        roce_version: 1,
        incomplete: true,
        flows: FlowCounts { total: 1, unfinished: 1, ..FlowCounts::default() },
        ..Summary::default()
    };
    check(&summary_table(&summary, &RunInfo::default(), Path::new("results/idle-0")), "quiet.txt");
}

#[test]
fn a_topology_is_counted_by_tier() {
    check(&topology_table(&leaf_spine(4, 2, 16)), "leaf_spine.txt");
    check(&topology_table(&leaf_spine(1_000, 16, 40)), "large.txt");
}

#[test]
fn a_small_topology_is_drawn_node_by_node() {
    let map = leaf_spine(2, 2, 2);
    let svg = topology_svg(&map);
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<rect class=").count(), map.nodes.len());
    // One line for each link, and two in the legend.
    assert_eq!(svg.matches("<path ").count(), map.links.len() + 2);
    check(&svg, "leaf_spine.svg");
}

#[test]
fn every_name_shows_on_hovering() {
    let map = leaf_spine(8, 4, 40);
    let svg = topology_svg(&map);
    assert_well_formed(&svg);
    for node in &map.nodes {
        assert!(svg.contains(&format!("<title>{}: ", node.name)), "{}", node.name);
    }
    assert!(svg.contains("<title>leaf-0 - spine-3: 400Gbps, 150ns</title>"));
}

#[test]
fn large_topologies_are_drawn_in_groups_of_bounded_size() {
    let racks = topology_svg(&leaf_spine(60, 8, 40));
    assert_well_formed(&racks);
    assert_eq!(racks.matches("40 hosts: host-").count(), 60);
    assert!(racks.contains("<title>40 hosts: host-0 to host-39</title>"));
    assert!(
        racks.contains("<title>40 hosts - leaf-0: 40 x 100Gbps, 15ns</title>")
            || racks.contains("<title>leaf-0 - 40 hosts: 40 x 100Gbps, 15ns</title>")
    );

    let hundred_thousand = topology_svg(&leaf_spine(2_500, 200, 40));
    assert_well_formed(&hundred_thousand);
    assert!(hundred_thousand.len() < 4_000_000, "{} bytes", hundred_thousand.len());
    assert!(hundred_thousand.contains("20 switches: leaf-0 to leaf-19"));
}

#[test]
fn odd_topologies_are_drawn_too() {
    assert_well_formed(&topology_svg(&TopologyMap::default()));
    let mut map = leaf_spine(2, 1, 1);
    map.nodes[0].name = "<a> & \"b\"\u{1b}".into();
    map.nodes[1].x = f64::NAN;
    // Within a row; to a node that does not exist; to itself.
    for (a, b) in [(2, 3), (0, 99), (1, 1)] {
        let (rate, delay) = (Bandwidth::from_gbps(10), Duration::ZERO);
        map.links.push(MapLink { a, b, rate, delay });
    }
    let svg = topology_svg(&map);
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;a&gt; &amp; &quot;b&quot;\u{fffd}: host"));
    assert!(svg.contains("leaf-0 - leaf-1: 10Gbps"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    topology_table(&map);
}

/// Every element is closed in order, and attributes have no stray quotes or brackets.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("no end: {part}"));
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{part}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert_eq!(open, [""; 0]);
    assert!(svg.ends_with("</svg>\n"));
}
