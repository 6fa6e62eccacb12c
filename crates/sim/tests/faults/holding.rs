//! Frames that arrive late: in order, or not.

use rocelab_units::SimTime;

use crate::support::{TEN_PACKETS, arrivals, rule};

const LAST_LINK: &str = "[[faults]]\nfrom = \"switch-0\"\nto = \"host-1\"\n";

#[test]
fn a_frame_is_overtaken_by_as_many_as_the_rule_says() {
    for (behind, expected) in
        [(1, [0, 2, 1, 3, 4, 5]), (2, [0, 2, 3, 1, 4, 5]), (3, [0, 2, 3, 4, 1, 5])]
    {
        let keys = format!("action = \"reorder\"\nnth = 2\nbehind = {behind}");
        for place in [rule(&keys), format!("{LAST_LINK}{keys}\n")] {
            let (run, offsets, _) = arrivals(&format!("{TEN_PACKETS}{place}"));
            run.assert_complete();
            // What go-back-N sends again comes soon after.
            assert_eq!(offsets[..behind + 2], expected[..behind + 2], "{place}");
            assert_eq!(run.fault().1, 1);
            assert!(run.counters().naks_sent.packets > 0, "go-back-N takes it for a loss");
        }
    }
}

#[test]
fn two_that_are_held_back_keep_their_order() {
    let keys = "action = \"reorder\"\nevery = 1\ncount = 2\nbehind = 2\n";
    let (run, offsets, _) = arrivals(&format!("{TEN_PACKETS}{LAST_LINK}{keys}"));
    run.assert_complete();
    assert_eq!(offsets[..5], [2, 3, 0, 1, 4]);
}

#[test]
fn what_nothing_follows_is_held_back_for_a_millisecond() {
    let (_, _, undisturbed) = arrivals(TEN_PACKETS);
    // The acknowledgement timeout is longer, so that nothing comes behind the last packet.
    let text = TEN_PACKETS.replace("ack_timeout = 8", "ack_timeout = 10");
    let keys = "action = \"reorder\"\nnth = 10\nbehind = 1\n";
    let (run, offsets, times) = arrivals(&format!("{text}{LAST_LINK}{keys}"));
    run.assert_complete();
    assert_eq!(offsets, (0..10).collect::<Vec<_>>());
    assert_eq!(times[9], undisturbed[9] + 1_000_000);
    assert_eq!(run.counters().timeouts, 0);
}

#[test]
fn a_time_lets_all_overtake_that_come_within_it() {
    let (_, _, undisturbed) = arrivals(TEN_PACKETS);
    let keys = "action = \"reorder\"\nnth = 2\ndelay = \"200ns\"\n";
    let (run, offsets, times) = arrivals(&format!("{TEN_PACKETS}{LAST_LINK}{keys}"));
    run.assert_complete();
    // A frame takes 88.16 ns: two pass.
    assert_eq!(offsets[..4], [0, 2, 3, 1]);
    assert_eq!(times[3], undisturbed[1] + 200);
}

#[test]
fn a_delay_keeps_the_order() {
    let (_, _, undisturbed) = arrivals(TEN_PACKETS);
    let keys = "action = \"delay\"\nnth = 2\ndelay = \"300ns\"\n";
    let (run, offsets, times) = arrivals(&format!("{TEN_PACKETS}{LAST_LINK}{keys}"));
    run.assert_complete();
    assert_eq!(offsets, (0..10).collect::<Vec<_>>());
    assert_eq!((run.counters().retransmitted.packets, run.fault()), (0, (10, 1)));
    let late = undisturbed[1] + 300;
    let expected: Vec<u128> = undisturbed
        .iter()
        .enumerate()
        .map(|(place, &time)| if place == 0 { time } else { time.max(late) })
        .collect();
    assert_eq!(times, expected);
    assert!(times[1] == times[3] && times[5] > late, "three wait with it, the rest does not");
}

#[test]
fn delays_of_several_frames_add_nothing_up() {
    let (_, _, undisturbed) = arrivals(TEN_PACKETS);
    let keys = "action = \"delay\"\ndelay = \"5us\"\n";
    let (run, offsets, times) = arrivals(&format!("{TEN_PACKETS}{LAST_LINK}{keys}"));
    run.assert_complete();
    assert_eq!(offsets, (0..10).collect::<Vec<_>>());
    let expected: Vec<u128> = undisturbed.iter().map(|time| time + 5_000).collect();
    assert_eq!(times, expected);
}

#[test]
fn a_run_waits_for_a_frame_that_is_held_back() {
    // Nothing else moves for a second, and no timeout ever sends again.
    let text = TEN_PACKETS.replace("ack_timeout = 8", "ack_timeout = 0");
    let keys = "action = \"delay\"\nnth = 10\ndelay = \"1s\"\n";
    let (run, offsets, _) = arrivals(&format!("{text}{LAST_LINK}{keys}"));
    run.assert_complete();
    assert_eq!(offsets.len(), 10);
    assert!(run.ends[0].finished > SimTime::from_ps(1_000_000_000_000));
}
