//! Congestion control of InfiniBand, through the commands: what is marked, told and refused, and what a branch may change.

use serde_json::Value;

use crate::program::Sandbox;

/// Switches `s0` and `s1` with hosts at each, of these rates, and flows of 1 MB.
fn two_switches(top: &str, hosts: [&[(&str, &str)]; 2], flows: &[(&str, &str)]) -> String {
    let link = |from: &str, to: &str, rate: &str| {
        format!(
            "{{ from = [\"{from}\"], to = [\"{to}\"], link = {{ rate = \"{rate}\", cable = \"3m\" }} }}"
        )
    };
    let names: Vec<_> =
        hosts.iter().flat_map(|at| at.iter()).map(|(host, _)| format!("\"{host}\"")).collect();
    let mut links = Vec::new();
    for (switch, at) in ["s0", "s1"].iter().zip(hosts) {
        links.extend(at.iter().map(|(host, rate)| link(host, switch, rate)));
    }
    links.push(link("s0", "s1", "100Gbps"));
    let flows = flows
        .iter()
        .map(|(from, to)| format!("{{ from = \"{from}\", to = \"{to}\", bytes = \"1MB\" }}"));
    format!(
        "[infiniband]\n[congestion_control.infiniband]\n{top}[roce]\npath_mtu = 2048\n\
         [topology.graph]\nhosts = [{}]\nswitches = [\"s0\", \"s1\"]\nlinks = [{}]\n[workload.flows]\nlist = [{}]\n",
        names.join(", "),
        links.join(", "),
        flows.collect::<Vec<_>>().join(", ")
    )
}

const FAST: &str = "100Gbps";

/// Four hosts and a sink around a switch.
fn incast(top: &str, verb: &str) -> String {
    let (from, to) = if verb == "read" { (4, None) } else { (0, Some(4)) };
    let flows: Vec<_> = (0..4)
        .map(|number| {
            let (from, to) = to.map_or((from, number), |to| (number, to));
            format!(
                "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"1MB\", verb = \"{verb}\" }}"
            )
        })
        .collect();
    format!(
        "{top}[topology.single-switch]\nhosts = 5\nlink = {{ rate = \"EDR\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{}]\n",
        flows.join(", ")
    )
}

fn marks(sandbox: &Sandbox, folder: &str) -> Value {
    sandbox.json(&format!("{folder}/summary.json"))["infiniband"]["congestion_control"].clone()
}

/// The nodes whose ports marked packets, with the number of these.
fn marks_by_port(sandbox: &Sandbox, folder: &str) -> Vec<(String, u64)> {
    let text = sandbox.text(&format!("{folder}/links.csv"));
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let column = |name| head.iter().position(|&one| one == name).expect("a column");
    let (from, marks) = (column("from"), column("ecn_marks"));
    let rows = lines.map(|row| (row[from].to_owned(), row[marks].parse().expect("a number")));
    rows.filter(|&(_, count)| count > 0).collect()
}

/// Two ports in a row are congested and mark: a packet that has a mark gets no second one that counts.
#[test]
fn a_packet_that_two_ports_could_mark_counts_once() {
    let sandbox = Sandbox::new();
    let sources = ["a0", "a1", "a2", "b0", "b1"];
    let [near, far] = [&sources[..3], &sources[3..]]
        .map(|names| names.iter().map(|&name| (name, FAST)).collect::<Vec<_>>());
    let far = [&far[..], &[("sink", FAST)]].concat();
    let top =
        "[infiniband.congestion_control]\nvictim_mask = \"all\"\n[capture]\nports = [\"sink\"]\n";
    let flows = sources.map(|source| (source, "sink"));
    sandbox.write("chain.toml", two_switches(top, [&near, &far], &flows));
    sandbox.succeeds(&["run", "chain.toml", "--out", "out"]);
    let by_port = marks_by_port(&sandbox, "out");
    let switches: Vec<_> = by_port.iter().map(|(switch, _)| switch.as_str()).collect();
    assert_eq!(switches, ["s0", "s1"], "both mark: {by_port:?}");
    let sum: u64 = by_port.iter().map(|(_, count)| count).sum();
    assert_eq!(marks(&sandbox, "out")["fecn"], sum);
    let decoded = sandbox.succeeds(&["pcap", "decode", "out/capture.pcapng", "--json"]);
    let marked = decoded.lines().filter(|line| line.contains("\"fecn\":true")).count() as u64;
    assert_eq!(marked, sum, "each is on one packet that arrived");
}

