//! Every kind of bad input gives one error with file, line, key, value and what to write instead.

use std::path::{Path, PathBuf};

use rocelab_sim::{Scenario, ScenarioError};

/// What an error must say.
struct Expected<'a> {
    /// `file:line`; the file's name alone.
    place: &'a str,
    key: &'a str,
    value: &'a str,
    /// A part of the message.
    message: &'a str,
    /// A part of the help.
    help: &'a str,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn plan(toml: &str, overrides: &[(&str, &str)]) -> Result<(), ScenarioError> {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.into(), value.into())).collect();
    let scenario = Scenario::parse(toml, &folder().join("s.toml"), &overrides)?;
    scenario.plan().map(drop)
}

#[track_caller]
fn check(toml: &str, expected: Expected<'_>) {
    check_error(&plan(toml, &[]).expect_err("this scenario was accepted"), &expected);
}

#[track_caller]
fn check_error(error: &ScenarioError, expected: &Expected<'_>) {
    let text = error.to_string();
    let file = error.file().file_name().unwrap_or_default().to_string_lossy();
    assert_eq!(format!("{file}:{}", error.line()), expected.place, "place of: {text}");
    assert_eq!(error.key(), expected.key, "key of: {text}");
    assert_eq!(error.value(), expected.value, "value of: {text}");
    assert!(error.message().contains(expected.message), "message of: {text}");
    let help = error.help().unwrap_or_default();
    assert!(!expected.help.is_empty() && help.contains(expected.help), "help of: {text}");
    assert!(!text.contains('\n'), "more than a line: {text}");
    assert!(error.column() > 0 && error.span().end <= error.text().len(), "span of: {text}");
}

/// A scenario of four hosts; `extra` begins on line 1, the base after it.
fn with(extra: &str) -> String {
    format!("{extra}\n{TOPOLOGY}{WORKLOAD}")
}

const TOPOLOGY: &str = "[topology.single-switch]\nhosts = 4\n\
                        link = { rate = \"100Gbps\", cable = \"3m\" }\n";
const WORKLOAD: &str = "[workload.incast]\nsenders = 3\nbytes = \"1MB\"\n";

#[test]
fn the_base_of_these_tests_is_accepted() {
    plan(&with(""), &[]).unwrap();
    plan(&with("[roce]\nversion = 1"), &[]).unwrap();
}

#[test]
fn no_toml() {
    check(
        "seed = 1\nseed = 2\n",
        Expected { place: "s.toml:2", key: "", value: "", message: "duplicate key", help: "TOML" },
    );
}

#[test]
fn unknown_keys() {
    check(
        &with("[switch]\nheadrom = \"auto\""),
        Expected {
            place: "s.toml:2",
            key: "switch.headrom",
            value: "",
            message: "there is no key `headrom`",
            help: "did you mean `headroom`?",
        },
    );
    check(
        &with("[swich]"),
        Expected {
            place: "s.toml:1",
            key: "swich",
            value: "",
            message: "there is no key `swich`",
            help: "did you mean `switch`?",
        },
    );
    check(
        &format!("{TOPOLOGY}[workload.incats]\nsenders = 3\n"),
        Expected {
            place: "s.toml:4",
            key: "workload.incats",
            value: "",
            message: "there is no key `incats`",
            help: "did you mean `incast`?",
        },
    );
    check(
        &format!("{TOPOLOGY}[[workload.incast]]\nsenders = 3\nbites = \"1MB\"\n"),
        Expected {
            place: "s.toml:6",
            key: "workload.incast[0].bites",
            value: "",
            message: "there is no key `bites`",
            help: "did you mean `bytes`?",
        },
    );
}

#[test]
fn unknown_names() {
    check(
        &with("[congestion_control.dcqn]"),
        Expected {
            place: "s.toml:1",
            key: "congestion_control.dcqn",
            value: "",
            message: "there is no `dcqn`",
            help: "did you mean `dcqcn`?",
        },
    );
    check(
        "[topology.leafspine]\nleaves = 1\n",
        Expected {
            place: "s.toml:1",
            key: "topology.leafspine",
            value: "",
            message: "there is no `leafspine`",
            help: "did you mean `leaf-spine`?",
        },
    );
    check(
        &with("[roce]\nrecovery = \"go-back\""),
        Expected {
            place: "s.toml:2",
            key: "roce.recovery",
            value: "\"go-back\"",
            message: "there is no `go-back`",
            help: "go-back-n",
        },
    );
}

