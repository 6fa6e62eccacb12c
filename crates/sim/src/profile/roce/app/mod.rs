//! The programs of a host: its ends of the connections of applications.
//!
//! [`HostApps`] is woken by time, by completions and by receive completions, and posts work. An
//! [`End`](end::End) knows how far each of its operations has come. What a message says goes by
//! [`Messages`].

mod end;
mod looking;
mod messages;
mod timers;

use std::collections::VecDeque;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::{
    Completion, FIRST_QPN, Nic, QueuePairConfig, ReceiveCompletion, ReceiveQueueConfig,
};
use rocelab_units::SimTime;
use rocelab_wire::Psn;

use self::end::{Desk, End};
pub(crate) use self::looking::SlotView;
pub(in crate::profile::roce) use self::messages::DistantMessage;
pub(super) use self::messages::Messages;
use self::timers::Timers;
use crate::record::{OpenOperation, OperationEnd};
use crate::{ConnectionPlan, Plan, Side};

/// What runs on a host.
#[derive(Debug)]
pub(super) struct HostApps {
    /// The queue pair number of the first end; the others follow.
    first_qpn: u32,
    ends: Vec<End>,
    timers: Timers,
    ended: VecDeque<OperationEnd>,
}

rocelab_state::state!(HostApps { values: ended; states: ends, timers; kept: first_qpn });

impl HostApps {
    /// What runs on `node`, if anything does: queue pairs are ready on both sides, as after an
    /// exchange out of band, and receive requests are posted.
    pub(super) fn new(plan: &Plan, node: NodeId, nic: &mut Nic) -> Option<Box<Self>> {
        let mut apps = Self {
            first_qpn: u32::MAX,
            ends: Vec::new(),
            timers: Timers::default(),
            ended: VecDeque::new(),
        };
        for (number, connection) in (0u32..).zip(&plan.connections) {
            for side in [Side::Client, Side::Server] {
                if connection.end(side).host == node {
                    apps.add(plan, number, side, nic);
                }
            }
        }
        (!apps.ends.is_empty()).then(|| Box::new(apps))
    }

    /// The queue pair number from which on they are those of applications.
    pub(super) const fn first_qpn(&self) -> u32 {
        self.first_qpn
    }

    /// When a program next does something by itself; [`SimTime::NEVER`] if it waits for others.
    #[inline]
    pub(super) fn next_due(&self) -> SimTime {
        self.timers.next()
    }

    /// Does what is due by now.
    pub(super) fn handle_timeout(
        &mut self,
        plan: &Plan,
        messages: &mut Messages,
        now: SimTime,
        nic: &mut Nic,
    ) {
        while let Some((end, slot)) = self.timers.pop_due(now) {
            let Self { ends, timers, ended, .. } = self;
            let mut desk = Desk { plan, messages, nic, timers, ended, now, end };
            ends[end as usize].on_time(&mut desk, slot);
        }
    }

    /// A work request of an application has ended.
    pub(super) fn on_completion(
        &mut self,
        plan: &Plan,
        messages: &mut Messages,
        now: SimTime,
        nic: &mut Nic,
        completion: &Completion,
    ) {
        let Self { ends, timers, ended, first_qpn } = self;
        let end = completion.qpn - *first_qpn;
        let mut desk = Desk { plan, messages, nic, timers, ended, now, end };
        ends[end as usize].on_completion(&mut desk, completion);
    }

    /// A message of an application has arrived, or a receive request was flushed.
    pub(super) fn on_receive(
        &mut self,
        plan: &Plan,
        messages: &mut Messages,
        now: SimTime,
        nic: &mut Nic,
        completion: &ReceiveCompletion,
    ) {
        let Self { ends, timers, ended, first_qpn } = self;
        let end = completion.qpn - *first_qpn;
        let mut desk = Desk { plan, messages, nic, timers, ended, now, end };
        ends[end as usize].on_receive(&mut desk, completion);
    }

    /// The next operation that has ended, at its client.
    pub(super) fn poll_end(&mut self) -> Option<OperationEnd> {
        self.ended.pop_front()
    }

    /// Operations that have started and not ended, at their clients.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenOperation> + '_ {
        self.ends.iter().flat_map(End::open)
    }

    /// Connections of which this is the client's end, and on which operations are open or to come.
    pub(super) fn open_connections(&self) -> u32 {
        let open = self.ends.iter().filter(|end| end.goes_on());
        u32::try_from(open.count()).unwrap_or(u32::MAX)
    }

    /// The connections that have ends here, with the sides of those.
    pub(super) fn connections(&self) -> impl Iterator<Item = (u32, Side)> + '_ {
        self.ends.iter().map(End::place)
    }

    /// The connection that a queue pair belongs to.
    pub(super) fn connection_of(&self, qpn: u32) -> Option<u32> {
        let place = qpn.checked_sub(self.first_qpn)?;
        self.ends.get(place as usize).map(End::connection)
    }

    /// The places of open operations at the end that has a queue pair, in order.
    pub(super) fn slots(&self, qpn: u32) -> impl Iterator<Item = SlotView> + '_ {
        let place = qpn.checked_sub(self.first_qpn);
        let end = place.and_then(|place| self.ends.get(place as usize));
        end.into_iter().flat_map(End::slots)
    }

    /// The packets of what the end that has a queue pair has posted in one of these places in its
    /// present turn, and that is not completed: the PSN of the first, and the one after the last.
    pub(super) fn posted(&self, nic: &Nic, qpn: u32, slot: usize) -> Option<(Psn, Psn)> {
        let place = qpn.checked_sub(self.first_qpn)?;
        self.ends.get(place as usize)?.posted(nic, slot)
    }

    fn add(&mut self, plan: &Plan, number: u32, side: Side, nic: &mut Nic) {
        let connection = &plan.connections[number as usize];
        let app = plan.app_of(number);
        let qpn = connection.end(side).qpn;
        self.first_qpn = self.first_qpn.min(qpn);
        debug_assert_eq!(self.first_qpn as usize + self.ends.len(), qpn as usize);
        debug_assert!(qpn >= FIRST_QPN, "a plan numbers queue pairs from the first one on");
        let room = app.largest_received(side);
        nic.create_queue_pair(queue_pair(plan, connection, side, room.is_some()));
        let end = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let mut added = End::new(number, side, qpn, room.unwrap_or(0), app, || {
            let name = &plan.topology.nodes[connection.end(side).host as usize].name;
            RngStream::new(plan.seed, &format!("{}/{name}/{qpn}", app.name))
        });
        added.open_for_business(app, nic, end, &mut self.timers);
        self.ends.push(added);
    }
}

/// One end of a connection.
fn queue_pair(
    plan: &Plan,
    connection: &ConnectionPlan,
    side: Side,
    receives: bool,
) -> QueuePairConfig {
    let (near, far) = (connection.end(side), connection.end(side.other()));
    QueuePairConfig {
        qpn: near.qpn,
        dest_qp: far.qpn,
        destination: far.host,
        entropy: plan.flow_hash(near.host, far.host, connection.entropy),
        more_entropies: plan.more_flow_hashes(near.host, far.host, connection.entropy),
        initial_psn: near.psn,
        remote_initial_psn: far.psn,
        priority: connection.priority,
        receive_queue: if receives { ReceiveQueueConfig::Own } else { ReceiveQueueConfig::Endless },
        q_key: 0,
        profile: plan.queue_pairs[connection.queue_pairs as usize].clone(),
    }
}
