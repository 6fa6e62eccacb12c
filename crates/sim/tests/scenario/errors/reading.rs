//! Texts that are no scenario: keys, names, units and numbers, overrides.

use std::path::Path;

use rocelab_sim::Scenario;

use super::{Expected, TOPOLOGY, check, check_error, plan, with};

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
fn one_of_many() {
    check(
        &with("[failure]\nkind = \"link-down\""),
        Expected {
            place: "s.toml:1",
            key: "failure",
            value: "[failure]",
            message: "invalid type: a table",
            help: "write a list: `[[failure]]`, in double brackets",
        },
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
            help: "1 to 255",
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
            message: "too large a duration",
            help: "the largest is 4611686s",
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

/// No type of Rust's is named: who writes TOML sees tables, lists, names and numbers.
#[test]
fn values_of_another_kind_are_told_in_toml_s_words() {
    let link = "rate = \"100Gbps\", cable = \"3m\"";
    for (text, key, help) in [
        (with("roce = 5"), "roce", "write a table"),
        (with("roce = \"x\""), "roce", "write a table"),
        (with("faults = 3"), "faults", "write a list"),
        (with("[faults]\naction = \"drop\""), "faults", "write a list"),
        (with("faults = [3]"), "faults[0]", "write a table"),
        (with("switch = \"x\""), "switch", "write a table"),
        (with("[switch]\nlossless = 3"), "switch.lossless", "write a list"),
        (with("[switch]\necn = 3"), "switch.ecn", "write a table"),
        (with("[roce]\nrecovery = 3"), "roce.recovery", "write"),
        (with("[roce]\nrecovery = {}"), "roce.recovery", "write"),
        (with("[roce]\ncm = 1"), "roce.cm", "write a table"),
        (with("[roce]\nack_coalescing = 1"), "roce.ack_coalescing", "write a table"),
        (with("[roce]\ntimeouts = true"), "roce.timeouts", "write a table"),
        (with("integrity = 1"), "integrity", "write true or false"),
        (with("congestion_control = 1"), "congestion_control", "write"),
        (with("congestion_control = \"dcqcn\""), "congestion_control", "write"),
        (with("[congestion_control]\ndcqcn = 1"), "congestion_control.dcqcn", "write a table"),
        (with("profile = 1"), "profile", "write"),
        (with("capture = 1"), "capture", "write a table"),
        (with("[capture]\nports = \"host-0\""), "capture.ports", "write a list"),
        (with("[class]\n3 = 1"), "class.3", "write a table"),
        (with("layer2 = 1"), "layer2", "write a table"),
        (with("sample = 1"), "sample", "tables such as `[sample.queues]`"),
        ("workload = 1\n".to_owned() + TOPOLOGY, "workload", "write a table"),
        ("[workload]\nincast = 1\n".to_owned() + TOPOLOGY, "workload.incast", "write a table"),
        ("topology = 1\n".to_owned(), "topology", "write"),
        ("[topology.single-switch]\nhosts = 2\nlink = 3\n".to_owned(), "link", "write a table"),
        (
            format!("[topology.single-switch]\nhosts = \"two\"\nlink = {{ {link} }}\n"),
            "hosts",
            "write a whole number",
        ),
    ] {
        let error = plan(&text, &[]).expect_err(&text);
        let told = error.to_string();
        assert!(error.key().ends_with(key), "{told}");
        assert!(error.help().unwrap_or_default().contains(help), "{told}");
        for word in ["struct", "sequence", "map", "variant", "enum", "tuple", "unit", "newtype"] {
            let words: Vec<_> = told.split(|letter: char| !letter.is_alphanumeric()).collect();
            assert!(!words.contains(&word), "{told}");
        }
    }
}

const RULES: &str = "[[faults]]\naction = \"drop\"\nnth = 3\n[[faults]]\naction = \"duplicate\"\n";

#[test]
fn a_table_of_several_is_set_by_its_number() {
    let text = with(RULES);
    for key in ["faults[1].probability", "faults.1.probability"] {
        let set = [(key.to_owned(), "0.25".to_owned())];
        let scenario = Scenario::parse(&text, Path::new("s.toml"), &set);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.faults[1].probability, Some(0.25));
        assert_eq!(scenario.faults[0].probability, None);
    }
    // A number may be a table's name.
    plan(&text, &[("class.3.congestion_control.none", "{}")]).unwrap();
}

#[test]
fn a_table_of_several_that_is_not_there() {
    for (key, message, help) in [
        ("faults[2].nth", "`faults` has 2 tables, counted from 0", "name one"),
        ("faults.2.nth", "`faults` has 2 tables, counted from 0", "name one"),
        ("faults.nth", "`faults` is a list of 2 tables", "`faults[0]`"),
        ("seed.nth", "`seed` is no table", "list[0].key"),
    ] {
        let text = format!("seed = 1\n{}", with(RULES));
        let error = plan(&text, &[(key, "5")]).expect_err(key);
        let expected = Expected { place: "--set:1", key, value: "5", message, help };
        check_error(&error, &expected);
    }
}

/// The name that is wrong is a value, and no part of the key.
#[test]
fn a_wrong_name_is_shown_behind_its_key() {
    let dorp = Expected {
        place: "s.toml:2",
        key: "faults[0].action",
        value: "\"dorp\"",
        message: "there is no `dorp`",
        help: "did you mean `drop`?",
    };
    check(&with("[[faults]]\naction = \"dorp\""), dorp);
    for key in ["faults[0].action", "faults.0.action"] {
        let error = plan(&with(RULES), &[(key, "dorp")]).unwrap_err();
        let dorp = Expected {
            place: "--set:1",
            key: "faults[0].action",
            value: "dorp",
            message: "there is no `dorp`",
            help: "did you mean `drop`?",
        };
        check_error(&error, &dorp);
    }
}

#[test]
fn an_absent_scenario() {
    let error = Scenario::load(Path::new("absent/s.toml"), &[]).unwrap_err();
    assert_eq!(error.line(), 0);
    assert!(error.to_string().starts_with("absent/s.toml: cannot be read: "), "{error}");
}
