//! Hashing flows onto paths collides: a permutation over a fabric of full bisection bandwidth
//! reaches well below all of it. Several papers on load balancing for data centres show the effect;
//! only its sign and rough size are held here.

use rocelab_units::SimTime;

use crate::support::{Run, plan, shipped};

#[test]
fn a_permutation_over_ecmp_wastes_part_of_the_fabric() {
    const HOSTS: u32 = 64;
    let mut sum = 0.0;
    const SEEDS: u32 = 5;
    for seed in 1..=SEEDS {
        let text = format!(
            "seed = {seed}\nstop = \"500us\"\n[topology.leaf-spine]\nleaves = 8\nspines = 8\n\
             hosts_per_leaf = 8\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
             [switch]\nbuffer = \"2MB\"\n[workload.permutation]\nbytes = \"100MB\"\n"
        );
        let mut run = Run::new(plan(&text));
        // What reaches the hosts: the first eight ports of every leaf lead down.
        let sent = |run: &Run| -> u64 {
            let down = (0..8).flat_map(|leaf| (0..8).map(move |port| (leaf, port)));
            down.map(|(leaf, port)| run.sent(&format!("leaf-{leaf}"), port)).sum()
        };
        run.run_until(SimTime::from_ps(200_000_000));
        let (from, before) = (run.simulation.progress().now, sent(&run));
        run.run_until(SimTime::from_ps(400_000_000));
        let seconds = run.simulation.progress().now.since(from).as_secs_f64();
        let bits = (sent(&run) - before) as f64 * 8.0;
        let share = bits / seconds / (f64::from(HOSTS) * 100e9);
        println!("seed {seed}: {:.1} % of the fabric", share * 100.0);
        assert!((0.3..0.85).contains(&share), "{share}");
        sum += share;
    }
    let mean = sum / f64::from(SEEDS);
    println!("mean: {:.1} %", mean * 100.0);
    assert!((0.4..0.75).contains(&mean), "{mean}");
}

/// Queue pairs on each spine of `scenarios/source-ports.toml`, with another choice of source ports.
fn queue_pairs_on_spines(entropy: &[(&str, &str)]) -> Vec<u64> {
    let mut run = Run::new(shipped("source-ports.toml", entropy));
    run.finish();
    // Port 0 of a leaf leads to its host. A flow is 1,954 packets, of 1,078 bytes but for the first and the last.
    (1..=4).map(|port| (run.sent("leaf-0", port) + 500_000) / (1_954 * 1_078)).collect()
}

#[test]
fn source_ports_that_are_chosen_spread_over_all_paths() {
    assert_eq!(queue_pairs_on_spines(&[]), [4, 4, 4, 4]);
    // What the scenario says of its seed.
    assert_eq!(queue_pairs_on_spines(&[("roce.entropy", "random")]), [4, 9, 1, 2]);
}
