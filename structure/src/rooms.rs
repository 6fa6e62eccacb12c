//! Rooms: crates, and the modules of the largest crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::Arrows;
use crate::source::Source;

/// The crates whose modules are rooms of their own.
const HOUSES: [&str; 1] = ["rocelab_sim"];

/// The room of a file.
pub(crate) fn room(source: &Source) -> String {
    let package = source.module[0].trim_start_matches("rocelab_");
    match source.module.get(1) {
        Some(module) if HOUSES.contains(&source.module[0].as_str()) => {
            format!("{package}::{module}")
        }
        _ => package.to_owned(),
    }
}

/// Number of lines of a room, and the rooms that it uses.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) files: usize,
    pub(crate) lines: usize,
    /// The rooms that it uses, with the number of uses.
    pub(crate) uses: BTreeMap<String, usize>,
}

/// All rooms by name.
pub(crate) fn rooms(sources: &[Source], arrows: &Arrows) -> BTreeMap<String, Room> {
    let mut rooms: BTreeMap<String, Room> = BTreeMap::new();
    for source in sources {
        let room = rooms.entry(room(source)).or_default();
        room.files += 1;
        room.lines += source.lines;
    }
    for &(from, to) in arrows {
        let (from, to) = (room(&sources[from]), room(&sources[to]));
        if from != to {
            *rooms.entry(from).or_default().uses.entry(to).or_default() += 1;
        }
    }
    rooms
}

/// The rooms from top to bottom. A room that no other room uses comes first. If rooms use each
/// other in a circle that nothing outside uses, the room with the fewest uses comes first.
pub(crate) fn floors(rooms: &BTreeMap<String, Room>) -> Vec<String> {
    let mut left: BTreeSet<&String> = rooms.keys().collect();
    let mut floors = Vec::new();
    while !left.is_empty() {
        let arrows_to = |name: &&String| -> usize {
            left.iter().filter_map(|other| rooms[*other].uses.get(*name)).sum()
        };
        let is_top = |name: &&String| {
            let below =
                reached(name, |room| left.iter().filter(|to| rooms[room].uses.contains_key(**to)));
            let above = reached(name, |room| {
                left.iter().filter(|from| rooms[**from].uses.contains_key(room))
            });
            above.is_subset(&below)
        };
        let Some(top) = left.iter().copied().filter(is_top).min_by_key(arrows_to) else { break };
        left.remove(top);
        floors.push(top.clone());
    }
    floors
}

/// All rooms that can be reached by any number of steps.
fn reached<'a, Steps: Iterator<Item = &'a &'a String>>(
    from: &'a String,
    step: impl Fn(&'a String) -> Steps,
) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(room) = open.pop() {
        open.extend(step(room).copied().filter(|to| found.insert(*to)));
    }
    found
}