#[test]
fn missing_keys() {
    check(
        "seed = 1\n",
        Expected {
            place: "s.toml:1",
            key: "topology",
            value: "",
            message: "the key `topology` is missing",
            help: "[topology.NAME]",
        },
    );
    check(
        &format!("{TOPOLOGY}[workload.incast]\nsenders = 3\n"),
        Expected {
            place: "s.toml:4",
            key: "workload.incast.bytes",
            value: "",
            message: "the key `bytes` is missing",
            help: "bytes = ...",
        },
    );
    check(
        TOPOLOGY,
        Expected {
            place: "s.toml:1",
            key: "workload",
            value: "",
            message: "no flow would start",
            help: "[workload.incast]",
        },
    );
}

#[test]
fn missing_and_wrong_units() {
    check(
        &with("stop = 20"),
        Expected {
            place: "s.toml:1",
            key: "stop",
            value: "20",
            message: "`20` has no unit",
            help: "write a duration such as `1us`",
        },
    );
    check(
        "[topology.single-switch]\nhosts = 2\nlink = { rate = \"100\", cable = \"3m\" }\n",
        Expected {
            place: "s.toml:3",
            key: "topology.single-switch.link.rate",
            value: "\"100\"",
            message: "`100` has no unit",
            help: "write a bandwidth such as `100Gbps`",
        },
    );
    check(
        &format!("{TOPOLOGY}[workload.incast]\nsenders = 3\nbytes = \"1Gbps\"\n"),
        Expected {
            place: "s.toml:6",
            key: "workload.incast.bytes",
            value: "\"1Gbps\"",
            message: "`Gbps` is no unit of size",
            help: "use one of",
        },
    );
}

#[test]
fn values_of_the_wrong_type_or_range() {
    check(
        &with("seed = \"one\""),
        Expected {
            place: "s.toml:1",
            key: "seed",
            value: "\"one\"",
            message: "invalid type: string \"one\"",
            help: "write",
        },
    );
    check(
        &with("[roce]\nhop_limit = 300"),
        Expected {
            place: "s.toml:2",
            key: "roce.hop_limit",
            value: "300",
            message: "300",
            help: "0 to 255",
        },
    );
    check(
        &with("[roce]\nhop_limit = 0"),
        Expected {
            place: "s.toml:2",
            key: "roce.hop_limit",
            value: "0",
            message: "do not pass any router",
            help: "1 to 255",
        },
    );
    check(
        &with("[roce]\nversion = 3"),
        Expected {
            place: "s.toml:2",
            key: "roce.version",
            value: "3",
            message: "RoCE version 3 does not exist",
            help: "use 1 or 2",
        },
    );
    check(
        &with("[roce]\npath_mtu = 1500"),
        Expected {
            place: "s.toml:2",
            key: "roce.path_mtu",
            value: "1500",
            message: "path MTU 1500 does not exist",
            help: "256, 512, 1024, 2048 or 4096",
        },
    );
    check(
        &with("[roce]\nack_timeout = 32"),
        Expected {
            place: "s.toml:2",
            key: "roce.ack_timeout",
            value: "32",
            message: "timeout exponent 32 does not exist",
            help: "0 (never) to 31",
        },
    );
    check(
        &with("[roce]\nretry_count = 8"),
        Expected {
            place: "s.toml:2",
            key: "roce.retry_count",
            value: "8",
            message: "3 bits",
            help: "0 to 7",
        },
    );
    check(
        &with("[roce]\nack_interval = 0"),
        Expected {
            place: "s.toml:2",
            key: "roce.ack_interval",
            value: "0",
            message: "0th",
            help: "give 1",
        },
    );
    check(
        &with("[roce]\npriority = 8"),
        Expected {
            place: "s.toml:2",
            key: "roce.priority",
            value: "8",
            message: "priority 8 does not exist",
            help: "0 to 7",
        },
    );
    check(
        &with("stop = \"0s\""),
        Expected {
            place: "s.toml:1",
            key: "stop",
            value: "\"0s\"",
            message: "end before it begins",
            help: "above 0s",
        },
    );
    check(
        &with("stop = \"5000000s\""),
        Expected {
            place: "s.toml:1",
            key: "stop",
            value: "\"5000000s\"",
            message: "does not reach that far",
            help: "give at most",
        },
    );
}

