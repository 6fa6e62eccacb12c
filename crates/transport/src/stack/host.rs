//! The ends of streams at one host: who sends next, and what was counted.

use rocelab_state::{BorshDeserialize, BorshSerialize, Result, State, load_value, save_value};
use rocelab_units::SimTime;

use super::schedule::{Entry, Schedule};
use super::{End, Period, Role, StreamConfig, frame_len};
use crate::Offer;

/// A packet of a stream, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct StreamPacket {
    /// The number of its stream.
    pub stream: u32,
    /// How many of this end of the stream came before it; it wraps.
    pub number: u32,
    /// Payload (bytes).
    pub payload_len: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Whether the stream's source sent it, and not its destination.
    pub is_from_source: bool,
}

impl StreamPacket {
    /// The end that sent it.
    pub const fn sender(&self) -> Role {
        if self.is_from_source { Role::Source } else { Role::Destination }
    }
}

/// A packet that leaves a host.
#[derive(Clone, Copy, Debug)]
pub struct StreamTransmit {
    /// The packet.
    pub packet: StreamPacket,
    /// The host that it goes to.
    pub destination: u32,
    /// What equal-cost multipath goes by.
    pub flow_hash: u32,
    /// Bytes of its frame, FCS included.
    pub frame_len: u16,
}

/// What one end of a stream has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct StreamCounts {
    /// Packets that it sent.
    pub sent_packets: u64,
    /// Their payload (bytes).
    pub sent_bytes: u64,
    /// Packets of the other end that have arrived.
    pub delivered_packets: u64,
    /// Their payload (bytes).
    pub delivered_bytes: u64,
}

impl core::ops::AddAssign for StreamCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { sent_packets, sent_bytes, delivered_packets, delivered_bytes } = other;
        self.sent_packets += sent_packets;
        self.sent_bytes += sent_bytes;
        self.delivered_packets += delivered_packets;
        self.delivered_bytes += delivered_bytes;
    }
}

/// What all streams of a host have in common.
#[derive(Clone, Copy, Debug)]
pub struct StackHostConfig {
    /// Bytes of a frame that are neither a stack's header nor payload: Ethernet, 802.1Q tag, IP, FCS.
    pub encapsulation_len: u16,
}

/// The ends of streams at one host.
#[derive(Debug)]
pub struct StackHost {
    config: StackHostConfig,
    /// By number of stream, ascending; a stream has one end here.
    ends: Vec<StreamAtHost>,
    /// Who sends next.
    schedule: Schedule,
    /// Frame bytes that have left.
    sent: u64,
}

/// The end of a stream at a host.
#[derive(Debug)]
struct StreamAtHost {
    stream: u32,
    role: Role,
    priority: u8,
    header_len: u16,
    peer: u32,
    flow_hash: u32,
    end: End,
    /// Whether it has something to send now: what was due may wait for the port.
    is_ready: bool,
    counts: StreamCounts,
}

impl StackHost {
    /// A host without streams.
    pub fn new(config: StackHostConfig) -> Self {
        Self { config, ends: Vec::new(), schedule: Schedule::default(), sent: 0 }
    }

    /// Adds one end of a stream, whose number is above those that are there. The other one is at host
    /// `peer`; equal-cost multipath goes by `flow_hash`.
    pub fn open(
        &mut self,
        (stream, config): (u32, &StreamConfig),
        role: Role,
        period: Period,
        (peer, flow_hash): (u32, u32),
    ) {
        debug_assert!(self.ends.last().is_none_or(|last| last.stream < stream), "in order");
        self.ends.push(StreamAtHost {
            stream,
            role,
            priority: config.stream().priority,
            header_len: config.format().header_len,
            peer,
            flow_hash,
            end: config.end(role, period),
            is_ready: false,
            counts: StreamCounts::default(),
        });
        let place = self.ends.len() - 1;
        self.schedule.insert(self.entry(place));
    }

    /// What it has to send that is not paused (bit p: priority p is).
    pub fn offer(&self, paused: u8) -> Offer {
        let data = self.schedule.ready() & !paused;
        Offer { control: 0, data, sent: self.sent }
    }

    /// Whether it has something to send that is not paused.
    pub fn is_ready(&self, paused: u8) -> bool {
        self.schedule.ready() & !paused != 0
    }

    /// The packet that has waited longest and is not paused; of several, that of the stream with the lowest
    /// number.
    pub fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<StreamTransmit> {
        let place = self.schedule.first_ready(paused)? as usize;
        self.schedule.remove(self.entry(place));
        let end = &mut self.ends[place];
        let payload_len = end.end.send();
        #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
        let number = end.counts.sent_packets as u32;
        end.counts.sent_packets += 1;
        end.counts.sent_bytes += u64::from(payload_len);
        end.is_ready = end.end.next_due() <= now;
        let frame_len = frame_len(self.config.encapsulation_len, end.header_len + payload_len);
        self.sent += u64::from(frame_len);
        let transmit = StreamTransmit {
            packet: StreamPacket {
                stream: end.stream,
                number,
                payload_len,
                priority: end.priority,
                is_from_source: end.role == Role::Source,
            },
            destination: end.peer,
            flow_hash: end.flow_hash,
            frame_len,
        };
        self.schedule.insert(self.entry(place));
        Some(transmit)
    }

    /// A packet arrived.
    pub fn receive(&mut self, now: SimTime, packet: &StreamPacket) {
        let Ok(place) = self.ends.binary_search_by_key(&packet.stream, |end| end.stream) else {
            return;
        };
        self.schedule.remove(self.entry(place));
        let end = &mut self.ends[place];
        end.counts.delivered_packets += 1;
        end.counts.delivered_bytes += u64::from(packet.payload_len);
        end.end.receive(now, packet);
        end.is_ready = end.end.next_due() <= now;
        self.schedule.insert(self.entry(place));
    }

    /// When the next end has something to send that has nothing yet.
    pub fn poll_timeout(&self) -> SimTime {
        self.schedule.first_idle().map_or(SimTime::NEVER, |(due, _)| due)
    }

    /// It is `now`, perhaps earlier than it asked for.
    pub fn handle_timeout(&mut self, now: SimTime) {
        while let Some((due, place)) = self.schedule.first_idle()
            && due <= now
        {
            let place = place as usize;
            self.schedule.remove(self.entry(place));
            self.ends[place].is_ready = true;
            self.schedule.insert(self.entry(place));
        }
    }

    /// What was counted of each stream, by its number.
    pub fn counts(&self) -> impl Iterator<Item = (u32, StreamCounts)> + '_ {
        self.ends.iter().map(|end| (end.stream, end.counts))
    }

    /// Whether an end has something left to send.
    pub fn has_more(&self) -> bool {
        self.schedule.has_more()
    }

    /// What the schedule knows of the end at a place.
    fn entry(&self, place: usize) -> Entry {
        let StreamAtHost { priority, ref end, is_ready, .. } = self.ends[place];
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        Entry { place, priority, due: end.next_due(), is_ready }
    }
}

impl State for StackHost {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        save_value(&self.sent, to)?;
        for end in &self.ends {
            save_value(&(end.is_ready, end.counts), to)?;
            end.end.save(to)?;
        }
        Ok(())
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.sent = load_value(from)?;
        for end in &mut self.ends {
            (end.is_ready, end.counts) = load_value(from)?;
            end.end.load(from)?;
        }
        self.schedule = Schedule::default();
        for place in 0..self.ends.len() {
            self.schedule.insert(self.entry(place));
        }
        Ok(())
    }
}
