//! Failures, taken apart into steps in the order of time.

use rocelab_fabric::{NodeId, Topology};
use rocelab_units::{Duration, SimTime};

use super::sampling::SHORTEST_INTERVAL;
use super::{layer2, ports, switches};
use crate::plan::{FailureChange, FailurePlan, FailureStep, SwitchOverrides};
use crate::scenario::{FailureConfig, FailureKind, Fault, NicWatchdogConfig, Scenario, ensure};
use crate::workload::HostDirectory;

/// Finds and checks what breaks.
pub(super) fn build(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
    overrides: &SwitchOverrides,
) -> Result<FailurePlan, Fault> {
    let (mut steps, mut begins) = (Vec::new(), Vec::new());
    let nic = scenario.watchdog.nic.as_ref();
    for (index, failure) in scenario.failure.iter().enumerate() {
        let section = format!("failure[{index}]");
        let planned = Planned { failure, topology, hosts, scenario, overrides, nic };
        planned.add_steps(&mut steps).map_err(|fault| fault.within(&section))?;
        begins.extend(planned.begins().map(|at| (at, failure.kind)));
    }
    steps.sort_by_key(|step| step.at);
    // Twice the same routes: of failures that are mended at one time, for one.
    steps.dedup_by(|later, earlier| earlier == later && later.change == FailureChange::Reroute);
    let switch_watchdog = scenario.watchdog.switch.clone();
    if let Some(watchdog) = &switch_watchdog {
        for (key, time) in
            [("detect", watchdog.detect), ("restore", watchdog.restore), ("poll", watchdog.poll)]
        {
            ensure(time > Duration::ZERO, || {
                Fault::at(format!("watchdog.switch.{key}"), "a watchdog takes some time")
                    .help("give a time above 0s, such as \"200ms\"")
            })?;
        }
    }
    if let Some(watchdog) = &switch_watchdog {
        ensure(watchdog.poll >= SHORTEST_INTERVAL, || {
            Fault::at("watchdog.switch.poll", "no queue changes that often")
                .help(format!("give at least {SHORTEST_INTERVAL}, such as \"10ms\""))
        })?;
    }
    if let Some(watchdog) = nic {
        ensure(watchdog.detect > Duration::ZERO, || {
            Fault::at("watchdog.nic.detect", "a watchdog takes some time")
                .help("give a time above 0s, such as \"100ms\"")
        })?;
    }
    let spanning_tree = layer2::has_spanning_tree(scenario);
    Ok(FailurePlan { steps, begins, switch_watchdog, spanning_tree })
}

/// One entry, and what it is checked against.
struct Planned<'a> {
    failure: &'a FailureConfig,
    topology: &'a Topology,
    hosts: &'a HostDirectory,
    scenario: &'a Scenario,
    overrides: &'a SwitchOverrides,
    nic: Option<&'a NicWatchdogConfig>,
}

