//! What a scenario says to no effect: no error, but seldom what was meant.

use std::collections::BTreeSet;

use rocelab_fabric::{LoadBalancing, SwitchConfig};
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::{
    algorithms, connection_timers, endless_tcp, faults, forward_marks, keys, layer3, links,
    measure, multicast, neighbours, nvlink, sampling, unanswered, unfollowed,
};
use crate::plan::{Plan, SentMarkings};
use crate::scenario::{
    ClassConfig, ConnectionEntropy, EntryState, FailureKind, Fault, Forwarding, LearningConfig,
    Priority, RoceVersion, Scenario, ScenarioError,
};
use crate::workload;

/// See [`Planning::without_effect`](super::Planning::without_effect).
pub(super) fn without_effect(scenario: &Scenario, plan: &Plan) -> Vec<ScenarioError> {
    if plan.profile.hpcc_ns3().is_some() {
        return Vec::new();
    }
    let sent: BTreeSet<u8> = SentMarkings::of(plan).all().collect();
    let found = failures(scenario)
        .chain(convergence(scenario))
        .chain(switch_watchdog(scenario))
        .chain(nic_watchdog(scenario))
        .chain(fault_rules(scenario))
        .chain(faults::passed_over(scenario, plan))
        .chain(sampling::unsampled(scenario, plan))
        .chain(measure::nothing_starts(plan))
        .chain(empty_lists(scenario))
        .chain(classes(scenario, plan, &sent))
        .chain(markings_of_tcp(scenario))
        .chain(unmatched_code_points(scenario, plan, &sent))
        .chain(late_flows(plan))
        .chain(no_watchdog(scenario))
        .chain(unused_arp_timeout(scenario))
        .chain(unused_alpha(scenario))
        .chain(unused_load_balancing(scenario))
        .chain(unused_entropy(scenario))
        .chain(overtaking(scenario, plan))
        .chain(unheeded_notifications(plan))
        .chain(forward_marks::notes(scenario, plan))
        .chain(links::too_short(scenario, plan))
        .chain(layer3::unreachable(plan))
        .chain(neighbours::unused(&scenario.roce))
        .chain(multicast::unused(scenario))
        .chain(keys::parted(plan))
        .chain(keys::unused_partitions(scenario, plan))
        .chain(unreachable_xon(scenario))
        .chain(endless_tcp::endless_tcp(scenario, plan))
        .chain(connection_timers::too_short(plan))
        .chain(unanswered::notes(plan))
        .chain(nvlink::notes(scenario, plan))
        .chain(unfollowed::notes(scenario, plan));
    found.map(|fault| scenario.document.report(fault)).collect()
}

/// Whether frames have one path each: the spanning tree of version 1.
fn is_tree(scenario: &Scenario) -> bool {
    scenario.roce.version == RoceVersion::V1
        && scenario.layer2.forwarding == Forwarding::SpanningTree
}

/// Flow labels that no switch chooses a path by.
fn unused_entropy(scenario: &Scenario) -> Option<Fault> {
    let is_given = !matches!(scenario.roce.entropy, ConnectionEntropy::Random);
    (is_tree(scenario) && is_given).then(|| {
        Fault::at("roce.entropy", "frames have one path each, along the spanning tree")
            .help("leave it out, or use `layer2.forwarding = \"multipath\"`")
    })
}

/// A choice among paths, where frames have one path each.
fn unused_load_balancing(scenario: &Scenario) -> Option<Fault> {
    let unused = is_tree(scenario) && scenario.switch.load_balancing != LoadBalancing::Ecmp;
    unused.then(|| {
        Fault::at("switch.load_balancing", "frames have one path each, along the spanning tree")
            .value(scenario.switch.load_balancing.name())
            .help("leave it out, or use `layer2.forwarding = \"multipath\"`")
    })
}

/// Congestion notification packets of switches, where no algorithm follows them.
fn unheeded_notifications(plan: &Plan) -> Option<Fault> {
    let follows = |algorithm: &Algorithm| {
        matches!(algorithm.feedback(Bandwidth::default()), Feedback::Cnp { .. })
    };
    let unheeded =
        plan.switches_notify() && !plan.algorithms().iter().any(|algorithm| follows(algorithm));
    unheeded.then(|| {
        Fault::at("ingress", "switches send CNPs, and no congestion control follows them")
            .help("use `[congestion_control.dcqcn]`")
    })
}

