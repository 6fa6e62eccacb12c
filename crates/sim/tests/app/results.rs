//! `operations.csv` and `summary.json`.

use std::ops::ControlFlow;
use std::path::PathBuf;

use rocelab_results::{OperationStatus, Overwrite, Results, ResultsDir, RunInfo, Summary};

use crate::support::{around_a_switch, plan};

/// Runs a scenario into a folder of its own: the summary, and the bytes of `operations.csv`.
fn results(name: &str, text: &str) -> (Summary, PathBuf) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("app-{name}"));
    let directory = ResultsDir::create(&folder, Overwrite::Replace).expect("a folder of ours");
    let outcome = rocelab_sim::run(
        plan(text).into(),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    );
    let summary = outcome.expect("a run").summary;
    directory.finish(&summary, &RunInfo::default()).expect("results take their place");
    (summary, folder)
}

const STORAGE: &str = "[workload.storage]\nname = \"disk\"\nclients = [\"host-0\"]\n\
     servers = [\"host-1\"]\nblock = \"4KiB\"\nread_fraction = 0.5\nqueue_depth = 4\n";

#[test]
fn a_row_for_each_operation_and_a_summary_of_all() {
    let text = around_a_switch(2, &format!("{STORAGE}operations = 200\n"));
    let (summary, folder) = results("rows", &text);
    let [disk] = summary.operations.as_slice() else { panic!("one application") };
    assert_eq!((disk.app.as_str(), disk.total, disk.completed), ("disk", 200, 200));
    assert_eq!(disk.kinds.values().map(|kind| kind.completed).sum::<u64>(), 200);
    assert_eq!(summary.flows.total, 0);
    let results = Results::open(&folder).expect("results");
    let rows: Vec<_> = results.operations().expect("the file").map(Result::unwrap).collect();
    assert_eq!(rows.len(), 200);
    for row in &rows {
        assert_eq!(row.status, OperationStatus::Completed);
        assert_eq!(row.end_ps.unwrap() - row.start_ps, row.latency_ps.unwrap());
        assert_eq!((row.client.as_ref(), row.server.as_ref()), ("host-0", "host-1"));
    }
    let mut latencies: Vec<_> = rows.iter().filter_map(|row| row.latency_ps).collect();
    latencies.sort_unstable();
    let said = disk.latency_ps.unwrap();
    assert_eq!((said.min, said.p50, said.max), (latencies[0], latencies[99], latencies[199]));
    assert_eq!((said.p99, said.p999), (latencies[197], latencies[199]));
    assert_eq!(said.supported(rocelab_results::Statistic::P999), None, "of 200 values");
    assert!(rows.is_sorted_by_key(|row| row.end_ps));
}

#[test]
fn what_is_open_at_the_end_is_unfinished() {
    let text = around_a_switch(2, &format!("{STORAGE}operations = 100000\n"));
    let (summary, folder) = results("stopped", &format!("stop = \"200us\"\n{text}"));
    let disk = &summary.operations[0];
    assert_eq!(disk.total, 100_000);
    assert_eq!(disk.completed + disk.unfinished, 100_000);
    let results = Results::open(&folder).expect("results");
    let rows = results.operations().expect("the file").map(Result::unwrap);
    let open: Vec<_> = rows.filter(|row| row.status == OperationStatus::Unfinished).collect();
    assert_eq!(open.len(), 4);
    assert!(open.iter().all(|row| row.end_ps.is_none()));
}

#[test]
fn the_same_bytes_every_time() {
    let text = around_a_switch(2, &format!("{STORAGE}operations = 100\naccess_time = \"1us\"\n"));
    let read = |folder: PathBuf| {
        ["operations.csv", "summary.json"].map(|file| std::fs::read(folder.join(file)).unwrap())
    };
    let (_, first) = results("first", &text);
    let (_, second) = results("second", &text);
    assert_eq!(read(first), read(second));
}

#[test]
fn without_applications_nothing_is_said_of_them() {
    let text = around_a_switch(
        2,
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n",
    );
    let (_, folder) = results("flows", &text);
    assert!(!folder.join("operations.csv").exists());
    let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    assert!(!summary.contains("operations") && !summary.contains("rnr_naks"), "{summary}");
}
