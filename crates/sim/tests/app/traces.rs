//! Traces of AI workloads on an ideal switch: times to the picosecond, bytes, matching, and what is refused.
//!
//! The Chakra traces in `data/traces` are our own: four ranks that add up, data parallel, pipeline parallel, and four groups.

use std::path::{Path, PathBuf};

use rocelab_sim::{Planning, Scenario};
use rocelab_units::SimTime;

use crate::collectives::{ACKNOWLEDGEMENT, BYTE, DELAY, message};
use crate::support::{Run, around_a_switch, run};

/// A microsecond (ps).
const US: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name)
}

/// A trace on so many hosts. A message has one acknowledgement, and is sent without asking its receiver.
fn text_of(hosts: u32, format: &str, path: &Path, keys: &str) -> String {
    let last = hosts - 1;
    let path = path.display();
    let text = format!(
        "[roce]\npath_mtu = 1024\nack_interval = 100000\n[workload.trace]\nformat = \"{format}\"\n\
         path = '{path}'\nhosts = [\"host-0..host-{last}\"]\n{keys}"
    );
    around_a_switch(hosts, &text)
}

const AT_ONCE: &str = "collective = { receiver_ready = false }\n";

fn chakra(hosts: u32, name: &str, keys: &str) -> Run {
    run(&text_of(hosts, "chakra", &data(name), keys))
}

/// Runs GOAL that is written here.
fn goal(hosts: u32, name: &str, goal: &str, keys: &str) -> Run {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, goal).expect("a file");
    run(&text_of(hosts, "goal", &path, keys))
}

/// The error of a scenario that cannot be planned, in one line of words.
fn error(text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace.toml");
    let scenario = Scenario::parse(text, &path, &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    let error = plan.err().unwrap_or_else(|| panic!("it is planned:\n{text}"));
    let words = format!("{error} {error:?}");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// When each iteration of each rank ended, by rank and iteration (ps).
fn ends(run: &Run, hosts: u32) -> Vec<Vec<u64>> {
    let mut ends = vec![Vec::new(); hosts as usize];
    for (time, end) in &run.ends {
        let connection = &run.plan.connections[end.connection as usize];
        ends[connection.members[0] as usize].push(time.since(SimTime::ZERO).ps());
    }
    ends
}

fn delivered(run: &Run) -> u64 {
    run.simulation.network().nic_counters().payload_delivered
}

/// From the post of an acknowledgement on an idle link to its arrival.
const RETURN: u64 = 2 * ((8 + 66) * BYTE + DELAY);

#[test]
fn four_ranks_add_up() {
    let run = chakra(4, "allreduce4", AT_ONCE);
    run.assert_complete(4);
    let expected = 6 * message(MIB / 4) + 5 * ACKNOWLEDGEMENT;
    assert_eq!(run.latencies(), [expected; 4]);
    assert_eq!(delivered(&run), 4 * 6 * MIB / 4);
}

/// Two stages and two micro-batches. The second activation waits for the completion of the first, since a GPU has one
/// communication at a time. Its acknowledgement goes between frames of the first gradient.
#[test]
fn a_pipeline_of_two_stages() {
    let run = chakra(2, "pp2", "");
    run.assert_complete(2);
    let data = message(4 * MIB);
    let second_gradient = 400 * US + 3 * data + RETURN + ACKNOWLEDGEMENT;
    let expected = [vec![second_gradient + 200 * US], vec![second_gradient + RETURN]];
    assert_eq!(ends(&run, 2), expected);
    assert_eq!(delivered(&run), 4 * 4 * MIB);
}

/// Gradients of the last layer are added up while the first layer still computes. Those of the first layer wait for them,
/// and the optimizer for both.
#[test]
fn gradients_beside_the_backward_pass() {
    let run = chakra(4, "dp2", AT_ONCE);
    run.assert_complete(4);
    let first = 6 * message(4 * MIB) + 5 * ACKNOWLEDGEMENT;
    let second = 6 * message(2 * MIB) + 6 * ACKNOWLEDGEMENT;
    assert_eq!(run.latencies(), [600 * US + first + second + 50 * US; 4]);
    assert_eq!(delivered(&run), 4 * 6 * (4 + 2) * MIB);
}

#[test]
fn groups_of_two_kinds() {
    let groups = data("groups4.comm_group.json");
    let run = chakra(4, "groups4", &format!("groups = '{}'\n{AT_ONCE}", groups.display()));
    run.assert_complete(4);
    let tensor = 100 * US + message(2 * MIB) + 200 * US + message(2 * MIB);
    let data = 2 * message(4 * MIB) + 2 * ACKNOWLEDGEMENT;
    assert_eq!(run.latencies(), [tensor + data; 4]);
    assert_eq!(delivered(&run), 4 * (2 + 2 + 8) * MIB);
    let without = text_of(4, "chakra", &self::data("groups4"), "");
    let words = error(&without);
    assert!(words.contains("groups4.0.et") && words.contains("tp_all_gather"), "{words}");
}

/// Receivers say that they are ready, channels and queue pairs share data, and a second iteration begins at once.
#[test]
fn iterations_with_all_keys() {
    let keys = "iterations = 3\ncompute_scale = 0.1\n[workload.trace.collective]\nchannels = 2\nchunk = \"64KiB\"\n\
                slices = 2\nqueue_pairs = 2\nsplit = \"all\"\nwindow = 3\nreduce_rate = \"1Tbps\"\n\
                algorithm = { all-reduce = \"halving-doubling\" }\n";
    let run = chakra(4, "dp2", keys);
    run.assert_complete(3 * 4);
    // Of 24 MiB of gradients a rank sends twice 3/4; beside that a word of 64 bytes goes for each message.
    let sent = delivered(&run);
    let data = 3 * 4 * 36 * MIB;
    assert!(sent > data && (sent - data).is_multiple_of(64), "{sent} {data}");
    // The first gradients are ready after 60 us, and the optimizer takes 5 us.
    let least = 65 * US + 36 * MIB * BYTE;
    assert!(run.latencies().into_iter().all(|time| time > least), "{:?}", run.latencies());
    for ends in ends(&run, 4) {
        assert!(ends.len() == 3 && ends.is_sorted(), "{ends:?}");
    }
}

/// Messages ahead of their receives, of any source and tag, to oneself, and computation on two processors.
#[test]
fn goal_matches_as_mpi() {
    let run = run(&text_of(3, "goal", &data("mixed.goal"), "iterations = 2\n"));
    run.assert_complete(2 * 3);
    assert_eq!(delivered(&run), 2 * (200_000 + 50_000 + 70_000));
    // Rank 1 computes 40 us, and has the message by then; it sends, and waits for the acknowledgement.
    let first: Vec<u64> = ends(&run, 3).iter().map(|ends| ends[0]).collect();
    assert_eq!(first[0], 40 * US + message(70_000));
    assert_eq!(first[1], 40 * US + message(70_000) + RETURN);
}

/// A message goes when the node begins, and the node is done at the completion; `irequires` waits for the begin alone.
#[test]
fn a_send_is_done_at_its_completion() {
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 1000\nb irequires a\nc: calc 500\nc requires a\n\
                d: calc 100\nd requires b\n}\nrank 1 {\na: recv 1000b from 0\n}\n";
    let run = goal(2, "send.goal", text, "start = \"7us\"\n");
    run.assert_complete(2);
    // The message is done long before `b` ends. `c` waits for the one processor, and runs before `d`.
    assert!(message(1_000) + RETURN < US);
    let (all, one) = (7 * US + 1_600_000, 7 * US + message(1_000));
    assert_eq!(ends(&run, 2), [vec![all], vec![one]]);
}

/// A rank without any communication, and one without nodes.
#[test]
fn ranks_may_have_nothing_to_say() {
    let text = "num_ranks 3\nrank 0 {\na: calc 5000\n}\nrank 1 {\n}\nrank 2 {\na: calc 1000\n}\n";
    let run = goal(3, "quiet.goal", text, "iterations = 4\n");
    run.assert_complete(4 * 3);
    assert_eq!(delivered(&run), 0);
    assert_eq!(ends(&run, 3)[0], [5 * US, 10 * US, 15 * US, 20 * US]);
    assert_eq!(ends(&run, 3)[1], [0; 4]);
}

/// A SimAI workload of one row: the weight gradient of each is added up, once in each group.
#[test]
fn a_workload_of_simai() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("micro.txt");
    std::fs::write(
        &path,
        "MICRO\n1\nprobe\t-1\t1\tNONE\t0\t1\tNONE\t0\t1000\tALLREDUCE\t1048576\t1\n",
    )
    .expect("a file");
    let run = run(&text_of(4, "simai", &path, AT_ONCE));
    run.assert_complete(4);
    assert_eq!(delivered(&run), 4 * 6 * MIB / 4);
}