#[test]
fn check_tells_of_marks_that_are_not_made_or_change_nothing() {
    let sandbox = Sandbox::new();
    let top = "[infiniband]\n[congestion_control.infiniband]\n[roce]\npath_mtu = 2048\n";
    sandbox.write("incast.toml", incast(top, "write"));
    let said = |set: &str| {
        let checked = sandbox.rocelab(&["check", "incast.toml", "--set", set]);
        assert_eq!(checked.code, Some(0), "{set}: {checked:?}");
        checked.stderr
    };
    // 2048 bytes of payload, 56 of headers and checksums, and 4 of delimiters.
    let text = said("infiniband.congestion_control.packet_size=34");
    let expected = "packet_size = 34: no packet is marked: the longest have 33 blocks of 64 bytes; give at most 33";
    assert!(text.contains(expected), "{text}");
    assert_eq!(said("infiniband.congestion_control.packet_size=33"), "");
    let text = said("congestion_control.infiniband.ccti_limit=0");
    assert!(text.contains("ccti_limit = 0: marks change nothing"), "{text}");
    assert!(text.contains("such as 127"), "{text}");
    assert_eq!(said("congestion_control.infiniband.ccti_limit=1"), "");
    // The port of the sink has many inputs.
    assert_eq!(said("infiniband.congestion_control.threshold=1"), "");
}

/// One link feeds a sink of a quarter of its rate. What `check` says is what a run does.
#[test]
fn a_threshold_beyond_what_one_input_has_waiting_is_told_before_and_marks_nothing() {
    let sandbox = Sandbox::new();
    let near = ["a0", "a1", "a2", "a3"].map(|name| (name, FAST));
    let far = [("sink", "25Gbps"), ("other", FAST)];
    let flows = [("a0", "sink"), ("a1", "sink"), ("a2", "sink"), ("a3", "other")];
    sandbox.write("narrow.toml", two_switches("", [&near, &far], &flows));
    let weight = |threshold: u8, more: &[&str]| {
        let set = format!("infiniband.congestion_control.threshold={threshold}");
        let arguments = [&["narrow.toml", "--set", set.as_str()][..], more].concat();
        let said = sandbox.rocelab(&[&["check"][..], &arguments].concat()).stderr;
        let rest = ["--out", "out", "--force", "--quiet"];
        sandbox.succeeds(&[&["run"][..], &arguments, &rest].concat());
        (said, marks(&sandbox, "out")["fecn"].as_u64().expect("a number"))
    };
    let packets_of_4096 = ["--set", "roce.path_mtu=4096"];
    for threshold in 1..=4 {
        let (said, marks) = weight(threshold, &packets_of_4096);
        let expected = format!("threshold = {threshold}: no full packet is marked at `s1:0`");
        assert!(said.contains(&expected) && said.contains("give more, such as 8"), "{said}");
        assert_eq!(marks, 0, "{threshold}");
    }
    let (said, marks) = weight(5, &packets_of_4096);
    assert!(said.is_empty() && marks > 0, "{said} {marks}");
    // A buffer of more packets has room for them.
    let (said, marks) = weight(4, &["--set", "infiniband.vl_buffer=64KiB"]);
    assert!(said.is_empty() && marks > 0, "{said} {marks}");
}