#[test]
fn topology() {
    check(
        "[topology.single-switch]\nhosts = 0\nlink = { rate = \"1Gbps\", cable = \"3m\" }\n",
        Expected {
            place: "s.toml:2",
            key: "topology.single-switch.hosts",
            value: "0",
            message: "there would be none",
            help: "at least 2",
        },
    );
    check(
        "[topology.single-switch]\nhosts = 4294967295\nlink = { rate = \"1Gbps\", cable = \"3m\" }\n",
        Expected {
            place: "s.toml:2",
            key: "topology.single-switch.hosts",
            value: "4294967295",
            message: "more than",
            help: "smaller",
        },
    );
    check(
        "[topology.single-switch]\nhosts = 2\nlink = { rate = \"0bps\", cable = \"3m\" }\n",
        Expected {
            place: "s.toml:3",
            key: "topology.single-switch.link.rate",
            value: "\"0bps\"",
            message: "nothing could cross",
            help: "100Gbps",
        },
    );
    check(
        "[topology.single-switch]\nhosts = 2\nlink = { rate = \"1Gbps\" }\n",
        Expected {
            place: "s.toml:3",
            key: "topology.single-switch.link",
            value: "{ rate = \"1Gbps\" }",
            message: "",
            help: "cable",
        },
    );
    check(
        "[topology.single-switch]\nhosts = 2\n\
         link = { rate = \"1Gbps\", cable = \"3m\", delay = \"1us\" }\n",
        Expected {
            place: "s.toml:3",
            key: "topology.single-switch.link.delay",
            value: "\"1us\"",
            message: "",
            help: "cable",
        },
    );
    check(
        "[topology]\n",
        Expected {
            place: "s.toml:1",
            key: "topology",
            value: "",
            message: "exactly one name",
            help: "[section.NAME]",
        },
    );
}

fn topology_file(file: &str) -> String {
    format!("[topology.file]\npath = \"{file}\"\n{WORKLOAD}")
}

#[test]
fn topology_files() {
    check(
        &topology_file("absent.txt"),
        Expected {
            place: "s.toml:2",
            key: "topology.file.path",
            value: "\"absent.txt\"",
            message: "cannot be read",
            help: "relative to the scenario's folder",
        },
    );
    check(
        &topology_file("duplicate-link.topology.txt"),
        Expected {
            place: "duplicate-link.topology.txt:5",
            key: "line 5",
            value: "1",
            message: "line 4 has this link already",
            help: "leave out",
        },
    );
    check(
        &topology_file("disconnected.topology.txt"),
        Expected {
            place: "disconnected.topology.txt:8",
            key: "line 8",
            value: "2",
            message: "no path between `host-0` and `host-2`",
            help: "add a link between the two parts",
        },
    );
}

#[test]
fn switch() {
    check(
        &with("[switch.ecn]\nkmin = \"400KB\"\nkmax = \"100KB\"\npmax = 0.2"),
        Expected {
            place: "s.toml:2",
            key: "switch.ecn.kmin",
            value: "\"400KB\"",
            message: "kmin 400KB is above kmax 100KB",
            help: "larger kmax",
        },
    );
    check(
        &with("[switch]\necn = { kmin = \"1KB\", kmax = \"2KB\", pmax = 1.5 }"),
        Expected {
            place: "s.toml:2",
            key: "switch.ecn.pmax",
            value: "1.5",
            message: "a probability",
            help: "from 0 to 1",
        },
    );
    check(
        &with("[switch]\nlossless = [3, 8]"),
        Expected {
            place: "s.toml:2",
            key: "switch.lossless[1]",
            value: "8",
            message: "priority 8 does not exist",
            help: "0 to 7",
        },
    );
    check(
        &with("[switch]\nlossless = [3,\n 4, 3]"),
        Expected {
            place: "s.toml:3",
            key: "switch.lossless[2]",
            value: "3",
            message: "priority 3 is named twice",
            help: "once",
        },
    );
    check(
        &with("[switch]\nheadroom = \"10MB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.headroom",
            value: "\"10MB\"",
            message: "headroom 40MB and reserves 0B of 4 ports and 1 lossless priorities leave \
                      nothing of the buffer of 32MB",
            help: "the buffer larger than 40MB",
        },
    );
    check(
        &with("[switch]\nreserve = \"9MB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.reserve",
            value: "\"9MB\"",
            message: "reserves 36MB",
            help: "the buffer larger than",
        },
    );
    check(
        &with("[switch]\nbuffer = \"10KB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.buffer",
            value: "\"10KB\"",
            message: "leave nothing of the buffer of 10KB",
            help: "the buffer larger than",
        },
    );
    check(
        &with("[switch]\nalpha = \"0\""),
        Expected {
            place: "s.toml:2",
            key: "switch.alpha",
            value: "\"0\"",
            message: "stores no frame",
            help: "1/8",
        },
    );
    check(
        &with("[switch.scheduler.dwrr]\nweights = [1, 0]"),
        Expected {
            place: "s.toml:2",
            key: "switch.scheduler.dwrr.weights[1]",
            value: "0",
            message: "out of range",
            help: "1 to 100",
        },
    );
    check(
        &with("[switch]\npause_quanta = 0"),
        Expected {
            place: "s.toml:2",
            key: "switch.pause_quanta",
            value: "0",
            message: "means: resume",
            help: "1 to 65535",
        },
    );
}

