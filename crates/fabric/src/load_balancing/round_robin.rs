//! Packet spraying in turns: the simplest algorithm that fills all paths alike. Packets overtake each
//! other wherever paths are not equally long and equally full (Dixit et al., INFOCOM 2013).

use super::{Choice, ChoosePort};

/// How often the switch has chosen.
#[derive(Debug, Default)]
pub struct Balancer {
    turn: u32,
}

rocelab_state::state!(Balancer { values: turn });

impl ChoosePort for Balancer {
    #[inline]
    fn choose(&mut self, choice: Choice<'_>, _waiting: impl Fn(u16) -> u32) -> usize {
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        turn as usize % choice.ports.len()
    }
}
