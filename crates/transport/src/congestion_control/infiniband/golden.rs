//! The rules of Annex A10 as Linux's hfi1 has them, step by step.

use rocelab_state::State as _;
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::super::testing::{ack, path, serve_timers};
use super::*;

const LINE: Bandwidth = Bandwidth::from_gbps(96);

fn build(text: &str) -> Box<dyn CongestionControl> {
    let parameters: Parameters = toml::from_str(text).expect("parameters");
    assert_eq!(parameters.validate(), Ok(()));
    parameters.build(&path(LINE))
}

fn at(ns: u64) -> SimTime {
    SimTime::ZERO + Duration::from_ns(ns)
}

/// Rate of CCTI i with the usual table.
fn line_over(parts: u64) -> Bandwidth {
    Bandwidth::from_bps(LINE.bits_per_second() / parts)
}

#[test]
fn n_flows_of_one_sink_have_their_share_at_index_n_minus_1() {
    let mut control = build("");
    for parts in 1..=128 {
        assert_eq!(control.rate(), line_over(parts));
        control.on_cnp(at(0));
    }
    assert_eq!(control.rate(), line_over(128), "the limit");
}

#[test]
fn the_timer_takes_one_step_each_153_600_ns_and_no_notification_puts_it_off() {
    let mut control = build("");
    (0..3).for_each(|time| control.on_cnp(at(time * 50_000)));
    assert_eq!(control.rate(), line_over(4));
    for (time, parts) in [(153_599, 4), (153_600, 3), (307_200, 2), (460_799, 2), (460_800, 1)] {
        serve_timers(control.as_mut(), at(time));
        assert_eq!(control.rate(), line_over(parts), "{time}");
    }
    let next = control.timers().map(|timers| timers.next());
    assert_eq!(next, Some(SimTime::NEVER), "nothing is left to be done");
    control.on_cnp(at(1_000_000));
    serve_timers(control.as_mut(), at(1_153_599));
    assert_eq!(control.rate(), line_over(2), "it starts anew");
}

#[test]
fn the_index_stays_between_min_and_limit() {
    let mut control =
        build("ccti_min = 2\nccti_limit = 9\nccti_increase = 5\nccti_timer = \"1.024us\"");
    assert_eq!(control.rate(), line_over(3), "it starts at the least one");
    control.on_cnp(at(0));
    assert_eq!(control.rate(), line_over(8));
    control.on_cnp(at(0));
    assert_eq!(control.rate(), line_over(10));
    serve_timers(control.as_mut(), at(1_000_000));
    assert_eq!(control.rate(), line_over(3));
}

#[test]
fn acknowledgements_count_only_with_becn() {
    let mut control = build("notification = \"ack\"");
    control.on_ack(&ack(0, 0));
    assert_eq!(control.rate(), LINE);
    control.on_ack(&Ack { ecn_echo: true, ..ack(0, 0) });
    assert_eq!(control.rate(), line_over(2));
}

#[test]
fn a_table_says_the_delays() {
    let mut control = build("ccti_limit = 2\ntable = [\"0:0\", \"2:1\", \"1:3\"]");
    control.on_cnp(at(0));
    assert_eq!(control.rate(), Bandwidth::from_bps(76_800_000_000), "96 / (1 + 1/4)");
    control.on_cnp(at(0));
    assert_eq!(control.rate(), Bandwidth::from_bps(38_400_000_000), "96 / (1 + 3/2)");
}

/// A branch of a run has another limit than that up to which the index had risen.
#[test]
fn an_index_above_a_new_limit_falls_to_it_at_the_next_step() {
    let mut before = build("");
    (0..20).for_each(|_| before.on_cnp(at(0)));
    assert_eq!(before.rate(), line_over(21));
    let mut saved = Vec::new();
    before.save(&mut saved).unwrap();
    let mut branch = build("ccti_limit = 4");
    branch.load(&mut &saved[..]).unwrap();
    serve_timers(branch.as_mut(), at(153_600));
    assert_eq!(branch.rate(), line_over(5), "not that of the line, which no entry would say");
    serve_timers(branch.as_mut(), at(307_200));
    assert_eq!(branch.rate(), line_over(4));
}
