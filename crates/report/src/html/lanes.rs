//! The times at which each port was paused, in a lane for each port and priority.

use std::collections::BTreeMap;

use serde::Serialize;

use super::envelope::Window;
use super::pauses::Pauses;
use super::ports::Ports;

/// Number of lanes that are drawn: those with the most paused time.
const MOST_LANES: usize = 40;
/// Number of parts into which a lane divides its time.
const LANE_BINS: u32 = 1_000;

/// A port and priority with its pauses.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Lane {
    pub(crate) port: String,
    /// The node that requests its pauses.
    pub(crate) by: String,
    pub(crate) priority: u8,
    pub(crate) total_ps: u64,
    /// Bars in order of time: begin and end (ps), and 1 if all pauses in the bar are root causes, 0
    /// if another pause caused some of them, or they are in a deadlock. Pauses that are too close
    /// together to be distinguished share a bar.
    pub(crate) bars: Vec<(u64, u64, u8)>,
}

/// The lanes, most paused first, and the number of lanes that are left out.
pub(crate) fn lanes(pauses: &Pauses, ports: &Ports, window: Window) -> (Vec<Lane>, usize) {
    let mut by_port: BTreeMap<(usize, u8), Vec<usize>> = BTreeMap::new();
    for (index, pause) in pauses.list.iter().enumerate() {
        by_port.entry((pause.direction, pause.priority)).or_default().push(index);
    }
    let mut all: Vec<_> = by_port
        .into_iter()
        .map(|(key, list)| {
            let total: u64 = list.iter().map(|one| pauses.list[*one].duration_ps()).sum();
            (total, key, list)
        })
        .collect();
    all.sort_by_key(|(total, key, _)| (std::cmp::Reverse(*total), *key));
    let omitted = all.len().saturating_sub(MOST_LANES);
    all.truncate(MOST_LANES);
    let gap = window.length_ps() / u64::from(LANE_BINS);
    let lanes = all.into_iter().map(|(total_ps, (direction, priority), list)| Lane {
        port: ports.label(direction),
        by: ports.nodes[ports.directions[direction].to].clone(),
        priority,
        total_ps,
        bars: bars(pauses, &list, gap),
    });
    (lanes.collect(), omitted)
}

fn bars(pauses: &Pauses, list: &[usize], gap: u64) -> Vec<(u64, u64, u8)> {
    let mut bars: Vec<(u64, u64, u8)> = Vec::new();
    for pause in list.iter().map(|one| &pauses.list[*one]) {
        let root = u8::from(pause.is_root());
        match bars.last_mut() {
            Some(last) if pause.start_ps < last.1.saturating_add(gap) => {
                *last = (last.0, last.1.max(pause.end_ps), last.2.min(root));
            }
            _ => bars.push((pause.start_ps, pause.end_ps, root)),
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::super::pauses::tests::led;
    use super::super::ports::tests::network;
    use super::*;

    #[test]
    fn close_pauses_are_one_bar_and_the_most_paused_comes_first() {
        let ports = network(&[("a", 0, "b", 0)]);
        let list = vec![
            led(1, 0, 5, None),
            led(0, 10, 20, Some(0)),
            led(0, 1_000, 2_000, None),
            led(0, 2_050, 3_000, Some(0)),
        ];
        let window = Window { begin_ps: 0, end_ps: 100 * u64::from(LANE_BINS) };
        let (lanes, omitted) = lanes(&Pauses::of(list, Vec::new(), &ports), &ports, window);
        assert_eq!(omitted, 0);
        assert_eq!((&*lanes[0].port, &*lanes[0].by, lanes[0].total_ps), ("a:0", "b", 1_960));
        assert_eq!(lanes[0].bars, [(10, 20, 0), (1_000, 3_000, 0)]);
        assert_eq!(lanes[1].bars, [(0, 5, 1)]);
    }
}
