//! Times of a schedule where a message takes a latency and its bytes, and each member has one port in each direction.
//!
//! [`time`] keeps the order of steps. [`time_by_data`] lets a message go as soon as the bytes are there that it carries.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use rocelab_collective::{Message, Operation, Posted, Schedule, Step, execute};

/// How long messages take.
#[derive(Clone, Copy)]
pub(crate) struct Network {
    /// From one port to another (ps).
    pub(crate) latency: u64,
    /// A byte at a port (ps).
    pub(crate) byte: u64,
}

/// 2 us, and 50 GB/s.
pub(crate) const USUAL: Network = Network { latency: 2_000_000, byte: 20 };

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message is at the port of its receiver.
    Enters(usize),
    /// A lane's step may begin.
    Arrives(usize),
    /// A port may send again.
    Free(u32),
}

struct Sent {
    from: u32,
    message: Message,
}

struct Timer<'a> {
    schedule: &'a dyn Schedule,
    network: Network,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    sent: Vec<Sent>,
    next: BTreeMap<(u32, u32), u64>,
    arrived: BTreeMap<(u32, u32, u32), u64>,
    waiting: Vec<VecDeque<usize>>,
    is_busy: Vec<bool>,
    input_free: Vec<u64>,
}

/// When the last message has arrived (ps).
pub(crate) fn time(schedule: &dyn Schedule, network: Network) -> u64 {
    let members = schedule.collective().ranks() + schedule.switches();
    let mut timer = Timer {
        schedule,
        network,
        events: BinaryHeap::new(),
        sent: Vec::new(),
        next: BTreeMap::new(),
        arrived: BTreeMap::new(),
        waiting: vec![VecDeque::new(); members as usize],
        is_busy: vec![false; members as usize],
        input_free: vec![0; members as usize],
    };
    for member in 0..members {
        for lane in 0..schedule.lanes() {
            timer.go_on(0, member, lane);
        }
    }
    let mut end = 0;
    while let Some(Reverse((now, event))) = timer.events.pop() {
        match event {
            Event::Enters(number) => timer.enter(now, number),
            Event::Arrives(number) => {
                let Sent { from, message } = timer.sent[number];
                *timer.arrived.entry((from, message.peer, message.lane)).or_default() += 1;
                timer.go_on(now, message.peer, message.lane);
                end = now;
            }
            Event::Free(member) => {
                timer.is_busy[member as usize] = false;
                timer.send(now, member);
            }
        }
    }
    for (&(member, lane), &next) in &timer.next {
        assert_eq!(next, schedule.steps(member, lane), "{member} {lane} has not ended");
    }
    end
}

impl Timer<'_> {
    fn go_on(&mut self, now: u64, member: u32, lane: u32) {
        let mut step = Step::default();
        loop {
            let number = *self.next.entry((member, lane)).or_default();
            if number >= self.schedule.steps(member, lane) {
                return;
            }
            self.schedule.step(member, lane, number, &mut step);
            let key = |message: &Message| (message.peer, member, lane);
            let ready = step
                .receives
                .iter()
                .all(|one| self.arrived.get(&key(one)).is_some_and(|arrived| *arrived > 0));
            if !ready {
                return;
            }
            for message in &step.receives {
                *self.arrived.get_mut(&key(message)).expect("it has arrived") -= 1;
            }
            for &message in &step.sends {
                self.waiting[member as usize].push_back(self.sent.len());
                self.sent.push(Sent { from: member, message });
            }
            self.next.insert((member, lane), number + 1);
            self.send(now, member);
        }
    }

    fn send(&mut self, now: u64, member: u32) {
        if self.is_busy[member as usize] {
            return;
        }
        let Some(number) = self.waiting[member as usize].pop_front() else { return };
        self.is_busy[member as usize] = true;
        let bytes = self.sent[number].message.bytes;
        self.events.push(Reverse((now + bytes * self.network.byte, Event::Free(member))));
        self.events.push(Reverse((now + self.network.latency, Event::Enters(number))));
    }

    fn enter(&mut self, now: u64, number: usize) {
        let Message { peer, bytes, .. } = self.sent[number].message;
        let free = &mut self.input_free[peer as usize];
        *free = now.max(*free) + bytes * self.network.byte;
        self.events.push(Reverse((*free, Event::Arrives(number))));
    }
}

/// When the last message has arrived (ps), if each rank sends and receives its messages in the order of rounds, and each as soon as it has
/// what it carries. Blocks are sent as they are: channels and slices are not for this.
pub(crate) fn time_by_data(schedule: &dyn Schedule, network: Network) -> u64 {
    let members = (schedule.collective().ranks() + schedule.switches()) as usize;
    let mut all: Vec<Posted> = Vec::new();
    execute(schedule, &mut |posted| all.push(posted.clone())).expect("it is right");
    all.sort_by_key(|one| (one.round, one.lane, one.from));
    let (mut outputs, mut inputs) = (vec![0; members], vec![0; members]);
    let mut there: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    // Messages of one round do not wait for each other.
    for round in all.chunk_by(|one, other| one.round == other.round) {
        let before = there.clone();
        let at = |rank, address| before.get(&(rank, address)).copied().unwrap_or(0);
        for one in round {
            let length = one.message.bytes * network.byte;
            let data = one.pieces.iter().map(|piece| at(one.from, piece.source)).max();
            let output = &mut outputs[one.from as usize];
            let begin = data.unwrap_or(0).max(*output);
            *output = begin + length;
            let input = &mut inputs[one.message.peer as usize];
            *input = (begin + network.latency).max(*input) + length;
            for piece in &one.pieces {
                let known = there.entry((one.message.peer, piece.destination)).or_default();
                let earlier = if one.message.operation == Operation::Reduce { *known } else { 0 };
                *known = earlier.max(*input);
            }
        }
    }
    inputs.into_iter().max().unwrap_or(0)
}
