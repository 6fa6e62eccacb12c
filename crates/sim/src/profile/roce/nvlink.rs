//! A host's place in a domain of NVLink: one way out and one way in.
//!
//! A message starts when the way out is free, in the order of posting, and holds it for its bytes at the domain's rate. Its
//! first byte reaches the other host after the domain's delay. There it waits until the way in is free, in the order of
//! arrival, and holds that for as long; then it is there. So a message that meets no other takes the delay and its own
//! time once. If messages are cut into packets, those of different connections take turns on the way out; those of one
//! connection stay in order.

use std::collections::{BTreeMap, VecDeque};

use rocelab_fabric::{NodeId, Nvlink};
use rocelab_host::Later;
use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

use crate::Plan;
use crate::profile::{NvlinkDeparture, NvlinkTransfer, NvlinkUse, TransferKind};
use crate::scenario::Side;

/// An end of a connection: its number and side.
pub(super) type ConnectionSide = (u32, Side);

/// A host's place in a domain.
#[derive(Debug)]
pub(super) struct NvlinkPort {
    rate: Bandwidth,
    delay: Duration,
    packet: Option<Bytes>,
    /// The ends of connections here, ascending.
    ends: Vec<ConnectionSide>,
    /// When the way out is free.
    out_free: SimTime,
    /// When the way in is free.
    in_free: SimTime,
    /// Messages that wait to be cut into packets, or are.
    cut: Cutting,
    /// What leaves, until the network takes it.
    departures: VecDeque<NvlinkDeparture>,
    later: Later<Due>,
    used: NvlinkUse,
}

/// Messages that are cut into packets.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Cutting {
    /// Those of each end that they go to, in order; the first may be sent in part.
    waiting: BTreeMap<ConnectionSide, VecDeque<Waiting>>,
    /// The ends that have some, in the order of their turns.
    turns: VecDeque<ConnectionSide>,
    /// Whether somebody is woken as the way out becomes free.
    is_armed: bool,
}

/// A message, or what is left of it.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Waiting {
    message: Message,
    /// Bytes that are not sent.
    left: u32,
}

/// A message that goes to an end of a connection.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Message {
    pub(super) connection: u32,
    pub(super) to: Side,
    pub(super) kind: TransferKind,
    pub(super) tag: u64,
    pub(super) bytes: u32,
}

/// What happens at a known time.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
enum Due {
    /// The way out is free, and something waits.
    Free,
    /// Work that was posted at this end of a connection is done.
    Completed(ConnectionSide, u64),
    /// A message is there: the end, what it says, and its bytes.
    Arrived(ConnectionSide, u64, u32),
    /// A request reaches the other host. Nothing happens here, but the host is not idle until then.
    Asked,
}

/// What a program is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Work that was posted at this end of a connection is done: what was given along.
    Completed(ConnectionSide, u64),
    /// A message is there, at this end: what it says, and its bytes.
    Arrived(ConnectionSide, u64, u32),
}

impl State for NvlinkPort {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self {
            rate: _,
            delay: _,
            packet: _,
            ends: _,
            out_free,
            in_free,
            cut,
            departures: _, // Taken by now.
            later,
            used,
        } = self;
        save_value(&(out_free, in_free, cut, later, used), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        (self.out_free, self.in_free, self.cut, self.later, self.used) = load_value(from)?;
        let is_own = |end: &ConnectionSide| self.ends.binary_search(end).is_ok();
        let is_far = |&(connection, side): &ConnectionSide| is_own(&(connection, side.other()));
        let dues = self.later.iter().all(|(_, due)| match due {
            Due::Completed(end, _) | Due::Arrived(end, ..) => is_own(end),
            Due::Free | Due::Asked => true,
        });
        let turns = self.cut.turns.iter().all(|end| self.cut.waiting.contains_key(end));
        if dues && turns && self.cut.waiting.keys().all(is_far) {
            return Ok(());
        }
        Err(unfit("the connections over NVLink"))
    }
}

