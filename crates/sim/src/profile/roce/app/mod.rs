//! The programs of a host: its ends of the connections of applications.
//!
//! [`HostApps`] is woken by time, by completions and by receive completions, and posts work. An
//! [`End`](end::End) knows how far each of its operations has come. A [`Member`] of a program is told of all that
//! happens at its ends. What a message says goes by [`Messages`].

mod end;
mod looking;
mod member;
mod messages;
mod timers;

use std::collections::VecDeque;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_state::State;
use rocelab_transport::{
    Completion, FIRST_QPN, Nic, QueuePairConfig, ReceiveCompletion, ReceiveQueueConfig,
};
use rocelab_units::SimTime;
use rocelab_wire::Psn;

use self::end::{Desk, End};
pub(crate) use self::looking::SlotView;
use self::member::{Member, MemberEnd};
pub(in crate::profile::roce) use self::messages::DistantMessage;
pub(super) use self::messages::Messages;
use self::timers::Timers;
use super::nvlink::{News, NvlinkPort};
use crate::profile::{NvlinkTransfer, NvlinkUse};
use crate::record::{HostEnd, OpenOperation, OperationEnd};
use crate::{ConnectionPlan, Plan, ProgramPlan, Side};

/// What runs on a host.
#[derive(Debug)]
pub(super) struct HostApps {
    /// The queue pair number of the first end; the others follow.
    first_qpn: u32,
    ends: Vec<AnyEnd>,
    members: Vec<Member>,
    timers: Timers,
    /// Only where connections of programs are over NVLink.
    nvlink: Option<Box<NvlinkPort>>,
    ended: VecDeque<OperationEnd>,
    /// Connections of clients and members that have become done, and of which nobody was told.
    closed: u32,
}

rocelab_state::state!(HostApps {
    values: ended, closed;
    states: ends, members, timers, nvlink;
    kept: first_qpn
});

/// An end of a connection.
#[derive(Debug)]
enum AnyEnd {
    /// Of an application of steps.
    Steps(End),
    /// Of a program.
    Member(MemberEnd),
}

impl State for AnyEnd {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        match self {
            Self::Steps(end) => end.save(to),
            Self::Member(_) => Ok(()), // Its member has the state.
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        match self {
            Self::Steps(end) => end.load(from),
            Self::Member(_) => Ok(()),
        }
    }
}

impl AnyEnd {
    const fn steps(&self) -> Option<&End> {
        match self {
            Self::Steps(end) => Some(end),
            Self::Member(_) => None,
        }
    }

    /// Its connection, and its side of that.
    const fn place(&self) -> (u32, Side) {
        match self {
            Self::Steps(end) => end.place(),
            Self::Member(end) => end.place(),
        }
    }
}

