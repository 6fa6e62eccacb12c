//! An explanation as a table and a paragraph.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use rocelab_units::Bandwidth;

use super::category::{Category, Cause, LossSignal, LostForGood, Stage};
use super::explanation::{Explanation, Part};
use super::subject::Subject;

/// Causes that a row names, at the most; it has all their time.
const CAUSES_SHOWN: usize = 3;
/// Rows that the verdict names, at the most.
const ROWS_IN_VERDICT: usize = 3;

/// Parts of one turn, stage, place and category.
struct Row<'a> {
    turn: u16,
    stage: Stage,
    place: &'a str,
    category: Category,
    ps: u64,
    /// The most time first.
    causes: Vec<(String, u64)>,
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { source, destination, congestion_control, .. } = self;
        let what = &self.what;
        match what {
            Subject::Flow { verb, bytes, .. } => write!(f, "{what}: {verb} of {bytes} bytes"),
            Subject::Operation { app, kind, .. } => write!(f, "{what}: {kind} of {app}"),
        }?;
        writeln!(
            f,
            " between {source} and {destination}, {congestion_control}: {} after {}\n",
            self.status,
            time(self.elapsed_ps)
        )?;
        let rows = rows(&self.parts, |part| (part.turn, part.stage));
        let has_turns = rows.iter().any(|row| row.turn > 0);
        let mut stage = None;
        for row in &rows {
            if stage != Some((row.turn, row.stage)) {
                stage = Some((row.turn, row.stage));
                let same = |other: &&Row<'_>| (other.turn, other.stage) == (row.turn, row.stage);
                let total: u64 = rows.iter().filter(same).map(|row| row.ps).sum();
                let name = match has_turns {
                    true => format!("turn {}: {}", row.turn, row.stage.name()),
                    false => row.stage.name().to_owned(),
                };
                writeln!(f, "{name:<44}{:>20}{:>9}", time(total), self.share(total))?;
            }
            let what = format!("  {:<14} {}", row.place, row.category.name());
            write!(f, "{what:<44}{:>20}{:>9}", time(row.ps), self.share(row.ps))?;
            writeln!(f, "{}", causes(row))?;
        }
        writeln!(f, "{:<44}{:>20}{:>9}\n", "sum", time(self.sum_ps()), self.share(self.sum_ps()))?;
        writeln!(f, "{}", self.verdict())?;
        if let Some(nobody) = &self.no_answer {
            writeln!(f, "{nobody}")?;
        }
        let is_told = self.parts.iter().any(|part| part.category == Category::MessageLost);
        match &self.lost_for_good {
            Some(LostForGood { packets: 1, time_ps, lost }) if !is_told => writeln!(
                f,
                "A packet was lost at {} at {lost}, and nobody sends it again: its message cannot arrive.",
                time(*time_ps)
            ),
            Some(LostForGood { packets, time_ps, lost }) if !is_told => writeln!(
                f,
                "{packets} packets were lost, the one that was sent first at {} at {lost}, and nobody sends \
                 them again: their messages cannot arrive.",
                time(*time_ps)
            ),
            _ => Ok(()),
        }
    }
}

impl Explanation {
    fn share(&self, ps: u64) -> String {
        percentage(ps, self.elapsed_ps)
    }

    /// What took the most time, whatever turn and stage it was in.
    fn verdict(&self) -> String {
        let mut longest = rows(&self.parts, |_| (0, Stage::Program));
        longest.sort_by_key(|row| std::cmp::Reverse(row.ps));
        let counts = |(place, row): &(usize, &Row<'_>)| {
            *place == 0 || !rounds_to_nothing(row.ps, self.elapsed_ps)
        };
        let named = longest.iter().take(ROWS_IN_VERDICT).enumerate().filter(counts);
        let phrases = named.map(|(_, row)| {
            let cause = self.main_cause(row);
            format!("{} {} at {}{cause}", self.share(row.ps), row.category.name(), row.place)
        });
        let phrases: Vec<_> = phrases.collect();
        format!("Where most of its time went: {}.", phrases.join("; "))
    }

