//! Congestion control of InfiniBand (Annex A10): its equilibrium, and what Gran et al. (IPDPS 2010, CCGRID 2011) found of it on
//! hardware: victims regain much of what they had lost, the hot spot stays busy, and a parking lot becomes less unfair.

use rocelab_units::SimTime;

use super::congestion::{sending, two_switches};
use super::{flow, link, network};
use crate::support::{Run, plan, try_plan};

const CONTROL: &str = "[congestion_control.infiniband]\n";

fn head(control: &str) -> String {
    format!("[infiniband]\ndata_vls = 1\n{control}[roce]\npath_mtu = 4096\nack_interval = 16\n")
}

/// So many hosts at one switch send to another one.
fn incast(senders: usize, top: &str) -> String {
    let hosts = 0..=senders;
    let links: Vec<_> =
        hosts.map(|host| link((&format!("host-{host}"), "switch-0"), (100, 3))).collect();
    let sink = format!("host-{senders}");
    let flows: Vec<_> =
        (0..senders).map(|host| flow(&format!("host-{host}"), &sink, 4_000_000_000)).collect();
    format!("{top}{}", network(&format!("host-0..host-{senders}"), "switch-0", &links, &flows))
}

fn marks_until(run: &mut Run, ps: u64) -> u64 {
    run.run_until(SimTime::from_ps(ps));
    let now = run.simulation.progress().now;
    run.simulation.network().totals(now).ecn_marks
}

/// The index of each flow falls by one in each period of the timer, and rises by one with each mark: over a long time there is
/// one mark for each flow and period.
#[test]
fn in_equilibrium_there_is_one_mark_for_each_flow_and_period_of_the_timer() {
    const PERIOD_US: f64 = 153.6;
    for senders in [8, 16] {
        let top = format!("stop = \"41ms\"\n{}", head(CONTROL));
        let mut run = Run::new(plan(&incast(senders, &top)));
        let before = marks_until(&mut run, 10_000_000_000);
        let marks = marks_until(&mut run, 40_000_000_000) - before;
        let found = marks as f64 / senders as f64 / (30_000.0 / PERIOD_US);
        println!("{senders} flows: {found:.3} marks for each flow and period");
        assert!((0.9..=1.1).contains(&found), "{senders} flows: {found:.3}");
    }
}

/// With the least index i and the usual table, i packet times pass after each packet.
#[test]
fn a_packet_is_followed_by_as_many_packet_times_as_the_table_says() {
    for index in [1, 3, 15] {
        let control = format!("{CONTROL}ccti_min = {index}\n");
        let text = incast(1, &format!("stop = \"4ms\"\n{}", head(&control)));
        let found = sending(&text, &["host-0"])[0];
        let expected = 100.0 / f64::from(index + 1);
        // The first and the last packet of the window.
        assert!((found - expected).abs() < 0.003 * expected, "{index}: {found} and not {expected}");
    }
}

#[test]
fn victims_regain_much_and_a_parking_lot_becomes_less_unfair() {
    let hosts: Vec<_> = (0..7).map(|host| format!("host-{host}")).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let shares = |control: &str| {
        let text =
            two_switches(3, 3, 0, &head(control)).replace("stop = \"4ms\"", "stop = \"26ms\"");
        let text = text.replace("200000000B", "2000000000B");
        let mut run = Run::new(plan(&text));
        run.run_until(SimTime::from_ps(5_000_000_000));
        let before: Vec<u64> = hosts.iter().map(|host| run.sent(host, 0)).collect();
        run.run_until(SimTime::from_ps(25_000_000_000));
        let sent = hosts.iter().zip(before).map(|(host, before)| run.sent(host, 0) - before);
        sent.map(|bytes| bytes as f64 * 8.0 / 20e-3 / 1e9).collect::<Vec<_>>()
    };
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let (without, with) = (shares(""), shares(CONTROL));
    println!("without {without:.1?}, with {with:.1?} Gbit/s");
    // Three remote hosts, the victim, three local hosts.
    assert!(without[3] < 9.0 && with[3] > 30.0, "the victim");
    let hot = |all: &[f64]| all[..3].iter().chain(&all[4..]).sum::<f64>();
    assert!(hot(&with) > 85.0, "the hot spot carries {:.1} of 100 Gbit/s", hot(&with));
    let unfairness = |all: &[f64]| mean(&all[4..]) / mean(&all[..3]);
    assert!(unfairness(&without) > 2.9, "local hosts have three times the share of remote ones");
    assert!(unfairness(&with) < 2.5, "{:.2}", unfairness(&with));
}

