//! Bad input of every kind gives one error with place, key, value and fix, exit code 2, and no
//! results.
//!
//! The full messages are tested with the scenario; here the whole program is tested.

use crate::program::Sandbox;

const TOPOLOGY: &str = "[topology.single-switch]\nhosts = 4\n\
                        link = { rate = \"100Gbps\", cable = \"3m\" }\n";
const WORKLOAD: &str = "[workload.incast]\nsenders = 3\nbytes = \"1MB\"\n";

/// A folder with `s.toml` and the files that it names.
fn sandbox(scenario: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("s.toml", scenario);
    for (name, content) in files {
        sandbox.write(name, content);
    }
    sandbox
}

/// `rocelab run s.toml` must fail with one line that contains all parts in this order.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let before = sandbox.tree();
    let ended = sandbox.rocelab(&[&["run", "s.toml"][..], arguments].concat());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    let mut rest = ended.stderr.strip_prefix("error: ").expect("an error");
    for part in parts {
        let at = rest.find(part);
        rest = &rest[at.unwrap_or_else(|| panic!("no `{part}` in `{rest}` of {}", ended.stderr))..];
        rest = &rest[part.len()..];
    }
    assert_eq!(sandbox.tree(), before, "something was left");
}

/// A scenario whose first lines are `extra`.
#[track_caller]
fn check(extra: &str, parts: &[&str]) {
    refused(&sandbox(&format!("{extra}\n{TOPOLOGY}{WORKLOAD}"), &[]), &[], parts);
}

/// A whole scenario.
#[track_caller]
fn check_whole(scenario: &str, files: &[(&str, &str)], parts: &[&str]) {
    refused(&sandbox(scenario, files), &[], parts);
}

#[test]
fn the_base_of_these_tests_runs() {
    let sandbox = sandbox(&format!("{TOPOLOGY}{WORKLOAD}"), &[]);
    sandbox.succeeds(&["run", "s.toml", "--set", "stop=1us"]);
}

#[test]
fn unknown_key() {
    check(
        "[switch]\nheadrom = \"auto\"",
        &["s.toml:2:1: switch.headrom: ", "no key `headrom`", "did you mean `headroom`?"],
    );
}

/// What does not follow from each other is told in one go, of the text and of values.
#[test]
fn independent_errors_are_told_together() {
    let text = "stop = \"20\"\n[switch]\nheadrom = \"auto\"\n[roce]\nversion = \"two\"\n";
    let values = "stop = \"0s\"\n[switch]\nalpha = \"0\"\n[roce]\nhop_limit = 0\n";
    for (extra, keys) in [
        (text, ["stop", "switch.headrom", "roce.version"]),
        (values, ["stop", "switch.alpha", "roce.hop_limit"]),
    ] {
        let sandbox = sandbox(&format!("{extra}{TOPOLOGY}{WORKLOAD}"), &[]);
        for command in ["run", "check"] {
            let ended = sandbox.rocelab(&[command, "s.toml"]);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
            assert_eq!(ended.stderr.lines().count(), 3, "{}", ended.stderr);
            for key in keys {
                let told = ended.stderr.lines().any(|line| {
                    line.starts_with("error: s.toml:") && line.contains(&format!(": {key} = "))
                        || line.contains(&format!(": {key}: "))
                });
                assert!(told, "no {key} in {}", ended.stderr);
            }
        }
    }
}

#[test]
fn more_errors_than_are_read_are_counted() {
    let many: String = (0..25).map(|number| format!("key_{number} = 1\n")).collect();
    let ended = sandbox(&format!("{many}{TOPOLOGY}{WORKLOAD}"), &[]).rocelab(&["check", "s.toml"]);
    assert_eq!(ended.stderr.lines().count(), 21, "{}", ended.stderr);
    assert!(ended.stderr.ends_with("error: and 5 more in s.toml\n"), "{}", ended.stderr);
}

/// The thresholds that are not written do not keep their defaults.
#[test]
fn one_threshold_alone() {
    for (key, missing) in [("kmin", "kmax"), ("kmax", "kmin")] {
        check(
            &format!("[switch.ecn]\n{key} = \"900KB\""),
            &[
                &format!("switch.ecn.{missing}: the key `{missing}` is missing"),
                "write kmin, kmax and pmax together, as in",
                "kmin = \"100KB\", kmax = \"400KB\", pmax = 0.2",
            ],
        );
    }
}

