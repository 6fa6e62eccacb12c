//! What was compared, and what differed.

use core::fmt;
use std::collections::BTreeMap;

use rocelab_units::SimTime;

use crate::deviation::Deviation;

/// Counts of one capture, or of many.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Answers of reliable connections that the capture holds.
    pub(crate) answers: usize,
    /// Those of them that a Python program gave, not Soft-RoCE.
    pub(crate) python_answers: usize,
    /// Those of them that ours were equal to.
    pub(crate) equal_answers: usize,
    /// Those that differ from ours in a way that is listed.
    pub(crate) deviations: BTreeMap<Deviation, usize>,
    /// Those to requests after the end of the capture: not compared.
    pub(crate) answers_after_the_end: usize,
    /// Requests that the capture holds.
    pub(crate) requests: usize,
    /// Those of them that ours were equal to.
    pub(crate) equal_requests: usize,
    /// Payload that ours was equal to, of requests and of READ data (bytes).
    pub(crate) equal_bytes: usize,
    /// Requests that our responder got.
    pub(crate) requests_fed: usize,
    /// Those among them that have a wrong checksum or partition key.
    pub(crate) discarded: usize,
    /// Requests that found their queue pair disconnected.
    pub(crate) requests_unseen: usize,
    /// SENDs and WRITEs that arrived.
    pub(crate) messages: usize,
    /// Packets of connection managers: not looked at here.
    pub(crate) management: usize,
    /// When our ACK timer was due, and when the packet was sent again there.
    pub(crate) timeouts: Vec<(SimTime, SimTime)>,
    pub(crate) mismatches: Vec<String>,
}

impl Report {
    pub(crate) fn deviate(&mut self, kind: Deviation) {
        *self.deviations.entry(kind).or_default() += 1;
    }

    pub(crate) fn mismatch(&mut self, what: String) {
        self.mismatches.push(what);
    }

    /// Requests that were compared with ours.
    pub(crate) fn compared_requests(&self) -> usize {
        let asked = self.deviations.get(&Deviation::SolicitedEvent);
        self.equal_requests + asked.copied().unwrap_or_default()
    }

    /// Answers that were compared with ours.
    pub(crate) fn compared_answers(&self) -> usize {
        let deviating = self.deviations.iter().filter(|(kind, _)| kind.is_of_answer());
        self.equal_answers + deviating.map(|(_, count)| count).sum::<usize>()
    }

    /// How much later than ours the captured timers expired: least and most (ms).
    pub(crate) fn lateness(&self) -> Option<(f64, f64)> {
        let late = self.timeouts.iter();
        let late = late.map(|(due, seen)| (seen.as_secs_f64() - due.as_secs_f64()) * 1e3);
        late.fold(None, |range, late| {
            let (least, most) = range.unwrap_or((late, late));
            Some((late.min(least), late.max(most)))
        })
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.python_answers += other.python_answers;
        self.equal_answers += other.equal_answers;
        for (kind, count) in &other.deviations {
            *self.deviations.entry(*kind).or_default() += count;
        }
        self.answers_after_the_end += other.answers_after_the_end;
        self.requests += other.requests;
        self.equal_requests += other.equal_requests;
        self.equal_bytes += other.equal_bytes;
        self.requests_fed += other.requests_fed;
        self.discarded += other.discarded;
        self.requests_unseen += other.requests_unseen;
        self.messages += other.messages;
        self.management += other.management;
        self.timeouts.extend(&other.timeouts);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (equal, all) = (self.equal_answers, self.answers);
        write!(f, "{equal} of {all} answers equal")?;
        for (kind, count) in &self.deviations {
            write!(f, ", {count} {}", kind.name())?;
        }
        for (count, what) in [
            (self.answers_after_the_end, "after the end"),
            (self.python_answers, "of all from Python"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        write!(f, "; {} of {} requests equal", self.equal_requests, self.requests)?;
        write!(f, "; {} bytes", self.equal_bytes)?;
        write!(f, "; {} fed", self.requests_fed)?;
        for (count, what) in [
            (self.discarded, "of them discarded"),
            (self.requests_unseen, "after disconnection"),
            (self.management, "of connection managers"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        write!(f, "; {} messages", self.messages)?;
        if let Some((least, most)) = self.lateness() {
            let count = self.timeouts.len();
            write!(f, "; {count} timeouts, {least:+.1} to {most:+.1} ms later than ours")?;
        }
        Ok(())
    }
}
