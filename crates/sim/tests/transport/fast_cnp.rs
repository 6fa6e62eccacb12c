//! `[[ingress.fast_cnp]]`: whom switches notify of congestion, and who obeys.

use rocelab_sim::Ending;
use rocelab_sim::network::Totals;

use crate::support::{Run, run};

const FAST_CNP: &str =
    "[[ingress.fast_cnp]]\nports = [\"switch-0\"]\nthreshold = \"20KB\"\ninterval = \"10us\"\n";

/// Two senders to one host at 100 Gb/s, without marks.
fn text(roce: &str, algorithm: &str, more: &str) -> String {
    format!(
        "[roce]\n{roce}\n[topology.single-switch]\nhosts = 4\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.{algorithm}]\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-2\", bytes = \"1MB\" }},\n\
         {{ from = \"host-1\", to = \"host-2\", bytes = \"1MB\" }},\n\
         {{ from = \"host-0\", to = \"host-3\", bytes = \"1KB\" }},\n]\n{more}"
    )
}

fn totals(run: &Run) -> Totals {
    assert!(run.ending == Ending::Finished && run.ends.len() == 3);
    run.simulation.network().totals(run.simulation.now())
}

#[test]
fn senders_into_a_long_queue_are_notified_and_slow_down() {
    for roce in ["", "ip = \"ipv6\"", "tagging = \"tagged\"", "recovery = \"go-back-0\""] {
        let (plain, fast) = (run(&text(roce, "dcqcn", "")), run(&text(roce, "dcqcn", FAST_CNP)));
        assert_eq!(totals(&plain).notifications.cnps, 0);
        let sent = totals(&fast).notifications.cnps;
        // Both senders, but each at most once in 10 us of a run that takes longer than 160 us.
        assert!(sent >= 2, "{sent} {roce}");
        assert!(sent <= 2 * (1 + fast.simulation.now().ps() / 10_000_000), "{sent} {roce}");
        let counters = fast.counters();
        assert_eq!((counters.cnps_received, counters.cnps_sent.packets), (sent, 0), "{roce}");
        // They were cut to less than the link's rate, and without it they are never.
        assert!(fast.simulation.now() > plain.simulation.now(), "{roce}");
    }
}

#[test]
fn algorithms_without_cnps_receive_them_and_go_on_as_before() {
    let (plain, fast) = (run(&text("", "none", "")), run(&text("", "none", FAST_CNP)));
    assert!(totals(&fast).notifications.cnps > 0);
    let ends = |run: &Run| run.ends.iter().map(|end| end.finished.ps()).collect::<Vec<_>>();
    // CNPs take some time of the links to the senders, on which only ACKs are.
    let late = ends(&fast).into_iter().zip(ends(&plain)).map(|(fast, plain)| fast.abs_diff(plain));
    assert!(late.max().is_some_and(|late| late < 100_000), "{:?} {:?}", ends(&fast), ends(&plain));
}

#[test]
fn a_queue_below_the_threshold_makes_no_notification() {
    let high = FAST_CNP.replace("20KB", "900MB");
    assert_eq!(totals(&run(&text("", "dcqcn", &high))).notifications.cnps, 0);
    // By the port of host-3 nothing comes in but acknowledgements.
    let other = FAST_CNP.replace("\"switch-0\"", "\"switch-0:3\"");
    assert_eq!(totals(&run(&text("", "dcqcn", &other))).notifications.cnps, 0);
}
