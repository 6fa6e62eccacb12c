//! Compares the files of two runs.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_benches::text;

use crate::Failure;
use crate::completion::{Completion, slowdowns};

/// Differences between the reference simulator's files and ours.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// Whether both `fct.txt` have the same bytes.
    pub(crate) fct: bool,
    /// Whether both `pfc.txt` have the same bytes.
    pub(crate) pfc: bool,
    /// Number of finished flows: theirs, ours.
    pub(crate) finished: [usize; 2],
    /// Number of lines of their `pfc.txt`.
    pub(crate) pauses: usize,
    /// The largest difference between the completion times of a flow, in nanoseconds; `None` if a
    /// flow finished in one run only.
    pub(crate) largest_difference: Option<u64>,
    /// Percentiles 50, 95 and 99 of the slowdowns: theirs, ours.
    pub(crate) slowdowns: [Option<[f64; 3]>; 2],
}

impl Agreement {
    /// Compares the folders of two runs.
    pub(crate) fn between(theirs: &Path, ours: &Path) -> Result<Self, Failure> {
        let both = |file: &str| Ok([text(&theirs.join(file))?, text(&ours.join(file))?]);
        let [fct, pfc]: [Result<_, Failure>; 2] = ["fct.txt", "pfc.txt"].map(both);
        let ([their_fct, our_fct], [their_pfc, our_pfc]) = (fct?, pfc?);
        let flows = [Completion::read(&their_fct)?, Completion::read(&our_fct)?];
        Ok(Self {
            fct: their_fct == our_fct,
            pfc: their_pfc == our_pfc,
            finished: [flows[0].len(), flows[1].len()],
            pauses: their_pfc.lines().count(),
            largest_difference: largest_difference(&flows[0], &flows[1]),
            slowdowns: [slowdowns(&flows[0]), slowdowns(&flows[1])],
        })
    }

    /// Whether there is no difference at all.
    pub(crate) fn is_exact(&self) -> bool {
        self.fct && self.pfc
    }
}

fn largest_difference(theirs: &[Completion], ours: &[Completion]) -> Option<u64> {
    let by_flow: BTreeMap<_, _> = ours.iter().map(|one| (&one.flow, one.fct)).collect();
    if theirs.len() != ours.len() {
        return None;
    }
    let difference = |one: &Completion| Some(by_flow.get(&one.flow)?.abs_diff(one.fct));
    theirs.iter().try_fold(0, |largest, one| Some(difference(one)?.max(largest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_compared_with_themselves_whatever_their_order() {
        let theirs = Completion::read("a b 1 2 3 4 50 10\na c 1 2 3 4 60 10").unwrap();
        let ours = Completion::read("a c 1 2 3 4 57 10\na b 1 2 3 4 51 10").unwrap();
        assert_eq!(largest_difference(&theirs, &ours), Some(3));
        assert_eq!(largest_difference(&theirs, &ours[..1]), None);
        let other = Completion::read("a b 1 2 3 4 50 10\na d 1 2 3 4 60 10").unwrap();
        assert_eq!(largest_difference(&theirs, &other), None);
    }
}
