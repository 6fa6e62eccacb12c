//! Queue pairs that give up.

use rocelab_sim::Ending;
use rocelab_transport::CompletionStatus;

use crate::support::{around_a_switch, run};

const APP: &str = "[workload.app]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\noperations = 100\n\
     queue_depth = 4\nsteps = [\n{ by = \"client\", verb = \"send\", bytes = \"64B\" },\n\
     { by = \"server\", verb = \"send\", bytes = \"64B\" },\n]\n";

#[test]
fn a_lost_message_is_sent_again_and_counts_once() {
    let faults = "[[faults]]\naction = \"drop\"\nprobability = 0.02\n";
    let run = run(&format!("[roce]\nack_timeout = 8\n{}{faults}", around_a_switch(2, APP)));
    run.assert_complete(100);
    assert!(run.simulation.network().nic_counters().retransmitted.packets > 0);
}

#[test]
fn a_silent_server_fails_what_is_open_and_ends_the_connection() {
    let faults =
        "[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nto = \"switch-0\"\nafter = \"5us\"\n";
    let run = run(&format!("[roce]\nack_timeout = 8\n{}{faults}", around_a_switch(2, APP)));
    assert_eq!(run.ending, Ending::Finished);
    let failed: Vec<_> = run
        .ends
        .iter()
        .map(|(_, end)| end.status)
        .filter(|&status| status != CompletionStatus::Success)
        .collect();
    assert_eq!(failed.len(), 4, "all that were open");
    assert_eq!(failed[0], CompletionStatus::RetryExceeded);
    assert!(run.ends.len() < 100);
}

#[test]
fn a_server_that_fails_leaves_the_client_waiting() {
    // The acknowledgements get through, so that the client has no reason to give up.
    let faults = "[[faults]]\naction = \"drop\"\nfrom = \"host-1\"\nto = \"switch-0\"\n\
                  opcode = \"RC_SEND_ONLY\"\n";
    let run = run(&format!("[roce]\nack_timeout = 8\n{}{faults}", around_a_switch(2, APP)));
    assert_eq!(run.ending, Ending::Stalled);
    assert_eq!(run.simulation.network().open_operations().len(), 4);
}
