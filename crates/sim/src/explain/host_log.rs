//! The state of one end of a flow, from event to event.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_transport::Standing;
use rocelab_units::SimTime;

use super::category::LossSignal;
use crate::Network;

/// More frames than lie between two of one PSN: half of all PSNs.
const HALF_OF_ALL_PSNS: usize = 1 << 23;

/// One end of a flow.
#[derive(Debug)]
pub(super) struct HostLog {
    pub(super) node: NodeId,
    pub(super) port: u32,
    pub(super) qpn: u32,
    /// From each time on, in order.
    standings: Vec<(u64, Standing)>,
    /// Data and requests that it sent.
    frames: Vec<SentFrame>,
    /// When it learnt of losses.
    signals: Vec<(u64, LossSignal)>,
    retries: u8,
}

#[derive(Clone, Copy, Debug)]
struct SentFrame {
    start: u64,
    psn: u32,
    /// Whether its PSN is one of the other end's: it answers a request.
    is_result: bool,
}

impl HostLog {
    pub(super) fn new(network: &Network, node: NodeId, qpn: u32) -> Self {
        Self {
            node,
            port: network.port_of(node, 0),
            qpn,
            standings: Vec::new(),
            frames: Vec::new(),
            signals: Vec::new(),
            retries: 0,
        }
    }

    /// Notes how the queue pair stands after an event.
    pub(super) fn look(&mut self, network: &Network, now: SimTime) {
        let queue_pair = network.nic(self.node).and_then(|nic| nic.queue_pair(self.qpn));
        let standing = queue_pair.map_or(Standing::NotConnected, |one| one.standing());
        let retries = queue_pair.map_or(0, |one| one.retries());
        if retries > self.retries {
            self.note_loss(now, LossSignal::Timeout);
        }
        self.retries = retries;
        if self.standings.last().is_none_or(|&(_, last)| last != standing) {
            self.standings.push((now.ps(), standing));
        }
    }

    /// It sends data or a request.
    pub(super) fn note_sent(&mut self, now: SimTime, psn: u32, is_result: bool) {
        self.frames.push(SentFrame { start: now.ps(), psn, is_result });
    }

    /// It learns of a loss.
    pub(super) fn note_loss(&mut self, now: SimTime, signal: LossSignal) {
        self.signals.push((now.ps(), signal));
    }

    /// How it stands at `time`.
    pub(super) fn standing(&self, time: u64) -> Standing {
        let next = self.standings.partition_point(|&(since, _)| since <= time);
        let last = next.checked_sub(1).and_then(|index| self.standings.get(index));
        last.map_or(Standing::NotConnected, |&(_, standing)| standing)
    }

    /// Every instant from `from` to `to` at which something changes here, and some before.
    pub(super) fn changes(&self, from: u64, to: u64) -> impl Iterator<Item = u64> + '_ {
        let next = self.standings.partition_point(|&(since, _)| since <= from);
        let standings = &self.standings[next.saturating_sub(1)..];
        let standings = standings.iter().take_while(move |&&(since, _)| since < to);
        let standings = standings.flat_map(|&(since, standing)| {
            let release = match standing {
                Standing::MaySend(release) => release.ps(),
                _ => since,
            };
            [since, release]
        });
        let first = self.frames.partition_point(|frame| frame.start < from);
        let frames = self.frames[first..].iter().map(|frame| frame.start);
        standings.chain(frames.take_while(move |&start| start < to))
    }

    /// The first loss that it learnt of in this time, after `after` and not after `until`.
    pub(super) fn signal_between(&self, after: u64, until: u64) -> LossSignal {
        let next = self.signals.partition_point(|&(time, _)| time <= after);
        let signal = self.signals.get(next).filter(|&&(time, _)| time <= until);
        signal.map_or(LossSignal::Unnoticed, |&(_, signal)| signal)
    }

    /// The time spent on frames that had to be sent again up to `until`, of the last one that left
    /// not after `from` and of all later ones.
    pub(super) fn vain(&self, from: u64, until: u64) -> Vain {
        let first = self.frames.partition_point(|frame| frame.start <= from).saturating_sub(1);
        let end = self.frames.partition_point(|frame| frame.start <= until);
        let frames = &self.frames[first..end.max(first)];
        let mut later: BTreeMap<(bool, u32), usize> = BTreeMap::new();
        let mut again = vec![None; frames.len()];
        for (index, frame) in frames.iter().enumerate().rev() {
            if let Some(next) = later.insert((frame.is_result, frame.psn), index)
                && next - index < HALF_OF_ALL_PSNS
            {
                again[index] = Some(self.noticed(frame.start, frames[next].start));
            }
        }
        let starts = frames.iter().map(|frame| frame.start);
        Vain { frames: starts.zip(again).collect() }
    }

    /// Nobody asks any longer for what was before `time` (picoseconds).
    pub(super) fn forget(&mut self, time: u64) {
        let standings = self.standings.partition_point(|&(since, _)| since <= time);
        self.standings.drain(..standings.saturating_sub(1));
        let frames = self.frames.partition_point(|frame| frame.start <= time);
        self.frames.drain(..frames.saturating_sub(1));
        let oldest = self.frames.first().map_or(time, |frame| frame.start.min(time));
        let signals = self.signals.partition_point(|&(noted, _)| noted < oldest);
        self.signals.drain(..signals);
    }

    /// How it learnt that a frame that left at `start` was lost, which left again at `again`.
    fn noticed(&self, start: u64, again: u64) -> LossSignal {
        let next = self.signals.partition_point(|&(time, _)| time <= again);
        let signal = next.checked_sub(1).and_then(|index| self.signals.get(index));
        signal.filter(|&&(time, _)| time >= start).map_or(LossSignal::Gap, |&(_, signal)| signal)
    }
}

/// Which frames were sent in vain, and how that was noticed.
#[derive(Debug)]
pub(super) struct Vain {
    /// When each frame left, in order.
    frames: Vec<(u64, Option<LossSignal>)>,
}

impl Vain {
    /// Whether the last frame that left before `time` was sent in vain.
    pub(super) fn at(&self, time: u64) -> Option<LossSignal> {
        let next = self.frames.partition_point(|&(start, _)| start <= time);
        self.frames.get(next.checked_sub(1)?)?.1
    }
}
