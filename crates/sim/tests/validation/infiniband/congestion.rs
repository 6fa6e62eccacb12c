//! Congestion that spreads by credits: the shares that buffers leave to those who have no part in it, a hot spot, and what
//! static routes leave of a fat tree's bisection. The bands were written down before the first run.

use rocelab_subnet::Path;
use rocelab_units::SimTime;

use super::{flow, link, network};
use crate::support::{Dice, Run, plan};

/// The rate of all links [Gbit/s].
const RATE: f64 = 100.0;

/// How far shares may be from those of equal packets that take turns.
const SHARE_BAND: f64 = 0.03;

/// How far credits and pauses may be apart where both give the same shares.
const PAUSE_BAND: f64 = 0.10;

/// How far a hot spot may be from Pfister and Norton's formula (1985), which knows no buffers.
const HOT_SPOT_BAND: f64 = 0.10;

/// Rates of pairs, on average, over those that the routes alone would leave each: with queues by output behind the same
/// credits, little is lost.
const BISECTION_BAND: (f64, f64) = (0.85, 1.05);

/// What each host sends between 1 and 3 ms [Gbit/s].
pub(super) fn sending(text: &str, hosts: &[&str]) -> Vec<f64> {
    let mut run = Run::new(plan(text));
    run.run_until(SimTime::from_ps(1_000_000_000));
    let from = run.simulation.progress().now;
    let before: Vec<u64> = hosts.iter().map(|host| run.sent(host, 0)).collect();
    run.run_until(SimTime::from_ps(3_000_000_000));
    let seconds = run.simulation.progress().now.since(from).as_secs_f64();
    let rate =
        |(host, before): (&&str, u64)| (run.sent(host, 0) - before) as f64 * 8.0 / seconds / 1e9;
    hosts.iter().zip(before).map(rate).collect()
}

/// Two switches: `remote` hosts at the first send to the sink at the second, where `local` hosts do so too, and one more host
/// at the first sends to a sink of its own.
pub(super) fn two_switches(remote: usize, local: usize, victim_level: u8, head: &str) -> String {
    let hosts = remote + local + 3;
    let name = |host: usize| format!("host-{host}");
    let (victim, sinks) = (remote, [hosts - 2, hosts - 1]);
    let (mut links, mut flows) = (Vec::new(), Vec::new());
    for host in 0..hosts {
        let switch = if host <= remote { "switch-0" } else { "switch-1" };
        links.push(link((&name(host), switch), (100, 3)));
    }
    links.push(link(("switch-0", "switch-1"), (100, 3)));
    for host in 0..remote + 1 + local {
        let sink = if host == victim { sinks[1] } else { sinks[0] };
        let mut text = flow(&name(host), &name(sink), 200_000_000);
        if host == victim && victim_level > 0 {
            text = text.replace(" }", &format!(", priority = {victim_level} }}"));
        }
        flows.push(text);
    }
    let all = format!("host-0..host-{}", hosts - 1);
    format!("stop = \"4ms\"\n{head}{}", network(&all, "switch-0..switch-1", &links, &flows))
}

const CREDITS: &str = "[infiniband]\ndata_vls = 2\n[roce]\npath_mtu = 4096\nack_interval = 16\n";

/// The same by pauses.
const PAUSES: &str = "[roce]\npath_mtu = 4096\nack_interval = 16\n[congestion_control.none]\n[switch]\nxoff = \"100KB\"\n";

fn assert_near(found: f64, expected: f64, band: f64, what: &str) {
    assert!(
        (found - expected).abs() <= band * expected,
        "{what}: {found:.2} and not {expected:.2}"
    );
}

#[test]
fn a_victim_has_the_share_of_those_that_it_waits_behind() {
    for (remote, local) in [(1, 1), (2, 1), (3, 1), (2, 3), (4, 2)] {
        let names: Vec<_> = (0..remote + 1 + local).map(|host| format!("host-{host}")).collect();
        let hosts: Vec<&str> = names.iter().map(String::as_str).collect();
        let share = RATE / (local + 1) as f64;
        let by_credits = sending(&two_switches(remote, local, 0, CREDITS), &hosts);
        let by_pauses = sending(&two_switches(remote, local, 0, PAUSES), &hosts);
        for (place, (credits, pauses)) in by_credits.iter().zip(&by_pauses).enumerate() {
            let is_local = place > remote;
            let expected = if is_local { share } else { share / remote as f64 };
            let what = format!("{remote} and {local}, host {place}");
            assert_near(*credits, expected, SHARE_BAND, &what);
            assert_near(*pauses, *credits, PAUSE_BAND, &format!("{what}, by pauses"));
        }
        println!(
            "{remote} remote and {local} local: {by_credits:.2?} by credits, {by_pauses:.2?} by pauses"
        );
    }
}

