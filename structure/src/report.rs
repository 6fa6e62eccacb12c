//! The tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cycles::cycles;
use crate::names::Names;
use crate::rooms::{Room, floors, room, rooms};
use crate::source::Source;
use crate::{Arrows, shown};

/// Types with fewer methods and fields are not listed.
const MANY_METHODS: usize = 40;
const MANY_FIELDS: usize = 15;
/// Types that fewer files take by `&mut` are not listed.
const MANY_FILES: usize = 10;

/// All tables, as Markdown.
pub(crate) fn tables(sources: &[Source], names: &Names, arrows: &Arrows) -> String {
    let rooms = rooms(sources, arrows);
    let floors = floors(&rooms);
    let mut text = String::new();
    rooms_table(&mut text, &rooms, &floors);
    cycles_table(&mut text, sources, arrows);
    types_table(&mut text, sources, names);
    text
}

/// Whether a room uses a room above it.
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

/// The uses between files whose rooms are in the wrong order.
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

/// Counts for a type, over all files of its crate.
#[derive(Debug, Default)]
struct Counted {
    methods: usize,
    files: usize,
    fields: usize,
    taken_by: usize,
}

/// Counts of all types, by room and name.
fn count_types(sources: &[Source], names: &Names) -> BTreeMap<(String, usize, String), Counted> {
    let mut types: BTreeMap<(String, usize, String), Counted> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        for found in source.types.iter().filter(|found| !found.is_record) {
            let key = (source.module[0].clone(), at, found.name.clone());
            types.entry(key).or_default().fields = found.fields;
        }
    }
    let key = |from: usize, name: &str| {
        let at = names.declared_in(sources, from, name)?;
        Some((sources[at].module[0].clone(), at, name.to_owned()))
    };
    for (from, source) in sources.iter().enumerate() {
        for block in &source.implementations {
            if let Some(counted) = key(from, &block.of).and_then(|key| types.get_mut(&key)) {
                counted.methods += block.methods;
                counted.files += 1;
            }
        }
        for passed in &source.passed {
            if let Some(counted) = key(from, &passed.0).and_then(|key| types.get_mut(&key)) {
                counted.taken_by += 1;
            }
        }
    }
    types
}

/// What was counted of one type.
#[derive(Debug)]
pub(crate) struct TypeCounts {
    /// Its name with its crate and modules.
    pub(crate) path: String,
    pub(crate) methods: usize,
    pub(crate) fields: usize,
    pub(crate) taken_by: usize,
}

/// The counts of all types.
pub(crate) fn type_counts(sources: &[Source], names: &Names) -> Vec<TypeCounts> {
    let counted = count_types(sources, names).into_iter();
    let all = counted.map(|((_, at, name), counted)| {
        let Counted { methods, fields, taken_by, .. } = counted;
        let path = format!("{}::{name}", sources[at].module.join("::"));
        TypeCounts { path, methods, fields, taken_by }
    });
    all.collect()
}

fn types_table(text: &mut String, sources: &[Source], names: &Names) {
    let _ = writeln!(
        text,
        "| type | methods, in `impl` blocks | fields | files that take or hold it by `&mut` |\n|---|---|---|---|"
    );
    for ((_, at, name), counted) in count_types(sources, names) {
        let Counted { methods, files, fields, taken_by } = counted;
        if methods >= MANY_METHODS || fields > MANY_FIELDS || taken_by >= MANY_FILES {
            let _ = writeln!(
                text,
                "| `{}::{name}` | {methods}, in {files} | {fields} | {taken_by} |",
                sources[at].module.join("::")
            );
        }
    }
}
