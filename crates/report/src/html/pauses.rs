//! Pauses as intervals, and the cause of each.

use std::collections::BTreeMap;

use rocelab_results::{PauseEvent, Results, ResultsError};

use super::ports::Ports;

/// A pause of one priority of one port, from the frame that began it to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The direction in which nothing could be sent. Its receiver requested the pause.
    pub(crate) direction: usize,
    pub(crate) priority: u8,
    pub(crate) start_ps: u64,
    /// The end of the pause; the end of the run if the pause did not end.
    pub(crate) end_ps: u64,
    /// Index of the pause that caused this one, which is earlier in the list.
    pub(crate) parent: Option<usize>,
    /// The deadlock that its chain of causes leads to, as an index into the list of `summary.json`.
    /// Such a pause has no root cause.
    pub(crate) deadlock: Option<usize>,
}

impl Pause {
    pub(crate) fn duration_ps(&self) -> u64 {
        self.end_ps - self.start_ps
    }

    /// Whether it has no cause.
    pub(crate) fn is_root(&self) -> bool {
        self.parent.is_none() && self.deadlock.is_none()
    }
}

/// All pauses of a run in order of their start.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    pub(crate) list: Vec<Pause>,
    /// For each pause, what it waited for, if that was recorded: an egress port, or the host that
    /// requested it.
    waits_for: Vec<String>,
    /// For each pause, the number of its root.
    roots: Vec<usize>,
    /// The names of the roots.
    places: Vec<String>,
    /// Whether the run recorded the causes; otherwise [`derive_parents`] found them.
    pub(crate) recorded: bool,
}

impl Pauses {
    /// Reads `pauses.json` if the run wrote it, otherwise `pfc.csv`.
    pub(crate) fn read(results: &Results, ports: &Ports) -> Result<Self, ResultsError> {
        let end = results.summary().simulated_ps;
        if let Some(recorded) = recorded(results, ports, end)? {
            return Ok(recorded);
        }
        let mut list = intervals(results, ports, end)?;
        derive_parents(&mut list, ports);
        Ok(Self::of(list, Vec::new(), ports))
    }

    /// Makes a list of pauses; `waits_for` may be empty.
    pub(crate) fn of(list: Vec<Pause>, waits_for: Vec<String>, ports: &Ports) -> Self {
        let mut pauses = Self { list, waits_for, ..Self::default() };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut firsts: Vec<usize> = Vec::with_capacity(pauses.list.len());
        for (number, pause) in pauses.list.iter().enumerate() {
            // Only earlier pauses can be causes, so one pass suffices.
            let first = pause.parent.map_or(number, |parent| firsts[parent]);
            firsts.push(first);
            let name = match pause.deadlock {
                Some(deadlock) => format!("deadlock {deadlock}"),
                None => pauses.cause(first, ports),
            };
            let place = known.get(&name).copied().unwrap_or(pauses.places.len());
            if place == pauses.places.len() {
                pauses.places.push(name.clone());
                known.insert(name, place);
            }
            pauses.roots.push(place);
        }
        pauses
    }

    /// The cause of the first pause of a chain: the congested port or the host if that was
    /// recorded, otherwise the node that requested the pause.
    fn cause(&self, first: usize, ports: &Ports) -> String {
        let asked_by = || ports.nodes[ports.directions[self.list[first].direction].to].clone();
        self.waits_for(first).map_or_else(asked_by, str::to_owned)
    }

    /// The number of a pause's root. Roots are numbered in order of their first pauses.
    pub(crate) fn root_of(&self, pause: usize) -> usize {
        self.roots[pause]
    }

    /// The name of a root: a congested port, the node that requested the pause, or `deadlock N`.
    pub(crate) fn root_name(&self, root: usize) -> &str {
        &self.places[root]
    }

    /// What a pause waited for: the egress port of the frame that triggered it, or the host that
    /// requested it; `None` if that was not recorded.
    pub(crate) fn waits_for(&self, pause: usize) -> Option<&str> {
        self.waits_for.get(pause).map(String::as_str).filter(|port| !port.is_empty())
    }
}

fn recorded(results: &Results, ports: &Ports, end: u64) -> Result<Option<Pauses>, ResultsError> {
    let Some(causes) = results.pause_causes()? else { return Ok(None) };
    // Pauses of ports without a link in the results are left out; pauses that they caused become
    // roots.
    let mut kept = Vec::with_capacity(causes.pauses.len());
    let mut list: Vec<Pause> = Vec::new();
    let mut waits_for = Vec::new();
    for cause in causes.pauses {
        let Some(direction) = ports.direction(&cause.node, cause.port) else {
            kept.push(None);
            continue;
        };
        kept.push(Some(list.len()));
        let earlier = cause.parent.and_then(|parent| kept.get(parent).copied().flatten());
        list.push(Pause {
            direction,
            priority: cause.priority,
            start_ps: cause.start_ps,
            end_ps: cause.end_ps.unwrap_or(end).max(cause.start_ps),
            // Only an earlier pause can be the cause.
            parent: earlier.filter(|parent| *parent < list.len()),
            deadlock: cause.deadlock,
        });
        waits_for.push(cause.waits_for);
    }
    Ok(Some(Pauses { recorded: true, ..Pauses::of(list, waits_for, ports) }))
}

