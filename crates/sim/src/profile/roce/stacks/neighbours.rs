//! Which MAC address a host's next hop has: ARP (RFC 826) over IPv4, Neighbour Discovery (RFC 4861) over IPv6.
//!
//! A flow is set up when its next hop is known, as the address of a queue pair is set before it may send. States of an entry are
//! those of RFC 4861, section 7.3.2, which hosts use for ARP too. Who is asked for, the [plan](crate::plan::NeighbourPlan::asked) says: a
//! router, or the peer itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rocelab_fabric::NodeId;
use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_transport::{CompletionStatus, Offer};
use rocelab_units::{Duration, SimTime};

use super::Stack;
use crate::Plan;
use crate::profile::{Departing, NeighbourFrame, NeighbourKind, StackDeparture, StackFrame};
use crate::record::{FlowEnd, FlowFailure, HostEnd};
use rocelab_transport::tcp::SackBlocks;

/// The neighbours of a host.
#[derive(Debug)]
pub(in crate::profile::roce) struct HostNeighbours {
    /// The own host.
    host: NodeId,
    timing: Timing,
    entries: BTreeMap<NodeId, Entry>,
    /// When the time of entries is over that are not reachable.
    timers: BTreeSet<(SimTime, NodeId)>,
    /// What is to be sent, oldest first.
    outbox: VecDeque<NeighbourFrame>,
    /// Flows that waited for an address that is known now.
    ready: VecDeque<u32>,
    ended: VecDeque<u32>,
    /// Frame bytes that were sent.
    sent: u64,
}

/// What a host does with all of its entries.
#[derive(Debug)]
struct Timing {
    reachable: Duration,
    delay: Duration,
    retransmit: Duration,
    attempts: u8,
    /// Of frames: their length (bytes), and the number of their code points.
    frame_len: u16,
    marking: u8,
    /// Whether a question for another host goes there, and is not answered by the router at the link.
    reaches_hosts: bool,
}

/// What is known of a neighbour.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Entry {
    state: Reachability,
    /// When the state's time is over; never where it has none.
    due: SimTime,
    /// Solicitations that were sent in this state.
    solicitations: u8,
    /// Flows that wait for it.
    waiting: Vec<u32>,
}

/// The states of RFC 4861, section 7.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
enum Reachability {
    /// Asked for, and not answered.
    Incomplete,
    /// Answered of late; stale when its time is over, which nobody notices before the next use.
    Reachable,
    /// Used although stale: it is asked for if nothing else says that it is there.
    Delay,
    /// Asked for again, at its known address.
    Probe,
}

impl Entry {
    /// When something is to be done about it.
    fn timer(&self, asked: NodeId) -> Option<(SimTime, NodeId)> {
        (self.state != Reachability::Reachable).then_some((self.due, asked))
    }
}

impl HostNeighbours {
    pub(in crate::profile::roce) fn new(plan: &Plan, node: NodeId) -> Option<Self> {
        let config = plan.roce.neighbours.as_ref()?;
        let far = *config.far.get(node as usize)?;
        Some(Self {
            host: node,
            timing: Timing {
                reachable: config.reachable_time,
                delay: config.delay,
                retransmit: config.retransmit,
                attempts: config.attempts,
                frame_len: config.frame_len,
                marking: config.marking,
                reaches_hosts: plan.roce.domains.is_some() || plan.topology.is_host(far),
            },
            entries: BTreeMap::new(),
            timers: BTreeSet::new(),
            outbox: VecDeque::new(),
            ready: VecDeque::new(),
            ended: VecDeque::new(),
            sent: 0,
        })
    }

