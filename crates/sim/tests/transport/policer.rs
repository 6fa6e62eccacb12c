//! `[[ingress.policer]]`: how much passes, against what a token bucket lets pass.

use rocelab_sim::{Ending, ideal_fct};

use crate::support::{Run, run, try_plan};

/// 10 Gb/s and 50,000 bytes, for what `host-0` sends at 100 Gb/s.
const POLICER: &str =
    "[[ingress.policer]]\nports = [\"switch-0:0\"]\nrate = \"10Gbps\"\nburst = \"50KB\"";
const RATE: u64 = 10_000_000_000;
const BURST: u64 = 50_000;

fn text(top: &str, flows: &str, more: &str) -> String {
    format!(
        "{top}\n[topology.single-switch]\nhosts = 3\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [[workload.flows]]\n{flows}\n{POLICER}\n{more}"
    )
}

fn dropped(run: &Run) -> u64 {
    let totals = run.simulation.network().totals(run.simulation.now());
    assert_eq!(
        totals.drops.values().sum::<u64>(),
        totals.drops.get("policer").copied().unwrap_or(0)
    );
    totals.frames_dropped
}

/// Frames of `len` bytes that pass of `frames`, which follow each other at 100 Gb/s.
fn passing(frames: u64, len: u64) -> u64 {
    let gap_ps = (len + 20) * 80;
    let came = |place: u64| BURST * 8 + RATE * (place * gap_ps) / 1_000_000_000_000;
    // The bucket is full at the first frame, and never again.
    (0..frames).fold(0, |passed, place| passed + u64::from((passed + 1) * len * 8 <= came(place)))
}

#[test]
fn datagrams_pass_as_the_token_bucket_says() {
    for (top, headers) in [
        ("[roce]\nservice = \"ud\"", 14 + 20 + 8 + 12 + 8 + 4 + 4),
        ("[roce]\nservice = \"ud\"\nip = \"ipv6\"", 14 + 40 + 8 + 12 + 8 + 4 + 4),
        ("[roce]\nservice = \"uc\"", 14 + 20 + 8 + 12 + 4 + 4),
        ("[roce]\nservice = \"uc\"\nversion = 1", 14 + 40 + 12 + 4 + 4),
    ] {
        for forwarding in ["store-and-forward", "cut-through"] {
            let flows = "verb = \"send\"\nmessage = \"1000B\"\n\
                 list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }]";
            let run = run(&text(top, flows, &format!("[switch]\nforwarding = \"{forwarding}\"")));
            let passed = passing(1_000, 1_000 + headers);
            assert!((140..160).contains(&passed), "{passed}");
            assert_eq!(1_000 - dropped(&run), passed, "{top} {forwarding}");
        }
    }
}

/// However a reliable transport comes to terms with it: no more leaves the switch than the burst and the rate, and
/// all of it arrives at last.
#[test]
fn what_repeats_losses_stays_within_the_rate() {
    for (top, transport) in [
        ("[tcp]\ninitial_rto = \"1ms\"\nmin_rto = \"1ms\"", "transport = \"tcp\"\n"),
        ("[roce]\nack_timeout = 5", ""),
        ("[roce]\nack_timeout = 5\nrecovery = \"selective-repeat\"", ""),
    ] {
        let list = "list = [{ from = \"host-0\", to = \"host-1\", bytes = \"2MB\" }]";
        let text = text(top, &format!("{transport}{list}"), "");
        let run = run(&text);
        assert_eq!((run.ending, run.ends.len()), (Ending::Finished, 1), "{text}");
        assert!(dropped(&run) > 0, "{text}");
        let plan = try_plan(&text).expect("it runs");
        let switch = plan.topology.node_by_name("switch-0").expect("it is there");
        let network = run.simulation.network();
        let mut ports = network.ports();
        let left = ports.find(|view| (view.node, view.number) == (switch, 1));
        let bits = u128::from(left.expect("it is there").counters.bytes) * 8;
        let came = u128::from(RATE) * u128::from(run.simulation.now().ps()) / 1_000_000_000_000;
        assert!(bits <= u128::from(BURST) * 8 + came, "{bits} {came} {text}");
        assert!(bits > 2_000_000 * 8, "{bits}");
    }
}

/// A flow that the policer does not see, or that stays below its rate, is as fast as without it.
#[test]
fn what_conforms_is_not_touched() {
    for (priorities, flow) in [
        ("", "{ from = \"host-1\", to = \"host-2\", bytes = \"1MB\" }"),
        ("", "{ from = \"host-0\", to = \"host-2\", bytes = \"45KB\" }"),
        ("priorities = [4]", "{ from = \"host-0\", to = \"host-2\", bytes = \"1MB\" }"),
    ] {
        let text = text("", &format!("list = [{flow}]"), "")
            .replace("burst = \"50KB\"", &format!("burst = \"50KB\"\n{priorities}"));
        let run = run(&text);
        assert_eq!((run.ending, dropped(&run)), (Ending::Finished, 0), "{text}");
        let plan = try_plan(&text).expect("it runs");
        assert_eq!(run.ends[0].finished.ps(), ideal_fct(&plan, &plan.flows[0]).ps(), "{text}");
    }
}
