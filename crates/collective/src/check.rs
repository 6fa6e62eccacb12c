//! Executes a schedule without a network or numbers: who has whose data at the end.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::collective::Kind;
use crate::contents::{Contents, RankSet, Sum};
use crate::expected::expected;
use crate::schedule::{Message, Operation, Piece, Schedule, Step};

/// What a right schedule does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Rounds: how many messages wait for each other, one after the other, if all take the same time and a step's sends are one.
    pub rounds: u64,
    /// Messages and bytes from one member to another.
    pub pairs: BTreeMap<(u32, u32), (u64, u64)>,
}

impl Checked {
    /// Messages of all.
    pub fn messages(&self) -> u64 {
        self.pairs.values().map(|(messages, _)| messages).sum()
    }

    /// Bytes that a member sends.
    pub fn sent(&self, rank: u32) -> u64 {
        self.pairs.range((rank, 0)..=(rank, u32::MAX)).map(|(_, (_, bytes))| bytes).sum()
    }
}

/// A message as it is posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Who sends it.
    pub from: u32,
    /// The lane in which it does.
    pub lane: u32,
    /// Where it goes, and what is done there.
    pub message: Message,
    /// The round, from 0 on.
    pub round: u64,
    /// What it carries.
    pub pieces: Vec<Piece>,
}

/// What is wrong with a schedule, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank}, lane {lane}, step {step}: {reason}")]
pub struct Fault {
    /// The member.
    pub rank: u32,
    /// Its lane.
    pub lane: u32,
    /// The step.
    pub step: u64,
    /// What is wrong.
    pub reason: String,
}

/// Executes a schedule, in two orders of its lanes.
///
/// All messages must be received, and be what the receiver waits for; those into one lane must come from one lane. Nothing may be
/// read that was never written, or be added twice; outputs must be complete, and connections those that carry messages.
///
/// # Errors
/// The first fault.
pub fn check(schedule: &dyn Schedule) -> Result<Checked, Fault> {
    let mut run = Run::new(schedule, true);
    run.execute(&mut |_| ())?;
    run.check_outputs()?;
    let mut run = Run::new(schedule, false);
    run.execute(&mut |_| ())?;
    run.check_outputs()?;
    run.check_connections()?;
    Ok(run.checked)
}

/// Executes a schedule once, and tells `observe` each message as it is posted.
///
/// # Errors
/// As [`check`].
pub fn execute(
    schedule: &dyn Schedule,
    observe: &mut dyn FnMut(&Posted),
) -> Result<Checked, Fault> {
    let mut run = Run::new(schedule, false);
    run.execute(observe)?;
    run.check_outputs()?;
    Ok(run.checked)
}

/// A message on its way.
struct Flight {
    sender_lane: u32,
    message: Message,
    round: u64,
    heard: RankSet,
    content: Vec<(u64, u64, Sum)>,
}

/// How far a lane is.
#[derive(Clone, Default)]
struct Progress {
    next: u64,
    /// The first round in which its next message can go.
    round: u64,
}

struct Run<'a> {
    schedule: &'a dyn Schedule,
    /// Whether the lane that can go on last goes on first.
    last_first: bool,
    contents: Vec<Contents>,
    /// Bytes of each member's memory.
    rooms: Vec<u64>,
    /// From whom a member has heard, through others too.
    heard: Vec<RankSet>,
    lanes: BTreeMap<(u32, u32), Progress>,
    flights: BTreeMap<(u32, u32, u32), VecDeque<Flight>>,
    ready: VecDeque<(u32, u32)>,
    checked: Checked,
}

