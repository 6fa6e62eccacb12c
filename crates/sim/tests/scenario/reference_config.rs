//! Configurations of HPCC's ns-3 simulator: what they become, and what is refused.

use std::path::{Path, PathBuf};

use rocelab_sim::reference::{Loaded, load, parse_config};
use rocelab_sim::{HpccNs3Plan, Plan, Planning, Scenario, ScenarioError, UnloadedNetwork};
use rocelab_units::{Bandwidth, SimTime};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference")
}

/// A configuration that can run: three hosts around switch 3, two flows.
const BASE: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nCC_MODE 1\n\
    RP_TIMER 300\nRATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nEWMA_GAIN 0.00390625\nL2_ACK_INTERVAL 1\n\
    KMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.20\n";

fn read(text: &str) -> Result<Loaded, ScenarioError> {
    parse_config(text, &data().join("config.txt"), &[])
}

fn planned(text: &str) -> Result<Plan, ScenarioError> {
    read(text)?.scenario.plan()
}

fn profile_of(plan: &Plan) -> &HpccNs3Plan {
    plan.profile.hpcc_ns3().expect("a configuration is a run of that profile")
}

/// `BASE` with the line of a key replaced, or without it where `line` is empty.
fn with(key: &str, line: &str) -> String {
    let has_key = |text: &&str| text.split(' ').next() == Some(key);
    let kept: Vec<&str> = BASE.lines().filter(|text| !has_key(text)).collect();
    format!("{line}\n{}\n", kept.join("\n"))
}

#[test]
fn silence_takes_the_simulator_s_defaults() {
    let plan = planned(BASE).unwrap();
    let profile = profile_of(&plan);
    assert_eq!(plan.name, "reference");
    assert_eq!(profile.payload_bytes, 1_000);
    assert_eq!((profile.chunk_bytes, profile.ack_interval_bytes), (0, 1));
    assert!(!profile.back_to_chunk && profile.has_window && !profile.scale_window);
    assert!(profile.common_base_rtt && profile.pace_at_rate && !profile.ack_high_priority);
    assert!(profile.mark);
    assert_eq!(profile.buffer_bytes, 16 * 1_048_576);
    assert_eq!((profile.common_loss, profile.pint_probability), (0.0, 1.0));
    assert_eq!(profile.link_down, None);
    // 3.01 is 3.00999999999999978684 in binary, which is cut off.
    assert_eq!(plan.stop, Some(SimTime::from_ps(3_009_999_999_000)));
    let [row] = profile.ecn.as_slice() else { panic!("{:?}", profile.ecn) };
    assert_eq!(row.rate, Bandwidth::from_gbps(100));
    assert_eq!((row.kmin, row.kmax, row.pmax), (400_000, 1_600_000, 0.2));
    let algorithm = serde_json::to_value(&profile.algorithm).unwrap();
    let expected = serde_json::json!({ "dcqcn": {
        "preset": "hpcc", "g": "1/256", "alpha_interval": "55us",
        "rate_decrease_interval": "4us", "clamp_target_rate": false, "increase_timer": "300us",
        "fast_recovery_threshold": 5, "additive_increase": "20Mbps",
        "hyper_increase": "200Mbps", "min_rate": "100Mbps",
    } });
    assert_eq!(algorithm, expected);
}

#[test]
fn delays_and_starts_are_cut_off_in_their_unit() {
    let plan = planned(BASE).unwrap();
    // 1us, 0.6us (0.59999999999999997780 in binary) and 1000ns.
    let delays: Vec<_> = plan.topology.links.iter().map(|link| link.delay.ps()).collect();
    assert_eq!(delays, [1_000_000, 599_000, 1_000_000]);
    // Both start at 2.3 s (2.29999999999999982236), in the order of the file.
    let flows: Vec<_> = plan
        .flows
        .iter()
        .map(|flow| (flow.source, flow.destination, flow.start.ps(), flow.entropy, flow.priority))
        .collect();
    let start = 2_299_999_999_000;
    assert_eq!(flows, [(1, 2, start, 10_000 | 100 << 16, 3), (0, 2, start, 10_000 | 200 << 16, 1)]);
}

