//! Reads the service levels of paths from a file, for the engine `file`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::InputError;
use crate::scan::Scan;
use crate::subnet::Subnet;
use crate::tables::{NO_LEVEL, ServiceLevels};
use crate::topology::NodeKind;

/// Reads the `text` of the file at `path`: lines `SLID DLID SL`, as [`dump::Levels`](crate::dump::Levels) writes them, with LIDs in decimal
/// digits or as `0x0002`. A line from any LID of a channel adapter is about all packets that it sends to the other LID. `lids` says which
/// LIDs the ports have here that have another one in the file ([`lft_file::lids_now`](crate::lft_file::lids_now)). Service
/// levels are below `levels`.
///
/// # Errors
/// The first line that is wrong, or that is about what the subnet does not have; or the first path between channel adapters that has no
/// line.
pub fn read(
    path: &Path,
    text: &str,
    subnet: &Subnet,
    lids: &BTreeMap<u16, u16>,
    levels: u8,
) -> Result<ServiceLevels, InputError> {
    let row = usize::from(subnet.last_lid()) + 1;
    let mut all = vec![NO_LEVEL; subnet.end_ports().len() * row];
    for line in Scan::lines(path, text).filter(|line| !line.rest().starts_with('#')) {
        let mut words = line.rest().split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        let [from, to, level] = [word(), word(), word()];
        if let Some(more) = words.next() {
            return Err(line.blame(more, "is not understood", "write # before it"));
        }
        let source = end_port(line, subnet, lids, from)?.0;
        let (target, lid) = end_port(line, subnet, lids, to)?;
        let level_of_line = level.parse().ok().filter(|&level: &u8| level < levels);
        let level = level_of_line.ok_or_else(|| {
            let help = format!("write a service level from 0 to {}", levels.saturating_sub(1));
            line.blame(level, "is no service level that is known here", help)
        })?;
        if source == target {
            continue;
        }
        let known = &mut all[source * row + usize::from(lid)];
        if ![NO_LEVEL, level].contains(known) {
            let message = format!("another line says SL {known} for this path");
            return Err(line.blame(line.rest(), message, "remove one of the two lines"));
        }
        *known = level;
    }
    check_complete(path, subnet, &all)?;
    Ok(ServiceLevels::ByEndPortAndLid { lids: row, levels: all })
}

/// The end port of a LID in the file, and the LID that this one has here.
fn end_port(
    line: Scan<'_>,
    subnet: &Subnet,
    lids: &BTreeMap<u16, u16>,
    text: &str,
) -> Result<(usize, u16), InputError> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let help = "write a line such as: 2 5 0, which are SLID, DLID and SL";
    let lid = number.ok_or_else(|| line.blame(text, "is no LID", help))?;
    let now = lids.get(&lid).copied().unwrap_or(lid);
    let owner = subnet.owner(now).map(|owner| (owner, now));
    owner.ok_or_else(|| {
        let help = "remove the line, or use the service levels of this subnet";
        line.blame(text, "is the LID of no port of this subnet", help)
    })
}

/// Each channel adapter has a service level for each LID of all others.
fn check_complete(path: &Path, subnet: &Subnet, all: &[u8]) -> Result<(), InputError> {
    let row = usize::from(subnet.last_lid()) + 1;
    let ends = subnet.end_ports();
    let adapters: Vec<usize> =
        (0..ends.len()).filter(|&one| ends[one].kind == NodeKind::ChannelAdapter).collect();
    for &source in &adapters {
        let others = adapters.iter().filter(|&&other| other != source);
        let mut lids = others.flat_map(|&other| ends[other].lids.iter());
        if let Some(lid) = lids.find(|&lid| all[source * row + usize::from(lid)] == NO_LEVEL) {
            let from = ends[source].lids.base;
            let message = format!("has no service level from LID {from} to LID {lid}");
            let help = format!("add a line such as: {from} {lid} 0");
            return Err(InputError::new(path, 0, "", message, help));
        }
    }
    Ok(())
}