impl<'a> Run<'a> {
    fn new(schedule: &'a dyn Schedule, last_first: bool) -> Self {
        let ranks = schedule.collective().ranks();
        let members = ranks + schedule.switches();
        let only = |member| RankSet::new(members, [member]);
        let contents = |member| {
            let memory = schedule.memory(member);
            let mut contents = Contents::default();
            let input = memory.input;
            if member < ranks && !input.is_empty() {
                let sum = Sum { input: input.start, ranks: only(member) };
                // Memory is empty: nothing can be wrong.
                _ = contents.write(
                    input.start,
                    input.end - input.start,
                    &sum,
                    Operation::Copy,
                    true,
                );
            }
            for copy in memory.copies.iter().filter(|copy| copy.bytes > 0) {
                for (place, length, sum) in
                    contents.read(copy.source, copy.bytes).unwrap_or_default()
                {
                    let start = copy.destination + place;
                    _ = contents.write(start, length, &sum, Operation::Copy, true);
                }
            }
            contents
        };
        let lanes: BTreeMap<_, _> = (0..members)
            .flat_map(|member| (0..schedule.lanes()).map(move |lane| (member, lane)))
            .map(|place| (place, Progress::default()))
            .collect();
        Self {
            schedule,
            last_first,
            contents: (0..members).map(contents).collect(),
            rooms: (0..members).map(|member| schedule.memory(member).bytes).collect(),
            heard: (0..members).map(only).collect(),
            ready: lanes.keys().copied().collect(),
            lanes,
            flights: BTreeMap::new(),
            checked: Checked::default(),
        }
    }

    fn execute(&mut self, observe: &mut dyn FnMut(&Posted)) -> Result<(), Fault> {
        let mut step = Step::default();
        let next = |run: &mut Self| {
            if run.last_first { run.ready.pop_back() } else { run.ready.pop_front() }
        };
        while let Some((rank, lane)) = next(self) {
            while self.take_step(rank, lane, &mut step, observe)? {}
        }
        let schedule = self.schedule;
        let stuck = self
            .lanes
            .iter()
            .find(|((rank, lane), progress)| progress.next < schedule.steps(*rank, *lane));
        if let Some((&(rank, lane), progress)) = stuck {
            schedule.step(rank, lane, progress.next, &mut step);
            let reason = format!("it waits for ever for one of {:?}", step.receives);
            return Err(Fault { rank, lane, step: progress.next, reason });
        }
        match self.flights.iter().find(|(_, flights)| !flights.is_empty()) {
            Some((&(from, rank, lane), _)) => {
                let reason = format!("a message of rank {from} is never received");
                Err(Fault { rank, lane, step: self.schedule.steps(rank, lane), reason })
            }
            None => Ok(()),
        }
    }

    /// Whether the lane could go on.
    fn take_step(
        &mut self,
        rank: u32,
        lane: u32,
        step: &mut Step,
        observe: &mut dyn FnMut(&Posted),
    ) -> Result<bool, Fault> {
        let Progress { next: number, mut round } = self.lanes[&(rank, lane)];
        if number >= self.schedule.steps(rank, lane) {
            return Ok(false);
        }
        self.schedule.step(rank, lane, number, step);
        if !self.all_have_arrived(rank, lane, step) {
            return Ok(false);
        }
        let fault = |reason: String| Fault { rank, lane, step: number, reason };
        for wanted in &step.receives {
            round = round.max(self.receive(rank, lane, *wanted).map_err(fault)? + 1);
        }
        for (place, message) in step.sends.iter().enumerate() {
            let pieces = self.schedule.pieces(rank, lane, number, place);
            let posted = Posted { from: rank, lane, message: *message, round, pieces };
            observe(&posted);
            self.post(posted).map_err(fault)?;
        }
        let sent = u64::from(!step.sends.is_empty());
        self.lanes.insert((rank, lane), Progress { next: number + 1, round: round + sent });
        Ok(true)
    }

    /// A step may take several messages of one member: each must be there.
    fn all_have_arrived(&self, rank: u32, lane: u32, step: &Step) -> bool {
        let mut wanted = BTreeMap::new();
        for message in &step.receives {
            *wanted.entry(message.peer).or_insert(0_usize) += 1;
        }
        let arrived = |peer| self.flights.get(&(peer, rank, lane)).map_or(0, VecDeque::len);
        wanted.into_iter().all(|(peer, count)| arrived(peer) >= count)
    }

