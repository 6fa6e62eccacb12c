//! Scenarios of InfiniBand, through every command.

use crate::program::{Sandbox, repository_argument};

/// A ring of five switches with three hosts each, which send to the hosts two switches ahead.
fn ring(engine: &str, lanes: u8) -> String {
    let (mut links, mut flows) = (String::new(), String::new());
    for switch in 0..5 {
        for host in 0..3 {
            let (from, to) = (switch * 3 + host, (switch + 2) % 5 * 3 + host);
            links += &format!(
                "{{ from = [\"host-{from}\"], to = [\"switch-{switch}\"], link = {{ rate = \"100Gbps\", cable = \"3m\" }} }},\n"
            );
            flows +=
                &format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"1MB\" }},\n");
        }
        links += &format!(
            "{{ from = [\"switch-{switch}\"], to = [\"switch-{}\"], link = {{ rate = \"100Gbps\", cable = \"3m\" }} }},\n",
            (switch + 1) % 5
        );
    }
    format!(
        "[infiniband]\ndata_vls = {lanes}\n[infiniband.sm]\nengine = \"{engine}\"\n[roce]\npath_mtu = 2048\n\
         [topology.graph]\nhosts = [\"host-0..host-14\"]\nswitches = [\"switch-0..switch-4\"]\nlinks = [\n{links}]\n\
         [workload.flows]\nlist = [\n{flows}]\n"
    )
}

#[test]
fn the_scenario_of_the_docs_runs_and_runs_again_from_its_results() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/infiniband.toml");
    let answer = sandbox.succeeds(&["run", &scenario, "--out", "first"]);
    assert!(answer.contains("infiniband: InfiniBand, seed 1"), "{answer}");
    assert!(answer.contains("\nSubnet           ftree, 2 data lanes\n"), "{answer}");
    assert!(answer.contains("flow control packets; lanes waited"), "{answer}");
    assert!(!answer.contains("\nECN "), "nothing marks: {answer}");
    sandbox.succeeds(&["run", "first/scenario.resolved.toml", "--out", "again", "--quiet"]);
    let [first, again] = ["first", "again"].map(|of| sandbox.json(&format!("{of}/summary.json")));
    assert_eq!(first["digest"], again["digest"]);
    assert_eq!(
        (&first["roce_version"], &first["infiniband"]["engine"]),
        (&0.into(), &"ftree".into())
    );
    assert_eq!(first["drops"]["total"], 0, "{first}");
    let answer = sandbox.succeeds(&["check", &scenario]);
    assert!(answer.contains("ok    credit loops         none, on 2 data lanes"), "{answer}");
    // Behind the eight that send to one.
    let answer = sandbox.succeeds(&["explain", "first", "--flow", "3"]);
    assert!(answer.contains("no credits") && !answer.contains("retransmission"), "{answer}");
    sandbox.succeeds(&["report", "first"]);
}

#[test]
fn a_loop_of_credits_is_told_before_and_after() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("updn", 1));
    let text = sandbox.rocelab(&["check", "ring.toml"]).stdout;
    assert!(text.contains("warn  subnet               `updn` refused the subnet"), "{text}");
    assert!(text.contains("WRONG credit loops         lane 0: "), "{text}");
    assert!(text.contains("for ever: switch-0:"), "ports are named as everywhere: {text}");
    let ended = sandbox.rocelab(&["run", "ring.toml", "--out", "out"]);
    assert_eq!(ended.code, Some(1));
    let said = ended.stderr;
    assert!(said.contains("deadlock at ") && said.contains("no credits of switch-"), "{said}");
    assert!(said.contains(" (VL 0)") && !said.contains("priority"), "{said}");
    assert!(said.contains("warning: `updn` refused the subnet: "), "{said}");
    for explain in [&["explain", "out"][..], &["explain", "out", "--flow", "0"]] {
        let told = sandbox.rocelab(explain).stdout;
        assert!(told.contains("deadlock at ") && told.contains("switch-"), "{told}");
    }
    sandbox.write("ring.toml", ring("dfsssp", 2));
    let answer = sandbox.succeeds(&["run", "ring.toml", "--out", "out", "--force"]);
    assert!(answer.contains("dfsssp, 2 data lanes, of which the engine needs 2"), "{answer}");
}

