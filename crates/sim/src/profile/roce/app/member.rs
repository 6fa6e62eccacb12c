//! A member of a program: carries out what it asks for, and keeps its open operations.
//!
//! What the program itself does is in `rocelab_transport::program`. It is called with what has happened at its host, and
//! what it asks for happens at once, in order.

use rocelab_engine::RngStream;
use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_transport::program::{Action, Completed, End, Message, Over, Posts, Program, Verb};
use rocelab_transport::{
    Completion, CompletionStatus, Nic, Operation, ReceiveCompletion, ReceiveRequest, WorkRequest,
};
use rocelab_units::SimTime;

use super::super::nvlink::Message as NvlinkMessage;
use super::end::{BUFFERS, Desk, key_of};
use crate::profile::TransferKind;
use crate::record::{OpenOperation, OperationEnd};
use crate::{ConnectionPlan, Plan, ProgramPlan, Side};

/// One member of a program, at its host.
#[derive(Debug)]
pub(super) struct Member {
    app: u32,
    number: u32,
    /// Its ends of connections, by the member at the other end; of those to the same one, the client's come first.
    ways: Vec<Way>,
    program: Box<dyn Program>,
    dice: RngStream,
    has_started: bool,
    /// Whether operations are open, or to come.
    goes_on: bool,
    has_failed: bool,
    /// Payload that it has posted since its last operation ended (bytes).
    posted: u64,
    /// Operations that have begun and not ended, by slot.
    open: Vec<Option<Begun>>,
    /// What it asks for in a call; empty between calls.
    actions: Vec<Action>,
}

impl State for Member {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self {
            app: _,
            number: _,
            ways: _,
            program,
            dice,
            has_started,
            goes_on,
            has_failed,
            posted,
            open,
            actions: _,
        } = self;
        save_value(&(dice, has_started, goes_on, has_failed, posted, open), to)?;
        program.save(to)
    }

    /// Operations are of connections that it has.
    fn load(&mut self, from: &mut &[u8]) -> Result {
        let open: Vec<Option<Begun>>;
        (self.dice, self.has_started, self.goes_on, self.has_failed, self.posted, open) =
            load_value(from)?;
        let is_own = |begun: &Begun| self.ways.iter().any(|way| way.connection == begun.connection);
        if !open.iter().flatten().all(is_own) {
            return Err(unfit("the operations of a program"));
        }
        self.open = open;
        self.program.load(from)
    }
}

/// One of its ends of connections.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: u32,
    connection: u32,
    side: Side,
    qpn: u32,
    is_nvlink: bool,
}

/// An operation that has begun.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Begun {
    connection: u32,
    number: u64,
    start: SimTime,
}

/// The end of a program's connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberEnd {
    /// Its member's place on this host.
    pub(super) member: u32,
    /// The member at the other end.
    other: u32,
    connection: u32,
    side: Side,
    qpn: u32,
    is_nvlink: bool,
    /// Room of each of its receive requests (bytes).
    room: u32,
}

