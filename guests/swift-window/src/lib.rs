//! A window of Swift (Kumar et al., SIGCOMM 2020): how it follows a delay, and what the sender answers for it.

use rocelab_cc::{Answers, NEVER, Path};

/// A parameter in thousandths.
#[inline]
pub fn part(thousandths: i64) -> f64 {
    thousandths as f64 / 1000.0
}

/// What flow scaling adds to the target: the more, the smaller the window.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    /// The most [ps].
    pub range: f64,
    /// By the inverse root of the window in packets [ps].
    pub slope: f64,
    /// [ps]
    pub offset: f64,
}

impl Scaling {
    /// Five times the least target between two windows in thousandths of a packet.
    pub fn new(base: f64, fs_min: i64, fs_max: i64) -> Self {
        let range = 5.0 * base;
        let (full, none) = (inverse_root(part(fs_min)), inverse_root(part(fs_max)));
        let slope = range / (full - none);
        Self { range, slope, offset: -slope * none }
    }

    /// For a window [ps].
    #[inline]
    pub fn of(&self, cwnd: f64) -> f64 {
        // Not `clamp`: what cannot be would be a panic there.
        (self.slope / cwnd.sqrt() + self.offset).max(0.0).min(self.range)
    }
}

fn inverse_root(cwnd: f64) -> f64 {
    1.0 / cwnd.sqrt()
}

/// How windows grow and shrink.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Packets that are added in a round trip.
    pub additive_increase: f64,
    /// How much of the excess of the delay a cut takes.
    pub beta: f64,
    /// The share that a cut takes at the most.
    pub max_mdf: f64,
    /// The least window in packets.
    pub min_cwnd: f64,
}

/// A window.
#[derive(Debug)]
pub struct Window<'a> {
    /// In packets.
    pub cwnd: &'a mut f64,
    /// When it was cut last [ps]; `NEVER` if it was not.
    pub cut: &'a mut u64,
}

/// When an acknowledgement arrives, and the least time between two cuts then [ps].
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Now.
    pub now: u64,
    /// The round trip.
    pub round: u64,
}

/// What an acknowledgement tells a window.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The delay [ps].
    pub delay: f64,
    /// Its target [ps].
    pub target: f64,
    /// Packets that it acknowledges.
    pub packets: f64,
}

impl Rules {
    /// Keeps `share` of a window, but at least what the largest cut leaves, if the cut before is a round trip ago.
    #[inline]
    pub fn decrease(&self, Window { cwnd, cut }: Window<'_>, at: Moment, share: f64) {
        if *cut == NEVER || at.now.saturating_sub(*cut) >= at.round {
            *cwnd = (*cwnd * share.max(1.0 - self.max_mdf)).max(self.min_cwnd);
            *cut = at.now;
        }
    }

    /// A window follows a delay.
    #[inline]
    pub fn follow(&self, window: Window<'_>, sample: Sample, max_cwnd: f64, at: Moment) {
        let Sample { delay, target, packets } = sample;
        if delay < target {
            let cwnd = window.cwnd;
            let gain = self.additive_increase * packets;
            let gain = if *cwnd >= 1.0 { gain / *cwnd } else { gain };
            *cwnd = (*cwnd + gain).min(max_cwnd);
        } else {
            self.decrease(window, at, 1.0 - self.beta * (delay - target) / delay);
        }
    }
}

/// The window in packets that fills a path at the line rate for a time [ps].
#[inline]
pub fn filling(path: &Path, time: f64, packet: f64) -> f64 {
    (time * path.line_rate as f64 / 8.0 / 1e12 / packet).max(1.0)
}

/// Answers for a window of so many packets of `packet` bytes: below one packet, by pacing.
#[inline]
pub fn answer(cwnd: f64, packet: f64, rtt: u64, path: &Path, answers: &mut Answers) {
    answers.window = ((cwnd * packet) as u64).max(1);
    answers.rate = path.line_rate;
    if cwnd < 1.0 {
        let seconds = rtt.max(1) as f64 / 1e12;
        let rate = cwnd * packet * 8.0 / seconds;
        answers.rate = (rate as u64).clamp(1, path.line_rate.max(1));
    }
}
