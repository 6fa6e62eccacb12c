//! What can be set, and the two sets of defaults.

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reaction_point::ReactionPoint;
use crate::congestion_control::{CongestionControl, Definition, Feedback, InvalidParameter};

/// Longest interval: times far in the future still fit.
const MAX_INTERVAL: Duration = Duration::from_ms(3_600_000);

/// Parameters. What is left out comes from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DcqcnParameters")]
pub struct Parameters {
    /// Where the values come from that are not given here.
    pub preset: Preset,
    /// Weight `g` of alpha's moving average: above 0, at most 1. Paper and hpcc: 1/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g: Option<Ratio>,
    /// Alpha at the first CNP, 0 to 1. Paper and hpcc: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_alpha: Option<Ratio>,
    /// Time after which alpha decays. Paper 55us, hpcc 1us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_interval: Option<Duration>,
    /// When alpha grows. Paper: on-cnp, hpcc: periodic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_update: Option<AlphaUpdate>,
    /// The least time between two rate cuts. Paper 50us, hpcc 4us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_decrease_interval: Option<Duration>,
    /// Whether the first CNP cuts at once; if not, it waits for rate_decrease_interval. Paper
    /// true, hpcc false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_on_first_cnp: Option<bool>,
    /// Whether each cut lowers the target rate to the rate before it; if not, only one after an
    /// increase does. Paper true, hpcc false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp_target_rate: Option<bool>,
    /// The least time between two CNPs for a queue pair, at the receiver. Paper 50us, hpcc 0s (a
    /// CNP for each marked packet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp_interval: Option<Duration>,
    /// Time between two increases. Paper 55us, hpcc 300us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_timer: Option<Duration>,
    /// Bytes sent between two increases; 0B for none. Paper 10MB, hpcc none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_counter: Option<Bytes>,
    /// Increases `F` that are fast recovery. Paper 5, hpcc 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_recovery_threshold: Option<u32>,
    /// Additive increase step. Paper 40Mbps, hpcc 5Mbps per 25Gbps of line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Bandwidth>,
    /// Hyper increase step. Paper 200Mbps, hpcc 50Mbps per 25Gbps of line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Bandwidth>,
    /// Whether the i-th hyper increase in a row is i steps. Paper true, hpcc false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growing_hyper_increase: Option<bool>,
    /// The rate does not fall below. Paper 100Mbps, hpcc 1Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<Bandwidth>,
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Those of the paper, and where it gives none those of its authors' simulator (ns3-rdma).
    #[default]
    Paper,
    /// Those that the authors of HPCC (Li et al., SIGCOMM 2019) compare with: their simulator's
    /// `dcqcn`, where a timer takes note of congestion and no byte counter runs.
    Hpcc,
}

/// When alpha grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaUpdate {
    /// At each cut, which also restarts alpha_interval.
    OnCnp,
    /// At the end of each alpha_interval in which a CNP arrived.
    Periodic,
}

/// Parameters with nothing left open, for one line rate.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) g: f64,
    pub(super) initial_alpha: f64,
    pub(super) alpha_interval: Duration,
    pub(super) alpha_update: AlphaUpdate,
    pub(super) rate_decrease_interval: Duration,
    pub(super) cut_on_first_cnp: bool,
    pub(super) clamp_target_rate: bool,
    pub(super) increase_timer: Duration,
    /// Bytes between two increases; 0 for none.
    pub(super) byte_counter: u64,
    pub(super) fast_recovery_threshold: u32,
    pub(super) additive_increase: f64,
    pub(super) hyper_increase: f64,
    pub(super) growing_hyper_increase: bool,
    pub(super) min_rate: f64,
    pub(super) line_rate: f64,
}

impl Parameters {
    /// These parameters with what is left out filled in from the preset.
    pub fn resolved(&self, line_rate: Bandwidth) -> Self {
        let preset = match self.preset {
            Preset::Paper => paper(),
            Preset::Hpcc => hpcc(line_rate),
        };
        Self {
            preset: self.preset,
            g: self.g.or(preset.g),
            initial_alpha: self.initial_alpha.or(preset.initial_alpha),
            alpha_interval: self.alpha_interval.or(preset.alpha_interval),
            alpha_update: self.alpha_update.or(preset.alpha_update),
            rate_decrease_interval: self.rate_decrease_interval.or(preset.rate_decrease_interval),
            cut_on_first_cnp: self.cut_on_first_cnp.or(preset.cut_on_first_cnp),
            clamp_target_rate: self.clamp_target_rate.or(preset.clamp_target_rate),
            cnp_interval: self.cnp_interval.or(preset.cnp_interval),
            increase_timer: self.increase_timer.or(preset.increase_timer),
            byte_counter: self.byte_counter.or(preset.byte_counter),
            fast_recovery_threshold: self
                .fast_recovery_threshold
                .or(preset.fast_recovery_threshold),
            additive_increase: self.additive_increase.or(preset.additive_increase),
            hyper_increase: self.hyper_increase.or(preset.hyper_increase),
            growing_hyper_increase: self.growing_hyper_increase.or(preset.growing_hyper_increase),
            min_rate: self.min_rate.or(preset.min_rate),
        }
    }

