//! What arrives at a host whose NIC is slow: it waits in the NIC's memory until it is handled, and
//! when that fills, the NIC asks for pauses (Guo et al., RDMA over Commodity Ethernet at Scale,
//! SIGCOMM 2016, section 4.4).
//!
//! Frames are handled one after the other, in the order in which they came. One takes the time that
//! its bytes take at the NIC's rate, and that of each translation that has to be fetched.

use std::collections::BTreeMap;

use rocelab_engine::EventKey;
use rocelab_fabric::{Fifo, PacketId};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bytes, Duration};

use super::packet::{Body, Packet};
use super::translations::Translations;
use super::{DropCause, Event, Network, Role};
use crate::plan::SlowReceiver;
use crate::profile::{HostPacket, Profile};

/// The slow receivers of a network, by host.
pub(super) type Receivers = BTreeMap<u32, Receiver>;

/// A NIC that handles what arrives no faster than it can.
#[derive(Debug)]
pub(super) struct Receiver {
    config: SlowReceiver,
    /// The port at the other end of its link.
    sending_port: u32,
    /// What has arrived, the frame that is being handled first.
    pub(super) waiting: Fifo,
    /// Bytes of these.
    stored: u64,
    /// Whether the lossless priorities are paused.
    pauses: bool,
    /// Whether it is through with the first frame and its host handles nothing.
    stalled: bool,
    translations: Option<Translations>,
    counts: ReceiverCounts,
}

// What waits is saved with the packets themselves.
rocelab_state::state!(Receiver {
    values: stored, pauses, stalled, counts;
    states: translations;
    kept: config, sending_port, waiting
});

/// What a slow receiver has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct ReceiverCounts {
    /// Frames that it has handled.
    pub frames: u64,
    /// The most bytes that waited at once.
    pub max_bytes: u64,
    /// Pauses that it has asked for.
    pub pauses: u64,
    /// Translations that were needed.
    pub translations: u64,
    /// Of these, those that had to be fetched.
    pub misses: u64,
}

impl<P: Profile> Network<P> {
    /// Has what arrives at slow receivers kept by them.
    pub(super) fn add_slow_receivers(&mut self) {
        let plan = std::sync::Arc::clone(&self.plan);
        for (&node, config) in &plan.slow_receivers {
            let Role::Host(host) = self.nodes[node as usize].role else { continue };
            let sending_port = self.ports[self.hosts[host as usize].port as usize].far.port;
            self.ports[sending_port as usize].far.look_at_arrivals();
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
            self.receivers.insert(host, receiver);
        }
    }

    /// What each slow receiver has done, by node.
    pub fn slow_receivers(&self) -> impl Iterator<Item = (u32, ReceiverCounts)> {
        self.receivers.iter().map(|(&host, receiver)| {
            let counts = match &receiver.translations {
                None => receiver.counts,
                Some(translations) => ReceiverCounts {
                    translations: translations.used(),
                    misses: translations.misses(),
                    ..receiver.counts
                },
            };
            (self.hosts[host as usize].node, counts)
        })
    }

    /// A frame has arrived at a host; true if a slow receiver keeps it for later, or drops it.
    pub(super) fn is_kept(&mut self, key: EventKey, role: Role, id: PacketId) -> bool {
        let Role::Host(host) = role else { return false };
        let packet = self.pool.get(id);
        let (Some(_), Some(receiver)) = (packet.body.priority(), self.receivers.get_mut(&host))
        else {
            return false;
        };
        // What was flooded and is for others ends at the filter of MAC addresses.
        if packet.destination != self.hosts[host as usize].node {
            return false;
        }
        let stored = receiver.stored + u64::from(packet.frame_len);
        if stored > receiver.config.buffer.get() {
            let port = self.hosts[host as usize].port;
            self.drop_frame(key, port, None, id, DropCause::ReceiverFull);
            return true;
        }
        receiver.stored = stored;
        receiver.counts.max_bytes = receiver.counts.max_bytes.max(stored);
        let was_idle = receiver.waiting.is_empty();
        receiver.waiting.push_back(&mut self.pool, id);
        if stored > receiver.config.xoff.get() && !receiver.pauses {
            receiver.pauses = true;
            receiver.counts.pauses += 1;
            self.ask_for_pauses(key, host);
        }
        if was_idle {
            self.handle_next(key, host);
        }
        true
    }

    /// A slow receiver has handled its first frame.
    #[cold]
    pub(super) fn handled(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.receivers.get_mut(&host) else { return };
        if self.hosts[host as usize].handles_nothing() {
            receiver.stalled = true;
            return;
        }
        let Some(id) = receiver.waiting.pop_front(&self.pool) else {
            debug_assert!(false, "a receiver handled nothing");
            return;
        };
        receiver.stored -= u64::from(self.pool.get(id).frame_len);
        receiver.counts.frames += 1;
        let resumes = receiver.pauses && receiver.stored <= receiver.config.xon.get();
        let (port, is_idle) = (receiver.sending_port, receiver.waiting.is_empty());
        if resumes {
            receiver.pauses = false;
            self.ask_for_pauses(key, host);
        }
        self.deliver_specially(key, port, id);
        if !is_idle {
            self.handle_next(key, host);
        }
    }

    /// Begins to handle the first frame.
    fn handle_next(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.receivers.get_mut(&host) else { return };
        let takes = receiver.time_of(self.pool.get(receiver.waiting.head()));
        let tie = self.reserve(self.hosts[host as usize].node);
        self.queue.push(EventKey { time: key.time + takes, tie }, Event::Handled { host });
    }

    /// Whether a slow receiver is handling a frame.
    pub(super) fn handles_frames(&self) -> bool {
        self.receivers.iter().any(|(&host, receiver)| {
            let works = !self.hosts[host as usize].handles_nothing();
            works && !receiver.waiting.is_empty()
        })
    }

    /// A host that handled nothing may work again: a slow receiver goes on where it stopped.
    pub(super) fn go_on_handling(&mut self, key: EventKey, host: u32) {
        let Some(receiver) = self.receivers.get_mut(&host) else { return };
        if self.hosts[host as usize].handles_nothing() || !receiver.stalled {
            return;
        }
        receiver.stalled = false;
        let tie = self.reserve(self.hosts[host as usize].node);
        self.queue.push(EventKey { time: key.time, tie }, Event::Handled { host });
    }
}

impl Receiver {
    /// Bit p: priority p is to pause.
    pub(super) fn pausing(&self) -> u8 {
        if self.pauses { self.config.lossless } else { 0 }
    }

    /// How long it takes to handle a frame.
    fn time_of<R: HostPacket>(&mut self, packet: &Packet<R>) -> Duration {
        let len = Bytes::new(packet.frame_len.into());
        let transfer = self.config.rate.map_or(Duration::ZERO, |rate| rate.transmission_time(len));
        let (Some(translations), Body::Rdma(body)) = (&mut self.translations, &packet.body) else {
            return transfer;
        };
        transfer + body.as_rdma().map_or(Duration::ZERO, |rdma| translations.fetch(rdma))
    }
}
