//! Automatic path migration (IBTA, volume 1, clause 17.2.8): when a path fails, on request, and again.

use rocelab_sim::Ending;
use rocelab_transport::{CompletionStatus, PathMigration};

use crate::support::{Run, run};

/// Two racks over two spines; the fault takes what host-0 sends with the first UDP source port, and ends or does not.
fn text(roce: &str, fault: &str) -> String {
    format!(
        "[roce]\nack_timeout = 6\nretry_count = 2\nentropy = {{ list = [50000] }}\n{roce}\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 1\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
         {fault}[workload.flows]\nmessage = \"100KB\"\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"2MB\" }}]\n"
    )
}

fn migrations(run: &Run) -> Vec<PathMigration> {
    let all = run.simulation.network().path_migrations();
    all.into_iter().map(|(_, migration)| migration).collect()
}

/// The uplink of leaf-0 by which the connection's data goes, and one alternate path that shares no link with it: found by
/// breaking each uplink in turn.
fn broken_uplinks(roce: &str) -> Vec<(u32, CompletionStatus, usize)> {
    let broken = |port: u32| {
        let fault =
            format!("[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:{port}\"\nat = \"50us\"\n");
        let run = run(&format!("convergence = \"10s\"\n{}", text(roce, &fault)));
        assert_eq!(run.ending, Ending::Finished);
        (port, run.ends[0].status, migrations(&run).len())
    };
    (1..=4).map(broken).collect()
}

/// Data and acknowledgements take one uplink each, as many as four. Where one of them breaks, a connection without a second path
/// fails; with one, it goes on, unless that needs the same link.
#[test]
fn a_connection_survives_the_failure_of_its_path() {
    let plain = broken_uplinks("");
    let failed = |all: &[(u32, CompletionStatus, usize)]| -> Vec<u32> {
        let failed = all.iter().filter(|(_, status, _)| *status == CompletionStatus::RetryExceeded);
        failed.map(|(port, ..)| *port).collect()
    };
    let used = failed(&plain);
    assert!((1..=2).contains(&used.len()), "{plain:?}");
    let mut survived = 0;
    for alternate in 50_001..50_009 {
        let roce = format!("queue_pair = {{ alternate_path = {{ entropy = {alternate} }} }}");
        let migrated = broken_uplinks(&roce);
        for (port, status, migrations) in &migrated {
            if !used.contains(port) {
                assert_eq!((*status, *migrations), (CompletionStatus::Success, 0));
            } else if *status == CompletionStatus::Success {
                // The requester when its retries are exhausted, and the responder when it sees MigReq.
                assert_eq!(*migrations, 2, "{migrated:?}");
                survived += 1;
            }
        }
    }
    assert!(survived >= 4, "{survived}");
}

/// At 20 us the source's program asks for it: both ends take the other path, and no packet is lost.
#[test]
fn a_program_may_ask_for_it() {
    let roce = "queue_pair = { alternate_path = { migrate_at = \"20us\" } }";
    let run = run(&text(roce, ""));
    assert_eq!(run.ends[0].status, CompletionStatus::Success);
    let migrations = migrations(&run);
    assert_eq!(migrations.len(), 2);
    assert!(migrations.iter().all(|one| (20_000_000..60_000_000).contains(&one.time.ps())));
    assert_eq!(run.counters().timeouts, 0);
    assert_eq!(run.ends[0].retransmitted_packets, 0, "nothing is sent again");
}

/// The ACK timeout is 4.096 us x 2^6 = 262 us, with two retries: a connection gives up, or migrates, after the third.
#[test]
fn it_migrates_when_its_retries_are_exhausted() {
    let fault = "[[faults]]\nname = \"silent\"\naction = \"drop\"\nfrom = \"host-0\"\nafter = \"50us\"\nuntil = \"700us\"\n";
    let roce = "queue_pair = { alternate_path = {} }";
    let run = run(&text(roce, fault));
    assert_eq!(run.ends[0].status, CompletionStatus::Success);
    let first = migrations(&run)[0].time.ps();
    let timeout = 4_096_000 * 64;
    assert!((50_000_000 + 3 * timeout..70_000_000 + 3 * timeout).contains(&first), "{first}");
    assert_eq!(run.counters().timeouts, 3);
}
