//! `[switch]`.

use super::{Expected, check, plan, with};

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
    for (line, key, value) in [
        ("priority_alpha = { 0 = \"1\", 3 = \"1/64\" }", "priority_alpha.0", "\"1\""),
        ("egress_alpha = \"1/4\"", "egress_alpha", "\"1/4\""),
    ] {
        check(
            &with(&format!("[switch]\nxoff = \"100KB\"\n{line}")),
            Expected {
                place: "s.toml:3",
                key: &format!("switch.{key}"),
                value,
                message: "the fixed threshold of 100KB is in its place",
                help: "remove it, or `switch.xoff`",
            },
        );
    }
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
            message: "0 quanta end a pause",
            help: "1 to 65535",
        },
    );
}

/// A scenario whose `[switch]` has `lines`.
fn with_switch(lines: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"1Gbps\", cable = \"1m\" }}\n\
         [workload.permutation]\nbytes = \"1KB\"\n[switch]\n{lines}\n"
    )
}

#[test]
fn parameters_of_pools_and_classes_are_checked() {
    let cases = [
        ("cell = \"0B\"", "switch.cell", "\"0B\"", "no size of a memory cell", "208B"),
        ("egress_alpha = \"0\"", "switch.egress_alpha", "\"0\"", "a share of nothing", "1/8"),
        (
            "priority_alpha = { 3 = \"0\" }",
            "switch.priority_alpha.3",
            "\"0\"",
            "a share of nothing",
            "1/8",
        ),
        (
            "shapers = { 3 = { rate = \"0bps\" } }",
            "switch.shapers.3.rate",
            "\"0bps\"",
            "never empties",
            "10Gbps",
        ),
        ("queue_of = { 3 = 8 }", "switch.queue_of.3", "8", "queue 8 does not exist", "0 to 7"),
        ("priority_of = { 9 = 3 }", "switch.priority_of.9", "3", "no code point 9", "0 to 7"),
        ("default_priority = 8", "switch.default_priority", "8", "does not exist", "0 to 7"),
        ("latency = \"1s\"", "switch.latency", "\"1s\"", "no latency", "at most"),
    ];
    for (line, key, value, message, help) in cases {
        let place = "s.toml:7";
        check(&with_switch(line), Expected { place, key, value, message, help });
    }
}

#[test]
fn overrides_name_switches_and_ports_that_exist() {
    let cases = [
        ("alpha = \"1/4\"", "switch.override[0]", "names no switch", "switches ="),
        (
            "switches = [\"leaf-9\"]\nalpha = \"1/4\"",
            "switch.override[0].switches[0]",
            "there is no switch `leaf-9`",
            "switch-0",
        ),
        (
            "switches = [\"switch-0\"]\nalpha = \"0\"",
            "switch.override[0].alpha",
            "a share of nothing",
            "1/8",
        ),
        (
            "ports = [\"switch-0:1\"]\nalpha = \"1/4\"",
            "switch.override[0].alpha",
            "a single port has no such parameter",
            "switches",
        ),
        (
            "ports = [\"host-0\"]\npause_quanta = 9",
            "switch.override[0].ports",
            "`host-0` is a host",
            "leaf-0:3",
        ),
    ];
    for (lines, key, message, help) in cases {
        let text = with_switch(&format!("[[switch.override]]\n{lines}"));
        let error = plan(&text, &[]).expect_err("this scenario was accepted");
        assert_eq!(error.key(), key, "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.help().unwrap_or_default().contains(help), "{error}");
    }
}