/// Three hosts send over one link to a sink of 25 Gbit/s, and a victim shares the link: the hot port has one input.
fn one_input(top: &str) -> String {
    let mut links: Vec<_> =
        (0..4).map(|host| link((&format!("host-{host}"), "switch-0"), (100, 3))).collect();
    links.push(link(("host-4", "switch-1"), (25, 3)));
    links.push(link(("host-5", "switch-1"), (100, 3)));
    links.push(link(("switch-0", "switch-1"), (100, 3)));
    let flows: Vec<_> = (0..4)
        .map(|host| {
            let sink = if host == 3 { "host-5" } else { "host-4" };
            flow(&format!("host-{host}"), sink, 4_000_000_000)
        })
        .collect();
    format!("{top}{}", network("host-0..host-5", "switch-0..switch-1", &links, &flows))
}

/// The first switch, which four hosts feed, has credits at first, and is a root itself; then it is the victim of the second, and marks
/// where its port is named.
#[test]
fn ports_that_are_named_mark_without_credits() {
    let marks = |more: &str| {
        let control =
            format!("[infiniband.congestion_control]\nvictim_mask = \"none\"\n{more}{CONTROL}");
        let text = one_input(&format!("stop = \"3ms\"\n{}", head(&control)));
        let mut run = Run::new(plan(&text));
        run.run_until(SimTime::from_ps(2_900_000_000));
        let first = run.plan.topology.node_by_name("switch-0").expect("it is there");
        let ports = run.simulation.network().ports();
        ports.filter(|port| port.node == first).map(|port| port.counters.ecn_marks).sum::<u64>()
    };
    let as_root = marks("");
    // Its ports to hosts carry acknowledgements, which are too short to be marked.
    assert_eq!(marks("victim_ports = [\"switch-0:0..3\"]\n"), as_root);
    let as_both = marks("victim_ports = [\"switch-0:4\"]\n");
    println!("{as_root} marks as a root, {as_both} as a victim too");
    assert!(as_both > as_root, "{as_both} and not more than {as_root}");
    let wrong =
        one_input(&head("[infiniband.congestion_control]\nvictim_ports = [\"switch-9\"]\n"));
    let error = try_plan(&wrong).expect_err("there is none").to_string();
    assert!(error.contains("infiniband.congestion_control.victim_ports[0]"), "{error}");
}

#[test]
fn a_hot_spot_that_one_link_feeds_marks_and_its_victim_regains() {
    let rates = |control: &str| {
        let mut run = Run::new(plan(&one_input(&format!("stop = \"21ms\"\n{}", head(control)))));
        run.run_until(SimTime::from_ps(5_000_000_000));
        let before: Vec<u64> = (0..4).map(|host| run.sent(&format!("host-{host}"), 0)).collect();
        run.run_until(SimTime::from_ps(20_000_000_000));
        let sent =
            (0..4).zip(before).map(|(host, before)| run.sent(&format!("host-{host}"), 0) - before);
        sent.map(|bytes| bytes as f64 * 8.0 / 15e-3 / 1e9).collect::<Vec<_>>()
    };
    let (without, with) = (rates(""), rates(CONTROL));
    println!("without {without:.1?}, with {with:.1?} Gbit/s");
    assert!(without[3] < 9.0, "the victim has the share of the hot flows");
    assert!(with[3] > 40.0, "the victim has {:.1} Gbit/s", with[3]);
    let hot = with[..3].iter().sum::<f64>();
    assert!(hot > 0.85 * 25.0, "the hot spot carries {hot:.1} of 25 Gbit/s");
}
