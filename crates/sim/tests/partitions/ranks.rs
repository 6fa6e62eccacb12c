//! Ranks that are threads, and hand messages to each other through channels.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rocelab_results::{Overwrite, ResultsDir};
use rocelab_sim::ranks::{Blame, CommunicationError, Communicator, Ranks};
use rocelab_sim::{Ending, Outcome, Plan, Planning, RunError, follow, lead};

use crate::support::{clos, flows, plan_in};

/// A rank that is a thread.
#[derive(Debug)]
pub(crate) struct Channels {
    rank: u32,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl Channels {
    /// So many ranks, each connected to each.
    pub(crate) fn all(size: u32) -> Vec<Self> {
        let mut from: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
        let mut to: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
        for sends in &mut to {
            for receives in &mut from {
                let (sender, receiver) = channel();
                sends.push(sender);
                receives.push(receiver);
            }
        }
        let ends = (0..size).zip(to.into_iter().zip(from));
        ends.map(|(rank, (to, from))| Self { rank, to, from }).collect()
    }
}

impl Communicator for Channels {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        u32::try_from(self.to.len()).unwrap()
    }

    fn exchange(&mut self, outgoing: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        let gone = |what: String| CommunicationError::Unreachable(what);
        for (to, message) in self.to.iter().zip(outgoing) {
            to.send(message).map_err(|error| gone(error.to_string()))?;
        }
        let receive = |from: &Receiver<_>| from.recv().map_err(|error| gone(error.to_string()));
        self.from.iter().map(receive).collect()
    }
}

/// Runs a plan on so many ranks, in so many parts or as many as there are; what the first one gives.
pub(crate) fn run(
    plan: &Arc<Plan>,
    directory: &ResultsDir,
    ranks: u32,
    partitions: u32,
) -> Result<Outcome, RunError> {
    let mut all = Channels::all(ranks).into_iter();
    let mut first = all.next().expect("a rank");
    thread::scope(|scope| {
        let others: Vec<_> = all
            .map(|mut other| {
                let plan = Arc::clone(plan);
                scope.spawn(move || {
                    let ranks = &mut Ranks::new(&mut other);
                    follow(plan, partitions, ranks, &mut || ControlFlow::Continue(()))
                })
            })
            .collect();
        let plan = Arc::clone(plan);
        let ranks = &mut Ranks::new(&mut first);
        let led =
            lead(plan, directory.into(), partitions, ranks, &mut |_| ControlFlow::Continue(()));
        for other in others {
            let followed = other.join().expect("a rank does not panic");
            assert_eq!(led.is_ok(), followed.is_ok(), "{led:?} {followed:?}");
        }
        led
    })
}

/// A rank of which some message is not what it should be.
#[derive(Debug)]
struct Damaged {
    inner: Channels,
    /// Exchanges until then.
    left: u32,
    damage: fn(&mut Vec<u8>),
}

impl Communicator for Damaged {
    fn rank(&self) -> u32 {
        self.inner.rank()
    }

    fn size(&self) -> u32 {
        self.inner.size()
    }

    fn exchange(&mut self, mut outgoing: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        if self.left == 0 {
            (self.damage)(&mut outgoing[0]);
        }
        self.left = self.left.wrapping_sub(1);
        self.inner.exchange(outgoing)
    }
}

/// What the first and the third of three ranks say if a message from the third to the first is damaged.
fn with_damage(plan: &Arc<Plan>, after: u32, damage: fn(&mut Vec<u8>)) -> [String; 2] {
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let mut all = Channels::all(3).into_iter();
    let [mut first, mut second, third] = std::array::from_fn(|_| all.next().expect("a rank"));
    let mut third = Damaged { inner: third, left: after, damage };
    let on = |communicator: &mut dyn Communicator| {
        let ranks = &mut Ranks::new(communicator);
        follow(Arc::clone(plan), 3, ranks, &mut || ControlFlow::Continue(()))
            .unwrap_err()
            .to_string()
    };
    thread::scope(|scope| {
        let second = scope.spawn(|| on(&mut second));
        let third = scope.spawn(|| on(&mut third));
        let ranks = &mut Ranks::new(&mut first);
        let led = lead(Arc::clone(plan), (&directory).into(), 3, ranks, &mut |_| {
            ControlFlow::Continue(())
        });
        let told = [led.unwrap_err().to_string(), third.join().expect("it does not panic")];
        second.join().expect("it does not panic");
        told
    })
}

