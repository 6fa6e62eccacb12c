//! The tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cycles::cycles;
use crate::rooms::{Room, floors, room, rooms};
use crate::source::Source;
use crate::{Arrows, shown};

/// Types of fewer methods and fields are not named.
const MANY_METHODS: usize = 40;
const MANY_FIELDS: usize = 15;
/// Types that fewer files take by `&mut` are not named.
const MANY_FILES: usize = 10;

/// All of it, as Markdown.
pub(crate) fn tables(sources: &[Source], arrows: &Arrows) -> String {
    let rooms = rooms(sources, arrows);
    let floors = floors(&rooms);
    let mut text = String::new();
    rooms_table(&mut text, &rooms, &floors);
    cycles_table(&mut text, sources, arrows);
    types_table(&mut text, sources);
    text
}

/// Whether a room uses one that stands above it.
fn is_up(floors: &[String], from: &str, to: &str) -> bool {
    let floor = |name: &str| floors.iter().position(|room| room == name);
    floor(to) < floor(from)
}

fn rooms_table(text: &mut String, rooms: &BTreeMap<String, Room>, floors: &[String]) {
    let all: usize = rooms.values().map(|room| room.lines).sum();
    let _ =
        writeln!(text, "| room | files | lines | share | uses above it |\n|---|---|---|---|---|");
    let mut up = 0;
    for name in floors {
        let Some(room) = rooms.get(name) else { continue };
        let above: Vec<String> = (room.uses.iter())
            .filter(|(to, _)| is_up(floors, name, to))
            .map(|(to, arrows)| format!("{to} ({arrows})"))
            .collect();
        up += above.len();
        let share = 100.0 * room.lines as f64 / all as f64;
        let (files, lines) = (room.files, room.lines);
        let _ = writeln!(
            text,
            "| `{name}` | {files} | {lines} | {share:.1} % | {} |",
            above.join(", ")
        );
    }
    let _ = writeln!(text, "\nArrows between rooms that run up: {up}.\n");
}

/// Each arrow between files whose rooms stand the wrong way round.
pub(crate) fn arrows_up(sources: &[Source], arrows: &Arrows) -> String {
    let floors = floors(&rooms(sources, arrows));
    let mut text = String::new();
    for &(from, to) in arrows {
        let (from, to) = (&sources[from], &sources[to]);
        if room(from) != room(to) && is_up(&floors, &room(from), &room(to)) {
            let _ = writeln!(text, "{} -> {}", shown(from), shown(to));
        }
    }
    text
}

fn cycles_table(text: &mut String, sources: &[Source], arrows: &Arrows) {
    let found = cycles(sources.len(), arrows);
    let large = found.iter().filter(|cycle| cycle.len() > 3);
    let _ = writeln!(
        text,
        "Cycles of files: {}, the largest of {} files.",
        found.len(),
        found.first().map_or(0, Vec::len)
    );
    for cycle in large {
        let names: Vec<String> =
            cycle.iter().map(|&file| format!("`{}`", shown(&sources[file]))).collect();
        let _ = writeln!(text, "- {} files: {}", cycle.len(), names.join(", "));
    }
    text.push('\n');
}

/// What is counted of a type, over all files of its crate.
#[derive(Debug, Default)]
struct Counted {
    methods: usize,
    files: usize,
    fields: usize,
    taken_by: usize,
}

fn types_table(text: &mut String, sources: &[Source]) {
    let mut types: BTreeMap<(String, String), Counted> = BTreeMap::new();
    let of = |source: &Source, name: &str| (source.module[0].clone(), name.to_owned());
    for source in sources {
        for found in source.types.iter().filter(|found| !found.is_record) {
            let counted = types.entry(of(source, &found.name)).or_default();
            counted.fields = counted.fields.max(found.fields);
        }
    }
    for source in sources {
        for block in &source.implementations {
            if let Some(counted) = types.get_mut(&of(source, &block.of)) {
                counted.methods += block.methods;
                counted.files += 1;
            }
        }
        for passed in &source.passed {
            if let Some(counted) = types.get_mut(&of(source, &passed.0)) {
                counted.taken_by += 1;
            }
        }
    }
    let _ = writeln!(
        text,
        "| type | methods, in `impl` blocks | fields | files that take it by `&mut` |\n|---|---|---|---|"
    );
    for ((package, name), counted) in types {
        let Counted { methods, files, fields, taken_by } = counted;
        if methods >= MANY_METHODS || fields > MANY_FIELDS || taken_by >= MANY_FILES {
            let _ = writeln!(
                text,
                "| `{package}::{name}` | {methods}, in {files} | {fields} | {taken_by} |"
            );
        }
    }
}
