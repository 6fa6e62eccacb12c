//! One end of a connection: how far each of its operations has come.
//!
//! A side's turn is a run of its steps. Within a turn, a step follows the completion of the one
//! before it, or leaves together with it (chained). The other side's turn begins when the last
//! message of this one has arrived there. A turn that ends with a READ or atomic operation is over
//! with its completion.

use std::collections::VecDeque;

use rocelab_engine::RngStream;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::{
    Completion, CompletionStatus, Nic, OutstandingWork, ReceiveCompletion, ReceiveRequest,
    WorkRequest,
};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Psn;

use super::super::nvlink::NvlinkPort;
use super::looking::SlotView;
use super::messages::Messages;
use super::timers::Timers;
use crate::record::{OpenOperation, OperationEnd};
use crate::scenario::workload::app::{CompletionEventsConfig, Notify};
use crate::{AppPlan, Plan, Side, StepPlan};

/// Where the eight bytes are that atomic operations of the first application change; those of the
/// next follow.
const COUNTERS: u64 = 1 << 62;
/// Each operation's place has its own buffer, on pages of its own.
const PAGE: u64 = 4096;
/// Where these buffers begin, far from the memory of flows.
pub(super) const BUFFERS: u64 = 1 << 61;

/// What an end works with.
pub(super) struct Desk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) messages: &'a mut Messages,
    pub(super) nic: &'a mut Nic,
    pub(super) timers: &'a mut Timers,
    /// Only where connections of programs are over NVLink.
    pub(super) nvlink: &'a mut Option<Box<NvlinkPort>>,
    pub(super) ended: &'a mut VecDeque<OperationEnd>,
    /// Connections and members that have become done.
    pub(super) closed: &'a mut u32,
    pub(super) now: SimTime,
    /// The end's own number.
    pub(super) end: u32,
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct End {
    connection: u32,
    side: Side,
    qpn: u32,
    /// Room of each of its receive requests (bytes); 0 if it needs none.
    room: u32,
    slots: Vec<Slot>,
    /// Only at the client.
    client: Option<Box<Client>>,
    /// Only where it sleeps until a completion event.
    sleeper: Option<Box<Sleeper>>,
    failed: bool,
}

/// What only the client knows.
#[derive(Debug)]
struct Client {
    /// Operations that have started or are bound to.
    claimed: u64,
    /// Slots in which no further operation starts.
    retired: usize,
    /// Which kind the next operation is of.
    dice: RngStream,
}

rocelab_state::state!(End {
    values: slots, failed;
    states: client, sleeper;
    kept: connection, side, qpn, room
});
rocelab_state::state!(Client { values: claimed, retired, dice });

/// The place of one open operation.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Slot {
    state: State,
    /// Its number within the connection, at the client.
    operation: u64,
    kind: u16,
    /// Counts turns, so that a completion of an earlier one is known for what it is.
    turn: u32,
    start: SimTime,
    /// Receive requests that its messages took and that were not posted again.
    held: u32,
    /// What its last atomic operation found.
    found: Option<u64>,
    /// What it goes on with has arrived, and the program is about to wake up.
    woken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
enum State {
    /// The client thinks, or waits for the start.
    Thinking,
    /// Works, and takes this step then.
    Working(u16),
    /// Has posted steps, this one last.
    Posted(u16),
    /// It is the other side's turn.
    Waiting,
    /// No operation is open, nor will be.
    Done,
}

/// Set with the time at which a program wakes up; no slot has that number.
const WAKE_UP: u64 = u64::MAX;

/// What a program that sleeps has in its completion queue.
#[derive(Debug)]
struct Sleeper {
    events: CompletionEventsConfig,
    /// Whether there was an event since it began to sleep.
    wakes: bool,
    /// What it has not seen, oldest first.
    unseen: VecDeque<Unseen>,
}

rocelab_state::state!(Sleeper { values: wakes, unseen; kept: events });

/// A completion that nobody has seen.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
enum Unseen {
    /// Of a work request.
    Sent(Completion),
    /// Of a receive request: how it ended, and the tag of its message.
    Received(CompletionStatus, u64),
}

