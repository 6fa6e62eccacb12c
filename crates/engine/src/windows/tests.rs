//! A world of nodes that send each other numbers, as one and in units.

use rocelab_units::{Duration, SimTime};

use super::Windows;
use crate::{Engine, EventKey, EventQueue, Foresight, TieCounter, World, mix};

const NODES: u32 = 12;
/// Time from node to node, at the least.
const FAR: u64 = 1_000;
/// The event that happens at all nodes at once.
const EVERYWHERE: u32 = NODES;

/// What happens at a node makes something happen there soon, and at others later.
struct Ring {
    /// By node, and one for what no node causes.
    ties: Vec<TieCounter>,
    /// By node: what came to it, in its order.
    heard: Vec<u64>,
    units: u32,
    /// Whether nodes send to themselves alone.
    alone: bool,
    /// Until when nodes send.
    until: SimTime,
    queue: EventQueue<u32>,
}

impl Ring {
    fn new(units: u32, until: SimTime) -> Self {
        let ties = (0..=NODES).map(TieCounter::new).collect();
        Self {
            ties,
            heard: vec![0; NODES as usize],
            units,
            alone: false,
            until,
            queue: EventQueue::new(),
        }
    }

    fn unit(&self, node: u32) -> u32 {
        node * self.units / NODES
    }

    /// Something that node `from` causes at node `to`.
    fn cause(&mut self, (from, to): (u32, u32), time: SimTime) {
        let key = EventKey { time, tie: self.ties[from as usize + 1].reserve() };
        if self.unit(from) == self.unit(to) {
            self.queue.push(key, to);
        } else {
            self.queue.push_beyond(self.unit(to), key, to);
        }
    }

    fn everywhere(&mut self, time: SimTime) {
        self.queue.push(EventKey { time, tie: self.ties[0].reserve() }, EVERYWHERE);
    }

    fn hear(&mut self, key: EventKey, node: u32) -> u64 {
        let heard = &mut self.heard[node as usize];
        *heard = mix(*heard ^ key.time.ps());
        *heard
    }
}

impl World for Ring {
    type Event = u32;

    fn queue(&self) -> &EventQueue<u32> {
        &self.queue
    }

    fn queue_mut(&mut self) -> &mut EventQueue<u32> {
        &mut self.queue
    }

    fn handle(&mut self, key: EventKey, node: u32) {
        if node == EVERYWHERE {
            for node in 0..NODES {
                let number = self.hear(key, node);
                // Not through `cause`: it is no node's queue that these go into.
                let key = EventKey {
                    time: key.time + Duration::from_ps(number % 40),
                    tie: self.ties[node as usize + 1].reserve(),
                };
                self.queue.push(key, node);
            }
            if key.time < self.until {
                self.everywhere(key.time + Duration::from_ps(777));
            }
            return;
        }
        let number = self.hear(key, node);
        if key.time >= self.until {
            return;
        }
        let later = |ps: u64| key.time + Duration::from_ps(ps);
        match number % 7 {
            0..=2 => {}
            3 | 4 => self.cause((node, node), later(1 + number % 300)),
            _ => {
                let other = u32::try_from(number >> 8 & 0xff).unwrap() % NODES;
                let other = if self.alone { node } else { other };
                self.cause((node, other), later(FAR + number % 5_000));
                self.cause((node, node), later(1 + number % 900));
            }
        }
    }

    fn unit_of(&self, &node: &u32) -> Option<u32> {
        (node != EVERYWHERE).then(|| self.unit(node))
    }
}

/// So many things happen at the beginning, and one at all nodes from time to time.
fn begin(world: &mut Ring) {
    for node in 0..40 * NODES {
        let time = SimTime::from_ps(u64::from(node % 7));
        world.cause((node % NODES, node % NODES), time);
    }
    world.everywhere(SimTime::from_ps(50));
}

/// What nodes have heard, and how many events there were, by steps of so long.
fn run(units: u32, step: u64, far: bool) -> (Vec<u64>, u64) {
    let mut world = Ring::new(units, SimTime::from_ps(100_000));
    let mut engine = Engine::new();
    if far {
        world.queue.foresee(Foresight::Three);
    }
    begin(&mut world);
    let mut all = Windows::new(units, Duration::from_ps(FAR));
    let mut limit = SimTime::ZERO;
    while all.next(&world) != SimTime::NEVER {
        limit += Duration::from_ps(step);
        all.run(&mut engine, &mut world, limit);
        assert!(all.next(&world) > limit);
        if limit.ps().is_multiple_of(9) {
            let next = all.next(&world);
            all.join(&mut world);
            let joined = world.queue.peek().map_or(SimTime::NEVER, |key| key.time);
            assert_eq!((all.next(&world), joined), (next, next));
        }
    }
    (world.heard, engine.executed())
}

#[test]
fn every_node_hears_the_same_in_its_order() {
    let one = run(1, 10_000, false);
    assert!((4_000..100_000).contains(&one.1), "{}", one.1);
    for units in [2, 3, 12] {
        for step in [10_000, 1_000, 333, 7_001] {
            assert_eq!(run(units, step, step == 1_000), one, "{units} by {step}");
        }
    }
}

/// Units between which nothing is sent have windows that are as wide as can be.
#[test]
fn islands_hear_the_same_in_their_order() {
    let run = |units: u32| {
        let mut world = Ring { alone: true, ..Ring::new(units, SimTime::from_ps(600_000)) };
        let mut engine = Engine::new();
        begin(&mut world);
        let mut all = Windows::new(units, SimTime::NEVER.since(SimTime::ZERO));
        for limit in (1..=70).map(|step| SimTime::from_ps(step * 10_000)) {
            all.run(&mut engine, &mut world, limit);
        }
        assert_eq!(all.next(&world), SimTime::NEVER);
        (world.heard, engine.executed())
    };
    let expected = run(1);
    assert!(expected.1 > 20_000, "{} events", expected.1);
    for units in [2, 5] {
        assert!(run(units) == expected, "{units} units");
    }
}
