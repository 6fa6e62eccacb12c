//! Priorities of a sending NIC: strict ones, weights and rates, with RDMA and TCP together.

use std::sync::Arc;

use rocelab_sim::network::RecordKind;
use rocelab_sim::{FlowPlan, Simulation};

use crate::support::{run, try_plan};

/// A host with one port of 100 Gbit/s, to as many others as needed, and no congestion control: `host` and `flows`.
fn text(host: &str, flows: &str) -> String {
    format!(
        "stop = \"2ms\"\n[host]\n{host}\n[topology.single-switch]\nhosts = 10\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{flows}"
    )
}

/// One flow to `host-{number}` of so many bytes.
fn flow(priority: u8, number: u8, bytes: &str, more: &str) -> String {
    format!(
        "[[workload.flows]]\npriority = {priority}\n{more}\n\
         list = [{{ from = \"host-0\", to = \"host-{number}\", bytes = \"{bytes}\" }}]\n"
    )
}

/// Completion times of the flows that ended and that are `wanted` (ns).
fn times(text: &str, wanted: impl Fn(&FlowPlan) -> bool) -> Vec<u64> {
    let run = run(text);
    let plan = try_plan(text).expect("it runs");
    let ends = run.ends.iter().map(|end| (&plan.flows[end.flow as usize], end.finished));
    let wanted = ends.filter(|(flow, _)| wanted(flow));
    wanted.map(|(flow, finished)| finished.since(flow.start).ps() / 1_000).collect()
}

/// Twenty messages of one packet, 40 us apart, in priority 6, beside seven bulk flows. Alone, each takes as long as without bulk
/// flows; beside them it waits for the frame that has just begun at most: 1,106 bytes and 20 of preamble and gap at 100 Gbit/s are
/// 90.08 ns. Its acknowledgement finds an idle port.
#[test]
fn one_real_time_queue_pair_waits_for_one_frame_at_most() {
    let list: Vec<_> = (0..20)
        .map(|number| {
            let start = 100_000 + 40_013 * number;
            format!(
                "{{ from = \"host-0\", to = \"host-1\", bytes = \"1024B\", start = \"{start}ns\" }}"
            )
        })
        .collect();
    let real_time = format!("[[workload.flows]]\npriority = 6\nlist = [{}]\n", list.join(",\n"));
    let bulk: String = (2..9).map(|number| flow(number % 5, number, "100MB", "")).collect();
    let is_real_time = |flow: &FlowPlan| flow.priority == 6;
    let ets = "scheduler = { ets = { weights = [1, 1, 1, 1, 1, 1, 0, 1] } }";
    for host in [ets, "scheduler = \"strict-priority\""] {
        let alone = times(&text(host, &real_time), is_real_time);
        let beside = times(&text(host, &(real_time.clone() + &bulk)), is_real_time);
        assert_eq!((alone.len(), beside.len()), (20, 20), "{host}");
        for (alone, beside) in alone.iter().zip(&beside) {
            assert!((*alone..=alone + 91).contains(beside), "{host}: {alone} ns, {beside} ns");
        }
        assert!(alone != beside, "{host}: some of them wait");
    }
    // With all in turns it waits for a frame of several others.
    let slowest =
        times(&text("", &real_time), is_real_time).into_iter().max().expect("there are some");
    let in_turns = times(&text("", &(real_time + &bulk)), is_real_time);
    assert!(in_turns.iter().any(|time| *time > slowest + 2 * 91), "{slowest} {in_turns:?}");
}

/// Payload that arrived of the flows of each priority, from 0.5 ms on (bytes).
fn payload_by_priority(text: &str) -> [u64; 8] {
    let text = format!("{text}[sample.rates]\ninterval = \"100us\"\n");
    let plan = Arc::new(try_plan(&text).expect("it runs"));
    let mut simulation: Simulation = Simulation::new(Arc::clone(&plan)).expect("a network");
    simulation.run_to_end();
    let mut sums = [0; 8];
    for record in simulation.take_records() {
        if let RecordKind::Goodput(accepted) = record.kind
            && record.key.time.ps() > 500_000_000
        {
            let priority = plan.flows[accepted.flow as usize].priority;
            sums[usize::from(priority)] += accepted.bytes;
        }
    }
    sums
}

/// The share of each priority in that.
fn shares(text: &str) -> [f64; 8] {
    let sent = payload_by_priority(text);
    let all: u64 = sent.iter().sum();
    sent.map(|bytes| bytes as f64 / all as f64)
}

/// TCP in priority 1 with weight 1 to 7, RDMA in priority 3 with the rest of 8.
#[test]
fn tcp_gets_its_weight_of_the_port() {
    for weight in [1_u32, 2, 4, 7] {
        let host = format!(
            "scheduler = {{ ets = {{ weights = [1, {weight}, 1, {}, 1, 1, 1, 1] }} }}",
            8 - weight
        );
        let tcp = flow(1, 1, "100MB", "transport = \"tcp\"").replace("priority = 1\n", "");
        let flows = format!("[tcp]\npriority = 1\n{tcp}{}", flow(3, 2, "100MB", ""));
        let shares = shares(&text(&host, &flows));
        let due = f64::from(weight) / 8.0;
        assert!((shares[1] - due).abs() < 0.01, "{weight} of 8: {shares:?}");
    }
}

/// A rate limit holds whatever else there is, to 1 %, and the others get the rest.
#[test]
fn a_priority_is_held_to_its_rate() {
    let host = "scheduler = { ets = { weights = [1, 1, 1, 1, 1, 1, 1, 1] } }\n\
                shapers = { 3 = { rate = \"20Gbps\" } }";
    let shares = shares(&text(host, &(flow(3, 1, "100MB", "") + &flow(4, 2, "100MB", ""))));
    assert!((shares[3] - 0.2).abs() < 0.01, "{shares:?}");
    let alone = payload_by_priority(&text(host, &flow(3, 1, "100MB", "")));
    // 1.5 ms at 20 Gbit/s are 3,750,000 bytes, of which 1,024 in 1,106 are payload (1,086 of frame, 20 of preamble and gap).
    let due = 3_750_000.0 * 1_024.0 / 1_106.0;
    assert!((alone[3] as f64 / due - 1.0).abs() < 0.01, "{alone:?} {due}");
}

#[test]
fn wrong_weights_and_rates_are_refused() {
    for (host, place, fix) in [
        (
            "scheduler = { ets = { weights = [1, 1, 1, 1, 1, 1, 1, 101] } }",
            "weights",
            "give 1 to 100",
        ),
        ("scheduler = { ets = { weights = [1, 1, 1, 1, 1, 1, 1, 1, 1] } }", "weights", "give 8"),
        ("shapers = { 3 = { rate = \"0bps\" } }", "host.shapers.3.rate", "above 0bps"),
        ("shapers = { 9 = { rate = \"1Gbps\" } }", "shapers", ""),
    ] {
        let error = try_plan(&text(host, &flow(3, 1, "1MB", ""))).expect_err(host).to_string();
        assert!(error.contains(place) && error.contains(fix), "{host}: {error}");
    }
}
