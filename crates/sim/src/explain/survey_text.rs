//! The pauses of a run as tables.

use std::fmt::{self, Display, Formatter};

use rocelab_results::{DeadlockRecord, DeadlockedQueue};

use super::survey::{LongPause, RootCause, StormedQueue, Survey};
use super::text::percentage;
use super::victim::Victim;

/// Rows of each table, at the most.
const ROWS: usize = 10;

impl Display for Survey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.dropped(f)?;
        if let Some(waits) = self.credit_waits {
            self.deadlocks.iter().try_for_each(|deadlock| writeln!(f, "{deadlock}\n"))?;
            writeln!(
                f,
                "Nothing pauses on InfiniBand. Lanes waited {waits} times for credits; such waits have no tree."
            )?;
            return writeln!(
                f,
                "`--flow N` says what a flow waited for, and `paused_ps` in links.csv which ports waited."
            );
        }
        if self.pauses == 0 {
            return writeln!(f, "Nothing was paused.");
        }
        let pauses = counted(self.pauses as u64, "pause");
        writeln!(f, "{pauses}, {} in all\n", time(self.paused_ps))?;
        if !self.deadlocks.is_empty() {
            writeln!(f, "Deadlocks")?;
            let all: Vec<_> = self.deadlocks.iter().enumerate().map(Numbered).collect();
            table(f, &all, all.len())?;
            writeln!(f)?;
        }
        if !self.storms.is_empty() {
            writeln!(f, "{:<32}{:>10}{:>22}", "Let go by watchdogs", "times", "first")?;
            table(f, &self.storms, self.storms.len())?;
            writeln!(f)?;
        }
        writeln!(f, "{:<32}{:>10}{:>22}{:>9}", "Root causes", "pauses", "paused", "deepest")?;
        table(f, &self.roots, self.all_roots)?;
        writeln!(f, "\n{:<32}{:>22}{:>22}", "Longest pauses", "from", "paused")?;
        table(f, &self.longest, self.pauses)?;
        if self.victims.is_empty() {
            return writeln!(
                f,
                "\nNo victims: whatever waited for a pause also sent by way of the pause's root cause."
            );
        }
        writeln!(f, "\n{:<32}{:>22}{:>9}", "Victims", "blocked", "share")?;
        table(f, &self.victims, self.all_victims)
    }
}

impl Survey {
    /// One line with all frames that were dropped, if any were.
    fn dropped(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.drops.is_empty() {
            return Ok(());
        }
        let reasons = self.drops.iter().map(|(reason, number)| format!("{reason} {number}"));
        let reasons: Vec<_> = reasons.collect();
        let frames = counted(self.drops.values().sum(), "frame");
        writeln!(f, "{frames} dropped: {}\n", reasons.join(", "))
    }
}

/// The first rows of `all`.
fn table(f: &mut Formatter<'_>, rows: &[impl Display], all: usize) -> fmt::Result {
    rows.iter().take(ROWS).try_for_each(|row| writeln!(f, "  {row}"))?;
    let more = all.saturating_sub(rows.len().min(ROWS));
    if more > 0 { writeln!(f, "  and {more} more") } else { Ok(()) }
}

/// A deadlock, and its place in the list.
struct Numbered<'a>((usize, &'a DeadlockRecord));

impl Display for Numbered<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self((number, found)) = self;
        let queue = |queue: &DeadlockedQueue| {
            format!("{}:{} (priority {})", queue.switch, queue.port, queue.priority)
        };
        let around = found.cycle.iter().chain(found.cycle.first()).map(queue);
        let around: Vec<_> = around.collect();
        let (began, queues) = (time(found.began_ps), counted(found.queues, "queue"));
        write!(f, "deadlock {number}, at {began}, of {queues}: {}", around.join(" -> "))?;
        let Some(freed) = found.freed_ps else { return Ok(()) };
        match &found.watchdog {
            Some(place) => write!(f, "; freed at {} by the watchdog of {place}", time(freed)),
            None => write!(f, "; freed at {}", time(freed)),
        }
    }
}

impl Display for StormedQueue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let queue = format!("{}:{} (priority {})", self.switch, self.port, self.priority);
        write!(f, "{queue:<30}{:>10}{:>22}", self.times, time(self.first_ps))
    }
}

impl Display for RootCause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = format!("{} (priority {})", self.place, self.priority);
        write!(f, "{place:<30}{:>10}{:>22}{:>9}", self.pauses, time(self.paused_ps), self.deepest)
    }
}

impl Display for LongPause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = format!("{}:{} (priority {})", self.node, self.port, self.priority);
        write!(f, "{place:<30}{:>22}{:>22}", time(self.start_ps), time(self.ps))?;
        write!(f, "  for {}", self.waits_for)?;
        if self.root == self.waits_for {
            Ok(())
        } else {
            write!(f, " and in the end {}", self.root)
        }
    }
}

impl Display for Victim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = match (self.flow, self.connection) {
            (Some(flow), _) => format!("flow {flow}"),
            (None, Some(connection)) => format!("connection {connection}"),
            (None, None) => String::new(),
        };
        let who = format!("{name}, {} to {}", self.source, self.destination);
        let share = percentage(self.hol_ps, self.elapsed_ps);
        write!(f, "{who:<30}{:>22}{share:>9}  by {}", time(self.hol_ps), self.root)
    }
}

/// A number of things, in the singular if it is one.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Microseconds with all their digits: picoseconds.
fn time(ps: u64) -> String {
    format!("{}.{:06} us", ps / 1_000_000, ps % 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        let root =
            RootCause { place: "a:0".into(), priority: 3, pauses: 1, paused_ps: 1, deepest: 1 };
        let pause = LongPause {
            pause: 0,
            node: "a".into(),
            port: 0,
            priority: 3,
            start_ps: 0,
            ps: 1,
            waits_for: "a:0".into(),
            root: "a:0".into(),
        };
        let victim = Victim {
            flow: Some(0),
            connection: None,
            source: "b".into(),
            destination: "c".into(),
            hol_ps: 1,
            elapsed_ps: 2,
            pauses: 1,
            root: "a:0".into(),
            root_ps: 1,
        };
        let storm =
            StormedQueue { switch: "a".into(), port: 1, priority: 3, times: 2, first_ps: 5 };
        let survey = Survey {
            digest: String::new(),
            end_ps: 2,
            credit_waits: None,
            drops: [("fault", 2), ("link_down", 1)].into(),
            storms: vec![storm],
            pauses: 2_000,
            paused_ps: 2_000,
            deadlocks: Vec::new(),
            all_roots: 300,
            all_victims: 40,
            roots: vec![root; 100],
            longest: vec![pause; 100],
            victims: vec![victim; 40],
        };
        let text = survey.to_string();
        for more in ["and 290 more", "and 1990 more", "and 30 more"] {
            assert!(text.contains(more), "{more}: {text}");
        }
        let first = "3 frames dropped: fault 2, link_down 1\n\n2000 pauses, 0.002000 us in all\n";
        assert!(text.starts_with(first), "{text}");
        let storm = text.lines().find(|line| line.starts_with("  a:1 (priority 3)")).unwrap();
        assert!(storm.ends_with(" 2           0.000005 us"), "{text}");
        let text = Survey { pauses: 1, drops: BTreeMap::new(), ..survey.clone() }.to_string();
        assert!(text.starts_with("1 pause, "), "{text}");
        let text = Survey { pauses: 0, ..survey }.to_string();
        assert_eq!(text, "3 frames dropped: fault 2, link_down 1\n\nNothing was paused.\n");
    }
}