/// Packets that overtake each other, and what takes that for something else.
fn overtaking<'a>(scenario: &'a Scenario, plan: &Plan) -> impl Iterator<Item = Fault> + use<'a> {
    let by_entropy = plan.common_queue_pair().path_entropy.numbers() > 1;
    let key = match by_entropy {
        true => "roce.path_entropy",
        false if scenario.infiniband.is_some() => "infiniband.sm.adaptive_routing",
        false => "switch.load_balancing",
    };
    let note = move |what: &str, help: &str| {
        Fault::at(key, format!("packets overtake each other, and {what}")).help(help)
    };
    let (spreads, service) = (plan.spreads_packets(), plan.service());
    let by_loss = scenario.roce.recovery.tolerance() == 0 && service.is_reliable();
    let recovery = (spreads && by_loss).then(|| {
        let what =
            format!("`{}` takes those that were overtaken for lost", scenario.roce.recovery.name());
        let packets = if scenario.infiniband.is_some() { 64 } else { 32 };
        note(&what, &format!("use `roce.recovery = {{ reordering = {{ packets = {packets} }} }}`"))
    });
    let is_unreliable = !service.is_reliable() && !service.is_datagram();
    let unreliable = (spreads && is_unreliable).then(|| {
        let what = "an unreliable connection drops messages whose packets arrive out of order";
        note(what, "use messages of one packet, or `roce.service = \"rc\"`")
    });
    let usable = algorithms::usable(scenario);
    let has_hops = |one: &algorithms::Named<'_>| {
        one.algorithm.telemetry().is_some_and(|kind| kind.max_hops().is_some())
    };
    let by_hop = usable.iter().find(|one| has_hops(one)).map(|one| one.algorithm.name());
    let telemetry = by_hop.filter(|_| spreads).map(|name| {
        let what = format!("`{name}` compares the telemetry of a hop with that of another path");
        note(&what, "use another congestion control")
    });
    recovery.into_iter().chain(unreliable).chain(telemetry)
}

/// Failures that begin when all is over.
fn failures(scenario: &Scenario) -> impl Iterator<Item = Fault> + '_ {
    let late = move |(index, at): (usize, SimTime)| {
        after_the_end(scenario, format!("failure[{index}].at"), at)
    };
    scenario.failure.iter().map(|failure| failure.at).enumerate().filter_map(late)
}

/// Rules for frames that arrive when all is over.
fn fault_rules(scenario: &Scenario) -> impl Iterator<Item = Fault> + '_ {
    let late = move |(index, after): (usize, Option<SimTime>)| {
        after_the_end(scenario, format!("faults[{index}].after"), after?)
    };
    scenario.faults.iter().map(|rule| rule.after).enumerate().filter_map(late)
}

fn after_the_end(scenario: &Scenario, key: String, at: SimTime) -> Option<Fault> {
    let stop = scenario.stop.filter(|&stop| at > stop)?;
    let fault = Fault::at(key, format!("the run is over by then: `stop` is {stop}"));
    Some(fault.help("give an earlier time, or a later `stop`"))
}

/// Time that routes take to follow links that never change.
fn convergence(scenario: &Scenario) -> Option<Fault> {
    let reroutes =
        |kind: FailureKind| matches!(kind, FailureKind::LinkDown | FailureKind::SwitchReboot);
    let is_used = scenario.failure.iter().any(|failure| reroutes(failure.kind));
    let none = scenario.convergence > Duration::ZERO && !is_used;
    none.then(|| {
        Fault::at("convergence", "no link goes down, so routes never change")
            .help("leave it out, or add a `[[failure]]` of kind \"link-down\" or \"switch-reboot\"")
    })
}

/// A watchdog of switches that looks too late, or waits too long, to see anything.
fn switch_watchdog(scenario: &Scenario) -> Option<Fault> {
    let (watchdog, stop) = (scenario.watchdog.switch.as_ref()?, scenario.stop?);
    let over = format!("the run is over by then: `stop` is {stop}");
    let last_look = (stop.ps() / watchdog.poll.ps()) * watchdog.poll.ps();
    if last_look == 0 {
        let fault = Fault::at("watchdog.switch.poll", over).value(watchdog.poll);
        return Some(fault.help("give a shorter time, or a later `stop`"));
    }
    // Nothing is paused from the very beginning.
    (watchdog.detect.ps() >= last_look).then(|| {
        Fault::at("watchdog.switch.detect", over)
            .value(watchdog.detect)
            .help("give a shorter time, or a later `stop`")
    })
}

