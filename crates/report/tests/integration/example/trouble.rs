//! Optional parts of results: samples of everything, a deadlock, and watchdog events.

use std::fmt::Write as _;
use std::path::Path;

use rocelab_results::{
    DeadlockRecord, DeadlockedQueue, StallRecord, StuckQueuePairRecord, StuckQueueRecord, Summary,
    WaitsFor,
};

const INTERVAL_PS: u64 = 100_000_000;

/// Adds it to results of the [example](super::write).
pub(crate) fn add(results: &Path) {
    std::fs::create_dir(results.join("samples")).unwrap();
    let mut marks = "time_ps,node,port,marks\n".to_owned();
    let mut utilisation = "time_ps,node,port,rate_bps,utilisation\n".to_owned();
    let mut rates =
        "time_ps,flow,node,port,priority,rate_bps,window_bytes,goodput_bps\n".to_owned();
    for sample in 1..=200 {
        let time = sample * INTERVAL_PS;
        writeln!(marks, "{time},tor-0,3,{}", sample % 7).unwrap();
        let half = 50_000_000_000_u64;
        writeln!(utilisation, "{time},tor-0,3,{half},0.500000").unwrap();
        for flow in 0..12 {
            let rate = 10_000_000_000 + flow * sample * 1_000_000;
            // The last flow is a READ: its source does not know the rate.
            let allowed = if flow < 11 { rate.to_string() } else { String::new() };
            writeln!(rates, "{time},{flow},host-{flow},0,3,{allowed},,{}", rate / 2).unwrap();
        }
    }
    let write = |name: &str, text: &str| std::fs::write(results.join(name), text).unwrap();
    write("samples/marks.csv", &marks);
    write("samples/utilisation.csv", &utilisation);
    write("samples/rates.csv", &rates);
    let sampled = ["marks", "utilisation", "rates"];
    let sections = sampled.map(|name| format!("[sample.{name}]\ninterval = \"{INTERVAL_PS}ps\"\n"));
    let scenario = std::fs::read_to_string(results.join("scenario.resolved.toml")).unwrap();
    write("scenario.resolved.toml", &(scenario + &sections.concat()));
    // Two pauses: one began the deadlock, the deadlock caused the other.
    write(
        "pauses.json",
        r#"{"pauses": [
            {"node": "spine-0", "port": 1, "priority": 3, "start_ps": 1250000000, "end_ps": null,
             "parent": null, "waits_for": "tor-1:17", "deadlock": 0},
            {"node": "host-16", "port": 0, "priority": 3, "start_ps": 1251000000, "end_ps": null,
             "parent": 0, "waits_for": "tor-1:17", "deadlock": 0}
        ]}"#,
    );
    write(
        "storms.csv",
        "time_ps,node,port,priority,event,duration_ps\n7000,tor-1,2,3,detected,\n\
         9000,tor-1,2,3,restored,2000\n",
    );

    let path = results.join("summary.json");
    let mut summary: Summary = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    summary.storms = 1;
    summary.cnms = 5;
    summary.drops.add_frames("ttl_expired", 40);
    summary.deadlocks.push(deadlock());
    summary.stalled = Some(stalled());
    std::fs::write(&path, serde_json::to_vec(&summary).unwrap()).unwrap();
}

/// A queue pair that waits for the end of a pause, two queues, and more.
fn stalled() -> StallRecord {
    let queue = |switch: &str, bytes| StuckQueueRecord {
        switch: switch.to_owned(),
        port: 16,
        priority: 3,
        is_lane: false,
        bytes,
        paused_by: "spine-0".to_owned(),
        awaits_credits: false,
        root: "tor-1:17".to_owned(),
        link_down: false,
    };
    StallRecord {
        since_ps: 1_260_000_000,
        queue_pairs: 40,
        queues: 2,
        stuck_queue_pairs: vec![StuckQueuePairRecord {
            host: "host-3".to_owned(),
            qpn: 0x11,
            peer: "host-99".to_owned(),
            flow: Some(7),
            waits_for: WaitsFor::Pause,
            at: "tor-0".to_owned(),
            root: "tor-1:17".to_owned(),
            ..StuckQueuePairRecord::default()
        }],
        stuck_queues: vec![queue("tor-0", 400_000), queue("tor-2", 500_000)],
    }
}

/// Two racks and two spines that wait for each other.
fn deadlock() -> DeadlockRecord {
    let queue = |switch: &str, port, paused_by: &str| DeadlockedQueue {
        switch: switch.to_owned(),
        port,
        paused_by: paused_by.to_owned(),
        priority: 3,
        is_lane: false,
    };
    DeadlockRecord {
        began_ps: 1_250_000_000,
        found_ps: 2_000_000_000,
        cycle: vec![
            queue("spine-0", 1, "tor-1"),
            queue("tor-1", 17, "spine-1"),
            queue("spine-1", 0, "tor-0"),
            queue("tor-0", 16, "spine-0"),
        ],
        queues: 9,
        bytes: 800_000,
        ..DeadlockRecord::default()
    }
}