#[test]
fn congestion_control_parameters() {
    check(
        &with("[congestion_control.none]\nrate = \"0bps\""),
        Expected {
            place: "s.toml:2",
            key: "congestion_control.none.rate",
            value: "\"0bps\"",
            message: "sends nothing",
            help: "above 0bps",
        },
    );
}

#[test]
fn roce_v1_has_no_ecn() {
    check(
        &with("[roce]\nversion = 1\n[congestion_control.dcqcn]"),
        Expected {
            place: "s.toml:3",
            key: "congestion_control.dcqcn",
            value: "",
            message: "ECN marks, which RoCE v1 does not have",
            help: "use one of none, timely",
        },
    );
    check(
        &with(
            "[roce]\nversion = 1\n[switch]\necn = { kmin = \"1KB\", kmax = \"2KB\", pmax = 0.5 }",
        ),
        Expected {
            place: "s.toml:4",
            key: "switch.ecn",
            value: "{ kmin = \"1KB\", kmax = \"2KB\", pmax = 0.5 }",
            message: "cannot be marked",
            help: "none, timely",
        },
    );
}

fn two_vlans(version: u8) -> String {
    format!(
        "[roce]\nversion = {version}\n[layer2]\n\
         vlans = [{{ id = 10, hosts = [\"host-0..host-1\"] }}, {{ id = 20, hosts = [\"host-2\"] }}]\n\
         {TOPOLOGY}[workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }},\n\
         {{ from = \"host-1\", to = \"host-2\", bytes = \"1KB\" }},\n]\n"
    )
}

#[test]
fn roce_v1_stays_in_a_broadcast_domain() {
    plan(&two_vlans(2), &[]).unwrap();
    check(
        &two_vlans(1),
        Expected {
            place: "s.toml:11",
            key: "workload.flows.list[1]",
            value: "{ from = \"host-1\", to = \"host-2\", bytes = \"1KB\" }",
            message: "`host-1` is in VLAN 10 and `host-2` in VLAN 20",
            help: "use `roce.version = 2`",
        },
    );
}

#[test]
fn vlans() {
    check(
        &with("[layer2]\nvlans = [{ id = 0, hosts = [\"host-0\"] }]"),
        Expected {
            place: "s.toml:2",
            key: "layer2.vlans[0].id",
            value: "0",
            message: "VLAN 0 does not exist",
            help: "1 to 4094",
        },
    );
    check(
        &with(
            "[[layer2.vlans]]\nid = 1\nhosts = [\"host-0..host-2\"]\n\
             [[layer2.vlans]]\nid = 2\nhosts = [\"host-1\"]",
        ),
        Expected {
            place: "s.toml:6",
            key: "layer2.vlans[1].hosts",
            value: "[\"host-1\"]",
            message: "`host-1` is already in VLAN 1",
            help: "one VLAN",
        },
    );
    check(
        &with("[[layer2.vlans]]\nid = 1\nhosts = [\"host-0..host-9\"]"),
        Expected {
            place: "s.toml:3",
            key: "layer2.vlans[0].hosts[0]",
            value: "\"host-0..host-9\"",
            message: "there is no host `host-9`",
            help: "host-0 to host-3",
        },
    );
}