    /// The largest cause of a row, unless more of it has none; with its own share where that is less than
    /// the row's.
    fn main_cause(&self, row: &Row<'_>) -> String {
        let without = row.ps - row.causes.iter().map(|(_, ps)| ps).sum::<u64>();
        match row.causes.split_first() {
            Some(((cause, ps), [])) if *ps == row.ps => format!(" ({cause})"),
            Some(((cause, ps), others))
                if *ps >= without && !rounds_to_nothing(*ps, self.elapsed_ps) =>
            {
                let more = match others.len() {
                    0 => String::new(),
                    more => format!("; {more} more"),
                };
                format!(" ({}: {cause}{more})", self.share(*ps))
            }
            _ => String::new(),
        }
    }
}

/// Puts parts together that differ in nothing but their cause, in the order of the path; turn and stage
/// are those by which they are told apart.
fn rows(parts: &[Part], stage_of: impl Fn(&Part) -> (u16, Stage)) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut known = BTreeMap::new();
    for part in parts {
        let (turn, stage) = stage_of(part);
        let key = (turn, stage, part.place.as_str(), part.category);
        let index = *known.entry(key).or_insert_with(|| {
            let (turn, stage, place, category) = key;
            rows.push(Row { turn, stage, place, category, ps: 0, causes: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[index];
        row.ps += part.ps;
        let Some(cause) = part.cause.as_ref().map(text) else { continue };
        match row.causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, ps)) => *ps += part.ps,
            None => row.causes.push((cause, part.ps)),
        }
    }
    for row in &mut rows {
        row.causes.sort_by_key(|(_, ps)| std::cmp::Reverse(*ps));
    }
    rows
}

/// What a row is because of; with the time where that is not all of the row's.
fn causes(row: &Row<'_>) -> String {
    if let [(cause, ps)] = row.causes.as_slice()
        && *ps == row.ps
    {
        return format!("  {cause}");
    }
    let shown = row.causes.iter().take(CAUSES_SHOWN);
    let shown: Vec<_> = shown.map(|(cause, ps)| format!("{cause} {}", time(*ps))).collect();
    let more = row.causes.len().saturating_sub(CAUSES_SHOWN);
    match (shown.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("  {}", shown.join(", ")),
        (false, more) => format!("  {}, and {more} more", shown.join(", ")),
    }
}

fn text(cause: &Cause) -> String {
    match cause {
        Cause::Flow { flow } => format!("flow {flow}"),
        Cause::Connection { connection } => format!("connection {connection}"),
        Cause::Stream { stream } => format!("stream {stream}"),
        Cause::OwnControl => "its own acknowledgements".into(),
        Cause::PauseFrames => "pause frames".into(),
        Cause::FlowControlPackets => "flow control packets".into(),
        Cause::AddressResolution => "ARP or Neighbour Discovery".into(),
        Cause::NextHop { node } => format!("of {node}"),
        Cause::Pings => "pings".into(),
        Cause::Management => "management".into(),
        Cause::PausedBy { by, waits_for, root, .. } if waits_for == root => {
            format!("{by} for {waits_for}")
        }
        Cause::PausedBy { by, waits_for, root, .. } => {
            format!("{by} for {waits_for} and in the end {root}")
        }
        Cause::Shaper { queue, rate_bps } => {
            format!("priority {queue} at {}", Bandwidth::from_bps(*rate_bps))
        }
        Cause::LoweredRate { rate_bps } => {
            format!("at a lowered rate, {}", Bandwidth::from_bps(*rate_bps))
        }
        Cause::CongestionControl { algorithm, signal } => format!("{algorithm}, by {signal}"),
        Cause::Loss { noticed: LossSignal::Unnoticed, lost: None } => {
            LossSignal::Unnoticed.name().into()
        }
        Cause::Loss { noticed, lost: None } => format!("{}; nothing was lost", noticed.name()),
        Cause::Loss { noticed, lost: Some(lost) } => {
            format!("{}; lost at {lost}", noticed.name())
        }
        Cause::Discarded => {
            "discarded by the responder: out of order, or no receive request".into()
        }
        Cause::Dropped { lost } => match lost.ingress_port {
            Some(port) => format!("dropped: {}, in by port {port}", lost.why()),
            None => format!("dropped: {}", lost.why()),
        },
    }
}

