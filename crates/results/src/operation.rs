//! Operations of applications: client, server, and how long they took.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::column::words;
use crate::declaration::record;
use crate::flow::measured;

record! {
    /// A row of `operations.csv`: one operation, in order of its end; those that had not ended when the
    /// run was over follow, by host.
    pub struct OperationRecord<'a> as "operations"
        in "operations.csv" and "operations.parquet" {
        /// The application's name.
        app: Cow<'a, str>;
        /// `operation`; for `ping-pong`, `round-trip`; for `storage`, `read` or `write`; for a program, its
        /// own word.
        kind: Cow<'a, str>;
        /// The client's node; for a program, that of the member whose operation it is.
        client: Cow<'a, str>;
        /// The server's node.
        server: Cow<'a, str>;
        /// Number of the connection, from 0.
        connection: u32;
        /// Number of the operation within its connection, from 0.
        operation: u64;
        /// Index of the operation among those that may be open at once, from 0.
        slot: u16;
        /// Start of the operation.
        start_ps: u64 => "ps";
        /// End of the operation; empty if it did not end.
        end_ps: Option<u64> => "ps";
        /// From start to end, if it completed.
        latency_ps: Option<u64> => "ps";
        /// The value that the client's last atomic operation found in the server's memory; empty
        /// without one.
        found: Option<u64>;
        /// `completed`; `retry-exceeded`, `rnr-retry-exceeded`, `remote-invalid-request`,
        /// `remote-access`: the reason for which the queue pair failed; `flushed`: it failed
        /// because of another operation; `unfinished`: the run ended before.
        status: OperationStatus;
        /// 1 if it started in the [measuring window](scenario.md#measure), or if there is none; 0 if the summary leaves it out.
        #[serde(default = "measured")]
        measured: u8;
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationStatus {
    /// The client knows that the last step is done.
    Completed,
    /// The server did not answer any retry.
    RetryExceeded,
    /// The server had no receive request at any retry.
    RnrRetryExceeded,
    /// The server refused a request: NAK "invalid request".
    RemoteInvalidRequest,
    /// The server refused a request: NAK "remote access error".
    RemoteAccess,
    /// Its queue pair failed because of another operation, or for another reason.
    Flushed,
    /// The run ended before the operation.
    Unfinished,
}

impl OperationStatus {
    /// The name in the file.
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

words!(OperationStatus);