#[test]
fn what_is_no_message_ends_all_ranks() {
    let plan = plan_in(&clos("", &flows("20KB", &[(0, 2), (3, 1)])), Path::new(""));
    let damages: [fn(&mut Vec<u8>); 4] = [
        |message| message.truncate(message.len() - 1),
        |message| message.push(0),
        |message| message.clear(),
        |message| message[0] = 9,
    ];
    for damage in damages {
        for after in [0, 1, 3, 8] {
            let [first, third] = with_damage(&plan, after, damage);
            assert!(first.contains("rank 2 sent what is no part of this run"), "{first}");
            assert!(third.contains("rank 0: rank 2 sent what is no part"), "{third}");
        }
    }
}

#[test]
fn a_rank_that_fails_ends_the_others() {
    let plan = plan_in(&clos("", &flows("20KB", &[(0, 2), (3, 1)])), Path::new(""));
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let mut all = Channels::all(3).into_iter();
    let [mut first, mut second, mut third] = std::array::from_fn(|_| all.next().expect("a rank"));
    thread::scope(|scope| {
        scope.spawn(|| Ranks::new(&mut third).fail(Blame::Machine, "out of memory"));
        let second = scope.spawn(|| {
            let ranks = &mut Ranks::new(&mut second);
            follow(Arc::clone(&plan), 3, ranks, &mut || ControlFlow::Continue(()))
        });
        let ranks = &mut Ranks::new(&mut first);
        let led = lead(Arc::clone(&plan), (&directory).into(), 3, ranks, &mut |_| {
            ControlFlow::Continue(())
        });
        for error in [led.unwrap_err(), second.join().expect("it does not panic").unwrap_err()] {
            assert_eq!(error.to_string(), "rank 2: out of memory");
            assert_eq!(error.blame(), Blame::Machine);
        }
    });
}

#[test]
fn nothing_is_spread_over_ranks_by_the_rules_of_the_other_simulator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("tests/golden/hpcc-ns3/incast16-hpcc/config.txt");
    let loaded = rocelab_sim::reference::load(&path, &[]).unwrap();
    let plan = Arc::new(loaded.scenario.plan().unwrap());
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let error = run(&plan, &directory, 2, 2).unwrap_err();
    assert!(error.to_string().contains("cannot be spread over ranks"), "{error}");
}

/// Any rank may be told to stop: the run ends at the same place at all of them, with results.
#[test]
fn any_rank_may_break_off() {
    let text = clos("", &flows("20MB", &[(0, 2), (3, 1)]));
    let plan = plan_in(&text, Path::new(""));
    for impatient in 0..3 {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("results");
        let directory = ResultsDir::create(path, Overwrite::Refuse).unwrap();
        let mut all = Channels::all(3).into_iter();
        let mut first = all.next().expect("a rank");
        let observe = |rank: u32| {
            if rank == impatient { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (plan, observe) = (&plan, &observe);
        let outcome = thread::scope(|scope| {
            for mut other in all {
                scope.spawn(move || {
                    let rank = other.rank();
                    let ranks = &mut Ranks::new(&mut other);
                    follow(Arc::clone(plan), 3, ranks, &mut || observe(rank)).unwrap();
                });
            }
            let ranks = &mut Ranks::new(&mut first);
            lead(Arc::clone(plan), (&directory).into(), 3, ranks, &mut |_| observe(0)).unwrap()
        });
        assert_eq!(outcome.ending, Ending::Interrupted);
        assert!(outcome.summary.incomplete && outcome.summary.link_traversals.total > 0);
    }
}
