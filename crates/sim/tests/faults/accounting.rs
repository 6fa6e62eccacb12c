//! Frames that faults make or take are accounted for, at every moment.

use crate::support::{TEN_PACKETS, run};

#[test]
fn a_link_that_loses_everything_fails_the_flow() {
    let text = TEN_PACKETS.replace("[roce]", "[roce]\nretry_count = 3");
    let run = run(&format!("{text}[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\n"));
    let sent = run.fault();
    // Ten packets; what go-back-N sends again after three timeouts.
    assert_eq!(sent, (40, 40));
    assert_eq!((run.drops("fault"), run.counters().timeouts), (40, 4));
    assert_eq!(run.simulation.network().flow_counts(), (0, 1, 1));
    assert_eq!(run.totals().frames_created, 40);
}