/// Engines without service levels leave them to the scenario: their loops are on its lanes.
#[test]
fn loops_and_waits_are_told_of_the_lane_that_packets_take() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("minhop", 2).replace("[roce]\n", "[roce]\npriority = 1\n"));
    let text = sandbox.rocelab(&["check", "ring.toml"]).stdout;
    assert!(text.contains("lane 1: ") && !text.contains("lane 0: "), "{text}");
    sandbox.write("ring.toml", ring("minhop", 1).replace("[roce]\n", "[roce]\npriority = 3\n"));
    let said = sandbox.rocelab(&["run", "ring.toml", "--out", "out"]).stderr;
    assert!(said.contains("its port has no credits of switch-0"), "{said}");
}

/// The cable of a chain of switches that a root is at the end of is gone: up/down finds no roots.
#[test]
fn what_an_engine_refuses_after_a_failure_is_told_before_and_after() {
    let sandbox = Sandbox::new();
    let roots = ring("updn", 1).replace("\"updn\"\n", "\"updn\"\nroots = [\"switch-0\"]\n");
    let failure = "[[failure]]\nkind = \"switch-reboot\"\nswitch = \"switch-0\"\nat = \"5us\"\n";
    sandbox.write("ring.toml", roots.clone() + failure);
    let text = sandbox.rocelab(&["check", "ring.toml"]).stdout;
    assert!(text.contains("ok    credit loops         none"), "{text}");
    assert!(text.contains("own failures         from 5us on the engine refuses: "), "{text}");
    let answer = sandbox.rocelab(&["run", "ring.toml", "--out", "out"]).stdout;
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("after a failure, minhop in its place"), "{answer}");
    let refused = &sandbox.json("out/summary.json")["infiniband"]["refused_reroutes"];
    assert_eq!(refused.as_array().map(Vec::len), Some(1), "{refused}");
    assert_eq!(
        (&refused[0]["at_ps"], &refused[0]["engine"]),
        (&5_000_000.into(), &"minhop".into())
    );
}

/// Messages of the connection manager have the service levels of their paths, as all packets.
#[test]
fn all_packets_of_a_path_have_its_service_level() {
    let sandbox = Sandbox::new();
    let more = "[capture]\nports = [\"host-*\"]\n";
    sandbox.write(
        "ring.toml",
        ring("lash", 4).replace("[roce]\n", "[roce]\nconnect = \"cm\"\n") + more,
    );
    sandbox.succeeds(&["run", "ring.toml", "--out", "out"]);
    let answer = sandbox.succeeds(&["pcap", "decode", "out/capture.pcapng"]);
    let mut levels = std::collections::BTreeMap::new();
    let packets = answer.lines().filter_map(|line| line.split_once(" lid ")?.1.split_once(": "));
    for (path, opcode) in packets {
        let (ends, level) = path.split_once(", vl ").expect("it has a lane");
        let (_, level) = level.split_once(", sl ").expect("it has a service level");
        assert_eq!(*levels.entry(ends).or_insert(level), level, "{path}: {opcode}");
    }
    let is_other = levels.values().any(|&level| level != "0");
    assert!(is_other && answer.contains("CM REQ"), "{levels:?}");
}

#[test]
fn captures_have_packets_and_flow_control_in_erf() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("lash", 4));
    for (format, file) in [("pcapng", "capture.pcapng"), ("pcap", "capture-host-0.pcap")] {
        let set = format!("capture={{ports=[\"host-0\"],format=\"{format}\"}}");
        sandbox.succeeds(&["run", "ring.toml", "--out", "out", "--force", "--set", &set]);
        let answer = sandbox.succeeds(&["pcap", "verify", &format!("out/{file}")]);
        assert!(answer.contains("infiniband_link") && answer.contains("no faults"), "{answer}");
        assert!(answer.contains("RC_RDMA_WRITE_MIDDLE") && answer.contains("lid "), "{answer}");
        let answer = sandbox.succeeds(&["pcap", "decode", &format!("out/{file}")]);
        let way =
            if format == "pcapng" { "host-0 outbound flow control" } else { " flow control, vl" };
        assert!(answer.contains(way), "{answer}");
    }
}

#[test]
fn tables_of_a_scenario_are_those_of_its_run() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("lash", 4));
    let answer = sandbox.succeeds(&["sm", "ring.toml", "--engine", "lash", "--out", "tables"]);
    assert!(answer.contains("5 switches, 15 ports of channel adapters"), "{answer}");
    assert!(answer.contains("data lanes used: 2\ncredit loops: none\n"), "{answer}");
    // What the scenario says holds where no option says otherwise.
    let again = sandbox.succeeds(&["sm", "ring.toml", "--out", "tables", "--force"]);
    assert_eq!(again, answer);
    sandbox.write("ring.toml", ring("lash", 1));
    let answer = sandbox.succeeds(&["sm", "ring.toml", "--out", "tables", "--force"]);
    assert!(answer.contains("lash refused the subnet"), "{answer}");
    let roots = "engine = \"updn\"\nroots = [\"switch-0\"]\n";
    sandbox.write("ring.toml", ring("updn", 1).replace("engine = \"updn\"\n", roots));
    let answer = sandbox.succeeds(&["sm", "ring.toml", "--out", "tables", "--force"]);
    assert!(
        answer.contains("updn tables configured") && answer.contains("loops: none"),
        "{answer}"
    );
}

