//! `[profile.NAME]`.

use super::{Expected, TOPOLOGY, WORKLOAD, check, plan};

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

/// It would look for ever at queues, and nothing could interrupt it.
#[test]
fn looks_at_queues_come_to_an_end() {
    let monitored = |stop: &str| {
        let monitor = "ack_interval = \"1B\"\nqueue_monitor = { from = \"2s\", to = \"1000s\" }";
        by_hpcc_ns3(stop).replace("ack_interval = \"1B\"", monitor)
    };
    plan(&monitored("stop = \"3s\""), &[]).unwrap();
    check(
        &monitored(""),
        Expected {
            place: "s.toml:6",
            key: "profile.hpcc-ns3.queue_monitor.to",
            value: "\"1000s\"",
            message: "there would be 9980000000 looks",
            help: "let it end earlier",
        },
    );
}

#[test]
fn telemetry_that_a_profile_does_not_have() {
    check(
        &by_hpcc_ns3("[congestion_control.timely]\npreset = \"hpcc\"\ndelay = \"queueing\""),
        Expected {
            place: "s.toml:2",
            key: "congestion_control.timely",
            value: "",
            message: "do not write the queueing delay",
            help: "leave `delay` out",
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