impl NvlinkPort {
    /// That of a host, if any of its connections is over NVLink.
    pub(super) fn new(plan: &Plan, host: NodeId) -> Option<Box<Self>> {
        let Nvlink { delay, packet, .. } = plan.nvlink.of(host)?.link;
        let over = (0u32..).zip(&plan.connections).filter(|(_, connection)| connection.is_nvlink);
        let sides = [Side::Client, Side::Server];
        let ends = over.flat_map(|(number, connection)| {
            let here = move |side: &Side| connection.end(*side).host == host;
            sides.into_iter().filter(here).map(move |side| (number, side))
        });
        let mut ends: Vec<ConnectionSide> = ends.collect();
        ends.sort_unstable();
        (!ends.is_empty()).then(|| {
            Box::new(Self {
                rate: plan
                    .nvlink
                    .of(host)
                    .map_or(Bandwidth::default(), |domain| domain.link.payload_rate()),
                delay,
                packet,
                ends,
                out_free: SimTime::ZERO,
                in_free: SimTime::ZERO,
                cut: Cutting::default(),
                departures: VecDeque::new(),
                later: Later::default(),
                used: NvlinkUse::default(),
            })
        })
    }

    /// What passed it.
    pub(super) const fn used(&self) -> NvlinkUse {
        self.used
    }

    /// When something happens here by itself; [`SimTime::NEVER`] if nothing will.
    pub(super) fn next(&self) -> SimTime {
        self.later.next()
    }

    /// A message is posted now.
    pub(super) fn send(&mut self, now: SimTime, message: Message) {
        let Message { connection, to, .. } = message;
        let bytes = message.payload();
        if self.packet.is_none() {
            self.start(now.max(self.out_free), message.transfer(bytes, true));
            return;
        }
        let of_end = self.cut.waiting.entry((connection, to)).or_default();
        if of_end.is_empty() {
            self.cut.turns.push_back((connection, to));
        }
        of_end.push_back(Waiting { message, left: bytes });
        self.send_packets(now);
    }

    /// Sends packets as long as the way out is free, and has somebody woken when it is free again, if more wait.
    fn send_packets(&mut self, now: SimTime) {
        while self.out_free <= now
            && let Some(transfer) = self.next_packet()
        {
            self.start(now, transfer);
        }
        if !self.cut.turns.is_empty() && !self.cut.is_armed {
            self.cut.is_armed = true;
            self.later.push(self.out_free, Due::Free);
        }
    }

    /// The next packet, of the end whose turn it is.
    fn next_packet(&mut self) -> Option<NvlinkTransfer> {
        let end = self.cut.turns.pop_front()?;
        let of_end = self.cut.waiting.get_mut(&end)?;
        let first = of_end.front_mut()?;
        let most = self.packet.map_or(u64::MAX, Bytes::get);
        let bytes = first.left.min(u32::try_from(most).unwrap_or(u32::MAX));
        first.left -= bytes;
        let transfer = first.message.transfer(bytes, first.left == 0);
        if transfer.is_last {
            of_end.pop_front();
        }
        if !of_end.is_empty() {
            self.cut.turns.push_back(end);
        }
        Some(transfer)
    }

    /// A transfer starts.
    fn start(&mut self, start: SimTime, transfer: NvlinkTransfer) {
        let takes = self.time_of(transfer.bytes);
        self.out_free = start + takes;
        self.used.sent.count(&transfer, takes);
        self.departures.push_back(NvlinkDeparture { transfer, head: start + self.delay });
        if !transfer.is_last {
            return;
        }
        let own = (transfer.connection, transfer.to.other());
        let done = match transfer.kind {
            TransferKind::Message | TransferKind::Store => Due::Completed(own, transfer.tag),
            TransferKind::LoadRequest => Due::Asked,
            TransferKind::Load => return,
        };
        self.later.push(self.out_free + self.delay, done);
    }

    /// The next transfer that has left.
    pub(super) fn poll_departure(&mut self) -> Option<NvlinkDeparture> {
        self.departures.pop_front()
    }

