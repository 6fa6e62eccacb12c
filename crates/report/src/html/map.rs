//! The network as a picture: positions of nodes, and measurements of each direction of each link.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_results::{DeadlockRecord, FlowRecord, MapNode, MapNodeKind};
use serde::Serialize;

use super::cycles::{Cycle, cycles};
use super::envelope::Window;
use super::pauses::Pauses;
use super::ports::Ports;
use super::samples::{Quantity, SAMPLED, Samples};

/// Number of parts of the run that the slider distinguishes.
pub(crate) const FRAMES: u32 = 200;
/// Above this number of hosts, all hosts of a switch share a mark.
const MOST_HOSTS: usize = 1_000;

/// A network, drawn in rows, hosts at the bottom.
#[derive(Debug, Serialize)]
pub(crate) struct Map {
    pub(crate) marks: Vec<Mark>,
    pub(crate) lines: Vec<Line>,
    pub(crate) frames: u32,
    pub(crate) measures: Vec<Measure>,
    pub(crate) cycles: Vec<Cycle>,
}

/// A node, or several hosts at the same switch.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) host: bool,
    pub(crate) tier: u8,
    /// From left, 0, to right, 1.
    pub(crate) x: f64,
}

/// One direction between two marks.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The sending port, or the number of sending ports.
    pub(crate) label: String,
}

/// A quantity that colours the lines. For several links in a line, the greatest value.
#[derive(Debug, Serialize)]
pub(crate) struct Measure {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) quantity: Quantity,
    /// For each line, the value over the whole run. Ratios are in thousandths.
    pub(crate) whole: Vec<u64>,
    /// For each line, the value in each frame. Empty if no line's values are known.
    pub(crate) frames: Vec<Frames>,
    /// Why there are no frames.
    pub(crate) missing: &'static str,
}

/// What a line has in the frames of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Frames {
    /// `null`: nobody looked.
    Unknown,
    /// Always the same value, which is 0.
    Always(u64),
    /// The value in each frame.
    Each(Vec<u64>),
}

/// The kinds and positions of the nodes, in the order of [`Ports::nodes`].
pub(crate) fn places(
    ports: &Ports,
    known: Option<Vec<MapNode>>,
    flows: &[FlowRecord<'_>],
) -> Vec<MapNode> {
    let by_name: BTreeMap<String, MapNode> =
        known.unwrap_or_default().into_iter().map(|node| (node.name.clone(), node)).collect();
    if ports.nodes.iter().all(|name| by_name.contains_key(name)) {
        return ports.nodes.iter().map(|name| by_name[name].clone()).collect();
    }
    let hosts = hosts(ports, flows);
    let tiers = tiers(ports, &hosts);
    let xs = positions(ports, &tiers);
    let node = |(index, name): (usize, &String)| MapNode {
        name: name.clone(),
        kind: if hosts[index] { MapNodeKind::Host } else { MapNodeKind::Switch },
        tier: tiers[index],
        x: xs[index],
        y: 0.0,
    };
    ports.nodes.iter().enumerate().map(node).collect()
}

/// Whether each node is a host: it is an end of a flow, or has one link.
fn hosts(ports: &Ports, flows: &[FlowRecord<'_>]) -> Vec<bool> {
    let ends: BTreeSet<&str> =
        flows.iter().flat_map(|flow| [&*flow.source, &*flow.destination]).collect();
    let mut links = vec![0_u32; ports.nodes.len()];
    for direction in &ports.directions {
        links[direction.from] += 1;
    }
    let host = |(name, links): (&String, u32)| links == 1 || ends.contains(&**name);
    ports.nodes.iter().zip(links).map(host).collect()
}

/// Distance of each node from the hosts.
fn tiers(ports: &Ports, hosts: &[bool]) -> Vec<u8> {
    let mut neighbours = vec![Vec::new(); hosts.len()];
    for direction in &ports.directions {
        neighbours[direction.from].push(direction.to);
    }
    let mut tiers: Vec<Option<u8>> = hosts.iter().map(|host| host.then_some(0)).collect();
    let mut reached: Vec<usize> = (0..hosts.len()).filter(|node| hosts[*node]).collect();
    let mut tier = 0_u8;
    while !reached.is_empty() {
        tier = tier.saturating_add(1);
        let mut next = Vec::new();
        for node in reached.iter().flat_map(|node| &neighbours[*node]) {
            if tiers[*node].is_none() {
                tiers[*node] = Some(tier);
                next.push(*node);
            }
        }
        reached = next;
    }
    tiers.into_iter().map(|tier| tier.unwrap_or(1)).collect()
}

/// Positions from left to right: hosts in their order, each switch above the middle of its lower
/// neighbours.
fn positions(ports: &Ports, tiers: &[u8]) -> Vec<f64> {
    let mut xs = vec![0.5; tiers.len()];
    let highest = tiers.iter().copied().max().unwrap_or(0);
    for tier in 0..=highest {
        let mut row: Vec<usize> = (0..tiers.len()).filter(|node| tiers[*node] == tier).collect();
        if tier > 0 {
            let mut below = vec![(0.0, 0.0); tiers.len()];
            for direction in ports.directions.iter().filter(|one| tiers[one.to] < tiers[one.from]) {
                let (sum, count) = &mut below[direction.from];
                *sum += xs[direction.to];
                *count += 1.0;
            }
            let middle = |node: usize| below[node].0 / f64::max(below[node].1, 1.0);
            row.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)).then(a.cmp(b)));
        }
        for (place, node) in row.iter().enumerate() {
            xs[*node] = (place as f64 + 0.5) / row.len() as f64;
        }
    }
    xs
}

