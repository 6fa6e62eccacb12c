//! QCN on RoCE v1 against PFC alone: `scenarios/qcn-long-flows.toml`. The expectations stand in
//! `docs/experiments/qcn-long-flows.md`, which was written before the first run.

use rocelab_sim::network::{PauseEvent, RecordKind};
use rocelab_units::SimTime;

use super::{PS_PER_MS, jain};
use crate::support::{Run, shipped};

/// How many times fewer pauses there are with QCN than without.
const FEWER: usize = 10;

/// When the start is over (ms).
const SETTLED: u64 = 20;

/// The end (ms).
const END: u64 = 100;

/// The least share of the link that is used with QCN.
const USED: f64 = 0.9;

/// The longest queue with QCN after the start (bytes).
const LONGEST: u64 = 700_000;

/// Pauses of PFC alone.
const ALONE: std::ops::Range<usize> = 50_000..200_000;

/// What a run shows.
#[derive(Debug)]
struct Shown {
    pauses: usize,
    late_pauses: usize,
    /// Share of the congested link that is used from [`SETTLED`] on, preambles and gaps included.
    used: f64,
    /// The longest queue that was sampled from [`SETTLED`] on (bytes).
    longest: u64,
    cnms: u64,
    /// Notifications, and the longest queue, until [`SETTLED`] (bytes).
    early: (u64, u64),
    /// Jain's index of what the senders send from [`SETTLED`] on.
    fairness: f64,
}

fn shown(seed: u32, overrides: &[(&str, &str)]) -> Shown {
    let seed = seed.to_string();
    let mut all = vec![
        ("seed", &*seed),
        ("sample.queues.interval", "1us"),
        ("sample.queues.ports", "[\"switch-0:8\"]"),
    ];
    all.extend(overrides);
    let mut run = Run::new(shipped("qcn-long-flows.toml", &all));
    let settled = SimTime::from_ps(SETTLED * PS_PER_MS);
    run.run_until(settled);
    let before = run.port("switch-0", 8);
    let senders: Vec<String> = (0..8).map(|host| format!("host-{host}")).collect();
    let each = |run: &Run| senders.iter().map(|host| run.sent(host, 0)).collect::<Vec<_>>();
    let sent = each(&run);
    let early = (run.totals().notifications.cnms, longest_queue(&run, SimTime::ZERO));
    run.finish();
    let sent = each(&run).into_iter().zip(sent).map(|(after, before)| (after - before) as f64);
    let fairness = jain(&sent.collect::<Vec<_>>());
    let (bytes, frames) = run.port("switch-0", 8);
    let on_wire = (bytes - before.0) + 20 * (frames - before.1);
    let begins = |event: &PauseEvent| matches!(event, PauseEvent::Pause);
    let pauses = run.pauses();
    let pauses: Vec<SimTime> =
        pauses.iter().filter(|(_, change)| begins(&change.event)).map(|(time, _)| *time).collect();
    let totals = run.totals();
    assert_eq!(totals.frames_dropped, 0);
    Shown {
        pauses: pauses.len(),
        late_pauses: pauses.iter().filter(|&&time| time > settled).count(),
        used: on_wire as f64 * 8.0 / (40e9 * (END - SETTLED) as f64 * 1e-3),
        longest: longest_queue(&run, settled),
        cnms: totals.notifications.cnms,
        early,
        fairness,
    }
}

/// The longest queue that was sampled after `from` (bytes).
fn longest_queue(run: &Run, from: SimTime) -> u64 {
    let late = run.records.iter().filter(|record| record.key.time > from);
    let lengths = late.filter_map(|record| match record.kind {
        RecordKind::Queue(length) => Some(u64::from(length.bytes)),
        _ => None,
    });
    lengths.max().unwrap_or(0)
}

#[test]
fn qcn_spares_pauses() {
    let mut all = Vec::new();
    for seed in 1..=3 {
        let alone = shown(seed, &[("congestion_control.none", "{}")]);
        let with = shown(seed, &[]);
        for (name, shown) in [("PFC alone", &alone), ("QCN", &with)] {
            let (cnms, longest) = shown.early;
            println!("seed {seed}, {name}: {shown:?}");
            println!("until {SETTLED} ms {cnms} CNMs, queue {longest}; Jain {:.4}", shown.fairness);
        }
        all.push((alone, with));
    }
    for (alone, with) in all {
        assert_eq!(alone.cnms, 0, "nobody asks for them");
        assert!(with.cnms > 0);
        assert!(ALONE.contains(&alone.pauses), "{alone:?}");
        assert!(alone.pauses >= FEWER * with.pauses, "{alone:?} {with:?}");
        assert!(alone.late_pauses >= FEWER * with.late_pauses.max(1), "{alone:?} {with:?}");
        assert!(with.used >= USED, "{with:?}");
        assert!(with.longest < LONGEST, "{with:?}");
    }
}