#[test]
fn every_mode_becomes_its_algorithm() {
    let algorithm = |mode: &str, more: &str| {
        let text = format!("{}{more}", with("CC_MODE", &format!("CC_MODE {mode}")));
        let plan = planned(&text).unwrap_or_else(|error| panic!("{error}"));
        serde_json::to_value(&profile_of(&plan).algorithm).unwrap()
    };
    let hpcc = "MI_THRESH 0\nFAST_REACT 0\nMULTI_RATE 0\nSAMPLE_FEEDBACK 1\nINT_MULTI 4\n";
    assert_eq!(
        algorithm("3", hpcc),
        serde_json::json!({ "hpcc": {
            "additive_increase": "20Mbps", "eta": "95/100", "max_stage": 0, "min_rate": "100Mbps",
            "fast_react": false, "per_hop_rate": false, "sample_feedback": true,
            "int_multiplier": 4,
        } })
    );
    let timely = &algorithm("7", "MIN_RATE 1Gb/s\n")["timely"];
    assert_eq!(timely["preset"], "hpcc");
    assert_eq!(
        (&timely["delta"], &timely["hyper_increase"]),
        (&"20Mbps".into(), &"200Mbps".into())
    );
    assert_eq!(timely["min_rate"], "1Gbps");
    assert_eq!(
        algorithm("8", "DCTCP_RATE_AI 615Mb/s\n"),
        serde_json::json!({ "dctcp": {
            "g": "1/256", "additive_increase": "615Mbps", "min_rate": "100Mbps",
        } })
    );
    assert_eq!(
        algorithm("10", "PINT_LOG_BASE 1.01\nU_TARGET 0.9\n"),
        serde_json::json!({ "hpcc-pint": {
            "additive_increase": "20Mbps", "eta": "9/10", "max_stage": 5, "min_rate": "100Mbps",
            "log_base": "101/100",
        } })
    );
    assert!(algorithm("5", "").get("none").is_some());
}

#[test]
fn every_key_of_a_run_has_its_effect() {
    let changed = |key: &str, line: &str| {
        let plan = planned(&with(key, line)).unwrap_or_else(|error| panic!("{error}"));
        profile_of(&plan).clone()
    };
    assert!(!changed("ENABLE_QCN", "ENABLE_QCN 0").mark);
    assert_eq!(changed("PACKET_PAYLOAD_SIZE", "PACKET_PAYLOAD_SIZE 4000").payload_bytes, 4_000);
    assert_eq!(changed("BUFFER_SIZE", "BUFFER_SIZE 2").buffer_bytes, 2 << 20);
    assert_eq!(changed("", "ERROR_RATE_PER_LINK 1e-3").common_loss, 0.001);
    let chunks = changed("L2_ACK_INTERVAL", "L2_ACK_INTERVAL 3500 L2_CHUNK_SIZE 4000");
    assert_eq!((chunks.ack_interval_bytes, chunks.chunk_bytes), (3_500, 4_000));
    assert!(changed("", "L2_BACK_TO_ZERO 1 L2_CHUNK_SIZE 4000").back_to_chunk);
    assert!(changed("", "HAS_WIN 1").has_window);
    assert!(changed("", "VAR_WIN 1").scale_window);
    assert!(!changed("", "GLOBAL_T 0").common_base_rtt);
    assert!(!changed("", "RATE_BOUND 0").pace_at_rate);
    assert!(changed("", "ACK_HIGH_PRIO 1").ack_high_priority);
    assert_eq!(changed("", "PINT_PROB 0.5").pint_probability, 0.5);
    let down = changed("", "LINK_DOWN 150 0 3").link_down.unwrap();
    assert_eq!((down.at.ps(), down.a, down.b), (2_000_150_000_000, 0, 3));
    assert_eq!(changed("", "LINK_DOWN 0 0 0").link_down, None);
}

