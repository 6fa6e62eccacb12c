//! One number for all packets of a queue pair: they take one way, and stay in order.

use rocelab_state::{Result, State};

use super::Policy;
use crate::Packet;

/// It remembers nothing.
#[derive(Debug)]
pub(super) struct Choice;

impl State for Choice {
    fn save(&self, _: &mut Vec<u8>) -> Result {
        Ok(())
    }

    fn load(&mut self, _: &mut &[u8]) -> Result {
        Ok(())
    }
}

/// Its state in a new queue pair.
pub(super) const fn choice() -> Choice {
    Choice
}

impl Policy for Choice {
    fn numbers(&self) -> u32 {
        1
    }

    fn next(&mut self, _: &Packet) -> u32 {
        0
    }
}
