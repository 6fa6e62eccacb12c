//! Texts that are no scenario: keys, names, units and numbers, overrides.

use std::path::Path;

use rocelab_sim::Scenario;

use crate::{Expected, TOPOLOGY, check, check_error, plan, with};

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
