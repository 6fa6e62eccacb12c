//! Whatever the wire does, each byte is delivered once and in order, and it ends.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use proptest::prelude::*;
use rocelab_transport::tcp::TcpParameters;
use rocelab_units::{Bytes, Duration};

use crate::wire::{Fate, Pair, parameters};

/// How often out of 1000 each fault happens.
#[derive(Clone, Copy, Debug)]
struct Faults {
    drop: u64,
    duplicate: u64,
    delay: u64,
    mark: u64,
}

fn faults() -> impl Strategy<Value = Faults> {
    let rate = || prop_oneof![Just(0), 1..50_u64, 50..300_u64];
    (rate(), rate(), rate(), rate()).prop_map(|(drop, duplicate, delay, mark)| Faults {
        drop,
        duplicate,
        delay,
        mark,
    })
}

/// SplitMix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Faults {
    fn fate(self, state: &mut u64) -> Fate {
        let die = draw(state) % 1_000;
        let later = Duration::from_ns(draw(state) % 200_000);
        let mut below = self.drop;
        if die < below {
            return Fate::Drop;
        }
        below += self.duplicate;
        if die < below {
            return Fate::Duplicate(later);
        }
        below += self.delay;
        if die < below {
            return Fate::Delay(later);
        }
        below += self.mark;
        if die < below { Fate::Mark } else { Fate::Deliver }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_byte_once_and_in_order(
        seed: u64, faults in faults(), initial_sequence: u32,
        algorithm in prop::sample::select(vec!["reno", "cubic", "dctcp"]),
        bytes in 1..400_000_u64, ecn: bool, window in 3_000..200_000_u64,
        delays in (0..20_u64, 0..20_u64, 0..20_u64), limit in 0..20_000_u64) {
        let parameters = TcpParameters {
            ecn,
            min_rto: Duration::from_ms(5),
            initial_rto: Duration::from_ms(10),
            max_rto: Duration::from_ms(100),
            receive_window: Bytes::new(window),
            output_limit: Bytes::new(limit),
            send_delay: Duration::from_us(delays.0),
            receive_delay: Duration::from_us(delays.1),
            jitter: Duration::from_us(delays.2),
            ..parameters(algorithm)
        };
        let mut pair = Pair::with_connections(parameters, 1, initial_sequence);
        pair.keep_log = false;
        // Which bytes left and were not dropped, by segment; what may be delivered at most.
        let sent = Rc::new(RefCell::new(BTreeSet::new()));
        let (noted, mut state) = (Rc::clone(&sent), seed);
        pair.rule = Box::new(move |departure| {
            let fate = faults.fate(&mut state);
            let segment = departure.segment;
            if departure.side == 0 && !matches!(fate, Fate::Drop) {
                let start = u64::from(segment.seq.wrapping_sub(initial_sequence));
                noted.borrow_mut().insert((start, start + u64::from(segment.payload_len)));
            }
            fate
        });
        pair.transfer(bytes);
        for _ in 0..400 {
            pair.run_until(pair.now + Duration::from_us(50));
            let prefix = sent.borrow().iter().fold(0, |prefix, &(start, end)| {
                if start <= prefix { end.max(prefix) } else { prefix }
            });
            prop_assert!(pair.receiver().delivered() <= prefix);
            prop_assert!(pair.sender().acknowledged() <= pair.receiver().delivered());
            prop_assert!(pair.sender().sent() <= pair.receiver().delivered() + window);
        }
        pair.run();
        pair.check_done(bytes);
    }
}
