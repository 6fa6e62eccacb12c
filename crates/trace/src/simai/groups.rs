//! Which ranks communicate in a workload.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::TraceError;
use crate::trace::Group;

/// The most GPUs of a workload.
const MOST_GPUS: u32 = 1 << 20;

/// The ranks among which a layer communicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// Of tensor parallelism.
    Tensor,
    /// Of data parallelism.
    Data,
    /// Of expert parallelism.
    Experts,
    /// Of the data parallelism of one expert.
    DataOfExperts,
}

impl Span {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tensor, Self::Data, Self::Experts, Self::DataOfExperts];

    /// The name: `tp`, `dp`, `ep` or `dp_ep`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tp",
            Self::Data => "dp",
            Self::Experts => "ep",
            Self::DataOfExperts => "dp_ep",
        }
    }

    /// What is behind the name of a collective operation in a file.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Tensor | Self::Data => "",
            Self::Experts => "_EP",
            Self::DataOfExperts => "_DP_EP",
        }
    }
}

/// How the work of a model is divided. Rank = tensor + tensor ranks x (stage + stages x replica).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// All GPUs, which are the ranks.
    pub gpus: u32,
    /// GPUs that share a layer.
    pub tensor: u32,
    /// Groups of experts.
    pub experts: u32,
    /// Pipeline stages.
    pub pipeline: u32,
    /// Virtual pipeline stages.
    pub virtual_pipeline: u32,
    /// Steps of gradient accumulation.
    pub accumulation: u32,
}

impl Parallelism {
    /// GPUs that have the same layers.
    pub fn data(&self) -> u32 {
        self.gpus / self.tensor / self.pipeline
    }

    /// Refuses numbers that do not divide each other.
    pub(super) fn check(&self, path: &Path, line: usize) -> Result<(), TraceError> {
        let wrong = |key: &str, value: u64, message: String| {
            let help = "mend all_gpus, model_parallel_NPU_group, pp or ep";
            let error = TraceError::new(path, message, help).at(line, 1);
            Err(error.of_value(format!("{key} {value}")))
        };
        let Self { gpus, tensor, experts, pipeline, .. } = *self;
        if gpus > MOST_GPUS {
            return wrong("all_gpus:", gpus.into(), format!("is above {MOST_GPUS}"));
        }
        let keys = [
            ("all_gpus:", gpus),
            ("model_parallel_NPU_group:", tensor),
            ("ep:", experts),
            ("pp:", pipeline),
        ];
        if let Some((key, _)) = keys.iter().find(|(_, value)| *value == 0) {
            return wrong(key, 0, "is less than 1".to_owned());
        }
        let stages = u64::from(tensor) * u64::from(pipeline);
        if u64::from(gpus) % stages != 0 {
            let message =
                format!("cannot be divided by {tensor} GPUs of a layer x {pipeline} stages");
            return wrong("all_gpus:", gpus.into(), message);
        }
        if gpus / tensor % experts != 0 {
            let message =
                format!("does not divide the {} groups of tensor parallelism", gpus / tensor);
            return wrong("ep:", experts.into(), message);
        }
        Ok(())
    }

    /// The groups of one kind, in the order of their least rank, with ranks in the order of a ring.
    pub fn groups(&self, span: Span) -> Vec<Vec<u32>> {
        let Self { gpus, tensor, experts, .. } = *self;
        let (outer, inner, step, len) = match span {
            Span::Tensor => (gpus / tensor, 1, 1, tensor),
            Span::Data => (1, gpus / self.data(), gpus / self.data(), self.data()),
            Span::Experts => (gpus / tensor / experts, tensor, tensor, experts),
            Span::DataOfExperts => (1, tensor * experts, tensor * experts, gpus / tensor / experts),
        };
        let block = inner.max(1) * len;
        let group = |first: u32| (0..len).map(|number| first + number * step).collect();
        (0..outer)
            .flat_map(|one| (0..inner).map(move |rank| one * block + rank))
            .map(group)
            .collect()
    }

    /// The groups as a trace has them, and the index of each rank's group of each kind.
    pub(super) fn of_trace(&self, groups: &mut Vec<Group>) -> [Vec<u32>; 4] {
        Span::ALL.map(|span| {
            let mut of_rank = vec![0; self.gpus as usize];
            for (number, ranks) in self.groups(span).into_iter().enumerate() {
                let index = u32::try_from(groups.len()).unwrap_or(u32::MAX);
                for &rank in &ranks {
                    of_rank[rank as usize] = index;
                }
                groups.push(Group { name: format!("{}-{number}", span.name()), ranks });
            }
            of_rank
        })
    }

    /// All groups as JSON.
    pub(super) fn to_json(self) -> Json {
        let [tp, dp, ep, dp_ep] = Span::ALL.map(|span| self.groups(span));
        json!({ "tp": tp, "dp": dp, "ep": ep, "dp_ep": dp_ep })
    }
}