fn intervals(results: &Results, ports: &Ports, end: u64) -> Result<Vec<Pause>, ResultsError> {
    let mut open: BTreeMap<(usize, u8), usize> = BTreeMap::new();
    let mut list: Vec<Pause> = Vec::new();
    for record in results.pauses()? {
        let record = record?;
        let Some(direction) = ports.direction(&record.node, record.port) else { continue };
        let key = (direction, record.priority);
        match record.event {
            PauseEvent::Pause => {
                open.insert(key, list.len());
                list.push(Pause {
                    direction,
                    priority: record.priority,
                    start_ps: record.time_ps,
                    end_ps: end.max(record.time_ps),
                    parent: None,
                    deadlock: None,
                });
            }
            PauseEvent::Refresh => {}
            PauseEvent::Resume | PauseEvent::Expire => {
                if let Some(index) = open.remove(&key) {
                    list[index].end_ps = record.time_ps.max(list[index].start_ps);
                }
            }
        }
    }
    Ok(list)
}

/// Finds for each pause of `list`, which is in order of start, the pause that caused it.
///
/// A switch asks its neighbour to pause because frames from there wait in the switch. If one of the
/// switch's own egress ports was paused in that priority when the neighbour stopped, that pause is
/// the cause; of several such ports, the one that had been paused the longest, then the one with
/// the lower number. If none was paused, the pause is a root cause: the switch is congested, or a
/// host requested it.
///
/// This is an estimate from time and place: it is not known which frames waited for which port.
pub(crate) fn derive_parents(list: &mut [Pause], ports: &Ports) {
    // Paused egress ports by node and priority, as indices of pauses in order of start.
    let mut active: BTreeMap<(usize, u8), Vec<usize>> = BTreeMap::new();
    for index in 0..list.len() {
        let Pause { direction, priority, start_ps, .. } = list[index];
        let Some(link) = ports.directions.get(direction) else { continue };
        let held_back = active.entry((link.to, priority)).or_default();
        held_back.retain(|pause| list[*pause].end_ps > start_ps);
        // Frames from the neighbour do not go back to it, so that port cannot have held them.
        list[index].parent = held_back
            .iter()
            .copied()
            .find(|pause| ports.directions[list[*pause].direction].to != link.from);
        active.entry((link.from, priority)).or_default().push(index);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::ports::tests::network;
    use super::*;

    /// A pause of priority 3, and its cause.
    pub(crate) fn led(
        direction: usize,
        start_ps: u64,
        end_ps: u64,
        parent: Option<usize>,
    ) -> Pause {
        Pause { direction, priority: 3, start_ps, end_ps, parent, deadlock: None }
    }

    fn pause(ports: &Ports, at: (&str, u16), times: (u64, u64)) -> Pause {
        let direction = ports.direction(at.0, at.1).unwrap();
        led(direction, times.0, times.1, None)
    }

    /// `a - left - right - b`, ports numbered from the left.
    fn chain() -> Ports {
        network(&[("a", 0, "left", 0), ("left", 1, "right", 0), ("right", 1, "b", 0)])
    }

    fn parents(list: &mut [Pause], ports: &Ports) -> Vec<Option<usize>> {
        derive_parents(list, ports);
        list.iter().map(|pause| pause.parent).collect()
    }

    #[test]
    fn a_pause_spreads_against_the_stream() {
        let ports = chain();
        // b asks right to stop, right asks left, left asks a.
        let mut list = [
            pause(&ports, ("right", 1), (10, 100)),
            pause(&ports, ("left", 1), (20, 110)),
            pause(&ports, ("a", 0), (30, 120)),
        ];
        assert_eq!(parents(&mut list, &ports), [None, Some(0), Some(1)]);
    }

    #[test]
    fn a_pause_that_is_over_led_to_nothing() {
        let ports = chain();
        let mut list =
            [pause(&ports, ("right", 1), (10, 20)), pause(&ports, ("left", 1), (20, 110))];
        assert_eq!(parents(&mut list, &ports), [None, None]);
    }

    #[test]
    fn another_priority_led_to_nothing() {
        let ports = chain();
        let mut list =
            [pause(&ports, ("right", 1), (10, 100)), pause(&ports, ("left", 1), (20, 110))];
        list[0].priority = 4;
        assert_eq!(parents(&mut list, &ports), [None, None]);
    }

    #[test]
    fn the_way_back_holds_nothing() {
        let ports = chain();
        // left may not send to a, and left asks a to stop: frames of a do not go back to a.
        let mut list = [pause(&ports, ("left", 0), (10, 100)), pause(&ports, ("a", 0), (20, 100))];
        assert_eq!(parents(&mut list, &ports), [None, None]);
    }

    #[test]
    fn of_two_the_longer_pause_is_the_cause() {
        let ports = network(&[("a", 0, "s", 0), ("s", 1, "b", 0), ("s", 2, "c", 0)]);
        let mut list = [
            pause(&ports, ("s", 2), (10, 100)),
            pause(&ports, ("s", 1), (15, 100)),
            pause(&ports, ("a", 0), (20, 100)),
        ];
        assert_eq!(parents(&mut list, &ports), [None, None, Some(0)]);
    }

    #[test]
    fn a_pause_in_a_deadlock_has_no_other_root() {
        let ports = chain();
        let mut list = vec![
            pause(&ports, ("right", 1), (10, 100)),
            pause(&ports, ("left", 1), (20, 110)),
            pause(&ports, ("a", 0), (30, 40)),
        ];
        (list[1].parent, list[2].parent) = (Some(0), Some(1));
        list[1].deadlock = Some(7);
        let root = |pauses: &Pauses, one| pauses.root_name(pauses.root_of(one)).to_owned();
        let asked = Pauses::of(list.clone(), Vec::new(), &ports);
        assert_eq!([0, 1, 2].map(|one| root(&asked, one)), ["b", "deadlock 7", "b"]);
        let waits_for = ["b:5", "right:1", "left:1"].map(str::to_owned).to_vec();
        let known = Pauses::of(list, waits_for, &ports);
        assert_eq!([0, 1, 2].map(|one| root(&known, one)), ["b:5", "deadlock 7", "b:5"]);
    }
}
