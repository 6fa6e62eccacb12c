//! `[congestion_control.NAME]`, of all flows and of some.

use super::{Expected, TOPOLOGY, WORKLOAD, check, plan, with};

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

#[test]
fn qcn_stays_within_layer_2() {
    check(
        &with("[congestion_control.qcn]"),
        Expected {
            place: "s.toml:1",
            key: "congestion_control.qcn",
            value: "",
            message: "do not leave a layer-2 domain",
            help: "`roce.version = 1`, or `dcqcn`",
        },
    );
    check(
        &with("[class.3]\ncongestion_control = { qcn = {} }"),
        Expected {
            place: "s.toml:2",
            key: "class.3.congestion_control.qcn",
            value: "{}",
            message: "do not leave a layer-2 domain",
            help: "`roce.version = 1`, or `dcqcn`",
        },
    );
    check(
        &with("[switch]\nqcn = {}"),
        Expected {
            place: "s.toml:2",
            key: "switch.qcn",
            value: "{}",
            message: "do not leave a layer-2 domain",
            help: "`roce.version = 1`, or `ecn`",
        },
    );
    check(
        &with("[[switch.override]]\nports = [\"switch-0:1\"]\nqcn = {}"),
        Expected {
            place: "s.toml:3",
            key: "switch.override[0].qcn",
            value: "{}",
            message: "do not leave a layer-2 domain",
            help: "`roce.version = 1`, or `ecn`",
        },
    );
}

#[test]
fn congestion_points_need_sensible_parameters() {
    for (key, value, message, help) in [
        ("set_point", "\"99B\"", "99B is no length to aim at", "\"26KB\""),
        ("weight", "1025", "only the queue's growth", "0 to 1024"),
        ("sample_base", "\"9KB\"", "9KB between two samples", "\"150KB\""),
        ("cnm_priority", "8", "priority 8 does not exist", "0 to 7"),
    ] {
        check(
            &with(&format!("[roce]\nversion = 1\n[switch.qcn]\n{key} = {value}")),
            Expected { place: "s.toml:4", key: &format!("switch.qcn.{key}"), value, message, help },
        );
    }
}
