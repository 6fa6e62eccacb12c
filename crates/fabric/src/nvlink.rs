//! NVLink: how hosts of a server are joined beside the network.
//!
//! A host here is a GPU with its NIC. In a *domain* of NVLink each host has one way out and one way in, both of the same
//! rate. NVSwitches between them do not block: a transfer meets no others but at the host that it leaves and at the one
//! that it reaches.

use rocelab_units::{Bandwidth, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::{MAX_DELAY, RATES};

/// `nvlink` of `[[server]]`: what is given takes the place of the preset's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NvlinkConfig {
    /// What joins the hosts.
    #[serde(default)]
    pub model: NvlinkModel,
    /// Rate of each host in each direction: that of all its links together. Default: the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// From the start of a transfer until its first byte reaches the other host, through NVSwitches and all: 1ns to 1s.
    /// Default: 500ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The part of the rate that payload gets, above 0 and up to 1. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
    /// Cuts messages into packets of this size, so that messages to different hosts take turns: at least 64B. Default: a
    /// message is one transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
}

/// What joins the hosts of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NvlinkModel {
    /// Every host has one way out and one way in, as with NVSwitches that do not block.
    #[default]
    Port,
}

/// A domain of NVLink with all its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nvlink {
    /// Rate of each host in each direction.
    pub rate: Bandwidth,
    /// From the start of a transfer until its first byte reaches the other host; not zero.
    pub delay: Duration,
    /// The part of the rate that payload gets, above 0 and up to 1.
    pub efficiency: f64,
    /// The size of packets, if messages are cut.
    pub packet: Option<Bytes>,
}

/// A value of [`NvlinkConfig`] that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidNvlink {
    /// Its key.
    pub key: &'static str,
    /// As it is written.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

/// The delay of a domain of which nothing says another.
pub const DEFAULT_NVLINK_DELAY: Duration = Duration::from_ns(500);

/// The shortest delay: hosts affect each other after some time only, and windows of parallel parts are as long as this.
const LEAST_DELAY: Duration = Duration::from_ns(1);

/// The smallest packet.
const LEAST_PACKET: u64 = 64;

impl NvlinkConfig {
    /// The domain, with the rate of a `preset` where none is given.
    ///
    /// # Errors
    /// The first value that cannot be.
    pub fn resolve(&self, preset: Option<ServerPreset>) -> Result<Nvlink, InvalidNvlink> {
        let Some(rate) = self.rate.or(preset.map(|preset| preset.nvlink_rate())) else {
            return Err(invalid("rate", &"none", "nothing says how fast NVLink is", RATE_FIX));
        };
        if !RATES.contains(&rate) {
            let problem = format!("a rate is from {} to {}", RATES.start(), RATES.end());
            return Err(invalid("rate", &rate, problem, RATE_FIX));
        }
        let delay = self.delay.unwrap_or(DEFAULT_NVLINK_DELAY);
        if !(LEAST_DELAY..=MAX_DELAY).contains(&delay) {
            let problem = "hosts reach each other after some time, and within a second";
            return Err(invalid("delay", &delay, problem, "give 1ns to 1s, such as \"500ns\""));
        }
        let efficiency = self.efficiency.unwrap_or(1.0);
        let used = part_of(rate, efficiency);
        if !(efficiency > 0.0 && efficiency <= 1.0 && RATES.contains(&used)) {
            let problem = "it is the part of the rate that payload gets";
            let fix = "give a number above 0 and up to 1, such as 0.82";
            return Err(invalid("efficiency", &efficiency, problem, fix));
        }
        if let Some(packet) = self.packet
            && packet.get() < LEAST_PACKET
        {
            let problem = "packets of NVLink are not that small";
            return Err(invalid("packet", &packet, problem, "give at least 64B, such as \"4KiB\""));
        }
        Ok(Nvlink { rate, delay, efficiency, packet: self.packet })
    }
}

const RATE_FIX: &str = "give `rate`, such as \"3600Gbps\", or a `preset`";