impl HostApps {
    /// What runs on `node`, if anything does: queue pairs are ready on both sides, as after an
    /// exchange out of band, and receive requests are posted.
    pub(super) fn new(plan: &Plan, node: NodeId, nic: &mut Nic) -> Option<Box<Self>> {
        let mut apps = Self {
            first_qpn: u32::MAX,
            ends: Vec::new(),
            members: Vec::new(),
            timers: Timers::default(),
            nvlink: NvlinkPort::new(plan, node),
            ended: VecDeque::new(),
            closed: 0,
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
        match &self.nvlink {
            None => self.timers.next(),
            Some(nvlink) => self.timers.next().min(nvlink.next()),
        }
    }

    /// Does what is due by now.
    pub(super) fn handle_timeout(
        &mut self,
        plan: &Plan,
        messages: &mut Messages,
        now: SimTime,
        nic: &mut Nic,
    ) {
        while let Some((end, tag)) = self.timers.pop_due(now) {
            let Self { ends, members, timers, nvlink, ended, closed, .. } = self;
            let mut desk = Desk { plan, messages, nic, timers, nvlink, ended, closed, now, end };
            match &mut ends[end as usize] {
                AnyEnd::Steps(end) => end.on_time(&mut desk, tag),
                AnyEnd::Member(end) => members[end.member as usize].on_time(&mut desk, tag),
            }
        }
        while let Some(news) = self.nvlink.as_mut().and_then(|nvlink| nvlink.poll_news(now)) {
            self.tell(plan, messages, now, nic, news);
        }
    }

    /// A program is told of what came or went over NVLink.
    fn tell(
        &mut self,
        plan: &Plan,
        messages: &mut Messages,
        now: SimTime,
        nic: &mut Nic,
        news: News,
    ) {
        let Self { ends, members, timers, nvlink, ended, closed, first_qpn } = self;
        let (News::Completed((connection, side), _) | News::Arrived((connection, side), ..)) = news;
        let end = plan.connections[connection as usize].end(side).qpn - *first_qpn;
        let mut desk = Desk { plan, messages, nic, timers, nvlink, ended, closed, now, end };
        let AnyEnd::Member(end) = &ends[end as usize] else { return };
        let member = &mut members[end.member as usize];
        match news {
            News::Completed(_, tag) => member.complete(&mut desk, end, tag),
            News::Arrived(_, tag, bytes) => member.hear(&mut desk, end, tag, bytes),
        }
    }

    /// The first byte of a transfer over NVLink is here.
    pub(super) fn receive_by_nvlink(&mut self, now: SimTime, transfer: &NvlinkTransfer) {
        if let Some(nvlink) = &mut self.nvlink {
            nvlink.arrive(now, transfer);
        }
    }

    /// What passed over NVLink, where connections are.
    pub(super) fn nvlink_use(&self) -> Option<NvlinkUse> {
        self.nvlink.as_ref().map(|nvlink| nvlink.used())
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
        let Self { ends, members, timers, nvlink, ended, closed, first_qpn } = self;
        let end = completion.qpn - *first_qpn;
        let mut desk = Desk { plan, messages, nic, timers, nvlink, ended, closed, now, end };
        match &mut ends[end as usize] {
            AnyEnd::Steps(end) => end.on_completion(&mut desk, completion),
            AnyEnd::Member(end) => {
                members[end.member as usize].on_completion(&mut desk, end, completion);
            }
        }
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
        let Self { ends, members, timers, nvlink, ended, closed, first_qpn } = self;
        let end = completion.qpn - *first_qpn;
        let mut desk = Desk { plan, messages, nic, timers, nvlink, ended, closed, now, end };
        match &mut ends[end as usize] {
            AnyEnd::Steps(end) => end.on_receive(&mut desk, completion),
            AnyEnd::Member(end) => {
                members[end.member as usize].on_receive(&mut desk, end, completion);
            }
        }
    }

    /// The next transfer that leaves over NVLink, or else the next operation that has ended, at its client, or else the next connection or member that has.
    pub(super) fn poll_end(&mut self) -> Option<HostEnd> {
        if let Some(nvlink) = &mut self.nvlink
            && let Some(departure) = nvlink.poll_departure()
        {
            return Some(HostEnd::Transfer(departure));
        }
        if let Some(end) = self.ended.pop_front() {
            return Some(HostEnd::Operation(end));
        }
        self.closed = self.closed.checked_sub(1)?;
        Some(HostEnd::Closed)
    }

    /// Operations that have started and not ended, at their clients.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenOperation> + '_ {
        let of_steps = self.ends.iter().filter_map(AnyEnd::steps).flat_map(End::open);
        of_steps.chain(self.members.iter().flat_map(Member::open))
    }

    /// The member that a member here waits for, in an operation that it has begun with a connection.
    pub(super) fn awaited_member(&self, connection: u32) -> Option<u32> {
        self.members.iter().find_map(|member| member.awaited(connection))
    }

    /// Connections of which this is the client's end, and members, with operations that are open or to come.
    pub(super) fn open_connections(&self) -> u32 {
        let open = self.ends.iter().filter_map(AnyEnd::steps).filter(|end| end.goes_on());
        let members = self.members.iter().filter(|member| member.goes_on());
        u32::try_from(open.count() + members.count()).unwrap_or(u32::MAX)
    }

