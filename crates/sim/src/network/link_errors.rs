//! Links on which bits change, or whose ends take no long frames: what comes in like that is dropped by the port.

use std::collections::BTreeMap;

use rocelab_engine::RngStream;
use rocelab_state::{Result, load_value, save_value};

use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::saved_packets::SavedPackets;
use crate::profile::Profile;
use crate::record::DropCause;

/// The directions of links that differ from others, by the port that sends, by its number of all.
#[derive(Debug)]
pub(super) struct LinkErrors(BTreeMap<u32, Direction>);

/// One direction of a link.
#[derive(Debug)]
struct Direction {
    largest_frame: Option<u32>,
    errors: Option<BitErrors>,
}

/// Bits that change on their way, each with the same probability.
#[derive(Debug)]
struct BitErrors {
    /// How many bits there are from one error to the next, in the mean.
    mean_distance: f64,
    dice: RngStream,
    /// Bits that cross before the next one that changes.
    before_next: u64,
}

impl BitErrors {
    fn new(rate: f64, dice: RngStream) -> Self {
        let mut errors = Self { mean_distance: rate.recip(), dice, before_next: 0 };
        errors.draw();
        errors
    }

    /// Whether a frame of so many bits arrives with one that has changed.
    fn strikes(&mut self, bits: u64) -> bool {
        if let Some(rest) = self.before_next.checked_sub(bits) {
            self.before_next = rest;
            return false;
        }
        // Errors have no memory, so it does not matter how many more are in this frame.
        self.draw();
        true
    }

    fn draw(&mut self) {
        let distance = self.dice.exponential(self.mean_distance);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let bits = distance as u64;
        self.before_next = bits;
    }
}

impl<P: Profile> Feature<P> for LinkErrors {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let mut directions = BTreeMap::new();
        for (place, port) in (0u32..).zip(&*network.ports) {
            let neighbours = network.layout.adjacency.ports_of(port.node);
            let link = neighbours.get(usize::from(port.number)).map(|neighbour| neighbour.link);
            let Some(&link) = link.and_then(|link| plan.links.get(&link)) else { continue };
            let name = &plan.topology.nodes[port.node as usize].name;
            let dice = || RngStream::new(plan.seed, &format!("bit-errors/{name}/{}", port.number));
            let errors = link.bit_error_rate.map(|rate| BitErrors::new(rate, dice()));
            directions.insert(place, Direction { largest_frame: link.largest_frame, errors });
        }
        if directions.is_empty() {
            return None;
        }
        network.look_at_arrivals(|port, _| directions.contains_key(&port));
        Some(Box::new(Self(directions)))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let Some(direction) = self.0.get_mut(&arrival.port) else { return Verdict::Continue };
        let len = scene.frames.get(arrival.id).frame_len;
        let errors = direction.errors.as_mut();
        if errors.is_some_and(|errors| errors.strikes(u64::from(len) * 8)) {
            return Verdict::Drop(DropCause::FcsError);
        }
        if direction.largest_frame.is_some_and(|largest| u32::from(len) > largest) {
            return Verdict::Drop(DropCause::MtuExceeded);
        }
        Verdict::Continue
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Link(port) = of else { return Ok(()) };
        match self.0.get(&port).and_then(|direction| direction.errors.as_ref()) {
            Some(errors) => save_value(&(&errors.dice, errors.before_next), to),
            None => Ok(()),
        }
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Link(port) = of else { return Ok(()) };
        if let Some(errors) = self.0.get_mut(&port).and_then(|direction| direction.errors.as_mut())
        {
            (errors.dice, errors.before_next) = load_value(from)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 10,000 bits at a rate of 1e-5: one in ten and a half is struck (1 - exp(-0.1)).
    #[test]
    fn frames_are_struck_as_often_as_their_bits_say() {
        let mut errors = BitErrors::new(1e-5, RngStream::new(7, "bit-errors"));
        let struck = (0..100_000).filter(|_| errors.strikes(10_000)).count();
        let expected = 100_000.0 * (1.0 - libm::exp(-0.1));
        // Five standard deviations of a binomial distribution.
        assert!((struck as f64 - expected).abs() < 5.0 * 93.0, "{struck} {expected}");
    }
}
