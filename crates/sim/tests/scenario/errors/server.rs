//! `[[server]]`.

use super::{Expected, check, plan};

/// Four hosts, servers from line 3 on, and a flow between two ends.
fn servers(tables: &str, from: &str, to: &str) -> String {
    format!(
        "[workload.flows]\nlist = [{{ from = \"{from}\", to = \"{to}\", bytes = \"1KB\" }}]\n{tables}\n\
         [topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n"
    )
}

const PAIRS: &str = "[[server]]\nname = \"node\"\nports = [\"host-0..host-3\"]\nsize = 2";

#[test]
fn servers_that_can_be_are_accepted() {
    for (tables, from, to) in [
        (PAIRS, "node-0", "node-1"),
        (PAIRS, "node-0", "host-1"),
        (PAIRS, "host-0", "host-1"),
        ("[[server]]\nname = \"a\"\nports = [\"host-2\", \"host-0\"]", "a", "host-3"),
    ] {
        plan(&servers(tables, from, to), &[]).unwrap_or_else(|error| panic!("{tables}: {error}"));
    }
}

#[test]
fn servers_that_cannot_be_are_refused() {
    let table = [
        ("name = \"a\"\nports = []", 5, "ports", "[]", "at least one port", "name hosts"),
        (
            "name = \"a\"\nports = [\"host-0..host-2\"]\nsize = 2",
            6,
            "size",
            "2",
            "3 ports are no whole number of servers",
            "divides",
        ),
        (
            "name = \"a\"\nports = [\"host-0\"]\nsize = 0",
            6,
            "size",
            "0",
            "1 ports are no whole number of servers",
            "divides",
        ),
        (
            "name = \"host-1\"\nports = [\"host-0\"]",
            4,
            "name",
            "\"host-1\"",
            "cannot be called `host-1`",
            "no host, switch or other server has",
        ),
        (
            "name = \"\"\nports = [\"host-0\"]",
            4,
            "name",
            "\"\"",
            "cannot be called ``",
            "give a name",
        ),
        (
            "name = \"a\"\nports = [\"host-9\"]",
            5,
            "ports[0]",
            "\"host-9\"",
            "no host `host-9`",
            "host-0",
        ),
    ];
    for (keys, line, key, value, message, help) in table {
        let (place, key) = (format!("s.toml:{line}"), format!("server[0].{key}"));
        let expected = Expected { place: &place, key: &key, value, message, help };
        check(&servers(&format!("[[server]]\n{keys}"), "host-0", "host-1"), expected);
    }
}

#[test]
fn nvlink_that_cannot_be_is_refused() {
    let four = "name = \"a\"\nports = [\"host-0..host-3\"]\n";
    for (nvlink, key, value, message, help) in [
        ("{ delay = \"1us\" }", "nvlink.rate", "none", "how fast", "preset"),
        ("{ rate = \"0Gbps\" }", "nvlink.rate", "\"0Gbps\"", "a rate is from", "3600Gbps"),
        (
            "{ rate = \"1Tbps\", delay = \"0ns\" }",
            "nvlink.delay",
            "\"0ns\"",
            "after some time",
            "1ns to 1s",
        ),
        (
            "{ rate = \"1Tbps\", efficiency = 1.5 }",
            "nvlink.efficiency",
            "1.5",
            "that payload gets",
            "up to 1",
        ),
        (
            "{ rate = \"1Tbps\", packet = \"8B\" }",
            "nvlink.packet",
            "\"8B\"",
            "not that small",
            "at least 64B",
        ),
        ("{ rate = \"1Tbps\", model = \"mesh\" }", "nvlink.model", "\"mesh\"", "mesh", "port"),
    ] {
        let key = format!("server[0].{key}");
        let place = "s.toml:6";
        let expected = Expected { place, key: &key, value, message, help };
        let text = format!("[[server]]\n{four}nvlink = {nvlink}");
        check(&servers(&text, "host-0", "host-1"), expected);
    }
    check(
        &servers(&format!("[[server]]\n{four}preset = \"dgx-h10\""), "host-0", "host-1"),
        Expected {
            place: "s.toml:6",
            key: "server[0].preset",
            value: "\"dgx-h10\"",
            message: "dgx-h10",
            help: "dgx-h100",
        },
    );
}

/// Hosts of different rails have no path where nothing joins these; programs have one inside servers with NVLink.
#[test]
fn traffic_between_rails_that_nothing_joins_is_refused() {
    let rails = "[topology.rail-only]\nservers = 2\ngpus_per_server = 2\n\
                 nic_link = { rate = \"400Gbps\", cable = \"3m\" }\n";
    let ring = "[workload.all-reduce]\nhosts = [\"gpu-0\", \"gpu-1\", \"gpu-3\", \"gpu-2\"]\nbytes = \"1KB\"\n";
    let message = "no path through the network joins `gpu-0` and `gpu-1`";
    let help = "one rail";
    let key = "workload.all-reduce";
    check(
        &format!("{rails}{ring}"),
        Expected { place: "s.toml:5", key, value: "gpu-1", message, help },
    );
    let nvlink = "[[server]]\nname = \"node\"\nnvlink = { rate = \"1Tbps\" }\n";
    let with = format!("{rails}{ring}{nvlink}");
    plan(&with, &[]).unwrap_or_else(|error| panic!("{error}"));
    let flow = "[workload.flows]\nlist = [{ from = \"gpu-0\", to = \"gpu-1\", bytes = \"1KB\" }]\n";
    let refused = plan(&format!("{rails}{flow}{nvlink}"), &[]).unwrap_err();
    assert!(refused.to_string().contains(message), "{refused}");
    let refused = plan(&format!("{with}[infiniband]\n"), &[]).unwrap_err();
    assert!(refused.to_string().contains("nothing joins its rails"), "{refused}");
}

#[test]
fn a_port_is_of_one_server() {
    let more = format!("{PAIRS}\n[[server]]\nname = \"b\"\nports = [\"host-3\"]");
    check(
        &servers(&more, "host-0", "host-1"),
        Expected {
            place: "s.toml:9",
            key: "server[1].ports",
            value: "[\"host-3\"]",
            message: "`host-3` is a port of another server",
            help: "one server",
        },
    );
}

#[test]
fn a_server_is_no_host_where_one_host_is_meant() {
    let incast = format!(
        "[workload.incast]\nreceiver = \"node-0\"\nsenders = 2\nbytes = \"1KB\"\n{PAIRS}\n\
         [topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n"
    );
    check(
        &incast,
        Expected {
            place: "s.toml:2",
            key: "workload.incast.receiver",
            value: "\"node-0\"",
            message: "`node-0` is a server, and has 2 ports",
            help: "name one of its ports, such as `host-0`",
        },
    );
}

#[test]
fn both_ends_are_named_that_are_the_same_port() {
    check(
        &servers(PAIRS, "node-0", "host-0"),
        Expected {
            place: "s.toml:2",
            key: "workload.flows.list[0].to",
            value: "\"host-0\"",
            message: "does not send to itself over the network: both are `host-0`",
            help: "two different hosts",
        },
    );
}

#[test]
fn an_unknown_name_is_answered_with_hosts_and_servers() {
    check(
        &servers(PAIRS, "node-7", "host-0"),
        Expected {
            place: "s.toml:2",
            key: "workload.flows.list[0].from",
            value: "\"node-7\"",
            message: "there is no host `node-7`",
            help: "the servers are node-0 to node-1",
        },
    );
}