/// CNP is the name of RoCE's packets; CN that of InfiniBand's.
#[test]
fn rules_name_notifications_of_infiniband_cn() {
    let sandbox = Sandbox::new();
    let rule = |opcode: &str| {
        let top = format!(
            "[infiniband]\n[congestion_control.infiniband]\n[roce]\npath_mtu = 2048\n\
             [[faults]]\naction = \"drop\"\nfrom = \"host-4\"\nto = \"switch-0\"\nopcode = \"{opcode}\"\n"
        );
        sandbox.write("rule.toml", incast(&top, "write"));
    };
    rule("CNP");
    let refused = sandbox.rocelab(&["check", "rule.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let said = refused.stderr;
    assert!(said.contains("faults[0].opcode = \"CNP\"") && said.contains("use `CN`"), "{said}");
    rule("CN");
    sandbox.succeeds(&["run", "rule.toml", "--out", "out"]);
    let counts = marks(&sandbox, "out");
    assert!(counts["fecn"].as_u64().is_some_and(|marks| marks > 0), "{counts}");
    assert_eq!(counts["cn_received"], 0, "all were dropped");
    assert_eq!(sandbox.json("out/summary.json")["drops"]["fault"], counts["fecn"]);
}

/// Nobody acknowledges the data of a READ: CN packets tell of its marks, whatever `notification` says.
#[test]
fn marks_of_read_data_come_back_by_cn() {
    let sandbox = Sandbox::new();
    let top = "[infiniband]\n[congestion_control.infiniband]\nnotification = \"ack\"\n[roce]\npath_mtu = 2048\n";
    sandbox.write("read.toml", incast(top, "read"));
    sandbox.succeeds(&["run", "read.toml", "--out", "out"]);
    let counts = marks(&sandbox, "out");
    assert!(counts["fecn"].as_u64().is_some_and(|marks| marks > 0), "{counts}");
    assert_eq!(
        (&counts["cn_received"], &counts["becn_acks_received"]),
        (&counts["fecn"], &0.into())
    );
}

/// An unreliable service has no acknowledgements for BECN; the message says what has.
#[test]
fn unreliable_services_are_told_to_use_cn() {
    let sandbox = Sandbox::new();
    let top = |notification: &str| {
        format!(
            "[infiniband]\n[congestion_control.infiniband]\nnotification = \"{notification}\"\n\
             [roce]\nservice = \"uc\"\npath_mtu = 2048\n"
        )
    };
    sandbox.write("uc.toml", incast(&top("ack"), "write"));
    let refused = sandbox.rocelab(&["run", "uc.toml", "--out", "out"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let said = refused.stderr;
    assert!(
        said.contains("congestion_control.infiniband: `infiniband` goes by acknowledgements"),
        "{said}"
    );
    assert!(said.contains("use `notification = \"cn\"`, or `service = \"rc\"`"), "{said}");
    // Either advice is good.
    sandbox.write("uc.toml", incast(&top("cn"), "write"));
    sandbox.succeeds(&["run", "uc.toml", "--out", "out"]);
    assert!(marks(&sandbox, "out")["cn_received"].as_u64().is_some_and(|count| count > 0));
    sandbox.write("rc.toml", incast(&top("ack").replace("\"uc\"", "\"rc\""), "write"));
    sandbox.succeeds(&["check", "rc.toml"]);
}

/// When switches mark and what follows is all settings: a branch may change it, but not whether anything marks.
#[test]
fn a_branch_has_other_marks_and_another_table() {
    let sandbox = Sandbox::new();
    let top = "[infiniband]\n[congestion_control.infiniband]\nccti_timer = \"10.24us\"\n\
               [roce]\npath_mtu = 2048\n";
    sandbox.write("incast.toml", incast(top, "write"));
    let kept = ["--checkpoint-every", "50us", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "incast.toml", "--out", "whole"][..], &kept].concat());
    let branch = |sets: &[&str], out: &str| {
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let all = ["branch", "whole", "--at", "100us", "--out", out, "--force", "--quiet"];
        sandbox.rocelab(&all.into_iter().chain(sets).collect::<Vec<_>>())
    };
    let digest = |folder: &str| sandbox.json(&format!("{folder}/summary.json"))["digest"].clone();
    let section = "infiniband.congestion_control";
    let changed = |sets: &[&str]| {
        let ended = branch(sets, "out");
        assert_eq!(ended.code, Some(0), "{sets:?}: {ended:?}");
        digest("out") != digest("whole")
    };
    assert!(!changed(&[&format!("{section}.threshold=8")]), "it is the default");
    assert!(changed(&[&format!("{section}.threshold=15")]));
    assert!(changed(&[&format!("{section}.marking_rate=3")]));
    assert!(changed(&[&format!("{section}={{ packet_size = 34 }}")]));
    // From the branch on nothing is marked.
    let [out, whole] = ["out", "whole"].map(|of| marks(&sandbox, of)["fecn"].as_u64());
    assert!(out < whole && out > Some(0), "{out:?} {whole:?}");
    assert!(changed(&["congestion_control.infiniband.ccti_timer=\"153.6us\""]));
    // The index is above this limit when the branch begins.
    assert!(changed(&["congestion_control.infiniband.ccti_limit=2"]));
    for (set, words) in [
        ("infiniband.vl_buffer=64KiB", ["cannot change infiniband.vl_buffer", section]),
        ("infiniband.congestion_control.threshold=0", ["whether something is there", "may differ"]),
        ("infiniband.congestion_controls.threshold=3", ["cannot change", section]),
    ] {
        let ended = branch(&[set], "refused");
        assert_eq!(ended.code, Some(2), "{set}: {ended:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{set}: {}", ended.stderr);
    }
    assert!(!sandbox.path("refused").exists());
}