#[test]
fn what_is_said_to_no_effect_is_noted() {
    let text = format!(
        "{BASE}FCT_OUTPUT_FILE out.txt PAUSE_TIME 5 QLEN_MON_START 2000000000\n\
         QLEN_MON_FILE queues\nU_TARGET 0.95\n\
         CC_MODE 8\n"
    );
    let notes = read(&text).unwrap().notes;
    assert_eq!(
        notes,
        [
            "FCT_OUTPUT_FILE out.txt: it is fct.txt in the results directory",
            "CC_MODE stands there more than once: the last one holds",
            "QLEN_MON_FILE queues: it is qlen.txt in the results directory",
            "without effect on results: PAUSE_TIME",
            "without effect with CC_MODE 8: RP_TIMER, RATE_AI, RATE_HAI, U_TARGET",
        ]
    );
    let notes = read(&with("CC_MODE", "CC_MODE 2")).unwrap().notes;
    assert!(notes[0].starts_with("CC_MODE 2: nothing reacts to congestion"), "{notes:?}");
    let notes = read(&with("EWMA_GAIN", "")).unwrap().notes;
    assert!(notes[0].starts_with("EWMA_GAIN is not there: 1/16 holds"), "{notes:?}");
    let notes = read(&with("PMAX_MAP", "PMAX_MAP 2 1 0.5 100000000000 0.2")).unwrap().notes;
    assert!(notes[0].ends_with("left out: 1"), "{notes:?}");
}

#[test]
fn overrides_are_keys_of_the_scenario() {
    let path = data().join("config.txt");
    let set = |key: &str, value: &str| {
        let loaded = parse_config(BASE, &path, &[(key.into(), value.into())])?;
        loaded.scenario.plan()
    };
    let plan = set("profile.hpcc-ns3.payload", "500B").unwrap();
    assert_eq!(profile_of(&plan).payload_bytes, 500);
    assert!(set("profile.hpcc-ns3.playload", "500B").is_err());
    let error = set("profile.hpcc-ns3.payload", "0B").unwrap_err();
    assert_eq!((error.file(), error.value()), (Path::new("--set"), "0B"));
}