    /// The first byte of a transfer is here.
    pub(super) fn arrive(&mut self, now: SimTime, transfer: &NvlinkTransfer) {
        let takes = self.time_of(transfer.bytes);
        self.used.received.count(transfer, takes);
        let NvlinkTransfer { connection, to, kind, tag, message_bytes: bytes, is_last, .. } =
            *transfer;
        if kind == TransferKind::LoadRequest {
            let to = to.other();
            return self
                .send(now, Message { connection, to, kind: TransferKind::Load, tag, bytes });
        }
        self.in_free = now.max(self.in_free) + takes;
        if !is_last {
            return;
        }
        let news = match kind {
            TransferKind::Message => Due::Arrived((connection, to), tag, bytes),
            TransferKind::Load => Due::Completed((connection, to), tag),
            TransferKind::Store | TransferKind::LoadRequest => return,
        };
        self.later.push(self.in_free, news);
    }

    /// What a program is to be told by now, one after the other.
    pub(super) fn poll_news(&mut self, now: SimTime) -> Option<News> {
        loop {
            match self.later.pop_due(now)? {
                Due::Completed(end, tag) => return Some(News::Completed(end, tag)),
                Due::Arrived(end, tag, bytes) => return Some(News::Arrived(end, tag, bytes)),
                Due::Asked => {}
                Due::Free => {
                    self.cut.is_armed = false;
                    self.send_packets(now);
                }
            }
        }
    }

    fn time_of(&self, bytes: u32) -> Duration {
        self.rate.transmission_time(Bytes::new(bytes.into()))
    }
}

impl Message {
    /// Bytes that it takes over the link: none if it asks for data.
    const fn payload(&self) -> u32 {
        match self.kind {
            TransferKind::LoadRequest => 0,
            _ => self.bytes,
        }
    }

