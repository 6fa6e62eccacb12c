//! Whether the switches' memory can be divided as the scenario asks.

use rocelab_fabric::{BufferError, BufferLayout, Headroom, SwitchConfig};
use rocelab_units::Bytes;

use crate::plan::Plan;
use crate::scenario::Fault;

/// Whether every switch has room for its headroom and reserves, and something to share.
pub(super) fn check(plan: &Plan) -> Result<(), Fault> {
    let adjacency = plan.topology.adjacency();
    for switch in plan.topology.switches() {
        let config = plan.switch_at(switch);
        BufferLayout::new(config, &plan.headroom(switch, &adjacency))
            .map_err(|error| placed(error, config, &plan.topology.nodes[switch as usize].name))?;
    }
    Ok(())
}

fn placed(error: BufferError, config: &SwitchConfig, switch: &str) -> Fault {
    match error {
        BufferError::NothingToShare { headroom, reserve, ports, total } => {
            let message = format!(
                "at `{switch}`, headroom {headroom} and reserves {reserve} of {ports} ports and \
                 {} lossless priorities leave nothing of the buffer of {total} to share",
                config.lossless.len()
            );
            let key = match config.headroom {
                Headroom::Fixed(_) if headroom >= reserve => "switch.headroom",
                _ if reserve > headroom => "switch.reserve",
                _ => "switch.buffer",
            };
            let needed = Bytes::new(headroom.get().saturating_add(reserve.get()));
            let value = match key {
                "switch.headroom" => "\"auto\"".into(),
                "switch.reserve" => config.reserve.to_string(),
                _ => config.buffer.to_string(),
            };
            Fault::at(key, message)
                .value(value)
                .help(format!("make it smaller, or the buffer larger than {needed}"))
        }
        error @ BufferError::TooLarge { .. } => {
            Fault::at("switch.buffer", error.to_string()).help("give at most 4GB")
        }
    }
}
