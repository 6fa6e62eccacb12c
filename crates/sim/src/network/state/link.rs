//! One direction of a link: the frames on it and what befalls them.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_state::{Result, load_value, save_value, unfit};

use super::Checkpoint;
use crate::network::feature::StateOf;
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
            self.packets().save(id, to)?;
        }
        if let Some(dice) = self.0.shared.loss(port) {
            save_value(dice, to)?;
        }
        self.save_features(StateOf::Link(port), to)
    }

    pub(super) fn load_link(&mut self, port: u32, from: &mut &[u8]) -> Result {
        self.0.ports[port as usize].rare.doomed = load_value(from)?;
        let far = self.0.ports[port as usize].far.node;
        let ports_behind = self.0.layout.adjacency.ports_of(far).len();
        for _ in 0..load_value::<u64>(from)? {
            let arrival = load_value(from)?;
            let packet = self.packets().load(from)?;
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
        self.load_features(StateOf::Link(port), from)
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
