//! Congestion control of InfiniBand (IBTA Volume 1, Annex A10): a channel adapter leaves time between its packets, by a table.
//!
//! A switch that is the root of congestion sets FECN in packets. The adapter that receives one has BECN go back to the sender, by
//! a congestion notification packet (CN) or by the next acknowledgement. The sender keeps an index into the congestion control
//! table (`CCTI`):
//!
//! ```text
//! on BECN:                CCTI = min(CCTI + ccti_increase, ccti_limit); starts the timer, if it does not run
//! each ccti_timer:        CCTI = CCTI - 1, down to ccti_min, where the timer ends
//! after each packet:      wait (T >> shift) x multiplier,   T: the time that the packet took on the link
//! ```
//!
//! `shift:multiplier` is the entry of the table at that index. So the rate is the line rate / (1 + multiplier / 2^shift).
//!
//! The rules are those of Linux's hfi1 (`process_becn`, `cca_timer_fn`); the usual values those of Gran et al., IPDPS 2010.

#[cfg(test)]
mod golden;
mod table;

use rocelab_units::{Bandwidth, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::table::{Entry, entries};
use super::{Ack, CongestionControl, Definition, Feedback, InvalidParameter, Path, Timers};

pub(super) const SUMMARY: &str = "InfiniBand: FECN marks, and delays from a table";
pub(super) const REFERENCE: &str = "IBTA Volume 1, Annex A10; Gran et al., IPDPS 2010";

/// Expires at the next step down the table.
const RECOVERY: usize = 0;

/// What `ccti_timer` is counted in.
const TIMER_UNIT: Duration = Duration::from_ns(1_024);

/// Parameters. Needs `[infiniband]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "InfiniBandCongestionControlParameters")]
pub struct Parameters {
    /// How the receiver tells the sender of a mark: by a packet of its own at once (`"cn"`), or in the next acknowledgement
    /// (`"ack"`; reliable connections only).
    pub notification: Notification,
    /// What BECN adds to the index, 1 to 255.
    pub ccti_increase: u8,
    /// The index does not rise above: the last entry of the table that is used.
    pub ccti_limit: u16,
    /// The index does not fall below, and starts there.
    pub ccti_min: u8,
    /// The index falls by one each time: a multiple of 1.024 us, at most 67.107840 ms.
    pub ccti_timer: Duration,
    /// The entries of the congestion control table, from index 0 on, in OpenSM's form `"shift:multiplier"`: shift 0 to 3,
    /// multiplier 0 to 16383. The first must be `"0:0"`. Default: entry i is `"0:i"`, up to `ccti_limit`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<String>,
}

/// How BECN comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Notification {
    /// By a congestion notification packet for each packet with FECN.
    #[default]
    Cn,
    /// By the BECN bit of the next acknowledgement, be it for one or several packets with FECN.
    Ack,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            notification: Notification::Cn,
            ccti_increase: 1,
            ccti_limit: 127,
            ccti_min: 0,
            ccti_timer: TIMER_UNIT * 150,
            table: Vec::new(),
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        match self.notification {
            Notification::Cn => Feedback::Cnp { min_interval: Duration::ZERO },
            Notification::Ack => Feedback::EcnEcho,
        }
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        let increase = &self.ccti_increase;
        InvalidParameter::unless(
            *increase > 0,
            "ccti_increase",
            increase,
            "no notification would change anything",
            "give 1 to 255",
        )?;
        InvalidParameter::unless(
            u16::from(self.ccti_min) <= self.ccti_limit,
            "ccti_min",
            &self.ccti_min,
            "it is above `ccti_limit`",
            "give at most `ccti_limit`",
        )?;
        let (timer, unit) = (self.ccti_timer.ps(), TIMER_UNIT.ps());
        let is_counted =
            timer.is_multiple_of(unit) && (1..=u16::MAX.into()).contains(&(timer / unit));
        InvalidParameter::unless(
            is_counted,
            "ccti_timer",
            &self.ccti_timer,
            "it is counted in units of 1.024 us, of which there are 1 to 65535",
            "give a multiple of 1.024us, such as 153.6us",
        )?;
        self.check_table()
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let table = entries(&self.table, self.ccti_limit).unwrap_or_default();
        let mut control = TableControl {
            line_rate: path.line_rate,
            table,
            increase: self.ccti_increase.into(),
            limit: self.ccti_limit,
            min: self.ccti_min.into(),
            period: self.ccti_timer,
            index: self.ccti_min.into(),
            rate: path.line_rate,
            timers: Timers::new(),
        };
        control.update_rate();
        Box::new(control)
    }
}

impl Parameters {
    fn check_table(&self) -> Result<(), InvalidParameter> {
        let read = entries(&self.table, self.ccti_limit);
        let wrong: &dyn core::fmt::Display = match &read {
            Ok(_) => &"",
            Err(text) => text,
        };
        let fix = "write \"shift:multiplier\", of 0 to 3 and 0 to 16383";
        InvalidParameter::unless(read.is_ok(), "table", wrong, "it is no entry of a table", fix)?;
        let table = read.unwrap_or_default();
        let first = self.table.first().map_or("0:0", String::as_str);
        InvalidParameter::unless(
            table.first().is_some_and(|first| first.multiplier == 0),
            "table",
            &first,
            "the first entry is that without a delay",
            "begin with \"0:0\"",
        )?;
        InvalidParameter::unless(
            usize::from(self.ccti_limit) < table.len(),
            "ccti_limit",
            &self.ccti_limit,
            "the table has no such entry",
            "give more entries, or a smaller `ccti_limit` (without a table at most 16383)",
        )
    }
}

/// The injection rate control of one queue pair.
#[derive(Debug)]
struct TableControl {
    line_rate: Bandwidth,
    table: Vec<Entry>,
    increase: u16,
    limit: u16,
    min: u16,
    period: Duration,
    /// `CCTI`.
    index: u16,
    /// What the entry there says.
    rate: Bandwidth,
    timers: Timers,
}

// A checkpoint has the values; what is kept comes from the scenario.
rocelab_state::state!(TableControl {
    values: index, rate, timers;
    kept: line_rate, table, increase, limit, min, period
});

impl TableControl {
    /// BECN came back.
    fn slow_down(&mut self, now: SimTime) {
        self.index = self.index.saturating_add(self.increase).min(self.limit);
        // A timer that runs goes on: notifications do not put off the recovery.
        if self.index > self.min && self.timers.deadline(RECOVERY) == SimTime::NEVER {
            self.timers.arm(RECOVERY, now.saturating_add(self.period));
        }
        self.update_rate();
    }

    fn update_rate(&mut self) {
        let entry = self.table.get(usize::from(self.index)).copied().unwrap_or_default();
        self.rate = entry.rate(self.line_rate);
    }
}

impl CongestionControl for TableControl {
    fn rate(&self) -> Bandwidth {
        self.rate
    }

    fn on_cnp(&mut self, now: SimTime) {
        self.slow_down(now);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.ecn_echo {
            self.slow_down(ack.now);
        }
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if self.timers.deadline(timer) > now {
            return;
        }
        // A branch of a run may have other limits than those by which the index rose.
        self.index = self.index.saturating_sub(1).clamp(self.min, self.limit);
        if self.index > self.min {
            self.timers.arm(RECOVERY, now.saturating_add(self.period));
        } else {
            self.timers.stop(RECOVERY);
        }
        self.update_rate();
    }
}
