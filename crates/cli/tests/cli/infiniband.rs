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
}
