//! Flows take the ports in turn.

use super::ServerFlow;

pub(super) fn select(flow: &ServerFlow) -> usize {
    let turn = flow.number % flow.ports as u64;
    usize::try_from(turn).unwrap_or(0)
}