    /// The round of the message.
    fn receive(&mut self, rank: u32, lane: u32, wanted: Message) -> Result<u64, String> {
        let arrived = self.flights.get_mut(&(wanted.peer, rank, lane));
        let Some(flight) = arrived.and_then(VecDeque::pop_front) else {
            return Err("nothing has arrived".to_owned());
        };
        let got = Message { peer: wanted.peer, ..flight.message };
        if got != wanted {
            return Err(format!("{got:?} arrives where {wanted:?} is awaited"));
        }
        let is_switch = rank >= self.schedule.collective().ranks();
        let memory = &mut self.contents[rank as usize];
        for (start, bytes, sum) in &flight.content {
            memory
                .write(*start, *bytes, sum, wanted.operation, is_switch)
                .map_err(|reason| format!("{wanted:?} at {start}: {reason}"))?;
        }
        self.heard[rank as usize].join(&flight.heard);
        Ok(flight.round)
    }

    fn post(&mut self, posted: Posted) -> Result<(), String> {
        let Posted { from, lane, message, round, pieces } = posted;
        let to = message.peer;
        let is_there = (to as usize) < self.contents.len() && message.lane < self.schedule.lanes();
        if to == from || !is_there {
            return Err(format!("{message:?} goes nowhere"));
        }
        let carried: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        if carried != message.bytes {
            return Err(format!("{message:?} carries {carried} bytes"));
        }
        let room = self.rooms[to as usize];
        let mut content = Vec::new();
        for piece in &pieces {
            if piece.destination + piece.bytes > room {
                return Err(format!("{piece:?} goes beyond the memory of {room} bytes"));
            }
            let read = self.contents[from as usize].read(piece.source, piece.bytes);
            let read = read.ok_or_else(|| format!("{piece:?} was never written"))?;
            let moved = |(place, bytes, sum)| (piece.destination + place, bytes, sum);
            content.extend(read.into_iter().map(moved));
        }
        let flights = self.flights.entry((from, to, message.lane)).or_default();
        if flights.back().is_some_and(|flight| flight.sender_lane != lane) {
            return Err(format!("{message:?} is not the only lane that sends there"));
        }
        let heard = self.heard[from as usize].clone();
        flights.push_back(Flight { sender_lane: lane, message, round, heard, content });
        self.ready.push_back((to, message.lane));
        let pair = self.checked.pairs.entry((from, to)).or_default();
        *pair = (pair.0 + 1, pair.1 + message.bytes);
        self.checked.rounds = self.checked.rounds.max(round + 1);
        Ok(())
    }

    fn check_outputs(&mut self) -> Result<(), Fault> {
        let collective = self.schedule.collective();
        let ranks = collective.ranks();
        let members = ranks + self.schedule.switches();
        for rank in 0..ranks {
            let fault = |reason| Fault { rank, lane: 0, step: u64::MAX, reason };
            for part in expected(collective, rank) {
                let bytes = part.output.end - part.output.start;
                let read = self.contents[rank as usize].read(part.output.start, bytes);
                let wanted = RankSet::new(members, part.ranks.clone());
                let right = |(place, _, sum): &(u64, u64, Sum)| {
                    sum.input == part.input + place && sum.ranks == wanted
                };
                if !read.as_ref().is_some_and(|read| read.iter().all(right)) {
                    let had = Had(read);
                    return Err(fault(format!("at the end it has {had} instead of {part:?}")));
                }
            }
            let is_barrier = collective.kind() == Kind::Barrier;
            let heard = &self.heard[rank as usize];
            if is_barrier && heard.count() < ranks {
                return Err(fault(format!("it has heard of {} ranks only", heard.count())));
            }
        }
        Ok(())
    }

    fn check_connections(&self) -> Result<(), Fault> {
        let mut connections = BTreeSet::new();
        for (from, to) in self.schedule.connections() {
            if !connections.insert((from, to)) || !self.checked.pairs.contains_key(&(from, to)) {
                let reason = format!("its connection to {to} is there twice, or is not used");
                return Err(Fault { rank: from, lane: 0, step: 0, reason });
            }
        }
        match self.checked.pairs.keys().find(|pair| !connections.contains(pair)) {
            Some(&(rank, to)) => {
                let reason = format!("it has no connection to {to}, but sends there");
                Err(Fault { rank, lane: 0, step: 0, reason })
            }
            None => Ok(()),
        }
    }
}

/// What memory had, as text.
struct Had(Option<Vec<(u64, u64, Sum)>>);

impl fmt::Display for Had {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("something that was never written"),
            Some(read) => write!(f, "{read:?}"),
        }
    }
}