#[test]
fn errors_name_file_node_and_key() {
    let chakra = |hosts, name, keys| error(&text_of(hosts, "chakra", &data(name), keys));
    let cases = [
        (
            chakra(2, "bad_unmatched", ""),
            vec!["bad_unmatched.1.et: rank 1: node 0 `r`", "and 1 more", "rocelab trace check"],
        ),
        (chakra(3, "pp2", ""), vec!["hosts", "the trace has ranks, which are 2", "name 2 hosts"]),
        (chakra(2, "nowhere", ""), vec!["there is no", "nowhere.0.et"]),
        (chakra(2, "pp2", "iterations = 0\n"), vec!["iterations", "give 1 to 1048576"]),
        (chakra(2, "pp2", "compute_scale = -1.0\n"), vec!["compute_scale", "give 0 or more"]),
        (chakra(2, "pp2", "groups = \"none.json\"\n"), vec!["groups", "none.json"]),
        (
            chakra(4, "allreduce4", "collective = { algorithm = { all-reduce = \"bruck\" } }\n"),
            vec!["collective.algorithm", "all_reduce_1MiB", "it does no all-reduce"],
        ),
        (
            chakra(4, "allreduce4", "collective = { queue_pairs = 0 }\n"),
            vec!["queue_pairs", "give 1 to 128"],
        ),
        (
            error(&text_of(3, "goal", &data("mixed.goal"), "serialise_streams = true\n")),
            vec!["serialise_streams", "is for Chakra traces"],
        ),
        (
            error(&text_of(3, "goal", &data("pp2.0.et"), "")),
            vec!["pp2.0.et", "neither text nor binary GOAL"],
        ),
    ];
    for (words, parts) in cases {
        for part in parts {
            assert!(words.contains(part), "{part:?} is not in {words}");
        }
    }
}
