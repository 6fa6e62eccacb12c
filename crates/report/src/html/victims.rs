//! Victims: flows whose host was paused in their priority while they were open.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rocelab_results::{FlowRecord, FlowStatus};

use super::envelope::Steps;
use super::pauses::Pauses;
use super::ports::Ports;

/// A port, given by the direction in which it sends, and a priority.
type Queue = (usize, u8);

/// A flow that was held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Its index in the list of flows.
    pub(crate) flow: usize,
    /// The time that it was open during the run (ps).
    pub(crate) open_ps: u64,
    /// The time in it that its host's port was paused in its priority (ps), above 0.
    pub(crate) paused_ps: u64,
}

/// All victims, and when they were held back.
#[derive(Debug, Default)]
pub(crate) struct Victims {
    /// Victims, those that were held back for longest first.
    pub(crate) list: Vec<Victim>,
    /// Number of flows that are held back at a time.
    pub(crate) held_back: Steps,
    /// For each queue of a host and each root, the time that the queue was paused because of it.
    by_root: BTreeMap<Queue, BTreeMap<usize, PausedTime>>,
}

/// The time that a flow was open, and the queue from which its data is sent.
#[derive(Clone, Copy, Debug)]
struct Life {
    flow: usize,
    queue: Queue,
    begin_ps: u64,
    end_ps: u64,
}

impl Victims {
    /// The victims of a run that ended at `run_ps`. Failed flows are left out, because the time of
    /// the failure is not known.
    pub(crate) fn of(
        flows: &[FlowRecord<'_>],
        pauses: &Pauses,
        ports: &Ports,
        run_ps: u64,
    ) -> Self {
        let lives = lives(flows, ports, run_ps);
        let mut paused: BTreeMap<Queue, PausedTime> =
            lives.iter().map(|life| (life.queue, PausedTime::default())).collect();
        let mut by_root: BTreeMap<Queue, BTreeMap<usize, PausedTime>> = BTreeMap::new();
        for (number, pause) in pauses.list.iter().enumerate() {
            let queue = (pause.direction, pause.priority);
            if let Some(paused) = paused.get_mut(&queue) {
                paused.add(pause.start_ps, pause.end_ps);
                let of_root = by_root.entry(queue).or_default().entry(pauses.root_of(number));
                of_root.or_default().add(pause.start_ps, pause.end_ps);
            }
        }
        let mut list = Vec::new();
        for life in &lives {
            let paused_ps = paused.get(&life.queue).map_or(0, |paused| paused.within(life));
            if paused_ps > 0 {
                let open_ps = life.end_ps - life.begin_ps;
                list.push(Victim { flow: life.flow, open_ps, paused_ps });
            }
        }
        list.sort_by_key(|victim| (Reverse(victim.paused_ps), victim.flow));
        Self { list, held_back: count(&lives, &paused), by_root }
    }

    /// The [root](Pauses::root_of) that held a flow back for longest; of several, the one that did
    /// so first.
    pub(crate) fn root_of(
        &self,
        flow: &FlowRecord<'_>,
        ports: &Ports,
        run_ps: u64,
    ) -> Option<usize> {
        let life = life(0, flow, ports, run_ps)?;
        let roots = self.by_root.get(&life.queue)?.iter();
        let times = roots.map(|(&root, paused)| (paused.within(&life), Reverse(root)));
        let (longest, Reverse(root)) = times.max()?;
        (longest > 0).then_some(root)
    }
}

/// The number of flows that are held back at each time.
fn count(lives: &[Life], paused: &BTreeMap<Queue, PausedTime>) -> Steps {
    /// A change at a queue: a flow begins or ends, or a pause does.
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
    for (&queue, paused) in paused {
        let changes = by_queue.entry(queue).or_default();
        for &(begin, end, _) in &paused.pauses {
            changes.push((begin, Change::Pauses(1)));
            changes.push((end, Change::Pauses(-1)));
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

fn lives(flows: &[FlowRecord<'_>], ports: &Ports, run_ps: u64) -> Vec<Life> {
    let lives = flows.iter().enumerate();
    lives.filter_map(|(place, flow)| life(place, flow, ports, run_ps)).collect()
}

/// `None` for a flow that failed or never started. The data of a READ is sent by its destination.
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

/// The time that a queue had been paused, as a function of time.
#[derive(Debug, Default)]
struct PausedTime {
    /// Pauses in order of time: begin, end, and the paused time before it.
    pauses: Vec<(u64, u64, u64)>,
}

impl PausedTime {
    /// Adds a pause, which does not begin before the last one. Time in both counts once.
    fn add(&mut self, start_ps: u64, end_ps: u64) {
        let (covered, before) =
            self.pauses.last().map_or((0, 0), |&(begin, end, before)| (end, before + end - begin));
        let start_ps = start_ps.max(covered);
        if start_ps < end_ps {
            self.pauses.push((start_ps, end_ps, before));
        }
    }

    /// The paused time while a flow was open.
    fn within(&self, life: &Life) -> u64 {
        self.until(life.end_ps) - self.until(life.begin_ps)
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
        let list = vec![
            led(4, 5, 90, None),
            led(0, 10, 30, Some(0)),
            led(2, 20, 25, None),
            led(0, 50, 60, None),
        ];
        let pauses = Pauses::of(list, Vec::new(), &ports);
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
        let root = |flow: usize| victims.root_of(&flows[flow], &ports, 100);
        let root = |flow| root(flow).map(|root| pauses.root_name(root));
        // 20 of 25 because of the pause of s, which c requested, and 10 for each of two: the
        // earlier one.
        assert_eq!([0, 1, 3, 4].map(root), [Some("c"), Some("c"), Some("s"), None]);
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
