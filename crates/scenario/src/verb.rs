//! `verb`: what flows do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a flow does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// SEND into a posted receive buffer.
    Send,
    /// RDMA WRITE.
    #[default]
    Write,
    /// RDMA WRITE with immediate.
    WriteWithImmediate,
    /// RDMA READ: the bytes travel from destination to source.
    Read,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 4] = [Self::Send, Self::Write, Self::WriteWithImmediate, Self::Read];

    /// The name in scenarios and flow lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Write => "write",
            Self::WriteWithImmediate => "write-with-immediate",
            Self::Read => "read",
        }
    }
}