/// The errors of configurations and their inputs.
#[test]
fn what_is_wrong_is_named_with_its_place_and_fix() {
    let base = |line: &str| format!("{line}\n{BASE}");
    // (text, the error after the folder)
    let table: &[(String, &str)] = &[
        (
            base("CC_MODEE 3"),
            "config.txt:1:1: CC_MODEE: there is no key `CC_MODEE`; did you mean `CC_MODE`?",
        ),
        (
            base("RATE_BOUND 1 Gb/s"),
            "config.txt:1:14: Gb/s: there is no key `Gb/s`; write `KEY value`; docs/scenario.md \
             lists the keys",
        ),
        (
            base("HAS_WIN CC_MODE 1"),
            "config.txt:1:1: HAS_WIN: a value should follow `HAS_WIN`; add it",
        ),
        (
            format!("{BASE}BUFFER_SIZE"),
            "config.txt:12:1: BUFFER_SIZE: a value should follow `BUFFER_SIZE`; add it",
        ),
        (
            base("HAS_WIN yes"),
            "config.txt:1:9: HAS_WIN = yes: this is neither on nor off; write 0 or 1",
        ),
        (
            base("MI_THRESH -1\nCC_MODE 3").replace("CC_MODE 1\n", ""),
            "config.txt:1:11: MI_THRESH = -1: this is no whole number; write digits alone, at \
             most 4294967295",
        ),
        (
            with("RP_TIMER", "RP_TIMER soon"),
            "config.txt:1:10: RP_TIMER = soon: this is no time; write microseconds, as in 300",
        ),
        (
            with("RP_TIMER", "RP_TIMER 0.9"),
            "config.txt:1:10: RP_TIMER = 0.9: would expire without end; give a time above 0s, \
             such as \"55us\"",
        ),
        (
            with("RATE_AI", "RATE_AI 20"),
            "config.txt:1:9: RATE_AI = 20: `20` has no unit; write a bandwidth such as `100Gbps`",
        ),
        (
            with("RATE_AI", "MIN_RATE 1Gb/s"),
            "config.txt:11:29: the key `RATE_AI` is missing: CC_MODE 1 has no default for it; \
             add `RATE_AI ...`",
        ),
        (
            with("TOPOLOGY_FILE", ""),
            "config.txt:11:29: the key `TOPOLOGY_FILE` is missing: nothing else names it; add \
             `TOPOLOGY_FILE ...`",
        ),
        (
            with("EWMA_GAIN", "EWMA_GAIN 1/256"),
            "config.txt:1:11: EWMA_GAIN = 1/256: this is no fraction; write a number such as \
             0.00390625 or 1e-3, at least 1e-9",
        ),
        (with("EWMA_GAIN", "EWMA_GAIN 0"), "config.txt:1:11: EWMA_GAIN = 0: "),
        (
            with("KMAX_MAP", "KMAX_MAP two 1 2"),
            "config.txt:1:10: KMAX_MAP = two: this is no number of pairs; write `2 RATE VALUE \
             RATE VALUE`, with rates in bit/s",
        ),
        (
            with("KMAX_MAP", "KMAX_MAP 1 100Gbps 2"),
            "config.txt:1:12: KMAX_MAP = 100Gbps: this is no rate in bit/s; write `2 RATE VALUE \
             RATE VALUE`, with rates in bit/s",
        ),
        (
            base("KMAX_MAP 0"),
            "config.txt:10:1: KMAX_MAP: `KMAX_MAP` stands there twice; keep one of them",
        ),
        (
            with("KMAX_MAP", "KMAX_MAP 1 100000000000 300"),
            "config.txt:10:25: KMIN_MAP = 400: kmin 400KB is above kmax 300KB; give at most 300 in \
             KMIN_MAP, or more in KMAX_MAP; both count 1000 bytes",
        ),
        (
            with("KMAX_MAP", "KMAX_MAP 1 25000000000 300"),
            "config.txt:1:12: KMAX_MAP: the link from `host-0` to `switch-3` is 100Gbps and has no \
             thresholds: KMAX_MAP does not have that rate; add `100000000000 1600` to KMAX_MAP \
             and raise its count, or set ENABLE_QCN 0",
        ),
        (
            with("KMIN_MAP", "KMIN_MAP 1 25000000000 300"),
            "config.txt:1:12: KMIN_MAP: the link from `host-0` to `switch-3` is 100Gbps and has no \
             thresholds: KMIN_MAP does not have that rate; add `100000000000 400` to KMIN_MAP and \
             raise its count, or set ENABLE_QCN 0",
        ),
        (
            with("KMIN_MAP", ""),
            "config.txt:11:29: the key `KMIN_MAP` is missing: the link from `host-0` to `switch-3` \
             is 100Gbps and has no thresholds; add `KMIN_MAP 1 100000000000 400`, or set \
             ENABLE_QCN 0",
        ),
        (
            // In bytes one more than 32 bits hold is 4294967.296 thousand.
            with("KMAX_MAP", "KMAX_MAP 1 100000000000 4294968"),
            "config.txt:1:25: KMAX_MAP = 4294968: ",
        ),
        (
            base("SIMULATOR_STOP_TIME soon"),
            "config.txt:1:21: SIMULATOR_STOP_TIME = soon: this is no time; give seconds, such as \
             2.005",
        ),
        (
            base("SIMULATOR_STOP_TIME 0"),
            "config.txt:1:21: SIMULATOR_STOP_TIME = 0: the run would end before it begins; give \
             seconds, such as 2.005",
        ),
        (
            with("FLOW_FILE", "FLOW_FILE none.flow.txt"),
            "config.txt:1:11: FLOW_FILE = none.flow.txt: this file has no flows; give their \
             number in its first line, and a line for each: `source destination priority port \
             bytes start`",
        ),
        (
            with("L2_ACK_INTERVAL", "L2_ACK_INTERVAL 2000"),
            "config.txt:1:17: L2_ACK_INTERVAL = 2000: below it the ends of chunks are \
             acknowledged, and chunks have 0B; set L2_ACK_INTERVAL 1, or an L2_CHUNK_SIZE above \
             0, such as 4000",
        ),
        (
            with("PMAX_MAP", "PMAX_MAP 1 100000000000 1.5"),
            "config.txt:1:25: PMAX_MAP = 1.5: this is no probability from 0 to 1; write `2 RATE \
             VALUE RATE VALUE`, with rates in bit/s",
        ),
        (
            base("L2_BACK_TO_ZERO 1"),
            "config.txt:1:17: L2_BACK_TO_ZERO = 1: a loss cannot go back to a chunk of 0B; set \
             L2_BACK_TO_ZERO 0, or an L2_CHUNK_SIZE above 0, such as 4000",
        ),
        (
            base("PACKET_PAYLOAD_SIZE 0"),
            "config.txt:1:21: PACKET_PAYLOAD_SIZE = 0: a packet of 0B payload does not exist; \
             give 1B to 65000B",
        ),
        (
            base("ERROR_RATE_PER_LINK 2"),
            "config.txt:1:21: ERROR_RATE_PER_LINK = 2: this is no probability; give a number from \
             0 to 1",
        ),
        (
            base("BUFFER_SIZE 4096"),
            "config.txt:1:13: BUFFER_SIZE = 4096: a buffer of 4096MiB is more than",
        ),
        (
            base("LINK_DOWN 5 0 1"),
            "config.txt:1:11: LINK_DOWN = 5: there is no link between the nodes 0 and 1; give the \
             numbers of two nodes that a link joins",
        ),
        (
            with("FLOW_FILE", "FLOW_FILE class0.flow.txt"),
            "class0.flow.txt:2:5: priority = 0: class 0 is for pause frames alone in HPCC's \
             simulator; use a priority from 1 to 7, such as 3",
        ),
        (
            with("FLOW_FILE", "FLOW_FILE large.flow.txt"),
            "large.flow.txt:2:11: bytes = 4294967296: ",
        ),
        (with("FLOW_FILE", "FLOW_FILE nowhere.txt"), "config.txt:1:11: FLOW_FILE = nowhere.txt: "),
    ];
    for (text, expected) in table {
        let error = planned(text).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string();
        let folder = format!("{}/", data().display());
        let error = error.replace(&folder, "");
        assert!(error.starts_with(expected), "\n{error}\ninstead of\n{expected}");
        assert!(error.len() > expected.len() || !expected.ends_with(' '), "{error}");
    }
}

