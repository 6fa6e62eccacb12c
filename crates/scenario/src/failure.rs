//! `[[failure]]`: what breaks, when, and for how long; and `[watchdog]`, who notices.

use rocelab_fabric::topology::{self, Rate};
use rocelab_units::{Bandwidth, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads a rate, or the name of one.
fn rate_or_name<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Bandwidth>, D::Error> {
    topology::rate_or_name(deserializer).map(Some)
}

/// Something that breaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// What happens.
    pub kind: FailureKind,
    /// With `link-down` and `link-rate`: a port of the link, such as `leaf-0:3`, or ports of several links, as in
    /// `[capture]`: `leaf-*:16`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// With `switch-reboot`: the switch, or several at once, such as `spine-*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// With `pause-storm` and `host-down`: the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// With `link-rate`: the rate meanwhile, at most that of the link; written as that is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "rate_or_name")]
    #[schemars(with = "Option<Rate>")]
    pub rate: Option<Bandwidth>,
    /// With `pause-storm`: the priorities that are paused. Default: the lossless ones of its switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<u8>>,
    /// When it begins.
    pub at: SimTime,
    /// For how long. Default: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Duration>,
    /// How often, at least 1: more than once, it flaps.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    #[schemars(range(min = 1, max = 100_000))]
    pub repeat: u32,
    /// From one beginning to the next, longer than `lasts`; required with `repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
}

impl FailureConfig {
    /// Something that happens once, from then to the end of the run.
    pub fn new(kind: FailureKind, at: SimTime) -> Self {
        Self {
            kind,
            port: None,
            switch: None,
            host: None,
            rate: None,
            priorities: None,
            at,
            lasts: None,
            repeat: once(),
            interval: None,
        }
    }
}

const fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_once(repeat: &u32) -> bool {
    *repeat == 1
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A link carries nothing, in both directions; what waits for it and is on it is lost.
    LinkDown,
    /// A link runs at a lower rate, in both directions.
    LinkRate,
    /// All links of a switch are down, and its memory is empty afterwards.
    SwitchReboot,
    /// A NIC handles nothing that arrives, and asks for pauses without end.
    PauseStorm,
    /// A host is dead: it sends nothing and handles nothing that arrives. Its link stays up.
    HostDown,
}

impl FailureKind {
    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkDown => "link-down",
            Self::LinkRate => "link-rate",
            Self::SwitchReboot => "switch-reboot",
            Self::PauseStorm => "pause-storm",
            Self::HostDown => "host-down",
        }
    }
}

/// Who ends pauses that do not end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatchdogConfig {
    /// At the egress queues of switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<SwitchWatchdogConfig>,
    /// In NICs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicWatchdogConfig>,
}

/// A watchdog of every egress queue of every switch: a queue of which a priority has been paused for
/// `detect` and which holds frames is in a storm, until none of its priorities has been paused for
/// `restore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchWatchdogConfig {
    /// How long a queue is paused without a break before that is a storm.
    pub detect: Duration,
    /// How long no pause must come before the queue is as it was.
    pub restore: Duration,
    /// How often the watchdog looks.
    pub poll: Duration,
    /// What becomes of the frames of a queue in a storm.
    pub action: WatchdogAction,
}

impl Default for SwitchWatchdogConfig {
    fn default() -> Self {
        Self {
            detect: Duration::from_ms(200),
            restore: Duration::from_ms(200),
            poll: Duration::from_ms(200),
            action: WatchdogAction::Drop,
        }
    }
}

/// What becomes of the frames of a queue in a storm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogAction {
    /// They are dropped, those that wait and those that come.
    #[default]
    Drop,
    /// They are sent, in spite of the pauses.
    Forward,
}

/// A watchdog of every NIC: if it has handled nothing for `detect` and asked for pauses meanwhile, it
/// asks for none any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NicWatchdogConfig {
    /// How long it waits.
    pub detect: Duration,
}

impl Default for NicWatchdogConfig {
    fn default() -> Self {
        Self { detect: Duration::from_ms(100) }
    }
}
