//! `[tcp]`, and workloads that TCP carries.

use super::{Expected, TOPOLOGY, check, plan};

/// A scenario whose line 4 and on are these.
fn scenario(text: &str) -> String {
    format!("{TOPOLOGY}{text}")
}

const INCAST: &str = "[workload.incast]\nsenders = 2\nbytes = \"1KB\"\ntransport = \"tcp\"\n";

#[test]
fn tcp_is_accepted_beside_both_versions_of_rdma() {
    for roce in ["", "[roce]\nversion = 1\n", "[roce]\nservice = \"uc\"\n"] {
        for tcp in ["", "[tcp]\nmtu = 9000\n", "[tcp.congestion_control.dctcp]\n"] {
            let text = scenario(&format!("{INCAST}{roce}{tcp}"));
            plan(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn wrong_parameters_are_refused() {
    for (key, value, message, help) in [
        ("priority", "8", "does not exist", "0 to 7"),
        ("mtu", "400", "no IP MTU", "1500"),
        ("initial_window", "0", "sends nothing", "1 or more"),
        ("receive_window", "\"2GB\"", "no receive window", "1GB"),
        ("min_rto", "\"0s\"", "no retransmission timeout", "200ms"),
        ("jitter", "\"2h\"", "", ""),
    ] {
        let text = scenario(&format!("[tcp]\n{key} = {value}\n{INCAST}"));
        let error = plan(&text, &[]).expect_err("this scenario was accepted");
        assert_eq!(error.key(), format!("tcp.{key}"), "{error}");
        assert!(error.line() == 5 && error.message().contains(message), "{error}");
        assert!(error.help().unwrap_or_default().contains(help), "{error}");
    }
    check(
        &scenario(&format!("[tcp.congestion_control.cubic]\nbeta = 2\n{INCAST}")),
        Expected {
            place: "s.toml:5",
            key: "tcp.congestion_control.cubic.beta",
            value: "2",
            message: "",
            help: "0.7",
        },
    );
}

#[test]
fn keys_of_rdma_mean_nothing_to_workloads_of_tcp() {
    for (line, key, value, message, help) in [
        ("priority = 3", "priority", "3", "one priority", "`[tcp]`"),
        ("verb = \"read\"", "verb", "\"read\"", "reads no memory", "exchange"),
        (
            "congestion_control.timely = {}",
            "congestion_control",
            "",
            "RDMA",
            "tcp.congestion_control",
        ),
    ] {
        let expected = Expected {
            place: "s.toml:8",
            key: &format!("workload.incast.{key}"),
            value,
            message,
            help,
        };
        check(&scenario(&format!("{INCAST}{line}\n")), expected);
    }
    let flow = "{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\", verb = \"read\" }";
    check(
        &scenario(&format!("[workload.flows]\ntransport = \"tcp\"\nlist = [{flow}]\n")),
        Expected {
            place: "s.toml:6",
            key: "workload.flows.list[0].verb",
            value: "\"read\"",
            message: "reads no memory",
            help: "exchange",
        },
    );
    let flow = "{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }";
    check(
        &scenario(&format!(
            "[workload.flows]\ntransport = \"tcp\"\nmessage = \"1KB\"\nlist = [{flow}]\n"
        )),
        Expected {
            place: "s.toml:6",
            key: "workload.flows.message",
            value: "\"1KB\"",
            message: "knows no messages",
            help: "leave it out",
        },
    );
}

#[test]
fn what_cannot_be_said_of_tcp_is_refused() {
    check(
        &format!("integrity = true\n{}", scenario(INCAST)),
        Expected {
            place: "s.toml:1",
            key: "integrity",
            value: "true",
            message: "no bytes to compare",
            help: "transport",
        },
    );
    check(
        &scenario(&format!("{INCAST}[[faults]]\naction = \"drop\"\nflow = 0\n")),
        Expected {
            place: "s.toml:10",
            key: "faults[0].flow",
            value: "0",
            message: "RDMA packets only",
            help: "of RDMA",
        },
    );
    check(
        &scenario(&format!("{INCAST}[profile.hpcc-ns3]\nmark = false\n")),
        Expected {
            place: "s.toml:7",
            key: "workload.incast.transport",
            value: "\"tcp\"",
            message: "nothing like it",
            help: "remove it",
        },
    );
    check(
        &scenario(
            "[workload.incast]\nsenders = 2\nbytes = \"1KB\"\n[tcp]\nmtu = 1500\n[profile.hpcc-ns3]\nmark = false\n",
        ),
        Expected {
            place: "s.toml:7",
            key: "tcp",
            value: "",
            message: "nothing like it",
            help: "remove it",
        },
    );
    check(
        &scenario(&format!(
            "{INCAST}[roce]\nversion = 1\n[switch]\necn = {{ kmin = \"1KB\", kmax = \"1KB\", pmax = 1.0 }}\n"
        )),
        Expected {
            place: "s.toml:11",
            key: "switch.ecn",
            value: "{ kmin = \"1KB\", kmax = \"1KB\", pmax = 1.0 }",
            message: "cannot be marked",
            help: "remove",
        },
    );
}
