//! What a host does in a mesh of pings: it pings others, answers their pings, and keeps what became of its own.
//!
//! A ping is a SEND of an unreliable datagram with immediate data: its number, and one bit that tells answers. A ping and its answer
//! take the same source port, another one for each ping, so that equal-cost paths take turns. Nothing is sent again.

use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_transport::{
    AddressHandle, Nic, Operation, QueuePairConfig, ReceiveCompletion, ReceiveQueueConfig,
    ReceiveRequest, WorkRequest,
};
use rocelab_units::SimTime;

use crate::Plan;
use crate::plan::{ANSWER, MonitoringPlan, PingRules, PingingHost, Pings};
use crate::record::Ping;

/// The queue key of all queue pairs for pings.
const Q_KEY: u32 = 0x0070_696e;
/// Receive requests for each other host that a host exchanges pings with: so many at the least, and beyond the pings that
/// may wait for a program.
const RECEIVES: u32 = 4;
/// The most receive requests of a queue pair for pings, unless the least for each other host are more.
const MOST_RECEIVES: u32 = 1 << 14;

/// The part of a host in the mesh.
#[derive(Debug)]
pub(super) struct Monitor {
    node: NodeId,
    /// The first of its queue pairs, and how many it has.
    qpn: u32,
    queue_pairs: u32,
    /// Where the time of its first ping comes from.
    seed: u64,
    /// When the next ping is sent.
    next: SimTime,
    /// Its pings so far, in the order in which it sent them: that of their numbers.
    pings: Vec<Ping>,
}

rocelab_state::state!(Monitor { values: next, pings; kept: node, qpn, queue_pairs, seed });

/// What is sent: to whom, and what its immediate data say.
#[derive(Clone, Copy, Debug)]
struct Probe {
    to: NodeId,
    immediate: u32,
}

impl Monitor {
    /// The part of a host, if it has one: its queue pairs are made, and receive requests posted.
    pub(super) fn new(plan: &Plan, node: NodeId, nic: &mut Nic) -> Option<Box<Self>> {
        let mesh = plan.monitoring.as_ref()?;
        let of_host = mesh.hosts.get(&node)?;
        let queue_pairs = Pings(plan).queue_pairs();
        for number in 0..queue_pairs {
            nic.create_queue_pair(queue_pair((plan, mesh), (node, number), of_host));
            for _ in 0..receives(&mesh.rules, of_host) {
                post_receive(nic, of_host.qpn + number, mesh.rules.bytes);
            }
        }
        let seed = plan.seed ^ u64::from(node) << 32;
        let mut monitor = Self {
            node,
            qpn: of_host.qpn,
            queue_pairs,
            seed,
            next: SimTime::NEVER,
            pings: Vec::new(),
        };
        monitor.next = monitor.time_of_next(mesh, of_host);
        Some(Box::new(monitor))
    }

    /// When it wants to be woken; [`SimTime::NEVER`] for never.
    pub(super) const fn next(&self) -> SimTime {
        self.next
    }

    /// Whether a queue pair is one of its own.
    pub(super) fn has(&self, qpn: u32) -> bool {
        (self.qpn..self.qpn + self.queue_pairs).contains(&qpn)
    }

    /// Its pings, in the order in which it sent them.
    pub(super) fn pings(&self) -> &[Ping] {
        &self.pings
    }

    /// Pings whose time has come are sent.
    pub(super) fn handle_timeout(&mut self, plan: &Plan, now: SimTime, nic: &mut Nic) {
        let Some(mesh) = &plan.monitoring else { return };
        let Some(of_host) = mesh.hosts.get(&self.node) else { return };
        while self.next <= now {
            let number = self.pings.len();
            let to = of_host.peers[number % of_host.peers.len()];
            // A dead host has no program that pings: the number passes by.
            let is_dead = plan.failures.is_dead(self.node, now);
            let sent = if is_dead { SimTime::NEVER } else { now };
            self.pings.push(Ping { to, sent, took: None });
            if !is_dead {
                let immediate = u32::try_from(number).unwrap_or(u32::MAX) & !ANSWER;
                self.send(plan, now, nic, Probe { to, immediate });
            }
            self.next = self.time_of_next(mesh, of_host);
        }
    }

