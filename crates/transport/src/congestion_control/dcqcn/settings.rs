//! What can be set, and the sets of defaults.

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::arithmetic;

/// Parameters. What is left out comes from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DcqcnParameters")]
pub struct Parameters {
    /// Whose form it is, and where the values come from that are not given here.
    pub preset: Preset,
    /// Weight `g` of alpha's moving average: above 0, at most 1. Paper and hpcc 1/256, nvidia
    /// 5/1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g: Option<Ratio>,
    /// Alpha at the first CNP, 0 to 1. Paper and hpcc 1, nvidia 1023/1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_alpha: Option<Ratio>,
    /// Time after which alpha decays. Paper 55us, hpcc and nvidia 1us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_interval: Option<Duration>,
    /// When alpha grows; paper only. Default: on-cnp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_update: Option<AlphaUpdate>,
    /// The least time between two rate cuts. Paper 50us, hpcc and nvidia 4us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_decrease_interval: Option<Duration>,
    /// Whether the first CNP cuts at once; if not, it waits for rate_decrease_interval. Paper
    /// only. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_on_first_cnp: Option<bool>,
    /// The largest share of the rate that a cut takes, above 0 and at most 1. Paper and hpcc 1,
    /// nvidia 1/2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cut: Option<Ratio>,
    /// Whether each cut lowers the target rate to the rate before it; if not, only one after an
    /// increase does. Paper true, hpcc and nvidia false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp_target_rate: Option<bool>,
    /// The least time between two CNPs for a queue pair, at the receiver. Paper 50us, hpcc 0s (a
    /// CNP for each marked packet), nvidia 4us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp_interval: Option<Duration>,
    /// Time between two increases. Paper 55us, hpcc and nvidia 300us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_timer: Option<Duration>,
    /// Bytes sent between two increases, 0B for none; paper only. Default: 10MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_counter: Option<Bytes>,
    /// Increases `F` that are fast recovery. Paper 5, hpcc and nvidia 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_recovery_threshold: Option<u32>,
    /// Additive increase step. Paper 40Mbps, hpcc 5Mbps per 25Gbps of line rate, nvidia 5Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Bandwidth>,
    /// Hyper increase step. Paper 200Mbps, hpcc 50Mbps per 25Gbps of line rate, nvidia 50Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Bandwidth>,
    /// Whether the i-th hyper increase in a row is i steps; paper only. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growing_hyper_increase: Option<bool>,
    /// The rate does not fall below. Paper 100Mbps, hpcc 1Gbps, nvidia 1Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<Bandwidth>,
}

/// A form of DCQCN, and a set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// That of the paper, and where it gives no value that of its authors' simulator (ns3-rdma).
    #[default]
    Paper,
    /// The form of adapters, as the authors of HPCC (Li et al., SIGCOMM 2019) compare with it:
    /// their simulator's `dcqcn`, where timers take note of congestion and no byte counter runs.
    Hpcc,
    /// The form of adapters with the default registers of NVIDIA's (`mlxconfig`, "DCQCN CC
    /// Parameters"). Their gain (rpg_gd = 11) is the cut by alpha / 2. Their byte counter
    /// (rpg_byte_reset) is not modelled: sources do not agree on its unit.
    Nvidia,
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
    /// A share of the rate.
    pub(super) max_cut: f64,
    pub(super) clamp_target_rate: bool,
    pub(super) increase_timer: Duration,
    /// Bytes between two increases; 0 for none.
    pub(super) byte_counter: u64,
    pub(super) fast_recovery_threshold: u32,
    pub(super) additive_increase: Bandwidth,
    pub(super) hyper_increase: Bandwidth,
    pub(super) growing_hyper_increase: bool,
    /// Not above the line rate, in the paper's form.
    pub(super) min_rate: Bandwidth,
    pub(super) line_rate: Bandwidth,
}

