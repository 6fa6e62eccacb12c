//! What arrives at a host whose NIC is slow: it waits in the NIC's memory until it is handled, and
//! when that fills, the NIC asks for pauses (Guo et al., RDMA over Commodity Ethernet at Scale,
//! SIGCOMM 2016, section 4.4).
//!
//! Frames are handled one after the other, in the order in which they came. One takes the time that
//! its bytes take at the NIC's rate, and that of each translation that has to be fetched.

mod memory;

use rocelab_engine::EventKey;
use rocelab_fabric::Fifo;
use rocelab_state::{Result, State as _};

pub use self::memory::ReceiverCounts;
pub(in crate::network) use self::memory::{Receiver, Receivers};
use super::core::Network;
use super::event::Event;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::host_pauses::HostPauses;
use super::node::Role;
use super::saved_packets::SavedPackets;
use super::translations::Translations;
use crate::profile::Profile;
use crate::record::DropCause;

impl<P: Profile> Feature<P> for Receivers {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let mut receivers = Self::default();
        for (&node, config) in &plan.slow_receivers {
            let Role::Host(host) = network.nodes[node as usize].role else { continue };
            let port = network.hosts[host as usize].port;
            let sending_port = network.ports[port as usize].far.port;
            network.look_at_arrivals(|port, _| port == sending_port);
            let translations = config.translation.as_ref();
            let receiver = Receiver {
                config: config.clone(),
                sending_port,
                waiting: Fifo::default(),
                stored: 0,
                pauses: false,
                stalled: false,
                translations: translations.map(|config| Translations::new(config, plan, node)),
                counts: ReceiverCounts::default(),
            };
            receivers.by_host.insert(host, receiver);
        }
        (!receivers.by_host.is_empty()).then(|| Box::new(receivers))
    }

    /// A slow receiver keeps a frame for later, or has no room for it.
    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let (id, packet) = (arrival.id, scene.frames.get(arrival.id));
        let Role::Host(host) = arrival.far.role else { return Verdict::Continue };
        let (Some(_), Some(receiver)) = (packet.body.priority(), self.by_host.get_mut(&host))
        else {
            return Verdict::Continue;
        };
        // What was flooded and is for others ends at the filter of MAC addresses.
        if packet.destination != arrival.far.node {
            return Verdict::Continue;
        }
        let stored = receiver.stored + u64::from(packet.frame_len);
        if stored > receiver.config.buffer.get() {
            return Verdict::Drop(DropCause::ReceiverFull);
        }
        receiver.stored = stored;
        receiver.counts.max_bytes = receiver.counts.max_bytes.max(stored);
        let begins = receiver.waiting.is_empty();
        receiver.waiting.push_back(scene.frames.pool, id);
        let pauses = stored > receiver.config.xoff.get() && !receiver.pauses;
        if pauses {
            receiver.pauses = true;
            receiver.counts.pauses += 1;
        }
        Verdict::Store { pauses, begins }
    }

    fn save(&self, of: StateOf, packets: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Host(host) = of else { return Ok(()) };
        let Some(receiver) = self.by_host.get(&host) else { return Ok(()) };
        receiver.save(to)?;
        packets.save_queue(&receiver.waiting, to)
    }

    fn load(&mut self, of: StateOf, packets: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Host(host) = of else { return Ok(()) };
        let Some(receiver) = self.by_host.get_mut(&host) else { return Ok(()) };
        receiver.load(from)?;
        receiver.waiting = packets.load_queue(from)?;
        Ok(())
    }
}

/// A network with slow receivers, or with hosts that take time.
#[derive(Debug)]
pub(super) struct Receiving<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Receiving<'_, P> {
    /// A slow receiver keeps a frame.
    pub(super) fn stored(&mut self, key: EventKey, role: Role, pauses: bool, begins: bool) {
        let Role::Host(host) = role else { return };
        if pauses {
            HostPauses(self.0).ask_for_pauses(key, host);
        }
        if begins {
            self.handle_next(key, host);
        }
    }

    /// A slow receiver has handled its first frame.
    #[cold]
    pub(super) fn handled(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.0.features.arrivals.receiver_mut(host) else { return };
        if self.0.hosts[host as usize].handles_nothing() {
            receiver.stalled = true;
            return;
        }
        let Some(id) = receiver.waiting.pop_front(&self.0.pool) else {
            debug_assert!(false, "a receiver handled nothing");
            return;
        };
        receiver.stored -= u64::from(self.0.pool.get(id).frame_len);
        receiver.counts.frames += 1;
        let resumes = receiver.pauses && receiver.stored <= receiver.config.xon.get();
        let (port, is_idle) = (receiver.sending_port, receiver.waiting.is_empty());
        if resumes {
            receiver.pauses = false;
            HostPauses(self.0).ask_for_pauses(key, host);
        }
        self.0.deliver_specially(key, port, id);
        if !is_idle {
            self.handle_next(key, host);
        }
    }

    /// Begins to handle the first frame.
    fn handle_next(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.0.features.arrivals.receiver_mut(host) else { return };
        let takes = receiver.time_of(self.0.pool.get(receiver.waiting.head()));
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        self.0.queue.push(EventKey { time: key.time + takes, tie }, Event::Handled { host });
    }

    /// A host that handled nothing may work again: a slow receiver goes on where it stopped.
    pub(super) fn go_on_handling(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.0.features.arrivals.receiver_mut(host) else { return };
        if self.0.hosts[host as usize].handles_nothing() || !receiver.stalled {
            return;
        }
        receiver.stalled = false;
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        self.0.queue.push(EventKey { time: key.time, tie }, Event::Handled { host });
    }
}
