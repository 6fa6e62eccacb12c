//! What can be said about the keys of connections, and what follows from them when the network is
//! known.

use std::sync::Arc;

use rocelab_host::HostProfile;
use rocelab_transport::QueuePairProfile;
use rocelab_units::Duration;

use super::applications;
use crate::ideal::UnloadedNetwork;
use crate::plan::{CmPlan, FlowPlan, Plan};
use crate::scenario::{Connect, Fault, RoceConfig, ensure};

/// The most READs and atomics at once: connection management has 8 bits for them.
const MOST_READS: u32 = 255;
/// The fewest packets that selective repeat keeps in flight.
const FEWEST_OUTSTANDING: u64 = 2;

/// The first thing that is wrong with the keys of connections.
pub(super) fn check(roce: &RoceConfig) -> Result<(), Fault> {
    ensure(roce.rnr_retry <= 7, || {
        Fault::at("roce.rnr_retry", "the RNR retry count is a field of 3 bits")
            .help("give 0 to 6, or 7 for no limit")
    })?;
    for (key, value) in [
        ("roce.max_rd_atomic", roce.max_rd_atomic),
        ("roce.max_dest_rd_atomic", roce.max_dest_rd_atomic),
    ] {
        ensure((1..=MOST_READS).contains(&value), || {
            Fault::at(key, "READs and atomics at once are a field of 8 bits, and at least one")
                .help(format!("give 1 to {MOST_READS}"))
        })?;
    }
    check_reads(roce)?;
    let most = QueuePairProfile::MAX_OUTSTANDING;
    ensure(roce.max_outstanding.is_none_or(|packets| (1..=most).contains(&packets)), || {
        Fault::at("roce.max_outstanding", "at least one packet, and at most half of the PSNs")
            .help(format!("give 1 to {most}"))
    })?;
    check_recovery(roce)?;
    check_path_entropy(roce)?;
    check_coalescing(roce)?;
    check_manager(roce)?;
    check_timeouts(roce)
}

/// A requester that asks for more than the responder takes fails; which of the two keys is to blame
/// is the one that somebody wrote.
fn check_reads(roce: &RoceConfig) -> Result<(), Fault> {
    let (asked, taken) = (roce.max_rd_atomic, roce.max_dest_rd_atomic);
    if asked <= taken {
        return Ok(());
    }
    let text =
        format!("requesters ask for {asked} at once, and responders refuse more than {taken}");
    let is_default = taken == RoceConfig::default().max_dest_rd_atomic;
    Err(if is_default {
        Fault::at("roce.max_rd_atomic", text)
            .help(format!("give at most {taken}, or a larger `max_dest_rd_atomic`"))
    } else {
        Fault::at("roce.max_dest_rd_atomic", text)
            .help(format!("give at least {asked}, or a smaller `max_rd_atomic`"))
    })
}

fn check_manager(roce: &RoceConfig) -> Result<(), Fault> {
    let Some(cm) = roce.cm else { return Ok(()) };
    ensure(roce.connect == Connect::Cm, || {
        Fault::at("roce.cm", "connections are made out of band, without messages")
            .value("")
            .help("use `connect = \"cm\"`, or leave it out")
    })?;
    for (key, code) in [
        ("roce.cm.response_timeout", cm.response_timeout),
        ("roce.cm.packet_lifetime", cm.packet_lifetime),
    ] {
        ensure(code < 32, || {
            Fault::at(key, "times of connection management are codes of 5 bits")
                .help("give n from 0 to 31 for 4.096us x 2^n")
        })?;
    }
    ensure(cm.retries <= 15, || {
        Fault::at("roce.cm.retries", "the retries are a field of 4 bits").help("give 0 to 15")
    })?;
    ensure(cm.priority.is_none_or(|priority| priority <= 7), || {
        Fault::at("roce.cm.priority", "there is no such priority")
            .help("use a priority from 0 to 7")
    })
}

/// Refuses connections by messages where no flow has one: applications are connected out of band.
pub(super) fn check_flows(roce: &RoceConfig, flows: &[FlowPlan]) -> Result<(), Fault> {
    let has_any = flows.iter().any(|flow| !flow.is_tcp());
    ensure(roce.connect == Connect::OutOfBand || has_any, || {
        Fault::at("roce.connect", "applications are connected out of band, and there are no flows")
            .help("leave it out, or add a workload of flows, such as `[workload.flows]`")
    })
}

/// The connection manager of every host, if connections are made by messages.
pub(super) fn manager(roce: &RoceConfig) -> Option<CmPlan> {
    let cm = roce.cm.unwrap_or_default();
    (roce.connect == Connect::Cm).then(|| CmPlan {
        response_timeout: cm.response_timeout,
        retries: cm.retries,
        packet_lifetime: cm.packet_lifetime,
        priority: cm.priority.unwrap_or(roce.priority),
    })
}