impl Parameters {
    /// These parameters with what is left out filled in from the preset.
    pub fn resolved(&self, line_rate: Bandwidth) -> Self {
        let preset = match self.preset {
            Preset::Paper => paper(),
            Preset::Hpcc => hpcc(line_rate),
            Preset::Nvidia => nvidia(),
        };
        Self {
            preset: self.preset,
            g: self.g.or(preset.g),
            initial_alpha: self.initial_alpha.or(preset.initial_alpha),
            alpha_interval: self.alpha_interval.or(preset.alpha_interval),
            alpha_update: self.alpha_update.or(preset.alpha_update),
            rate_decrease_interval: self.rate_decrease_interval.or(preset.rate_decrease_interval),
            cut_on_first_cnp: self.cut_on_first_cnp.or(preset.cut_on_first_cnp),
            max_cut: self.max_cut.or(preset.max_cut),
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

    /// The same without keys that the preset's form does not have.
    pub(super) fn effective(&self, line_rate: Bandwidth) -> Self {
        let all = self.resolved(line_rate);
        match self.preset {
            Preset::Paper => all,
            Preset::Hpcc | Preset::Nvidia => Self {
                alpha_update: None,
                cut_on_first_cnp: None,
                byte_counter: None,
                growing_hyper_increase: None,
                ..all
            },
        }
    }

    /// The same with nothing left open.
    pub(super) fn settings(&self, line_rate: Bandwidth) -> Option<Settings> {
        let all = self.resolved(line_rate);
        Some(Settings {
            g: all.g?.as_f64(),
            initial_alpha: all.initial_alpha?.as_f64(),
            alpha_interval: all.alpha_interval?,
            alpha_update: all.alpha_update?,
            rate_decrease_interval: all.rate_decrease_interval?,
            cut_on_first_cnp: all.cut_on_first_cnp?,
            max_cut: all.max_cut?.as_f64(),
            clamp_target_rate: all.clamp_target_rate?,
            increase_timer: all.increase_timer?,
            byte_counter: all.byte_counter?.get(),
            fast_recovery_threshold: all.fast_recovery_threshold?,
            additive_increase: all.additive_increase?,
            hyper_increase: all.hyper_increase?,
            growing_hyper_increase: all.growing_hyper_increase?,
            min_rate: self.floor(all.min_rate?, line_rate),
            line_rate,
        })
    }

    /// `min_rate`, in the paper's form at most the line rate: HPCC's ns-3 simulator, whose form that
    /// of adapters is, has no such bound.
    fn floor(&self, min_rate: Bandwidth, line_rate: Bandwidth) -> Bandwidth {
        match self.preset {
            Preset::Paper => min_rate.min(line_rate),
            Preset::Hpcc | Preset::Nvidia => min_rate,
        }
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
        max_cut: Some(Ratio::new(1, 1)),
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
    let scaled = |mbps: u64| {
        arithmetic::scaled(Bandwidth::from_mbps(mbps), Bandwidth::from_gbps(25), line_rate)
    };
    Parameters {
        preset: Preset::Hpcc,
        alpha_interval: Some(Duration::from_us(1)),
        rate_decrease_interval: Some(Duration::from_us(4)),
        clamp_target_rate: Some(false),
        cnp_interval: Some(Duration::ZERO),
        increase_timer: Some(Duration::from_us(300)),
        fast_recovery_threshold: Some(1),
        additive_increase: Some(scaled(5)),
        hyper_increase: Some(scaled(50)),
        min_rate: Some(Bandwidth::from_gbps(1)),
        ..paper()
    }
}

fn nvidia() -> Parameters {
    Parameters {
        preset: Preset::Nvidia,
        // The register holds 1019, which is 1024 (1 - g).
        g: Some(Ratio::new(5, 1024)),
        initial_alpha: Some(Ratio::new(1023, 1024)),
        alpha_interval: Some(Duration::from_us(1)),
        rate_decrease_interval: Some(Duration::from_us(4)),
        max_cut: Some(Ratio::new(1, 2)),
        clamp_target_rate: Some(false),
        cnp_interval: Some(Duration::from_us(4)),
        increase_timer: Some(Duration::from_us(300)),
        fast_recovery_threshold: Some(1),
        additive_increase: Some(Bandwidth::from_mbps(5)),
        hyper_increase: Some(Bandwidth::from_mbps(50)),
        min_rate: Some(Bandwidth::from_mbps(1)),
        ..paper()
    }
}