/// The picture of the network, with the measurements of the run.
pub(crate) fn map(
    ports: &Ports,
    places: &[MapNode],
    pauses: &Pauses,
    samples: &[Option<Samples>],
    deadlocks: &[DeadlockRecord],
    window: Window,
) -> Map {
    let (marks, mark_of) = marks(ports, places);
    let (lines, line_of) = lines(ports, &mark_of);
    let whole = |value: &dyn Fn(usize) -> u64| greatest(&line_of, lines.len(), value);
    let record = |direction: usize| &ports.directions[direction].record;
    let mut measures = vec![
        Measure {
            id: "utilisation",
            title: "Utilisation",
            quantity: Quantity::Ratio,
            whole: whole(&|one| record(one).utilisation.0 / 1_000),
            frames: Vec::new(),
            missing: missing("utilisation"),
        },
        Measure {
            id: "pause",
            title: "Time paused",
            quantity: Quantity::Ratio,
            whole: whole(&|one| thousandths(record(one).paused_ps, window.length_ps())),
            frames: frames_of(&pause_shares(pauses, window), |_| true, &line_of, lines.len()),
            missing: "",
        },
        Measure {
            id: "queue",
            title: "Longest queue",
            quantity: Quantity::Bytes,
            whole: whole(&|one| record(one).max_queue_bytes),
            frames: Vec::new(),
            missing: missing("queue"),
        },
        Measure {
            id: "marks",
            title: "ECN marks",
            quantity: Quantity::Count,
            whole: whole(&|one| record(one).ecn_marks),
            frames: Vec::new(),
            missing: missing("marks"),
        },
    ];
    for (sampled, samples) in SAMPLED.iter().zip(samples) {
        let Some(samples) = samples else { continue };
        let Some(measure) = measures.iter_mut().find(|measure| measure.id == sampled.id) else {
            continue;
        };
        let scaled = |direction, value| match sampled.quantity {
            Quantity::Rate => thousandths(value, record(direction).rate_bps),
            _ => value,
        };
        let peaks = peaks(samples, scaled, window);
        let is_known = |direction| samples.sampled.contains(&direction);
        measure.frames = frames_of(&peaks, is_known, &line_of, lines.len());
    }
    let cycles = cycles(deadlocks, ports, &line_of);
    Map { marks, lines, frames: FRAMES, measures, cycles }
}

/// How to get the quantity called `id` for single frames.
fn missing(id: &str) -> &'static str {
    SAMPLED.iter().find(|sampled| sampled.id == id).map_or("", |sampled| sampled.missing)
}

/// The marks of the nodes, and the mark of each node.
fn marks(ports: &Ports, places: &[MapNode]) -> (Vec<Mark>, Vec<usize>) {
    let is_host = |node: usize| places[node].kind == MapNodeKind::Host;
    let fold = (0..places.len()).filter(|node| is_host(*node)).count() > MOST_HOSTS;
    let mut switch_of = vec![None; places.len()];
    for direction in ports.directions.iter().filter(|one| is_host(one.from) && !is_host(one.to)) {
        switch_of[direction.from].get_or_insert(direction.to);
    }
    let mut groups: BTreeMap<usize, (usize, u32, f64)> = BTreeMap::new();
    let mut marks: Vec<Mark> = Vec::new();
    let mut mark_of = Vec::with_capacity(places.len());
    for (node, place) in places.iter().enumerate() {
        if fold && let (true, Some(switch)) = (is_host(node), switch_of[node]) {
            let group = groups.entry(switch).or_insert((marks.len(), 0, 0.0));
            (group.1, group.2) = (group.1 + 1, group.2 + place.x);
            mark_of.push(group.0);
            if group.1 > 1 {
                continue;
            }
        } else {
            mark_of.push(marks.len());
        }
        let (name, host) = (place.name.clone(), is_host(node));
        marks.push(Mark { name, host, tier: place.tier, x: place.x });
    }
    for (switch, (mark, hosts, sum)) in groups {
        marks[mark].name = format!("{hosts} hosts at {}", places[switch].name);
        marks[mark].x = sum / f64::from(hosts);
    }
    stretch(&mut marks);
    (marks, mark_of)
}

