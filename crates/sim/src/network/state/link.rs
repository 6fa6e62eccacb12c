//! One direction of a link: the frames on it and what befalls them.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_state::{Result, State, load_value, save_value, unfit};
use rocelab_units::SimTime;

use super::Checkpoint;
use crate::network::faults::{Direction, HeldBack};
use crate::network::packet::{ANY, NO_ROUTE};
use crate::network::part::PortPlaces;

impl Checkpoint<'_> {
    /// Of a port that sends here, with the packets on its link in the order in which they arrive.
    pub(super) fn save_link(
        &mut self,
        port: u32,
        on_link: &[(EventKey, PacketId)],
        to: &mut Vec<u8>,
    ) -> Result {
        let state = &self.0.ports[port as usize];
        save_value(&state.rare.doomed, to)?;
        save_value(&(on_link.len() as u64), to)?;
        for &(arrival, id) in on_link {
            save_value(&arrival, to)?;
            self.save_packet(id, to)?;
        }
        if let Some(dice) = self.0.shared.loss(port) {
            save_value(dice, to)?;
        }
        let mut faults = self.0.features.faults.take();
        let saved = match faults.as_mut().and_then(|faults| faults.direction(port)) {
            None => Ok(()),
            Some(direction) => self.save_faults(direction, to),
        };
        self.0.features.faults = faults;
        saved
    }

    pub(super) fn load_link(&mut self, port: u32, from: &mut &[u8]) -> Result {
        self.0.ports[port as usize].rare.doomed = load_value(from)?;
        let far = self.0.ports[port as usize].far.node;
        let ports_behind = self.0.layout.adjacency.ports_of(far).len();
        for _ in 0..load_value::<u64>(from)? {
            let arrival = load_value(from)?;
            let packet = self.load_packet(from)?;
            let state = &mut self.0.ports[port as usize];
            state.last = packet;
            let on_link = self.0.pool.get_mut(packet);
            let next = on_link.switch_port;
            let is_port = usize::from(next) < ports_behind;
            if !is_port && next != NO_ROUTE && !(next == ANY && state.far.switch.chooses()) {
                return Err(unfit("the way of a packet"));
            }
            on_link.start_on_link(port);
            self.0.queue.push(arrival, state.far.arrival_of(port, packet, on_link));
        }
        if let Some(dice) = self.0.shared.loss(port) {
            *dice = load_value(from)?;
        }
        let mut faults = self.0.features.faults.take();
        let loaded = match faults.as_mut().and_then(|faults| faults.direction(port)) {
            None => Ok(()),
            Some(direction) => self.load_faults(direction, from),
        };
        self.0.features.faults = faults;
        loaded
    }

    fn save_faults(&self, direction: &Direction, to: &mut Vec<u8>) -> Result {
        direction.rules.save(to)?;
        save_value(&(direction.held.line.len() as u64), to)?;
        for &(id, due) in &direction.held.line {
            save_value(&due, to)?;
            self.save_packet(id, to)?;
        }
        save_value(&(direction.held.back.len() as u64), to)?;
        for &HeldBack { id, behind, due } in &direction.held.back {
            save_value(&(behind, due), to)?;
            self.save_packet(id, to)?;
        }
        Ok(())
    }

    fn load_faults(&mut self, direction: &mut Direction, from: &mut &[u8]) -> Result {
        direction.rules.load(from)?;
        for _ in 0..load_value::<u64>(from)? {
            let due: SimTime = load_value(from)?;
            let id: PacketId = self.load_packet(from)?;
            direction.held.line.push_back((id, due));
        }
        for _ in 0..load_value::<u64>(from)? {
            let (behind, due) = load_value(from)?;
            let id = self.load_packet(from)?;
            direction.held.back.push(HeldBack { id, behind, due });
        }
        Ok(())
    }

    /// What ports at the other ends of links that are cut know: their rates, and whether they are up.
    pub(super) fn load_ports_beyond(&mut self) {
        let PortPlaces { own, .. } = self.0.layout.places;
        for place in own..self.0.ports.len() {
            let port = &self.0.ports[place];
            let link = self.0.layout.adjacency.ports_of(port.node)[usize::from(port.number)].link;
            let rate = self.0.failures.outages.rate_of(link);
            let port = &mut self.0.ports[place];
            if let Some(rate) = rate {
                port.port.set_rate(rate);
            }
            if self.0.failures.outages.is_down(link) {
                port.port.shut_down();
                port.port.cut_off();
                port.free_armed = true;
            }
        }
    }
}
