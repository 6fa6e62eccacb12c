//! What arrives at a host whose NIC is slow: it waits in the NIC's memory until it is handled, and
//! when that fills, the NIC asks for pauses (Guo et al., RDMA over Commodity Ethernet at Scale,
//! SIGCOMM 2016, section 4.4).
//!
//! Frames are handled one after the other, in the order in which they came. One takes the time that
//! its bytes take at the NIC's rate, and that of each translation that has to be fetched.

mod memory;

use rocelab_engine::EventKey;
use rocelab_fabric::{Fifo, PacketId};

pub use self::memory::ReceiverCounts;
pub(in crate::network) use self::memory::{Receiver, Receivers};
use super::core::Network;
use super::event::Event;
use super::host_pauses::HostPauses;
use super::node::Role;
use super::translations::Translations;
use crate::profile::Profile;
use crate::record::DropCause;

/// A network with slow receivers.
#[derive(Debug)]
pub(super) struct Receiving<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Receiving<'_, P> {
    /// Has what arrives at slow receivers kept by them.
    pub(super) fn add_slow_receivers(&mut self) {
        let plan = std::sync::Arc::clone(&self.0.plan);
        for (&node, config) in &plan.slow_receivers {
            let Role::Host(host) = self.0.nodes[node as usize].role else { continue };
            let sending_port = self.0.ports[self.0.hosts[host as usize].port as usize].far.port;
            self.0.ports[sending_port as usize].far.look_at_arrivals();
            let translations = config.translation.as_ref();
            let receiver = Receiver {
                config: config.clone(),
                sending_port,
                waiting: Fifo::default(),
                stored: 0,
                pauses: false,
                stalled: false,
                translations: translations.map(|config| Translations::new(config, &plan, node)),
                counts: ReceiverCounts::default(),
            };
            self.0.features.receivers.insert(host, receiver);
        }
    }

    /// A frame has arrived at a host; true if a slow receiver keeps it for later, or drops it.
    pub(super) fn is_kept(&mut self, key: EventKey, role: Role, id: PacketId) -> bool {
        let Role::Host(host) = role else { return false };
        let packet = self.0.pool.get(id);
        let (Some(_), Some(receiver)) =
            (packet.body.priority(), self.0.features.receivers.get_mut(&host))
        else {
            return false;
        };
        // What was flooded and is for others ends at the filter of MAC addresses.
        if packet.destination != self.0.hosts[host as usize].node {
            return false;
        }
        let stored = receiver.stored + u64::from(packet.frame_len);
        if stored > receiver.config.buffer.get() {
            let port = self.0.hosts[host as usize].port;
            self.0.drop_frame(key, port, None, id, DropCause::ReceiverFull);
            return true;
        }
        receiver.stored = stored;
        receiver.counts.max_bytes = receiver.counts.max_bytes.max(stored);
        let was_idle = receiver.waiting.is_empty();
        receiver.waiting.push_back(&mut self.0.pool, id);
        if stored > receiver.config.xoff.get() && !receiver.pauses {
            receiver.pauses = true;
            receiver.counts.pauses += 1;
            HostPauses(self.0).ask_for_pauses(key, host);
        }
        if was_idle {
            self.handle_next(key, host);
        }
        true
    }

    /// A slow receiver has handled its first frame.
    #[cold]
    pub(super) fn handled(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.0.features.receivers.get_mut(&host) else { return };
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
        let Some(receiver) = self.0.features.receivers.get_mut(&host) else { return };
        let takes = receiver.time_of(self.0.pool.get(receiver.waiting.head()));
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        self.0.queue.push(EventKey { time: key.time + takes, tie }, Event::Handled { host });
    }

    /// A host that handled nothing may work again: a slow receiver goes on where it stopped.
    pub(super) fn go_on_handling(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.0.features.receivers.get_mut(&host) else { return };
        if self.0.hosts[host as usize].handles_nothing() || !receiver.stalled {
            return;
        }
        receiver.stalled = false;
        let tie = self.0.reserve(self.0.hosts[host as usize].node);
        self.0.queue.push(EventKey { time: key.time, tie }, Event::Handled { host });
    }
}
