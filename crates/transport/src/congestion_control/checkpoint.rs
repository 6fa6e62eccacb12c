//! The state of a controller in a checkpoint: it fits one of the same algorithm only.

use rocelab_state::{Result, load_value, save_value, unfit};

use super::{Algorithm, CongestionControl};

/// Appends a controller's state, with the name of its algorithm.
pub(crate) fn save(
    algorithm: &Algorithm,
    control: &dyn CongestionControl,
    to: &mut Vec<u8>,
) -> Result {
    let mut state = Vec::new();
    control.save(&mut state)?;
    save_value(&(algorithm.name(), state), to)
}

/// Loads it into a controller that was built anew.
pub(crate) fn load(
    algorithm: &Algorithm,
    control: &mut dyn CongestionControl,
    from: &mut &[u8],
) -> Result {
    let (name, state): (String, Vec<u8>) = load_value(from)?;
    let mut rest = &state[..];
    if name == algorithm.name() {
        control.load(&mut rest)?;
    }
    // With another preset the state of an algorithm may be another, of another length.
    if name == algorithm.name() && rest.is_empty() {
        Ok(())
    } else {
        Err(unfit("the congestion control"))
    }
}
