//! What a port did while a flow's packets came by.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::traffic::Owner;
use crate::network::watch::{FrameView, View};

/// One port: what it sent, and what it must not send.
#[derive(Debug)]
pub(super) struct PortLog {
    pub(super) port: u32,
    pub(super) node: NodeId,
    pub(super) number: u16,
    /// Frames that it has started in all.
    started: u64,
    /// In order of their times.
    sent: Vec<Sent>,
    /// From each time on, in order.
    states: Vec<State>,
}

/// A frame that occupies the transmitter (picoseconds).
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    free_at: u64,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    time: u64,
    /// Bit q: queue q must not start a frame.
    blocked: u8,
    /// Bit p: priority p is paused.
    paused: u8,
    up: bool,
    is_dead: bool,
}

/// What keeps a frame from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hold {
    LinkDown,
    HostDown,
    /// One of the priorities that share the queue is paused.
    Paused,
    Shaped,
    Behind(Owner),
    Nothing,
}

impl PortLog {
    /// Looks at a port from `now` on; what it is sending is its first entry.
    pub(super) fn open(network: View<'_>, port: u32, now: SimTime) -> Self {
        let (node, number) = network.place_of_port(port);
        let view = network.transmitter(port);
        let mut log = Self {
            port,
            node,
            number,
            started: view.started,
            sent: Vec::new(),
            states: Vec::new(),
        };
        if view.free_at > now && view.free_at != SimTime::NEVER {
            let owner = view.last.map_or(Owner::Management, |frame| Owner::of(network, &frame));
            log.sent.push(Sent { start: now.ps(), free_at: view.free_at.ps(), owner });
        }
        log.note_state(network, now);
        log
    }

    /// Notes what changed with an event; gives the frame that was started, if one was, and whose
    /// it is.
    pub(super) fn look(&mut self, network: View<'_>, now: SimTime) -> Option<(FrameView, Owner)> {
        self.note_state(network, now);
        let view = network.transmitter(self.port);
        if view.started == self.started {
            return None;
        }
        self.started = view.started;
        let frame = view.last?;
        let free_at = if view.free_at == SimTime::NEVER { now } else { view.free_at };
        let owner = Owner::of(network, &frame);
        self.sent.push(Sent { start: now.ps(), free_at: free_at.ps(), owner });
        Some((frame, owner))
    }

    /// Nobody asks any longer for what was before `time` (picoseconds); gives the number of frames
    /// that are still known.
    pub(super) fn forget(&mut self, time: u64) -> usize {
        let sent = self.sent.partition_point(|sent| sent.free_at < time);
        self.sent.drain(..sent);
        let states = self.states.partition_point(|state| state.time <= time);
        self.states.drain(..states.saturating_sub(1));
        self.sent.len()
    }

    fn note_state(&mut self, network: View<'_>, now: SimTime) {
        let view = network.transmitter(self.port);
        let state = State {
            time: now.ps(),
            blocked: view.blocked,
            paused: view.paused,
            up: view.free_at != SimTime::NEVER,
            is_dead: view.is_dead,
        };
        let same = |last: &State| State { time: state.time, ..*last } == state;
        if !self.states.last().is_some_and(same) {
            self.states.push(state);
        }
    }

    /// Every instant between `from` and `to` at which something changes here.
    pub(super) fn changes(&self, from: u64, to: u64) -> impl Iterator<Item = u64> + '_ {
        let next = self.states.partition_point(|state| state.time <= from);
        let states = self.states[next..].iter().map(|state| state.time);
        let states = states.take_while(move |&time| time < to);
        let first = self.sent.partition_point(|sent| sent.free_at < from);
        let sent = self.sent[first..].iter().take_while(move |sent| sent.start < to);
        states.chain(sent.flat_map(|sent| [sent.start, sent.free_at]))
    }

    /// Whose frame the transmitter is busy with at `time`.
    pub(super) fn busy_with(&self, time: u64) -> Option<Owner> {
        let sent = self.last_sent(time)?;
        (time < sent.free_at).then_some(sent.owner)
    }

    /// When the last frame started of those that have by `time` (picoseconds); that time itself if none
    /// is known.
    pub(super) fn last_start(&self, time: u64) -> u64 {
        self.last_sent(time).map_or(time, |sent| sent.start)
    }

    /// The last frame of those that have started by `time` (picoseconds).
    fn last_sent(&self, time: u64) -> Option<&Sent> {
        let next = self.sent.partition_point(|sent| sent.start <= time);
        self.sent.get(next.checked_sub(1)?)
    }

    /// Until when a frame occupies the transmitter that starts at a time; none if it is not known.
    pub(super) fn occupied_until(&self, start: u64) -> Option<u64> {
        let place = self.sent.binary_search_by_key(&start, |sent| sent.start).ok()?;
        Some(self.sent[place].free_at)
    }

    /// What keeps a frame of `queue`, which the `priorities` (bit p) share, from starting at `time`.
    pub(super) fn hold(&self, time: u64, queue: u8, priorities: u8) -> Hold {
        let next = self.states.partition_point(|state| state.time <= time);
        if let Some(state) = next.checked_sub(1).and_then(|index| self.states.get(index)) {
            if !state.up {
                return if state.is_dead { Hold::HostDown } else { Hold::LinkDown };
            }
            if state.blocked & 1 << queue != 0 {
                return if state.paused & priorities != 0 { Hold::Paused } else { Hold::Shaped };
            }
        }
        self.busy_with(time).map_or(Hold::Nothing, Hold::Behind)
    }
}
