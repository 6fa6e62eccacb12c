//! Nodes and links read from a file: an edge list, a subnet of InfiniBand, or a cluster of GPUs.
//!
//! Of an edge list, nodes keep the numbers of the file and are called `host-ID` and `switch-ID`. Ports are numbered
//! in the order of the file's links. A switch's tier is its distance from the nearest host.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Generate, LinkConfig, Topology, TopologyError, edge_list, ibnet, simai};

/// `[topology.file]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The file, relative to the scenario's folder.
    pub path: PathBuf,
    /// How the file is written.
    #[serde(default)]
    pub format: Format,
    /// With `ibnet`: the length of all cables, and the rate of those of which the file says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkConfig>,
}

/// How a topology file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A line `nodes switches links`, the switches' ids, then a line `a b rate delay error_rate`
    /// for each link, as the HPCC ns-3 simulator reads it.
    #[default]
    EdgeList,
    /// What `ibnetdiscover` prints of a subnet of InfiniBand, or ibsim reads. GUIDs and port numbers decide LIDs and routes, as in
    /// OpenSM.
    Ibnet,
    /// Nodes and links as SimAI reads them: GPUs, NVSwitches, leaves and spines. Links to NVSwitches are NVLink of servers.
    Simai,
}

impl Parameters {
    /// The subnet in the `text` of the file at `path`.
    ///
    /// # Errors
    /// The place in the file that is wrong, or what is wrong with `link`.
    pub fn parse_ibnet(&self, text: &str, path: &Path) -> Result<Topology, TopologyError> {
        let Some(link) = &self.link else {
            return Err(TopologyError::parameter(
                "link",
                "none",
                "`ibnetdiscover` does not say how long cables are",
                "add `link = { rate = \"HDR\", cable = \"3m\" }`",
            ));
        };
        ibnet::parse(text, path, link.resolve("link")?)
    }
}

impl Generate for Parameters {
    fn generate(&self, folder: &Path) -> Result<Topology, TopologyError> {
        let path = folder.join(&self.path);
        let text = crate::read_named_text(&path)
            .map_err(|error| TopologyError::unreadable(&path, &error))?;
        match self.format {
            Format::EdgeList | Format::Simai => match &self.link {
                None if self.format == Format::Simai => simai::parse(&text, &path),
                None => edge_list::parse(&text, &path),
                Some(link) => Err(TopologyError::parameter(
                    "link",
                    link.rate,
                    "such a file says rate and delay of each link itself",
                    "leave it out, or use `format = \"ibnet\"`",
                )),
            },
            Format::Ibnet => self.parse_ibnet(&text, &path),
        }
    }

    fn examples() -> Vec<Self> {
        Vec::new()
    }
}
