//! What is to be explained.

use std::collections::BTreeSet;

use super::error::ExplainError;
use crate::{AppPlan, Plan, ProfilePlan};

/// What is to be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Flows, by their numbers.
    Flows(Vec<u32>),
    /// An operation of an application.
    Operation {
        /// Its connection, as in `operations.csv`.
        connection: u32,
        /// Its number within the connection, from 0.
        operation: u64,
    },
    /// Every flow and operation that starts; of flows to members of a multicast group, which have their frames in
    /// common, the first.
    Everything,
}

impl Selection {
    /// Whether it can be there.
    ///
    /// # Errors
    /// If a flow or connection does not exist, or the plan is not of the native profile.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), ExplainError> {
        if !matches!(plan.profile, ProfilePlan::Roce) {
            return Err(ExplainError::HpccNs3);
        }
        match *self {
            Self::Flows(ref flows) => {
                let count = plan.flows.len();
                if let Some(&flow) = flows.iter().find(|&&flow| flow as usize >= count) {
                    return Err(ExplainError::NoSuchFlow { flow, count });
                }
                let mut posted = BTreeSet::new();
                match flows.iter().find(|&&flow| !posted.insert(plan.posted_flow(flow))) {
                    Some(&flow) => Err(ExplainError::SharedFrames { flow }),
                    None => Ok(()),
                }
            }
            Self::Operation { connection, .. } if connection as usize >= plan.connections.len() => {
                let count = plan.connections.len();
                Err(ExplainError::NoSuchConnection { connection, count })
            }
            Self::Operation { connection, .. } => match plan.app_of(connection) {
                AppPlan { program: Some(_), name, .. } => {
                    Err(ExplainError::Program { connection, app: name.clone() })
                }
                AppPlan { program: None, .. } => Ok(()),
            },
            Self::Everything => Ok(()),
        }
    }
}
