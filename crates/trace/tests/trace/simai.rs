//! Workload and topology files of SimAI.

use std::path::Path;

use rocelab_trace::simai::{self, topology};
use rocelab_trace::{CollectiveKind, Operation, Options, Trace};
use serde_json::json;

use crate::shared::{files, folder, json as read_json, name};

const HEADER: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4";

fn workload(text: &str) -> simai::Workload {
    simai::parse(text, Path::new("w.txt")).unwrap()
}

#[test]
fn workloads_are_read_as_by_others() {
    let Some(folder) = folder("simai") else { return };
    for name in ["own-hybrid", "own-micro"] {
        let workload = simai::read(&folder.join(format!("{name}.txt"))).unwrap();
        let expected = read_json(&folder.join(format!("{name}.expected.json")));
        assert_eq!(workload.to_json(), expected, "{name}");
    }
}

#[test]
fn a_topology_is_read_as_by_others() {
    let Some(folder) = folder("simai") else { return };
    let topology = topology::read(&folder.join("own-rail-8.topology")).unwrap();
    assert_eq!(topology.to_json(), read_json(&folder.join("own-rail-8.expected.json")));
}

#[test]
fn bad_workloads_are_refused_with_line_and_column() {
    let Some(folder) = folder("simai") else { return };
    let expected = [
        ("bad-columns.txt", ":3:56: 0: the row has 11 columns, and not 12"),
        ("bad-count.txt", ":2:1: 7: the file has 6 rows, and not as many"),
        ("bad-groups.txt", ":1:1: all_gpus: 18: cannot be divided by 4 GPUs of a layer x 1 stages"),
        ("bad-type.txt", ":3:21: ALLSHUFFLE: is no known type of communication"),
    ];
    for (file, words) in expected {
        let error = simai::read(&folder.join(file)).expect_err(file).to_string();
        assert!(error.contains(&format!("{file}{words}")), "{error}");
    }
    assert_eq!(
        files(&folder, ".txt").iter().filter(|path| name(path).starts_with("bad")).count(),
        4
    );
}

#[test]
fn mistakes_have_line_and_column() {
    let row = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
    let cases = [
        ("", "w.txt: it is empty"),
        ("NOTHING\n0\n", "w.txt:1:1: NOTHING: is no known policy"),
        ("MICRO\n", "w.txt: it has no rows"),
        ("MICRO\nx\n", "w.txt:2:1: x: is not the number of rows"),
        (
            &format!("MICRO\n1\n{row}\n\n{row}\n"),
            "w.txt:5:1: a: is in row 2, and line 2 says 1 rows",
        ),
        ("MICRO color: 3\n0\n", "w.txt:1:7: color:: is no known key"),
        ("MICRO ep:\n0\n", "w.txt:1:7: ep:: has no value behind it"),
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD\n0\n", "w.txt:1:1: the header says no all_gpus"),
        ("MICRO all_gpus: 4000000000\n0\n", "w.txt:1:1: all_gpus: 4000000000: is above 1048576"),
        (
            "MICRO all_gpus: 4 model_parallel_NPU_group: 0\n0\n",
            "model_parallel_NPU_group: 0: is less than 1",
        ),
        (
            "MICRO all_gpus: 4 model_parallel_NPU_group: 2 ep: 3\n0\n",
            "ep: 3: does not divide the 2 groups",
        ),
        ("MICRO checkpoints: 4000000000\n0\n", "checkpoints:: has no value behind it"),
        ("MICRO checkpoints: 1 0\n0\n", "it names row 0 of 0"),
    ];
    for (text, words) in cases {
        let error = simai::parse(text, Path::new("w.txt")).expect_err(text).to_string();
        assert!(error.contains(words), "{error}");
    }
}

fn names(trace: &Trace, rank: usize) -> Vec<String> {
    trace.ranks()[rank].labels().iter().map(|label| label.name.to_string()).collect()
}

#[test]
fn a_step_goes_forward_and_backward() {
    let text = format!(
        "{HEADER} checkpoints: 1 0 checkpoint_initiates: 1 1 pp_comm: 0.0\n2\n\
         a -1 10 ALLREDUCE 100 0 NONE 0 5 REDUCESCATTER 8000 7\n\
         b -1 20 ALLGATHER 5000 30 ALLTOALL_EP 9000 0 NONE 0 0\n"
    );
    let trace = simai::convert(&workload(&text), None, &Options::default()).unwrap();
    assert_eq!(trace.ranks().len(), 4);
    let expected = [
        "a forward",
        "a forward",
        "b forward",
        "b forward",
        "a forward again",
        "a forward again",
        "b forward again",
        "b forward again",
        "b input gradient",
        "b input gradient",
        "a weight gradient",
        "a weight gradient",
        "a update",
    ];
    assert_eq!(names(&trace, 3), expected);
    let graph = &trace.ranks()[3];
    // Each node waits for the one before it.
    assert!(graph.parents().iter().skip(1).all(|parents| *parents == 1));
    let of = |node: usize| graph.nodes()[node].operation;
    let Operation::Collective { kind, group, bytes } = of(1) else { panic!() };
    // A size below 4096 is raised; without suffix, forward work is among tensor ranks.
    assert_eq!((kind, bytes), (CollectiveKind::AllReduce, 4096));
    assert_eq!(trace.groups[group as usize].ranks, [2, 3]);
    let Operation::Collective { kind, group, .. } = of(11) else { panic!() };
    assert_eq!(kind, CollectiveKind::ReduceScatter);
    assert_eq!(trace.groups[group as usize].ranks, [1, 3]);
    assert_eq!(of(12), Operation::Compute { duration_ps: 7_000 });
    assert!(rocelab_trace::check::check(&trace).is_empty());
}

