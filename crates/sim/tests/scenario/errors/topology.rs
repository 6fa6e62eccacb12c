//! `[topology.NAME]` and topology files.

use super::{Expected, WORKLOAD, check};

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
