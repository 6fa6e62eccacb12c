//! The memory of a slow NIC.

use std::collections::BTreeMap;

use rocelab_fabric::Fifo;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bytes, Duration};

use crate::network::packet::{Body, Packet};
use crate::network::translations::Translations;
use crate::plan::SlowReceiver;
use crate::profile::HostPacket;

/// The slow receivers of a network.
#[derive(Debug, Default)]
pub(in crate::network) struct Receivers {
    /// By host.
    pub(in crate::network) by_host: BTreeMap<u32, Receiver>,
}

/// A NIC that handles what arrives no faster than it can.
#[derive(Debug)]
pub(in crate::network) struct Receiver {
    pub(in crate::network) config: SlowReceiver,
    /// The port at the other end of its link.
    pub(in crate::network) sending_port: u32,
    /// What has arrived, the frame that is being handled first.
    pub(in crate::network) waiting: Fifo,
    /// Bytes of these.
    pub(in crate::network) stored: u64,
    /// Whether the lossless priorities are paused.
    pub(in crate::network) pauses: bool,
    /// Whether it is through with the first frame and its host handles nothing.
    pub(in crate::network) stalled: bool,
    pub(in crate::network) translations: Option<Translations>,
    pub(in crate::network) counts: ReceiverCounts,
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

impl Receiver {
    /// Bit p: priority p is to pause.
    pub(in crate::network) fn pausing(&self) -> u8 {
        if self.pauses { self.config.lossless } else { 0 }
    }

    /// How long it takes to handle a frame.
    pub(in crate::network) fn time_of<R: HostPacket>(&mut self, packet: &Packet<R>) -> Duration {
        let len = Bytes::new(packet.frame_len.into());
        let transfer = self.config.rate.map_or(Duration::ZERO, |rate| rate.transmission_time(len));
        let (Some(translations), Body::Rdma(body)) = (&mut self.translations, &packet.body) else {
            return transfer;
        };
        transfer + body.as_rdma().map_or(Duration::ZERO, |rdma| translations.fetch(rdma))
    }
}