#[test]
fn telemetry_needs_rates_that_it_knows_and_short_ways() {
    let mode = "CC_MODE 3\nMULTI_RATE 0";
    let slow = with("CC_MODE", mode).replace("topology.txt", "slow.topology.txt");
    // Also before the thresholds that these ports do not have.
    let error = planned(&slow).unwrap_err().to_string();
    assert!(
        error.contains("CC_MODE = 3: the link from `host-0` to `switch-3` is 40Gbps"),
        "{error}"
    );
    let long = with("CC_MODE", mode).replace("topology.txt", "long.topology.txt");
    let error = planned(&long).unwrap_err().to_string();
    assert!(error.contains("6 switches from `host-1` to `host-2`"), "{error}");
}

#[test]
fn a_path_is_also_found_from_where_the_simulator_is_started() {
    let text = BASE.replace("topology.txt", "reference/topology.txt");
    let loaded = read(&text).unwrap();
    assert_eq!(loaded.scenario.input_files(), [Path::new("flow.txt"), Path::new("topology.txt")]);
    let text = BASE.replace("flow.txt", "two.flow.txt");
    let loaded = read(&text).unwrap();
    assert_eq!(loaded.scenario.input_files()[0], Path::new("../two.flow.txt"));
}

/// The folders of golden runs: those of the repository and, beside it, all.
fn cases() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = crate_folder.join("../../../shared/golden/hpcc-ns3/public");
    let mut cases = Vec::new();
    for folder in [crate_folder.join("tests/golden/hpcc-ns3"), shared] {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            eprintln!("skipped: there is no {}", folder.display());
            continue;
        };
        cases.extend(entries.map(|entry| entry.unwrap().path().join("config.txt")));
    }
    cases.retain(|case| case.is_file());
    cases.sort();
    assert!(cases.len() >= 26, "golden runs are part of the repository");
    cases
}

