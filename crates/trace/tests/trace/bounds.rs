//! Counts and lower bounds.

use std::path::Path;

use rocelab_trace::summary::{lower_bound, summary};
use rocelab_trace::{CollectiveKind, Options, Trace, goal, simai};

fn of_goal(text: &str) -> Trace {
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    goal::to_trace(&goal, &Options::default()).unwrap()
}

#[test]
fn the_bound_is_the_longest_chain_across_ranks() {
    let trace = of_goal(
        "num_ranks 2\n\
         rank 0 {\na: calc 100\ns: send 1000b to 1 tag 1\ns requires a\nb: calc 250\n}\n\
         rank 1 {\nr: recv 1000b from 0 tag 1\nc: calc 300\nc requires r\nd: calc 50\n}",
    );
    assert_eq!(lower_bound(&trace, None), Ok(400_000));
    // 1,000 bytes at 8 Gbit/s take 1 us.
    assert_eq!(lower_bound(&trace, Some("8Gbps".parse().unwrap())), Ok(1_400_000));
}

#[test]
fn collectives_take_the_bytes_that_a_rank_must_send() {
    let text = "MICRO\n1\np -1 0 NONE 0 0 NONE 0 5 ALLREDUCE 80000 0\n";
    let workload = simai::parse(text, Path::new("w.txt")).unwrap();
    let trace = simai::convert(&workload, Some(4), &Options::default()).unwrap();
    // 2 x 3/4 x 80,000 B at 8 Gbit/s = 1 B/ns, after 5 ns.
    assert_eq!(lower_bound(&trace, Some("8Gbps".parse().unwrap())), Ok(120_005_000));
    assert_eq!(lower_bound(&trace, None), Ok(5_000));
    let summary = summary(&trace);
    assert_eq!(summary.nodes.into_iter().collect::<Vec<_>>(), [("collective", 4), ("compute", 4)]);
    let key = (CollectiveKind::AllReduce, "world".to_owned());
    assert_eq!(summary.collectives[&key], (1, 80_000));
    assert_eq!((summary.compute_ps, summary.sent, summary.dangling), (5_000, 0, 0));
}

#[test]
fn what_cannot_end_has_no_bound() {
    let trace = of_goal("num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 2\n}\nrank 1 {\n}");
    let stall = lower_bound(&trace, None).unwrap_err().to_string();
    assert!(
        stall.contains("t.goal: rank 0: node 0 `a` waits for a message from 1 with tag 2"),
        "{stall}"
    );
}