impl Sleeper {
    const fn new(events: CompletionEventsConfig) -> Self {
        Self { events, wakes: false, unseen: VecDeque::new() }
    }
}

impl End {
    pub(super) fn new(
        connection: u32,
        side: Side,
        qpn: u32,
        room: u32,
        app: &AppPlan,
        dice: impl FnOnce() -> RngStream,
    ) -> Self {
        let slot = Slot {
            state: State::Done,
            operation: 0,
            kind: 0,
            turn: 0,
            start: app.start,
            held: 0,
            found: None,
            woken: false,
        };
        let sleeper = app.sleep_of(side).map(|events| Box::new(Sleeper::new(events)));
        let count = app.operations.unwrap_or(u64::MAX).min(app.queue_depth.into());
        let is_client = side == Side::Client;
        let client = is_client.then(|| Box::new(Client { claimed: 0, retired: 0, dice: dice() }));
        let slots = vec![slot; usize::try_from(count).unwrap_or(0)];
        Self { connection, side, qpn, room, slots, client, sleeper, failed: false }
    }

    /// Posts receive requests, and sets the client's first operations up.
    pub(super) fn open_for_business(
        &mut self,
        app: &AppPlan,
        nic: &mut Nic,
        end: u32,
        timers: &mut Timers,
    ) {
        if self.room > 0 {
            (0..app.receive_depth).for_each(|_| self.post_receive(nic));
        }
        let Some(client) = &mut self.client else { return };
        for (number, slot) in (0u16..).zip(&mut self.slots) {
            slot.operation = client.claimed;
            client.claimed += 1;
            slot.state = State::Thinking;
            timers.set(app.start, end, number.into());
        }
    }

    /// Whether it is the client's, and operations are open or to come.
    pub(super) fn goes_on(&self) -> bool {
        let client = self.client.as_ref();
        client.is_some_and(|client| self.slots.is_empty() || client.retired < self.slots.len())
    }

    /// Its connection, and its side of that.
    pub(super) const fn place(&self) -> (u32, Side) {
        (self.connection, self.side)
    }