/// Scales positions in any unit to 0 at the left and 1 at the right.
fn stretch(marks: &mut [Mark]) {
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    let least = marks.iter().map(|mark| finite(mark.x)).fold(f64::INFINITY, f64::min);
    let greatest = marks.iter().map(|mark| finite(mark.x)).fold(f64::NEG_INFINITY, f64::max);
    let span = greatest - least;
    for mark in marks {
        let x = if span > 0.0 { (finite(mark.x) - least) / span } else { 0.5 };
        // These are enough digits for any screen, and few bytes.
        mark.x = (x * 10_000.0).round() / 10_000.0;
    }
}

/// Combines directions between the same marks into one line. Also returns the line of each
/// direction.
fn lines(ports: &Ports, mark_of: &[usize]) -> (Vec<Line>, Vec<usize>) {
    let mut by_ends: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut lines: Vec<(Line, u32)> = Vec::new();
    let mut line_of = Vec::with_capacity(ports.directions.len());
    for (index, direction) in ports.directions.iter().enumerate() {
        let (from, to) = (mark_of[direction.from], mark_of[direction.to]);
        let line = *by_ends.entry((from, to)).or_insert_with(|| {
            lines.push((Line { from, to, label: ports.label(index) }, 0));
            lines.len() - 1
        });
        lines[line].1 += 1;
        line_of.push(line);
    }
    let named = |(mut line, ports): (Line, u32)| {
        if ports > 1 {
            line.label = format!("{ports} ports");
        }
        line
    };
    (lines.into_iter().map(named).collect(), line_of)
}

/// The greatest `value` of the directions in each line.
fn greatest(line_of: &[usize], lines: usize, value: &dyn Fn(usize) -> u64) -> Vec<u64> {
    let mut greatest = vec![0; lines];
    for (direction, line) in line_of.iter().enumerate() {
        greatest[*line] = value(direction).max(greatest[*line]);
    }
    greatest
}

/// Combines frames of directions into frames of lines. A line is known if one of its directions is.
fn frames_of(
    by_direction: &BTreeMap<usize, Vec<u64>>,
    is_known: impl Fn(usize) -> bool,
    line_of: &[usize],
    lines: usize,
) -> Vec<Frames> {
    let mut frames = vec![Frames::Unknown; lines];
    for (direction, line) in line_of.iter().enumerate().filter(|(one, _)| is_known(*one)) {
        let line = &mut frames[*line];
        let values = by_direction.get(&direction).filter(|all| all.iter().any(|value| *value > 0));
        match (&mut *line, values) {
            (Frames::Each(greatest), Some(values)) => {
                for (greatest, value) in greatest.iter_mut().zip(values) {
                    *greatest = (*value).max(*greatest);
                }
            }
            (_, Some(values)) => *line = Frames::Each(values.clone()),
            (Frames::Unknown, None) => *line = Frames::Always(0),
            (_, None) => {}
        }
    }
    frames
}

/// For each direction and frame, the share of time in which a priority was paused, in thousandths;
/// of several priorities, the one that was paused the most.
fn pause_shares(pauses: &Pauses, window: Window) -> BTreeMap<usize, Vec<u64>> {
    let mut paused: BTreeMap<(usize, u8), Vec<u64>> = BTreeMap::new();
    for pause in &pauses.list {
        let times = paused
            .entry((pause.direction, pause.priority))
            .or_insert_with(|| vec![0; FRAMES as usize]);
        for frame in frame_at(pause.start_ps, window)..FRAMES {
            let (from, to) = (window.edge(FRAMES, frame), window.edge(FRAMES, frame + 1));
            if from >= pause.end_ps {
                break;
            }
            let within = pause.end_ps.min(to).saturating_sub(pause.start_ps.max(from));
            times[frame as usize] += within;
        }
    }
    let mut shares: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for ((direction, _), times) in paused {
        let share = shares.entry(direction).or_insert_with(|| vec![0; FRAMES as usize]);
        for (frame, (share, time)) in (0..).zip(share.iter_mut().zip(times)) {
            let width = window.edge(FRAMES, frame + 1) - window.edge(FRAMES, frame);
            *share = thousandths(time, width).max(*share);
        }
    }
    shares
}

/// The frame that contains `time_ps`.
fn frame_at(time_ps: u64, window: Window) -> u32 {
    let after = u128::from(time_ps.saturating_sub(window.begin_ps));
    let frame = after * u128::from(FRAMES) / u128::from(window.length_ps().max(1));
    u32::try_from(frame).unwrap_or(FRAMES).min(FRAMES - 1)
}

