//! What an end waits for, as those see it who look from outside.

use rocelab_transport::tcp::{TcpLosses, TcpParameters, TcpStanding};
use rocelab_units::{Bytes, Duration, SimTime};

use crate::wire::{Fate, MSS, Pair, parameters};

fn us(us: u64) -> SimTime {
    SimTime::from_ps(us * 1_000_000)
}

#[test]
fn from_the_stack_over_the_port_to_the_window_and_the_end() {
    let mut pair = Pair::new(TcpParameters {
        initial_window: 2,
        send_delay: Duration::from_us(7),
        receive_delay: Duration::from_us(11),
        ..parameters("reno")
    });
    let stands = |pair: &Pair| pair.hosts[0].standing(0).unwrap();
    let waiting = |pair: &Pair| {
        let host = &pair.hosts[0];
        (host.waiting(0), host.leaving_stack(0).collect::<Vec<_>>())
    };
    assert_eq!(stands(&pair), TcpStanding::NoWork);
    pair.transfer(5 * MSS);
    assert_eq!((stands(&pair), waiting(&pair)), (TcpStanding::InStack, (2, vec![us(7); 2])));
    pair.run_until(us(7));
    assert_eq!((stands(&pair), waiting(&pair)), (TcpStanding::MaySend, (1, vec![])));
    pair.run_until(us(9));
    assert_eq!((stands(&pair), waiting(&pair)), (TcpStanding::CongestionWindow, (0, vec![])));
    // 1078 bytes at 10 Gb/s are 862.4 ns: two of them, 50 us, and the stack.
    pair.run_until(us(60));
    assert_eq!(pair.hosts[1].last_received(0), Some(SimTime::from_ps(69_724_800)));
    assert_eq!(pair.hosts[1].standing(0), Some(TcpStanding::NoWork));
    pair.run_until(us(70));
    assert_eq!(pair.hosts[1].standing(0), Some(TcpStanding::InStack), "an acknowledgement");
    // There and back: the window is 4 segments, and the last 3 leave.
    pair.run_until(us(160));
    assert_eq!(stands(&pair), TcpStanding::Unanswered);
    pair.run();
    assert_eq!(stands(&pair), TcpStanding::NoWork);
    assert_eq!(pair.hosts[1].last_received(0), None);
    assert_eq!(pair.hosts[0].standing(1), None, "there is no such connection");
    assert_eq!(pair.sender().losses(), TcpLosses::default());
}

#[test]
fn a_receive_window_is_told_from_a_congestion_window() {
    let mut pair =
        Pair::new(TcpParameters { receive_window: Bytes::new(2 * MSS), ..parameters("cubic") });
    pair.transfer(5 * MSS);
    pair.run_until(us(5));
    assert_eq!(pair.hosts[0].standing(0), Some(TcpStanding::ReceiveWindow));
}

#[test]
fn losses_are_counted_by_how_they_were_noticed() {
    for (segments, fast_retransmits, timeouts) in [(1, 0, 1), (6, 1, 0)] {
        let mut pair = Pair::new(parameters("reno"));
        let mut departures = 0;
        pair.rule = Box::new(move |_| {
            departures += 1;
            if departures == 1 { Fate::Drop } else { Fate::Deliver }
        });
        pair.transfer(segments * MSS);
        pair.run();
        pair.check_done(segments * MSS);
        assert_eq!(pair.sender().losses(), TcpLosses { fast_retransmits, timeouts });
    }
}
