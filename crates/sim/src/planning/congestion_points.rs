//! Whether QCN is asked for where it can be: within one layer-2 domain.

use rocelab_fabric::QcnConfig;
use rocelab_units::Bytes;

use super::algorithms;
use super::priority::check_priority;
use crate::scenario::{Fault, RoceVersion, Scenario, ensure};

/// The longest queue, and the most bytes between samples, that a congestion point counts.
const LARGEST: Bytes = Bytes::new(1_000_000_000);

/// Refuses QCN on RoCE v2: each switch is a router there, and the notifications of a congestion
/// point are layer-2 frames to the MAC address that a frame came from, which is that of the last
/// router.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.roce.version == RoceVersion::V1 {
        return Ok(());
    }
    for named in algorithms::named(scenario) {
        ensure(!named.algorithm.needs_qcn(), || {
            let name = named.algorithm.name();
            let text = format!(
                "`{name}` needs notifications of switches, which do not leave a layer-2 domain: \
                 RoCE v2 frames are routed by every switch"
            );
            Fault::at(named.section(), text).help("use `roce.version = 1`, or `dcqcn`")
        })?;
    }
    let overrides = scenario.switch.overrides.iter().enumerate();
    let overrides =
        overrides.map(|(index, one)| (format!("switch.override[{index}].qcn"), &one.qcn));
    for (key, qcn) in core::iter::once(("switch.qcn".into(), &scenario.switch.qcn)).chain(overrides)
    {
        ensure(qcn.is_none(), || {
            let text = "notifications of congestion points do not leave a layer-2 domain: RoCE v2 \
                        frames are routed by every switch";
            Fault::at(key, text).help("use `roce.version = 1`, or `ecn`")
        })?;
    }
    Ok(())
}

/// Refuses parameters that no congestion point can have.
pub(super) fn check_parameters(qcn: &QcnConfig) -> Result<(), Fault> {
    ensure((Bytes::new(100)..=LARGEST).contains(&qcn.set_point), || {
        Fault::at("switch.qcn.set_point", format!("{} is no length to aim at", qcn.set_point))
            .help(format!("give 100B to {LARGEST}, such as \"26KB\""))
    })?;
    ensure(qcn.weight <= 1024, || {
        Fault::at("switch.qcn.weight", "only the queue's growth would count")
            .help("give 0 to 1024, such as 2")
    })?;
    ensure((Bytes::new(10_000)..=LARGEST).contains(&qcn.sample_base), || {
        let text = format!("{} between two samples is out of range", qcn.sample_base);
        Fault::at("switch.qcn.sample_base", text)
            .help(format!("give 10KB to {LARGEST}, such as \"150KB\""))
    })?;
    check_priority("switch.qcn.cnm_priority", qcn.cnm_priority)
}
