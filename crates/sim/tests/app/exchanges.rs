//! What crosses the network, by opcode.

use std::collections::BTreeMap;

use crate::support::{Run, around_a_switch, run};

fn app(keys: &str, steps: &[&str]) -> Run {
    let steps = steps.join(",\n");
    run(&around_a_switch(
        4,
        &format!(
            "[workload.app]\nclients = [\"host-0\", \"host-1\"]\n{keys}\nsteps = [\n{steps}\n]\n"
        ),
    ))
}

#[track_caller]
fn assert_opcodes(run: &Run, expected: &[(&'static str, u64)]) {
    assert_eq!(run.opcodes(), expected.iter().copied().collect::<BTreeMap<_, _>>());
}

#[test]
fn request_and_response() {
    let run = app(
        "servers = [\"host-2\"]\noperations = 100\nqueue_depth = 8",
        &[
            "{ by = \"client\", verb = \"send\", bytes = \"64B\" }",
            "{ by = \"server\", verb = \"write\", bytes = \"4KiB\", after = \"2us\" }",
            "{ by = \"server\", verb = \"send-with-immediate\", bytes = \"16B\" }",
        ],
    );
    run.assert_complete(200);
    assert_opcodes(
        &run,
        &[
            ("RC_SEND_ONLY", 200),
            ("RC_RDMA_WRITE_FIRST", 200),
            ("RC_RDMA_WRITE_MIDDLE", 400),
            ("RC_RDMA_WRITE_LAST", 200),
            ("RC_SEND_ONLY_WITH_IMMEDIATE", 200),
            ("RC_ACKNOWLEDGE", 200 * 6),
        ],
    );
}

#[test]
fn all_clients_with_all_servers_and_every_verb() {
    let run = app(
        "servers = [\"host-2\", \"host-3\"]\npairs = \"all\"\noperations = 10\nqueue_depth = 3",
        &[
            "{ by = \"client\", verb = \"write\", bytes = \"1KiB\" }",
            "{ by = \"client\", verb = \"write-with-immediate\", bytes = \"8B\", chained = true }",
            "{ by = \"server\", verb = \"read\", bytes = \"1KiB\" }",
            "{ by = \"server\", verb = \"send-with-invalidate\", bytes = \"8B\" }",
            "{ by = \"client\", verb = \"compare-swap\" }",
            "{ by = \"client\", verb = \"fetch-add\" }",
        ],
    );
    run.assert_complete(40);
    assert_eq!(run.plan.connections.len(), 4);
    assert_opcodes(
        &run,
        &[
            ("RC_RDMA_WRITE_ONLY", 40),
            ("RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", 40),
            ("RC_RDMA_READ_REQUEST", 40),
            ("RC_RDMA_READ_RESPONSE_ONLY", 40),
            ("RC_SEND_ONLY_WITH_INVALIDATE", 40),
            ("RC_COMPARE_SWAP", 40),
            ("RC_FETCH_ADD", 40),
            ("RC_ATOMIC_ACKNOWLEDGE", 80),
            ("RC_ACKNOWLEDGE", 40 * 3),
        ],
    );
}

#[test]
fn turns_of_several_messages() {
    // The server answers the second message, and the client's last one needs no answer.
    let run = app(
        "servers = [\"host-2\"]\noperations = 50\nqueue_depth = 4\nthink_time = \"300ns\"",
        &[
            "{ by = \"client\", verb = \"send\", bytes = \"64B\" }",
            "{ by = \"client\", verb = \"send\", bytes = \"64B\" }",
            "{ by = \"server\", verb = \"send\", bytes = \"64B\", after = \"1us\" }",
            "{ by = \"client\", verb = \"send\", bytes = \"64B\" }",
        ],
    );
    run.assert_complete(100);
    assert_opcodes(&run, &[("RC_SEND_ONLY", 400), ("RC_ACKNOWLEDGE", 400)]);
    assert_eq!(run.simulation.network().nic_counters().rnr_naks_received, 0);
}

#[test]
fn a_storage_mix() {
    let run = run(&around_a_switch(
        2,
        "[workload.storage]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\nblock = \"4KiB\"\n\
         read_fraction = 0.7\nqueue_depth = 8\noperations = 1000\naccess_time = \"10us\"\n",
    ));
    run.assert_complete(1_000);
    let reads = run.ends.iter().filter(|(_, end)| end.kind == 0).count() as u64;
    assert_eq!(run.plan.apps[0].kinds[0].name, "read");
    // 700 are expected; four standard deviations of sqrt(1000 x 0.7 x 0.3) are 58.
    assert!((642..=758).contains(&reads), "{reads} reads");
    let opcodes = run.opcodes();
    assert_eq!(opcodes["RC_SEND_ONLY"], 2_000, "commands and responses");
    assert_eq!(opcodes["RC_RDMA_WRITE_FIRST"], reads);
    assert_eq!(opcodes["RC_RDMA_READ_REQUEST"], 1_000 - reads);
    assert_eq!(opcodes["RC_RDMA_READ_RESPONSE_FIRST"], 1_000 - reads);
}

#[test]
fn applications_beside_flows() {
    let run = run(&around_a_switch(
        3,
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }]\n\
         [[workload.ping-pong]]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\nbytes = \"1KB\"\n\
         iterations = 10\n\
         [[workload.ping-pong]]\nname = \"late\"\nclients = [\"host-2\"]\nservers = [\"host-0\"]\n\
         bytes = \"1KB\"\niterations = 10\nstart = \"1500ms\"\n",
    ));
    run.assert_complete(20);
    assert_eq!(run.simulation.network().flow_counts(), (1, 0, 1));
    assert!(run.simulation.now().ps() > 1_500_000_000_000, "nothing moved for more than a second");
}
