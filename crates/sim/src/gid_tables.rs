//! The GID table of each host, as text.

use std::fmt::Write as _;

use crate::Plan;
use crate::address::gid_index;
use crate::scenario::RoceVersion;

/// The MAC address of each host, and its GID table: index, identifier, IP address and version of RoCE, as `show_gids` and
/// `ibv_devinfo -v` print them of NICs. The entry that queue pairs use has a star.
pub fn gid_tables(plan: &Plan) -> String {
    let roce = &plan.roce;
    let width = plan.topology.hosts().map(|host| plan.topology.nodes[host as usize].name.len());
    let width = width.max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:width$}  {:17}  INDEX  {:39}  {:39}  VERSION\n",
        "HOST", "MAC", "GID", "IP ADDRESS"
    );
    for host in plan.topology.hosts() {
        let name = &plan.topology.nodes[host as usize].name;
        let mac = roce.addresses.mac(host).to_string();
        let used = gid_index(roce.encapsulation_of(host), roce.gid);
        for entry in roce.addresses.gid_table(host) {
            let ip = match entry.index {
                0 | 1 => String::new(),
                2 | 3 => roce.addresses.ipv4(host).to_string(),
                _ => roce.addresses.ipv6(host).to_string(),
            };
            let version = if entry.version == RoceVersion::V1 { "v1" } else { "v2" };
            let star = if entry.index == used { " *" } else { "" };
            let gid = entry.gid.to_string();
            let (index, mac) = (entry.index, mac.as_str());
            _ = writeln!(
                text,
                "{name:width$}  {mac:17}  {index:5}  {gid:39}  {ip:39}  {version}{star}"
            );
        }
        if let Some(stale) = roce.addresses.given(host).stale_gid {
            _ = writeln!(text, "{name:width$}  its peers send to {stale}");
        }
    }
    text
}