/// A watchdog of NICs without a storm that lasts for long enough.
fn nic_watchdog(scenario: &Scenario) -> Option<Fault> {
    let watchdog = scenario.watchdog.nic.as_ref()?;
    let mut storms = scenario
        .failure
        .iter()
        .filter(|failure| failure.kind == FailureKind::PauseStorm)
        .peekable();
    if storms.peek().is_none() {
        let fault = Fault::at("watchdog.nic", "no NIC asks for pauses without end");
        return Some(fault.help("leave it out, or add a `[[failure]]` of kind \"pause-storm\""));
    }
    let is_seen = storms.any(|storm| {
        let lasts = storm.lasts.is_none_or(|lasts| watchdog.detect < lasts);
        lasts && scenario.stop.is_none_or(|stop| storm.at + watchdog.detect < stop)
    });
    (!is_seen).then(|| {
        Fault::at("watchdog.nic.detect", "every pause storm is over by then")
            .value(watchdog.detect)
            .help("give a shorter time, or let a storm last longer")
    })
}

/// Lists that name nobody.
fn empty_lists(scenario: &Scenario) -> impl Iterator<Item = Fault> + '_ {
    let nobody = |key: String, help: &str| Fault::at(key, "no host is named").help(help);
    let all = "name hosts, such as \"host-0\", or leave the key out for all of them";
    let routes = scenario.route.iter().enumerate().filter_map(move |(index, route)| {
        let none = route.destinations.as_ref().is_some_and(Vec::is_empty);
        none.then(|| nobody(format!("route[{index}].destinations"), all))
    });
    let receivers =
        scenario.slow_receiver.iter().enumerate().filter_map(move |(index, receiver)| {
            let none = receiver.hosts.as_ref().is_some_and(Vec::is_empty);
            none.then(|| nobody(format!("slow_receiver[{index}].hosts"), all))
        });
    let models = scenario.host_model.iter().enumerate().filter_map(move |(index, model)| {
        let none = model.hosts.as_ref().is_some_and(Vec::is_empty);
        none.then(|| nobody(format!("host_model[{index}].hosts"), all))
    });
    let entries = scenario.layer2.entry.iter().enumerate().filter_map(move |(index, entry)| {
        if entry.hosts.is_empty() {
            let key = format!("layer2.entry[{index}].hosts");
            return Some(nobody(key, "name hosts, such as \"host-0\""));
        }
        let known = [entry.mac, entry.arp].iter().all(|&state| state != EntryState::Gone);
        known.then(|| {
            Fault::at(format!("layer2.entry[{index}]"), "switches know all of these hosts anyway")
                .help("give `mac = \"gone\"` or `arp = \"gone\"`, or leave the entry out")
        })
    });
    routes.chain(receivers).chain(models).chain(entries)
}

/// Classes in which there is no flow and no connection of RDMA.
fn classes<'a>(
    scenario: &'a Scenario,
    plan: &'a Plan,
    sent: &'a BTreeSet<u8>,
) -> impl Iterator<Item = Fault> + 'a {
    let marks = move |priority: u8| {
        let mut classes = scenario.class.iter();
        let is_given = |(class, config): (&Priority, &ClassConfig)| {
            class.number() == priority && config.marking.is_some()
        };
        classes.any(is_given) && sent.contains(&priority)
    };
    let is_used = move |priority: u8| {
        marks(priority)
            || plan.flows.iter().any(|flow| flow.priority == priority && !flow.is_tcp())
            || crate::plan::network_connections(plan)
                .any(|(_, connection)| connection.priority == priority)
    };
    let unused =
        scenario.class.keys().map(|priority| priority.number()).filter(move |&p| !is_used(p));
    unused.map(|priority| {
        let message = format!("no RDMA flow or connection has priority {priority}");
        Fault::at(format!("class.{priority}"), message)
            .help("leave it out, or give a workload that `priority`")
    })
}

/// Code points of workloads whose frames are of TCP.
fn markings_of_tcp(scenario: &Scenario) -> impl Iterator<Item = Fault> + '_ {
    let priority = scenario.tcp.as_ref().map_or(0, |tcp| tcp.priority);
    workload::items(&scenario.workload).into_iter().filter_map(move |(name, item)| {
        let is_tcp = item.marking().is_some() && !item.transport().is_rdma();
        is_tcp.then(|| {
            let what = "frames of TCP have the code points of the class of `tcp.priority`";
            Fault::at(format!("{name}.marking"), what)
                .help(format!("leave it out, or give `class.{priority}.marking`"))
        })
    })
}

