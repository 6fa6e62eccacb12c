//! The files that OpenSM writes, byte for byte.

use std::fmt;

use crate::subnet::{EndPort, Subnet};
use crate::tables::{ForwardingTables, NO_PORT, Tables};
use crate::topology::NodeKind;

/// Forwarding tables as OpenSM's `opensm-lfts.dump` has them.
#[derive(Clone, Copy, Debug)]
pub struct Lfts<'s> {
    /// The subnet.
    pub subnet: &'s Subnet,
    /// Its tables.
    pub tables: &'s ForwardingTables,
}

impl fmt::Display for Lfts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |end_port: &EndPort| {
            let name = &self.subnet.topology().nodes()[end_port.id.node].name;
            format!("# {} portguid {}: '{name}'", end_port.kind.name(), end_port.guid)
        };
        let labels: Vec<String> = self.subnet.end_ports().iter().map(label).collect();
        (0..self.subnet.graph().len()).try_for_each(|switch| self.table(f, switch, &labels))
    }
}

impl Lfts<'_> {
    /// Writes the table of a switch; `labels` are those of end ports.
    fn table(&self, f: &mut fmt::Formatter<'_>, switch: usize, labels: &[String]) -> fmt::Result {
        let subnet = self.subnet;
        writeln!(
            f,
            "Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):",
            subnet.last_lid(),
            subnet.switch_lid(switch),
            subnet.switch_guid(switch),
            subnet.switch_name(switch)
        )?;
        let row = (0..=u16::MAX).zip(self.tables.row(switch));
        for (lid, port) in row.filter(|&(_, &port)| port != NO_PORT) {
            let label = subnet.owner(lid).map_or("", |owner| labels[owner].as_str());
            writeln!(f, "0x{lid:04x} {port:03} {label}")?;
        }
        // OpenSM says the greatest LID here, and not how many lines there are.
        writeln!(f, "{} lids dumped", subnet.last_lid())
    }
}

/// The first and last LID of each port, as OpenSM's `guid2lid` has them: in the order of its table of strings.
#[derive(Clone, Copy, Debug)]
pub struct GuidToLid<'s> {
    /// The subnet.
    pub subnet: &'s Subnet,
}

impl fmt::Display for GuidToLid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.subnet.end_ports().iter().map(|one| (one.lids, one.guid.to_string()));
        let mut ports: Vec<_> = ports.collect();
        // In the order in which they got their LIDs.
        ports.sort_by_key(|(lids, _)| lids.base);
        let mut table = StringTable::default();
        for (lids, guid) in ports {
            let line = format!("{guid} 0x{:04x} 0x{:04x}", lids.base, lids.last());
            table.insert(guid, line);
        }
        table.into_values().try_for_each(|line| writeln!(f, "{line}\n"))
    }
}

/// The service level from each channel adapter to each other one, one `SLID DLID SL` to a line: from base LIDs, to all
/// LIDs.
#[derive(Clone, Copy, Debug)]
pub struct Levels<'s> {
    /// The subnet.
    pub subnet: &'s Subnet,
    /// Its tables.
    pub tables: &'s Tables,
}

impl fmt::Display for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.subnet.end_ports();
        let is_adapter = |&end_port: &usize| ends[end_port].kind == NodeKind::ChannelAdapter;
        let mut adapters: Vec<usize> = (0..ends.len()).filter(is_adapter).collect();
        adapters.sort_by_key(|&end_port| ends[end_port].lids.base);
        for &source in &adapters {
            let from = ends[source].lids.base;
            let others = adapters.iter().filter(|&&other| other != source);
            for lid in others.flat_map(|&other| ends[other].lids.iter()) {
                let level = self.tables.service_level(self.subnet, source, lid);
                writeln!(f, "{from} {lid} {level}")?;
            }
        }
        Ok(())
    }
}

/// The table of strings in which OpenSM keeps what it writes to files: lists by a hash of their key, the newest first.
struct StringTable {
    lists: Vec<Vec<(String, String)>>,
    count: usize,
}

/// Numbers of lists: the table takes the next one when lists have more entries than [`MOST_ENTRIES`] on average.
const LISTS: [usize; 12] = [11, 19, 37, 67, 131, 283, 521, 1033, 2053, 4099, 8219, 16427];
const MOST_ENTRIES: usize = 5;

impl Default for StringTable {
    fn default() -> Self {
        Self { lists: vec![Vec::new(); LISTS[0]], count: 0 }
    }
}

impl StringTable {
    fn insert(&mut self, key: String, value: String) {
        if self.count / self.lists.len() > MOST_ENTRIES {
            self.grow();
        }
        let list = hash(&key) % self.lists.len();
        self.lists[list].insert(0, (key, value));
        self.count += 1;
    }

    fn grow(&mut self) {
        let now = self.lists.len();
        let Some(&next) = LISTS.iter().find(|&&lists| lists > now) else { return };
        let old = std::mem::replace(&mut self.lists, vec![Vec::new(); next]);
        for (key, value) in old.into_iter().flatten() {
            let list = hash(&key) % next;
            self.lists[list].insert(0, (key, value));
        }
    }

    fn into_values(self) -> impl Iterator<Item = String> {
        self.lists.into_iter().flatten().map(|(_, value)| value)
    }
}

/// That table's hash of a key: in 32 bits with a sign, which counts as one without.
fn hash(key: &str) -> usize {
    let step = |sum: i32, byte: u8| sum.wrapping_mul(997).wrapping_add(i32::from(byte));
    let sum = key.bytes().fold(0, step);
    sum.wrapping_add(sum >> 5).cast_unsigned() as usize
}
