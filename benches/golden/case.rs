//! A golden case: the inputs of a run, and the results of the reference simulator.

use std::path::{Path, PathBuf};

use rocelab_benches::text;

use crate::Failure;
use crate::distance::Distances;
use crate::reference_run::ReferenceRun;

/// A folder with `config.txt`, `topology.txt`, `flow.txt`, `fct.txt` and `pfc.txt`.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// Number of flows in the input.
    pub(crate) flows: usize,
    /// The sum over all data packets of the number of links on their shortest path, without
    /// retransmissions.
    pub(crate) packet_hops: u64,
    /// The resources of the reference simulator's own run, if they are known.
    pub(crate) reference: Option<ReferenceRun>,
}

impl Case {
    /// The cases in `folder` whose names begin with `prefix`, in order of duration.
    pub(crate) fn all_in(folder: &Path, prefix: &str) -> Result<Vec<Self>, Failure> {
        let entries = std::fs::read_dir(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .collect::<Result<Vec<_>, _>>()?;
        let is_case = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && path.join("config.txt").is_file()
        };
        let folders = entries.iter().map(|entry| entry.path()).filter(is_case);
        let mut cases = folders.map(|path| Self::read(&path)).collect::<Result<Vec<_>, _>>()?;
        if cases.is_empty() {
            return Err(format!("{}: no case `{prefix}*`", folder.display()).into());
        }
        cases.sort_by(|a, b| (a.packet_hops, &a.name).cmp(&(b.packet_hops, &b.name)));
        Ok(cases)
    }

    fn read(folder: &Path) -> Result<Self, Failure> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let config = text(&folder.join("config.txt"))?;
        let payload = number_of(&config, "PACKET_PAYLOAD_SIZE").unwrap_or(1000);
        let mut distances = Distances::read(&text(&folder.join("topology.txt"))?)?;
        let flow_file = text(&folder.join("flow.txt"))?;
        let (mut flows, mut packet_hops) = (0, 0);
        for line in flow_file.lines().skip(1).filter(|line| !line.trim().is_empty()) {
            let (source, destination, bytes) =
                flow_of(line).ok_or_else(|| format!("{name}: flow.txt: `{line}` is no flow"))?;
            flows += 1;
            packet_hops += bytes.div_ceil(payload) * distances.links(source, destination)?;
        }
        let reference = ReferenceRun::read(&folder.join("meta.json"))?;
        if let Some(expected) = reference.as_ref().map(|run| run.packet_hops)
            && expected != packet_hops
        {
            return Err(
                format!("{name}: {packet_hops} packet-hops, meta.json has {expected}").into()
            );
        }
        Ok(Self { name, folder: folder.to_owned(), flows, packet_hops, reference })
    }
}

/// The number that follows the word `key`.
fn number_of(config: &str, key: &str) -> Option<u64> {
    let mut words = config.split_whitespace().skip_while(|word| *word != key);
    words.nth(1)?.parse().ok()
}

/// Source, destination and bytes of `src dst pg dport size start`.
fn flow_of(line: &str) -> Option<(usize, usize, u64)> {
    let words: Vec<_> = line.split_whitespace().collect();
    let at = |index: usize| words.get(index);
    Some((at(0)?.parse().ok()?, at(1)?.parse().ok()?, at(4)?.parse().ok()?))
}
