//! Workloads: what is sent, by whom, to whom and when.
//!
//! What a scenario says of a workload is in `workload/` of the crate `rocelab-scenario`. What it means is one
//! file beside this one, with the `Workload` implementation of its `Parameters`, and one line in `of`. Programs have one implementation
//! for all (`program.rs`).

pub mod app;
mod distribution;
mod flow;
mod flow_table;
pub mod flows;
mod group;
mod hosts;
pub mod incast;
mod labels;
pub mod multicast;
mod nvlink;
pub mod permutation;
pub mod ping_pong;
pub mod poisson;
mod program;
mod reference;
mod rules;
mod servers;
mod site;
pub mod storage;

pub(crate) use app::App;
use app::named;
pub use app::{AppPlan, OperationKind, StepPlan, StepVerb};
pub use distribution::{DistributionSource, SizeDistribution};
pub(crate) use flow::Flow;
pub use group::MulticastGroup;
pub(crate) use hosts::HostDirectory;
pub use labels::WorkloadLabels;
pub use nvlink::{NvlinkDomain, NvlinkPlan};
pub use program::ProgramPlan;
pub(crate) use rules::FlowRules;
pub use rules::MAX_MESSAGE_BYTES;
pub(crate) use site::Site;

use crate::scenario::Fault;
pub use crate::scenario::workload::WorkloadConfig;
use crate::scenario::workload::{Description, WorkloadKind};

/// The most messages of a flow: all are posted at its start.
const MAX_MESSAGES: u64 = 1 << 20;

/// Makes flows, or an application. Implemented by the `Parameters` of each workload.
pub(crate) trait Workload: Description {
    /// The flows, in the order of the scenario's text.
    fn flows(&self, _site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        Ok(Vec::new())
    }

    /// The place of the multicast group that all flows are to, among those of the site; if they are to a group, they are its
    /// members'.
    fn group(&self, _site: &Site<'_>) -> Option<usize> {
        None
    }

    /// The application, where hosts answer each other.
    fn app(&self, _site: &Site<'_>) -> Result<Option<App>, Fault> {
        Ok(None)
    }
}

/// Every workload of a scenario with its key, in the order that numbers flows.
pub(crate) fn items(config: &WorkloadConfig) -> Vec<(String, &dyn Workload)> {
    config.items().into_iter().map(|(key, kind)| (key, of(kind))).collect()
}

/// What the results call the workload with this key, such as `workload.incast[0]`.
///
/// # Errors
/// If it has a name that tables could not show.
pub(crate) fn labels(key: &str, workload: &dyn Workload) -> Result<WorkloadLabels, Fault> {
    Ok(WorkloadLabels { key: named(None, key)?, name: named(workload.name(), key)? })
}

/// Makes `of` from the kinds of this folder, in braces, and the list of programs; and what makes the work of those.
macro_rules! kinds {
    (
        {$($kind:ident,)*}
        $($(#[doc = $doc:literal])* $program:ident = $name:literal => $module:ident,)*
    ) => {
        /// What makes the work that a scenario describes.
        fn of(kind: WorkloadKind<'_>) -> &dyn Workload {
            match kind {
                $(WorkloadKind::$kind(parameters) => parameters,)*
                $(WorkloadKind::$program(parameters) => parameters,)*
            }
        }

        $(
            impl Workload for rocelab_transport::program::$module::Parameters {
                fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
                    program::app(self, site).map(Some)
                }
            }
        )*
    };
}

rocelab_transport::with_programs! {
    kinds {
        App,
        Flows,
        Incast,
        Multicast,
        Permutation,
        PingPong,
        Poisson,
        Storage,
    }
}
