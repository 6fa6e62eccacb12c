//! Problems that the ranks of a trace have together.

use std::path::Path;

use rocelab_trace::check::check;
use rocelab_trace::{Options, Trace, chakra, goal};

use crate::chakra::load;
use crate::own::{Attr, et, node};
use crate::shared::folder;

fn words(trace: &Trace) -> Vec<String> {
    check(trace).iter().map(ToString::to_string).collect()
}

fn of_goal(text: &str) -> Trace {
    let goal = goal::parse(text.as_bytes(), Path::new("t.goal")).unwrap();
    goal::to_trace(&goal, &Options::default()).unwrap()
}

#[test]
fn recorded_traces_have_the_problems_that_they_were_made_with() {
    let Some(folder) = folder("chakra") else { return };
    for good in ["allreduce4", "dp2", "pp2", "groups4"] {
        assert_eq!(words(&load(&folder, good).unwrap()), [""; 0], "{good}");
    }
    let expected = [
        "bad_unmatched.1.et: rank 1: node 0 `r`: receives 1024 bytes from rank 0 with tag 2, and no send matches it",
        "bad_unmatched.0.et: rank 0: node 0 `s`: sends 1024 bytes to rank 1 with tag 1, and no receive matches it",
    ];
    assert_eq!(words(&load(&folder, "bad_unmatched").unwrap()), expected);
}

#[test]
fn the_recorded_schedules_match() {
    let Some(folder) = folder("goal") else { return };
    for path in crate::shared::files(&folder, ".goal") {
        let goal = goal::read(&path).unwrap();
        let trace = goal::to_trace(&goal, &Options::default()).unwrap();
        assert_eq!(words(&trace), [""; 0], "{}", path.display());
    }
}

#[test]
fn lengths_must_be_the_same() {
    let trace = of_goal(
        "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 3\n}\nrank 1 {\nb: recv 9b from 0 tag 3\n}",
    );
    let expected = "t.goal: rank 1: node 0 `b`: receives 9 bytes from rank 0 with tag 3, but \
                    t.goal: rank 0: node 0 `a`: sends 8 bytes to rank 1 with tag 3";
    assert_eq!(words(&trace), [expected]);
}

#[test]
fn receives_of_any_take_what_others_leave() {
    let trace = of_goal(
        "num_ranks 3\n\
         rank 0 {\na: recv 8b from -1 tag -1\nb: recv 8b from 1 tag 3\nc: recv 8b from 2 tag -1\n}\n\
         rank 1 {\nd: send 8b to 0 tag 3\n}\n\
         rank 2 {\ne: send 8b to 0 tag 4\nf: send 8b to 0 tag 5\ng: send 8b to 0 tag 6\n}",
    );
    let expected =
        "t.goal: rank 2: node 2 `g`: sends 8 bytes to rank 0 with tag 6, and no receive matches it";
    assert_eq!(words(&trace), [expected]);
}

/// Two ranks with collective operations of these types and sizes.
fn collectives(of: [&[(u64, u64)]; 2]) -> Trace {
    let file = |rank: usize| {
        let nodes = (0_u64..).zip(of[rank]).map(|(id, (kind, size))| {
            let attrs =
                [("comm_type", Attr::Integer(9, *kind)), ("comm_size", Attr::Integer(9, *size))];
            node(id, "x", 7, &[], &attrs)
        });
        let bytes = et(&nodes.collect::<Vec<_>>());
        let path = format!("t.{rank}.et");
        chakra::read_from(&bytes[..], Path::new(&path), u32::try_from(rank).unwrap()).unwrap()
    };
    chakra::convert(&[file(0), file(1)], &chakra::Groups::default(), &Options::default()).unwrap()
}

#[test]
fn collectives_must_be_the_same_on_all_ranks() {
    assert_eq!(words(&collectives([&[(0, 8), (2, 4)], &[(0, 8), (2, 4)]])), [""; 0]);
    let kind = words(&collectives([&[(0, 8)], &[(7, 8)]]));
    let expected = "t.0.et: rank 0: node 0 `x`: all-reduce of 8 bytes and t.1.et: rank 1: node 0 `x`: \
                    reduce-scatter of 8 bytes are both number 1 of group world";
    assert_eq!(kind, [expected]);
    let order = words(&collectives([&[(0, 8), (0, 9)], &[(0, 9), (0, 8)]]));
    assert_eq!(order.len(), 1);
    let number = words(&collectives([&[(0, 8)], &[(0, 8), (6, 2)]]));
    let expected = "t.1.et: rank 1: node 1 `x`: all-to-all of 2 bytes is number 2 of group world, in which \
                    rank 0 has only 1";
    assert_eq!(number, [expected]);
}