#[test]
fn a_lane_of_its_own_gives_the_victim_what_is_left() {
    for (remote, local) in [(2, 1), (3, 3)] {
        let victim = format!("host-{remote}");
        let rate = sending(&two_switches(remote, local, 1, CREDITS), &[&victim])[0];
        let expected = RATE - RATE / (local + 1) as f64;
        assert_near(rate, expected, SHARE_BAND, &format!("{remote} and {local}"));
    }
}

/// Each source sends to all others, and so many times more to one of them: once its link is full, all traffic waits for
/// it, hot or not.
#[test]
fn a_hot_spot_slows_everybody_down() {
    const HOSTS: usize = 16;
    for extra in [2, 4, 8] {
        let (mut flows, sources) = (Vec::new(), HOSTS - 1);
        for from in 0..sources {
            for to in (0..HOSTS).filter(|&to| to != from) {
                let times = if to == sources { 1 + extra } else { 1 };
                let one = || flow(&format!("host-{from}"), &format!("host-{to}"), 50_000_000);
                flows.extend(std::iter::repeat_with(one).take(times));
            }
        }
        let links: Vec<_> =
            (0..HOSTS).map(|host| link((&format!("host-{host}"), "switch-0"), (100, 3))).collect();
        let text = format!(
            "stop = \"4ms\"\n{CREDITS}{}",
            network("host-0..host-15", "switch-0", &links, &flows)
        );
        let names: Vec<_> = (0..sources).map(|host| format!("host-{host}")).collect();
        let rates = sending(&text, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let share = (1 + extra) as f64 / (sources - 1 + extra) as f64;
        let expected = RATE / (sources as f64 * share);
        println!(
            "{extra} more flows: {mean:.2} Gbit/s of each source, by the formula {expected:.2}"
        );
        assert_near(mean, expected, HOT_SPOT_BAND, "hot spot");
    }
}

/// Half of the hosts send to the other half, each to one, at random.
#[test]
fn static_routes_leave_what_their_links_leave() {
    const HOSTS: usize = 16;
    let mut dice = Dice::new("bisection", 1);
    let (mut found, mut routed) = (0.0, 0.0);
    for _ in 0..12 {
        let mut hosts: Vec<usize> = (0..HOSTS).collect();
        for place in (1..HOSTS).rev() {
            let other = usize::try_from(dice.between(0, place as u64)).expect("small");
            hosts.swap(place, other);
        }
        let pairs: Vec<_> = hosts[..8].iter().zip(&hosts[8..]).collect();
        let flows: Vec<_> = pairs
            .iter()
            .map(|(from, to)| flow(&format!("host-{from}"), &format!("host-{to}"), 100_000_000))
            .collect();
        let text = format!(
            "stop = \"4ms\"\n[infiniband]\ndata_vls = 1\n[infiniband.sm]\nengine = \"ftree\"\n[roce]\npath_mtu = 4096\n\
             ack_interval = 16\n[topology.leaf-spine]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\nhost_link = {{ rate \
             = \"100Gbps\", cable = \"3m\" }}\nfabric_link = {{ rate = \"100Gbps\", cable = \"3m\" \
             }}\n[workload.flows]\nlist = [{}]\n",
            flows.join(",")
        );
        let names: Vec<_> = pairs.iter().map(|(from, _)| format!("host-{from}")).collect();
        let rates = sending(&text, &names.iter().map(String::as_str).collect::<Vec<_>>());
        found += rates.iter().sum::<f64>() / RATE / 8.0;
        routed += by_routes(&text, &pairs) / 8.0;
    }
    println!("rates of pairs: {:.3} of the link, by the routes {:.3}", found / 12.0, routed / 12.0);
    let (least, most) = BISECTION_BAND;
    assert!((least..=most).contains(&(found / routed)), "{found} {routed}");
}

/// What the most loaded link of each pair's way leaves to it, summed over pairs, in parts of a link.
fn by_routes(text: &str, pairs: &[(&usize, &usize)]) -> f64 {
    let plan = plan(text);
    let routed = &plan.infiniband.as_ref().expect("it is of InfiniBand").routed;
    let node = |host: &usize| plan.topology.node_by_name(&format!("host-{host}")).expect("a host");
    let ways: Vec<_> = pairs
        .iter()
        .map(|(from, to)| {
            let leaf = plan.topology.adjacency().ports_of(node(from))[0].node as usize;
            let switch = routed.subnet.switches().iter().position(|&one| one == leaf);
            let lid = routed.lid(node(to)).expect("a host has a LID");
            let tables = &routed.routing.tables.forwarding;
            match tables.path(&routed.subnet, switch.expect("a switch"), lid) {
                Path::Delivered(channels) => channels,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    let load = |channel| ways.iter().filter(|way| way.contains(channel)).count();
    ways.iter().map(|way| 1.0 / way.iter().map(load).max().unwrap_or(1) as f64).sum()
}
