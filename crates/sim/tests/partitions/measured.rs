//! Captures and samples, of ports whose links are cut.

use std::path::Path;

use rocelab_fabric::topology::Partitioning;

use crate::support::{
    assert_cuts_change_nothing, assert_same, clos, flows, in_parts, plan_in, whole,
};

const PAIRS: &[(u32, u32)] = &[(0, 2), (1, 2), (3, 0)];

#[test]
fn captures_of_several_ports() {
    let failures = "[[failure]]\nkind = \"link-rate\"\nport = \"leaf-0:2\"\nrate = \"10Gbps\"\nat = \"20us\"\n\
         lasts = \"30us\"\n[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:3\"\nat = \"25us\"\nlasts = \"40us\"\n";
    for format in ["pcapng", "pcap"] {
        let capture = format!(
            "[capture]\nports = [\"spine-0\", \"leaf-0\", \"host-2\"]\nformat = \"{format}\"\nfcs = true\n"
        );
        let top = "[roce]\nack_timeout = 5";
        let text = clos(top, &format!("{capture}{failures}{}", flows("300KB", PAIRS)));
        let run = assert_cuts_change_nothing(&text, &["/drops/link_down"]);
        assert!(run.files.keys().any(|name| name.ends_with(format)), "{:?}", run.files.keys());
    }
}

/// A look of the watchdogs lets several switches send, all at one place in the order of events.
#[test]
fn captures_of_what_one_event_from_outside_starts() {
    let text = clos(
        "stop = \"150us\"\n[roce]\nack_timeout = 8",
        &format!(
            "[capture]\nports = [\"spine-1\", \"spine-0\", \"leaf-1\", \"leaf-0\"]\n\
             [watchdog.switch]\ndetect = \"15us\"\nrestore = \"20us\"\npoll = \"25us\"\naction = \"forward\"\n\
             [switch]\nxoff = \"20KB\"\n[congestion_control.none]\n[[failure]]\nkind = \"pause-storm\"\n\
             host = \"host-2\"\nat = \"5us\"\n{}{}",
            flows("1MB", &[(0, 2), (1, 2), (3, 2), (0, 2), (1, 2)]),
            flows("1MB", &[(0, 3), (1, 3)]),
        ),
    );
    let run = assert_cuts_change_nothing(&text, &["/storms"]);
    let plan = plan_in(&text, Path::new(""));
    assert!(run.summary.storms > 1, "of several switches");
    let halves = Partitioning::balanced(&plan.topology, 2);
    assert_same(&whole(&plan), &in_parts(&plan, halves, 2), "two parts");
}

#[test]
fn samples_of_ports_and_flows() {
    let sampled = "[sample]\nqueues = { ports = [\"leaf-1\", \"spine-0\"], interval = \"5us\" }\n\
         marks = { ports = [\"leaf-1\", \"leaf-0\"], interval = \"7us\" }\n\
         utilisation = { ports = [\"spine-0\", \"spine-1\", \"host-0\"], interval = \"9us\" }\n\
         ingress = { ports = [\"all\"], interval = \"3us\" }\nrates = { interval = \"11us\" }\nflows = { interval = \"6us\" }\n[congestion_control.dcqcn]\n\
         [switch]\necn = { kmin = \"5KB\", kmax = \"50KB\", pmax = 0.5 }\n\
         [[failure]]\nkind = \"link-rate\"\nport = \"spine-0:1\"\nrate = \"20Gbps\"\nat = \"33us\"\nlasts = \"40us\"\n";
    let text = clos("", &format!("{sampled}{}", flows("500KB", PAIRS)));
    let run = assert_cuts_change_nothing(&text, &["/ecn/marks"]);
    let names = ["queues.csv", "switches.csv", "flow_counters.csv"];
    let sampled = ["marks", "utilisation", "rates", "ingress", "memory", "flows"];
    let sampled = sampled.map(|name| format!("samples/{name}.csv"));
    for name in names.map(String::from).into_iter().chain(sampled) {
        assert!(run.files[&name].len() > 200, "{name}");
    }
}