fn check_recovery(roce: &RoceConfig) -> Result<(), Fault> {
    let name = roce.recovery.name();
    roce.recovery.validate().map_err(|error| {
        let key = format!("roce.recovery.{name}.{}", error.key);
        Fault::at(key, error.problem).value(error.value).help(error.fix)
    })
}

fn check_path_entropy(roce: &RoceConfig) -> Result<(), Fault> {
    let name = roce.path_entropy.name();
    roce.path_entropy.validate().map_err(|error| {
        let key = format!("roce.path_entropy.{name}.{}", error.key);
        Fault::at(key, error.problem).value(error.value).help(error.fix)
    })
}

fn check_coalescing(roce: &RoceConfig) -> Result<(), Fault> {
    let Some(coalescing) = roce.ack_coalescing else { return Ok(()) };
    ensure(coalescing.packets > 0, || {
        Fault::at("roce.ack_coalescing.packets", "no acknowledgement stands for no packet")
            .help("give 1 for each packet, or more")
    })?;
    let timeout = roce.ack_timeout.duration();
    ensure(timeout.is_none_or(|timeout| coalescing.delay < timeout), || {
        let timeout = timeout.unwrap_or_default();
        let text = format!("the requester does not wait longer than its ACK timeout of {timeout}");
        Fault::at("roce.ack_coalescing.delay", text).help("give less, or a larger `ack_timeout`")
    })
}

fn check_timeouts(roce: &RoceConfig) -> Result<(), Fault> {
    let Some(timeouts) = roce.timeouts else { return Ok(()) };
    ensure(roce.recovery.is_selective(), || {
        Fault::at("roce.timeouts", "only selective repeat has two timeouts")
            .value("")
            .help("use `recovery = \"selective-repeat\"`, or `ack_timeout` instead")
    })?;
    ensure(roce.ack_timeout == RoceConfig::default().ack_timeout, || {
        Fault::at("roce.ack_timeout", "`timeouts` takes its place")
            .help("leave it out, or leave `timeouts` out")
    })?;
    ensure(timeouts.low > Duration::ZERO, || {
        Fault::at("roce.timeouts.low", "nothing is acknowledged in no time")
            .help("give a time above 0s")
    })?;
    ensure(timeouts.high >= timeouts.low, || {
        let text = format!("the long timeout is shorter than the short one of {}", timeouts.low);
        Fault::at("roce.timeouts.high", text).help(format!("give at least {}", timeouts.low))
    })
}

/// Tells all queue pairs the round-trip time of the longest path in use: what fills that fills
/// every other, and switches average over one time only. With selective repeat, that many
/// packets may be in flight, if the scenario says nothing else (IRN, SIGCOMM 2018: BDP flow
/// control, for the longest path in the network). Where packets may overtake each other, as many more may be
/// in flight as may overtake one: else none is ever overtaken by so many that it is taken for lost.
pub(super) fn measure_paths(plan: &mut Plan, roce: &RoceConfig) {
    let ways = applications::ways(&plan.flows, &plan.apps, &plan.connections);
    let base_rtt = UnloadedNetwork::new(plan).largest_round_trip(&ways) + of_hosts(plan);
    let limit = match roce.max_outstanding {
        None if roce.recovery.is_selective() => {
            let overtaking = match roce.recovery.tolerance() {
                0 => 0,
                tolerance => tolerance + 2,
            };
            let most = QueuePairProfile::MAX_OUTSTANDING;
            Some(packets_in(plan, base_rtt).saturating_add(overtaking).min(most))
        }
        given => given,
    };
    for profile in &mut plan.queue_pairs {
        let max_outstanding = limit.unwrap_or(profile.max_outstanding);
        let measured = QueuePairProfile { base_rtt, max_outstanding, ..(**profile).clone() };
        *profile = Arc::new(measured);
    }
}

/// What hosts that take time add to the round trip of a frame, between the two slowest of them.
fn of_hosts(plan: &Plan) -> Duration {
    let profiles = || plan.host_models.values().map(|model| &model.profile);
    let added = profiles().map(|profile| HostProfile::added_to_round_trip(profile, profile));
    added.max().unwrap_or_default()
}

/// Full packets that the fastest host sends in this time, the last one begun: at least 2.
fn packets_in(plan: &Plan, time: Duration) -> u32 {
    let rates = plan
        .topology
        .links
        .iter()
        .filter(|link| plan.topology.is_host(link.a) || plan.topology.is_host(link.b));
    let fastest = rates.map(|link| link.rate).max().unwrap_or_default();
    let bytes = UnloadedNetwork::new(plan).full_frame() + plan.gap_bytes();
    let packets = fastest.bytes_in(time).get().div_ceil(bytes.max(1));
    let most = QueuePairProfile::MAX_OUTSTANDING;
    u32::try_from(packets.max(FEWEST_OUTSTANDING)).unwrap_or(most).min(most)
}