#[test]
fn captures_and_samples() {
    check(
        &with("[capture]\nports = [\"host-0\", \"switch-0:9\"]"),
        Expected {
            place: "s.toml:2",
            key: "capture.ports[1]",
            value: "\"switch-0:9\"",
            message: "`switch-0` has no port 9",
            help: "0 to 3",
        },
    );
    check(
        &with("[capture]\nports = [\"host-7\"]"),
        Expected {
            place: "s.toml:2",
            key: "capture.ports[0]",
            value: "\"host-7\"",
            message: "there is no node `host-7`",
            help: "host-0 to host-3",
        },
    );
    check(
        &with("[capture]\nports = [\"host-0\"]\nsnap_length = 0"),
        Expected {
            place: "s.toml:3",
            key: "capture.snap_length",
            value: "0",
            message: "no byte",
            help: "at least 1",
        },
    );
    check(
        &with("[sample.queues]\ninterval = \"0us\"\nports = [\"switch-0\"]"),
        Expected {
            place: "s.toml:2",
            key: "sample.queues.interval",
            value: "\"0us\"",
            message: "never end",
            help: "above 0s",
        },
    );
}

/// A scenario whose last line, line 4 and on, is a workload.
fn workload(text: &str) -> String {
    format!("{TOPOLOGY}{text}")
}

#[test]
fn incast() {
    check(
        &workload("[workload.incast]\nsenders = 4\nbytes = \"1MB\"\n"),
        Expected {
            place: "s.toml:5",
            key: "workload.incast.senders",
            value: "4",
            message: "more than the 4 hosts",
            help: "at most 3",
        },
    );
    check(
        &workload("[workload.incast]\nsenders = 0\nbytes = \"1MB\"\n"),
        Expected {
            place: "s.toml:5",
            key: "workload.incast.senders",
            value: "0",
            message: "sends nothing",
            help: "at least 1",
        },
    );
    check(
        &workload("[workload.incast]\nsenders = 1\nbytes = \"0B\"\n"),
        Expected {
            place: "s.toml:6",
            key: "workload.incast.bytes",
            value: "\"0B\"",
            message: "0 bytes",
            help: "at least 1B",
        },
    );
    check(
        &workload("[workload.incast]\nsenders = 1\nbytes = \"1B\"\nreceiver = \"host-4\"\n"),
        Expected {
            place: "s.toml:7",
            key: "workload.incast.receiver",
            value: "\"host-4\"",
            message: "there is no host `host-4`",
            help: "host-0 to host-3",
        },
    );
    check(
        &workload("[workload.incast]\nsenders = 1\nbytes = \"1B\"\nrepeat = 2\n"),
        Expected {
            place: "s.toml:4",
            key: "workload.incast.interval",
            value: "none",
            message: "the time from one to the next",
            help: "1ms",
        },
    );
    check(
        &workload("[workload.incast]\nsenders = 1\nbytes = \"1B\"\npriority = 9\n"),
        Expected {
            place: "s.toml:7",
            key: "workload.incast.priority",
            value: "9",
            message: "priority 9 does not exist",
            help: "0 to 7",
        },
    );
}

#[test]
fn listed_flows() {
    let listed = |flow: &str| workload(&format!("[[workload.flows.list]]\n{flow}\n"));
    check(
        &listed("from = \"host-1\"\nto = \"host-1\"\nbytes = \"1MB\""),
        Expected {
            place: "s.toml:6",
            key: "workload.flows.list[0].to",
            value: "\"host-1\"",
            message: "to itself",
            help: "two different hosts",
        },
    );
    check(
        &listed("from = \"host-1\"\nto = \"switch-0\"\nbytes = \"1MB\""),
        Expected {
            place: "s.toml:6",
            key: "workload.flows.list[0].to",
            value: "\"switch-0\"",
            message: "there is no host `switch-0`",
            help: "host-0 to host-3",
        },
    );
    check(
        &workload("[workload.flows]\nverb = \"send\"\n"),
        Expected {
            place: "s.toml:4",
            key: "workload.flows",
            value: "",
            message: "there are no flows",
            help: "`list`, `csv` or `reference`",
        },
    );
    check(
        &workload("[workload.flows]\ncsv = \"absent.csv\"\n"),
        Expected {
            place: "s.toml:5",
            key: "workload.flows.csv",
            value: "\"absent.csv\"",
            message: "cannot be read",
            help: "relative to the scenario's folder",
        },
    );
}

#[test]
fn flows_without_end() {
    check(
        &workload("[workload.permutation]\nbytes = \"1KB\"\nstart = \"18000000s\"\n"),
        Expected {
            place: "s.toml:4",
            key: "workload.permutation",
            value: "",
            message: "1KB from 18000000s on do not end within",
            help: "start earlier",
        },
    );
    check(
        &workload("[workload.permutation]\nbytes = \"1PB\"\n"),
        Expected {
            place: "s.toml:5",
            key: "workload.permutation.bytes",
            value: "\"1PB\"",
            message: "`PB` is no unit of size",
            help: "GB",
        },
    );
    check(
        &workload("[workload.permutation]\nbytes = \"1000TB\"\n"),
        Expected {
            place: "s.toml:5",
            key: "workload.permutation.bytes",
            value: "\"1000TB\"",
            message: "do not end within a run",
            help: "at most 256TiB",
        },
    );
}

