//! Which ranks a process group has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::TraceError;
use crate::trace::{Group, Trace, WORLD};

use super::attributes::Attributes;

/// What the name of a node ends with that describes process groups.
const INIT: &str = "process_group:init";

/// Process groups by name, with their ranks in the order of a ring. No ranks are all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(BTreeMap<String, Vec<u32>>);

/// Reads a file of communicator groups, as ASTRA-sim has them: `{"1": [0, 1], "2": [2, 3]}`.
///
/// # Errors If the file cannot be read, or is no such JSON.
pub fn read(path: &Path) -> Result<Groups, TraceError> {
    let text = fs::read_to_string(path).map_err(|error| {
        TraceError::new(path, error.to_string(), "give a file that you may read")
    })?;
    Groups::parse(&text, path)
}

impl Groups {
    /// Reads such a text; errors name `path`.
    ///
    /// # Errors If it is no such JSON.
    pub fn parse(text: &str, path: &Path) -> Result<Self, TraceError> {
        let help = r#"give ranks by the name of the group, such as {"1": [0, 1], "2": [2, 3]}"#;
        serde_json::from_str(text).map(Self).map_err(|error| {
            let found = TraceError::new(path, error.to_string(), help);
            found.at(error.line(), error.column())
        })
    }

    /// Adds the groups that a metadata node describes, if it is one that does.
    pub(super) fn add(&mut self, node: Attributes<'_>) -> Result<(), TraceError> {
        #[derive(Deserialize)]
        struct Described {
            pg_name: String,
            #[serde(default)]
            ranks: Vec<u32>,
        }
        if !node.read.node.name.ends_with(INIT) {
            return Ok(());
        }
        let values = node.read.node.inputs.as_ref().map_or("", |inputs| inputs.values.as_str());
        let wrong = |message: String| {
            let help = r#"its inputs have a list of one text: JSON such as [{"pg_name": "0", "ranks": [0, 1]}]"#;
            node.error(message, help)
        };
        let text = one_text(values).ok_or_else(|| wrong("it describes no groups".to_owned()))?;
        let described: Vec<Described> = serde_json::from_str(text)
            .map_err(|error| wrong(format!("what it says of groups is no such JSON: {error}")))?;
        for Described { pg_name, ranks } in described {
            if self.0.get(&pg_name).is_some_and(|known| *known != ranks) {
                let message = format!("group {pg_name:?} has other ranks elsewhere");
                return Err(node.error(message, "describe each group in one way"));
            }
            self.0.insert(pg_name, ranks);
        }
        Ok(())
    }

    /// The groups of a trace of `ranks`, and the index of each by its name.
    pub(super) fn resolve(
        &self,
        ranks: u32,
        path: &Path,
    ) -> Result<(Vec<Group>, BTreeMap<String, u32>), TraceError> {
        let mut groups = Trace::world(ranks);
        let mut indices = BTreeMap::from([(String::new(), WORLD), ("0".to_owned(), WORLD)]);
        for (name, listed) in &self.0 {
            if listed.is_empty() {
                indices.insert(name.clone(), WORLD);
                continue;
            }
            let wrong = |message: String| {
                TraceError::new(path, format!("group {name:?}: {message}"), "mend the group")
            };
            let mut sorted = listed.clone();
            sorted.sort_unstable();
            if let Some(rank) = sorted.last().filter(|rank| **rank >= ranks) {
                return Err(wrong(format!("rank {rank} is not among the {ranks} ranks given")));
            }
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(wrong("it has a rank twice".to_owned()));
            }
            let index = u32::try_from(groups.len());
            indices.insert(name.clone(), index.map_err(|_| wrong("too many".to_owned()))?);
            groups.push(Group { name: name.clone(), ranks: listed.clone() });
        }
        Ok((groups, indices))
    }

    /// Whether there is a group.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The text in a list of one text, as Python prints it: without `['` and `']`.
fn one_text(values: &str) -> Option<&str> {
    let inner = values.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    ['\'', '"'].into_iter().find_map(|quote| inner.strip_prefix(quote)?.strip_suffix(quote))
}