#[test]
fn what_has_no_meaning_is_refused_with_its_place() {
    let sandbox = Sandbox::new();
    for (more, key) in [
        ("[switch]\nbuffer = \"1MB\"\n", "switch.buffer"),
        ("[congestion_control.dcqcn]\n", "congestion_control.dcqcn"),
        ("[[slow_receiver]]\nrate = \"10Gbps\"\n", "slow_receiver"),
        (
            "[[faults]]\naction = \"delay\"\ndelay = \"1us\"\n[[faults]]\naction = \"duplicate\"\n",
            "faults[1].action",
        ),
    ] {
        sandbox.write("ring.toml", ring("minhop", 2) + more);
        let refused = sandbox.rocelab(&["run", "ring.toml"]);
        assert_eq!(refused.code, Some(2));
        let said = refused.stderr;
        assert!(said.contains(key), "{said}");
    }
    // Each is refused for what it is, and not by the words of RoCE v1.
    for (set, key, expected) in [
        ("layer2.vlans=[{id=5,hosts=[\"host-0\"]}]", "layer2", "forward by the tables of a subnet"),
        ("layer2.learning={}", "layer2", "forward by the tables of a subnet"),
        (
            "ingress.policer=[{ports=[\"switch-0:0\"],rate=\"1Gbps\",burst=\"9KB\"}]",
            "ingress",
            "take what they gave credits for",
        ),
        ("roce.gid_index=3", "roce.gid_index", "have an LRH"),
        ("roce.v1_hosts=[\"host-0\"]", "roce.v1_hosts", "have an LRH"),
        ("roce.path_entropy.round-robin={numbers=4}", "roce.path_entropy", "have an LRH"),
        ("roce.cnp_marking={dscp=3}", "roce.cnp_marking", "have an LRH"),
        ("class.1.marking={dscp=3}", "class.1.marking", "have no code points"),
        ("link=[{ports=[\"host-0\"],mtu=\"1500B\"}]", "link[0].mtu", "it is of Ethernet frames"),
        ("tcp={mtu=1500}", "tcp", "TCP over InfiniBand is not simulated"),
        (
            "sample.ingress={ports=[\"switch-0:0\"],interval=\"1us\"}",
            "sample.ingress",
            "share no memory",
        ),
        (
            "faults=[{action=\"drop\",pattern=\"ip-identification\"}]",
            "faults[0].pattern",
            "have no IP header",
        ),
        ("faults=[{action=\"drop\",opcode=\"PFC\"}]", "faults[0].opcode", "have no pause frames"),
        (
            "infiniband.sm={engine=\"minhop\",roots=[\"switch-0\"]}",
            "infiniband.sm.roots",
            "`minhop` does not look for roots",
        ),
        ("infiniband.vl_buffer=\"4MiB\"", "infiniband.vl_buffer", "give at most 4194240B"),
        (
            "failure=[{kind=\"link-rate\",port=\"host-0\",at=\"1us\",rate=\"EDRR\"}]",
            "failure[0].rate",
            "HDR, NDR200, NDR",
        ),
    ] {
        sandbox.write("ring.toml", ring("minhop", 2));
        let refused = sandbox.rocelab(&["check", "ring.toml", "--set", set]);
        assert_eq!(refused.code, Some(2), "{set}: {}", refused.stdout);
        let said = refused.stderr;
        let is_told = said.contains(&format!(": {key}")) && said.contains(expected);
        assert!(is_told && !said.contains("v1 "), "{set}: {said}");
    }
    let slow = "failure=[{kind=\"link-rate\",port=\"host-0\",at=\"1us\",rate=\"FDR\"}]";
    sandbox.succeeds(&[
        "run",
        "ring.toml",
        "--set",
        slow,
        "--set",
        "infiniband.sm.engine=\"dfsssp\"",
        "--out",
        "slow",
    ]);
}

