//! Results of many small invented runs: of a sweep, and of storage.

use std::path::{Path, PathBuf};

use rocelab_results::{
    DeliveryLog, DropRecord, FlowRecord, FlowStatistics, FlowStatus, LinkRecord, OperationRecord,
    OperationStatistics, OperationStatus, Overwrite, PauseRecord, Results, ResultsDir, RunInfo,
    Summary,
};

const END_PS: u64 = 10_000_000_000;
const ALGORITHMS: [&str; 3] = ["dcqcn", "hpcc", "timely"];
const LOADS: [&str; 3] = ["0.3", "0.5", "0.7"];
const SEEDS: u64 = 5;

/// Three loads, three algorithms and five seeds: 45 runs, in nine groups.
pub(crate) fn sweep(folder: &Path) -> Vec<Results> {
    let mut all = Vec::new();
    for (load, text) in (1..).zip(LOADS) {
        for (algorithm, name) in (1..).zip(ALGORITHMS) {
            for seed in 1..=SEEDS {
                let path = folder.join("points").join(all.len().to_string());
                let scenario = format!(
                    "seed = {seed}\n[congestion_control.{name}]\n[workload.poisson]\nload = {text}\n"
                );
                all.push(run(&path, &scenario, (load * 10 + algorithm, seed)));
            }
        }
    }
    all
}

/// Two keys with long names that are swept, with long values: nine groups of two seeds.
pub(crate) fn long_names(folder: &Path) -> Vec<Results> {
    let mut all = Vec::new();
    for (bytes, size) in (1..).zip(["1.048576MB", "16.777216MB", "268.435456MB"]) {
        for (share, text) in (1..).zip(["one-to-one", "two-to-one", "four-to-one"]) {
            for seed in 1..=2 {
                let path = folder.join("points").join(all.len().to_string());
                let scenario = format!(
                    "seed = {seed}\n[congestion_control.dcqcn]\n[workload.permutation]\n\
                     bytes_of_each_message = \"{size}\"\n[topology.fat-tree]\n\
                     oversubscription_of_the_edge_layer = \"{text}\"\n"
                );
                all.push(run(&path, &scenario, (bytes * 10 + share, seed)));
            }
        }
    }
    all
}

/// Changes `summary.json` of a run.
pub(crate) fn changed(run: &Results, change: impl FnOnce(&mut serde_json::Value)) -> Results {
    let path = run.path().join("summary.json");
    let mut summary = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut summary);
    std::fs::write(&path, summary.to_string()).unwrap();
    Results::open(run.path()).unwrap()
}

/// A run of 120 flows, which are the slower the greater the first number is.
fn run(path: &Path, scenario: &str, (slowness, seed): (u64, u64)) -> Results {
    let directory = ResultsDir::create(path, Overwrite::Refuse).unwrap();
    let mut statistics = FlowStatistics::default();
    let mut flows = directory.flows().unwrap();
    for number in 0..120 {
        let ideal_fct_ps = 10_000_000 + number * 100_000;
        let fct_ps = ideal_fct_ps + slowness * (number * 7 + seed) % 97 * 1_000_000;
        let flow = FlowRecord {
            flow: number,
            workload: "poisson[0]".into(),
            name: "poisson[0]".into(),
            source: "host-0".into(),
            destination: "host-1".into(),
            source_qpn: 17,
            destination_qpn: 17,
            transport: "rdma".into(),
            verb: "write".into(),
            priority: 3,
            congestion_control: "dcqcn".into(),
            bytes: 1_000 << (number % 10),
            packets: 1,
            messages: 1,
            start_ps: number * 1_000_000,
            fct_ps: Some(fct_ps),
            ideal_fct_ps,
            retransmitted_packets: 0,
            messages_delivered: Some(1),
            status: FlowStatus::Completed,
            measured: 1,
            path: None,
            collisions: None,
        };
        statistics.add(&flow);
        flows.write(&flow).unwrap();
    }
    flows.finish().unwrap();
    let mut summary = Summary {
        scenario: "websearch".to_owned(),
        seed,
        roce_version: 2,
        simulated_ps: END_PS,
        flows: statistics.counts(),
        fct_ps: statistics.fct_ps(END_PS),
        slowdown: statistics.slowdown(END_PS),
        ..Summary::default()
    };
    summary.pfc.pauses = slowness * seed;
    summary.ecn.marks = slowness * 1_000 + seed;
    finish(directory, scenario, &summary)
}

/// Storage with this queue depth: 2,000 reads and 1,000 writes.
pub(crate) fn storage(folder: &Path, depth: u64) -> Results {
    storage_of(folder, depth, "write")
}

/// The same, where every third operation is of this kind, and all others are reads.
pub(crate) fn storage_of(folder: &Path, depth: u64, kind: &str) -> Results {
    let directory =
        ResultsDir::create(folder.join(format!("depth-{depth}")), Overwrite::Refuse).unwrap();
    directory.flows().unwrap().finish().unwrap();
    let mut statistics = OperationStatistics::default();
    let mut operations = directory.operations().unwrap();
    for number in 0..3_000 {
        let start_ps = number / depth * 12_000_000;
        let latency_ps = 10_000_000 + depth * (number * 13 % 101) * 10_000;
        let operation = OperationRecord {
            app: "disk".into(),
            kind: if number % 3 == 0 { kind } else { "read" }.into(),
            client: "host-0".into(),
            server: "host-1".into(),
            connection: 0,
            operation: number,
            slot: 0,
            start_ps,
            end_ps: Some(start_ps + latency_ps),
            latency_ps: Some(latency_ps),
            found: None,
            status: OperationStatus::Completed,
            measured: 1,
        };
        statistics.add(&operation);
        operations.write(&operation).unwrap();
    }
    operations.finish().unwrap();
    let counts = statistics.counts("disk", Some(3_000), &DeliveryLog::default(), END_PS);
    let summary = Summary {
        scenario: format!("depth-{depth}"),
        seed: 1,
        roce_version: 2,
        simulated_ps: END_PS,
        operations: vec![counts],
        ..Summary::default()
    };
    let scenario = format!("seed = 1\n[workload.storage]\nqueue_depth = {depth}\n");
    finish(directory, &scenario, &summary)
}

fn finish(directory: ResultsDir, scenario: &str, summary: &Summary) -> Results {
    directory.records::<LinkRecord<'_>>().unwrap().finish().unwrap();
    directory.records::<PauseRecord<'_>>().unwrap().finish().unwrap();
    directory.records::<DropRecord<'_>>().unwrap().finish().unwrap();
    directory.write_text("scenario.resolved.toml", scenario).unwrap();
    let path: PathBuf = directory.finish(summary, &RunInfo::default()).unwrap();
    Results::open(path).unwrap()
}
