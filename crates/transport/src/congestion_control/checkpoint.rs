//! The state of a controller in a checkpoint: it fits one of the same algorithm only, which
//! follows the same telemetry.

use rocelab_state::{Result, load_value, save_value, unfit};
use rocelab_wire::TelemetryKind;

use super::{Algorithm, CongestionControl};

/// Appends a controller's state, with the name of its algorithm and of the telemetry that it follows.
pub(crate) fn save(
    algorithm: &Algorithm,
    control: &dyn CongestionControl,
    to: &mut Vec<u8>,
) -> Result {
    let mut state = Vec::new();
    control.save(&mut state)?;
    save_value(&(algorithm.identity(), telemetry(algorithm), state), to)
}

/// The name of the telemetry in its packets.
fn telemetry(algorithm: &Algorithm) -> Option<&'static str> {
    algorithm.telemetry().map(TelemetryKind::name)
}

/// Loads it into a controller that was built anew.
pub(crate) fn load(
    algorithm: &Algorithm,
    control: &mut dyn CongestionControl,
    from: &mut &[u8],
) -> Result {
    let (name, carried, state): (String, Option<String>, Vec<u8>) = load_value(from)?;
    let is_same = name == algorithm.identity() && carried.as_deref() == telemetry(algorithm);
    let mut rest = &state[..];
    if is_same {
        control.load(&mut rest)?;
    }
    // With another preset the state of an algorithm may be another, of another length.
    if is_same && rest.is_empty() { Ok(()) } else { Err(unfit("the congestion control")) }
}
