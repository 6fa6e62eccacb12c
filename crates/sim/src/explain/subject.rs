//! What is explained: a flow, or an operation of an application.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// A flow, or an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Subject {
    /// A flow.
    Flow {
        /// Its number.
        flow: u32,
        /// Its verb.
        verb: &'static str,
        /// Payload (bytes).
        bytes: u64,
    },
    /// An operation of an application.
    Operation {
        /// Its connection, as in `operations.csv`.
        connection: u32,
        /// Its number within the connection, from 0.
        operation: u64,
        /// Its application.
        app: String,
        /// Its kind.
        kind: String,
    },
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow { flow, .. } => write!(f, "flow {flow}"),
            Self::Operation { connection, operation, .. } => {
                write!(f, "operation {operation} of connection {connection}")
            }
        }
    }
}
