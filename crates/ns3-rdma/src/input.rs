//! A configuration with the files that it names.

use std::io;
use std::path::{Path, PathBuf};

use rocelab_engine::mrg32k3a::Seed;

use crate::config::{Branch, Config, Options};
use crate::error::{InputError, Source};
use crate::flows::{FlowSpec, parse_flows, parse_traced, refuse_tcp};
use crate::keys::Entries;
use crate::routing::Routes;
use crate::topology::Topology;

/// Links that a path may have: the simulator's time to live is 64.
const MOST_HOPS: usize = 64;

/// All that the simulator reads.
#[derive(Debug)]
pub struct Input {
    /// What the configuration says.
    pub config: Config,
    /// What it does not say.
    pub options: Options,
    /// Nodes and links.
    pub topology: Topology,
    /// Flows in the order of the file.
    pub flows: Vec<FlowSpec>,
    /// For each node, whether its packets are traced.
    pub traced: Vec<bool>,
    pub(crate) seed: Seed,
    pub(crate) routes: Routes,
    /// To say which key an accident comes from.
    pub(crate) entries: Entries,
}

/// Where a file may be that is not in the `folder` of the configuration, which calls it `named`. The
/// simulator takes paths from where it is started, by its instructions one folder above the configuration,
/// as in `mix/config.txt` with `TOPOLOGY_FILE mix/topology.txt`. A folder may also have been given another
/// name.
fn elsewhere(folder: &Path, named: &str) -> Vec<PathBuf> {
    let named = Path::new(named);
    if named.is_absolute() || named.components().count() < 2 {
        return Vec::new();
    }
    let beside = named.file_name().map(|name| folder.join(name));
    std::iter::once(folder.join("..").join(named)).chain(beside).collect()
}

impl Input {
    /// Reads the `text` of the configuration at `path`, and the files that it names by `read`.
    ///
    /// # Errors
    /// If something is wrong with one of them, or the simulator would crash or never end.
    pub fn parse(
        path: &Path,
        text: &str,
        options: Options,
        mut read: impl FnMut(&Path) -> io::Result<String>,
    ) -> Result<Self, InputError> {
        let (mut config, entries) = Config::parse(path, text, options)?;
        let seed = Seed::new(options.seed).map_err(|_| {
            let message = "is no seed of the simulator's generator";
            let help = format!("give a second from 1 to {}", Seed::MOST);
            let source = Source::new(path, "");
            source.blame(0..0, "seed", message, help).with_value(options.seed.to_string())
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut file = |key, path: &mut PathBuf| {
            let first = match read(path) {
                Ok(text) => return Ok(text),
                Err(error) => error,
            };
            for other in elsewhere(folder, entries.get(key).unwrap_or_default()) {
                if let Ok(text) = read(&other) {
                    *path = other;
                    return Ok(text);
                }
            }
            let message = format!("{} cannot be read: {first}", path.display());
            let help = "name a file, relative to the configuration";
            Err(entries.blame(key, "", message, help))
        };
        let files = &mut config.files;
        let text = file("TOPOLOGY_FILE", &mut files.topology)?;
        let topology = Topology::parse(&files.topology, &text, options.arithmetic)?;
        let text = file("FLOW_FILE", &mut files.flows)?;
        let flows = parse_flows(&files.flows, &text, &topology, options)?;
        let of_flows = Source::new(&files.flows, &text);
        let text = file("TCP_FLOW_FILE", &mut files.tcp_flows)?;
        refuse_tcp(&files.tcp_flows, &text)?;
        let text = file("TRACE_FILE", &mut files.traced)?;
        let traced = parse_traced(&files.traced, &text, &topology)?;
        let routes =
            Routes::new(&topology, flows.iter().flat_map(|flow| [flow.source, flow.destination]));
        let input = Self { config, options, topology, flows, traced, seed, routes, entries };
        input.check(&of_flows)?;
        Ok(input)
    }

    /// Refuses what only all files together show.
    fn check(&self, flows: &Source) -> Result<(), InputError> {
        for (number, flow) in self.flows.iter().enumerate() {
            let blame = |key, value: String, message: &str, help: &str| {
                let source = Source { text: "".into(), ..flows.clone() };
                let message = format!("flow {number}, counted from 0: {message}");
                Err(source.blame(0..0, key, message, help).with_value(value))
            };
            if !self.routes.connect(flow.source, flow.destination) {
                let message = "no path leads there";
                let help = "add a link to the topology, or name another host";
                return blame("dst", flow.destination.to_string(), message, help);
            }
            let hops = self.routes.hops(flow.source, flow.destination, &self.topology);
            if hops > MOST_HOPS {
                let message =
                    format!("the path has {hops} links, and IP ends it after {MOST_HOPS}");
                let help = "use a shorter path";
                return blame("dst", flow.destination.to_string(), &message, help);
            }
            if flow.class == 7 && self.config.qcn && self.config.recovery.wait_for_ack {
                let message = "the simulator reads uninitialised memory: class 7 has no milestone \
                               to wait for";
                return blame("pg", "7".into(), message, "write 0 to 6, or set L2_WAIT_FOR_ACK 0");
            }
        }
        let entries = &self.entries;
        let recovery = self.config.recovery;
        if recovery.wait_for_ack && !self.config.qcn {
            let message = "the simulator reads uninitialised memory: with ENABLE_QCN 0 flows have \
                           no milestones to wait for";
            let help = "write 0, or set ENABLE_QCN 1";
            return Err(entries.blame("L2_WAIT_FOR_ACK", "", message, help));
        }
        if self.config.qcn && self.config.reaction.cnp_interval == 0 && !self.flows.is_empty() {
            let message = "the simulator never ends: a timer of 0 us starts itself again";
            return Err(entries.blame("CNP_INTERVAL", "", message, "write at least 1"));
        }
        self.check_receivers()
    }

    /// Receiving applications are there while packets arrive.
    fn check_receivers(&self) -> Result<(), InputError> {
        let (start, stop) = self.config.receivers;
        let Some(first) = self.flows.iter().map(|flow| flow.start).min() else { return Ok(()) };
        if start > first && first < self.config.stop {
            let message = "receivers start after the first flow: what the simulator answers then \
                           is not reproduced";
            let help = "write a time before the first flow starts";
            return Err(self.entries.blame("APP_START_TIME", "1.0", message, help));
        }
        let answer = self.config.in_chunks || self.options.branch == Branch::Timely;
        if answer && stop < self.config.stop {
            let message = "receivers that answer stop before the run ends: what becomes of packets \
                           then is not reproduced";
            let help = "write at least SIMULATOR_STOP_TIME";
            return Err(self.entries.blame("APP_STOP_TIME", "9.0", message, help));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_also_looked_for_where_the_simulator_is_started() {
        let folder = Path::new("mix");
        let paths = ["mix/../mix/topology.txt", "mix/topology.txt"].map(PathBuf::from);
        assert_eq!(elsewhere(folder, "mix/topology.txt"), paths);
        assert!(elsewhere(folder, "topology.txt").is_empty());
        assert!(elsewhere(folder, "/mix/topology.txt").is_empty());
    }
}