#[test]
fn a_configuration_and_the_scenario_made_of_it_have_the_same_plan() {
    let folder = data();
    for path in cases() {
        let loaded = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let plan = loaded.scenario.plan().unwrap_or_else(|error| panic!("{error}"));
        let moved = loaded.scenario.relocated(&folder).unwrap();
        for text in [moved.to_toml().unwrap(), moved.resolved().to_toml().unwrap()] {
            let toml = folder.join(format!("{}.toml", plan.name));
            let again =
                Scenario::parse(&text, &toml, &[]).unwrap_or_else(|error| panic!("{error}"));
            let again = again.plan().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(format!("{again:?}"), format!("{plan:?}"), "{}", path.display());
        }
    }
}

/// Starts, sizes and ports are those of the simulator's own output.
#[test]
fn flows_have_the_starts_and_ports_of_the_golden_output() {
    for path in cases() {
        let plan = load(&path, &[]).unwrap().scenario.plan().unwrap();
        let address = |node: u32| 0x0b00_0001 + node / 256 * 0x1_0000 + node % 256 * 0x100;
        let mut ours: Vec<String> = plan
            .flows
            .iter()
            .map(|flow| {
                let (source, destination) = (address(flow.source), address(flow.destination));
                let (sport, dport) = (flow.entropy & 0xffff, flow.entropy >> 16);
                let start = flow.start.ps() / 1_000;
                format!("{source:08x} {destination:08x} {sport} {dport} {} {start}", flow.bytes)
            })
            .collect();
        ours.sort();
        let golden = std::fs::read_to_string(path.with_file_name("fct.txt")).unwrap();
        for line in golden.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let found = ours.binary_search(&words[..6].join(" "));
            assert!(found.is_ok(), "{}: no flow is `{line}`", path.display());
        }
    }
}

/// The last column of the simulator's own output.
#[test]
fn the_time_alone_in_the_network_is_the_simulator_s() {
    for path in cases() {
        let plan = load(&path, &[]).unwrap().scenario.plan().unwrap();
        let mut network = UnloadedNetwork::new(&plan);
        let mut ours: Vec<String> = plan
            .flows
            .iter()
            .map(|flow| {
                let alone = network.completion_time(flow).ps() / 1_000;
                format!("{} {} {alone}", flow.start.ps() / 1_000, flow.bytes)
            })
            .collect();
        ours.sort();
        let golden = std::fs::read_to_string(path.with_file_name("fct.txt")).unwrap();
        for line in golden.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [bytes, start, alone] = [4, 5, 7].map(|column| words[column]);
            let found = ours.binary_search(&format!("{start} {bytes} {alone}"));
            assert!(found.is_ok(), "{}: no flow is `{line}`", path.display());
        }
    }
}

/// What the fuzz target does for hours, for a moment.
#[test]
fn damaged_configurations_do_not_panic() {
    let mut stream = rocelab_engine::RngStream::new(1, "damage");
    let mut below = |bound: usize| usize::try_from(stream.below(bound as u64)).unwrap();
    let texts: Vec<_> = cases().iter().map(|path| std::fs::read(path).unwrap()).collect();
    let mut accepted = 0;
    for _ in 0..2_000 {
        let mut bytes = texts[below(texts.len())].clone();
        let (at, from) = (below(bytes.len()), below(bytes.len()));
        match below(3) {
            0 => _ = bytes.remove(at),
            1 => bytes[at] = bytes[from],
            _ => bytes.truncate(at),
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        accepted += usize::from(planned(&text).is_ok());
    }
    assert!((50..1_900).contains(&accepted), "{accepted} damaged configurations were accepted");
}

#[test]
fn algorithms_that_the_simulator_s_hosts_cannot_drive_are_refused() {
    for (key, value) in [
        ("congestion_control.swift", "{}"),
        ("congestion_control.dcqcn", "{ preset = \"paper\" }"),
        ("congestion_control.none", "{ rate = \"1Gbps\" }"),
    ] {
        let overrides = [(key.to_owned(), value.to_owned())];
        let loaded = parse_config(BASE, &data().join("config.txt"), &overrides).unwrap();
        let error = loaded.scenario.plan().unwrap_err().to_string();
        assert!(error.contains("cannot run it; take"), "{key}: {error}");
        assert!(error.contains(key), "{key}: {error}");
    }
}
