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

use rocelab_units::{Bandwidth, Duration, Ratio};

use self::reaction_point::ReactionPoint;
pub use self::settings::{AlphaUpdate, Parameters, Preset};
use self::vendor::VendorReactionPoint;
use super::{Algorithm, CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "ECN marks come back as CNPs, which cut the rate";
pub(super) const REFERENCE: &str = "Zhu et al., Congestion Control for Large-Scale RDMA \
    Deployments, SIGCOMM 2015";

impl Definition for Parameters {
    fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        let cnp_interval = self.resolved(line_rate).cnp_interval;
        Feedback::Cnp { min_interval: cnp_interval.unwrap_or(Duration::ZERO) }
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(g) = self.g {
            InvalidParameter::unless_share("g", g)?;
        }
        let alpha = self.initial_alpha.unwrap_or(Ratio::new(1, 1));
        InvalidParameter::unless(
            alpha.numerator() <= alpha.denominator(),
            "initial_alpha",
            &alpha,
            "is no share",
            "give a fraction of at most 1",
        )?;
        if let Some(max_cut) = self.max_cut {
            InvalidParameter::unless_share("max_cut", max_cut)?;
        }
        let times = [
            ("alpha_interval", self.alpha_interval),
            ("increase_timer", self.increase_timer),
            ("rate_decrease_interval", self.rate_decrease_interval),
        ];
        for (key, time) in times {
            time.map_or(Ok(()), |time| InvalidParameter::unless_interval(key, time))?;
        }
        let rates = [
            ("additive_increase", self.additive_increase),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ];
        for (key, rate) in rates {
            rate.map_or(Ok(()), |rate| InvalidParameter::unless_moving(key, rate))?;
        }
        self.validate_form()
    }

    fn effective(&self, line_rate: Bandwidth) -> Option<Algorithm> {
        Some(Algorithm::Dcqcn(self.effective(line_rate)))
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let settings = self.settings(path.line_rate).expect("a preset leaves nothing open");
        match self.preset {
            Preset::Paper => Box::new(ReactionPoint::new(settings)),
            Preset::Hpcc | Preset::Nvidia => Box::new(VendorReactionPoint::new(settings)),
        }
    }
}

impl Parameters {
    /// Refuses what the form of adapters does not have.
    fn validate_form(&self) -> Result<(), InvalidParameter> {
        let of_the_paper = [
            ("alpha_update", self.alpha_update.is_some()),
            ("cut_on_first_cnp", self.cut_on_first_cnp.is_some()),
            ("byte_counter", self.byte_counter.is_some()),
            ("growing_hyper_increase", self.growing_hyper_increase.is_some()),
        ];
        for (key, given) in of_the_paper {
            InvalidParameter::unless(
                self.preset == Preset::Paper || !given,
                key,
                &"this value",
                "is not of this preset's form",
                "leave it out, or use preset = \"paper\"",
            )?;
        }
        Ok(())
    }
}
