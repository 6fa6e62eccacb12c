//! Configurations of other simulators as scenarios of RoCE: what all of them have in common.
//!
//! Such a configuration says nothing of queue pairs, addresses and headers of RoCE. So the scenario is the nearest
//! one, and a note tells each thing that is different in it.

use std::path::{Path, PathBuf};

use rocelab_fabric::{EcnConfig, LoadBalancing, TopologyConfig, topology};
use rocelab_sim::scenario::workload::flows;
use rocelab_sim::scenario::{FaultConfig, FaultVerb, Forwarding, Items, RoceVersion};
use rocelab_sim::{Planning, Scenario};
use rocelab_transport::congestion_control::{Algorithm, none};
use rocelab_transport::{PathMtu, Recovery};
use rocelab_units::SimTime;

use crate::failure::Failure;

/// The path MTUs of RoCE (bytes).
const PATH_MTUS: [u32; 5] = [256, 512, 1_024, 2_048, 4_096];

/// A scenario in the making.
pub(super) struct Native {
    pub(super) scenario: Scenario,
    /// What is not as it was, a sentence each.
    pub(super) notes: Vec<String>,
    /// Where relative paths of the scenario begin.
    folder: PathBuf,
}

/// How a configuration chooses among paths of equal cost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// Always the same for all packets.
    First,
    /// By a hash for each flow.
    ByFlow,
    /// Another for each packet.
    ByPacket,
}

