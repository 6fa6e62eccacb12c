//! Collective operations as messages.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_trace::check::check;
use rocelab_trace::{
    Algorithm, CollectiveKind, Operation, Options, Trace, chakra, expand, goal, loggops,
};

use crate::own::{Attr, et, node};

/// A calculation, a collective operation, and a calculation.
fn trace(ranks: u32, comm_type: u64, comm_size: u64) -> Trace {
    let attrs =
        [("comm_type", Attr::Integer(9, comm_type)), ("comm_size", Attr::Integer(9, comm_size))];
    let waits = |parent| [crate::own::Field::Packed(5, vec![parent])];
    let nodes = [
        node(1, "before", 4, &[], &[]),
        node(2, "x", 7, &waits(1), &attrs),
        node(3, "after", 4, &waits(2), &[]),
    ];
    let bytes = et(&nodes);
    let file = |rank| chakra::read_from(&bytes[..], Path::new("t.et"), rank).unwrap();
    let files: Vec<_> = (0..ranks).map(file).collect();
    chakra::convert(&files, &chakra::Groups::default(), &Options::default()).unwrap()
}

/// The bytes that each rank sends.
fn sent(trace: &Trace) -> Vec<u64> {
    let of = |operation: &Operation| match operation {
        Operation::Send { bytes, .. } => *bytes,
        _ => 0,
    };
    trace
        .ranks()
        .iter()
        .map(|graph| graph.nodes().iter().map(|node| of(&node.operation)).sum())
        .collect()
}

const KINDS: [(u64, CollectiveKind); 7] = [
    (0, CollectiveKind::AllReduce),
    (1, CollectiveKind::Reduce),
    (2, CollectiveKind::AllGather),
    (5, CollectiveKind::Broadcast),
    (6, CollectiveKind::AllToAll),
    (7, CollectiveKind::ReduceScatter),
    (9, CollectiveKind::Barrier),
];

#[test]
fn messages_match_and_all_ends() {
    for ranks in [1, 2, 3, 5, 8] {
        for (comm_type, kind) in KINDS {
            for algorithm in [Algorithm::Ring, Algorithm::Direct] {
                let expanded = expand(&trace(ranks, comm_type, 1_000_003), algorithm).unwrap();
                assert!(
                    check(&expanded).is_empty(),
                    "{kind} {ranks} {algorithm:?}: {:?}",
                    check(&expanded)
                );
                loggops::run(&expanded, &loggops::Parameters::default()).unwrap();
                // It can be written, and read again.
                let path = Path::new("t.goal");
                let text = goal::from_trace(&expanded, path).unwrap().to_text();
                goal::parse(text.as_bytes(), path).unwrap();
            }
        }
    }
}

/// The bytes by rank of the closed forms: block k has floor(S/n) + (k < S mod n).
#[test]
fn ranks_send_the_bytes_of_the_closed_forms() {
    for (n, total) in [(2_u64, 1_000_003_u64), (3, 1_000_003), (5, 7), (8, 1 << 20)] {
        let block = |k: u64| total / n + u64::from(k % n < total % n);
        let ranks = u32::try_from(n).unwrap();
        let of = |comm_type, size, algorithm| {
            sent(&expand(&trace(ranks, comm_type, size), algorithm).unwrap())
        };
        let expected = |bytes: &dyn Fn(u64) -> u64| (0..n).map(bytes).collect::<Vec<_>>();
        // Ring: reduce-scatter sends all but the own block, which is the one that is complete at the end.
        let scatter = expected(&|rank| total - block(rank));
        assert_eq!(of(7, total, Algorithm::Ring), scatter);
        assert_eq!(of(7, total, Algorithm::Direct), scatter);
        assert_eq!(of(6, total, Algorithm::Direct), scatter);
        let both = expected(&|rank| 2 * total - block(rank) - block(rank + 1));
        assert_eq!(of(0, total, Algorithm::Ring), both);
        // The size of an all-gather in the file is that of one rank.
        let gathered = of(2, total, Algorithm::Ring);
        assert_eq!(gathered, vec![(n - 1) * total; ranks as usize]);
        let broadcast = expected(&|rank| if rank + 1 < n { total } else { 0 });
        assert_eq!(of(5, total, Algorithm::Ring), broadcast);
    }
}