    /// A datagram has arrived for it, and the program has found it: a ping is answered, an answer is noted.
    pub(super) fn on_receive(
        &mut self,
        plan: &Plan,
        now: SimTime,
        nic: &mut Nic,
        completion: &ReceiveCompletion,
    ) {
        let Some(mesh) = &plan.monitoring else { return };
        post_receive(nic, completion.qpn, mesh.rules.bytes);
        let (Some(immediate), Some(from)) = (completion.immediate, completion.from) else { return };
        if immediate & ANSWER == 0 {
            let answer = Probe { to: from.host, immediate: immediate | ANSWER };
            return self.send(plan, now, nic, answer);
        }
        let ping = self.pings.get_mut((immediate & !ANSWER) as usize);
        // A frame that was duplicated on its way has two answers, of which the first counts.
        if let Some(ping) = ping.filter(|ping| ping.to == from.host && ping.took.is_none()) {
            ping.took = Some(now.since(ping.sent));
        }
    }

    fn time_of_next(&self, mesh: &MonitoringPlan, of_host: &PingingHost) -> SimTime {
        // Numbers have 31 bits.
        let number = self.pings.len() as u64;
        if of_host.peers.is_empty() || number >= u64::from(ANSWER) {
            return SimTime::NEVER;
        }
        let next = mesh.rules.time_of((self.seed, of_host.peers.len()), number);
        if mesh.rules.lasts_to(next) { next } else { SimTime::NEVER }
    }

    fn send(&self, plan: &Plan, now: SimTime, nic: &mut Nic, probe: Probe) {
        let Probe { to, immediate } = probe;
        let Some(mesh) = &plan.monitoring else { return };
        let Some(there) = mesh.hosts.get(&to) else { return };
        let entropy = Pings(plan).entropy((self.node, to), immediate);
        let handle = AddressHandle {
            destination: to,
            entropy: plan.flow_hash(self.node, to, entropy),
            dest_qp: there.qpn,
            q_key: Q_KEY,
        };
        let operation = Operation::SendWithImmediate(immediate);
        let work = WorkRequest::new(immediate.into(), operation, mesh.rules.bytes);
        let from = Pings(plan).queue_pair((self.node, to), entropy, self.qpn);
        let posted = nic.post_datagram(now, from, work, handle);
        debug_assert!(posted.is_ok(), "a ping can be posted: {posted:?}");
    }
}

/// Receive requests that a queue pair needs: as many as pings and answers come until the oldest is lost anyway.
fn receives(rules: &PingRules, of_host: &PingingHost) -> u32 {
    let others = of_host.pinged_by + u32::try_from(of_host.peers.len()).unwrap_or(0);
    let waiting = rules.timeout.ps().div_ceil(rules.interval.ps().max(1));
    let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
    let most = MOST_RECEIVES.max((1 + others).saturating_mul(RECEIVES));
    (1 + others).saturating_mul(waiting.saturating_add(RECEIVES)).min(most)
}

fn post_receive(nic: &mut Nic, qpn: u32, bytes: u32) {
    let posted = nic.post_receive(qpn, ReceiveRequest { id: 0, address: 0, length: bytes });
    debug_assert!(posted.is_ok(), "it has a receive queue of its own: {posted:?}");
}

/// One of a host's queue pairs for pings, by its number among them.
fn queue_pair(
    (plan, mesh): (&Plan, &MonitoringPlan),
    (node, number): (NodeId, u32),
    of_host: &PingingHost,
) -> QueuePairConfig {
    let by_level = Pings(plan).queue_pairs() > 1;
    let level = u8::try_from(number).unwrap_or(0);
    let priority = if by_level { level } else { mesh.rules.priority };
    let mut profile = mesh.profile.clone();
    if plan.roce.v1_hosts.contains(&node) {
        Arc::make_mut(&mut profile).ecn_capable = false; // There is no IP header to say so.
    }
    QueuePairConfig {
        qpn: of_host.qpn + number,
        dest_qp: 0,
        destination: node,
        entropy: 0,
        more_entropies: Vec::new(),
        initial_psn: of_host.psn,
        remote_initial_psn: 0,
        priority,
        marking: plan.markings.of_queue_pair(0, node, priority),
        receive_queue: ReceiveQueueConfig::Own,
        q_key: Q_KEY,
        alternate_path: None,
        profile,
    }
}
