//! The rules behind verdicts, with their thresholds. `docs/report.md` has the same words, which a test compares.

use rocelab_results::Millionths;

use super::verdicts::Level;

/// A tail slowdown up to this is good.
const GOOD_SLOWDOWN: u64 = 10;
/// A tail slowdown above this is a problem.
const BAD_SLOWDOWN: u64 = 50;
/// An operation in the tail may take this many times as long as the median.
const GOOD_OPERATION: u64 = 3;
/// An operation in the tail that takes more times as long as the median is a problem.
const BAD_OPERATION: u64 = 10;
/// More open flows than this share of all are a problem (percent).
const MOST_OPEN_PERCENT: u64 = 50;
/// A port that was paused for a larger share of the run is a problem (percent).
const BAD_PAUSED_PERCENT: u64 = 50;
/// A port that was paused for a larger share of the run is a note (percent).
const NOTED_PAUSED_PERCENT: u64 = 10;
/// A link that sends for a larger share of the run is a bottleneck (percent).
const BUSY_PERCENT: u64 = 95;
/// Jain's index from this on is good (thousandths).
const GOOD_FAIRNESS: u64 = 900;
/// Jain's index below this is a problem (thousandths).
const BAD_FAIRNESS: u64 = 700;

/// What a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Interrupted,
    Branch,
    Measured,
    Completion,
    TailLatency,
    OperationLatency,
    Stall,
    Deadlock,
    Storms,
    Pauses,
    Drops,
    Fairness,
    Utilisation,
    Failures,
    Integrity,
    IdleQueuePair,
}

impl Rule {
    /// All rules, in the order of the documentation.
    #[cfg(test)]
    const ALL: [Self; 16] = [
        Self::Interrupted,
        Self::Branch,
        Self::Measured,
        Self::Completion,
        Self::TailLatency,
        Self::OperationLatency,
        Self::Stall,
        Self::Deadlock,
        Self::Storms,
        Self::Pauses,
        Self::Drops,
        Self::Fairness,
        Self::Utilisation,
        Self::Failures,
        Self::Integrity,
        Self::IdleQueuePair,
    ];

    /// The rule in words.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Interrupted => "A run that was interrupted is a problem.".to_owned(),
            Self::Branch => {
                "A run that goes on from a checkpoint of another is a note: its beginning is the other's."
                    .to_owned()
            }
            Self::Measured => "A measuring window is a note: figures of flows, operations and links are of it. One \
                               that the run did not reach is a problem."
                .to_owned(),
            Self::Completion => format!(
                "Good if all flows, and all operations, completed; a note if some were open at the end; a problem \
                 if more than {MOST_OPEN_PERCENT} % were, or if any failed."
            ),
            Self::TailLatency => format!(
                "The 99th percentile of slowdown, or the highest that so many flows support: good up to \
                 {GOOD_SLOWDOWN}, a problem above {BAD_SLOWDOWN}. Slowdown is against an empty network: N flows \
                 that share a link need N times as long."
            ),
            Self::OperationLatency => format!(
                "The 99th percentile of latency, or the highest that so many operations support, against the \
                 median: good up to {GOOD_OPERATION} times, a problem above {BAD_OPERATION} times."
            ),
            Self::Stall => "Good if nothing was stuck or frozen and no timeout expired; a timeout is a note, the \
                            others are problems."
                .to_owned(),
            Self::Deadlock => "Queues that wait for each other for ever are a problem.".to_owned(),
            Self::Storms => format!(
                "The port that was paused the most, over its priorities together: a note above \
                 {NOTED_PAUSED_PERCENT} % of the run, a problem above {BAD_PAUSED_PERCENT} %. What a watchdog \
                 takes for a storm is a problem."
            ),
            Self::Pauses => "Good without any pause, else a note. On InfiniBand: good if no lane waited for credits, else a note.".to_owned(),
            Self::Drops => "Good without any drop; a dropped frame of a lossless priority is a problem, others \
                            are a note."
                .to_owned(),
            Self::Fairness => format!(
                "Jain's index of the goodputs of flows of equal size, priority and transport that began together at one \
                 receiver, and so share its link; of several such groups the lowest: good from {} on, a problem below {}.",
                thousandths(GOOD_FAIRNESS),
                thousandths(BAD_FAIRNESS)
            ),
            Self::Utilisation => format!(
                "The link that sent for the largest share of the run: above {BUSY_PERCENT} % it is a bottleneck, \
                 which is a note."
            ),
            Self::Failures => "What the scenario lets fail is a note.".to_owned(),
            Self::Integrity => "A byte that is not as it was sent is a problem.".to_owned(),
            Self::IdleQueuePair => {
                "A queue pair that could send and did not is a note: the model has a fault.".to_owned()
            }
        }
    }
}