    /// So many of its bytes.
    const fn transfer(self, bytes: u32, is_last: bool) -> NvlinkTransfer {
        let Self { connection, to, kind, tag, bytes: message_bytes } = self;
        NvlinkTransfer { connection, to, kind, tag, bytes, message_bytes, is_last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port with 1 GB/s, so a byte takes 1 ns, and 100 ns of delay; connections 0 to 3 begin here.
    fn in_packets_of(packet: Option<u64>) -> NvlinkPort {
        NvlinkPort {
            rate: Bandwidth::from_gbps(8),
            delay: Duration::from_ns(100),
            packet: packet.map(Bytes::new),
            ends: (0..4).map(|number| (number, Side::Client)).collect(),
            out_free: SimTime::ZERO,
            in_free: SimTime::ZERO,
            cut: Cutting::default(),
            departures: VecDeque::new(),
            later: Later::default(),
            used: NvlinkUse::default(),
        }
    }

    fn ns(ns: u64) -> SimTime {
        SimTime::ZERO + Duration::from_ns(ns)
    }

    fn message(connection: u32, bytes: u32, tag: u64) -> Message {
        Message { connection, to: Side::Server, kind: TransferKind::Message, tag, bytes }
    }

    /// Connection, bytes and the time of the first byte at the other end, of all that has left (ns).
    fn left(port: &mut NvlinkPort) -> Vec<(u32, u32, u64)> {
        let mut all = Vec::new();
        while let Some(NvlinkDeparture { transfer, head }) = port.poll_departure() {
            all.push((transfer.connection, transfer.bytes, head.ps() / 1_000));
        }
        all
    }

    fn news(port: &mut NvlinkPort) -> Vec<(u64, News)> {
        let mut all = Vec::new();
        while port.next() != SimTime::NEVER {
            let now = port.next();
            while let Some(news) = port.poll_news(now) {
                all.push((now.ps() / 1_000, news));
            }
        }
        all
    }

    #[test]
    fn messages_leave_one_after_the_other_and_are_done_a_delay_after_their_last_byte() {
        let mut port = in_packets_of(None);
        port.send(ns(10), message(0, 50, 7));
        port.send(ns(10), message(1, 20, 8));
        port.send(ns(200), message(0, 0, 9));
        assert_eq!(left(&mut port), [(0, 50, 110), (1, 20, 160), (0, 0, 300)]);
        let done = |connection, tag| News::Completed((connection, Side::Client), tag);
        assert_eq!(news(&mut port), [(160, done(0, 7)), (180, done(1, 8)), (300, done(0, 9))]);
        let sent = port.used().sent;
        assert_eq!((sent.messages, sent.bytes, sent.busy), (3, 70, Duration::from_ns(70)));
    }

    #[test]
    fn messages_wait_for_the_way_in_in_the_order_of_arrival() {
        let mut port = in_packets_of(None);
        let arriving = |connection, bytes, tag| {
            Message { to: Side::Client, ..message(connection, bytes, tag) }.transfer(bytes, true)
        };
        port.arrive(ns(100), &arriving(0, 50, 1));
        port.arrive(ns(120), &arriving(1, 10, 2));
        port.arrive(ns(300), &arriving(2, 5, 3));
        let there = |connection, tag, bytes| News::Arrived((connection, Side::Client), tag, bytes);
        assert_eq!(
            news(&mut port),
            [(150, there(0, 1, 50)), (160, there(1, 2, 10)), (305, there(2, 3, 5))]
        );
    }

    #[test]
    fn packets_of_different_connections_take_turns_and_those_of_one_stay_in_order() {
        let mut port = in_packets_of(Some(64));
        port.send(ns(0), message(0, 160, 1));
        port.send(ns(0), message(1, 64, 2));
        port.send(ns(0), message(0, 10, 3));
        let news = news(&mut port);
        let packets = left(&mut port);
        // The first one had left before the second message was there to take a turn.
        assert_eq!(packets, [(0, 64, 100), (0, 64, 164), (1, 64, 228), (0, 32, 292), (0, 10, 324)]);
        let done = |connection, tag| News::Completed((connection, Side::Client), tag);
        assert_eq!(news, [(292, done(1, 2)), (324, done(0, 1)), (334, done(0, 3))]);
        assert_eq!(port.used().sent.messages, 3);
    }

    #[test]
    fn a_read_asks_and_is_answered_by_the_other_host() {
        let (mut asking, mut asked) = (in_packets_of(None), in_packets_of(None));
        asked.ends = vec![(0, Side::Server)];
        let kind = TransferKind::LoadRequest;
        asking.send(ns(0), Message { kind, ..message(0, 30, 5) });
        let request = asking.poll_departure().unwrap();
        assert_eq!((request.head, request.transfer.bytes), (ns(100), 0));
        asked.arrive(request.head, &request.transfer);
        let answer = asked.poll_departure().unwrap();
        assert_eq!((answer.head, answer.transfer.bytes), (ns(200), 30));
        asking.arrive(answer.head, &answer.transfer);
        assert_eq!(news(&mut asking), [(230, News::Completed((0, Side::Client), 5))]);
        assert_eq!(news(&mut asked), []);
    }

    #[test]
    fn what_is_saved_goes_on_in_the_same_way() {
        for packet in [None, Some(64)] {
            let mut port = in_packets_of(packet);
            port.send(ns(0), message(0, 1_000, 1));
            port.send(ns(0), message(1, 1_000, 2));
            left(&mut port);
            let mut bytes = Vec::new();
            port.save(&mut bytes).unwrap();
            let mut again = in_packets_of(packet);
            again.load(&mut &bytes[..]).unwrap();
            port.send(ns(3_000), message(2, 9, 3));
            again.send(ns(3_000), message(2, 9, 3));
            assert_eq!(news(&mut again), news(&mut port));
            assert_eq!(left(&mut again), left(&mut port));
            let mut other = in_packets_of(packet);
            other.ends.clear();
            assert!(other.load(&mut &bytes[..]).is_err(), "connections of another host");
        }
    }
}