    /// A flow is to start: whether its next hop is known. If not, it waits, and [`poll_ready`](Self::poll_ready) has it later.
    pub(in crate::profile::roce) fn resolve(
        &mut self,
        plan: &Plan,
        now: SimTime,
        number: u32,
    ) -> bool {
        let flow = &plan.flows[number as usize];
        let way = (flow.source, flow.destination, !flow.is_tcp());
        let config = plan.roce.neighbours.as_ref();
        let Some(asked) = config.and_then(|config| config.asked(plan, way)) else { return true };
        let Some(entry) = self.entries.get_mut(&asked) else {
            let waiting = vec![number];
            let state = Reachability::Incomplete;
            let mut entry = Entry { state, due: SimTime::NEVER, solicitations: 0, waiting };
            Self::solicit((self.host, &self.timing), &mut self.outbox, now, (asked, &mut entry));
            self.timers.extend(entry.timer(asked));
            self.entries.insert(asked, entry);
            return false;
        };
        match entry.state {
            Reachability::Incomplete => {
                entry.waiting.push(number);
                return false;
            }
            Reachability::Reachable if entry.due <= now => {
                entry.state = Reachability::Delay;
                entry.due = now.saturating_add(self.timing.delay);
                entry.solicitations = 0;
                self.timers.extend(entry.timer(asked));
            }
            Reachability::Reachable | Reachability::Delay | Reachability::Probe => {}
        }
        true
    }

    /// Whether a flow waits for an address.
    pub(in crate::profile::roce) fn keeps(&self, flow: u32) -> bool {
        self.entries.values().any(|entry| entry.waiting.contains(&flow))
    }

    /// The next flow that may start now.
    pub(in crate::profile::roce) fn poll_ready(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    fn solicit(
        (asker, timing): (NodeId, &Timing),
        outbox: &mut VecDeque<NeighbourFrame>,
        now: SimTime,
        (asked, entry): (NodeId, &mut Entry),
    ) {
        let to_all = entry.state == Reachability::Incomplete;
        entry.solicitations += 1;
        entry.due = now.saturating_add(timing.retransmit);
        let (kind, marking) = (NeighbourKind::Solicitation, timing.marking);
        // While the port cannot send, one question waits and no more.
        outbox.retain(|waiting| waiting.kind != kind || waiting.asked != asked);
        outbox.push_back(NeighbourFrame { kind, asker, asked, marking, to_all });
    }

    /// The host that asks is there, at the address that its question comes from: RFC 826; RFC 4861, section 7.2.3.
    fn note_asker(&mut self, now: SimTime, asker: NodeId) {
        let unknown = || Entry {
            state: Reachability::Reachable,
            due: now, // Stale: nothing says that frames to it arrive.
            solicitations: 0,
            waiting: Vec::new(),
        };
        let entry = self.entries.entry(asker).or_insert_with(unknown);
        if entry.state == Reachability::Incomplete {
            self.timers.remove(&(entry.due, asker));
            self.ready.extend(entry.waiting.drain(..));
            *entry = unknown();
        }
    }
}

impl Stack for HostNeighbours {
    fn offer(&self, paused: u8) -> Offer {
        let control = if self.is_ready(paused) { 1 } else { 0 };
        Offer { control, data: 0, sent: self.sent }
    }

    fn is_ready(&self, paused: u8) -> bool {
        !self.outbox.is_empty() && paused & 1 == 0
    }

    fn poll_transmit(&mut self, _: SimTime, paused: u8) -> Option<StackDeparture> {
        if !self.is_ready(paused) {
            return None;
        }
        let frame = self.outbox.pop_front()?;
        let frame_len = self.timing.frame_len;
        self.sent += u64::from(frame_len);
        let destination = match frame.kind {
            NeighbourKind::Advertisement => frame.asker,
            NeighbourKind::Solicitation if self.timing.reaches_hosts => frame.asked,
            // The router at the link answers: routes lead from there to the own host.
            NeighbourKind::Solicitation => self.host,
        };
        let packet = StackFrame::Neighbour(frame);
        let frame = Departing { packet, destination, flow_hash: 0, frame_len };
        Some(StackDeparture { frame, sack: None })
    }

    fn takes(&self, frame: &StackFrame) -> bool {
        matches!(frame, StackFrame::Neighbour(_))
    }