    /// The operations that are open here, if this is the client.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenOperation> + '_ {
        let slots = if self.client.is_some() { self.slots.as_slice() } else { &[] };
        (0u16..).zip(slots).filter(|(_, slot)| slot.is_open()).map(|(number, slot)| OpenOperation {
            connection: self.connection,
            slot: number,
            operation: slot.operation,
            kind: slot.kind,
            start: slot.start,
        })
    }

    /// The places of open operations, in order.
    pub(super) fn slots(&self) -> impl Iterator<Item = SlotView> + '_ {
        self.slots.iter().map(|slot| SlotView {
            operation: slot.operation,
            kind: slot.kind,
            start: slot.start,
            turn: slot.turn,
            works: slot.woken || matches!(slot.state, State::Working(_)),
            is_open: slot.is_open(),
        })
    }

    /// The packets of what is posted in one of these places in its present turn, and not completed: the
    /// PSN of the first, and the one after the last.
    pub(super) fn posted(&self, nic: &Nic, place: usize) -> Option<(Psn, Psn)> {
        let present = self.slots.get(place)?.turn;
        let is_of_slot = |work: &OutstandingWork| {
            let (slot, _, turn) = split(work.id);
            (usize::from(slot), turn) == (place, present)
        };
        let mut works = nic.queue_pair(self.qpn)?.outstanding().filter(is_of_slot);
        let first = works.next()?;
        let last = works.last().unwrap_or(first);
        Some((Psn::new(first.first_psn), Psn::new(last.end_psn)))
    }

    /// A time that was set for a slot has come.
    pub(super) fn on_time(&mut self, desk: &mut Desk<'_>, slot: u64) {
        if slot == WAKE_UP {
            return self.wake_up(desk);
        }
        let [a, b, ..] = slot.to_le_bytes();
        let slot = u16::from_le_bytes([a, b]);
        match self.slots[usize::from(slot)].state {
            State::Thinking => self.begin(desk, slot),
            State::Working(step) => self.take(desk, slot, step),
            State::Posted(_) | State::Waiting | State::Done => {}
        }
    }

    /// A work request has ended.
    pub(super) fn on_completion(&mut self, desk: &mut Desk<'_>, completion: &Completion) {
        if self.sleeper.is_none() {
            return self.sent(desk, completion);
        }
        let failed = completion.status != CompletionStatus::Success;
        let (slot, step, turn) = split(completion.id);
        if let Some(state) = self.slots.get(usize::from(slot))
            && !failed
            && (state.turn, state.state) == (turn, State::Posted(step))
        {
            self.slots[usize::from(slot)].woken = self.leads_on(desk.plan, state.kind, step);
        }
        self.note_asleep(desk, failed, Unseen::Sent(*completion));
    }

    /// A message has arrived, or a receive request was flushed.
    pub(super) fn on_receive(&mut self, desk: &mut Desk<'_>, completion: &ReceiveCompletion) {
        let status = completion.status;
        let tag = match status {
            CompletionStatus::Success => {
                let Some(tag) = desk.messages.take(self.connection, self.side) else { return };
                tag
            }
            _ => 0,
        };
        if self.sleeper.is_none() {
            return self.received(desk, status, tag);
        }
        let failed = status != CompletionStatus::Success;
        let Message { slot, kind, step } = Message::of(tag);
        if !failed
            && self.leads_on(desk.plan, kind, step)
            && let Some(state) = self.slots.get_mut(usize::from(slot))
        {
            state.woken = true;
        }
        self.note_asleep(desk, failed || completion.solicited, Unseen::Received(status, tag));
    }

    /// Whether this side does something after a step of an operation of this kind.
    fn leads_on(&self, plan: &Plan, kind: u16, step: u16) -> bool {
        let kind = plan.app_of(self.connection).kinds.get(usize::from(kind));
        let next = kind.and_then(|kind| kind.steps.get(usize::from(step) + 1));
        next.map_or(self.client.is_some(), |next| next.by == self.side)
    }

    /// A completion comes while the program sleeps, or is about to wake up. It makes an event if that was asked for.
    fn note_asleep(&mut self, desk: &mut Desk<'_>, solicited: bool, unseen: Unseen) {
        let Some(sleeper) = &mut self.sleeper else { return };
        sleeper.unseen.push_back(unseen);
        if !sleeper.wakes && (solicited || sleeper.events.notify == Notify::Next) {
            sleeper.wakes = true;
            let due = desk.now.saturating_add(sleeper.events.wake_up);
            desk.timers.set(due, desk.end, WAKE_UP);
        }
    }

    /// The program is awake, does what has to be done, asks for the next event, and sleeps again.
    fn wake_up(&mut self, desk: &mut Desk<'_>) {
        let Some(sleeper) = &mut self.sleeper else { return };
        sleeper.wakes = false;
        let unseen = std::mem::take(&mut sleeper.unseen);
        desk.nic.note_completion_event(unseen.len() as u64);
        for slot in &mut self.slots {
            slot.woken = false;
        }
        for one in unseen {
            match one {
                Unseen::Sent(completion) => self.sent(desk, &completion),
                Unseen::Received(status, tag) => self.received(desk, status, tag),
            }
        }
    }

    /// The program sees that a work request has ended.
    fn sent(&mut self, desk: &mut Desk<'_>, completion: &Completion) {
        let (slot, step, turn) = split(completion.id);
        let Some(state) = self.slots.get_mut(usize::from(slot)) else { return };
        if completion.status != CompletionStatus::Success {
            return self.fail(desk, slot, completion.status);
        }
        if state.turn != turn {
            return; // The other side has answered already.
        }
        if completion.operation.is_atomic() {
            state.found = Some(completion.original);
        }
        if state.state != State::Posted(step) {
            return; // More of the chain is to come.
        }
        match self.step(desk.plan, slot, step + 1) {
            Some(next) if next.by == self.side => self.work(desk, slot, step + 1),
            None if self.client.is_some() => self.finish(desk, slot, CompletionStatus::Success),
            _ => self.slots[usize::from(slot)].state = State::Waiting,
        }
    }

    /// The program sees a message, by its tag, or that a receive request was flushed.
    fn received(&mut self, desk: &mut Desk<'_>, status: CompletionStatus, tag: u64) {
        if status != CompletionStatus::Success {
            return self.fail(desk, 0, status);
        }
        let Message { slot, kind, step } = Message::of(tag);
        let Some(state) = self.slots.get_mut(usize::from(slot)) else { return };
        state.held += 1;
        state.kind = kind;
        match self.step(desk.plan, slot, step + 1) {
            Some(next) if next.by == self.side => self.work(desk, slot, step + 1),
            None if self.client.is_some() => self.finish(desk, slot, CompletionStatus::Success),
            _ if self.answers_later(desk.plan, slot, step + 1) => {}
            _ => self.give_back(desk.nic, slot),
        }
    }

    /// An operation starts.
    fn begin(&mut self, desk: &mut Desk<'_>, slot: u16) {
        let Some(client) = &mut self.client else { return };
        let app = desk.plan.app_of(self.connection);
        let state = &mut self.slots[usize::from(slot)];
        state.kind = if app.kinds.len() > 1 { app.kind_at(client.dice.uniform()) } else { 0 };
        state.start = desk.now;
        state.found = None;
        self.work(desk, slot, 0);
    }

    /// This side's next step is `step`: takes it when the work before it is done.
    fn work(&mut self, desk: &mut Desk<'_>, slot: u16, step: u16) {
        let after = self.step(desk.plan, slot, step).map_or(Duration::ZERO, |step| step.after);
        if after == Duration::ZERO {
            return self.take(desk, slot, step);
        }
        self.slots[usize::from(slot)].state = State::Working(step);
        desk.timers.set(desk.now.saturating_add(after), desk.end, slot.into());
    }

    /// Posts a step and those that are chained to it. The buffers of the messages that led here
    /// are free again.
    fn take(&mut self, desk: &mut Desk<'_>, slot: u16, first: u16) {
        self.give_back(desk.nic, slot);
        self.slots[usize::from(slot)].turn += 1;
        let mut step = first;
        while let Some(posted) = self.step(desk.plan, slot, step) {
            if step > first && !posted.chained {
                break;
            }
            self.post(desk, slot, step, posted);
            step += 1;
        }
        self.slots[usize::from(slot)].state = State::Posted(step - 1);
    }

    fn post(&self, desk: &mut Desk<'_>, slot: u16, step: u16, posted: StepPlan) {
        let Slot { kind, turn, .. } = self.slots[usize::from(slot)];
        let app_number = desk.plan.connections[self.connection as usize].app;
        let app = desk.plan.app_of(self.connection);
        let buffer =
            BUFFERS + u64::from(slot) * u64::from(app.largest_step()).next_multiple_of(PAGE);
        let remote = if posted.verb.is_atomic() {
            COUNTERS + u64::from(app_number) * u64::from(rocelab_transport::ATOMIC_LENGTH)
        } else {
            buffer
        };
        let work = WorkRequest::new(
            joined(slot, step, turn),
            posted.verb.operation(slot.into()),
            posted.bytes,
        )
        .to(remote, key_of(desk.plan, self.connection))
        .local(buffer)
        .soliciting(posted.solicited);
        let accepted = desk.nic.post_send(desk.now, self.qpn, work);
        debug_assert!(accepted.is_ok(), "a plan's step can be posted: {accepted:?}");
        if posted.verb.is_noticed() {
            let message = Message { slot, kind, step };
            desk.messages.post(self.connection, self.side.other(), message.tag());
        }
    }

    /// The client's operation is over, and the next one in its place is due some time, if there is
    /// one.
    fn finish(&mut self, desk: &mut Desk<'_>, slot: u16, status: CompletionStatus) {
        if !self.failed {
            self.give_back(desk.nic, slot);
        }
        let Some(client) = &mut self.client else { return };
        let app = desk.plan.app_of(self.connection);
        let state = &mut self.slots[usize::from(slot)];
        desk.ended.push_back(OperationEnd {
            connection: self.connection,
            slot,
            operation: state.operation,
            kind: state.kind,
            start: state.start,
            payload: app.kinds[usize::from(state.kind)].payload,
            status,
            found: state.found,
        });
        let next = desk.now.saturating_add(app.think_time);
        let goes_on = !self.failed
            && app.operations.is_none_or(|count| client.claimed < count)
            && app.until.is_none_or(|until| next < until);
        if goes_on {
            state.operation = client.claimed;
            client.claimed += 1;
            state.state = State::Thinking;
        } else {
            state.state = State::Done;
            client.retired += 1;
            *desk.closed += u32::from(client.retired == self.slots.len());
        }
        if goes_on && next == desk.now {
            self.begin(desk, slot);
        } else if goes_on {
            desk.timers.set(next, desk.end, slot.into());
        }
    }

    /// A work request failed, and with it the queue pair.
    fn fail(&mut self, desk: &mut Desk<'_>, failed: u16, status: CompletionStatus) {
        self.failed = true;
        if self.client.is_none() {
            return;
        }
        self.finish_failed(desk, failed, status);
        for slot in (0u16..).take(self.slots.len()) {
            self.finish_failed(desk, slot, CompletionStatus::Flushed);
        }
    }

    fn finish_failed(&mut self, desk: &mut Desk<'_>, slot: u16, status: CompletionStatus) {
        if self.slots[usize::from(slot)].is_open() {
            self.finish(desk, slot, status);
        }
    }

    fn step(&self, plan: &Plan, slot: u16, step: u16) -> Option<StepPlan> {
        let kind = self.slots[usize::from(slot)].kind;
        let kind = plan.app_of(self.connection).kinds.get(usize::from(kind))?;
        kind.steps.get(usize::from(step)).copied()
    }

    /// Whether any step from this one on is this side's.
    fn answers_later(&self, plan: &Plan, slot: u16, from: u16) -> bool {
        (from..).map_while(|step| self.step(plan, slot, step)).any(|step| step.by == self.side)
    }

    /// Posts the receive requests again that the operation's messages took.
    fn give_back(&mut self, nic: &mut Nic, slot: u16) {
        let held = std::mem::take(&mut self.slots[usize::from(slot)].held);
        (0..held).for_each(|_| self.post_receive(nic));
    }

    fn post_receive(&self, nic: &mut Nic) {
        let request = ReceiveRequest { id: 0, address: 0, length: self.room };
        let accepted = nic.post_receive(self.qpn, request);
        debug_assert!(accepted.is_ok(), "it has a receive queue of its own: {accepted:?}");
    }
}

