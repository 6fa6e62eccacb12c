//! What the structure must keep to.

use crate::Arrows;
use crate::cycles::cycles;
use crate::names::Names;
use crate::report::{arrows_up, type_counts};
use crate::rooms::rooms;
use crate::source::Source;

/// The largest cycle of files.
const CYCLE: usize = 3;
/// The largest room, in percent of all lines.
const ROOM: usize = 20;
/// Methods of a type, over all `impl` blocks.
const METHODS: usize = 60;
/// Fields of a type.
const FIELDS: usize = 15;
/// Files that take or hold a type by `&mut`.
const FILES: usize = 10;

/// Types with many fields that are plain records: parameters, what a plan has decided, or numbers that are
/// counted. A field more makes none of them harder to understand. A module's name, which ends in `::`, means all in it.
const RECORDS: [&str; 17] = [
    "rocelab_fabric::switch_config::SwitchConfig",
    "rocelab_scenario::Scenario",
    "rocelab_scenario::faults::FaultConfig",
    "rocelab_scenario::roce::RoceConfig",
    "rocelab_scenario::workload::app::Parameters",
    "rocelab_scenario::workload::storage::Parameters",
    "rocelab_sim::plan::Plan",
    "rocelab_sim::plan::profile::HpccNs3Plan",
    "rocelab_transport::cm::config::ConnectRequest",
    "rocelab_transport::cm::event::ConnectionParameters",
    "rocelab_transport::config::QueuePairProfile",
    "rocelab_transport::congestion_control::dcqcn::settings::Parameters",
    "rocelab_transport::congestion_control::dcqcn::settings::Settings",
    "rocelab_transport::counters::Counters",
    "rocelab_transport::program::collective::Parameters",
    "rocelab_transport::tcp::parameters::TcpParameters",
    "rocelab_wire::cm::",
];

/// Everything that is beyond a limit, a line each.
pub(crate) fn exceeded(sources: &[Source], names: &Names, arrows: &Arrows) -> Vec<String> {
    let mut found = Vec::new();
    let up = arrows_up(sources, arrows);
    found.extend(up.lines().map(|arrow| format!("a room uses one above it: {arrow}")));
    let cycles = cycles(sources.len(), arrows);
    for cycle in cycles.iter().filter(|cycle| cycle.len() > CYCLE) {
        let files: Vec<String> = cycle.iter().map(|&one| sources[one].module.join("::")).collect();
        let count = cycle.len();
        found.push(format!("a cycle of {count} files (at most {CYCLE}): {}", files.join(", ")));
    }
    let rooms = rooms(sources, arrows);
    let all: usize = rooms.values().map(|room| room.lines).sum();
    for (name, room) in rooms.iter().filter(|(_, room)| room.lines * 100 > all * ROOM) {
        found.push(format!("{name} has {} of {all} lines (at most {ROOM} %)", room.lines));
    }
    for counted in type_counts(sources, names) {
        let is_record = RECORDS.iter().any(|record| {
            counted.path == *record || (record.ends_with("::") && counted.path.starts_with(record))
        });
        let counts = [
            ("methods", counted.methods, METHODS),
            ("fields", if is_record { 0 } else { counted.fields }, FIELDS),
            ("files that take or hold it by `&mut`", counted.taken_by, FILES),
        ];
        for (what, count, most) in counts.into_iter().filter(|(_, count, most)| count > most) {
            found.push(format!("{} has {count} {what} (at most {most})", counted.path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, repository, source};

    #[test]
    fn the_repository_keeps_to_the_limits() -> Result<(), Failure> {
        let sources = source::read(&repository().join("crates"))?;
        let names = Names::of(&sources);
        let arrows = names.arrows(&sources);
        assert_eq!(exceeded(&sources, &names, &arrows), Vec::<String>::new());
        Ok(())
    }
}