/// The greatest sample in each frame; of several priorities, the one with more.
fn peaks(
    samples: &Samples,
    scaled: impl Fn(usize, u64) -> u64,
    window: Window,
) -> BTreeMap<usize, Vec<u64>> {
    let mut peaks: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (of, steps) in &samples.series {
        let line = peaks.entry(of.direction).or_insert_with(|| vec![0; FRAMES as usize]);
        for (greatest, value) in line.iter_mut().zip(steps.peaks(window, FRAMES)) {
            *greatest = scaled(of.direction, value).max(*greatest);
        }
    }
    peaks
}

fn thousandths(part: u64, whole: u64) -> u64 {
    let share = u128::from(part) * 1_000 / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Steps;
    use super::super::pauses::Pause;
    use super::super::ports::tests::network;
    use super::super::samples::Sampler;
    use super::*;

    #[test]
    fn hosts_stand_below_their_switches() {
        let ports = network(&[
            ("h0", 0, "left", 0),
            ("h1", 0, "left", 1),
            ("h2", 0, "right", 0),
            ("left", 2, "top", 0),
            ("right", 1, "top", 1),
        ]);
        let places = places(&ports, None, &[]);
        let drawn =
            places.iter().map(|node| (&*node.name, node.kind == MapNodeKind::Host, node.tier));
        let expected = [
            ("h0", true, 0),
            ("left", false, 1),
            ("h1", true, 0),
            ("h2", true, 0),
            ("right", false, 1),
            ("top", false, 2),
        ];
        assert_eq!(drawn.collect::<Vec<_>>(), expected);
        assert!(places[1].x < places[4].x);
    }

    #[test]
    fn a_pause_colours_the_frames_that_it_is_in() {
        let ports = network(&[("a", 0, "b", 0)]);
        let pause = |priority, start_ps, end_ps| Pause {
            direction: 0,
            priority,
            start_ps,
            end_ps,
            parent: None,
            deadlock: None,
        };
        // Frames of 10 ps: a quarter of the first, all of the second, half of the third.
        let list = vec![pause(3, 8, 25), pause(3, 0, 1), pause(4, 0, 2)];
        let map = map(
            &ports,
            &places(&ports, None, &[]),
            &Pauses::of(list, Vec::new(), &ports),
            &[],
            &[],
            Window { begin_ps: 0, end_ps: 10 * u64::from(FRAMES) },
        );
        let measure = map.measures.iter().find(|measure| measure.id == "pause").unwrap();
        let Frames::Each(frames) = &measure.frames[0] else { panic!("{:?}", measure.frames) };
        assert_eq!(frames[..4], [300, 1_000, 500, 0]);
        assert_eq!(measure.frames[1], Frames::Always(0));
    }

    /// Of three ports, one was not sampled, and one sent nothing.
    #[test]
    fn what_was_not_sampled_is_unknown_and_not_zero() {
        let ports = network(&[("a", 0, "b", 0), ("a", 1, "c", 0)]);
        let of = Sampler { direction: 0, priority: None, flow: None, of_node: false };
        let mut steps = Steps::default();
        steps.set(0, 50_000_000_000);
        let sampled = [0, 2].into();
        let sampled = Samples { series: [(of, steps)].into(), sampled, ..Samples::default() };
        let mut samples: Vec<Option<Samples>> = SAMPLED.iter().map(|_| None).collect();
        let place = SAMPLED.iter().position(|one| one.id == "utilisation").unwrap();
        samples[place] = Some(sampled);
        let map = map(
            &ports,
            &places(&ports, None, &[]),
            &Pauses::default(),
            &samples,
            &[],
            Window { begin_ps: 0, end_ps: 1_000 },
        );
        let frames = &map.measures[0].frames;
        // Half of 100 Gbit/s.
        assert_eq!(frames[0], Frames::Each(vec![500; FRAMES as usize]));
        assert_eq!(frames[1..], [Frames::Unknown, Frames::Always(0), Frames::Unknown]);
        let json = serde_json::to_string(&frames[1..]).unwrap();
        assert_eq!(json, "[null,0,null]");
    }

    #[test]
    fn many_hosts_share_a_mark() {
        let names: Vec<String> = (0..1_500).map(|host| format!("h{host}")).collect();
        let links: Vec<_> =
            (0_u16..).zip(&names).map(|(port, name)| (&**name, 0, "leaf", port)).collect();
        let ports = network(&links);
        let places = places(&ports, None, &[]);
        let window = Window { begin_ps: 0, end_ps: 1_000 };
        let map = map(&ports, &places, &Pauses::default(), &[], &[], window);
        let marks: Vec<_> = map.marks.iter().map(|mark| &*mark.name).collect();
        assert_eq!(marks, ["1500 hosts at leaf", "leaf"]);
        assert_eq!(map.lines[0].label, "1500 ports");
        assert_eq!(map.lines.len(), 2);
    }
}