    fn settings(&self, line_rate: Bandwidth) -> Option<Settings> {
        let all = self.resolved(line_rate);
        let bits = |rate: Bandwidth| rate.bits_per_second() as f64;
        Some(Settings {
            g: all.g?.as_f64(),
            initial_alpha: all.initial_alpha?.as_f64(),
            alpha_interval: all.alpha_interval?,
            alpha_update: all.alpha_update?,
            rate_decrease_interval: all.rate_decrease_interval?,
            cut_on_first_cnp: all.cut_on_first_cnp?,
            clamp_target_rate: all.clamp_target_rate?,
            increase_timer: all.increase_timer?,
            byte_counter: all.byte_counter?.get(),
            fast_recovery_threshold: all.fast_recovery_threshold?,
            additive_increase: bits(all.additive_increase?),
            hyper_increase: bits(all.hyper_increase?),
            growing_hyper_increase: all.growing_hyper_increase?,
            min_rate: bits(all.min_rate?).min(bits(line_rate)),
            line_rate: bits(line_rate),
        })
    }
}

fn paper() -> Parameters {
    Parameters {
        preset: Preset::Paper,
        g: Some(Ratio::new(1, 256)),
        initial_alpha: Some(Ratio::new(1, 1)),
        alpha_interval: Some(Duration::from_us(55)),
        alpha_update: Some(AlphaUpdate::OnCnp),
        rate_decrease_interval: Some(Duration::from_us(50)),
        cut_on_first_cnp: Some(true),
        clamp_target_rate: Some(true),
        cnp_interval: Some(Duration::from_us(50)),
        increase_timer: Some(Duration::from_us(55)),
        byte_counter: Some(Bytes::new(10_000_000)),
        fast_recovery_threshold: Some(5),
        additive_increase: Some(Bandwidth::from_mbps(40)),
        hyper_increase: Some(Bandwidth::from_mbps(200)),
        growing_hyper_increase: Some(true),
        min_rate: Some(Bandwidth::from_mbps(100)),
    }
}

fn hpcc(line_rate: Bandwidth) -> Parameters {
    const REFERENCE_RATE: u64 = 25_000_000_000;
    let scaled = |mbps: u64| {
        let bits = u128::from(mbps * 1_000_000) * u128::from(line_rate.bits_per_second());
        Bandwidth::from_bps(u64::try_from(bits / u128::from(REFERENCE_RATE)).unwrap_or(u64::MAX))
    };
    Parameters {
        preset: Preset::Hpcc,
        alpha_interval: Some(Duration::from_us(1)),
        alpha_update: Some(AlphaUpdate::Periodic),
        rate_decrease_interval: Some(Duration::from_us(4)),
        cut_on_first_cnp: Some(false),
        clamp_target_rate: Some(false),
        cnp_interval: Some(Duration::ZERO),
        increase_timer: Some(Duration::from_us(300)),
        byte_counter: Some(Bytes::ZERO),
        fast_recovery_threshold: Some(1),
        additive_increase: Some(scaled(5)),
        hyper_increase: Some(scaled(50)),
        growing_hyper_increase: Some(false),
        min_rate: Some(Bandwidth::from_gbps(1)),
        ..paper()
    }
}

impl Definition for Parameters {
    fn feedback(&self) -> Feedback {
        // No preset's CNP interval depends on the line rate.
        let cnp_interval = self.resolved(Bandwidth::from_gbps(25)).cnp_interval;
        Feedback::Cnp { min_interval: cnp_interval.unwrap_or(Duration::ZERO) }
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        let share = |ratio: Ratio| ratio.numerator() <= ratio.denominator();
        let g = self.g.unwrap_or(Ratio::new(1, 256));
        InvalidParameter::unless(
            share(g) && g.numerator() > 0,
            "g",
            &g,
            "is no weight of an average",
            "give a fraction above 0 and at most 1, such as \"1/256\"",
        )?;
        let alpha = self.initial_alpha.unwrap_or(Ratio::new(1, 1));
        InvalidParameter::unless(
            share(alpha),
            "initial_alpha",
            &alpha,
            "is no share",
            "give a fraction of at most 1",
        )?;
        let times = [
            ("alpha_interval", self.alpha_interval),
            ("increase_timer", self.increase_timer),
            ("rate_decrease_interval", self.rate_decrease_interval),
        ];
        for (key, time) in times {
            InvalidParameter::unless(
                time != Some(Duration::ZERO),
                key,
                &time.unwrap_or_default(),
                "would expire without end",
                "give a time above 0s, such as \"55us\"",
            )?;
            InvalidParameter::unless(
                time.is_none_or(|time| time <= MAX_INTERVAL),
                key,
                &time.unwrap_or_default(),
                "is longer than any run",
                "give at most 3600s",
            )?;
        }
        let rates = [
            ("additive_increase", self.additive_increase),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ];
        for (key, rate) in rates {
            InvalidParameter::unless(
                rate != Some(Bandwidth::from_bps(0)),
                key,
                &rate.unwrap_or_default(),
                "lets a slow queue pair stop for ever",
                "give a rate above 0bps, such as \"40Mbps\"",
            )?;
        }
        Ok(())
    }

    fn build(&self, line_rate: Bandwidth) -> Box<dyn CongestionControl> {
        let settings = self.settings(line_rate).expect("a preset leaves nothing open");
        Box::new(ReactionPoint::new(settings))
    }
}
