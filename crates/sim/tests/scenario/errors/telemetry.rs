//! What algorithms with telemetry ask of paths and links.

use std::path::Path;

use super::{Expected, TOPOLOGY, WORKLOAD, check, plan, with};

#[test]
fn telemetry_needs_a_number_for_every_rate() {
    let slow = TOPOLOGY.replace("100Gbps", "56Gbps");
    check(
        &format!("[congestion_control.hpcc]\n{slow}{WORKLOAD}"),
        Expected {
            place: "s.toml:1",
            key: "congestion_control.hpcc",
            value: "",
            message: "the link from `host-0` to `switch-0` is 56Gbps, for which telemetry has no",
            help: "10, 25, 40, 50, 100, 200, 400 or 800 Gbps",
        },
    );
    // One value has no rate in it, and those who need none do not care.
    for algorithm in ["hpcc-pint", "timely"] {
        plan(&format!("[congestion_control.{algorithm}]\n{slow}{WORKLOAD}"), &[]).unwrap();
    }
    // Neither do flows that use another.
    let own = format!("{WORKLOAD}congestion_control = {{ timely = {{}} }}\n");
    plan(&format!("[congestion_control.hpcc]\n{slow}{own}"), &[]).unwrap();
}

#[test]
fn telemetry_has_room_for_five_switches() {
    let chain = |switches: u32| {
        let ids: Vec<_> = (2..2 + switches).collect();
        let mut text = format!("{} {switches} {}\n", switches + 2, switches + 1);
        text += &ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        text += &format!("\n0 2 100Gbps 1us 0\n1 {} 100Gbps 1us 0\n", switches + 1);
        for id in &ids[1..] {
            text += &format!("{} {id} 100Gbps 1us 0\n", id - 1);
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chain-{switches}.txt"));
        std::fs::write(&path, text).unwrap();
        format!(
            "[roce]\nhop_limit = 9\n[congestion_control.hpcc]\n[topology.file]\npath = \"{}\"\n\
             format = \"edge-list\"\n[workload.incast]\nsenders = 1\nbytes = \"1MB\"\n",
            path.display()
        )
    };
    plan(&chain(5), &[]).unwrap();
    check(
        &chain(6),
        Expected {
            place: "s.toml:3",
            key: "congestion_control.hpcc",
            value: "",
            message: "room for 5 hops, not for 6 switches from `host-1` to `host-0`",
            help: "shorter paths",
        },
    );
}

#[test]
fn telemetry_has_one_unit_for_all() {
    let workloads = |first: &str, second: &str| {
        format!(
            "[[workload.incast]]\nsenders = 1\nbytes = \"1MB\"\ncongestion_control = {{ {first} }}\n\
             [[workload.incast]]\nsenders = 1\nbytes = \"1MB\"\ncongestion_control = {{ {second} }}\n"
        )
    };
    let differing = workloads("hpcc = { int_multiplier = 1 }", "hpcc = { int_multiplier = 2 }");
    check(
        &format!("{TOPOLOGY}{differing}"),
        Expected {
            place: "s.toml:11",
            key: "workload.incast[1].congestion_control.hpcc",
            value: "{ int_multiplier = 2 }",
            message: "counts in other units than `workload.incast[0].congestion_control.hpcc`",
            help: "give `int_multiplier` the same value everywhere",
        },
    );
    for (first, second) in [
        ("hpcc = { int_multiplier = 2 }", "hpcc = { int_multiplier = 2, eta = 0.9 }"),
        ("hpcc = {}", "hpcc-pint = {}"),
        ("dcqcn = {}", "timely = {}"),
    ] {
        plan(&format!("{TOPOLOGY}{}", workloads(first, second)), &[]).unwrap();
    }
    let mixed = "[topology.dumbbell]\nleft = 1\nright = 1\n\
                 host_link = { rate = \"25Gbps\", cable = \"3m\" }\n\
                 bottleneck = { rate = \"100Gbps\", cable = \"3m\" }\n\
                 [workload.incast]\nsenders = 1\nbytes = \"1MB\"\n";
    plan(&format!("[congestion_control.hpcc]\n{mixed}"), &[]).unwrap();
}

#[test]
fn roce_v1_carries_telemetry() {
    for algorithm in ["hpcc", "hpcc-pint"] {
        plan(&with(&format!("[roce]\nversion = 1\n[congestion_control.{algorithm}]")), &[])
            .unwrap();
    }
}

#[test]
fn a_delay_has_a_name() {
    for algorithm in ["timely", "patched-timely", "swift"] {
        let text =
            |delay: &str| with(&format!("[congestion_control.{algorithm}]\ndelay = \"{delay}\""));
        check(
            &text("queue"),
            Expected {
                place: "s.toml:2",
                key: &format!("congestion_control.{algorithm}.delay"),
                value: "\"queue\"",
                message: "there is no `queue`",
                help: "queueing",
            },
        );
        for delay in ["round-trip", "queueing"] {
            plan(&text(delay), &[]).unwrap();
        }
    }
}