/// Code points that a switch's map has a priority for, and that no frame has in the trusted field.
fn unmatched_code_points<'a>(
    scenario: &'a Scenario,
    plan: &'a Plan,
    sent: &'a BTreeSet<u8>,
) -> impl Iterator<Item = Fault> + 'a {
    let of_all = ("switch".to_owned(), scenario.switch.clone());
    let overrides = scenario.switch.overrides.iter().enumerate();
    let overrides = overrides.filter(|(_, one)| one.priority_of.is_some()).map(|(index, one)| {
        let mut config = scenario.switch.clone();
        one.apply(&mut config);
        (format!("switch.override[{index}]"), config)
    });
    let maps = std::iter::once(of_all).chain(overrides);
    let maps = maps.filter(|(_, config)| !config.priority_of.is_empty());
    let mut told = BTreeSet::new();
    maps.flat_map(move |(section, config)| {
        let sent = plan.code_points_in(&config, sent.iter().copied());
        let unmatched = config.priority_of.clone().into_keys();
        let unmatched = unmatched
            .filter(|code| !code.parse().is_ok_and(|code: u8| sent.contains(&code)))
            .collect::<Vec<_>>();
        let news = unmatched.into_iter().filter(|code| told.insert((code.clone(), sent.clone())));
        let news: Vec<_> = news.collect();
        news.into_iter().map(move |code| {
            let all: Vec<_> = sent.iter().map(u8::to_string).collect();
            let (sends, help) = if all.is_empty() {
                ("no frame has that field".to_owned(), "use another `switch.trust`".to_owned())
            } else {
                let what = format!("no host sends code point {code} in the trusted field");
                let all = all.join(", ");
                (what, format!("hosts send {all}; give a `marking`, or leave the entry out"))
            };
            Fault::at(format!("{section}.priority_of.{code}"), sends).help(help)
        })
    })
}

/// Flows of which none starts before all is over. Some that start too late may be meant: arrivals that
/// go on.
fn late_flows(plan: &Plan) -> Option<Fault> {
    let stop = plan.stop?;
    let is_late = plan.flows.iter().all(|flow| flow.start > stop) && plan.apps.is_empty();
    (is_late && !plan.flows.is_empty()).then(|| {
        let message = format!("all flows start when the run is over: `stop` is {stop}");
        Fault::at("workload", message).help("let them start earlier, or give a later `stop`")
    })
}

/// A section of watchdogs that names none.
fn no_watchdog(scenario: &Scenario) -> Option<Fault> {
    let is_named = scenario.watchdog.switch.is_some() || scenario.watchdog.nic.is_some();
    (scenario.document.says("watchdog") && !is_named).then(|| {
        Fault::at("watchdog", "no watchdog is named")
            .help("write `[watchdog.switch]` or `[watchdog.nic]`, or leave it out")
    })
}

/// ARP on RoCE v1, which knows no IP addresses.
fn unused_arp_timeout(scenario: &Scenario) -> Option<Fault> {
    let timeout = scenario.layer2.learning.as_ref()?.arp_timeout;
    let is_set = timeout != LearningConfig::default().arp_timeout;
    (is_set && scenario.roce.version == RoceVersion::V1).then(|| {
        Fault::at("layer2.learning.arp_timeout", "RoCE v1 has no IP addresses to resolve")
            .help("leave it out")
    })
}

/// A dynamic threshold beside the fixed one that is in its place, unless an override puts that there.
fn unused_alpha(scenario: &Scenario) -> Option<Fault> {
    let (alpha, xoff) = (scenario.switch.alpha, scenario.switch.xoff?);
    let overrides = |key: &str| scenario.document.overrides(key);
    let is_meant = overrides("switch.xoff") && !overrides("switch.alpha");
    (alpha != SwitchConfig::default().alpha && !is_meant).then(|| {
        let message = format!("the fixed threshold `xoff` of {xoff} is in its place");
        Fault::at("switch.alpha", message).help("remove it, or `switch.xoff`")
    })
}

/// A threshold for senders to resume that would be below nothing.
fn unreachable_xon(scenario: &Scenario) -> Option<Fault> {
    let (offset, xoff) = (scenario.switch.xon_offset, scenario.switch.xoff?);
    let is_set = offset != SwitchConfig::default().xon_offset;
    (is_set && offset > xoff).then(|| {
        let message = format!("that is above `xoff`, {xoff}: senders resume when nothing is left");
        Fault::at("switch.xon_offset", message).help("give no more than `xoff`")
    })
}