/// Waits for credits have no tree: `explain` of a whole run says so, and where to look.
#[test]
fn who_asks_for_pauses_hears_of_credits() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("lash", 2));
    sandbox.succeeds(&["run", "ring.toml", "--out", "out"]);
    let answer = sandbox.succeeds(&["explain", "out"]);
    assert!(!answer.contains("Nothing was paused"), "{answer}");
    assert!(answer.contains("times for credits") && answer.contains("--flow N"), "{answer}");
}

/// A deadlock after a change of routes says so. Service levels of lash are for the tables of before.
#[test]
fn a_deadlock_after_a_failure_tells_of_the_change_of_routes() {
    let sandbox = Sandbox::new();
    let failure = "[[failure]]\nkind = \"link-down\"\nport = \"switch-0:3\"\nat = \"20us\"\nlasts = \"200us\"\n";
    sandbox.write("ring.toml", ring("lash", 2) + failure);
    let said = sandbox.rocelab(&["run", "ring.toml", "--out", "out"]).stderr;
    assert!(said.contains("deadlock at ") && said.contains("routes had changed at"), "{said}");
}

/// Packets that wait in an adapter for credits of a lane which several service levels share are no idle queue pairs.
#[test]
fn who_waits_for_credits_is_not_idle() {
    let sandbox = Sandbox::new();
    let flows: Vec<_> = (0..4)
        .map(|n| {
            format!(
                "{{ from = \"host-{n}\", to = \"host-{}\", bytes = \"4MB\", priority = {n} }}",
                n + 4
            )
        })
        .collect();
    sandbox.write(
        "long.toml",
        format!(
            "[infiniband]\ndata_vls = 4\n[infiniband.qos]\nsl_to_vl = [0, 0, 0, 0]\n[roce]\npath_mtu = 4096\n[topology.dumbbell]\nleft = 4\nright = 4\nhost_link = {{ rate = \"HDR\", cable = \"3m\" }}\nbottleneck = {{ rate = \
             \"HDR\", cable = \"2km\" }}\n[capture]\nports = [\"host-1\"]\n[workload.flows]\nlist = [{}]\n",
            flows.join(", ")
        ),
    );
    let ended = sandbox.rocelab(&["run", "long.toml", "--out", "out"]);
    assert_eq!(
        (ended.code, ended.stderr.contains("could send")),
        (Some(0), false),
        "{}",
        ended.stderr
    );
}

/// Four hosts send to one, behind a switch.
fn incast(top: &str) -> String {
    let flows: Vec<_> = (0..4)
        .map(|from| format!("{{ from = \"host-{from}\", to = \"host-4\", bytes = \"2MB\" }}"))
        .collect();
    format!(
        "{top}[roce]\npath_mtu = 2048\n[topology.single-switch]\nhosts = 5\nlink = {{ rate = \"EDR\", cable = \"3m\" }}\n\
         [capture]\nports = [\"host-0\", \"host-4\"]\n[workload.flows]\nlist = [{}]\n",
        flows.join(", ")
    )
}

/// FECN in data on its way to the sink, and BECN in CN packets or acknowledgements on their way back.
#[test]
fn marks_and_notifications_are_on_the_wire() {
    let sandbox = Sandbox::new();
    for (notification, opcode) in [("cn", "CN"), ("ack", "RC_ACKNOWLEDGE")] {
        let control = format!(
            "[infiniband]\n[congestion_control.infiniband]\nnotification = \"{notification}\"\n"
        );
        sandbox.write("incast.toml", incast(&control));
        let answer = sandbox.succeeds(&["run", "incast.toml", "--out", "out", "--force"]);
        assert!(answer.contains("\nFECN "), "{answer}");
        let summary = sandbox.json("out/summary.json");
        let counts = &summary["infiniband"]["congestion_control"];
        let marks = counts["fecn"].as_u64().expect("a number");
        assert!(marks > 0, "{counts}");
        let back = if notification == "cn" { "cn_received" } else { "becn_acks_received" };
        assert!(counts[back].as_u64().is_some_and(|count| count > 0), "{counts}");
        let answer = sandbox.succeeds(&["pcap", "verify", "out/capture.pcapng"]);
        assert!(answer.contains("no faults"), "{answer}");
        let decoded = sandbox.succeeds(&["pcap", "decode", "out/capture.pcapng", "--json"]);
        let frames = decoded.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let (mut forward, mut backward) = (0, 0);
        for frame in frames {
            let frame: serde_json::Value = frame;
            let text = frame.to_string();
            forward += u64::from(text.contains("\"fecn\":true"));
            let is_back = text.contains("\"becn\":true");
            assert!(!is_back || text.contains(&format!("\"{opcode}\"")), "{text}");
            backward += u64::from(is_back);
        }
        // The sink's port has them all; that of host 0 has no more of its own.
        assert_eq!(forward, marks, "every mark reaches the sink");
        assert!(backward > 0);
    }
}

