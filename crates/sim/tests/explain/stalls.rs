//! A run in which nothing moves any more says what is stuck, and on what.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{Overwrite, ResultsDir, StallRecord, WaitsFor};
use rocelab_sim::{Ending, Execution, Planning, Scenario, run};

/// What is stuck at the end of a scenario, which has to end in this way.
#[track_caller]
fn stuck(text: &str, ending: Ending) -> StallRecord {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/stalls.toml");
    let scenario = Scenario::parse(text, &file, &[]).and_then(|scenario| scenario.plan());
    let plan = Arc::new(scenario.unwrap_or_else(|error| panic!("{error}")));
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("results"), Overwrite::Refuse).unwrap();
    let outcome =
        run(plan, (&directory).into(), Execution::SEQUENTIAL, &mut |_| ControlFlow::Continue(()))
            .unwrap();
    assert_eq!(outcome.ending, ending);
    let stalled = outcome.summary.stalled.expect("it says what is stuck");
    assert!(stalled.since_ps <= outcome.summary.simulated_ps, "{stalled}");
    if let Some(deadlock) = outcome.summary.deadlocks.last() {
        assert_eq!(stalled.since_ps, deadlock.began_ps);
    }
    println!("{stalled}");
    stalled
}

/// Two hosts; the first data packet is lost, and no timeout sends it again.
fn lost(roce: &str) -> String {
    format!(
        "[roce]\nack_timeout = 0\n{roce}\n[topology.single-switch]\nhosts = 2\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[[faults]]\naction = \"drop\"\n\
         opcode = \"data\"\nnth = 1\n[congestion_control.none]\n[workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"9KB\" }},\n]\n"
    )
}

#[test]
fn what_was_lost_for_good() {
    let found = stuck(&lost("").replace("9KB", "1000B"), Ending::Stalled);
    assert_eq!((found.queue_pairs, found.queues), (1, 0));
    let [one] = found.stuck_queue_pairs.as_slice() else { panic!("{found}") };
    assert_eq!((one.host.as_str(), one.peer.as_str(), one.flow), ("host-0", "host-1", Some(0)));
    assert_eq!((one.waits_for, one.packets_in_queues), (WaitsFor::Answer, 0));
    let text = found.to_string();
    assert!(text.contains(" us: 1 queue pair, 0 queues\n"), "{text}");
    assert!(text.contains("queue pair 0x11 of host-0 (flow 0, to host-1): all is sent"), "{text}");
    assert!(text.ends_with("what it waits for was lost"), "{text}");
}

/// Samples go on for ever. They keep no run going in which nothing else is scheduled, in one part or in two.
#[test]
fn samples_are_no_progress() {
    let text = lost("").replace("9KB", "1000B");
    let sampled = text.clone()
        + "[sample]\nqueues = { ports = [\"all\"], interval = \"1us\" }\nflows = { interval = \"3us\" }\n\
           rates = { interval = \"700ns\" }\n";
    let plain = stuck(&text, Ending::Stalled);
    for parts in [1, 2] {
        let plan = Scenario::parse(&sampled, Path::new("s.toml"), &[]).and_then(|one| one.plan());
        let folder = tempfile::tempdir().unwrap();
        let directory =
            ResultsDir::create(folder.path().join("results"), Overwrite::Refuse).unwrap();
        let execution = Execution { partitions: parts, threads: parts };
        let outcome = run(plan.unwrap().into(), (&directory).into(), execution, &mut |_| {
            ControlFlow::Continue(())
        });
        let outcome = outcome.unwrap();
        assert_eq!(outcome.ending, Ending::Stalled);
        let found = outcome.summary.stalled.expect("it says what is stuck");
        // When the last progress was is known to 10 us.
        let later = found.since_ps.checked_sub(plain.since_ps);
        assert!(later.is_some_and(|later| later <= 10_000_000), "{found} {plain}");
        assert_eq!(StallRecord { since_ps: plain.since_ps, ..found }, plain);
        let since_progress = outcome.summary.simulated_ps - plain.since_ps;
        assert!(since_progress <= 30_000_000, "{since_progress} ps later");
    }
}

