//! Multicast: one host sends to all members of a group.

use super::flow::{DEFAULT_PORT, Flow};
use super::rules::FlowRules;
use super::site::Site;
use super::{MAX_MESSAGES, Workload};
pub use crate::scenario::workload::multicast::Parameters;
use crate::scenario::{Fault, Verb, ensure, known_names};

impl Workload for Parameters {
    /// A flow to each member, in their order.
    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        ensure(site.rules == FlowRules::Roce, || {
            Fault::at("", "HPCC's simulator knows no multicast").value("").help("leave it out")
        })?;
        let priority = site.priority_or_default(self.priority)?;
        let source = site.hosts.one(&self.from).map_err(|fault| fault.within("from"))?;
        let place = place_of_group(self, site)?;
        site.check_bytes("bytes", self.bytes.get())?;
        let message_bytes = message_bytes(self, site)?;
        let members = &site.groups[place].members;
        let members: Vec<_> = members.iter().filter(|&&member| member != source).collect();
        ensure(!members.is_empty(), || {
            let (from, group) = (&self.from, &self.group);
            Fault::at(
                "group",
                format!(
                    "`{from}` is the only member of `{group}`, and gets no copy of what it sends"
                ),
            )
            .help("name another group, or add members")
        })?;
        site.check_count("group", members.len() as u64)?;
        let flow = |&&destination: &&u32| Flow {
            source,
            destination,
            start: self.start,
            bytes: self.bytes.get(),
            message_bytes,
            verb: Verb::Send,
            priority,
            port: DEFAULT_PORT,
            row: 0,
        };
        Ok(members.iter().map(flow).collect())
    }

    fn group(&self, site: &Site<'_>) -> Option<usize> {
        place_of_group(self, site).ok()
    }
}

/// The place of its group among all.
fn place_of_group(parameters: &Parameters, site: &Site<'_>) -> Result<usize, Fault> {
    let name = &parameters.group;
    let place = site.groups.iter().position(|group| group.name == *name);
    place.ok_or_else(|| {
        let fault = Fault::at("group", format!("there is no multicast group `{name}`"));
        let names: Vec<_> = site.groups.iter().map(|group| group.name.as_str()).collect();
        fault.help(if names.is_empty() {
            "add `[[multicast_group]]` with a `name` and `members`".into()
        } else {
            known_names(name, &names)
        })
    })
}

/// The size of each datagram.
fn message_bytes(parameters: &Parameters, site: &Site<'_>) -> Result<u64, Fault> {
    let most = site.path_mtu;
    let bytes = parameters.message.map_or(most, rocelab_units::Bytes::get);
    ensure((1..=most).contains(&bytes), || {
        Fault::at("message", "a datagram has at least one byte, and at most the path MTU")
            .help(format!("give 1B to {most}B, or another `roce.path_mtu`"))
    })?;
    ensure(parameters.bytes.get().div_ceil(bytes) <= MAX_MESSAGES, || {
        Fault::at("bytes", format!("these would be more than {MAX_MESSAGES} datagrams"))
            .help("send less, or larger datagrams")
    })?;
    Ok(bytes)
}
