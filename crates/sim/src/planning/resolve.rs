//! Defaults that depend on other values.

use rocelab_fabric::topology::TopologyLink;
use rocelab_fabric::{EcnConfig, MarkAt};
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, Bytes};

use super::{Planning, algorithms, controls, host_models, tcp};
use crate::reference;
use crate::scenario::{GidKind, IpVersion, RoceConfig, RoceVersion, Scenario};

/// See [`Planning::resolved`].
pub(super) fn resolved(scenario: &Scenario) -> Scenario {
    // What cannot be loaded is told by whoever makes a plan.
    _ = controls::load(scenario);
    let mut resolved = effective(scenario, host_rate(scenario));
    let roce = &resolved.roce;
    let follows = roce.recovery.is_selective() && roce.max_outstanding.is_none();
    if follows && let Ok(plan) = scenario.plan() {
        let profile = plan.queue_pairs.first();
        resolved.roce.max_outstanding = profile.map(|profile| profile.max_outstanding);
    }
    resolved
}

/// The scenario with the defaults that depend on other values, those of a network too whose hosts have links of a rate.
pub(super) fn effective(scenario: &Scenario, rate: Option<Bandwidth>) -> Scenario {
    let mut effective = with_defaults(scenario);
    if let Some(rate) = rate.filter(|_| scenario.profile.is_none()) {
        fill_in_presets(&mut effective, rate);
    }
    pin_modules(&mut effective);
    let has_buffers = effective.infiniband.is_none();
    for model in &mut effective.host_model {
        *model = host_models::written_out(model, has_buffers);
    }
    effective
}

/// What is known of modules once they are loaded.
fn pin_modules(scenario: &mut Scenario) {
    for_each_algorithm(scenario, Algorithm::pinned);
}

/// Every value of algorithms that a preset gives, where it does not differ from host to host. Rules of another
/// simulator have parameters of their own.
fn fill_in_presets(scenario: &mut Scenario, rate: Bandwidth) {
    for_each_algorithm(scenario, |algorithm| algorithm.effective(rate));
}

fn for_each_algorithm(scenario: &mut Scenario, with: impl Fn(&Algorithm) -> Algorithm) {
    let of_classes = scenario.class.values_mut().map(|class| &mut class.congestion_control);
    let chosen = of_classes.chain([&mut scenario.congestion_control]).flatten();
    for algorithm in chosen.chain(scenario.workload.algorithms_mut()) {
        *algorithm = with(algorithm);
    }
}

/// The rate of all hosts' links; `None` if they differ, or there is no such network.
pub(super) fn host_rate(scenario: &Scenario) -> Option<Bandwidth> {
    let topology = super::topology::build(scenario).ok()?;
    let is_of_host = |link: &&TopologyLink| topology.is_host(link.a) || topology.is_host(link.b);
    let mut rates = topology.links.iter().filter(is_of_host).map(|link| link.rate);
    let first = rates.next()?;
    rates.all(|rate| rate == first).then_some(first)
}

/// The scenario with the defaults that depend on its other values alone.
pub(super) fn with_defaults(scenario: &Scenario) -> Scenario {
    let mut resolved = scenario.clone();
    resolve_gid(&mut resolved.roce);
    let has_ecn = scenario.roce.version == RoceVersion::V2 && scenario.infiniband.is_none();
    if scenario.infiniband.is_some() && !scenario.document.says("roce.priority") {
        resolved.roce.priority = 0; // The usual service level.
    }
    let native = scenario.profile.is_none();
    resolved.congestion_control.get_or_insert_with(|| {
        if native { Algorithm::default_for(has_ecn) } else { reference::default_algorithm() }
    });
    if native && tcp::is_used(scenario) {
        resolved.tcp.get_or_insert_default();
    }
    if native && tcp::marks_segments(&resolved) {
        resolved.switch.ecn.get_or_insert_with(default_ecn);
    }
    let needs_ecn = algorithms::usable(&resolved).iter().any(|one| one.algorithm.needs_ecn());
    if native && has_ecn && needs_ecn {
        resolved.switch.ecn.get_or_insert_with(default_ecn);
    }
    if needs_ecn && let Some(infiniband) = &mut resolved.infiniband {
        infiniband.congestion_control.get_or_insert_default();
    }
    let needs_qcn = algorithms::usable(&resolved).iter().any(|one| one.algorithm.needs_qcn());
    if native && !has_ecn && needs_qcn {
        resolved.switch.qcn.get_or_insert_default();
    }
    resolved
}

/// What the index of a GID says in place of other keys, where these do not say anything else.
fn resolve_gid(roce: &mut RoceConfig) {
    match roce.gid_index {
        Some(2) if roce.gid == GidKind::default() => roce.gid = GidKind::Ipv4Mapped,
        Some(4) if roce.gid == GidKind::default() => roce.gid = GidKind::Ipv6,
        Some(5) if roce.ip == IpVersion::default() => roce.ip = IpVersion::Ipv6,
        _ => {}
    }
}

/// Marking as the HPCC paper (SIGCOMM 2019) reports it from production: 100 KB and 400 KB at
/// 25 Gb/s and in proportion at other rates, 20 %.
pub(crate) fn default_ecn() -> EcnConfig {
    EcnConfig {
        kmin: Bytes::new(100_000),
        kmax: Bytes::new(400_000),
        pmax: 0.2,
        per_rate: Some(Bandwidth::from_gbps(25)),
        mark_at: MarkAt::default(),
        average_weight: None,
    }
}
