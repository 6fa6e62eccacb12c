//! DCQCN: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015.
//!
//! The reaction point of a queue pair keeps a rate `Rc`, a target rate `Rt` and an estimate
//! `alpha` of the congestion:
//!
//! ```text
//! on a CNP, at most once per rate_decrease_interval (an earlier one waits for its end):
//!     Rt = Rc,  Rc = Rc (1 - alpha / 2),  alpha = (1 - g) alpha + g
//! each alpha_interval without one:
//!     alpha = (1 - g) alpha
//! each increase_timer, and each byte_counter bytes sent (T and B count these since the cut):
//!     max(T, B) < F      fast recovery
//!     min(T, B) > F      hyper increase       Rt += i hyper_increase,  i = min(T, B) - F
//!     otherwise          additive increase    Rt += additive_increase
//!     and always         Rc = (Rt + Rc) / 2
//! ```
//!
//! `T` and `B` are counted before the step, so that `F` steps are fast recovery. Without a byte
//! counter `T` stands for both. No timer runs at the line rate, and `alpha`, which is only looked
//! at on a cut, is brought up to date there.
//!
//! Adapters have another form, without a byte counter and with a timer that looks whether there
//! was a CNP: `vendor.rs` has its formulas. The presets `hpcc` and `nvidia` are of this form.

#[cfg(test)]
mod golden;
mod reaction_point;
mod settings;
mod vendor;

pub use settings::{AlphaUpdate, Parameters, Preset};

pub(super) const SUMMARY: &str = "ECN marks come back as CNPs, which cut the rate";
pub(super) const REFERENCE: &str = "Zhu et al., Congestion Control for Large-Scale RDMA \
    Deployments, SIGCOMM 2015";