    fn receive(&mut self, _: &Plan, now: SimTime, frame: &StackFrame, _: Option<&SackBlocks>) {
        let &StackFrame::Neighbour(frame) = frame else { return };
        if frame.kind == NeighbourKind::Solicitation {
            let kind = NeighbourKind::Advertisement;
            self.outbox.push_back(NeighbourFrame { kind, to_all: false, ..frame });
            return self.note_asker(now, frame.asker);
        }
        let Some(entry) = self.entries.get_mut(&frame.asked) else { return };
        self.timers.remove(&(entry.due, frame.asked));
        entry.state = Reachability::Reachable;
        entry.due = now.saturating_add(self.timing.reachable);
        entry.solicitations = 0;
        self.ready.extend(entry.waiting.drain(..));
    }

    fn poll_timeout(&self) -> SimTime {
        self.timers.first().map_or(SimTime::NEVER, |&(due, _)| due)
    }

    fn handle_timeout(&mut self, now: SimTime) {
        if self.poll_timeout() > now {
            return;
        }
        let later = self.timers.split_off(&(now, NodeId::MAX));
        let due = std::mem::replace(&mut self.timers, later);
        // In the order of nodes, whichever was due first.
        let due: BTreeSet<NodeId> = due.into_iter().map(|(_, asked)| asked).collect();
        for asked in due {
            let Some(entry) = self.entries.get_mut(&asked) else { continue };
            if entry.state == Reachability::Delay {
                entry.state = Reachability::Probe;
            }
            if entry.solicitations < self.timing.attempts {
                let who = (self.host, &self.timing);
                Self::solicit(who, &mut self.outbox, now, (asked, entry));
                self.timers.extend(entry.timer(asked));
            } else if let Some(entry) = self.entries.remove(&asked) {
                self.ended.extend(entry.waiting);
            }
        }
    }