impl Planned<'_> {
    /// When it begins, each time.
    fn begins(&self) -> impl Iterator<Item = SimTime> + use<> {
        let (at, interval) = (self.failure.at, self.failure.interval.unwrap_or_default());
        (0..self.failure.repeat).map(move |round| at + interval * u64::from(round))
    }

    fn add_steps(&self, steps: &mut Vec<FailureStep>) -> Result<(), Fault> {
        self.check_times()?;
        let changes = self.changes()?;
        let failure = self.failure;
        for at in self.begins() {
            let end = failure.lasts.map(|lasts| at + lasts);
            for &(begin, over) in &changes {
                steps.push(FailureStep { at, change: begin });
                let over = over.zip(end).map(|(change, at)| FailureStep { at, change });
                steps.extend(over);
            }
            self.add_consequences(steps, at, end);
        }
        Ok(())
    }

    /// What follows a while after the beginning or the end.
    fn add_consequences(&self, steps: &mut Vec<FailureStep>, at: SimTime, end: Option<SimTime>) {
        let convergence = self.scenario.convergence;
        match self.failure.kind {
            FailureKind::LinkDown | FailureKind::SwitchReboot => {
                for at in [Some(at), end].into_iter().flatten() {
                    steps
                        .push(FailureStep { at: at + convergence, change: FailureChange::Reroute });
                }
            }
            FailureKind::PauseStorm => {
                if let (Some(after), Ok((host, mask))) = (self.muted_after(), self.storm()) {
                    let change = FailureChange::StormMuted(host, mask);
                    steps.push(FailureStep { at: at + after, change });
                }
            }
            FailureKind::LinkRate | FailureKind::HostDown => {}
        }
    }

    fn check_times(&self) -> Result<(), Fault> {
        let FailureConfig { repeat, interval, lasts, at, .. } = self.failure;
        ensure(lasts.is_none_or(|lasts| lasts > Duration::ZERO), || {
            Fault::at("lasts", "a failure that takes no time changes nothing")
                .help("give a time above 0s, or leave it out")
        })?;
        ensure((1..=100_000).contains(repeat), || {
            Fault::at("repeat", format!("{repeat} times is out of range"))
                .help("give 1 to 100000, or leave it out")
        })?;
        if *repeat == 1 {
            return Ok(());
        }
        let (Some(interval), Some(lasts)) = (interval, lasts) else {
            return Err(Fault::at("repeat", "what repeats has an end and a next beginning")
                .help("give `lasts` and `interval` too"));
        };
        ensure(interval > lasts, || {
            Fault::at("interval", format!("it begins again before {lasts} are over"))
                .help("give a longer `interval`, or a shorter `lasts`")
        })?;
        let last = u128::from(interval.ps()) * u128::from(repeat - 1) + u128::from(at.ps());
        ensure(last <= u128::from(SimTime::LATEST.ps()), || {
            Fault::at("repeat", format!("simulated time ends before the last of {repeat} times"))
                .help(format!(
                    "have it begin within {}: by a shorter `interval`, or fewer times",
                    SimTime::LATEST
                ))
        })
    }

    /// What changes at the beginning, and at the end.
    fn changes(&self) -> Result<Vec<(FailureChange, Option<FailureChange>)>, Fault> {
        let down = |link| (FailureChange::LinkDown(link), Some(FailureChange::LinkUp(link)));
        match self.failure.kind {
            FailureKind::LinkDown => {
                self.only(&["port"])?;
                Ok(self.links()?.into_iter().map(down).collect())
            }
            FailureKind::LinkRate => {
                self.only(&["port", "rate"])?;
                let links = self.links()?;
                const HELP: &str = "give `rate = \"10Gbps\"`, or `kind = \"link-down\"`";
                let rate = self.failure.rate.ok_or_else(|| {
                    Fault::at("rate", "nothing says which rate the link has meanwhile").help(HELP)
                })?;
                ensure(rate.bits_per_second() > 0, || {
                    Fault::at("rate", "a link needs a rate above zero").help(HELP)
                })?;
                let usual = links.iter().map(|&link| self.topology.links[link as usize].rate);
                let usual = usual.min().unwrap_or(rate);
                // Headroom is for the usual rate.
                ensure(rate <= usual, || {
                    Fault::at("rate", format!("that is more than the link's own, {usual}"))
                        .help(format!("give at most \"{usual}\""))
                })?;
                let slow = |link| {
                    let back = FailureChange::LinkRateEnd(link, rate);
                    (FailureChange::LinkRate(link, rate), Some(back))
                };
                Ok(links.into_iter().map(slow).collect())
            }
            FailureKind::SwitchReboot => {
                self.only(&["switch"])?;
                let name = self.needed("switch", self.failure.switch.as_ref())?;
                let switch = switches::named_switches(std::slice::from_ref(name), self.topology)
                    .map_err(|fault| fault.moved("[0]", "switch"))?;
                let adjacency = self.topology.adjacency();
                let links = switch.iter().flat_map(|&switch| adjacency.ports_of(switch));
                Ok(links.map(|port| down(port.link)).collect())
            }
            FailureKind::PauseStorm => {
                self.only(&["host", "priorities"])?;
                let (host, mask) = self.storm()?;
                let end_mask = if self.muted_after().is_some() { 0 } else { mask };
                let end = FailureChange::StormEnd(host, end_mask);
                Ok(vec![(FailureChange::StormBegin(host, mask), Some(end))])
            }
            FailureKind::HostDown => {
                self.only(&["host"])?;
                let host = self.host()?;
                let mut changes =
                    vec![(FailureChange::HostDown(host), Some(FailureChange::HostUp(host)))];
                if self.scenario.infiniband.is_some() {
                    // Who gives no credits has no link: it would hold up the network for ever.
                    let ports = self.topology.adjacency();
                    changes.extend(ports.ports_of(host).iter().map(|far| down(far.link)));
                }
                Ok(changes)
            }
        }
    }

    /// When the NIC's watchdog ends the pauses of a storm, from its beginning, if it does before
    /// the storm is over.
    fn muted_after(&self) -> Option<Duration> {
        let detect = self.nic?.detect;
        self.failure.lasts.is_none_or(|lasts| detect < lasts).then_some(detect)
    }

    /// The host of a storm, and its priorities.
    fn storm(&self) -> Result<(NodeId, u8), Fault> {
        let host = self.host()?;
        let adjacency = self.topology.adjacency();
        let neighbour = adjacency.ports_of(host).first().map_or(host, |port| port.node);
        let switch = self.overrides.of_switch(neighbour, &self.scenario.switch);
        let priorities = self.failure.priorities.as_ref().unwrap_or(&switch.lossless);
        let mut mask = 0;
        for (index, &priority) in priorities.iter().enumerate() {
            ensure(priority <= 7, || {
                let key = format!("priorities[{index}]");
                Fault::at(key, format!("priority {priority} does not exist"))
                    .help("use a priority from 0 to 7")
            })?;
            mask |= 1 << priority;
        }
        ensure(mask != 0, || {
            Fault::at("priorities", "it pauses no priority").help("give one, such as `[3]`")
        })?;
        Ok((host, mask))
    }

    fn host(&self) -> Result<NodeId, Fault> {
        let name = self.needed("host", self.failure.host.as_ref())?;
        self.hosts.one(name.trim()).map_err(|fault| fault.within("host"))
    }

    /// The links of the ports that are named, each once. A node with several ports must say which.
    fn links(&self) -> Result<Vec<u32>, Fault> {
        let text = self.needed("port", self.failure.port.as_ref())?;
        let named = ports::named("port", std::slice::from_ref(text), self.topology)
            .map_err(|fault| fault.moved("port[0]", "port"))?;
        let is_node = self.topology.node_by_name(text.trim()).is_some();
        ensure(named.len() == 1 || !is_node, || {
            Fault::at("port", format!("`{text}` has {} links", named.len())).help(format!(
                "name one of its ports, such as \"{text}:0\", or \"{text}:*\" for all"
            ))
        })?;
        let adjacency = self.topology.adjacency();
        let link = |&(node, port): &(NodeId, u16)| adjacency.ports_of(node)[usize::from(port)].link;
        let mut links = Vec::with_capacity(named.len());
        for link in named.iter().map(link) {
            if !links.contains(&link) {
                links.push(link);
            }
        }
        Ok(links)
    }

    fn needed<'t>(&self, key: &str, value: Option<&'t String>) -> Result<&'t String, Fault> {
        value.ok_or_else(|| {
            Fault::at("kind", format!("it does not say which {key}"))
                .help(format!("give `{key} = \"...\"`"))
        })
    }

    /// That no key is there that means nothing to this kind.
    fn only(&self, keys: &[&str]) -> Result<(), Fault> {
        let failure = self.failure;
        let given = [
            ("port", failure.port.is_some()),
            ("switch", failure.switch.is_some()),
            ("host", failure.host.is_some()),
            ("rate", failure.rate.is_some()),
            ("priorities", failure.priorities.is_some()),
        ];
        let superfluous = given.iter().find(|(key, given)| *given && !keys.contains(key));
        superfluous.map_or(Ok(()), |(key, _)| {
            Err(Fault::at(*key, "this kind of failure has no such key")
                .help(format!("remove it; it takes {}", keys.join(" and "))))
        })
    }
}
