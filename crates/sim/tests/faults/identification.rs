//! The IPv4 identification counts the frames that a host transmits, and the pattern of SIGCOMM'16
//! goes by it.

use crate::support::{TEN_PACKETS, capture, run};

#[test]
fn it_counts_every_frame_that_a_host_transmits() {
    let lossy = "[[faults]]\naction = \"drop\"\nfrom = \"host-0\"\nnth = 4\n";
    for text in [TEN_PACKETS.to_owned(), format!("{TEN_PACKETS}{lossy}")] {
        for host in ["host-0", "host-1"] {
            let (_, sent, _) = capture(&text, host);
            let found: Vec<u16> = sent.iter().map(|frame| frame.identification()).collect();
            let expected: Vec<u16> = (0..).take(sent.len()).collect();
            assert_eq!(found, expected, "{host}");
        }
    }
}

/// 3,000 packets, of which some are lost on the second link.
fn pattern(version: &str) -> String {
    format!(
        "[roce]\nack_timeout = 8\nack_interval = 16\n{version}\n[topology.single-switch]\n\
         hosts = 2\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [workload.flows]\n\
         list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"3000KiB\" }}]\n\
         [[faults]]\naction = \"drop\"\npattern = \"ip-identification\"\n\
         from = \"switch-0\"\nto = \"host-1\"\n"
    )
}

#[test]
fn one_in_256_of_a_host_is_lost_whatever_it_is_encapsulated_in() {
    for version in ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""] {
        let run = run(&pattern(version));
        run.assert_complete();
        let sent = 3_000 + run.counters().retransmitted.packets;
        assert_eq!(run.fault(), (sent, sent / 256), "{version}");
        assert_eq!(run.drops("fault"), sent / 256);
    }
}

#[test]
fn those_are_lost_whose_low_byte_is_ff() {
    let (_, sent, _) = capture(&pattern("version = 2"), "switch-0:1");
    let (run, _, received) = capture(&pattern("version = 2"), "host-1");
    run.assert_complete();
    let lost = sent.iter().filter(|frame| frame.identification() & 0xff == 0xff).count();
    assert!(lost >= 11, "{lost}");
    assert_eq!(sent.len(), received.len() + lost);
    assert!(received.iter().all(|frame| frame.identification() & 0xff != 0xff));
}