    /// Flows whose next hop does not answer.
    fn poll_end(&mut self, now: SimTime) -> Option<HostEnd> {
        self.ended.pop_front().map(|flow| {
            HostEnd::Flow(FlowEnd {
                flow,
                status: CompletionStatus::Flushed,
                finished: now,
                retransmitted_packets: 0,
                failure: Some(FlowFailure::AddressUnresolved),
            })
        })
    }
}

impl State for HostNeighbours {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        save_value(&(&self.entries, &self.outbox, &self.ready, &self.ended, self.sent), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        (self.entries, self.outbox) = load_value(from)?;
        (self.ready, self.ended, self.sent) = load_value(from)?;
        self.timers = self.entries.iter().filter_map(|(&asked, one)| one.timer(asked)).collect();
        Ok(())
    }
}

impl HostNeighbours {
    /// Whether what was loaded can be of this host.
    pub(in crate::profile::roce) fn check(&self, plan: &Plan) -> Result {
        let is_other =
            |node: NodeId| (node as usize) < plan.topology.nodes.len() && node != self.host;
        let begins_here = |flow: &u32| {
            plan.flows.get(*flow as usize).is_some_and(|flow| flow.source == self.host)
        };
        let waiting = self.entries.values().flat_map(|entry| &entry.waiting);
        let mut started = waiting.chain(&self.ready).chain(&self.ended);
        let fits = |(&asked, entry): (&NodeId, &Entry)| {
            let waits = !entry.waiting.is_empty();
            is_other(asked)
                && entry.solicitations <= self.timing.attempts
                && waits == (entry.state == Reachability::Incomplete)
        };
        let is_of_two = |frame: &NeighbourFrame| {
            frame.marking == self.timing.marking
                && match frame.kind {
                    NeighbourKind::Solicitation => {
                        frame.asker == self.host && is_other(frame.asked)
                    }
                    NeighbourKind::Advertisement => {
                        frame.asked == self.host && is_other(frame.asker)
                    }
                }
        };
        if !self.entries.iter().all(fits) {
            return Err(unfit("the neighbours of a host"));
        }
        if !self.outbox.iter().all(is_of_two) {
            return Err(unfit("questions for MAC addresses that wait at a host"));
        }
        if !started.all(begins_here) {
            return Err(unfit("flows that wait for a MAC address"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    /// Three hosts in one domain, which ask for each other. Flow 0 is from host-0 to host-1, flow 1 from host-0 to host-2, and flow 2 from
    /// host-1 to host-0.
    fn plan() -> Plan {
        let text = "[roce]\nneighbours = { retransmit = \"1ms\", attempts = 2 }\n[layer3]\n\
                    [topology.single-switch]\nhosts = 3\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    [congestion_control.none]\n[workload.flows]\nlist = [\
                    { from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }, \
                    { from = \"host-0\", to = \"host-2\", bytes = \"1KB\" }, \
                    { from = \"host-1\", to = \"host-0\", bytes = \"1KB\" }]\n";
        let scenario = Scenario::parse(text, Path::new("t.toml"), &[]);
        scenario.and_then(|scenario| scenario.plan()).unwrap()
    }

    fn us(time: u64) -> SimTime {
        SimTime::from_ps(time * 1_000_000)
    }

    /// The first time of all is the one that is asked for, whatever happens to entries.
    #[test]
    fn the_first_timer_is_known() {
        let plan = plan();
        let mut host = HostNeighbours::new(&plan, 0).unwrap();
        assert_eq!(host.poll_timeout(), SimTime::NEVER);
        assert!(!host.resolve(&plan, us(0), 0));
        assert!(!host.resolve(&plan, us(300), 1));
        assert_eq!(host.poll_timeout(), us(1_000));
        host.handle_timeout(us(1_000));
        assert_eq!(host.poll_timeout(), us(1_300));
        let answer = NeighbourFrame {
            kind: NeighbourKind::Advertisement,
            asker: 0,
            asked: 2,
            marking: host.timing.marking,
            to_all: false,
        };
        host.receive(&plan, us(1_100), &StackFrame::Neighbour(answer), None);
        assert_eq!((host.poll_ready(), host.poll_timeout()), (Some(1), us(2_000)));
        host.handle_timeout(us(2_000));
        assert_eq!(host.poll_timeout(), SimTime::NEVER);
        assert!(matches!(host.poll_end(us(2_000)), Some(HostEnd::Flow(end)) if end.flow == 0));
        // Host 2 is stale after 30 s, and asked for 5 s after its next use.
        assert!(host.resolve(&plan, us(40_000_000), 1));
        assert_eq!(host.poll_timeout(), us(45_000_000));
    }

    /// What cannot be of a host is an error, and nothing else.
    #[test]
    fn a_saved_state_that_does_not_fit_is_refused() {
        let plan = plan();
        let new = || {
            let mut host = HostNeighbours::new(&plan, 0).unwrap();
            assert!(!host.resolve(&plan, us(0), 0));
            host
        };
        let loaded = |changed: &dyn Fn(&mut HostNeighbours)| {
            let mut saved = new();
            changed(&mut saved);
            let mut bytes = Vec::new();
            saved.save(&mut bytes).unwrap();
            let mut host = HostNeighbours::new(&plan, 0).unwrap();
            host.load(&mut &bytes[..]).unwrap();
            let timeout = host.poll_timeout();
            host.check(&plan).map(|()| timeout)
        };
        assert_eq!(loaded(&|_| {}).unwrap(), us(1_000));
        let changes: [&dyn Fn(&mut HostNeighbours); 8] = [
            &|host| {
                let entry = host.entries[&1].clone();
                host.entries.insert(99, entry);
            },
            &|host| {
                let entry = host.entries[&1].clone();
                host.entries.insert(0, entry);
            },
            &|host| host.entries.get_mut(&1).unwrap().solicitations = 3,
            &|host| host.entries.get_mut(&1).unwrap().state = Reachability::Reachable,
            &|host| host.entries.get_mut(&1).unwrap().waiting.push(2),
            &|host| host.ready.push_back(77),
            &|host| host.outbox[0].asked = 99,
            &|host| host.outbox[0].marking = 200,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(loaded(change).is_err(), "{number}");
        }
    }
}
