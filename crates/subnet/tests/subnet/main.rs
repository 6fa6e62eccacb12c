//! Tables and LIDs of whole subnets.

mod engines;
mod files;
mod golden;
mod properties;
mod scale;
mod topologies;

use rocelab_subnet::SERVICE_LEVELS;

/// A lane of its own for each service level.
fn service_levels() -> [u8; SERVICE_LEVELS] {
    std::array::from_fn(|level| u8::try_from(level).expect("small"))
}