impl Slot {
    /// Whether an operation has started here that has not ended, at the client.
    const fn is_open(&self) -> bool {
        !matches!(self.state, State::Thinking | State::Done)
    }
}

/// The key of the memory at the other side of a connection: behind those of flows, which have their own numbers.
pub(super) fn key_of(plan: &Plan, connection: u32) -> u32 {
    u32::try_from(plan.flows.len()).unwrap_or(u32::MAX).saturating_add(connection)
}

/// What the receiver of a message needs to know.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Which of the open operations.
    slot: u16,
    /// Its kind.
    kind: u16,
    /// The step that is done with it.
    step: u16,
}

impl Message {
    /// As a number.
    fn tag(self) -> u64 {
        joined(self.slot, self.step, self.kind.into())
    }

    fn of(tag: u64) -> Self {
        let (slot, step, kind) = split(tag);
        Self { slot, step, kind: u16::try_from(kind).unwrap_or(u16::MAX) }
    }
}

/// The number of a work request.
fn joined(slot: u16, step: u16, turn: u32) -> u64 {
    u64::from(turn) << 32 | u64::from(step) << 16 | u64::from(slot)
}

/// Slot, step and turn of a work request.
fn split(id: u64) -> (u16, u16, u32) {
    let [a, b, c, d, turn @ ..] = id.to_le_bytes();
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u32::from_le_bytes(turn))
}
