//! What the unreliable services cannot do.

use rocelab_transport::congestion_control::Feedback;
use rocelab_transport::{Algorithm, Service};
use rocelab_units::{Bandwidth, Bytes};

use super::algorithms;
use crate::plan::FlowPlan;
use crate::scenario::{Connect, Fault, RoceConfig, Scenario, Verb, ensure};
use crate::workload::AppPlan;

/// Refuses what needs acknowledgements, or promises, where there are none.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.roce.service.is_reliable() {
        return Ok(());
    }
    ensure(!scenario.integrity, || {
        Fault::at("integrity", "an unreliable service promises nothing that could be checked")
            .help("use `service = \"rc\"`, or leave it out")
    })?;
    ensure(scenario.roce.connect == Connect::OutOfBand, || {
        Fault::at("roce.connect", "only reliable connections are made by messages here")
            .help("use `service = \"rc\"`, or `connect = \"out-of-band\"`")
    })?;
    check_keys(&scenario.roce)?;
    for named in algorithms::usable(scenario) {
        let feedback = named.algorithm.feedback(Bandwidth::from_gbps(100));
        ensure(matches!(feedback, Feedback::None | Feedback::Cnp { .. } | Feedback::Qcn), || {
            let name = named.algorithm.name();
            let text = format!("`{name}` goes by acknowledgements, which this service has not");
            let help = match &named.algorithm {
                Algorithm::InfiniBand(_) => "use `notification = \"cn\"`, or `service = \"rc\"`",
                _ if scenario.infiniband.is_some() => {
                    "use `none` or `infiniband`, or `service = \"rc\"`"
                }
                _ => "use `none`, `dcqcn` or `qcn`, or `service = \"rc\"`",
            };
            Fault::at(named.section(), text).help(help)
        })?;
    }
    Ok(())
}

/// Refuses keys of acknowledgements, retries and reads, of which there are none.
fn check_keys(roce: &RoceConfig) -> Result<(), Fault> {
    let default = RoceConfig::default();
    for (key, is_default) in [
        ("recovery", roce.recovery == default.recovery),
        ("ack_interval", roce.ack_interval == default.ack_interval),
        ("ack_timeout", roce.ack_timeout == default.ack_timeout),
        ("retry_count", roce.retry_count == default.retry_count),
        ("rnr_retry", roce.rnr_retry == default.rnr_retry),
        ("rnr_timer", roce.rnr_timer == default.rnr_timer),
        ("max_rd_atomic", roce.max_rd_atomic == default.max_rd_atomic),
        ("max_dest_rd_atomic", roce.max_dest_rd_atomic == default.max_dest_rd_atomic),
        ("max_outstanding", roce.max_outstanding.is_none()),
        ("ack_coalescing", roce.ack_coalescing.is_none()),
        ("timeouts", roce.timeouts.is_none()),
    ] {
        ensure(is_default, || {
            let text = "an unreliable service acknowledges nothing and sends nothing again";
            Fault::at(format!("roce.{key}"), text).help("leave it out, or use `service = \"rc\"`")
        })?;
    }
    Ok(())
}

/// Refuses applications, whose steps need acknowledgements.
pub(super) fn check_apps(apps: &[AppPlan], roce: &RoceConfig) -> Result<(), Fault> {
    ensure(apps.is_empty() || roce.service.is_reliable(), || {
        Fault::at("roce.service", "applications use reliable connections")
            .help("use `service = \"rc\"`, or workloads of flows")
    })
}

/// Refuses flows that the service cannot carry.
pub(super) fn check_flow(flow: &FlowPlan, roce: &RoceConfig) -> Result<(), Fault> {
    if flow.is_tcp() {
        return Ok(());
    }
    let (name, is_possible) = match roce.service {
        Service::ReliableConnection => return Ok(()),
        Service::UnreliableConnection => ("connections", flow.verb != Verb::Read),
        Service::UnreliableDatagram => ("datagrams", flow.verb == Verb::Send),
    };
    ensure(is_possible, || {
        let verb = flow.verb.name();
        Fault::at("verb", format!("unreliable {name} have no `{verb}`"))
            .value(verb)
            .help("use `send`, or `service = \"rc\"`")
    })?;
    let mtu = u64::from(roce.path_mtu.bytes());
    let longest = flow.bytes.min(flow.message_bytes);
    ensure(roce.service != Service::UnreliableDatagram || longest <= mtu, || {
        let size = Bytes::new(longest);
        Fault::at("", format!("a datagram of {size} is longer than the path MTU of {mtu} bytes"))
            .help(format!("give `message = \"{mtu}B\"` in `[workload.flows]`, or send less"))
    })
}