impl Native {
    /// Version `version` of RoCE over the network in the file `topology`, until `stop`. Relative paths begin in `folder`.
    pub(super) fn new(
        version: RoceVersion,
        (folder, topology): (&Path, PathBuf),
        stop: SimTime,
    ) -> Self {
        let topology = TopologyConfig::File(topology::file::Parameters {
            path: topology,
            format: topology::file::Format::EdgeList,
            link: None,
        });
        let mut native = Self {
            scenario: Scenario::of_network(topology),
            notes: Vec::new(),
            folder: folder.to_owned(),
        };
        native.scenario.stop = Some(stop);
        native.scenario.roce.version = version;
        native.note(match version {
            RoceVersion::V1 => {
                "frames are of EtherType 0x8915, with GRH and BTH and without IP and UDP: switches are \
                 bridges, and all hosts are in one layer-2 domain"
            }
            RoceVersion::V2 => "frames have headers of IPv4, UDP (port 4791) and BTH",
        });
        if version == RoceVersion::V1 {
            native.note("the priority is in an 802.1Q tag, 4 bytes of each frame (`roce.tagging`)");
        }
        native
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    const fn is_v1(&self) -> bool {
        matches!(self.scenario.roce.version, RoceVersion::V1)
    }

    /// Full packets: the path MTU that is nearest to the bytes that `key` gives.
    pub(super) fn set_payload(&mut self, key: &str, bytes: u32) -> u32 {
        let nearest = PATH_MTUS.into_iter().min_by_key(|mtu| mtu.abs_diff(bytes));
        let mtu = nearest.unwrap_or(1_024);
        if let Ok(path_mtu) = PathMtu::try_from(mtu) {
            self.scenario.roce.path_mtu = path_mtu;
        }
        if mtu != bytes {
            self.note(format!("{key} {bytes}: the nearest path MTU is {mtu} (`roce.path_mtu`)"));
        }
        mtu
    }

    /// A loss sends a whole message again, where the simulator goes back to the start of a chunk of so many packets.
    pub(super) fn set_back_to_zero(&mut self, packets: u64, mtu: u32) {
        self.scenario.roce.recovery = Recovery::GoBackZero;
        let chunk = packets.max(1).saturating_mul(mtu.into());
        self.note(format!(
            "L2_BACK_TO_ZERO: a loss sends a whole message again (`go-back-0`), not a chunk; `message = \"{chunk}B\"` of \
             `[workload.flows]` makes messages of a chunk"
        ));
    }

    /// How senders react, and marks that they react to.
    pub(super) fn set_reaction(&mut self, algorithm: Algorithm, ecn: Option<EcnConfig>) {
        if self.is_v1() && (algorithm.needs_ecn() || ecn.is_some()) {
            self.note("RoCE v1 has no ECN: nothing is marked, and there are no CNPs");
        }
        if self.is_v1() && algorithm.needs_ecn() {
            let name = algorithm.name();
            self.note(format!(
                "`{name}` needs marks: senders react to nothing but pauses (`congestion_control.none`); the layer-2 \
                 way is `qcn`"
            ));
            self.scenario.congestion_control = Some(Algorithm::None(none::Parameters::default()));
            return;
        }
        self.scenario.congestion_control = Some(algorithm);
        if !self.is_v1() {
            self.scenario.switch.ecn = ecn;
        }
    }

    /// Whether packets take several paths.
    pub(super) fn set_paths(&mut self, paths: Paths) {
        match (self.is_v1(), paths) {
            (true, Paths::First) => self.note(
                "one path between two hosts: bridges use the links of a spanning tree (`layer2.forwarding`)",
            ),
            (true, _) => {
                self.scenario.layer2.forwarding = Forwarding::Multipath;
                self.note("paths follow from MAC addresses and the flow label (`layer2.forwarding`)");
            }
            (false, Paths::First) => self.note(
                "routers use all shortest paths, by a hash (`switch.load_balancing`); `[[route]]` gives one",
            ),
            (false, _) => self.note("paths follow from a hash of addresses and UDP ports"),
        }
        if paths == Paths::ByPacket {
            self.scenario.switch.load_balancing = LoadBalancing::RoundRobin;
            self.note(
                "each packet takes the next of its shortest paths in turn, in place of one at random \
                 (`switch.load_balancing`)",
            );
        }
    }

    /// The probability that a link loses a frame, for links that have none of their own.
    pub(super) fn set_loss(&mut self, key: &str, probability: f64) {
        if probability > 0.0 {
            self.note(format!(
                "{key} {probability}: a fault rule of all links, for RDMA packets (`faults`)"
            ));
            self.scenario.faults.push(FaultConfig {
                name: Some("loss".to_owned()),
                probability: Some(probability),
                ..FaultConfig::new(FaultVerb::Drop)
            });
        }
    }

    /// The flows of the scenario.
    pub(super) fn set_flows(&mut self, flows: flows::Parameters) {
        self.scenario.workload.flows = Items(vec![flows]);
    }

    /// The scenario, which stands in `folder` in place of the configuration at `config`, as text.
    pub(super) fn into_text(
        self,
        config: &Path,
        folder: &Path,
    ) -> Result<(Scenario, String), Failure> {
        let unwritable = |error: &dyn std::fmt::Display| {
            Failure::Input(format!("the scenario cannot be written out: {error}"))
        };
        let text = self.scenario.to_short_toml().map_err(|error| unwritable(&error))?;
        let placed = Scenario::parse(&text, &self.folder.join("scenario.toml"), &[])?;
        let moved = placed.relocated(folder).map_err(|error| {
            let config = config.display();
            Failure::Input(format!("{config}: a folder that is named is not there: {error}"))
        })?;
        // What is wrong in it is wrong in the configuration, and is better known now than when it runs.
        placed.plan().map_err(|error| {
            let config = config.display();
            Failure::Input(format!("{config}: no scenario of RoCE can be made of it: {error}"))
        })?;
        let version = u8::from(moved.roce.version);
        let mut lines =
            format!("# {} as RoCE v{version}. What is not as it was:\n", config.display());
        for note in &self.notes {
            lines += &format!("# - {note}\n");
        }
        let text = moved.to_short_toml().map_err(|error| unwritable(&error))?;
        Ok((moved, format!("{lines}\n{text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_packets_have_the_nearest_path_mtu() {
        let mut native =
            Native::new(RoceVersion::V2, (Path::new(""), "topology.txt".into()), SimTime::ZERO);
        for (bytes, mtu) in
            [(24, 256), (1_000, 1_024), (1_024, 1_024), (1_482, 1_024), (9_000, 4_096)]
        {
            assert_eq!(native.set_payload("SIZE", bytes), mtu);
        }
        assert_eq!(native.notes.iter().filter(|note| note.contains("SIZE")).count(), 4);
    }
}
