//! `[capture]` and `[sample]`.

use super::{Expected, check, with};

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
    for quantity in ["marks", "utilisation"] {
        check(
            &with(&format!("[sample.{quantity}]\ninterval = \"1us\"\nports = [\"switch-0:9\"]")),
            Expected {
                place: "s.toml:3",
                key: &format!("sample.{quantity}.ports[0]"),
                value: "\"switch-0:9\"",
                message: "`switch-0` has no port 9",
                help: "0 to 3",
            },
        );
    }
}

#[test]
fn sampled_flows() {
    check(
        &with("[sample.rates]\ninterval = \"0us\""),
        Expected {
            place: "s.toml:2",
            key: "sample.rates.interval",
            value: "\"0us\"",
            message: "never end",
            help: "above 0s",
        },
    );
    check(
        &with("[sample.rates]\ninterval = \"1us\"\nflows = [0, 99]"),
        Expected {
            place: "s.toml:3",
            key: "sample.rates.flows[1]",
            value: "99",
            message: "there is no flow 99",
            help: "name a flow that exists",
        },
    );
    check(
        &with("[sample.rates]\ninterval = \"1us\"\nflows = []"),
        Expected {
            place: "s.toml:3",
            key: "sample.rates.flows",
            value: "[]",
            message: "no flow is named",
            help: "leave it out",
        },
    );
}

#[test]
fn texts_for_several_ports_that_name_none() {
    for (text, message, help) in [
        ("leaf-*", "there is no node `leaf-*`", "host-0 to host-3"),
        ("leaf-*:1", "there is no node `leaf-*`", "host-0 to host-3"),
        ("host-2..host-9", "there is no node `host-9`", "host-0 to host-3"),
        ("host-2..host-1", "the range ends before it begins", "the lower node first"),
        ("switch-0:2..1", "the range ends before it begins", "the lower port first"),
        ("all:1", "`host-0` has no port 1", "its ports are 0 to 0"),
        ("host-*:x", "`x` is not a port number", "host-0:0"),
    ] {
        check(
            &with(&format!("[capture]\nports = [\"{text}\"]")),
            Expected {
                place: "s.toml:2",
                key: "capture.ports[0]",
                value: &format!("\"{text}\""),
                message,
                help,
            },
        );
    }
}
