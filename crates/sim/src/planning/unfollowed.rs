//! Congestion controls that cannot do what they are for: what they follow is not there, never told, or always too long.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_host::{Arriving, HostPath, HostProfile};
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::algorithms::{self, Named};
use crate::plan::{FlowPlan, Plan};
use crate::scenario::{Fault, Scenario, Verb};

/// What congestion controls have to no effect.
pub(super) fn notes<'a>(
    scenario: &'a Scenario,
    plan: &'a Plan,
) -> impl Iterator<Item = Fault> + use<'a> {
    let usable = algorithms::usable(scenario);
    let endpoints: Vec<_> = usable.iter().filter_map(|one| endpoint_window(one, plan)).collect();
    endpoints.into_iter().chain(reads(&usable, plan))
}

/// Swift's window of the endpoint, where there is none, or nothing that it could follow.
fn endpoint_window(one: &Named<'_>, plan: &Plan) -> Option<Fault> {
    let Algorithm::Swift(parameters) = one.algorithm else { return None };
    let at = |key: &str, text: &str| Fault::at(format!("{}.{key}", one.section()), text);
    if parameters.has_idle_gain() {
        let fault = at("endpoint_gain", "without a target no endpoint delay is smoothed");
        return Some(fault.help("give `endpoint_target` too, or leave it out"));
    }
    let target = parameters.endpoint_target?;
    if plan.host_models.is_empty() {
        let text = "no host takes time, so that the endpoint delay is always 0";
        let fault = at("endpoint_target", text);
        return Some(fault.help("give hosts a `[[host_model]]`, or leave it out"));
    }
    let (idle, host) = longest_idle_delay(plan, target)?;
    (idle >= target).then(|| {
        let text = format!(
            "the endpoint delay of {} is {idle} where nothing waits: windows shrink to `min_cwnd` without congestion",
            plan.topology.nodes[host as usize].name
        );
        at("endpoint_target", &text)
            .value(target.to_string())
            .help(format!("give more than {idle}, with time to wait in the NIC"))
    })
}

/// The longest endpoint delay of flows with this target, of all that are idle, and the host that receives.
fn longest_idle_delay(plan: &Plan, target: Duration) -> Option<(Duration, NodeId)> {
    let mut known: BTreeMap<(NodeId, u32), Duration> = BTreeMap::new();
    let mut longest = None;
    for flow in plan.flows.iter().filter(|flow| !flow.is_tcp() && flow.verb != Verb::Read) {
        let profile = &plan.queue_pairs[flow.queue_pairs as usize];
        let Algorithm::Swift(parameters) = &profile.congestion_control else { continue };
        if parameters.endpoint_target != Some(target) {
            continue;
        }
        let most = u64::from(plan.path_mtu());
        let payload = u32::try_from(flow.message_bytes.min(most)).unwrap_or(u32::MAX);
        let mut of = |host: NodeId, payload: u32| {
            *known.entry((host, payload)).or_insert_with(|| {
                plan.host_models
                    .get(&host)
                    .map_or(Duration::ZERO, |model| in_an_idle_nic(model.profile.clone(), payload))
            })
        };
        let delay = of(flow.destination, payload) + of(flow.source, 0);
        longest = longest.max(Some((delay, flow.destination)));
    }
    longest
}

/// From the arrival of a packet until memory has its payload, or its queue pair the acknowledgement, where nothing waits and
/// everything is cached.
fn in_an_idle_nic(mut profile: HostProfile, payload: u32) -> Duration {
    (profile.caches.contexts, profile.caches.translations) = (None, None);
    (profile.memory.paging, profile.buffer) = (None, None);
    profile.memory.contention.clear();
    let mut host = HostPath::new(profile, 0);
    host.add_queue_pair(0);
    let is_request = payload > 0;
    let frame = Arriving {
        index: 0,
        frame_len: payload,
        payload,
        begins: is_request,
        is_request,
        reads: 0,
        is_atomic: false,
        credited: false,
    };
    let accepted = host.accept(SimTime::ZERO, &frame);
    accepted.map_or(Duration::ZERO, |accepted| {
        let at = if is_request { accepted.written } else { accepted.at };
        at.since(SimTime::ZERO)
    })
}

/// READs, whose sender is the responder: it gets no acknowledgements, and who needs them does nothing there.
fn reads<'a>(usable: &[Named<'_>], plan: &'a Plan) -> impl Iterator<Item = Fault> + use<'a> {
    let mut flows: BTreeMap<u32, u64> = BTreeMap::new();
    for flow in plan.flows.iter().filter(|flow| is_read(flow)) {
        *flows.entry(flow.queue_pairs).or_default() += 1;
    }
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (profile, count) in flows {
        let algorithm = &plan.queue_pairs[profile as usize].congestion_control;
        if waits_for_acknowledgements(algorithm) {
            *by_name.entry(algorithm.name()).or_default() += count;
        }
    }
    let is_infiniband = plan.infiniband.is_some();
    let sections: BTreeMap<&str, String> =
        usable.iter().rev().map(|one| (one.algorithm.name(), one.section())).collect();
    by_name.into_iter().map(move |(name, count)| {
        let key = sections.get(name).map_or("congestion_control", String::as_str);
        let flows = if count == 1 { "1 flow is a READ".into() } else { format!("{count} flows are READs") };
        let text = format!(
            "{flows}, whose data nobody acknowledges: `{name}` does nothing there, and they leave at the first rate"
        );
        let better = if is_infiniband { "infiniband" } else { "dcqcn" };
        Fault::at(key, text).help(format!("use `{better}`, whose notifications reach the sender of a READ's data, or WRITEs"))
    })
}

fn is_read(flow: &FlowPlan) -> bool {
    !flow.is_tcp() && flow.verb == Verb::Read
}

/// Whether all that it follows comes with acknowledgements.
fn waits_for_acknowledgements(algorithm: &Algorithm) -> bool {
    // Its marks come back by notifications too.
    if matches!(algorithm, Algorithm::InfiniBand(_)) {
        return false;
    }
    matches!(
        algorithm.feedback(Bandwidth::default()),
        Feedback::Rtt | Feedback::EcnEcho | Feedback::Telemetry(_)
    )
}