#[test]
fn missing_unit() {
    check(
        "stop = \"20\"",
        &["s.toml:1:", "stop = \"20\": ", "no unit", "write a duration such as"],
    );
}

#[test]
fn quantity_of_another_kind() {
    check(
        "stop = \"20Gbps\"",
        &["s.toml:1:", "stop = \"20Gbps\": ", "`Gbps` is no unit of duration", "use one of"],
    );
}

#[test]
fn wrong_toml() {
    check_whole("seed = = 1\n", &[], &["s.toml:1:", ""]);
    check_whole("[switch\n", &[], &["s.toml:1:", ""]);
    check("seed = 1\nseed = 2", &["s.toml:2:1: ", "duplicate key", "; "]);
}

#[test]
fn missing_file() {
    let sandbox = Sandbox::new();
    refused(&sandbox, &[], &["s.toml: cannot be read: ", "give the path of a scenario file"]);
    check_whole(
        &format!("[topology.file]\npath = \"absent.txt\"\n{WORKLOAD}"),
        &[],
        &["s.toml:2:", "topology.file.path = \"absent.txt\": ", "cannot be read", "relative to"],
    );
}

#[test]
fn binary_garbage() {
    let sandbox = Sandbox::new();
    sandbox.write("s.toml", [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x80, 0, 0]);
    refused(&sandbox, &[], &["s.toml: cannot be read: ", "; give"]);
    sandbox.write("s.toml", [0; 64]);
    refused(&sandbox, &[], &["s.toml:1:65: ", "write the file as TOML"]);
    sandbox.write("s.toml", "");
    refused(&sandbox, &[], &["s.toml", "topology", "missing", "[topology.NAME]"]);
}

#[test]
fn folder_without_scenarios() {
    let sandbox = Sandbox::new();
    sandbox.write("s.toml/notes.txt", "no scenario");
    refused(&sandbox, &[], &["s.toml: holds no scenario: name a .toml file"]);
}

#[test]
fn host_out_of_range() {
    check_whole(
        &format!(
            "{TOPOLOGY}[workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-9\", bytes = \
             \"1KB\" }}]\n"
        ),
        &[],
        &["s.toml:5:", "workload.flows.list[0].to = \"host-9\": ", "no host", "host-0 to host-3"],
    );
    check(
        "[capture]\nports = [\"host-7\"]",
        &["s.toml:2:", "capture.ports[0] = \"host-7\": ", "no node `host-7`", "host-0 to host-3"],
    );
}

#[test]
fn source_is_destination() {
    check_whole(
        &format!(
            "{TOPOLOGY}[workload.flows]\nlist = [{{ from = \"host-1\", to = \"host-1\", bytes = \
             \"1KB\" }}]\n"
        ),
        &[],
        &["s.toml:5:", "workload.flows.list[0].to = \"host-1\": ", "; "],
    );
}

#[test]
fn disconnected_graph() {
    let links = ["3 4", "4 5", "5 3", "0 3", "1 4", "2 6"];
    let links = links.map(|ends| format!("{ends} 100Gbps 15ns 0\n")).concat();
    let file = format!("7 4 6\n3 4 5 6\n{links}");
    check_whole(
        &format!("[topology.file]\npath = \"t.txt\"\n{WORKLOAD}"),
        &[("t.txt", &file)],
        &["t.txt:8:", "no path between `host-0` and `host-2`", "add a link between the two parts"],
    );
}

#[test]
fn duplicate_link() {
    let file = "3 1 3\n2\n0 2 100Gbps 15ns 0\n1 2 100Gbps 15ns 0\n2 1 100Gbps 15ns 0\n";
    check_whole(
        &format!("[topology.file]\npath = \"t.txt\"\n{WORKLOAD}"),
        &[("t.txt", file)],
        &["t.txt:5:", "line 4 has this link already", "leave out"],
    );
}

#[test]
fn zero_rate() {
    check_whole(
        &format!("{}{WORKLOAD}", TOPOLOGY.replace("100Gbps", "0bps")),
        &[],
        &["s.toml:3:", "single-switch.link.rate = \"0bps\": ", "nothing could cross", "100Gbps"],
    );
}

