//! Flows that pauses kept from being sent: whose host was paused in their priority while they were
//! open.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rocelab_results::{FlowRecord, FlowStatus};

use super::envelope::Steps;
use super::pauses::Pauses;
use super::ports::Ports;

/// A port, by the direction that it sends in, and a priority.
type Queue = (usize, u8);

/// A flow that was held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Its place in the list of flows.
    pub(crate) flow: usize,
    /// How long it was open (ps), in the run.
    pub(crate) open_ps: u64,
    /// How long its host's port was paused meanwhile, in its priority (ps), above 0.
    pub(crate) paused_ps: u64,
}

/// All that were held back, and when.
#[derive(Debug, Default)]
pub(crate) struct Victims {
    /// Those that were for longest come first.
    pub(crate) list: Vec<Victim>,
    /// How many flows were at a time.
    pub(crate) held_back: Steps,
    /// The pauses of each queue of a host, by their numbers, in order of time.
    by_queue: BTreeMap<Queue, Vec<usize>>,
}

/// When a flow was open, and the queue that its data leaves by.
#[derive(Clone, Copy, Debug)]
struct Life {
    flow: usize,
    queue: Queue,
    begin_ps: u64,
    end_ps: u64,
}

impl Victims {
    /// Of a run that ended at `run_ps`. When a flow that failed did so is not known, so it is left out.
    pub(crate) fn of(
        flows: &[FlowRecord<'_>],
        pauses: &Pauses,
        ports: &Ports,
        run_ps: u64,
    ) -> Self {
        let lives = lives(flows, ports, run_ps);
        let mut by_queue: BTreeMap<Queue, Vec<usize>> =
            lives.iter().map(|life| (life.queue, Vec::new())).collect();
        for (number, pause) in pauses.list.iter().enumerate() {
            if let Some(list) = by_queue.get_mut(&(pause.direction, pause.priority)) {
                list.push(number);
            }
        }
        let mut victims = Self { by_queue, ..Self::default() };
        let paused = victims.paused_time(pauses);
        for life in &lives {
            let until = |time| paused.get(&life.queue).map_or(0, |sums| sums.until(time));
            let (open_ps, paused_ps) =
                (life.end_ps - life.begin_ps, until(life.end_ps) - until(life.begin_ps));
            if paused_ps > 0 {
                victims.list.push(Victim { flow: life.flow, open_ps, paused_ps });
            }
        }
        victims.list.sort_by_key(|victim| (Reverse(victim.paused_ps), victim.flow));
        victims.held_back = victims.count(&lives, pauses);
        victims
    }

    fn paused_time(&self, pauses: &Pauses) -> BTreeMap<Queue, PausedTime> {
        let of = |list: &Vec<usize>| {
            let mut time = PausedTime::default();
            list.iter().for_each(|&number| {
                let pause = &pauses.list[number];
                time.add(pause.start_ps, pause.end_ps);
            });
            time
        };
        self.by_queue.iter().map(|(&queue, list)| (queue, of(list))).collect()
    }

    /// How many of the flows are held back at a time.
    fn count(&self, lives: &[Life], pauses: &Pauses) -> Steps {
        /// What happens at a queue: a flow begins or ends, or a pause does.
        enum Change {
            Flows(i64),
            Pauses(i64),
        }
        let mut by_queue: BTreeMap<Queue, Vec<(u64, Change)>> = BTreeMap::new();
        for life in lives {
            let changes = by_queue.entry(life.queue).or_default();
            changes.push((life.begin_ps, Change::Flows(1)));
            changes.push((life.end_ps, Change::Flows(-1)));
        }
        for (&queue, list) in &self.by_queue {
            let changes = by_queue.entry(queue).or_default();
            for pause in list.iter().map(|&number| &pauses.list[number]) {
                changes.push((pause.start_ps, Change::Pauses(1)));
                changes.push((pause.end_ps, Change::Pauses(-1)));
            }
        }
        let mut total = Vec::new();
        for mut changes in by_queue.into_values() {
            changes.sort_by_key(|&(time, _)| time);
            let (mut open, mut paused, mut held) = (0, 0, 0);
            for (time, change) in changes {
                match change {
                    Change::Flows(more) => open += more,
                    Change::Pauses(more) => paused += more,
                }
                let now = if paused > 0 { open } else { 0 };
                total.push((time, now - held));
                held = now;
            }
        }
        Steps::of_changes(total)
    }

    /// The root cause that held a flow back for longest: a pause, by its number.
    pub(crate) fn root_of(
        &self,
        flow: &FlowRecord<'_>,
        pauses: &Pauses,
        ports: &Ports,
        run_ps: u64,
    ) -> Option<usize> {
        let life = life(0, flow, ports, run_ps)?;
        let mut by_root: BTreeMap<usize, u64> = BTreeMap::new();
        for &number in self.by_queue.get(&life.queue)? {
            let pause = &pauses.list[number];
            let within =
                pause.end_ps.min(life.end_ps).saturating_sub(pause.start_ps.max(life.begin_ps));
            *by_root.entry(pauses.root_of(number)).or_default() += within;
        }
        let longest = by_root.into_iter().max_by_key(|&(root, time)| (time, Reverse(root)))?;
        (longest.1 > 0).then_some(longest.0)
    }
}

fn lives(flows: &[FlowRecord<'_>], ports: &Ports, run_ps: u64) -> Vec<Life> {
    let lives = flows.iter().enumerate();
    lives.filter_map(|(place, flow)| life(place, flow, ports, run_ps)).collect()
}

/// `None` of a flow that failed or never started. The data of a READ leaves by its destination.
fn life(place: usize, flow: &FlowRecord<'_>, ports: &Ports, run_ps: u64) -> Option<Life> {
    let end = match flow.status {
        FlowStatus::Completed => flow.start_ps.saturating_add(flow.fct_ps?),
        FlowStatus::Unfinished => run_ps,
        _ => return None,
    };
    let sender = if flow.verb == "read" { &flow.destination } else { &flow.source };
    let direction = ports.direction(sender, 0)?; // A host has one port.
    (flow.start_ps < end).then_some(Life {
        flow: place,
        queue: (direction, flow.priority),
        begin_ps: flow.start_ps,
        end_ps: end,
    })
}

/// How long a queue had been paused until a time.
#[derive(Debug, Default)]
struct PausedTime {
    /// Pauses: begin, end, and how long it had been paused before, in order of time.
    pauses: Vec<(u64, u64, u64)>,
}

impl PausedTime {
    /// A pause that does not begin before the last one did. What it shares with that counts once.
    fn add(&mut self, start_ps: u64, end_ps: u64) {
        let (covered, before) =
            self.pauses.last().map_or((0, 0), |&(begin, end, before)| (end, before + end - begin));
        let start_ps = start_ps.max(covered);
        if start_ps < end_ps {
            self.pauses.push((start_ps, end_ps, before));
        }
    }

    fn until(&self, time_ps: u64) -> u64 {
        let begun = self.pauses.partition_point(|&(begin, ..)| begin < time_ps);
        let last = begun.checked_sub(1).map(|last| self.pauses[last]);
        last.map_or(0, |(begin, end, before)| before + end.min(time_ps) - begin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::flow;
    use super::super::pauses::tests::led;
    use super::super::ports::tests::network;
    use super::*;

    fn at(steps: &Steps, time: u64) -> u64 {
        let window = super::super::envelope::Window { begin_ps: time, end_ps: time + 1 };
        steps.envelope(window, 2)[0]
    }

    fn of(source: &str, start_ps: u64, fct_ps: Option<u64>) -> FlowRecord<'static> {
        let name = source.to_owned().into();
        FlowRecord { source: name, destination: "c".into(), start_ps, ..flow(0, 100, fct_ps) }
    }

    #[test]
    fn a_flow_is_held_back_while_it_is_open_and_its_host_paused() {
        // Directions: a to s is 0, b to s is 2, s to c is 4.
        let ports = network(&[("a", 0, "s", 0), ("b", 0, "s", 1), ("s", 2, "c", 0)]);
        let pauses = Pauses::of(vec![
            led(4, 5, 90, None),
            led(0, 10, 30, Some(0)),
            led(2, 20, 25, None),
            led(0, 50, 60, None),
        ]);
        let mut other = of("a", 0, Some(100));
        other.priority = 4;
        let mut read = of("c", 22, None);
        read = FlowRecord { verb: "read".into(), destination: "b".into(), ..read };
        let flows = [of("a", 0, Some(55)), of("a", 20, None), other, read, of("b", 30, Some(9))];
        let victims = Victims::of(&flows, &pauses, &ports, 100);
        let victim = |flow, open_ps, paused_ps| Victim { flow, open_ps, paused_ps };
        assert_eq!(victims.list, [victim(0, 55, 25), victim(1, 80, 20), victim(3, 78, 3)]);
        let counts =
            [(0, 0), (10, 1), (20, 2), (22, 3), (25, 2), (30, 0), (50, 2), (55, 1), (60, 0)];
        assert_eq!(counts.map(|(time, _)| (time, at(&victims.held_back, time))), counts);
        let root = |flow: usize| victims.root_of(&flows[flow], &pauses, &ports, 100);
        // 20 of 25 for the pause of s, and 10 for each of two: the earlier one.
        assert_eq!((root(0), root(1), root(3), root(4)), (Some(0), Some(0), Some(2), None));
    }

    #[test]
    fn time_that_two_pauses_share_counts_once() {
        let mut time = PausedTime::default();
        for (start, end) in [(10, 20), (15, 18), (15, 30), (40, 50)] {
            time.add(start, end);
        }
        let times = [(5, 0), (10, 0), (15, 5), (20, 10), (30, 20), (35, 20), (45, 25), (99, 30)];
        assert_eq!(times.map(|(at, _)| (at, time.until(at))), times);
    }
}