#[test]
fn who_waits_for_the_delays_of_the_table_is_told_so() {
    let sandbox = Sandbox::new();
    sandbox.write("incast.toml", incast("[infiniband]\n[congestion_control.infiniband]\n"));
    sandbox.succeeds(&["run", "incast.toml", "--out", "out"]);
    let answer = sandbox.succeeds(&["explain", "out", "--flow", "0"]);
    assert!(answer.contains("infiniband") && answer.contains("CN"), "{answer}");
}

#[test]
fn congestion_control_and_adaptive_routing_refuse_what_they_cannot_do() {
    let sandbox = Sandbox::new();
    for (set, key, expected) in [
        (
            "infiniband.congestion_control.threshold=16",
            "infiniband.congestion_control.threshold",
            "a field of 4 bits",
        ),
        ("roce.cnp_priority=3", "roce.cnp_priority", "has the service level of its data"),
        (
            "congestion_control.infiniband.ccti_timer=\"150us\"",
            "congestion_control.infiniband.ccti_timer",
            "units of 1.024 us",
        ),
        (
            "infiniband.sm={engine=\"lash\",adaptive_routing=\"greedy\"}",
            "infiniband.sm.adaptive_routing",
            "`lash` leaves switches no choice",
        ),
        ("infiniband.sm={engine=\"file\"}", "infiniband.sm.lfts", "has no tables"),
        (
            "congestion_control.swift={delay=\"queueing\"}",
            "congestion_control.swift.delay",
            "tell nothing of queues",
        ),
        (
            "infiniband.sm={engine=\"minhop\",lfts=\"tables\"}",
            "infiniband.sm.lfts",
            "`minhop` reads no tables",
        ),
    ] {
        sandbox.write("incast.toml", incast("[infiniband]\n"));
        let refused = sandbox.rocelab(&["check", "incast.toml", "--set", set]);
        assert_eq!(refused.code, Some(2), "{set}: {}", refused.stdout);
        let said = refused.stderr;
        assert!(said.contains(&format!(": {key}")) && said.contains(expected), "{set}: {said}");
    }
    sandbox.write("incast.toml", incast("[congestion_control.infiniband]\n"));
    let said = sandbox.rocelab(&["run", "incast.toml"]).stderr;
    assert!(said.contains("which switches of Ethernet do not make"), "{said}");
    let set = "infiniband.congestion_control={}";
    sandbox.write("incast.toml", incast("[infiniband]\n"));
    let said = sandbox.rocelab(&["run", "incast.toml", "--set", set, "--out", "out"]).stderr;
    assert!(said.contains("switches set FECN, and no congestion control follows it"), "{said}");
}

/// Adaptive routing spreads what the tables send over one cable, and says what go-back-N makes of it.
#[test]
fn adaptive_routing_uses_all_ways() {
    let sandbox = Sandbox::new();
    let flows: Vec<_> = (0..4)
        .map(|one| {
            format!("{{ from = \"host-{one}\", to = \"host-{}\", bytes = \"4MB\" }}", one + 4)
        })
        .collect();
    let text = format!(
        "[infiniband]\n[roce]\npath_mtu = 4096\n[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nhost_link = \
         {{ rate = \"EDR\", cable = \"3m\" }}\nfabric_link = {{ rate = \"HDR\", cable = \"3m\" }}\n[workload.flows]\nlist = \
         [{}]\n",
        flows.join(", ")
    );
    sandbox.write("net.toml", text);
    for adaptive in ["greedy", "bounded"] {
        let set = format!("infiniband.sm.adaptive_routing=\"{adaptive}\"");
        let recovery = "roce.recovery={reordering={packets=64}}";
        let arguments =
            ["run", "net.toml", "--out", "out", "--force", "--set", &set, "--set", recovery];
        let answer = sandbox.succeeds(&arguments);
        assert!(answer.contains(&format!("{adaptive} adaptive routing")), "{answer}");
        let summary = sandbox.json("out/summary.json");
        assert_eq!(summary["infiniband"]["adaptive_routing"], adaptive);
        assert_eq!(summary["retransmissions"], 0, "packets that were overtaken are waited for");
        for parts in ["1", "2"] {
            let cut =
                ["run", "net.toml", "--out", "cut", "--force", "--partitions", parts, "--set"];
            sandbox.succeeds(&[&cut[..], &[&set, "--set", recovery]].concat());
            assert_eq!(sandbox.json("cut/summary.json")["digest"], summary["digest"], "{parts}");
        }
    }
    let set = "infiniband.sm.adaptive_routing=\"greedy\"";
    let said =
        sandbox.rocelab(&["run", "net.toml", "--out", "out", "--force", "--set", set]).stderr;
    assert!(said.contains("infiniband.sm.adaptive_routing") && said.contains("overtake"), "{said}");
    let checked = sandbox.rocelab(&["check", "net.toml", "--set", set]).stdout;
    assert!(checked.contains("ok    credit loops         none"), "{checked}");
}

