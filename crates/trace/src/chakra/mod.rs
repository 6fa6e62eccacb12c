//! Chakra execution traces: a file `PREFIX.RANK.et` for each rank.
//!
//! A file is a sequence of protobuf messages, each behind its length: first the metadata of the file, then nodes in any
//! order, until the file ends. It may be compressed by gzip. The format and its attributes: Chakra schema 0.0.4, and feeder
//! version 3, which ASTRA-sim uses.

mod attributes;
mod convert;
mod framing;
mod groups;
mod json;
mod wire;

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use prost::Message;
use rustc_hash::FxHashMap;

use crate::{Label, TraceError};

pub use convert::convert;
pub use groups::{Groups, read as read_groups};

use framing::Frames;
use wire::{GlobalMetadata, Node};

/// A decoded file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    path: PathBuf,
    rank: u32,
    metadata: GlobalMetadata,
    nodes: Vec<ReadNode>,
}

/// A node, and where it was.
#[derive(Clone, Debug, PartialEq)]
struct ReadNode {
    node: Node,
    /// Where its length begins (bytes from the start of what is not compressed).
    byte: u64,
}

impl ReadNode {
    /// What errors call the node.
    fn label(&self) -> Label {
        label(&self.node)
    }
}

fn label(node: &Node) -> Label {
    Label { id: node.id, name: node.name.as_str().into() }
}

impl File {
    /// The rank that the file is of.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The version that the file says; may be empty.
    pub fn version(&self) -> &str {
        &self.metadata.version
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Everything in the file as JSON, with the kind of each attribute.
    pub fn to_json(&self) -> serde_json::Value {
        json::file(self)
    }
}

/// The name of a type of nodes.
fn node_type(kind: i32) -> Option<&'static str> {
    Some(match kind {
        0 => "INVALID_NODE",
        1 => "METADATA_NODE",
        2 => "MEM_LOAD_NODE",
        3 => "MEM_STORE_NODE",
        4 => "COMP_NODE",
        5 => "COMM_SEND_NODE",
        6 => "COMM_RECV_NODE",
        7 => "COMM_COLL_NODE",
        _ => return None,
    })
}

/// The rank in the name of a file, as in `PREFIX.RANK.et`.
pub fn rank_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_suffix(".et")?;
    let rank = name.rsplit_once('.')?.1;
    let is_number = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    rank.parse().ok().filter(|_| is_number)
}

/// Reads the file of one rank.
///
/// # Errors If the file cannot be read, its name says no rank, or it is no such trace.
pub fn read(path: &Path) -> Result<File, TraceError> {
    let rank = rank_of(path).ok_or_else(|| {
        TraceError::new(path, "its name says no rank", "name it PREFIX.RANK.et, such as step.0.et")
    })?;
    let unreadable = |error: std::io::Error| {
        TraceError::new(path, error.to_string(), "give a file that you may read")
    };
    let file = fs::File::open(path).map_err(unreadable)?;
    read_from(BufReader::new(file), path, rank)
}

/// Reads the trace of `rank` from anything; errors name `path`.
///
/// # Errors If it cannot be read, or it is no such trace: a length or message is cut off or wrong, or two nodes have one id.
pub fn read_from(source: impl Read, path: &Path, rank: u32) -> Result<File, TraceError> {
    let mut frames = Frames::new(source, path)?;
    let Some((byte, message)) = frames.next()? else {
        let help = "give a Chakra execution trace";
        return Err(TraceError::new(path, "it is empty", help).at_byte(0));
    };
    let metadata = GlobalMetadata::decode(message)
        .map_err(|error| undecoded(path, byte, "the metadata", &error))?;
    let mut nodes = Vec::new();
    let mut places = FxHashMap::default();
    while let Some((byte, message)) = frames.next()? {
        let node = Node::decode(message).map_err(|error| {
            undecoded(path, byte, &format!("message {}", nodes.len() + 1), &error)
        })?;
        if let Some(other) = places.insert(node.id, byte) {
            let message = format!("its id is that of the node at byte {other} too");
            let error = TraceError::new(path, message, "give each node an id of its own");
            return Err(error.at_byte(byte).of_node(label(&node)));
        }
        nodes.push(ReadNode { node, byte });
    }
    Ok(File { path: path.to_owned(), rank, metadata, nodes })
}

fn undecoded(path: &Path, byte: u64, what: &str, error: &prost::DecodeError) -> TraceError {
    let message = format!("{what} is no protobuf message of the schema: {error}");
    TraceError::new(path, message, "write the trace again").at_byte(byte)
}
