//! Programs that sleep until completion events (IBTA, volume 1, clause 11.4.2.2).

use std::path::Path;

use rocelab_sim::{Planning, Scenario};

use crate::support::{around_a_switch, run};

/// `count` operations of a request and a response, with these completion events; steps are solicited or not.
fn exchange(count: u32, events: &str, solicited: [bool; 2]) -> String {
    let [request, response] = solicited;
    around_a_switch(
        2,
        &format!(
            "[workload.app]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\noperations = {count}\n\
             {events}\nsteps = [\n\
             {{ by = \"client\", verb = \"send\", bytes = \"64B\", solicited = {request} }},\n\
             {{ by = \"server\", verb = \"write-with-immediate\", bytes = \"64B\", solicited = {response} }},\n]\n"
        ),
    )
}

/// Each side that sleeps adds its time to wake up. Meanwhile its acknowledgement leaves, of 66 bytes with 20 between frames, for
/// which its message waits otherwise: the server's in each operation, the client's from the second one on.
#[test]
fn a_sleeping_side_costs_its_time_to_wake_up() {
    let acknowledgement = (66 + 20) * 80;
    let first = run(&exchange(1, "", [false; 2])).latencies()[0];
    for (events, more, server, client) in [
        ("", 0, true, true),
        ("notify = \"solicited\", by = \"server\", wake_up = \"7us\"", 7, false, true),
        ("notify = \"solicited\", by = \"client\", wake_up = \"5us\"", 5, true, false),
        ("notify = \"solicited\", wake_up = \"5us\"", 10, false, false),
        ("notify = \"solicited\", wake_up = \"0s\"", 0, true, true),
    ] {
        let events = match events {
            "" => String::new(),
            events => format!("completion_events = {{ {events} }}"),
        };
        let run = run(&exchange(5, &events, [true; 2]));
        run.assert_complete(5);
        let waits = |waits: bool| if waits { acknowledgement } else { 0 };
        let least = first - acknowledgement + more * 1_000_000 + waits(server);
        let expected = [0, 1, 1, 1, 1].map(|later| least + later * waits(client));
        assert_eq!(run.latencies(), expected, "{events}");
    }
    // Any completion wakes the server: in the first operation it has none of its own.
    let events = "completion_events = { by = \"server\", wake_up = \"7us\" }";
    let latencies = run(&exchange(1, events, [false; 2])).latencies();
    assert_eq!(latencies, [first - acknowledgement + 7_000_000]);
}

/// Both sides sleep until a solicited completion: one event a message. They find the message, and the completion of what they
/// sent before, which makes no event: the client's is there by then, the server's last one comes after its last event.
#[test]
fn unsolicited_completions_make_no_event() {
    let events = "completion_events = { notify = \"solicited\", wake_up = \"5us\" }";
    let run = run(&exchange(8, events, [true; 2]));
    run.assert_complete(8);
    let counters = run.simulation.network().nic_counters();
    assert_eq!((counters.completion_events, counters.completions_after_events), (16, 31));
}

/// With eight requests at once, the first makes the event, and the server finds all of them.
#[test]
fn what_comes_while_a_program_wakes_up_is_found_together() {
    let events = "queue_depth = 8\ncompletion_events = { notify = \"next\", by = \"server\", wake_up = \"50us\" }";
    let run = run(&exchange(8, events, [false; 2]));
    run.assert_complete(8);
    let counters = run.simulation.network().nic_counters();
    // A second event is that of the server's own work.
    assert_eq!(counters.completion_events, 1);
    assert_eq!(counters.completions_after_events, 8);
}

#[test]
fn a_program_that_nobody_would_wake_is_refused() {
    for (events, solicited, expected) in [
        ("notify = \"solicited\", wake_up = \"1us\"", [true, false], "steps[1].solicited"),
        (
            "notify = \"solicited\", by = \"server\", wake_up = \"1us\"",
            [false, true],
            "steps[0].solicited",
        ),
        ("notify = \"never\", wake_up = \"1us\"", [true; 2], "next"),
        ("wake_up = \"2000s\"", [true; 2], "wake_up"),
    ] {
        let text = exchange(1, &format!("completion_events = {{ {events} }}"), solicited);
        let plan = Scenario::parse(&text, Path::new("events.toml"), &[]).and_then(|one| one.plan());
        let error = plan.expect_err(events).to_string();
        assert!(error.contains(expected), "{events}: {error}");
    }
}