    /// The connections that have ends here, with the sides of those.
    pub(super) fn connections(&self) -> impl Iterator<Item = (u32, Side)> + '_ {
        self.ends.iter().map(AnyEnd::place)
    }

    /// The ends of connections here that are over NVLink.
    pub(super) fn ends_of_nvlink(&self) -> impl Iterator<Item = (u32, Side)> + '_ {
        self.ends.iter().filter_map(|end| match end {
            AnyEnd::Member(end) if end.is_nvlink() => Some(end.place()),
            AnyEnd::Member(_) | AnyEnd::Steps(_) => None,
        })
    }

    /// The connection that a queue pair belongs to.
    pub(super) fn connection_of(&self, qpn: u32) -> Option<u32> {
        let place = qpn.checked_sub(self.first_qpn)?;
        self.ends.get(place as usize).map(|end| end.place().0)
    }

    /// The places of open operations at the end that has a queue pair, in order; none of programs.
    pub(super) fn slots(&self, qpn: u32) -> impl Iterator<Item = SlotView> + '_ {
        let place = qpn.checked_sub(self.first_qpn);
        let end = place.and_then(|place| self.ends.get(place as usize)?.steps());
        end.into_iter().flat_map(End::slots)
    }

    /// The packets of what the end that has a queue pair has posted in one of these places in its
    /// present turn, and that is not completed: the PSN of the first, and the one after the last.
    pub(super) fn posted(&self, nic: &Nic, qpn: u32, slot: usize) -> Option<(Psn, Psn)> {
        let place = qpn.checked_sub(self.first_qpn)?;
        self.ends.get(place as usize)?.steps()?.posted(nic, slot)
    }

    fn add(&mut self, plan: &Plan, number: u32, side: Side, nic: &mut Nic) {
        let connection = &plan.connections[number as usize];
        let app = plan.app_of(number);
        let qpn = connection.end(side).qpn;
        self.first_qpn = self.first_qpn.min(qpn);
        debug_assert_eq!(self.first_qpn as usize + self.ends.len(), qpn as usize);
        debug_assert!(qpn >= FIRST_QPN, "a plan numbers queue pairs from the first one on");
        let end = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        if let Some(program) = &app.program {
            let room = program.largest_message;
            if !connection.is_nvlink {
                nic.create_queue_pair(queue_pair(plan, connection, side, true));
            }
            let member = self.member(plan, (connection, side), program, end);
            let added = MemberEnd::new(member, (number, connection), side, room);
            self.members[member as usize].connect(added, app.receive_depth, nic);
            return self.ends.push(AnyEnd::Member(added));
        }
        let room = app.largest_received(side);
        nic.create_queue_pair(queue_pair(plan, connection, side, room.is_some()));
        let mut added = End::new(number, side, qpn, room.unwrap_or(0), app, || {
            let name = &plan.topology.nodes[connection.end(side).host as usize].name;
            RngStream::new(plan.seed, &format!("{}/{name}/{qpn}", app.name))
        });
        added.open_for_business(app, nic, end, &mut self.timers);
        self.ends.push(AnyEnd::Steps(added));
    }

    /// The place of the member at an end of a connection. At its first end, it is made, and will be started.
    fn member(
        &mut self,
        plan: &Plan,
        (connection, side): (&ConnectionPlan, Side),
        program: &ProgramPlan,
        end: u32,
    ) -> u32 {
        let (app, number) = (connection.app, member::member_of(connection, side));
        let known = self.members.iter().position(|member| member.is(app, number));
        let place = known.unwrap_or(self.members.len());
        if known.is_none() {
            let dice = member::dice(plan, app, number);
            self.members.push(Member::new(app, number, program, dice));
            self.timers.set(plan.apps[app as usize].start, end, 0);
        }
        u32::try_from(place).unwrap_or(u32::MAX)
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
    let ends = (near.host, far.host);
    let priority = plan.service_level(ends, (connection.priority, connection.entropy));
    QueuePairConfig {
        qpn: near.qpn,
        dest_qp: far.qpn,
        destination: far.host,
        entropy: plan.flow_hash(near.host, far.host, connection.entropy),
        more_entropies: plan.more_flow_hashes(near.host, far.host, connection.entropy),
        initial_psn: near.psn,
        remote_initial_psn: far.psn,
        priority,
        marking: plan.markings.of_queue_pair(connection.marking, near.host, priority),
        receive_queue: if receives { ReceiveQueueConfig::Own } else { ReceiveQueueConfig::Endless },
        q_key: 0,
        alternate_path: plan.alternate_path(
            (connection.queue_pairs, connection.entropy),
            (near.host, far.host),
            side == Side::Client,
        ),
        profile: plan.queue_pairs[connection.queue_pairs as usize].clone(),
    }
}