#[test]
fn poisson() {
    let poisson = |keys: &str| workload(&format!("[workload.poisson]\n{keys}\n"));
    for load in ["0.0", "1.01", "nan", "-1.0"] {
        check(
            &poisson(&format!("load = {load}\ndistribution = \"websearch\"\ncount = 1")),
            Expected {
                place: "s.toml:5",
                key: "workload.poisson.load",
                value: load,
                message: "a share",
                help: "above 0 and at most 1",
            },
        );
    }
    check(
        &poisson("load = 0.5\ndistribution = \"websurch\"\ncount = 1"),
        Expected {
            place: "s.toml:6",
            key: "workload.poisson.distribution",
            value: "\"websurch\"",
            message: "there is no distribution `websurch`",
            help: "did you mean `websearch`?",
        },
    );
    check(
        &poisson("load = 0.5\ndistribution = \"websearch\""),
        Expected {
            place: "s.toml:4",
            key: "workload.poisson.duration",
            value: "none",
            message: "when arrivals end",
            help: "`count`",
        },
    );
    check(
        &poisson("load = 0.5\ncount = 1\ndistribution_file = \"descending.csv\""),
        Expected {
            place: "descending.csv:4",
            key: "cumulative_percent",
            value: "\"40\"",
            message: "ascend from 0 to 100",
            help: "percentage",
        },
    );
    check(
        &poisson("load = 0.5\ndistribution = \"websearch\"\nduration = \"10000s\""),
        Expected {
            place: "s.toml:5",
            key: "workload.poisson.load",
            value: "0.5",
            message: "these would be",
            help: "at most",
        },
    );
}

#[test]
fn flow_files() {
    let csv = |file: &str| workload(&format!("[workload.flows]\ncsv = \"{file}\"\n"));
    let reference = |file: &str| workload(&format!("[workload.flows]\nreference = \"{file}\"\n"));
    check(
        &csv("bad-host.csv"),
        Expected {
            place: "bad-host.csv:4",
            key: "destination",
            value: "\"host-9\"",
            message: "there is no host `host-9`",
            help: "host-0 to host-3",
        },
    );
    check(
        &csv("bad-unit.csv"),
        Expected {
            place: "bad-unit.csv:2",
            key: "start",
            value: "\"5\"",
            message: "has no unit",
            help: "write a duration",
        },
    );
    check(
        &csv("bad-column.csv"),
        Expected {
            place: "bad-column.csv:1",
            key: "sauce",
            value: "\"sauce\"",
            message: "there is no column `sauce`",
            help: "did you mean `source`?",
        },
    );
    check(
        &reference("bad-node.flow.txt"),
        Expected {
            place: "bad-node.flow.txt:3",
            key: "destination",
            value: "4",
            message: "node 4 is no host",
            help: "host-0 to host-3",
        },
    );
    check(
        &reference("own-host.flow.txt"),
        Expected {
            place: "own-host.flow.txt:2",
            key: "destination",
            value: "1",
            message: "to itself",
            help: "two different hosts",
        },
    );
    check(
        &reference("early.flow.txt"),
        Expected {
            place: "early.flow.txt:2",
            key: "start",
            value: "1.5",
            message: "before the offset of 2s",
            help: "start_offset",
        },
    );
    check(
        &reference("short.flow.txt"),
        Expected {
            place: "short.flow.txt:1",
            key: "count",
            value: "3",
            message: "3 flows are announced, 1 follow",
            help: "first line",
        },
    );
}

#[test]
fn overrides() {
    let error = plan(&with(""), &[("seed", "2"), ("switch.alpha", "\"0\"")]).unwrap_err();
    check_error(
        &error,
        &Expected {
            place: "--set:1",
            key: "switch.alpha",
            value: "\"0\"",
            message: "stores no frame",
            help: "1/8",
        },
    );
    let error = plan(&with(""), &[("switch.alfa", "1")]).unwrap_err();
    check_error(
        &error,
        &Expected {
            place: "--set:1",
            key: "switch.alfa",
            value: "",
            message: "there is no key `alfa`",
            help: "did you mean `alpha`?",
        },
    );
}

