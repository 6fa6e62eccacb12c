//! A workload file: a header, the number of rows, and rows.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

use crate::TraceError;
use crate::scan::{Word, words};

use super::groups::Parallelism;
use super::row::Row;

/// How a model is trained: the first word of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One collective operation.
    Micro,
    /// A transformer, with forward work repeated in the backward pass.
    TransformerForwardInBackward,
    /// A transformer.
    Transformer,
    /// Data parallelism.
    Data,
    /// Model parallelism.
    Model,
    /// Other hybrids, which are read and not converted.
    Other(&'static str),
}

impl Policy {
    const NAMES: [(&'static str, Self); 11] = [
        ("MICRO", Self::Micro),
        ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", Self::TransformerForwardInBackward),
        ("HYBRID_TRANSFORMER", Self::Transformer),
        ("DATA", Self::Data),
        ("MODEL", Self::Model),
        ("HYBRID_DLRM", Self::Other("HYBRID_DLRM")),
        ("HYBRID_DLRM_ENHANCED", Self::Other("HYBRID_DLRM_ENHANCED")),
        ("HYBRID_DATA_MODEL", Self::Other("HYBRID_DATA_MODEL")),
        ("HYBRID_MODEL_DATA", Self::Other("HYBRID_MODEL_DATA")),
        ("HYBRID_CUSTOMIZED", Self::Other("HYBRID_CUSTOMIZED")),
        ("DISTRIBUTED_INFERENCE", Self::Other("DISTRIBUTED_INFERENCE")),
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, policy)| *policy == self).map_or("", |(name, _)| name)
    }
}

/// A workload as the file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub(super) path: PathBuf,
    /// How the model is trained.
    pub policy: Policy,
    /// How the work is divided, if the file says so.
    pub parallelism: Option<Parallelism>,
    /// Rows whose input is kept.
    pub checkpoints: Vec<usize>,
    /// Rows before whose backward work the forward work is repeated.
    pub checkpoint_initiates: Vec<usize>,
    /// What a pipeline stage sends to the next one (bytes).
    pub pipeline_bytes: u64,
    /// The layers.
    pub rows: Vec<Row>,
}

/// Reads a workload file.
///
/// # Errors If the file cannot be read, or it is no such workload.
pub fn read(path: &Path) -> Result<Workload, TraceError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        TraceError::new(path, error.to_string(), "give a text file that you may read")
    })?;
    parse(&text, path)
}

/// Reads the text of such a file; errors name `path`.
///
/// # Errors If it is no such workload.
pub fn parse(text: &str, path: &Path) -> Result<Workload, TraceError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let Some((line, header)) = lines.next() else {
        return Err(TraceError::new(path, "it is empty", "give a workload of SimAI or AICB"));
    };
    let mut workload = parse_header(header, line, path)?;
    let Some((line, count)) = lines.next() else {
        return Err(TraceError::new(path, "it has no rows", "write the number of rows in line 2"));
    };
    let mut count = words(count, line);
    let (Some(word), None) = (count.next(), count.next()) else {
        let error = TraceError::new(path, "is not the number of rows alone", "write it in line 2");
        return Err(error.at(line, 1));
    };
    let expected: usize = word.number(path, "the number of rows")?;
    let extra = usize::from(workload.policy == Policy::Other("HYBRID_CUSTOMIZED"));
    for (line, row) in lines {
        let row: Vec<_> = words(row, line).collect();
        if workload.rows.len() == expected {
            let message = format!("is in row {}, and line 2 says {expected} rows", expected + 1);
            return Err(row[0].error(path, message, "mend the number, or remove the row"));
        }
        workload.rows.push(Row::parse(&row, extra, path)?);
    }
    if workload.rows.len() < expected {
        let message = format!("the file has {} rows, and not as many", workload.rows.len());
        return Err(word.error(path, message, "mend the number, or give the missing rows"));
    }
    for &row in workload.checkpoints.iter().chain(&workload.checkpoint_initiates) {
        if row >= expected {
            let message = format!("it names row {row} of {expected} (the first is 0)");
            let help = "mend checkpoints and checkpoint_initiates";
            return Err(TraceError::new(path, message, help).at(1, 1));
        }
    }
    Ok(workload)
}

