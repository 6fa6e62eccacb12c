//! Files of root switches: a GUID to a line, as OpenSM's option `--root_guid_file` has them.

use std::path::Path;

use crate::error::InputError;
use crate::guid::Guid;
use crate::scan::Scan;
use crate::subnet::Subnet;

/// Reads the `text` of the file at `path`, and returns the switches that it names. What follows a GUID in its line is
/// a remark, as is a line that begins with `#`.
///
/// # Errors The first line that names no switch of the subnet; a file without switches.
pub fn read(path: &Path, text: &str, subnet: &Subnet) -> Result<Vec<usize>, InputError> {
    let mut roots = Vec::new();
    for mut line in Scan::lines(path, text).filter(|line| !line.rest().starts_with('#')) {
        let whole = line;
        let word = line.word();
        let guid = Guid::parse(word).ok_or_else(|| whole.no_guid(whole.rest()))?;
        let switch = subnet.switch_by_guid(guid).ok_or_else(|| {
            let help = "write the GUID of a switch, which ibnetdiscover has as switchguid";
            whole.blame(word, "is the GUID of no switch of this subnet", help)
        })?;
        roots.push(switch);
    }
    if roots.is_empty() {
        let help = "write the GUID of each root switch into a line";
        return Err(InputError::new(path, 0, "", "names no root switch", help));
    }
    Ok(roots)
}
