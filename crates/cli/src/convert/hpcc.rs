//! Configurations of HPCC's ns-3 simulator as scenarios of RoCE.

use std::collections::BTreeSet;

use rocelab_fabric::{
    EcnConfig, MarkAt, SchedulerConfig, SwitchOverride, Topology, TopologyConfig,
};
use rocelab_sim::reference::{Loaded, default_algorithm};
use rocelab_sim::scenario::{
    FailureConfig, FailureKind, HpccNs3Config, LinkDownConfig, ProfileConfig, RateEcnConfig,
    RoceVersion,
};
use rocelab_sim::{Plan, Planning};
use rocelab_units::Bandwidth;

use super::native::{Native, Paths};
use crate::failure::Failure;

/// The scenario of a configuration that was loaded.
pub(super) fn convert(loaded: &Loaded, version: RoceVersion) -> Result<Native, Failure> {
    let from = &loaded.scenario;
    let plan = from.plan()?;
    let (TopologyConfig::File(topology), Some(ProfileConfig::HpccNs3(profile))) =
        (&from.topology, &from.profile)
    else {
        return Err(Failure::Input("it is no configuration of HPCC's simulator".to_owned()));
    };
    let mut native =
        Native::new(version, (from.folder(), topology.path.clone()), from.stop.unwrap_or_default());
    native.scenario.seed = from.seed;
    let mtu = native.set_payload("PACKET_PAYLOAD_SIZE", bytes(profile.payload.get()));
    set_recovery(&mut native, profile, mtu);
    set_switches(&mut native, &plan, from.switch.buffer);
    let algorithm = from.congestion_control.clone().unwrap_or_else(default_algorithm);
    let ecn = if profile.mark { marks(&mut native, profile, &plan.topology) } else { None };
    native.set_reaction(algorithm, ecn);
    native.set_paths(Paths::ByFlow);
    native.set_loss("ERROR_RATE_PER_LINK", profile.loss);
    if let Some(down) = &profile.link_down {
        set_link_down(&mut native, down, &plan.topology);
    }
    note_windows(&mut native, profile);
    native.scenario.workload = from.workload.clone();
    native.note(
        "flows are WRITEs of queue pairs, with acknowledgements in the priority of their data",
    );
    Ok(native)
}

fn bytes(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn set_recovery(native: &mut Native, profile: &HpccNs3Config, mtu: u32) {
    let payload = profile.payload.get().max(1);
    let packets = profile.ack_interval.get().div_ceil(payload).clamp(1, 1 << 22);
    native.scenario.roce.ack_interval = bytes(packets);
    if profile.back_to_chunk {
        native.set_back_to_zero(profile.chunk.get().div_ceil(payload), mtu);
    }
}

/// Memory, and pauses of the priorities that flows have.
fn set_switches(native: &mut Native, plan: &Plan, buffer: rocelab_units::Bytes) {
    let switch = &mut native.scenario.switch;
    switch.buffer = buffer;
    switch.scheduler = SchedulerConfig::RoundRobin;
    let used: BTreeSet<u8> = plan.flows.iter().map(|flow| flow.priority).collect();
    switch.lossless = used.into_iter().collect();
    native.note("headroom is what rate, cable and largest frame ask for (`switch.headroom`)");
}

/// The thresholds of ports by their rate: of all alike, if they are in proportion to it.
fn marks(native: &mut Native, profile: &HpccNs3Config, topology: &Topology) -> Option<EcnConfig> {
    let of_switches = |node| topology.is_switch(node);
    let links = topology.links.iter().filter(|link| of_switches(link.a) || of_switches(link.b));
    let rates: BTreeSet<Bandwidth> = links.map(|link| link.rate).collect();
    let used: Vec<_> = profile.ecn.iter().filter(|one| rates.contains(&one.rate)).collect();
    let (first, others) = used.split_first()?;
    let is_like = |one: &&RateEcnConfig| in_proportion(first, one);
    let (alike, different): (Vec<&RateEcnConfig>, Vec<_>) =
        others.iter().copied().partition(is_like);
    for one in different {
        let ports = ports_of(topology, one.rate);
        native.scenario.switch.overrides.push(SwitchOverride {
            ports,
            ecn: Some(thresholds(one, false)),
            ..SwitchOverride::default()
        });
    }
    Some(thresholds(first, !alike.is_empty()))
}

fn in_proportion(a: &RateEcnConfig, b: &RateEcnConfig) -> bool {
    let same = |x: u64, y: u64| {
        let (a_rate, b_rate) = (a.rate.bits_per_second(), b.rate.bits_per_second());
        u128::from(x) * u128::from(b_rate) == u128::from(y) * u128::from(a_rate)
    };
    same(a.kmin.get(), b.kmin.get())
        && same(a.kmax.get(), b.kmax.get())
        && a.pmax.to_bits() == b.pmax.to_bits()
}

fn thresholds(one: &RateEcnConfig, scaled: bool) -> EcnConfig {
    EcnConfig {
        kmin: one.kmin,
        kmax: one.kmax,
        pmax: one.pmax,
        per_rate: scaled.then_some(one.rate),
        mark_at: MarkAt::Dequeue,
        average_weight: None,
    }
}

/// The ports of switches with links of a rate.
fn ports_of(topology: &Topology, rate: Bandwidth) -> Vec<String> {
    let adjacency = topology.adjacency();
    let of_switch = |switch| {
        let ports = adjacency.ports_of(switch).iter().enumerate();
        let own = ports.filter(|(_, far)| topology.links[far.link as usize].rate == rate);
        own.map(move |(port, _)| format!("{}:{port}", topology.nodes[switch as usize].name))
            .collect::<Vec<_>>()
    };
    topology.switches().flat_map(of_switch).collect()
}

fn set_link_down(native: &mut Native, down: &LinkDownConfig, topology: &Topology) {
    let adjacency = topology.adjacency();
    let of_a = adjacency.ports_of(down.a).iter();
    let Some(port) = of_a.clone().position(|far| far.node == down.b) else { return };
    let name = &topology.nodes[down.a as usize].name;
    native.scenario.failure.push(FailureConfig {
        port: Some(format!("{name}:{port}")),
        ..FailureConfig::new(FailureKind::LinkDown, down.at)
    });
    native.note("LINK_DOWN: frames on the link are lost too, and queue pairs send them again");
}

/// What the simulator's sender has beside its algorithm.
fn note_windows(native: &mut Native, profile: &HpccNs3Config) {
    if profile.window {
        native.note(
            "HAS_WIN, VAR_WIN: no window but that of the congestion control (`roce.max_outstanding` limits packets)",
        );
    }
    if profile.ack_high_priority {
        native.note("ACK_HIGH_PRIO: acknowledgements have the priority of their data");
    }
    if !profile.pace_at_rate {
        native.note("RATE_BOUND 0: packets are spaced by the rate, not by the line rate");
    }
    if profile.pint_probability < 1.0 {
        native.note("PINT_PROB: every acknowledgement counts");
    }
}