fn parse_header(header: &str, line: usize, path: &Path) -> Result<Workload, TraceError> {
    let mut words = words(header, line);
    let mut workload = Workload {
        path: path.to_owned(),
        policy: Policy::Micro,
        parallelism: None,
        checkpoints: Vec::new(),
        checkpoint_initiates: Vec::new(),
        pipeline_bytes: 0,
        rows: Vec::new(),
    };
    if let Some(word) = words.next() {
        let found = Policy::NAMES.into_iter().find(|(name, _)| *name == word.text);
        workload.policy = found.map(|(_, policy)| policy).ok_or_else(|| {
            let names = Policy::NAMES.map(|(name, _)| name).join(", ");
            word.error(path, "is no known policy", format!("write one of {names}"))
        })?;
    }
    let mut numbers = Numbers::default();
    while let Some(key) = words.next() {
        let name = key.text.trim_end_matches(':');
        let value = |word: Option<Word<'_>>| -> Result<u32, TraceError> {
            let missing = || key.error(path, "has no value behind it", "write a number behind it");
            word.ok_or_else(missing)?.number(path, "a number")
        };
        match name {
            "checkpoints" | "checkpoint_initiates" => {
                let count = value(words.next())?;
                let list = if name == "checkpoints" {
                    &mut workload.checkpoints
                } else {
                    &mut workload.checkpoint_initiates
                };
                for _ in 0..count {
                    list.push(value(words.next())? as usize);
                }
            }
            "pp_comm" => workload.pipeline_bytes = pipeline_bytes(words.next(), key, path)?,
            _ => {
                let number = numbers.of(name).ok_or_else(|| {
                    let keys = KEYS.join(", ");
                    let help =
                        format!("write one of {keys}, checkpoints, checkpoint_initiates, pp_comm");
                    key.error(path, "is no known key", help)
                })?;
                *number = Some(value(words.next())?);
            }
        }
    }
    workload.parallelism = numbers.parallelism();
    if let Some(parallelism) = &workload.parallelism {
        parallelism.check(path, line)?;
    } else if workload.policy == Policy::TransformerForwardInBackward {
        let message = "the header says no all_gpus";
        let error = TraceError::new(path, message, "write all_gpus: N").at(line, 1);
        return Err(error);
    }
    Ok(workload)
}

/// Keys of the header with one number.
const KEYS: [&str; 6] = ["model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus"];

/// Their values.
#[derive(Default)]
struct Numbers([Option<u32>; KEYS.len()]);

impl Numbers {
    fn of(&mut self, key: &str) -> Option<&mut Option<u32>> {
        let index = KEYS.iter().position(|known| *known == key)?;
        Some(&mut self.0[index])
    }

    /// What is not said is 1; without GPUs nothing is.
    fn parallelism(&self) -> Option<Parallelism> {
        let [tensor, experts, pipeline, virtual_pipeline, accumulation, gpus] = self.0;
        let one = |number: Option<u32>| number.unwrap_or(1);
        Some(Parallelism {
            gpus: gpus?,
            tensor: one(tensor),
            experts: one(experts),
            pipeline: one(pipeline),
            virtual_pipeline: one(virtual_pipeline),
            accumulation: one(accumulation),
        })
    }
}

/// A whole number, which some programs write with a decimal point.
fn pipeline_bytes(word: Option<Word<'_>>, key: Word<'_>, path: &Path) -> Result<u64, TraceError> {
    let help = "write a number of bytes behind it";
    let word = word.ok_or_else(|| key.error(path, "has no value behind it", help))?;
    let whole = match word.text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => word.text,
    };
    Word { text: whole, ..word }.number(path, "a length in bytes")
}

impl Workload {
    /// The file that it comes from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file as JSON, with the groups of ranks.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        let mut put = |key: &str, value: Json| object.insert(key.to_owned(), value);
        put("policy", self.policy.name().into());
        if let Some(parallelism) = self.parallelism {
            put("tp", parallelism.tensor.into());
            put("ep", parallelism.experts.into());
            put("pp", parallelism.pipeline.into());
            put("vpp", parallelism.virtual_pipeline.into());
            put("ga", parallelism.accumulation.into());
            put("gpus", parallelism.gpus.into());
            put("dp", parallelism.data().into());
            put("checkpoints", self.checkpoints.as_slice().into());
            put("checkpoint_initiates", self.checkpoint_initiates.as_slice().into());
            put("pp_bytes", self.pipeline_bytes.into());
            put("groups", parallelism.to_json());
        }
        let with_groups = self.parallelism.is_some();
        put("rows", self.rows.iter().map(|row| row.to_json(with_groups)).collect());
        Json::Object(object)
    }
}