/// A ring all-reduce in which each rank's contribution to each block is followed: at the end all blocks are full.
#[test]
fn contributions_are_complete_and_none_is_there_twice() {
    for n in [2_u32, 3, 4, 7] {
        let expanded = expand(&trace(n, 0, u64::from(n)), Algorithm::Ring).unwrap();
        // Of each rank and step, the block that is sent follows from the algorithm, and is checked by its effect here.
        let mut blocks: Vec<Vec<u32>> = (0..n).map(|rank| vec![1 << rank; n as usize]).collect();
        for step in 0..2 * (n - 1) {
            let before = blocks.clone();
            for rank in 0..n {
                let last = (rank + n - 1) % n;
                let block = (last + 2 * n - 1 - step) % n;
                let block = if step < n - 1 { block } else { (last + 2 * n - (step - (n - 1))) % n }
                    as usize;
                let arrived = before[last as usize][block];
                let has = &mut blocks[rank as usize][block];
                if step < n - 1 {
                    assert_eq!(*has & arrived, 0, "twice");
                    *has |= arrived;
                } else {
                    *has = arrived;
                }
            }
        }
        assert!(blocks.iter().flatten().all(|block| *block == (1 << n) - 1));
        // The trace has as many messages, and as many reductions.
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for node in expanded.ranks().iter().flat_map(|graph| graph.nodes()) {
            *counts.entry(node.operation.name()).or_default() += 1;
        }
        assert_eq!(counts["send"], 2 * (n - 1) * n);
        assert_eq!(counts["reduce"], (n - 1) * n);
    }
}

/// Both calculations wait: a ring step of LogGOPS takes 2o + L + (s-1)G.
#[test]
fn what_comes_after_waits_for_all_of_it() {
    let mut traces = Vec::new();
    for duration in [0, 9] {
        let fields = [crate::own::Field::Varint(7, duration)];
        let attrs = [("comm_type", Attr::Integer(9, 0)), ("comm_size", Attr::Integer(9, 4096))];
        let waits = |parent| crate::own::Field::Packed(5, vec![parent]);
        let nodes = [
            node(1, "before", 4, &fields, &[]),
            node(2, "x", 7, &[waits(1)], &attrs),
            node(3, "after", 4, &[waits(2), crate::own::Field::Varint(7, duration)], &[]),
        ];
        let bytes = et(&nodes);
        let file = |rank| chakra::read_from(&bytes[..], Path::new("t.et"), rank).unwrap();
        let files: Vec<_> = (0..4).map(file).collect();
        let trace =
            chakra::convert(&files, &chakra::Groups::default(), &Options::default()).unwrap();
        traces.push(expand(&trace, Algorithm::Ring).unwrap());
    }
    let ends = |trace| loggops::run(trace, &loggops::Parameters::default()).unwrap();
    let steps = 2 * 3 * (2 * 1500 + 2500 + 1023 * 6);
    assert_eq!(ends(&traces[0]), [steps; 4]);
    // 9 us before, and 9 us after.
    assert_eq!(ends(&traces[1]), [steps + 18_000; 4]);
}

#[test]
fn more_messages_than_memory_has_room_for_are_refused() {
    let text = "MICRO\n1\np -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 80000 0\n";
    let workload = rocelab_trace::simai::parse(text, Path::new("w.txt")).unwrap();
    let trace =
        rocelab_trace::simai::convert(&workload, Some(10_000), &Options::default()).unwrap();
    let error = expand(&trace, Algorithm::Ring).unwrap_err();
    assert!(error.message().contains("more than 33554432 messages"), "{error}");
}