#[test]
fn mtu_not_in_the_list() {
    check(
        "[roce]\npath_mtu = 1500",
        &["s.toml:2:", "roce.path_mtu = 1500: ", "256, 512, 1024, 2048 or 4096"],
    );
}

#[test]
fn priority_that_does_not_exist() {
    check("[roce]\npriority = 9", &["s.toml:2:", "roce.priority = 9: ", "0 to 7"]);
    check("[switch]\nlossless = [3, 9]", &["s.toml:2:", "switch.lossless[1] = 9: ", "0 to 7"]);
}

#[test]
fn headroom_above_the_buffer() {
    check(
        "[switch]\nheadroom = \"10MB\"",
        &[
            "s.toml:2:",
            "switch.headroom = \"10MB\": ",
            "leave nothing of the buffer",
            "larger than",
        ],
    );
}

#[test]
fn thresholds_the_wrong_way_round() {
    check(
        "[switch]\necn = { kmin = \"400KB\", kmax = \"100KB\", pmax = 0.2 }",
        &["s.toml:2:", "kmin = \"400KB\": ", "above kmax 100KB", "give at most 100KB"],
    );
}

#[test]
fn v1_with_ecn() {
    check(
        "[roce]\nversion = 1\n[congestion_control.dcqcn]",
        &["s.toml:3:", "congestion_control.dcqcn: ", "RoCE v1 does not have", "none, timely"],
    );
    check(
        "[roce]\nversion = 1\n[switch]\necn = { kmin = \"1KB\", kmax = \"2KB\", pmax = 0.5 }",
        &["s.toml:4:", "switch.ecn = ", "cannot be marked", "none, timely"],
    );
}

#[test]
fn v1_across_domains() {
    check_whole(
        &format!(
            "[roce]\nversion = 1\n[layer2]\nvlans = [{{ id = 10, hosts = [\"host-0\"] }}]\n\
             {TOPOLOGY}[workload.flows]\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }}]\n"
        ),
        &[],
        &["s.toml:9:", "workload.flows.list[0] = ", "VLAN 10", "use `roce.version = 2`"],
    );
}

#[test]
fn unknown_topology() {
    check_whole(
        &format!("[topology.leafspine]\nleaves = 4\n{WORKLOAD}"),
        &[],
        &["s.toml:1:", "topology.leafspine: ", "no `leafspine`", "did you mean `leaf-spine`?"],
    );
}

#[test]
fn huge_topology() {
    check_whole(
        &format!("{}{WORKLOAD}", TOPOLOGY.replace("hosts = 4", "hosts = 4000000000")),
        &[],
        &["s.toml:2:", "topology.single-switch.hosts = 4000000000: ", "more than", "smaller"],
    );
    check_whole(
        &format!(
            "[topology.fat-tree]\nk = 65534\nhost_link = {{ rate = \"1Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"1Gbps\", cable = \"3m\" }}\n{WORKLOAD}"
        ),
        &[],
        &["s.toml:2:", "topology.fat-tree.k = 65534: ", "more than", "smaller"],
    );
}

#[test]
fn poisson() {
    let poisson = |load: &str, distribution: &str| {
        format!(
            "{TOPOLOGY}[workload.poisson]\nload = {load}\ndistribution = \"{distribution}\"\n\
             duration = \"1ms\"\n"
        )
    };
    check_whole(
        &poisson("0.5", "websurf"),
        &[],
        &["s.toml:6:", "workload.poisson.distribution = \"websurf\": ", "websearch"],
    );
    check_whole(
        &poisson("1.5", "websearch"),
        &[],
        &["s.toml:5:", "workload.poisson.load = 1.5: ", "; "],
    );
}

#[test]
fn too_many_senders() {
    check_whole(
        &format!("{TOPOLOGY}{}", WORKLOAD.replace("senders = 3", "senders = 4")),
        &[],
        &["s.toml:5:", "workload.incast.senders = 4: ", "more than", "at most 3"],
    );
}