fn thousandths(value: u64) -> String {
    format!("{:.1}", Millionths(value * 1_000))
}

/// Open flows at the end of a run; at least one.
pub(crate) fn completion(open: u64, total: u64) -> Level {
    let is_most = u128::from(open) * 100 > u128::from(total) * u128::from(MOST_OPEN_PERCENT);
    if is_most { Level::Bad } else { Level::Note }
}

/// A slowdown in the tail.
pub(crate) fn tail_slowdown(slowdown: Millionths) -> Level {
    above(slowdown.0, [GOOD_SLOWDOWN, BAD_SLOWDOWN].map(|times| times * Millionths::ONE.0))
}

/// The latency of operations in the tail, and the median (ps).
pub(crate) fn tail_operation(tail_ps: u64, median_ps: u64) -> Level {
    above(tail_ps, [GOOD_OPERATION, BAD_OPERATION].map(|times| median_ps.saturating_mul(times)))
}

/// The share of the run in which a port was paused.
pub(crate) fn paused(share: Millionths) -> Level {
    above(share.0, [NOTED_PAUSED_PERCENT, BAD_PAUSED_PERCENT].map(|percent| percent * 10_000))
}

/// The share of the run in which a link sent.
pub(crate) fn utilisation(share: Millionths) -> Level {
    if share.0 > BUSY_PERCENT * 10_000 { Level::Note } else { Level::Good }
}

/// Jain's index.
pub(crate) fn fairness(index: Millionths) -> Level {
    match index.0 / 1_000 {
        GOOD_FAIRNESS.. => Level::Good,
        BAD_FAIRNESS.. => Level::Note,
        _ => Level::Bad,
    }
}

fn above(value: u64, [good, note]: [u64; 2]) -> Level {
    if value <= good {
        Level::Good
    } else if value <= note {
        Level::Note
    } else {
        Level::Bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_as_the_words_say() {
        let slowdowns = [10_000_000, 10_000_001, 50_000_000, 50_000_001, 200_000_000];
        let levels = slowdowns.map(|one| tail_slowdown(Millionths(one)));
        assert_eq!(levels, [Level::Good, Level::Note, Level::Note, Level::Bad, Level::Bad]);
        let operations = [30, 31, 100, 101].map(|tail| tail_operation(tail, 10));
        assert_eq!(operations, [Level::Good, Level::Note, Level::Note, Level::Bad]);
        let paused = [0, 100_000, 100_001, 500_000, 500_001].map(|one| paused(Millionths(one)));
        assert_eq!(paused, [Level::Good, Level::Good, Level::Note, Level::Note, Level::Bad]);
        let busy = [950_000, 950_001].map(|one| utilisation(Millionths(one)));
        assert_eq!(busy, [Level::Good, Level::Note]);
        let fair = [900_000, 899_999, 700_000, 699_999].map(|one| fairness(Millionths(one)));
        assert_eq!(fair, [Level::Good, Level::Note, Level::Note, Level::Bad]);
    }

    #[test]
    fn the_documentation_has_every_rule() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        for rule in Rule::ALL {
            assert!(docs.contains(&rule.text()), "docs/report.md lacks: {}", rule.text());
        }
    }
}