#[test]
fn a_weight_gradient_is_exchanged_beside_what_comes_next() {
    let text = format!(
        "{HEADER}\n2\n\
         a -1 0 NONE 0 3 NONE 0 0 NONE 0 0\n\
         b -1 0 NONE 0 0 NONE 0 5 ALLREDUCE 8000 7\n"
    );
    let trace = simai::convert(&workload(&text), None, &Options::default()).unwrap();
    assert_eq!(
        names(&trace, 0),
        ["b weight gradient", "b weight gradient", "b update", "a input gradient"]
    );
    // The exchange and the next row's work both wait for the computation alone.
    assert_eq!(trace.ranks()[0].on_done(0), [1, 3]);
    assert_eq!(trace.ranks()[0].on_done(1), [2]);
}

#[test]
fn micro_does_its_first_row() {
    let text = "MICRO\n2\np -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 65536 1\np -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 1\n";
    let trace = simai::convert(&workload(text), Some(8), &Options::default()).unwrap();
    assert_eq!(names(&trace, 7), ["p weight gradient", "p weight gradient"]);
    let operation = trace.ranks()[7].nodes()[1].operation;
    let expected =
        Operation::Collective { kind: CollectiveKind::AllReduce, group: 0, bytes: 65_536 };
    assert_eq!(operation, expected);
    let error = simai::convert(&workload(text), None, &Options::default()).unwrap_err();
    assert!(error.message().contains("how many GPUs"), "{error}");
}

#[test]
fn what_is_not_understood_is_an_error_with_the_row() {
    let text = format!("{HEADER}\n1\nmoe -1 1 ALLREDUCEALLTOALL 8000 0 NONE 0 0 NONE 0 0\n");
    let error =
        simai::convert(&workload(&text), None, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("w.txt: moe: forward: how ALLREDUCEALLTOALL"), "{error}");
    let other = workload("HYBRID_DLRM all_gpus: 4\n0\n");
    let error = simai::convert(&other, None, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("HYBRID_DLRM"), "{error}");
}

#[test]
fn a_topology_that_does_not_fit_is_refused() {
    let cases = [
        ("", "t: it is empty"),
        ("3 2 0 1 2", "t:1:1: the line has 5 columns, and not 6"),
        ("3 2 2 2 2 H100", "t:1:1: 3: nodes are fewer than 2 NVSwitches and 2 switches"),
        ("4 2 0 1 2 H100", "t:1:3: 2: GPUs of a server do not divide the 3 GPUs"),
        ("3 2 0 1 2 H100", "t: it ends after line 1"),
        ("3 2 0 1 2 H100\n1", "t:2:1: 1: is no switch: they are 2 to 2"),
        ("4 2 0 2 2 H100\n2 2", "t:2:3: 2: is there twice"),
        ("4 2 0 2 2 H100\n2", "t:2:1: 1 switches are listed, and the first line says 2"),
        ("3 2 0 1 2 H100\n2\n0 2 400Gbps 0.0005ms 0", "t:1:9: 2: the file has 1 links"),
        ("3 2 0 1 1 H100\n2\n0 2 400 0.0005ms 0", "t:3:5: 400: is no rate"),
        ("3 2 0 1 1 H100\n2\n0 2 400Gbps 5 0", "t:3:13: 5: is no time"),
        ("3 2 0 1 1 H100\n2\n0 2 400Gbps 5ms 2", "t:3:17: 2: is no probability"),
        ("3 2 0 1 1 H100\n2\n0 3 400Gbps 5ms 0", "t:3:3: 3: is no node"),
        ("3 2 0 1 1 H100\n2\n1 1 400Gbps 5ms 0", "t:3:3: 1: is both ends"),
        ("3 2 0 1 0 H100\n2\n0 2 400Gbps 5ms 0", "t:3:1: there are more links than the 0"),
    ];
    for (text, words) in cases {
        let error = topology::parse(text, Path::new("t")).expect_err(text).to_string();
        assert!(error.contains(words), "{error}");
    }
    let small = topology::parse("2 2 0 0 1 A100\n0 1 1Gbps 1us 0.5\n", Path::new("t")).unwrap();
    let link =
        json!({ "a": 0, "b": 1, "bps": 1_000_000_000_u64, "delay_ps": 1_000_000, "error": 0.5 });
    assert_eq!(small.to_json()["links"], json!([link]));
}

#[test]
fn rows_that_are_repeated_without_end_are_refused() {
    // 5,000 rows, before each of which all rows before it are repeated, would be 25 million nodes on each GPU.
    let rows: String =
        (0..5_000).map(|row| format!("r{row} -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n")).collect();
    let numbers: Vec<_> = (0..5_000).map(|row: u32| row.to_string()).collect();
    let text = format!("{HEADER} checkpoint_initiates: 5000 {}\n5000\n{rows}", numbers.join(" "));
    let error = simai::convert(&workload(&text), None, &Options::default()).unwrap_err();
    assert!(error.message().contains("operations on each of 4 GPUs are more than"), "{error}");
}
