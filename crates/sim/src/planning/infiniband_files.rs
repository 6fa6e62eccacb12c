//! The forwarding tables and service levels of the engine `file`.

use std::path::{Path, PathBuf};

use rocelab_fabric::read_text;
use rocelab_subnet::{ForwardingTables, InputError, ServiceLevels, Subnet, lft_file, sl_file};

use crate::scenario::{Fault, FilePlace, Place, Scenario, SubnetManagerConfig};

/// Service levels that are simulated.
const LEVELS: u8 = 8;

/// What the files have that a subnet manager reads.
pub(super) fn read(
    scenario: &Scenario,
    config: &SubnetManagerConfig,
    subnet: &Subnet,
) -> Result<(ForwardingTables, Option<ServiceLevels>), Fault> {
    let file = |key, path: &Option<PathBuf>, example: &str| {
        let path = scenario.folder().join(path.as_deref().unwrap_or_else(|| Path::new("")));
        let text = read_text(&path).map_err(|error| {
            Fault::at(key, format!("`{}` cannot be read: {error}", path.display()))
                .help(format!("name a file such as {example}, relative to the scenario's folder"))
        });
        text.map(|text| (path, text))
    };
    let (path, text) = file("infiniband.sm.lfts", &config.lfts, "OpenSM's opensm-lfts.dump")?;
    let tables = lft_file::read(&path, &text, subnet);
    let tables = tables.map_err(|error| in_file(&path, &text, &error))?;
    if config.sl_file.is_none() {
        return Ok((tables, None));
    }
    let lids = lft_file::lids_now(&path, &text, subnet);
    let lids = lids.map_err(|error| in_file(&path, &text, &error))?;
    let (path, text) = file("infiniband.sm.sl_file", &config.sl_file, "sl.txt of `rocelab sm`")?;
    let levels = sl_file::read(&path, &text, subnet, &lids, LEVELS);
    Ok((tables, Some(levels.map_err(|error| in_file(&path, &text, &error))?)))
}

/// What is wrong with a file, at its place there.
fn in_file(path: &Path, text: &str, error: &InputError) -> Fault {
    let mut fault = Fault::at("", error.message()).value(error.value()).help(error.help());
    let lines = text.split_inclusive('\n');
    let before: usize = lines.clone().take(error.line().saturating_sub(1)).map(str::len).sum();
    let line = lines.clone().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let start = before + line.find(error.value()).unwrap_or(0);
    let span = start..text.len().min(start + error.value().len());
    let key = format!("line {}", error.line().max(1));
    let file = FilePlace { file: path.to_owned(), text: text.into(), span, key };
    fault.place = Place::File(Box::new(file));
    fault
}
