//! Nodes and links read from an edge list.
//!
//! Nodes keep the numbers of the file and are called `host-ID` and `switch-ID`. Ports are numbered
//! in the order of the file's links. A switch's tier is its distance from the nearest host.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Generate, Topology, TopologyError, edge_list};

/// `[topology.file]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The file, relative to the scenario's folder.
    pub path: PathBuf,
    /// How the file is written.
    #[serde(default)]
    pub format: Format,
}

/// How a topology file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A line `nodes switches links`, the switches' ids, then a line `a b rate delay error_rate`
    /// for each link, as the HPCC ns-3 simulator reads it.
    #[default]
    EdgeList,
}

impl Generate for Parameters {
    fn generate(&self, folder: &Path) -> Result<Topology, TopologyError> {
        let path = folder.join(&self.path);
        let text = crate::read_named_text(&path)
            .map_err(|error| TopologyError::unreadable(&path, &error))?;
        match self.format {
            Format::EdgeList => edge_list::parse(&text, &path),
        }
    }

    fn examples() -> Vec<Self> {
        Vec::new()
    }
}
