//! The code points of frames: what workloads, hosts and classes ask for, with numbers.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;
use rocelab_transport::MarkingConfig;

use super::priority::check_priority;
use crate::plan::{ConnectionPlan, FlowPlan, Markings, MonitoringPlan};
use crate::scenario::{Fault, Priority, Scenario, ensure};
use crate::workload::{HostDirectory, Workload};

/// What workloads ask for, each once.
#[derive(Debug)]
pub(super) struct AskedMarkings(Vec<MarkingConfig>);

impl Default for AskedMarkings {
    /// The first place is that of workloads that say nothing.
    fn default() -> Self {
        Self(vec![MarkingConfig::default()])
    }
}

impl AskedMarkings {
    /// The place of what a workload asks for; its key is given too.
    pub(super) fn place(&mut self, (name, workload): (&str, &dyn Workload)) -> Result<u8, Fault> {
        let Some(asked) = workload.marking() else { return Ok(0) };
        let key = format!("{name}.marking");
        check(&key, asked)?;
        let known = self.0.iter().position(|known| known == asked);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(*asked);
        }
        u8::try_from(place).map_err(|_| too_many(&key, ""))
    }

    /// All that is asked for, with numbers for all that these flows and connections use.
    pub(super) fn numbered(
        self,
        scenario: &Scenario,
        hosts: &HostDirectory,
        (flows, connections, mesh): (&[FlowPlan], &[ConnectionPlan], Option<&MonitoringPlan>),
        v1_hosts: &BTreeSet<NodeId>,
    ) -> Result<Markings, Fault> {
        let mut classes = [MarkingConfig::default(); 8];
        for (priority, class) in &scenario.class {
            let Some(asked) = &class.marking else { continue };
            check(&format!("class.{}.marking", priority.number()), asked)?;
            classes[usize::from(priority.number())] = *asked;
        }
        check_tags(scenario)?;
        let of_hosts = of_hosts(scenario, hosts)?;
        let mut markings = Markings::new(classes, of_hosts, self.0, v1_hosts.clone());
        let cnp_priority = scenario.roce.cnp_priority;
        let of_cnps = scenario.roce.cnp_marking.unwrap_or_default();
        check("roce.cnp_marking", &of_cnps)?;
        let of_cnps = of_cnps.or(&classes[usize::from(cnp_priority & 0b111)]);
        let number = markings.number(of_cnps.of_priority(cnp_priority));
        markings.set_cnps(number.unwrap_or(cnp_priority));
        if !markings.differ() {
            return Ok(markings);
        }
        let of_flows = flows.iter().filter(|flow| !flow.is_tcp()).flat_map(|flow| {
            [flow.source, flow.destination].map(|host| (flow.marking, host, flow.priority))
        });
        let over_network = connections.iter().filter(|connection| !connection.is_nvlink);
        let of_connections = over_network.flat_map(|connection| {
            connection.ends.map(|end| (connection.marking, end.host, connection.priority))
        });
        let of_pings = mesh
            .into_iter()
            .flat_map(|mesh| mesh.hosts.keys().map(|&host| (0, host, mesh.rules.priority)));
        for (workload, host, priority) in of_flows.chain(of_connections).chain(of_pings) {
            let marking = markings.asked(workload, host, priority);
            markings.number(marking).ok_or_else(|| too_many("workload", ""))?;
        }
        Ok(markings)
    }
}

/// More code points than there are numbers; what the last one is of may be said.
pub(super) fn too_many(key: &str, with: &str) -> Fault {
    let most = Markings::NUMBERS;
    let what = format!("there are more than {most} different combinations of code points{with}");
    Fault::at(key, what).help("give several workloads or hosts the same")
}

/// What hosts say of their frames of a priority; of several tables the last one holds.
fn of_hosts(
    scenario: &Scenario,
    hosts: &HostDirectory,
) -> Result<BTreeMap<(NodeId, u8), MarkingConfig>, Fault> {
    let mut all = BTreeMap::new();
    for (index, one) in scenario.host.marking.iter().enumerate() {
        let section = format!("host.marking[{index}]");
        check(&format!("{section}.marking"), &one.marking)?;
        ensure(one.marking != MarkingConfig::default(), || {
            Fault::at(format!("{section}.marking"), "it gives no code point")
                .help("give `dscp`, `traffic_class` or `pcp`")
        })?;
        let is_empty = |list: Option<bool>| list.unwrap_or(false);
        ensure(!is_empty(one.priorities.as_ref().map(Vec::is_empty)), || {
            Fault::at(format!("{section}.priorities"), "no priority is named")
                .value("[]")
                .help("name priorities, such as `[3]`, or leave the key out for all of them")
        })?;
        ensure(!is_empty(one.hosts.as_ref().map(Vec::is_empty)), || {
            Fault::at(format!("{section}.hosts"), "no host is named")
                .value("[]")
                .help("name hosts, such as \"host-0\", or leave the key out for all of them")
        })?;
        let priorities = one.priorities.clone().unwrap_or_else(|| (0..8).collect());
        for (place, &priority) in priorities.iter().enumerate() {
            check_priority(&format!("{section}.priorities[{place}]"), priority)?;
        }
        let named = hosts.selected("hosts", one.hosts.as_deref());
        for host in named.map_err(|fault| fault.within(&section))? {
            all.extend(priorities.iter().map(|&priority| ((host, priority), one.marking)));
        }
    }
    Ok(all)
}

fn check(key: &str, marking: &MarkingConfig) -> Result<(), Fault> {
    marking.validate().map_err(|error| {
        Fault::at(format!("{key}.{}", error.key), error.problem).value(error.value).help(error.fix)
    })
}

/// A PCP needs a tag.
fn check_tags(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.roce.is_tagged() {
        return Ok(());
    }
    let classes = (0..8).filter_map(Priority::new).filter_map(|priority| {
        let marking = scenario.class.get(&priority)?.marking?;
        Some((format!("class.{}.marking", priority.number()), marking))
    });
    let hosts = scenario.host.marking.iter().enumerate();
    let hosts = hosts.map(|(index, one)| (format!("host.marking[{index}].marking"), one.marking));
    let items = crate::workload::items(&scenario.workload);
    let workloads =
        items.iter().filter_map(|(name, item)| Some((format!("{name}.marking"), *item.marking()?)));
    let cnps = scenario.roce.cnp_marking.map(|marking| ("roce.cnp_marking".to_owned(), marking));
    for (key, marking) in classes.chain(hosts).chain(workloads).chain(cnps) {
        let Some(pcp) = marking.pcp else { continue };
        ensure(false, || {
            Fault::at(format!("{key}.pcp"), "frames have no 802.1Q tag for it")
                .value(pcp)
                .help("use `roce.tagging = \"tagged\"`, or leave it out")
        })?;
    }
    Ok(())
}
