//! Who gets an egress port that two priorities want.

use rocelab_units::SimTime;

use crate::support::{Run, plan};

/// Bytes that host-1 (priority 1) and host-2 (priority 2) send to host-0 in 1 to 5 ms.
fn shares(scheduler: &str, mtus: u32) -> (f64, f64) {
    let text = format!(
        "stop = \"6ms\"\n[roce]\npath_mtu = {mtus}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [switch]\nlossless = [1, 2]\nscheduler = {scheduler}\nbuffer = \"2MB\"\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-1\", to = \"host-0\", bytes = \"1GB\", priority = 1 }},\n\
         {{ from = \"host-2\", to = \"host-0\", bytes = \"1GB\", priority = 2 }},\n]\n"
    );
    let mut run = Run::new(plan(&text));
    run.run_until(SimTime::from_ps(1_000_000_000));
    let before = [run.sent("host-1", 0), run.sent("host-2", 0)];
    run.run_until(SimTime::from_ps(5_000_000_000));
    let after = [run.sent("host-1", 0), run.sent("host-2", 0)];
    assert_eq!(run.totals().frames_dropped, 0);
    ((after[0] - before[0]) as f64, (after[1] - before[1]) as f64)
}

#[test]
fn dwrr_shares_by_weight() {
    for (weights, ratio) in [("[1, 1, 1]", 1.0), ("[1, 1, 3]", 3.0), ("[1, 4, 1]", 0.25)] {
        for mtu in [256, 1024, 4096] {
            let (first, second) = shares(&format!("{{ dwrr = {{ weights = {weights} }} }}"), mtu);
            let measured = second / first;
            println!("weights {weights}, MTU {mtu}: 1 : {measured:.4}");
            assert!((measured / ratio - 1.0).abs() < 0.01, "{measured} of {ratio}");
        }
    }
}

#[test]
fn strict_priority_starves_the_lower_one() {
    let (lower, higher) = shares("\"strict\"", 1024);
    println!("strict: {lower} and {higher} bytes in 4 ms");
    assert!(lower < higher * 1e-3, "{lower} and {higher}");
    // The higher one has the link to itself: 50 MB in 4 ms, but for gaps and preambles.
    assert!(higher > 0.97 * 50e6, "{higher}");
}