impl Member {
    /// A member without connections.
    pub(super) fn new(app: u32, number: u32, program: &ProgramPlan, dice: RngStream) -> Self {
        let program = program.definition.member(&program.members, number);
        Self {
            app,
            number,
            ways: Vec::new(),
            goes_on: !program.is_over(),
            program,
            dice,
            has_started: false,
            has_failed: false,
            posted: 0,
            open: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Whether it is this member of this application.
    pub(super) fn is(&self, app: u32, number: u32) -> bool {
        (self.app, self.number) == (app, number)
    }

    /// Connects it, and posts receive requests; over NVLink messages need none.
    pub(super) fn connect(&mut self, end: MemberEnd, receive_depth: u32, nic: &mut Nic) {
        let MemberEnd { other: to, connection, side, qpn, is_nvlink, .. } = end;
        let way = Way { to, connection, side, qpn, is_nvlink };
        let behind = self.ways.partition_point(|known| Self::place(known) <= Self::place(&way));
        self.ways.insert(behind, way);
        if !is_nvlink {
            (0..receive_depth).for_each(|_| end.post_receive(nic));
        }
    }

    /// Whether operations are open here, or to come.
    pub(super) const fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// The operations that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenOperation> + '_ {
        (0u16..).zip(&self.open).filter_map(|(slot, begun)| {
            let Begun { connection, number, start } = (*begun)?;
            Some(OpenOperation { connection, slot, operation: number, kind: 0, start })
        })
    }

    /// The member that it waits for, if it says so and has begun an operation with this connection.
    pub(super) fn awaited(&self, connection: u32) -> Option<u32> {
        let mut begun = self.open.iter().flatten();
        begun.any(|begun| begun.connection == connection).then(|| self.program.waits_for())?
    }

    /// The start, or a time that it waited for, has come.
    pub(super) fn on_time(&mut self, desk: &mut Desk<'_>, tag: u64) {
        if std::mem::replace(&mut self.has_started, true) {
            self.call(desk, |program, posts| program.on_timer(tag, posts));
        } else {
            self.call(desk, |program, posts| program.on_start(posts));
        }
    }

    /// A work request has ended.
    pub(super) fn on_completion(
        &mut self,
        desk: &mut Desk<'_>,
        end: &MemberEnd,
        completion: &Completion,
    ) {
        if completion.status != CompletionStatus::Success {
            return self.fail(desk, completion.status);
        }
        self.complete(desk, end, completion.id);
    }

    /// Work that it posted has completed: what was given along.
    pub(super) fn complete(&mut self, desk: &mut Desk<'_>, end: &MemberEnd, tag: u64) {
        let work = Completed { to: end.other, tag };
        self.call(desk, |program, posts| program.on_completion(work, posts));
    }

    /// A message has arrived, or a receive request was flushed.
    pub(super) fn on_receive(
        &mut self,
        desk: &mut Desk<'_>,
        end: &MemberEnd,
        completion: &ReceiveCompletion,
    ) {
        if completion.status != CompletionStatus::Success {
            return self.fail(desk, completion.status);
        }
        end.post_receive(desk.nic);
        let Some(tag) = desk.messages.take(end.connection, end.side) else { return };
        self.hear(desk, end, tag, completion.bytes);
    }

    /// A message has arrived: what it says, and its bytes.
    pub(super) fn hear(&mut self, desk: &mut Desk<'_>, end: &MemberEnd, tag: u64, bytes: u32) {
        let message = Message { from: end.other, tag, bytes };
        self.call(desk, |program, posts| program.on_arrival(message, posts));
    }

    /// Calls the program, if it has not failed, and does what it asks for.
    fn call(&mut self, desk: &mut Desk<'_>, with: impl FnOnce(&mut dyn Program, &mut Posts<'_>)) {
        if self.has_failed {
            return;
        }
        let mut actions = std::mem::take(&mut self.actions);
        let dice = &mut self.dice;
        let mut draw = || dice.uniform();
        with(&mut *self.program, &mut Posts::new(desk.now, &mut actions, &mut draw));
        for action in actions.drain(..) {
            self.carry_out(desk, action);
        }
        self.actions = actions;
        if self.program.is_over() {
            self.close(desk);
        }
    }

    fn carry_out(&mut self, desk: &mut Desk<'_>, action: Action) {
        match action {
            Action::Post { over, verb, bytes, tag } => self.post(desk, over, (verb, bytes, tag)),
            Action::Wait { until, tag } => desk.timers.set(until, desk.end, tag),
            Action::Begin { with, number } => self.begin(desk.now, with, number),
            Action::End { number } => self.end(desk, number),
        }
    }

    fn post(&mut self, desk: &mut Desk<'_>, over: Over, (verb, bytes, tag): (Verb, u32, u64)) {
        let Some(way) = self.way(over) else { return };
        self.posted += u64::from(bytes);
        if way.is_nvlink {
            return way.post_by_nvlink(desk, verb, bytes, tag);
        }
        let [a, b, c, d, ..] = tag.to_le_bytes();
        let operation = match verb {
            Verb::Send => Operation::Send,
            Verb::Write => Operation::Write,
            Verb::WriteWithImmediate => {
                Operation::WriteWithImmediate(u32::from_le_bytes([a, b, c, d]))
            }
            Verb::Read => Operation::Read,
        };
        let work = WorkRequest::new(tag, operation, bytes)
            .to(BUFFERS, key_of(desk.plan, way.connection))
            .local(BUFFERS);
        let accepted = desk.nic.post_send(desk.now, way.qpn, work);
        debug_assert!(accepted.is_ok(), "a member's work can be posted: {accepted:?}");
        if verb.is_noticed() {
            desk.messages.post(way.connection, way.side.other(), tag);
        }
    }

