//! Why there is no explanation.

use thiserror::Error;

use super::subject::Subject;
use crate::network::BuildError;

/// Why there is no explanation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The plan cannot become a network: bad input.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The rules of another simulator hold.
    #[error(
        "runs by the rules of HPCC's ns-3 simulator cannot be explained, because `explain` follows the packets of RoCE; \
         `rocelab report` draws their flows, links and pauses, fct.txt and pfc.txt are that simulator's own files, and \
         `rocelab convert CONFIG --roce 2` makes a scenario of RoCE of the configuration, whose runs can be explained"
    )]
    HpccNs3,
    /// There is no such flow.
    #[error("there is no flow {flow}: the run has {count}, numbered from 0")]
    NoSuchFlow {
        /// What was asked for.
        flow: u32,
        /// All flows.
        count: usize,
    },
    /// Two flows to members of one multicast group.
    #[error(
        "flow {flow} has its frames in common with another one that is asked for: explain them one at a time"
    )]
    SharedFrames {
        /// The second of them.
        flow: u32,
    },
    /// The run ends before the flow starts.
    #[error("flow {flow} does not start in this run")]
    NotStarted {
        /// The flow.
        flow: u32,
    },
    /// There is no such connection.
    #[error("there is no connection {connection}: the run has {count}, numbered from 0")]
    NoSuchConnection {
        /// What was asked for.
        connection: u32,
        /// All connections of applications.
        count: usize,
    },
    /// The connection is of a program, whose operations are of several connections.
    #[error(
        "connection {connection} is of the program `{app}`: its operations follow no single connection; \
         `operations.csv` has their times"
    )]
    Program {
        /// The connection.
        connection: u32,
        /// The program's name in the results.
        app: String,
    },
    /// There is no such operation.
    #[error("operation {operation} of connection {connection} does not start in this run")]
    NoSuchOperation {
        /// The connection.
        connection: u32,
        /// What was asked for.
        operation: u64,
    },
    /// It was broken off.
    #[error("interrupted")]
    Interrupted,
    /// A defect of the simulator: the packet is not known that completed the flow or operation.
    #[error("defect in the simulator: the way of {0} was lost")]
    Untraced(Subject),
    /// A defect of the simulator: the parts do not add up.
    #[error("defect in the simulator: {what} took {elapsed_ps} ps, its parts take {sum_ps} ps")]
    Sum {
        /// The flow or operation.
        what: Subject,
        /// What it took (ps).
        elapsed_ps: u64,
        /// What its parts take (ps).
        sum_ps: u64,
    },
}

impl ExplainError {
    /// Whether the simulator is to blame, and not the input.
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Untraced(_) | Self::Sum { .. })
    }
}
