//! Deadlocks are found, named and dated; what is none is not taken for one.

use std::fmt::Write;

use rocelab_sim::Ending;
use rocelab_sim::network::PauseEvent;
use rocelab_units::SimTime;

use crate::support::{Run, plan, run, shipped, write_file};

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

/// The run stops between two looks.
#[test]
fn a_deadlock_that_has_just_closed_is_found_at_the_end() {
    let unstopped = run(&ring(5, 2, ""));
    let closed = unstopped.simulation.network().deadlocks()[0].clone();
    let stop_us = closed.began.ps() / 1_000_000 + 1;
    let stopped = run(&ring(5, 2, &format!("stop = \"{stop_us}us\"")));
    assert_eq!(stopped.ending, Some(Ending::Deadlocked));
    let [found] = stopped.simulation.network().deadlocks() else { panic!("there is one") };
    assert_eq!((found.began, &found.cycle), (closed.began, &closed.cycle));
    assert_eq!(found.found, SimTime::from_ps(stop_us * 1_000_000));
    assert!(found.found < closed.found);
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

/// The three flows of `scenarios/hotnets16-ring.toml`.
fn three_flows(overrides: &[(&str, &str)]) -> Run {
    let mut run = Run::new(shipped("hotnets16-ring.toml", overrides));
    run.finish();
    run
}

#[test]
fn a_quiet_network_is_looked_at_too() {
    // In a deadlock nothing happens but pauses that are repeated: half a refresh interval of 65,535
    // quanta is 0.4 ms and more.
    for quanta in ["65535", "15625"] {
        let run = three_flows(&[("switch.pause_quanta", quanta)]);
        assert_eq!(run.ending, Some(Ending::Deadlocked), "{quanta}");
        let deadlock = &run.simulation.network().deadlocks()[0];
        let waited = deadlock.found.since(deadlock.began).ps();
        assert!(waited <= 100_000_000, "found {waited} ps after it began");
        assert_eq!(run.simulation.now(), deadlock.found);
    }
}

#[test]
fn samples_do_not_change_when_a_deadlock_is_found() {
    let ends =
        [&[][..], &[("sample.utilisation", "{ interval = \"95us\", ports = [\"switch-6:0\"] }")]]
            .map(|overrides| three_flows(overrides).simulation.now());
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn a_pause_whose_end_is_on_its_way_is_no_deadlock() {
    let mut run = Run::new(shipped(
        "hotnets16-ring.toml",
        &[("switch.pause_response", "20us"), ("on_deadlock", "continue")],
    ));
    run.finish();
    let deadlocks = run.simulation.network().deadlocks();
    for deadlock in deadlocks {
        for queue in &deadlock.cycle {
            let ended = run.pauses().into_iter().find(|(time, change)| {
                let place = (change.node, change.port, change.priority);
                *time > deadlock.found
                    && place == (queue.node, queue.port, queue.priority)
                    && matches!(change.event, PauseEvent::Resume(_) | PauseEvent::Expire(_))
            });
            assert!(ended.is_none(), "{deadlock:?} ends: {ended:?}");
        }
    }
    assert_eq!(deadlocks.len(), 1);
}

#[test]
fn priorities_that_share_a_queue_are_in_one_deadlock() {
    let shared = [
        ("switch.lossless", "[3, 4]"),
        ("switch.queue_of", "{ 4 = 3 }"),
        ("workload.flows[0].list[0].priority", "4"),
    ];
    let run = three_flows(&shared);
    assert_eq!(run.ending, Some(Ending::Deadlocked));
}

#[test]
fn a_watchdog_may_free_what_waits() {
    let watched =
        three_flows(&[("watchdog.switch.detect", "1ms"), ("watchdog.switch.poll", "100us")]);
    assert_eq!(watched.ending, Some(Ending::Stopped));
    assert!(!watched.simulation.network().deadlocks().is_empty());
    assert!(watched.totals().storms > 0);
}
