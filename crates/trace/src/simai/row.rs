//! One row of a workload: a layer.

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::TraceError;
use crate::scan::Word;

pub use super::groups::Span;

/// What is exchanged after a part of a layer's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommunicationKind {
    /// Nothing.
    None,
    /// All-reduce.
    AllReduce,
    /// All-gather.
    AllGather,
    /// Reduce-scatter.
    ReduceScatter,
    /// All-to-all.
    AllToAll,
    /// All-reduce and all-to-all.
    AllReduceAllToAll,
}

impl CommunicationKind {
    /// With the names in files.
    const NAMES: [(Self, &str); 6] = [
        (Self::None, "NONE"),
        (Self::AllReduce, "ALLREDUCE"),
        (Self::AllGather, "ALLGATHER"),
        (Self::ReduceScatter, "REDUCESCATTER"),
        (Self::AllToAll, "ALLTOALL"),
        (Self::AllReduceAllToAll, "ALLREDUCEALLTOALL"),
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// One part of a layer's work: computation, then an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communication {
    /// How long the computation takes (ns).
    pub compute_ns: u64,
    /// What is exchanged.
    pub kind: CommunicationKind,
    /// Among which ranks.
    pub span: Span,
    /// The size in the meaning of nccl-tests (bytes).
    pub bytes: u64,
}

/// A row of a workload: a layer with its three parts and the update of its weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the layer.
    pub name: String,
    /// The dependency that the file says; readers do not use it.
    pub dependency: i64,
    /// Forward.
    pub forward: Communication,
    /// Backward: the gradient of the layer's input.
    pub input_gradient: Communication,
    /// Backward: the gradient of the weights.
    pub weight_gradient: Communication,
    /// The update of the weights (ns).
    pub update_ns: u64,
}

/// Columns of a row.
const COLUMNS: usize = 12;

impl Row {
    /// Reads the words of a line. Rows of customized policies have one more, the row's own policy.
    pub(super) fn parse(words: &[Word<'_>], extra: usize, path: &Path) -> Result<Self, TraceError> {
        let expected = COLUMNS + extra;
        if words.len() != expected {
            let place = words.get(expected).or_else(|| words.last());
            let message = format!("the row has {} columns, and not {expected}", words.len());
            let help = "give name, dependency, time, type and bytes of forward, of the input gradient and of the \
                        weight gradient, and the time of the update";
            return Err(match place {
                Some(word) => word.error(path, message, help),
                None => TraceError::new(path, message, help),
            });
        }
        let part = |first: usize, default: Span| -> Result<Communication, TraceError> {
            let compute_ns = words[first].number(path, "a time in nanoseconds")?;
            let (kind, span) = kind(&words[first + 1], default, path)?;
            let bytes = words[first + 2].number(path, "a length in bytes")?;
            Ok(Communication { compute_ns, kind, span, bytes })
        };
        Ok(Self {
            name: words[0].text.to_owned(),
            dependency: words[1].number(path, "a dependency such as -1")?,
            forward: part(2, Span::Tensor)?,
            input_gradient: part(5, Span::Tensor)?,
            weight_gradient: part(8, Span::Data)?,
            update_ns: words[11].number(path, "a time in nanoseconds")?,
        })
    }

    /// The row as JSON; groups are named if there are any.
    pub(super) fn to_json(&self, with_groups: bool) -> Json {
        let mut object = Map::new();
        let mut put = |key: &str, value: Json| object.insert(key.to_owned(), value);
        put("name", self.name.as_str().into());
        put("dependency", self.dependency.into());
        let parts = [
            ("forward", &self.forward),
            ("input_gradient", &self.input_gradient),
            ("weight_gradient", &self.weight_gradient),
        ];
        for (name, part) in parts {
            let suffix = if part.kind == CommunicationKind::None { "" } else { part.suffix(name) };
            put(&format!("{name}_ns"), part.compute_ns.into());
            put(&format!("{name}_type"), format!("{}{suffix}", part.kind.name()).into());
            put(&format!("{name}_bytes"), part.bytes.into());
            if with_groups {
                let span = (part.kind != CommunicationKind::None).then(|| part.span.name());
                put(&format!("{name}_group"), span.into());
            }
        }
        put("update_ns", self.update_ns.into());
        Json::Object(object)
    }
}

impl Communication {
    /// What the file has behind the kind, in the column of this part.
    fn suffix(&self, part: &str) -> &'static str {
        let default = if part == "weight_gradient" { Span::Data } else { Span::Tensor };
        if self.span == default { "" } else { self.span.suffix() }
    }
}

fn kind(
    word: &Word<'_>,
    default: Span,
    path: &Path,
) -> Result<(CommunicationKind, Span), TraceError> {
    let (name, span) = match word.text {
        text if text.ends_with("_DP_EP") => (text.trim_end_matches("_DP_EP"), Span::DataOfExperts),
        text if text.ends_with("_EP") => (text.trim_end_matches("_EP"), Span::Experts),
        text => (text, default),
    };
    let found = CommunicationKind::NAMES.into_iter().find(|(_, known)| *known == name);
    found.map(|(kind, _)| (kind, span)).ok_or_else(|| {
        let names = CommunicationKind::NAMES.map(|(_, name)| name).join(", ");
        let help =
            format!("write one of {names}, with _EP or _DP_EP behind it if it is among experts");
        word.error(path, "is no known type of communication", help)
    })
}
