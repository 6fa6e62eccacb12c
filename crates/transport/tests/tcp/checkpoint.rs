//! A host that is saved, and loaded into one that is set up anew, goes on as if nothing had happened.

use proptest::prelude::*;
use rocelab_state::State;
use rocelab_transport::tcp::{
    SackBlocks, TcpCompletion, TcpConnectionConfig, TcpHost, TcpParameters, TcpRole, TcpSegment,
};
use rocelab_units::{Bytes, Duration, SimTime};

use crate::wire::{Fate, Pair, parameters};

fn saved(host: &TcpHost) -> Vec<u8> {
    let mut bytes = Vec::new();
    host.save(&mut bytes).unwrap();
    bytes
}

/// Puts hosts in the place of those of the pair that are set up anew, and loaded.
fn exchange(pair: &mut Pair) {
    for host in &mut pair.hosts {
        let bytes = saved(host);
        let mut anew = TcpHost::new(host.config().clone());
        let mut rest = &bytes[..];
        anew.load(&mut rest).unwrap();
        assert!(rest.is_empty(), "all that was saved was loaded");
        assert_eq!(saved(&anew), bytes, "what was loaded is what was saved");
        *host = anew;
    }
}

type Outcome = (
    Vec<(SimTime, usize, TcpSegment, Option<SackBlocks>)>,
    [Vec<(SimTime, TcpCompletion)>; 2],
    [Vec<u8>; 2],
);

#[derive(Clone, Debug)]
struct Case {
    parameters: TcpParameters,
    bytes: [u64; 3],
    faults: Vec<Fate>,
    step: u64,
}

impl Case {
    /// Runs to the end; at each stop a connection may come to its end, and come back.
    fn run(&self, mut at_stop: impl FnMut(&mut Pair)) -> Outcome {
        let mut pair = Pair::with_connections(self.parameters.clone(), 3, 0xffff_f000);
        let mut faults = self.faults.clone().into_iter();
        pair.rule = Box::new(move |_| faults.next().unwrap_or(Fate::Deliver));
        for (connection, &bytes) in (0..).zip(&self.bytes) {
            pair.transfer_on(connection, bytes);
        }
        for stop in 1..40 {
            pair.run_until(SimTime::from_ps(stop * self.step));
            at_stop(&mut pair);
            self.close_the_last(&mut pair);
        }
        if pair.hosts[1].connection(2).is_none() {
            self.close_the_last(&mut pair);
        }
        pair.run();
        let log = pair.log.iter().map(|d| (d.time, d.side, d.segment, d.sack)).collect();
        (log, pair.completions, pair.hosts.map(|host| saved(&host)))
    }

    /// Closes the receiving end of the last connection when it has all; opens it again, for what
    /// comes late, when that was done before.
    fn close_the_last(&self, pair: &mut Pair) {
        let host = &mut pair.hosts[1];
        let is_over = pair.completions[1].iter().any(|(_, end)| end.connection == 2);
        if host.connection(2).is_none() {
            let config = TcpConnectionConfig {
                number: 2,
                peer: 2,
                role: TcpRole::Receiver,
                destination: 7,
                entropy: 2,
                initial_sequence: 0xffff_f000,
            };
            host.open_again(config, self.bytes[2]);
        } else if is_over {
            host.close(2);
        }
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        3 => Just(Fate::Mark),
        2 => Just(Fate::Drop),
        1 => (0..200_000_u64).prop_map(|ns| Fate::Duplicate(Duration::from_ns(ns))),
        1 => (0..200_000_u64).prop_map(|ns| Fate::Delay(Duration::from_ns(ns))),
    ]
}

prop_compose! {
    fn case()(
        algorithm in prop::sample::select(vec!["reno", "cubic", "dctcp"]),
        ecn: bool, delays in (0..20_u64, 0..20_u64, 0..20_u64), limit in 0..20_000_u64,
        bytes in [1..200_000_u64, 1..200_000_u64, 1..20_000_u64],
        faults in prop::collection::vec(fate(), 0..400), step in 1_000_000..400_000_000_u64,
    ) -> Case {
        let parameters = TcpParameters {
            ecn,
            min_rto: Duration::from_us(500),
            initial_rto: Duration::from_ms(1),
            max_rto: Duration::from_ms(100),
            output_limit: Bytes::new(limit),
            send_delay: Duration::from_us(delays.0),
            receive_delay: Duration::from_us(delays.1),
            jitter: Duration::from_us(delays.2),
            ..parameters(algorithm)
        };
        Case { parameters, bytes, faults, step }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_loaded_goes_on_exactly(case in case()) {
        prop_assert_eq!(case.run(|_| ()), case.run(exchange));
    }

    #[test]
    fn damaged_bytes_are_refused_or_loaded_but_never_a_panic(
        case in case(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut hosts = Vec::new();
        case.run(|pair| hosts.push((saved(&pair.hosts[0]), pair.hosts[0].config().clone())));
        let (mut bytes, config) = hosts.swap_remove(1);
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = TcpHost::new(config).load(&mut &bytes[..]);
    }
}

#[test]
fn what_was_cut_off_is_an_error() {
    let mut pair = Pair::new(parameters("cubic"));
    pair.transfer(100_000);
    pair.run_until(SimTime::from_ps(300_000_000));
    let bytes = saved(&pair.hosts[0]);
    let load = |bytes: &[u8]| TcpHost::new(pair.hosts[0].config().clone()).load(&mut &bytes[..]);
    assert!(load(&bytes).is_ok());
    for end in 0..bytes.len() {
        assert!(load(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
    let other = Pair::new(parameters("reno")).hosts[0].config().clone();
    assert!(TcpHost::new(other).load(&mut &bytes[..]).is_err(), "another congestion control");
}
