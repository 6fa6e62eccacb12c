//! `[workload.NAME]` and the files that it names.

use super::{Expected, TOPOLOGY, check, plan};

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
            place: "s.toml:6",
            key: "workload.permutation.start",
            value: "\"18000000s\"",
            message: "too large a duration",
            help: "the largest is 4611686s",
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
fn sizes_of_messages() {
    let flows = |message: &str, bytes: &str| {
        format!(
            "{TOPOLOGY}[workload.flows]\nmessage = \"{message}\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"{bytes}\" }}]\n"
        )
    };
    plan(&flows("2GiB", "1TB"), &[]).unwrap();
    for message in ["0B", "3GB"] {
        check(
            &flows(message, "1MB"),
            Expected {
                place: "s.toml:5",
                key: "workload.flows.message",
                value: &format!("\"{message}\""),
                message: "at least one byte and at most 2^31",
                help: "1B to 2GiB",
            },
        );
    }
    check(
        &flows("1KB", "2GB"),
        Expected {
            place: "s.toml:5",
            key: "workload.flows.message",
            value: "\"1KB\"",
            message: "a flow would be 2000000 messages",
            help: "a larger size",
        },
    );
}
