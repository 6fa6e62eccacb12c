//! The state of a scheduler: saved in the middle, it goes on in the same way.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rocelab_state::State as _;
use rocelab_trace::{
    Engine, Label, Node, Operation, RankBuilder, RankGraph, Reference, Scheduler, Slots,
};

/// A graph in which each node may wait for earlier ones, and engines of three kinds.
fn graph(parents: &[(u8, u8, bool)]) -> RankGraph {
    let mut builder = RankBuilder::new(0, Path::new("own"));
    for (index, (engine, ..)) in (0_u32..).zip(parents) {
        let engine = [Engine::Cpu(0), Engine::Compute, Engine::Unlimited][usize::from(engine % 3)];
        let node = Node { operation: Operation::Marker, engine, cpu: 0, nic: 0 };
        let label = Label { id: index.into(), name: "".into() };
        builder.node(node, label).unwrap();
    }
    for (index, (_, parent, done)) in (0_u32..).zip(parents) {
        if index > 0 {
            let reference = if *done { Reference::Done } else { Reference::Started };
            builder.wait(index, u32::from(*parent) % index, reference);
        }
    }
    builder.finish().unwrap()
}

/// Carries out what begins, always the one that began first; the order of begins, and how many ran at once on an engine.
fn run(scheduler: &mut Scheduler, running: &mut Vec<u32>, steps: usize, order: &mut Vec<u32>) {
    for _ in 0..steps {
        if running.is_empty() {
            return;
        }
        let node = running.remove(0);
        let mut begin = Vec::new();
        scheduler.done(node, &mut begin);
        begun(scheduler, &mut begin, order);
        running.extend(begin);
    }
}

fn begun(scheduler: &mut Scheduler, begin: &mut Vec<u32>, order: &mut Vec<u32>) {
    let mut next = 0;
    while let Some(&node) = begin.get(next) {
        next += 1;
        order.push(node);
        scheduler.started(node, begin);
    }
}

proptest! {
    #[test]
    fn a_scheduler_goes_on_from_its_saved_state(
        parents in prop::collection::vec(any::<(u8, u8, bool)>(), 1..40),
        cut in 0_usize..40,
    ) {
        let graph = Arc::new(graph(&parents));
        let mut scheduler = Scheduler::new(Arc::clone(&graph), Slots::ASTRA);
        let (mut running, mut order) = (Vec::new(), Vec::new());
        scheduler.start(&mut running);
        begun(&mut scheduler, &mut running, &mut order);
        run(&mut scheduler, &mut running, cut, &mut order);
        let mut saved = Vec::new();
        scheduler.save(&mut saved).unwrap();
        let mut other = Scheduler::new(Arc::clone(&graph), Slots::ASTRA);
        other.load(&mut &saved[..]).unwrap();
        let (mut its_running, mut its_order) = (running.clone(), order.clone());
        run(&mut scheduler, &mut running, usize::MAX, &mut order);
        run(&mut other, &mut its_running, usize::MAX, &mut its_order);
        prop_assert_eq!(&order, &its_order);
        prop_assert!(scheduler.is_over() && other.is_over());
        // Each node began once, after the node that it waits for.
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.into_iter().eq(0..u32::try_from(parents.len()).unwrap()));
        let place = |node: u32| order.iter().position(|one| *one == node).unwrap();
        for parent in 0..u32::try_from(parents.len()).unwrap() {
            for &node in graph.on_done(parent).iter().chain(graph.on_start(parent)) {
                prop_assert!(place(parent) < place(node));
            }
        }
        // And again from the start.
        scheduler.reset();
        let (mut running, mut again) = (Vec::new(), Vec::new());
        scheduler.start(&mut running);
        begun(&mut scheduler, &mut running, &mut again);
        run(&mut scheduler, &mut running, usize::MAX, &mut again);
        prop_assert_eq!(order, again);
    }

    #[test]
    fn an_engine_carries_out_no_more_than_its_slots(
        parents in prop::collection::vec(any::<(u8, u8, bool)>(), 1..40),
        slots in 1_u32..3,
    ) {
        let graph = Arc::new(graph(&parents));
        let slots = Slots { cpu: slots, compute: slots, communication: slots };
        let mut scheduler = Scheduler::new(Arc::clone(&graph), slots);
        let (mut running, mut order) = (Vec::new(), Vec::new());
        scheduler.start(&mut running);
        begun(&mut scheduler, &mut running, &mut order);
        while !running.is_empty() {
            for engine in [Engine::Cpu(0), Engine::Compute] {
                let on = running.iter().filter(|node| graph.nodes()[**node as usize].engine == engine);
                prop_assert!(on.count() <= slots.cpu as usize);
            }
            run(&mut scheduler, &mut running, 1, &mut order);
        }
        prop_assert!(scheduler.is_over());
    }
}
