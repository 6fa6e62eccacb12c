//! How much is open at once, and how many receive requests wait.

use crate::support::{Run, around_a_switch, run};

fn storage(keys: &str) -> Run {
    run(&around_a_switch(
        2,
        &format!(
            "[workload.storage]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\n\
             block = \"4KiB\"\naccess_time = \"20us\"\n{keys}\n"
        ),
    ))
}

/// Operations a second.
fn throughput(run: &Run) -> f64 {
    run.ends.len() as f64 / run.simulation.now().as_secs_f64()
}

#[test]
fn throughput_is_depth_over_latency_up_to_the_line_rate() {
    let alone = storage("operations = 20");
    let latency = alone.latencies()[1] as f64 / 1e12;
    // A read of 4 KiB is 4 frames of data and a response in one direction, beside which nothing
    // but the acknowledgement of the command goes.
    let frames = [16 + 62 + 1024, 62 + 1024, 62 + 1024, 62 + 1024, 62 + 16, 66];
    let line = frames.iter().map(|len| f64::from(len + 20) * 8.0 / 100e9).sum::<f64>();
    for depth in [1, 2, 4, 8, 16, 32, 64, 128] {
        let run = storage(&format!("operations = {}\nqueue_depth = {depth}", 400 * depth));
        run.assert_complete(400 * depth);
        let expected = (depth as f64 / latency).min(1.0 / line);
        let ratio = throughput(&run) / expected;
        println!("depth {depth}: {:.0}/s, {ratio:.4} of what is expected", throughput(&run));
        // Near the knee operations queue behind each other.
        let lowest =
            if (0.5..2.0).contains(&(depth as f64 / latency * line)) { 0.85 } else { 0.97 };
        assert!((lowest..1.005).contains(&ratio), "depth {depth}: {ratio}");
    }
}

#[test]
fn too_few_receive_requests_are_answered_by_rnr_naks() {
    let with =
        |depth: u32| storage(&format!("operations = 64\nqueue_depth = 8\nreceive_depth = {depth}"));
    let (enough, few) = (with(8), with(1));
    for run in [&enough, &few] {
        run.assert_complete(64);
    }
    let naks = |run: &Run| run.simulation.network().nic_counters().rnr_naks_received;
    assert_eq!(naks(&enough), 0);
    assert!(naks(&few) > 0);
    assert!(few.simulation.now() > enough.simulation.now());
    let opcodes = few.opcodes();
    assert!(opcodes["RC_SEND_ONLY"] > 128, "commands are sent again: {opcodes:?}");
    assert_eq!(opcodes["RC_RDMA_WRITE_FIRST"], 64);
}

#[test]
fn no_operation_starts_after_its_time() {
    let run = storage("until = \"1ms\"\nqueue_depth = 4");
    let count = run.ends.len();
    run.assert_complete(count);
    let latest = run.ends.iter().map(|(_, end)| end.start.ps()).max().unwrap();
    assert!(latest < 1_000_000_000 && run.simulation.now().ps() >= 1_000_000_000);
    assert!(count > 150, "{count}");
    let mut numbers: Vec<_> = run.ends.iter().map(|(_, end)| end.operation).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..count as u64), "each has a number of its own");
}
