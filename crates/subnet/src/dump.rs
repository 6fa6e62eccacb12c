//! The files that OpenSM writes, byte for byte.

use std::fmt::Write as _;

use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, NO_PORT, Tables};
use crate::topology::NodeKind;

/// Forwarding tables as OpenSM's `opensm-lfts.dump` has them.
pub fn lfts(subnet: &Subnet, tables: &ForwardingTables) -> String {
    let labels: Vec<String> = subnet
        .end_ports()
        .iter()
        .map(|end_port| {
            let name = &subnet.topology().nodes()[end_port.id.node].name;
            format!("# {} portguid {}: '{name}'", end_port.kind.name(), end_port.guid)
        })
        .collect();
    let mut text = String::new();
    for switch in 0..subnet.graph().len() {
        let _ = writeln!(
            text,
            "Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):",
            subnet.last_lid(),
            subnet.switch_lid(switch),
            subnet.switch_guid(switch),
            subnet.switch_name(switch)
        );
        let row = (0..=u16::MAX).zip(tables.row(switch)).filter(|&(_, &port)| port != NO_PORT);
        for (lid, port) in row {
            let label = subnet.owner(lid).map_or("", |owner| labels[owner].as_str());
            let _ = writeln!(text, "0x{lid:04x} {port:03} {label}");
        }
        // OpenSM says the greatest LID here, and not how many lines there are.
        let _ = writeln!(text, "{} lids dumped", subnet.last_lid());
    }
    text
}

/// The first and last LID of each port, as OpenSM's `guid2lid` has them: in the order of its table of strings.
pub fn guid_to_lid(subnet: &Subnet) -> String {
    let lines = subnet.end_ports().iter().map(|one| (one.guid.to_string(), one.lids));
    let mut table = StringTable::default();
    // A manager's own port gets its LIDs first.
    let mut lines: Vec<_> = lines.collect();
    lines.sort_by_key(|(_, lids)| lids.base);
    for (guid, lids) in lines {
        table.insert(guid.clone(), format!("{guid} 0x{:04x} 0x{:04x}\n\n", lids.base, lids.last()));
    }
    table.into_values().collect()
}

/// The service level from each channel adapter to each other one, one `SLID DLID SL` to a line: from base LIDs, to all
/// LIDs.
pub fn service_levels(subnet: &Subnet, tables: &Tables) -> String {
    let is_adapter =
        |&end_port: &usize| subnet.end_ports()[end_port].kind == NodeKind::ChannelAdapter;
    let mut adapters: Vec<usize> = (0..subnet.end_ports().len()).filter(is_adapter).collect();
    adapters.sort_by_key(|&end_port| subnet.end_ports()[end_port].lids.base);
    let mut text = String::new();
    for &source in &adapters {
        let from = subnet.end_ports()[source].lids.base;
        let others = adapters.iter().filter(|&&other| other != source);
        for lid in others.flat_map(|&other| subnet.end_ports()[other].lids.iter()) {
            let level = tables.service_level(subnet, source, lid);
            let _ = writeln!(text, "{from} {lid} {level}");
        }
    }
    text
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