#[test]
fn an_absent_scenario() {
    let error = Scenario::load(Path::new("absent/s.toml"), &[]).unwrap_err();
    assert_eq!(error.line(), 0);
    assert!(error.to_string().starts_with("absent/s.toml: cannot be read: "), "{error}");
}

/// A run by the rules of HPCC's simulator; `extra` begins on line 2.
fn by_hpcc_ns3(extra: &str) -> String {
    let ecn = "[{ rate = \"100Gbps\", kmin = \"100KB\", kmax = \"400KB\", pmax = 0.2 }]";
    format!(
        "\n{extra}\n[profile.hpcc-ns3]\necn = {ecn}\nack_interval = \"1B\"\n{TOPOLOGY}{WORKLOAD}"
    )
}

#[test]
fn a_profile_is_accepted_with_the_defaults_of_what_it_ignores() {
    plan(&by_hpcc_ns3(""), &[]).unwrap();
    plan(&by_hpcc_ns3("[roce]\nversion = 2\npriority = 3\n[switch]\nbuffer = \"2MiB\""), &[])
        .unwrap();
}

#[test]
fn what_a_profile_has_no_place_for() {
    let table = [
        ("[roce]\nversion = 1", "roce.version", "1", "remove it"),
        ("[roce]\npath_mtu = 4096", "roce.path_mtu", "4096", "profile.hpcc-ns3.payload"),
        ("[roce]\npriority = 4", "roce.priority", "4", "`priority` of the workload"),
        ("[layer2]\nforwarding = \"multipath\"", "layer2.forwarding", "\"multipath\"", "remove it"),
        ("[switch]\nalpha = 1", "switch.alpha", "1", "remove it"),
        ("[switch]\nlossless = [3, 4]", "switch.lossless", "[3, 4]", "remove it"),
    ];
    for (extra, key, value, help) in table {
        let expected = Expected { place: "s.toml:3", key, value, message: "nothing like it", help };
        check(&by_hpcc_ns3(extra), expected);
    }
    check(
        &by_hpcc_ns3("[capture]\nports = [\"host-0\"]"),
        Expected {
            place: "s.toml:2",
            key: "capture",
            value: "",
            message: "nothing like it",
            help: "remove it",
        },
    );
}

#[test]
fn flows_and_ports_that_a_profile_does_not_have() {
    let replaced = |from: &str, to: &str| by_hpcc_ns3("").replace(from, to);
    check(
        &replaced("bytes = \"1MB\"", "bytes = \"5GB\""),
        Expected {
            place: "s.toml:11",
            key: "workload.incast.bytes",
            value: "\"5GB\"",
            message: "do not fit 32 bits",
            help: "several flows",
        },
    );
    check(
        &replaced("senders = 3", "senders = 3\npriority = 0"),
        Expected {
            place: "s.toml:11",
            key: "workload.incast.priority",
            value: "0",
            message: "pause frames alone",
            help: "from 1 to 7",
        },
    );
    check(
        &replaced("senders = 3", "senders = 3\nverb = \"read\""),
        Expected {
            place: "s.toml:11",
            key: "workload.incast.verb",
            value: "\"read\"",
            message: "no other operation than a WRITE",
            help: "leave `verb` out",
        },
    );
    check(
        &replaced("rate = \"100Gbps\", cable", "rate = \"40Gbps\", cable"),
        Expected {
            place: "s.toml:4",
            key: "profile.hpcc-ns3.ecn",
            value: "[{ rate = \"100Gbps\", kmin = \"100KB\", kmax = \"400KB\", pmax = ...",
            message: "is 40Gbps and has no thresholds",
            help: "do not `mark`",
        },
    );
    check(
        &replaced("pmax = 0.2", "pmax = 2"),
        Expected {
            place: "s.toml:4",
            key: "profile.hpcc-ns3.ecn[0].pmax",
            value: "2",
            message: "no probability",
            help: "0 to 1",
        },
    );
}

#[test]
fn congestion_control_of_a_part_is_checked_where_it_stands() {
    check(
        &with("[class.4]\ncongestion_control = { hpcc = { eta = 2 } }"),
        Expected {
            place: "s.toml:2",
            key: "class.4.congestion_control.hpcc.eta",
            value: "2",
            message: "",
            help: "give",
        },
    );
    let incast = format!("{WORKLOAD}congestion_control = {{ dctcp = {{}} }}\n");
    check(
        &format!("[roce]\nversion = 1\n{TOPOLOGY}{incast}"),
        Expected {
            place: "s.toml:9",
            key: "workload.incast.congestion_control.dctcp",
            value: "{}",
            message: "ECN marks, which RoCE v1 does not have",
            help: "use one of none, timely",
        },
    );
    let error = plan(&with("[class.8]\ncongestion_control = { none = {} }"), &[]).unwrap_err();
    assert!(error.to_string().contains("priority 8 does not exist"), "{error}");
    assert_eq!(error.line(), 1, "{error}");
}

