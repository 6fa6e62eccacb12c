//! Reads forwarding tables from a file, for the engine `file`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::InputError;
use crate::guid::Guid;
use crate::scan::Scan;
use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, NO_PORT};

/// What to do about several LIDs of a port.
const MAKE_WITHOUT_LMC: &str = "use tables that were made with LMC 0, or leave out the other LIDs";

/// Reads the `text` of the file at `path`, which has the format of OpenSM's `opensm-lfts.dump`.
///
/// Switches are known by their GUIDs. Where a line says the GUID of the port that has the LID, the line is about that
/// port: if it has other LIDs now, about its base LID. What the file does not say has no port. A port that had several LIDs (LMC above 0)
/// and has fewer now is refused, and so are lines without a GUID about LIDs that the subnet does not have.
///
/// # Errors The first line that is wrong, or that is about what the subnet does not have.
pub fn read(path: &Path, text: &str, subnet: &Subnet) -> Result<ForwardingTables, InputError> {
    let mut tables = ForwardingTables::empty(subnet);
    let mut current = None;
    for line in Scan::lines(path, text) {
        let rest = line.rest();
        if rest.starts_with('#') || rest.ends_with("lids dumped") {
            continue;
        }
        if rest.starts_with("Unicast lids") {
            current = Some(switch(line, subnet)?);
            continue;
        }
        let switch = current.ok_or_else(|| {
            let help =
                "begin with a line such as: Unicast lids [0-8] of switch Lid 1 guid 0x1 ('S1'):";
            line.blame(rest, "is an entry of no switch", help)
        })?;
        entry(line, subnet, switch, &mut tables)?;
    }
    if current.is_none() {
        let help = "name a file such as OpenSM's opensm-lfts.dump";
        return Err(InputError::new(path, 0, "", "has no forwarding table", help));
    }
    Ok(tables)
}

/// The LIDs in the `text` of such a file, and those that the same ports have in this subnet, as far as lines name ports by their GUIDs.
///
/// # Errors The first line that is wrong.
pub fn lids_now(
    path: &Path,
    text: &str,
    subnet: &Subnet,
) -> Result<BTreeMap<u16, u16>, InputError> {
    let mut lids = BTreeMap::new();
    for line in Scan::lines(path, text).filter(|line| line.rest().starts_with("0x")) {
        let (entry, remark) = line.rest().split_once('#').unwrap_or((line.rest(), ""));
        let text = entry.split_whitespace().next().unwrap_or_default();
        let lid = lid_of(line, text)?;
        lids.insert(lid, lid_now(line, subnet, lid, remark)?);
    }
    Ok(lids)
}

/// The switch of `Unicast lids [0-8] of switch Lid 1 guid 0x0000000000200000 ('S1'):`.
fn switch(line: Scan<'_>, subnet: &Subnet) -> Result<usize, InputError> {
    let words = line.rest().split_whitespace();
    let text = words.skip_while(|&word| word != "guid").nth(1).unwrap_or_default();
    let guid = Guid::parse(text).ok_or_else(|| line.no_guid(text))?;
    subnet.switch_by_guid(guid).ok_or_else(|| {
        let help = "remove its table, or use the tables of this subnet";
        line.blame(text, "is the GUID of no switch of this subnet", help)
    })
}

/// `0x0002 003 # Channel Adapter portguid 0x0000000000100001: 'H0_0'`
fn entry(
    line: Scan<'_>,
    subnet: &Subnet,
    switch: usize,
    tables: &mut ForwardingTables,
) -> Result<(), InputError> {
    let (entry, remark) = line.rest().split_once('#').unwrap_or((line.rest(), ""));
    let mut words = entry.split_whitespace();
    let text = words.next().unwrap_or_default();
    let lid = lid_of(line, text)?;
    let text = words.next().unwrap_or_default();
    let ports = subnet.graph().ports(switch).len();
    let port = text.parse().ok().filter(|&port| usize::from(port) < ports).ok_or_else(|| {
        let help = format!("write a number from 0 to {}", ports.saturating_sub(1));
        line.blame(text, format!("is no port of {}", subnet.switch_name(switch)), help)
    })?;
    if let Some(more) = words.next() {
        return Err(line.blame(more, "is not understood", "write # before it"));
    }
    let now = lid_now(line, subnet, lid, remark)?;
    let known = tables.row(switch)[usize::from(now)];
    if known != NO_PORT && known != port {
        if now != lid {
            let message = format!(
                "the port has several LIDs in these tables (LMC above 0), and only 0x{now:04x} here"
            );
            return Err(line.blame(line.rest(), message, MAKE_WITHOUT_LMC));
        }
        let lid = now;
        let message = format!("another line says port {known} for LID 0x{lid:04x}");
        return Err(line.blame(line.rest(), message, "remove one of the two lines"));
    }
    tables.set(switch, now, port);
    Ok(())
}

/// A LID such as `0x0002`.
fn lid_of(line: Scan<'_>, text: &str) -> Result<u16, InputError> {
    let number = text.strip_prefix("0x").and_then(|digits| u16::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| line.blame(text, "is no LID", "write one such as 0x0002"))
}

/// The LID that an entry is about in this subnet.
fn lid_now(line: Scan<'_>, subnet: &Subnet, lid: u16, remark: &str) -> Result<u16, InputError> {
    let mut words = remark.split_whitespace().skip_while(|&word| word != "portguid").skip(1);
    let guid = words.next().and_then(|word| Guid::parse(word.trim_end_matches(':')));
    let Some(guid) = guid else {
        return subnet.owner(lid).map(|_| lid).ok_or_else(|| {
            let message = format!(
                "no port has the LID 0x{lid:04x} here, and the line has no portguid to know its port by: LIDs differ \
                 where the manager was elsewhere, or LMC above 0"
            );
            let help = "write an LID of this subnet, or after # the portguid of a port";
            line.blame(line.rest(), message, help)
        });
    };
    let key = |end_port: &crate::subnet::EndPort| end_port.guid.sweep_key();
    let found = subnet.end_ports().binary_search_by_key(&guid.sweep_key(), key);
    let Ok(index) = found else {
        let help = "remove the line, or use the tables of this subnet";
        return Err(line.blame(guid.to_string(), "is the GUID of no port of this subnet", help));
    };
    let lids = subnet.end_ports()[index].lids;
    Ok(if (lids.base..=lids.last()).contains(&lid) { lid } else { lids.base })
}
