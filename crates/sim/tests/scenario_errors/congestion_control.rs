//! `[congestion_control.NAME]`, of all flows and of some.

use crate::{Expected, TOPOLOGY, WORKLOAD, check, plan, with};

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