/// Tables that go through a file give the same run, event by event.
#[test]
fn a_run_by_tables_of_a_file_is_that_of_the_engine() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "ring.toml",
        ring("updn", 2).replace("\"updn\"\n", "\"updn\"\nroots = [\"switch-0\"]\n"),
    );
    sandbox.succeeds(&["sm", "ring.toml", "--out", "tables"]);
    sandbox.succeeds(&["run", "ring.toml", "--out", "first"]);
    let file = "\"file\"\nlfts = \"tables/opensm-lfts.dump\"\n";
    sandbox.write("file.toml", ring("updn", 2).replace("\"updn\"\n", file));
    sandbox.succeeds(&["run", "file.toml", "--out", "second"]);
    sandbox.succeeds(&["run", "second/scenario.resolved.toml", "--out", "third"]);
    let [first, second, third] = ["first", "second", "third"]
        .map(|of| sandbox.json(&format!("{of}/summary.json"))["digest"].clone());
    assert_eq!((&first, &first), (&second, &third));
    let mut tables = sandbox.text("tables/opensm-lfts.dump");
    tables = tables.replacen("0x0001 ", "0xzz ", 1);
    sandbox.write("tables/opensm-lfts.dump", tables);
    let said = sandbox.rocelab(&["run", "file.toml", "--out", "fourth"]).stderr;
    assert!(said.contains("opensm-lfts.dump:") && said.contains("0xzz"), "{said}");
}

/// Tables of LASH need its service levels: with them a run by files is that of the engine, and without them it has a loop.
#[test]
fn service_levels_go_through_a_file_too() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("lash", 2));
    sandbox.succeeds(&["sm", "ring.toml", "--out", "tables"]);
    sandbox.succeeds(&["run", "ring.toml", "--out", "first"]);
    let file = "\"file\"\nlfts = \"tables/opensm-lfts.dump\"\n";
    let levels = format!("{file}sl_file = \"tables/sl.txt\"\n");
    sandbox.write("file.toml", ring("lash", 2).replace("\"lash\"\n", &levels));
    sandbox.succeeds(&["run", "file.toml", "--out", "second"]);
    sandbox.succeeds(&["run", "second/scenario.resolved.toml", "--out", "third"]);
    let [first, second, third] = ["first", "second", "third"]
        .map(|of| sandbox.json(&format!("{of}/summary.json"))["digest"].clone());
    assert_eq!((&first, &first), (&second, &third));
    let text = sandbox.rocelab(&["check", "file.toml"]).stdout;
    assert!(text.contains("ok    credit loops         none"), "{text}");
    sandbox.succeeds(&["sm", "file.toml", "--out", "again"]);
    assert_eq!(sandbox.files("tables"), sandbox.files("again"));
    let lfts = "tables/opensm-lfts.dump";
    let by_option =
        ["sm", "ring.toml", "--engine", "file", "--lfts", lfts, "--out", "third-tables"];
    sandbox.succeeds(&[&by_option[..], &["--sl-file", "tables/sl.txt"]].concat());
    assert_eq!(sandbox.files("tables"), sandbox.files("third-tables"));
    sandbox.write("none.toml", ring("lash", 2).replace("\"lash\"\n", file));
    let text = sandbox.rocelab(&["check", "none.toml"]).stdout;
    assert!(text.contains("WRONG credit loops"), "{text}");
    let mut levels = sandbox.text("tables/sl.txt");
    levels = levels.replacen(" 0\n", " 9\n", 1);
    sandbox.write("tables/sl.txt", levels);
    let said = sandbox.rocelab(&["run", "file.toml", "--out", "fourth"]).stderr;
    assert!(said.contains("sl.txt:") && said.contains("from 0 to 7"), "{said}");
    sandbox.write("no.toml", ring("lash", 2).replace("\"lash\"\n", "\"lash\"\nsl_file = \"x\"\n"));
    let said = sandbox.rocelab(&["run", "no.toml", "--out", "fifth"]).stderr;
    assert!(said.contains("infiniband.sm.sl_file") && said.contains("reads no service"), "{said}");
}

