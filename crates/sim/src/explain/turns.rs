//! Follows the operations of one connection: whose turn it is, and what ended the turn before.

use std::rc::Rc;

use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

use super::course::{Leg, Stands, Stretch, Work};
use super::pair::{DESTINATION, Posted, SOURCE};
use super::trail::Trail;
use crate::Side;
use crate::network::watch::View;
use crate::network::{OperationEnd, Record, RecordKind};
use crate::profile::roce::SlotView;

/// The operations of a connection.
#[derive(Debug)]
pub(super) struct Turns {
    connection: u32,
    /// The only one that is followed, by its number within the connection.
    wanted: Option<u64>,
    slots: Vec<Slot>,
}

/// The place of one open operation.
#[derive(Debug, Default)]
struct Slot {
    /// How it stood at each end after the last event there.
    seen: [SlotView; 2],
    open: Option<Open>,
}

/// An operation that is followed.
#[derive(Debug)]
struct Open {
    operation: u64,
    kind: u16,
    start: u64,
    turn: u16,
    /// The end that works, or has posted, since then (picoseconds).
    end: usize,
    since: u64,
    works: bool,
    /// What it has posted, if it does not work.
    posted: Option<Posted>,
    course: Vec<Stretch>,
}

/// An operation that has ended, or that the run's end left open.
#[derive(Debug)]
pub(super) struct Operated {
    pub(super) operation: u64,
    pub(super) kind: u16,
    pub(super) start: u64,
    /// Picoseconds.
    pub(super) time: u64,
    /// How; none if the run ended first.
    pub(super) end: Option<OperationEnd>,
    pub(super) course: Vec<Stretch>,
    /// What was posted for it last, and is waited for.
    pub(super) posted: Option<Posted>,
}

impl Turns {
    pub(super) fn new(network: View<'_>, connection: u32, wanted: Option<u64>) -> Self {
        let slots = network.slots(connection, Side::Client).count();
        let slots = std::iter::repeat_with(Slot::default).take(slots).collect();
        let mut turns = Self { connection, wanted, slots };
        for (end, side) in SIDES {
            for (slot, seen) in turns.slots.iter_mut().zip(network.slots(connection, side)) {
                slot.seen[end] = seen;
            }
        }
        turns
    }

    /// An event has happened at these ends, with which a packet may have arrived at one of them;
    /// gives the operations that it ended.
    pub(super) fn follow(
        &mut self,
        network: View<'_>,
        now: SimTime,
        ends: impl Iterator<Item = usize>,
        arrival: Option<&(usize, Rc<Trail>)>,
        new: &[Record],
    ) -> Vec<Operated> {
        let arrival_at =
            |end: usize| arrival.filter(|(at, _)| *at == end).map(|(_, trail)| Rc::clone(trail));
        let mut ended = Vec::new();
        for record in new {
            let RecordKind::OperationEnd(end) = &record.kind else { continue };
            if end.connection != self.connection {
                continue;
            }
            let slot = self.slots.get_mut(usize::from(end.slot));
            if let Some(open) = slot.and_then(|slot| slot.open.take()) {
                ended.push(open.finish(now.ps(), Some(*end), arrival_at(SOURCE)));
            }
        }
        for end in ends {
            let views = network.slots(self.connection, SIDES[end].1);
            for (place, (slot, view)) in self.slots.iter_mut().zip(views).enumerate() {
                let before = std::mem::replace(&mut slot.seen[end], view);
                if slot.note(self.wanted, now.ps(), end, (&before, &view), arrival_at(end))
                    && let Some(open) = &mut slot.open
                {
                    open.posted = posted(network, self.connection, end, place);
                }
            }
        }
        ended
    }

    /// The run is over: gives what is open. An end that has failed has nothing posted any more.
    pub(super) fn stop(&mut self, network: View<'_>, now: SimTime) -> Vec<Operated> {
        let connection = self.connection;
        let slots = self.slots.iter_mut().enumerate();
        let open = slots.filter_map(|(place, slot)| Some((place, slot.open.take()?)));
        let open = open.map(|(place, mut open)| {
            open.posted = posted(network, connection, open.end, place).or(open.posted);
            open.finish(now.ps(), None, None)
        });
        open.collect()
    }

    /// When the first operation began that is open (picoseconds).
    pub(super) fn earliest(&self) -> Option<u64> {
        self.slots.iter().filter_map(|slot| slot.open.as_ref()).map(|open| open.start).min()
    }
}

/// The ends, and what applications call them.
const SIDES: [(usize, Side); 2] = [(SOURCE, Side::Client), (DESTINATION, Side::Server)];

impl Operated {
    /// What it has last posted and waited for, if it did.
    pub(super) fn last_leg(&mut self) -> Option<(&mut Leg, Option<Posted>)> {
        match self.course.last_mut()? {
            Stretch::Leg(leg) => Some((leg, self.posted)),
            Stretch::Work(_) => None,
        }
    }
}

/// What an end of a connection has posted for the operation at a place, and is not completed.
fn posted(network: View<'_>, connection: u32, end: usize, place: usize) -> Option<Posted> {
    let (first, end) = network.posted(connection, SIDES[end].1, place)?;
    Some(Posted { first, end })
}

impl Slot {
    /// How the slot stands at an end has been `before` an event, and is `after` it; whether that has
    /// posted with it what is waited for now.
    fn note(
        &mut self,
        wanted: Option<u64>,
        now: u64,
        end: usize,
        (before, after): (&SlotView, &SlotView),
        arrival: Option<Rc<Trail>>,
    ) -> bool {
        let takes = after.turn != before.turn;
        let begins_work = after.works && (takes || !before.works || self.open.is_none());
        match &mut self.open {
            Some(open) if takes || begins_work => {
                let turn = u16::from(!open.works);
                open.close(now, arrival);
                open.turn += turn;
                (open.end, open.works, open.posted) = (end, after.works, None);
                !after.works
            }
            Some(_) => false,
            None if end == SOURCE
                && after.is_open
                && wanted.is_none_or(|n| n == after.operation) =>
            {
                self.open = Some(Open {
                    operation: after.operation,
                    kind: after.kind,
                    start: after.start.ps(),
                    turn: 0,
                    end,
                    since: after.start.ps(),
                    works: after.works,
                    posted: None,
                    course: Vec::new(),
                });
                !after.works
            }
            None => false,
        }
    }
}

impl Open {
    /// What has lasted since the last change ends.
    fn close(&mut self, now: u64, arrival: Option<Rc<Trail>>) {
        let (turn, from) = (self.turn, self.since);
        let stretch = if self.works {
            Stretch::Work(Work { turn, end: self.end, from, to: now })
        } else {
            let stands = Stands::AtSender;
            Stretch::Leg(Leg { turn, sender: self.end, from, to: now, arrival, stands })
        };
        self.course.push(stretch);
        self.since = now;
    }

    fn finish(
        mut self,
        time: u64,
        end: Option<OperationEnd>,
        arrival: Option<Rc<Trail>>,
    ) -> Operated {
        let arrival =
            arrival.filter(|_| end.is_some_and(|end| end.status == CompletionStatus::Success));
        self.close(time, arrival);
        let Self { operation, kind, start, course, posted, .. } = self;
        Operated { operation, kind, start, time, end, course, posted }
    }
}