/// Of a ring of four, all chunks of the second host are lost: the third waits for it, and each of the others for the
/// one before it.
#[test]
fn a_ring_waits_for_the_host_before_it() {
    let text = "[roce]\nack_timeout = 0\n[topology.single-switch]\nhosts = 4\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[[faults]]\naction = \"drop\"\n\
                opcode = \"data\"\nfrom = \"host-1\"\nto = \"switch-0\"\nevery = 1\n\
                [congestion_control.none]\n[workload.all-reduce]\nbytes = \"4000B\"\n\
                hosts = [\"host-0..host-3\"]\n";
    let found = stuck(text, Ending::Stalled);
    let waits = found
        .stuck_queue_pairs
        .iter()
        .map(|one| (one.host.as_str(), one.waits_for, one.waits_for_host.as_str()));
    let peer = WaitsFor::Peer;
    let expected = [
        ("host-0", peer, "host-3"),
        ("host-1", WaitsFor::Answer, ""),
        ("host-2", peer, "host-1"),
        ("host-3", peer, "host-2"),
    ];
    assert_eq!(waits.collect::<Vec<_>>(), expected, "{found}");
    assert!(found.to_string().contains("it waits for the program of host-3"), "{found}");
}

#[test]
fn a_limit_that_no_acknowledgement_opens() {
    let found = stuck(&lost("max_outstanding = 1"), Ending::Stalled);
    assert_eq!(found.stuck_queue_pairs[0].waits_for, WaitsFor::PacketLimit, "{found}");
}

#[test]
fn a_client_whose_server_never_answers() {
    // Acknowledgements get through, so that the client has no reason to give up.
    let text = "[roce]\nack_timeout = 8\n[topology.single-switch]\nhosts = 2\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
                [[workload.app]]\nname = \"kv\"\nclients = [\"host-0\"]\nservers = [\"host-1\"]\n\
                operations = 3\nsteps = [\n{ by = \"client\", verb = \"send\", bytes = \"64B\" },\n\
                { by = \"server\", verb = \"send\", bytes = \"64B\" },\n]\n[[faults]]\n\
                action = \"drop\"\nfrom = \"host-1\"\nto = \"switch-0\"\nopcode = \"RC_SEND_ONLY\"\n";
    let found = stuck(text, Ending::Stalled);
    let first = &found.stuck_queue_pairs[0];
    assert_eq!((first.connection, first.waits_for), (Some(0), WaitsFor::Peer), "{found}");
}

#[test]
fn a_deadlock_holds_queues_and_their_senders() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/hotnets16-ring.toml");
    let found = stuck(&std::fs::read_to_string(file).unwrap(), Ending::Deadlocked);
    assert_eq!(found.queue_pairs, 3, "{found}");
    assert!(found.queues >= 4, "{found}");
    let held = found.stuck_queues.iter().filter(|queue| !queue.paused_by.is_empty());
    let held: Vec<_> = held.collect();
    assert!(held.len() >= 4, "a cycle of four: {found}");
    // Each of its pauses leads to the next: no port of the cycle is where they began.
    assert!(held.iter().all(|queue| queue.bytes > 0 && queue.root == "deadlock 0"), "{found}");
    for one in &found.stuck_queue_pairs {
        assert!(one.packets_in_queues > 0, "{found}");
        assert_eq!(one.waits_for, WaitsFor::Pause, "{found}");
        assert!(!one.at.is_empty() && one.root == "deadlock 0", "{found}");
    }
}

#[test]
fn a_host_that_is_down_is_not_its_link() {
    let down = "[[failure]]\nkind = \"host-down\"\nhost = \"host-0\"\nat = \"10ns\"\n";
    let text =
        lost("").replace("[[faults]]\naction = \"drop\"\nopcode = \"data\"\nnth = 1\n", down);
    let found = stuck(&text, Ending::Stalled);
    assert_eq!(found.stuck_queue_pairs[0].waits_for, WaitsFor::Host, "{found}");
    assert!(found.to_string().contains(": its host is down"), "{found}");
}