#[test]
fn telemetry_needs_a_number_for_every_rate() {
    let slow = TOPOLOGY.replace("100Gbps", "56Gbps");
    check(
        &format!("[congestion_control.hpcc]\n{slow}{WORKLOAD}"),
        Expected {
            place: "s.toml:1",
            key: "congestion_control.hpcc",
            value: "",
            message: "the link from `host-0` to `switch-0` is 56Gbps, for which telemetry has no",
            help: "10, 25, 40, 50, 100, 200, 400 or 800 Gbps",
        },
    );
    // One value has no rate in it, and those who need none do not care.
    for algorithm in ["hpcc-pint", "timely"] {
        plan(&format!("[congestion_control.{algorithm}]\n{slow}{WORKLOAD}"), &[]).unwrap();
    }
    // Neither do flows that use another.
    let own = format!("{WORKLOAD}congestion_control = {{ timely = {{}} }}\n");
    plan(&format!("[congestion_control.hpcc]\n{slow}{own}"), &[]).unwrap();
}

#[test]
fn telemetry_has_room_for_five_switches() {
    let chain = |switches: u32| {
        let ids: Vec<_> = (2..2 + switches).collect();
        let mut text = format!("{} {switches} {}\n", switches + 2, switches + 1);
        text += &ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        text += &format!("\n0 2 100Gbps 1us 0\n1 {} 100Gbps 1us 0\n", switches + 1);
        for id in &ids[1..] {
            text += &format!("{} {id} 100Gbps 1us 0\n", id - 1);
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chain-{switches}.txt"));
        std::fs::write(&path, text).unwrap();
        format!(
            "[roce]\nhop_limit = 9\n[congestion_control.hpcc]\n[topology.file]\npath = \"{}\"\n\
             format = \"edge-list\"\n[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n",
            path.display()
        )
    };
    plan(&chain(5), &[]).unwrap();
    check(
        &chain(6),
        Expected {
            place: "s.toml:3",
            key: "congestion_control.hpcc",
            value: "",
            message: "room for 5 hops, not for 6 switches from `host-1` to `host-0`",
            help: "shorter paths",
        },
    );
}

#[test]
fn telemetry_has_one_unit_for_all() {
    let workloads = |first: &str, second: &str| {
        format!(
            "[[workload.incast]]\nsenders = 1\nbytes = \"1MB\"\ncongestion_control = {{ {first} }}\n\
             [[workload.incast]]\nsenders = 1\nbytes = \"1MB\"\ncongestion_control = {{ {second} }}\n"
        )
    };
    let differing = workloads("hpcc = { int_multiplier = 1 }", "hpcc = { int_multiplier = 2 }");
    check(
        &format!("{TOPOLOGY}{differing}"),
        Expected {
            place: "s.toml:11",
            key: "workload.incast[1].congestion_control.hpcc",
            value: "{ int_multiplier = 2 }",
            message: "counts in other units than `workload.incast[0].congestion_control.hpcc`",
            help: "give `int_multiplier` the same value everywhere",
        },
    );
    for (first, second) in [
        ("hpcc = { int_multiplier = 2 }", "hpcc = { int_multiplier = 2, eta = 0.9 }"),
        ("hpcc = {}", "hpcc-pint = {}"),
        ("dcqcn = {}", "timely = {}"),
    ] {
        plan(&format!("{TOPOLOGY}{}", workloads(first, second)), &[]).unwrap();
    }
    let mixed = "[topology.dumbbell]\nleft = 1\nright = 1\n\
                 host_link = { rate = \"25Gbps\", cable = \"3m\" }\n\
                 bottleneck = { rate = \"100Gbps\", cable = \"3m\" }\n\
                 [workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
    plan(&format!("[congestion_control.hpcc]\n{mixed}"), &[]).unwrap();
}

#[test]
fn roce_v1_carries_telemetry() {
    for algorithm in ["hpcc", "hpcc-pint"] {
        plan(&with(&format!("[roce]\nversion = 1\n[congestion_control.{algorithm}]")), &[])
            .unwrap();
    }
}