/// A share as a percentage, rounded half up.
pub(super) fn percentage(part: u64, whole: u64) -> String {
    let whole = u128::from(whole.max(1));
    let tenths = (u128::from(part) * 2_000 + whole) / (2 * whole);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Whether a share is 0.0 % as a [percentage].
fn rounds_to_nothing(part: u64, whole: u64) -> bool {
    u128::from(part) * 2_000 < u128::from(whole)
}

/// Microseconds with all their digits: picoseconds.
pub(super) fn time(ps: u64) -> String {
    format!("{}.{:06} us", ps / 1_000_000, ps % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Lost;

    fn part(stage: Stage, place: &str, category: Category, cause: Option<Cause>, ps: u64) -> Part {
        Part { turn: 0, stage, place: place.into(), category, cause, ps }
    }

    #[test]
    fn a_table_with_all_digits_and_a_verdict() {
        let noticed = LossSignal::Timeout;
        let rule = Some("third".into());
        let lost = Some(Lost { place: "s".into(), ingress_port: Some(1), reason: "fault", rule });
        let behind = Category::QueueingBehindOthers;
        let explanation = Explanation {
            what: Subject::Flow { flow: 3, verb: "write", bytes: 9 },
            source: "a".into(),
            destination: "b".into(),
            congestion_control: "none".into(),
            start_ps: 7,
            elapsed_ps: 4_000_000,
            status: "completed",
            retransmitted_packets: Some(1),
            lost_for_good: None,
            no_answer: None,
            parts: vec![
                part(Stage::Sender, "a", Category::Serialisation, None, 1_000_001),
                part(
                    Stage::Sender,
                    "a",
                    Category::Retransmission,
                    Some(Cause::Loss { noticed, lost }),
                    9,
                ),
                part(Stage::Request, "s:1", behind, Some(Cause::Flow { flow: 1 }), 999_990),
                part(Stage::Request, "s:1", behind, Some(Cause::Flow { flow: 2 }), 2_000_000),
            ],
        };
        let text = explanation.to_string();
        assert!(text.contains("completed after 4.000000 us"), "{text}");
        assert!(
            text.contains("2.999990 us   75.0 %  flow 2 2.000000 us, flow 1 0.999990"),
            "{text}"
        );
        assert!(text.contains("sum"), "{text}");
        assert!(
            text.contains(
                "went: 75.0 % queueing behind others at s:1 (50.0 %: flow 2; 1 more); 25.0 %"
            ),
            "{text}"
        );
        assert!(text.contains("ACK timeout; lost at s (in by port 1), fault third"), "{text}");
        assert!(text.contains("; 25.0 % serialisation at a.\n"), "0.0 %: {text}");
    }

    /// Each of which is less than half a tenth of a percent, or less than what has no cause.
    #[test]
    fn small_causes_are_not_named() {
        let explanation = |parts| Explanation {
            what: Subject::Flow { flow: 3, verb: "write", bytes: 9 },
            source: "a".into(),
            destination: "b".into(),
            congestion_control: "none".into(),
            start_ps: 7,
            elapsed_ps: 1_000_000,
            status: "completed",
            retransmitted_packets: Some(0),
            lost_for_good: None,
            no_answer: None,
            parts,
        };
        let behind = Category::QueueingBehindOthers;
        let of = |flow| Some(Cause::Flow { flow });
        let many = (0..2_500).map(|flow| part(Stage::Request, "s:1", behind, of(flow), 400));
        let text = explanation(many.collect()).to_string();
        assert!(text.contains("went: 100.0 % queueing behind others at s:1.\n"), "{text}");
        let [slow, fast] = [Some(Cause::LoweredRate { rate_bps: 1_000_000_000 }), None];
        let parts = |slow_ps: u64| {
            let serialised = [(slow.clone(), slow_ps), (fast.clone(), 1_000_000 - slow_ps)];
            let part = |(cause, ps)| part(Stage::Sender, "a", Category::Serialisation, cause, ps);
            serialised.into_iter().map(part).collect()
        };
        let text = explanation(parts(400_000)).to_string();
        assert!(text.contains("went: 100.0 % serialisation at a.\n"), "{text}");
        let text = explanation(parts(600_000)).to_string();
        assert!(text.contains("at a (60.0 %: at a lowered rate, 1Gbps).\n"), "{text}");
        // In two turns, and named once.
        let mut turns: Vec<Part> = parts(0);
        turns.extend(turns.clone().into_iter().map(|part| Part { turn: 1, ..part }));
        turns.iter_mut().for_each(|part| part.ps /= 2);
        let text = explanation(turns).to_string();
        assert!(text.contains("turn 1: sender"), "{text}");
        assert!(text.contains("went: 100.0 % serialisation at a.\n"), "{text}");
    }
}