/// Several connections between two hosts of a ring with two cables between switches use both, and packets show their LIDs.
#[test]
fn packets_have_the_lids_of_their_paths() {
    let sandbox = Sandbox::new();
    let flow = "{ from = \"host-0\", to = \"host-1\", bytes = \"64KB\" }";
    let text = format!(
        "[infiniband]\nlmc = 2\n[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 1\nhost_link = {{ rate = \"100Gbps\", \
         cable = \"3m\" }}\nfabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[capture]\nports = [\"host-0\"]\n\
         [workload.flows]\nlist = [{flow}, {flow}, {flow}, {flow}]\n"
    );
    sandbox.write("lmc.toml", text);
    sandbox.succeeds(&["run", "lmc.toml", "--out", "out"]);
    let answer = sandbox.succeeds(&["pcap", "decode", "out/capture.pcapng"]);
    let ends = answer.lines().filter_map(|line| line.split_once(" lid ")?.1.split_once(", vl "));
    let ends: std::collections::BTreeSet<_> = ends.map(|(ends, _)| ends.to_owned()).collect();
    // Data with four path bits, and acknowledgements the other way.
    assert_eq!(ends.len(), 8, "{ends:?}");
    let verified = sandbox.succeeds(&["pcap", "verify", "out/capture.pcapng"]);
    assert!(verified.contains("no faults"), "{verified}");
    sandbox.succeeds(&["sm", "lmc.toml", "--out", "tables"]);
    let lids = sandbox.text("tables/guid2lid");
    let of_four = lids.lines().filter_map(|line| {
        let mut words =
            line.split_whitespace().skip(1).map(|word| u16::from_str_radix(&word[2..], 16));
        Some((words.next()?.ok()?, words.next()?.ok()?))
    });
    let ranges: Vec<_> = of_four.filter(|(first, last)| last - first == 3).collect();
    assert_eq!(ranges.len(), 2, "{lids}");
    for number in ends.iter().flat_map(|ends| ends.split(|one: char| !one.is_ascii_digit())) {
        let Ok(lid) = number.parse::<u16>() else { continue };
        assert!(ranges.iter().any(|(first, last)| (*first..=*last).contains(&lid)), "{lid} {lids}");
    }
    let explained = sandbox.succeeds(&["explain", "out", "--flow", "2"]);
    assert!(!explained.is_empty());
}

/// Tables by which packets never arrive.
#[test]
fn tables_that_lead_in_a_circle_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("ring.toml", ring("updn", 2).replace("\"updn\"\n", "\"minhop\"\n"));
    sandbox.succeeds(&["sm", "ring.toml", "--out", "tables"]);
    let tables = sandbox.text("tables/opensm-lfts.dump");
    // Every switch sends everything to its neighbour on the ring: the port that leads there is the one for that switch itself.
    let next: Vec<String> = (0..5)
        .map(|switch| {
            let next = format!("'switch-{}'", (switch + 1) % 5);
            let own = format!("('switch-{switch}')");
            let table = tables
                .split("Unicast lids")
                .find(|part| part.lines().next().is_some_and(|line| line.contains(&own)));
            let entry = table
                .expect("a table")
                .lines()
                .find(|line| line.starts_with("0x") && line.contains(&next));
            entry.expect("an entry").split(' ').nth(1).expect("a port").to_owned()
        })
        .collect();
    let mut switch = None;
    let circle: String = tables
        .lines()
        .map(|line| {
            switch = (0..5).find(|one| line.contains(&format!("('switch-{one}')"))).or(switch);
            match switch {
                Some(one) if line.contains("'host-0'") => {
                    let lid = line.split(' ').next().unwrap_or_default();
                    let remark = line.split_once('#').unwrap_or_default().1;
                    format!("{lid} {} #{remark}\n", next[one])
                }
                _ => format!("{line}\n"),
            }
        })
        .collect();
    sandbox.write("tables/circle", circle);
    let file = "\"file\"\nlfts = \"tables/circle\"\n";
    sandbox.write("file.toml", ring("updn", 2).replace("\"updn\"\n", file));
    for command in [&["check", "file.toml"][..], &["run", "file.toml", "--out", "out"]] {
        let refused = sandbox.rocelab(command);
        assert_eq!(refused.code, Some(2), "{}", refused.stdout);
        let said = refused.stderr;
        assert!(
            said.contains("infiniband.sm.lfts")
                && said.contains("lead in a circle from switch-0 to host-0"),
            "{said}"
        );
        assert!(
            said.contains("switch-1 -> switch-2 -> switch-3 -> switch-4 -> switch-0 -> switch-1"),
            "{said}"
        );
    }
}