#[test]
fn bad_csv() {
    let scenario = format!("{TOPOLOGY}[workload.flows]\ncsv = \"flows.csv\"\n");
    let header = "source,destination,bytes,start\nhost-0,host-1,1MB,0s\n";
    check_whole(
        &scenario,
        &[("flows.csv", &format!("{header}host-1,host-9,1MB,5us\n"))],
        &["flows.csv:3:", "destination = \"host-9\": ", "no host", "host-0 to host-3"],
    );
    check_whole(
        &scenario,
        &[("flows.csv", &format!("{header}host-1,host-2,many,5us\n"))],
        &["flows.csv:3:", "bytes = \"many\": ", "; "],
    );
    check_whole(
        &scenario,
        &[("flows.csv", &format!("{header}host-1,host-2\n"))],
        &["flows.csv:3:", "; "],
    );
}

#[test]
fn bad_reference_flows() {
    check_whole(
        &format!("{TOPOLOGY}[workload.flows]\nreference = \"flow.txt\"\n"),
        &[("flow.txt", "2\n0 1 3 100 1000 2.0\n0 77 3 100 1000 2.1\n")],
        &["flow.txt:3:", "77", "; "],
    );
}

#[test]
fn a_stop_at_zero() {
    check("stop = \"0s\"", &["s.toml:1:", "stop = \"0s\": ", "end before it begins", "above 0s"]);
}

#[test]
fn overrides() {
    let sandbox = sandbox(&format!("{TOPOLOGY}{WORKLOAD}"), &[]);
    refused(
        &sandbox,
        &["--set", "roce.path_mtu=1500"],
        &["--set", "roce.path_mtu = 1500: ", "or 4096"],
    );
    refused(
        &sandbox,
        &["--set", "roce.pth_mtu=1024"],
        &["--set", "pth_mtu", "did you mean `path_mtu`?"],
    );
    refused(
        &sandbox,
        &["--set", "stop=20"],
        &["--set", "stop = 20: ", "no unit", "write a duration"],
    );
    refused(
        &sandbox,
        &["--set", "workload.incast[4].senders=1"],
        &["--set", "workload.incast[4]", "; "],
    );
    refused(
        &sandbox,
        &["--set", "failure[0].at=5us"],
        &["--set", "failure[0].at = 5us: ", "the file has no [[failure]]", "; "],
    );
}

#[test]
fn a_default_is_called_one() {
    check(
        "[switch]\nbuffer = \"1KB\"",
        &["s.toml:1:", "switch.xon_offset = ", " by default: that is more than the buffer of 1KB"],
    );
    check(
        "[tcp]\nmin_rto = \"200s\"",
        &["s.toml:1:", "tcp.max_rto = 120s by default: ", "is below min_rto"],
    );
}

#[test]
fn a_watchdog_that_takes_no_time() {
    for of in ["switch", "nic"] {
        check(
            &format!("[watchdog.{of}]\ndetect = \"0s\""),
            &["s.toml:2:", &format!("watchdog.{of}.detect = \"0s\": "), "takes some time"],
        );
    }
}

/// An error of the argument parser has a hint on further lines, but is one error too.
#[test]
fn arguments() {
    let sandbox = sandbox(&format!("{TOPOLOGY}{WORKLOAD}"), &[]);
    let before = sandbox.tree();
    for (arguments, part) in [
        (&["run", "s.toml", "--set", "stop"][..], "`stop` is no KEY.PATH=VALUE"),
        (&["run", "s.toml", "--set", "=1"], "`=1` is no KEY.PATH=VALUE"),
        (&["run", "s.toml", "--seed", "one"], "--seed"),
        (&["run", "s.toml", "--seed", "-1"], "invalid value '-1' for '--seed"),
        (&["run", "s.toml", "--threads", "none"], "--threads"),
        (&["run", "s.toml", "--partitions", "-3"], "invalid value '-3' for '--partitions"),
        (&["run", "s.toml", "--fast"], "--fast"),
        (&["run"], "FILE_OR_FOLDER"),
        (&["explain", "s", "--flow", "0", "--operation", "0"], "--operation"),
        (&["walk", "s.toml"], "walk"),
    ] {
        let ended = sandbox.rocelab(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:?}");
        assert!(ended.stderr.contains(part), "no `{part}` in {ended:?}");
    }
    assert_eq!(sandbox.tree(), before);
}
