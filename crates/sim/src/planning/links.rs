//! What single links do otherwise, found and checked.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rocelab_fabric::Topology;
use rocelab_wire::{CRC_LEN, Ethernet, VlanTag};

use super::ports::named;
use crate::plan::{LinkPlans, Plan};
use crate::scenario::{Fault, LinkOverride, Scenario, ensure};

/// From Ethernet's shortest payload to the longest IP packet.
const MTUS: RangeInclusive<u64> = 46..=65_535;

/// The links of a scenario whose frames are tagged or not.
pub(super) fn build(
    configs: &[LinkOverride],
    topology: &Topology,
    tagged: bool,
) -> Result<LinkPlans, Fault> {
    let adjacency = topology.adjacency();
    let mut links = LinkPlans::new();
    for (index, config) in configs.iter().enumerate() {
        let place = format!("link[{index}]");
        check(config).map_err(|fault| fault.within(&place))?;
        for (node, port) in named(&format!("{place}.ports"), &config.ports, topology)? {
            let Some(far) = adjacency.ports_of(node).get(usize::from(port)) else { continue };
            let plan = links.entry(far.link).or_default();
            let largest = config.mtu.map(|mtu| largest_frame(mtu.get(), tagged));
            plan.largest_frame = largest.or(plan.largest_frame);
            plan.bit_error_rate = config.bit_error_rate.or(plan.bit_error_rate);
        }
    }
    Ok(links)
}

fn check(config: &LinkOverride) -> Result<(), Fault> {
    let is_long_enough = config.mtu.is_none_or(|mtu| MTUS.contains(&mtu.get()));
    ensure(is_long_enough, || {
        Fault::at("mtu", "no Ethernet link has that").help("give 46B to 65535B, such as \"1500B\"")
    })?;
    let is_rate = |rate: f64| rate > 0.0 && rate <= 0.001;
    ensure(config.bit_error_rate.is_none_or(is_rate), || {
        Fault::at("bit_error_rate", "no link works like that")
            .help("give a number above 0 and at most 0.001, such as 1e-12, or leave it out")
    })?;
    ensure(config.mtu.is_some() || config.bit_error_rate.is_some(), || {
        Fault::at("", "it says nothing of these links").help("give `mtu` or `bit_error_rate`")
    })
}

fn largest_frame(mtu: u64, tagged: bool) -> u32 {
    let tag = if tagged { VlanTag::LEN } else { 0 };
    let beside = (Ethernet::LEN + tag + CRC_LEN) as u64;
    u32::try_from(mtu + beside).unwrap_or(u32::MAX)
}

/// Links that are too short for frames of the run: the last table that says so of each.
pub(super) fn too_short<'a>(
    scenario: &'a Scenario,
    plan: &Plan,
) -> impl Iterator<Item = Fault> + use<'a> {
    let largest = plan.largest_frame_of_all().get();
    let is_of_rdma = plan.largest_frame().get() == largest;
    let smaller = if is_of_rdma { "`roce.path_mtu`" } else { "`tcp.mtu` or `datagram` of streams" };
    let of = if is_of_rdma { " (a WRITE of one packet with immediate data)" } else { "" };
    let tagged = plan.roce.tagged;
    let takes: BTreeSet<u32> = plan.links.values().filter_map(|link| link.largest_frame).collect();
    (0usize..).zip(&scenario.link).filter_map(move |(index, config)| {
        let mtu = config.mtu?;
        let most = largest_frame(mtu.get(), tagged);
        // One that later tables have changed for all of its links is no matter.
        (takes.contains(&most) && u64::from(most) < largest).then(|| {
            let text = format!(
                "frames may have up to {largest} bytes{of}, and longer ones than {most} are dropped"
            );
            let fits = mtu.get() + (largest - u64::from(most));
            Fault::at(format!("link[{index}].mtu"), text)
                .value(mtu.to_string())
                .help(format!("give \"{fits}B\" or more, or a smaller {smaller}"))
        })
    })
}
