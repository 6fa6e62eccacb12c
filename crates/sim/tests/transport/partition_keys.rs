//! P_Keys and Q_Keys: who may talk to whom, and what becomes of the others.

use rocelab_sim::Ending;
use rocelab_transport::CompletionStatus;

use crate::support::{Run, run, try_plan};

const PARTITION: &str =
    "[[roce.partition]]\np_key = 1\nfull = [\"host-0\"]\nlimited = [\"host-1\", \"host-2\"]\n";

fn text(roce: &str, more: &str, flows: &[(u32, u32)]) -> String {
    let flows: Vec<_> = flows
        .iter()
        .map(|(from, to)| {
            format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"4KB\" }}")
        })
        .collect();
    format!(
        "[roce]\n{roce}\n{more}[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nmessage = \"1KB\"\nverb = \"send\"\nlist = [{}]\n",
        flows.join(", ")
    )
}

fn drops(run: &Run, reason: &str) -> u64 {
    let totals = run.simulation.network().totals(run.simulation.now());
    totals.drops.get(reason).copied().unwrap_or(0)
}

/// 4 packets of 1 KB, and each of `retry_count` retries sends them again: the receiver drops all.
#[test]
fn limited_members_reach_full_ones_and_not_each_other() {
    for (source, destination, passes) in
        [(1, 0, true), (0, 1, true), (2, 0, true), (1, 2, false), (2, 1, false)]
    {
        for version in [1, 2] {
            let roce = format!(
                "version = {version}\nack_timeout = 6\nretry_count = 2\nqueue_pair = {{ p_key = 0x8001 }}"
            );
            let run = run(&text(&roce, PARTITION, &[(source, destination)]));
            assert_eq!(run.ending, Ending::Finished);
            let expected = if passes {
                (CompletionStatus::Success, 0)
            } else {
                (CompletionStatus::RetryExceeded, 3 * 4)
            };
            assert_eq!(
                (run.ends[0].status, drops(&run, "p_key")),
                expected,
                "{source} {destination}"
            );
        }
    }
}

/// Places in tables: host-0 and host-1 have partition 1 in place 1, host-2 has partition 2 there.
#[test]
fn an_index_means_what_the_own_table_has() {
    let more = "[[roce.partition]]\np_key = 1\nfull = [\"host-0\", \"host-1\"]\n\
                [[roce.partition]]\np_key = 2\nfull = [\"host-2\"]\n";
    let roce = "ack_timeout = 6\nretry_count = 0\nqueue_pair = { p_key_index = 1 }";
    let run = run(&text(roce, more, &[(0, 1), (0, 2)]));
    let mut ends: Vec<_> = run.ends.iter().map(|end| (end.flow, end.status)).collect();
    ends.sort_by_key(|(flow, _)| *flow);
    assert_eq!(ends, [(0, CompletionStatus::Success), (1, CompletionStatus::RetryExceeded)]);
    assert_eq!(drops(&run, "p_key"), 4);
}

/// Hosts that are limited members of the default partition, as behind a subnet manager that says so.
#[test]
fn the_default_partition_may_have_limited_members() {
    let more = "[[roce.partition]]\np_key = 0x7fff\nlimited = [\"host-1\", \"host-2\"]\n";
    let run = run(&text("ack_timeout = 6\nretry_count = 0", more, &[(1, 0), (1, 2)]));
    assert_eq!(drops(&run, "p_key"), 4);
}

/// Unreliable services lose messages without a word.
#[test]
fn unreliable_services_lose_what_is_not_for_them() {
    for service in ["uc", "ud"] {
        let roce = format!("service = \"{service}\"\nqueue_pair = {{ p_key = 1 }}");
        let run = run(&format!("stop = \"1ms\"\n{}", text(&roce, PARTITION, &[(1, 2), (0, 2)])));
        assert_eq!(drops(&run, "p_key"), 4, "{service}");
        assert_eq!(run.counters().messages_delivered, 4, "{service}");
    }
}

/// A sender with another Q_Key reaches nobody; of a controlled key (bit 31) the queue pair's own takes the place.
#[test]
fn q_keys_of_datagrams_are_checked() {
    for (keys, dropped) in [
        ("q_key = 5", 0),
        ("q_key = 5, remote_q_key = 5", 0),
        ("q_key = 5, remote_q_key = 6", 4),
        ("remote_q_key = 6", 4),
        ("q_key = 5, remote_q_key = 0x80000000", 0),
    ] {
        let roce = format!("service = \"ud\"\nqueue_pair = {{ {keys} }}");
        let run = run(&format!("stop = \"1ms\"\n{}", text(&roce, "", &[(0, 1)])));
        assert_eq!(drops(&run, "q_key"), dropped, "{keys}");
        assert_eq!(run.counters().messages_delivered, 4 - dropped, "{keys}");
    }
}

/// With connections made by messages, these are in the default partition, and the connection in its own.
#[test]
fn connections_are_made_in_their_partition() {
    let roce = "connect = \"cm\"\nqueue_pair = { p_key = 1 }";
    let run = run(&text(roce, PARTITION, &[(1, 0)]));
    assert_eq!((run.ends[0].status, drops(&run, "p_key")), (CompletionStatus::Success, 0));
}

#[test]
fn mistakes_are_refused() {
    for (roce, more, expected) in [
        ("queue_pair = { p_key = 0x8000 }", "", "roce.queue_pair.p_key"),
        ("queue_pair = { p_key = 1, p_key_index = 0 }", "", "roce.queue_pair.p_key_index"),
        ("queue_pair = { p_key = 3 }", PARTITION, "in no partition 0x0003"),
        ("queue_pair = { p_key_index = 2 }", PARTITION, "give 0 to 1"),
        ("queue_pair = { q_key = 1 }", "", "only datagrams"),
        ("", "[[roce.partition]]\np_key = 0\n", "give 1 to 32767"),
        ("", "[[roce.partition]]\np_key = 0x8001\n", "give 1 to 32767"),
        (
            "",
            "[[roce.partition]]\np_key = 1\n[[roce.partition]]\np_key = 1\n",
            "a number of its own",
        ),
        (
            "",
            "[[roce.partition]]\np_key = 1\nfull = [\"host-0\"]\nlimited = [\"host-0\"]\n",
            "already",
        ),
        ("", "[[roce.partition]]\np_key = 1\nfull = [\"host-9\"]\n", "host-9"),
        ("service = \"uc\"\nqueue_pair = { alternate_path = {} }", "", "only reliable"),
        ("queue_pair = { alternate_path = { entropy = 65536 } }", "", "give 0 to 65535"),
        ("version = 1\nqueue_pair = { alternate_path = { entropy = 1048576 } }", "", "1048575"),
        (
            "path_entropy = { round-robin = { numbers = 4 } }\nqueue_pair = { alternate_path = {} }",
            "",
            "leave one",
        ),
    ] {
        let error = try_plan(&text(roce, more, &[(0, 1)])).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