    fn begin(&mut self, now: SimTime, with: u32, number: u64) {
        let first = Over { to: with, number: 0, end: End::Either };
        let Some(way) = self.way(first) else { return };
        let begun = Some(Begun { connection: way.connection, number, start: now });
        match self.open.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = begun,
            None => self.open.push(begun),
        }
    }

    fn end(&mut self, desk: &mut Desk<'_>, number: u64) {
        let is_meant = |slot: &Option<Begun>| slot.is_some_and(|begun| begun.number == number);
        let slot = self.open.iter().position(is_meant);
        debug_assert!(slot.is_some(), "operation {number} is open");
        if let Some(slot) = slot {
            self.note_end(desk, slot, CompletionStatus::Success);
        }
    }

    /// The operation in a slot, if there is one, is over.
    fn note_end(&mut self, desk: &mut Desk<'_>, slot: usize, status: CompletionStatus) {
        let Some(Begun { connection, number, start }) = self.open[slot].take() else { return };
        desk.ended.push_back(OperationEnd {
            connection,
            slot: u16::try_from(slot).unwrap_or(u16::MAX),
            operation: number,
            kind: 0,
            start,
            payload: std::mem::take(&mut self.posted),
            status,
            found: None,
        });
    }

    /// A queue pair failed, and with it all operations: the program knows nothing of failures.
    fn fail(&mut self, desk: &mut Desk<'_>, status: CompletionStatus) {
        self.has_failed = true;
        for slot in 0..self.open.len() {
            self.note_end(desk, slot, status);
        }
        self.close(desk);
    }

    /// Nothing is open here any more, nor to come.
    fn close(&mut self, desk: &mut Desk<'_>) {
        if std::mem::replace(&mut self.goes_on, false) {
            *desk.closed += 1;
        }
    }

    /// The connection over which it posts to a member.
    fn way(&self, over: Over) -> Option<Way> {
        let before = match over.end {
            End::Client | End::Either => self.ways.partition_point(|way| way.to < over.to),
            End::Server => self.ways.partition_point(|way| Self::place(way) < (over.to, true)),
        };
        let way = self.ways.get(before + over.number as usize).copied().filter(|way| {
            let side = match over.end {
                End::Client => way.side == Side::Client,
                End::Server => way.side == Side::Server,
                End::Either => true,
            };
            way.to == over.to && side
        });
        debug_assert!(way.is_some(), "member {} has a connection {over:?}", self.number);
        way
    }

    /// What its ends of connections are in the order of: of those of one pair, in that of the connections.
    fn place(way: &Way) -> (u32, bool) {
        (way.to, way.side == Side::Server)
    }
}

impl Way {
    /// Posts a message over NVLink.
    fn post_by_nvlink(self, desk: &mut Desk<'_>, verb: Verb, bytes: u32, tag: u64) {
        let kind = match verb {
            Verb::Send | Verb::WriteWithImmediate => TransferKind::Message,
            Verb::Write => TransferKind::Store,
            Verb::Read => TransferKind::LoadRequest,
        };
        let message =
            NvlinkMessage { connection: self.connection, to: self.side.other(), kind, tag, bytes };
        if let Some(nvlink) = desk.nvlink.as_deref_mut() {
            nvlink.send(desk.now, message);
        }
    }
}

impl MemberEnd {
    /// An end of a connection, of the member at this place on the host.
    pub(super) fn new(
        member: u32,
        (number, connection): (u32, &ConnectionPlan),
        side: Side,
        room: u32,
    ) -> Self {
        let [client, server] = connection.members;
        let other = if side == Side::Client { server } else { client };
        let qpn = connection.end(side).qpn;
        let is_nvlink = connection.is_nvlink;
        Self { member, other, connection: number, side, qpn, is_nvlink, room }
    }

    /// Whether it is over NVLink.
    pub(super) const fn is_nvlink(&self) -> bool {
        self.is_nvlink
    }

    /// Its connection, and its side of that.
    pub(super) const fn place(&self) -> (u32, Side) {
        (self.connection, self.side)
    }

    fn post_receive(&self, nic: &mut Nic) {
        let request = ReceiveRequest { id: 0, address: 0, length: self.room };
        let accepted = nic.post_receive(self.qpn, request);
        debug_assert!(accepted.is_ok(), "it has a receive queue of its own: {accepted:?}");
    }
}

/// The member of a program at an end of a connection.
pub(super) const fn member_of(connection: &ConnectionPlan, side: Side) -> u32 {
    let [client, server] = connection.members;
    match side {
        Side::Client => client,
        Side::Server => server,
    }
}

/// The random stream of a member.
pub(super) fn dice(plan: &Plan, app: u32, number: u32) -> RngStream {
    let name = &plan.apps[app as usize].name;
    RngStream::new(plan.seed, &format!("{name}/member/{number}"))
}
