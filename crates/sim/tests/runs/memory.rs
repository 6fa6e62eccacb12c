//! Memory takes the same results as files.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{MemorySink, Overwrite, RECORD_TYPES, ResultsDir, RunInfo, Table, Value};
use rocelab_sim::{Execution, Planning, Progress, Scenario, run};

const TEXT: &str = "[topology.single-switch]\nhosts = 5\n\
     link = { rate = \"100Gbps\", cable = \"3m\" }\n[roce]\npriority = 3\n\
     [switch]\nbuffer = \"2MB\"\n[congestion_control.none]\n\
     [sample.queues]\ninterval = \"10us\"\nports = [\"switch-0\"]\n\
     [sample.rates]\ninterval = \"10us\"\n\
     [[workload.incast]]\nsenders = 4\nbytes = \"1MB\"\n";

/// What a file of records says, that has this table.
fn as_file(table: &Table) -> String {
    let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
    let mut lines = vec![names.join(",")];
    for row in 0..table.len() {
        let fields = table.arrays().iter().map(|array| match array.value(row) {
            Value::Integer(value) => value.to_string(),
            Value::Ratio(value) => value.to_string(),
            Value::Text(text) => text.to_owned(),
            Value::Missing => String::new(),
        });
        lines.push(fields.collect::<Vec<_>>().join(","));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn memory_holds_what_the_directory_does() {
    let scenario = Scenario::parse(TEXT, Path::new("sinks.toml"), &[]);
    let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
    let mut go_on = |_: &Progress| ControlFlow::Continue(());
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("r"), Overwrite::Refuse).unwrap();
    let of_files =
        run(Arc::clone(&plan), (&directory).into(), Execution::SEQUENTIAL, &mut go_on).unwrap();
    let path = directory.finish(&of_files.summary, &RunInfo::default()).unwrap();
    let sink = MemorySink::default();
    let in_memory = run(plan, (&sink).into(), Execution::SEQUENTIAL, &mut go_on).unwrap();
    let results = sink.finish();
    assert_eq!(in_memory.summary, of_files.summary);
    for records in RECORD_TYPES {
        let file = fs::read_to_string(path.join(records.file)).ok();
        assert_eq!(results.tables.get(records.name).map(as_file), file, "{}", records.file);
    }
    assert!(["flows", "pfc", "queues", "rates"].iter().all(|name| results.tables[name].len() > 3));
    assert!(results.pause_causes.is_some_and(|causes| !causes.pauses.is_empty()));
    assert_eq!(results.nodes.len(), 6);
}
