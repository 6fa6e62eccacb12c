//! The livelock of go-back-0, and go-back-N, which ends it: `scenarios/sigcomm16-livelock.toml` and
//! `scenarios/sigcomm16-livelock-read.toml`.
//!
//! Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, section 4.1: messages of 4 MB
//! from A to B through one switch, which drops what has an IP identification that ends with 0xff:
//! one frame in 256. With go-back-0 the application's goodput was zero, while the link was fully
//! used; for SEND, WRITE and READ.

use rocelab_sim::Ending;

use super::bar_chart::{BarChart, Group};
use crate::support::{Run, shipped};

/// Go-back-N has at least this share of the lossless goodput.
const UNHARMED: f64 = 0.9;

/// Go-back-0 keeps A's link busy for at least this share of the run.
const LINE_RATE: f64 = 0.99;

/// Rate of the links (Gb/s).
const LINE: f64 = 40.0;

/// The drawing that `docs/livelock.md` shows.
const FIGURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/livelock.svg");

/// What came of a run.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Payload of complete messages over the time of the run (Gb/s).
    goodput: f64,
    /// Share of the run in which A's link was busy.
    link: f64,
    /// Complete messages.
    messages: u64,
}

fn outcome(verb: &str, overrides: &[(&str, &str)]) -> (Outcome, Run) {
    let (scenario, verb) = match verb {
        "read" => ("sigcomm16-livelock-read.toml", "read"),
        other => ("sigcomm16-livelock.toml", other),
    };
    let mut all = vec![("workload.flows.verb", verb)];
    all.extend(overrides);
    let mut run = Run::new(shipped(scenario, &all));
    run.finish();
    let seconds = run.simulation.now().ps() as f64 * 1e-12;
    let counters = run.simulation.network().nic_counters();
    let (bytes, frames) = run.port("host-0", 0);
    // A frame's preamble and gap occupy the link too: 20 bytes (IEEE 802.3).
    let busy = (bytes + 20 * frames) as f64 * 8.0 / (LINE * 1e9);
    let outcome = Outcome {
        goodput: counters.payload_delivered as f64 * 8.0 / seconds / 1e9,
        link: busy / seconds,
        messages: counters.messages_delivered,
    };
    (outcome, run)
}

#[test]
fn go_back_0_does_nothing_at_line_rate_and_go_back_n_hardly_notices() {
    let mut chart = BarChart::new(
        "Goodput where every 256th frame from A to B is lost (Gb/s)",
        LINE,
        &["no losses", "go-back-N", "go-back-0", "go-back-0: on the link"],
    );
    for verb in ["send", "write", "read"] {
        let (lossless, run) = outcome(verb, &[("faults", "[]")]);
        assert_eq!((run.ending, lossless.messages), (Some(Ending::Finished), 40), "{verb}");

        let (go_back_n, run) = outcome(verb, &[("roce.recovery", "go-back-n")]);
        assert_eq!((run.ending, go_back_n.messages), (Some(Ending::Finished), 40), "{verb}");
        let [fault] = run.simulation.network().fault_counts()[..] else { panic!("one rule") };
        assert_eq!(fault.acted, fault.matched / 256, "{verb}");
        assert!(fault.acted > 600, "{verb}: {fault:?}");

        let (go_back_0, run) = outcome(verb, &[]);
        assert_eq!(run.ending, Some(Ending::Stopped), "{verb}");
        assert_eq!(run.simulation.now().ps(), 50_000_000_000, "{verb}: it went on to the end");
        assert_eq!((go_back_0.goodput, go_back_0.messages), (0.0, 0), "{verb}");
        assert_eq!(run.simulation.network().nic_counters().timeouts, 0, "{verb}");
        assert!(go_back_0.link > LINE_RATE, "{verb}: {go_back_0:?}");
        assert!(go_back_n.goodput > UNHARMED * lossless.goodput, "{verb}: {go_back_n:?}");

        println!("{verb}: lossless {lossless:?}, go-back-N {go_back_n:?}, go-back-0 {go_back_0:?}");
        chart.groups.push(Group {
            name: verb.to_uppercase(),
            values: vec![
                lossless.goodput,
                go_back_n.goodput,
                go_back_0.goodput,
                go_back_0.link * LINE,
            ],
        });
    }
    chart.check(FIGURE);
}
