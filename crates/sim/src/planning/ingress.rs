//! Conditions for frames that come in by ports of switches: which ports, and with which parameters.

use rocelab_fabric::{IngressConfig, InvalidIngress, Topology};

use super::ports::of_switches;
use crate::plan::IngressPlan;
use crate::scenario::{Fault, RoceVersion, ensure};

/// The conditions of a scenario in whose network frames have at most `largest_frame` bytes.
pub(super) fn build(
    config: &IngressConfig,
    topology: &Topology,
    largest_frame: u64,
    version: RoceVersion,
) -> Result<Vec<IngressPlan>, Fault> {
    let all = config.conditions().into_iter().map(|(key, condition)| {
        let place = format!("ingress.{key}");
        condition.check(largest_frame).map_err(|invalid| {
            let InvalidIngress { key, value, problem, fix } = invalid;
            Fault::at(format!("{place}.{key}"), problem).value(value).help(fix)
        })?;
        ensure(!condition.notifies() || version == RoceVersion::V2, || {
            Fault::at(&place, "RoCE v1 has no congestion notification packets")
                .help("leave it out, or use `roce.version = 2`")
        })?;
        let ports = of_switches(&format!("{place}.ports"), condition.ports(), topology)?;
        Ok(IngressPlan { ports, condition })
    });
    all.collect()
}
