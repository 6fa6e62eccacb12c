//! Deadlocks are found, named and dated; what is none is not taken for one.

use std::fmt::Write;

use rocelab_sim::Ending;
use rocelab_units::SimTime;

use crate::support::{Run, plan, run, write_file};

/// A ring of `switches` with a host each, which sends to the host `ahead` of it, clockwise. Shortest
/// paths go clockwise if that is less than half the ring.
fn ring(switches: usize, ahead: usize, more: &str) -> String {
    let ids: Vec<String> = (switches..2 * switches).map(|id| id.to_string()).collect();
    let mut links = format!("{} {switches} {}\n{}\n", 2 * switches, 2 * switches, ids.join(" "));
    let mut flows = String::new();
    for host in 0..switches {
        let (switch, next) = (switches + host, switches + (host + 1) % switches);
        writeln!(links, "{host} {switch} 100Gbps 50ns 0").expect("text grows");
        writeln!(links, "{switch} {next} 100Gbps 50ns 0").expect("text grows");
        let to = (host + ahead) % switches;
        write!(flows, "{{ from = \"host-{host}\", to = \"host-{to}\", bytes = \"50MB\" }},")
            .expect("text grows");
    }
    let file = format!("ring-{switches}.txt");
    write_file(&file, &links);
    format!(
        "{more}\n[topology.file]\npath = \"{file}\"\n[congestion_control.none]\n\
         [switch]\nbuffer = \"1MB\"\n[workload.flows]\nlist = [{flows}]\n"
    )
}

#[test]
fn a_ring_that_waits_for_itself_is_found() {
    // Each link carries two flows: of its own host, and of the host before it.
    let run = run(&ring(5, 2, ""));
    assert_eq!(run.ending, Some(Ending::Deadlocked));
    let [deadlock] = run.simulation.network().deadlocks() else { panic!("there is one") };
    let nodes: Vec<_> = deadlock.cycle.iter().map(|queue| queue.node).collect();
    assert_eq!(nodes, [5, 6, 7, 8, 9], "clockwise, each waits for the next");
    assert!(deadlock.began < deadlock.found, "{deadlock:?}");
    assert!(deadlock.found.ps() <= 1_000_000_000, "{deadlock:?}");
    println!("deadlock from {} on, found at {}", deadlock.began, deadlock.found);
}

#[test]
fn nothing_moves_after_a_deadlock_but_what_is_outside() {
    let text = ring(5, 2, "on_deadlock = \"continue\"\nstop = \"20ms\"");
    let mut run = Run::new(plan(&text));
    run.run_until(SimTime::from_ps(10_000_000_000));
    let delivered = run.totals().packets_delivered;
    run.finish();
    assert_eq!(run.ending, Some(Ending::Stopped));
    assert_eq!(run.simulation.network().deadlocks().len(), 1);
    assert_eq!(run.totals().packets_delivered, delivered);
}

#[test]
fn congestion_alone_is_no_deadlock() {
    // One hop each way: paused, but each queue's frames leave to a host.
    let run = run(&ring(5, 1, ""));
    assert_eq!(run.ending, Some(Ending::Finished));
    assert!(run.simulation.network().deadlocks().is_empty());
    let text = "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
                host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[switch]\nbuffer = \"2MB\"\n\
                [congestion_control.none]\n[workload.incast]\nsenders = 15\nbytes = \"1MB\"\n";
    let run = self::run(text);
    assert!(run.totals().pauses > 10);
    assert_eq!(run.ending, Some(Ending::Finished));
    assert!(run.simulation.network().deadlocks().is_empty());
}
