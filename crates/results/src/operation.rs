//! Operations of applications: who did what with whom, and how long it took.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Record;

/// A row of `operations.csv`: one operation, in order of its end; those that had not ended when the
/// run was over follow, by host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRecord<'a> {
    /// Name of the application.
    pub app: Cow<'a, str>,
    /// Which kind of operation it was.
    pub kind: Cow<'a, str>,
    /// Name of the client's node.
    pub client: Cow<'a, str>,
    /// Name of the server's node.
    pub server: Cow<'a, str>,
    /// Number of the connection, from 0.
    pub connection: u32,
    /// Number of the operation within the connection, from 0.
    pub operation: u64,
    /// Which of the operations that may be open at once, from 0.
    pub slot: u16,
    /// When it started, in picoseconds from the start of the run.
    pub start_ps: u64,
    /// When it ended, in picoseconds from the start of the run; `None` (an empty field) if it did
    /// not.
    pub end_ps: Option<u64>,
    /// From start to end, in picoseconds; `None` if it did not complete.
    pub latency_ps: Option<u64>,
    /// What the client's last atomic operation found; `None` if there was none.
    pub found: Option<u64>,
    /// How it ended.
    pub status: OperationStatus,
}

impl Record for OperationRecord<'_> {
    const FILE: &'static str = "operations.csv";
    const COLUMNS: &'static [&'static str] = &[
        "app",
        "kind",
        "client",
        "server",
        "connection",
        "operation",
        "slot",
        "start_ps",
        "end_ps",
        "latency_ps",
        "found",
        "status",
    ];
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationStatus {
    /// Its last step is done, as far as the client knows.
    Completed,
    /// The server stayed silent for all retries.
    RetryExceeded,
    /// The server had no receive request for all retries.
    RnrRetryExceeded,
    /// The server refused a request: NAK "invalid request".
    RemoteInvalidRequest,
    /// The server refused a request: NAK "remote access error".
    RemoteAccess,
    /// Its queue pair failed for another operation, or for another reason.
    Flushed,
    /// The run ended first.
    Unfinished,
}

impl OperationStatus {
    /// As it stands in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::RetryExceeded => "retry-exceeded",
            Self::RnrRetryExceeded => "rnr-retry-exceeded",
            Self::RemoteInvalidRequest => "remote-invalid-request",
            Self::RemoteAccess => "remote-access",
            Self::Flushed => "flushed",
            Self::Unfinished => "unfinished",
        }
    }
}
