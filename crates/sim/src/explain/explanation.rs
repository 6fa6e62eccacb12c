//! Where the time of flows and operations went.

use serde::Serialize;

use super::category::{Category, Cause, LostForGood, Stage};
use super::no_answer::NoAnswer;
use super::subject::Subject;

/// A run that was run again, and looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The digest of the run, as in `summary.json`: equal digests mean equal runs.
    pub digest: String,
    /// Flows in the order in which they ended, those that did not last; and operations alike.
    pub flows: Vec<Explanation>,
    /// Operations of applications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Explanation>,
}

/// Where the time of a flow or operation went.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Which one.
    #[serde(flatten)]
    pub what: Subject,
    /// Name of the requester's node, or of the client's.
    pub source: String,
    /// Name of the responder's node, or of the server's.
    pub destination: String,
    /// Name of the congestion control.
    pub congestion_control: String,
    /// When it was posted, or began (ps).
    pub start_ps: u64,
    /// From then to the end; if the run ended first, to that (ps).
    pub elapsed_ps: u64,
    /// How it ended, as in `flows.csv` or `operations.csv`.
    pub status: &'static str,
    /// Packets that the source of a flow sent again; none for an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_packets: Option<u64>,
    /// What a flow of an unreliable service lost first, if it lost anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_for_good: Option<LostForGood>,
    /// Who did not answer, if a flow failed because of that before it sent anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<NoAnswer>,
    /// What its time went to, in the order of the path; their lengths add up to
    /// [`elapsed_ps`](Self::elapsed_ps).
    pub parts: Vec<Part>,
}

/// Some time of a flow or operation, not always in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Counts the turns of the two sides of an operation, from 0; 0 in a flow.
    pub turn: u16,
    /// Where on the critical path.
    pub stage: Stage,
    /// A node, or a port as `node:port`.
    pub place: String,
    /// What it went to.
    pub category: Category,
    /// Because of what, where the category leaves that open.
    pub cause: Option<Cause>,
    /// How long (ps).
    pub ps: u64,
}

impl Explanation {
    /// The sum of all parts (ps).
    pub fn sum_ps(&self) -> u64 {
        self.parts.iter().map(|part| part.ps).sum()
    }
}