fn invalid(
    key: &'static str,
    value: &impl ToString,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> InvalidNvlink {
    InvalidNvlink { key, value: value.to_string(), problem: problem.into(), fix: fix.into() }
}

/// This part of a rate, rounded down to a bit per second: one IEEE 754 multiplication, so the same on every machine.
fn part_of(rate: Bandwidth, efficiency: f64) -> Bandwidth {
    if efficiency >= 1.0 {
        return rate;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let bits = (rate.bits_per_second() as f64 * efficiency) as u64;
    Bandwidth::from_bps(bits)
}

impl Nvlink {
    /// The rate that payload gets.
    pub fn payload_rate(&self) -> Bandwidth {
        part_of(self.rate, self.efficiency)
    }

    /// The same domain as a scenario says it, with all values.
    pub fn to_config(&self) -> NvlinkConfig {
        NvlinkConfig {
            model: NvlinkModel::Port,
            rate: Some(self.rate),
            delay: Some(self.delay),
            efficiency: Some(self.efficiency),
            packet: self.packet,
        }
    }
}

/// Makes the presets from one list: the key, GPUs of a server, the rate of NVLink of a GPU in one direction and that of its NIC
/// (Gbit/s each).
macro_rules! presets {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal: $gpus:literal, $nvlink:literal, $nic:literal;)*) => {
        /// Servers as they are sold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum ServerPreset {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl ServerPreset {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The scenario's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// GPUs in a domain of NVLink, each with a NIC.
            pub const fn gpus(self) -> usize {
                match self { $(Self::$variant => $gpus,)* }
            }

            /// The rate of NVLink of a GPU in each direction.
            pub const fn nvlink_rate(self) -> Bandwidth {
                match self { $(Self::$variant => Bandwidth::from_gbps($nvlink),)* }
            }

            /// The rate of a GPU's NIC.
            pub const fn nic_rate(self) -> Bandwidth {
                match self { $(Self::$variant => Bandwidth::from_gbps($nic),)* }
            }
        }
    };
}

presets! {
    /// NVIDIA DGX A100: 12 links of 25 GB/s a GPU, NICs of 200 Gbit/s.
    DgxA100 = "dgx-a100": 8, 2_400, 200;
    /// NVIDIA DGX H100 and H200: 18 links of 25 GB/s a GPU, NICs of 400 Gbit/s.
    DgxH100 = "dgx-h100": 8, 3_600, 400;
    /// Servers with H800: NVLink of 200 GB/s a GPU, NICs of 400 Gbit/s.
    H800 = "h800": 8, 1_600, 400;
    /// NVIDIA HGX B200: 18 links of 50 GB/s a GPU, NICs of 400 Gbit/s.
    B200 = "b200": 8, 7_200, 400;
    /// NVIDIA GB200 NVL72: 72 GPUs in one domain, 18 links of 50 GB/s each, NICs of 400 Gbit/s.
    Gb200Nvl72 = "gb200-nvl72": 72, 7_200, 400;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: &NvlinkConfig) -> Option<&'static str> {
        config.resolve(Some(ServerPreset::DgxH100)).err().map(|error| error.key)
    }

    #[test]
    fn a_preset_has_the_values_of_its_table_and_each_can_be_another() {
        let preset = Some(ServerPreset::DgxH100);
        let plain = NvlinkConfig::default().resolve(preset).unwrap();
        assert_eq!(plain.rate.bits_per_second(), 8 * 450_000_000_000);
        assert_eq!(
            (plain.delay, plain.efficiency, plain.packet),
            (DEFAULT_NVLINK_DELAY, 1.0, None)
        );
        let rate = Bandwidth::from_gbps(1_600);
        let own = NvlinkConfig { rate: Some(rate), efficiency: Some(0.5), ..Default::default() };
        let own = own.resolve(preset).unwrap();
        assert_eq!((own.rate, own.payload_rate()), (rate, Bandwidth::from_gbps(800)));
        let again = own.to_config().resolve(None).unwrap();
        assert_eq!(again, own, "a resolved domain needs no preset");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let plain = NvlinkConfig::default();
        assert_eq!(plain.resolve(None).unwrap_err().key, "rate");
        let rate = Some(Bandwidth::from_bps(0));
        assert_eq!(refused(&NvlinkConfig { rate, ..plain.clone() }), Some("rate"));
        for delay in [Duration::ZERO, Duration::from_ps(999), Duration::from_ms(1_001)] {
            let config = NvlinkConfig { delay: Some(delay), ..plain.clone() };
            assert_eq!(refused(&config), Some("delay"), "{delay}");
        }
        for efficiency in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY, 1e-12] {
            let config = NvlinkConfig { efficiency: Some(efficiency), ..plain.clone() };
            assert_eq!(refused(&config), Some("efficiency"), "{efficiency}");
        }
        let packet = Some(Bytes::new(63));
        assert_eq!(refused(&NvlinkConfig { packet, ..plain.clone() }), Some("packet"));
        assert_eq!(refused(&plain), None);
    }

    #[test]
    fn presets_are_called_as_scenarios_call_them() {
        for preset in ServerPreset::ALL {
            let text = serde_json::to_string(preset).unwrap();
            assert_eq!(text, format!("\"{}\"", preset.name()));
        }
    }
}