/// A subnet as `ibnetdiscover` prints it, with ports and GUIDs that are not in the order of the file.
const NET: &str = "\
switchguid=0x2c90200430(2c90200430)
Switch\t36 \"S-0000002c90200430\"\t\t# \"spine\" enhanced port 0 lid 2 lmc 0
[17]\t\"S-0000002c90200420\"[36]\t\t# \"leaf-2\" lid 3 4xEDR
[3]\t\"S-0000002c90200410\"[35]\t\t# \"leaf-1\" lid 4 4xEDR

Switch\t36 \"S-0000002c90200420\"\t\t# \"leaf-2\" enhanced port 0 lid 3 lmc 0
[8]\t\"H-0000002c90300010\"[1](2c90300011) \t\t# \"node-2\" lid 1 2xHDR
[1]\t\"H-0000002c90300040\"[1](2c90300041) \t\t# \"node-3\" lid 1 2xHDR

Switch\t36 \"S-0000002c90200410\"\t\t# \"leaf-1\" enhanced port 0 lid 4 lmc 0
[9]\t\"H-0000002c90300020\"[1](2c90300021) \t\t# \"node-1\" lid 5 2xHDR

Ca\t1 \"H-0000002c90300040\"\t\t# \"node-3\"
Ca\t1 \"H-0000002c90300010\"\t\t# \"node-2\"
Ca\t1 \"H-0000002c90300020\"\t\t# \"node-1\"
";

/// Its tables are those of `rocelab sm` for the same file, byte by byte.
#[test]
fn a_subnet_of_ibnetdiscover_is_a_network() {
    let sandbox = Sandbox::new();
    sandbox.write("net", NET);
    let scenario = "[topology.file]\npath = \"net\"\nformat = \"ibnet\"\nlink = { rate = \"QDR\", cable = \"5m\" }\n\
                    [infiniband]\n[infiniband.sm]\nengine = \"updn\"\nroots = [\"spine\"]\n[workload.flows]\nlist = [{ from = \
                    \"node-1\", to = \"node-2\", bytes = \"1MB\" }, { from = \"node-3\", to = \"node-1\", bytes = \"1MB\" }]\n";
    sandbox.write("net.toml", scenario);
    sandbox.succeeds(&["run", "net.toml", "--out", "out"]);
    let links = sandbox.text("out/links.csv");
    let uplink = links.lines().find(|line| line.starts_with("leaf-1,") && line.contains(",spine,"));
    assert!(uplink.is_some_and(|line| line.contains(",100000000000,")), "{links}");
    sandbox.write("roots", "0x2c90200430\n");
    let net = ["sm", "net", "--engine", "updn", "--roots", "roots", "--manager", "node-3", "--out"];
    sandbox.succeeds(&[&net[..], &["one"]].concat());
    sandbox.succeeds(&["sm", "net.toml", "--out", "two"]);
    assert_eq!(sandbox.files("one"), sandbox.files("two"));
    let tables = sandbox.text("two/opensm-lfts.dump");
    let mut is_spine = false;
    let entries = tables.lines().filter(|line| {
        if line.starts_with("Unicast") {
            is_spine = line.contains("'spine'");
        }
        !(is_spine && line.contains("'node-1'"))
    });
    let incomplete = entries.map(|line| format!("{line}\n")).collect::<String>();
    assert_ne!(incomplete, tables, "the spine has no hosts, and lacks an entry");
    sandbox.write("incomplete", incomplete);
    let engine = "\"updn\"\nroots = [\"spine\"]";
    let by_file = scenario.replace(engine, "\"file\"\nlfts = \"incomplete\"");
    sandbox.write("file.toml", by_file);
    let refused = sandbox.rocelab(&["check", "file.toml"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("spine has no port for LID"), "{}", refused.stderr);
    sandbox
        .write("net", NET.replace("Ca\t1 \"H-0000002c90300020\"", "Rt\t1 \"H-0000002c90300020\""));
    let said = sandbox.rocelab(&["run", "net.toml", "--out", "out", "--force"]).stderr;
    assert!(said.contains("net:15:") && said.contains("routers between subnets"), "{said}");
}
