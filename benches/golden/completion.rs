//! The lines of `fct.txt`.

use rocelab_benches::percentile::percentiles;

use crate::Failure;

/// A flow that finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Addresses, ports, size and start, which identify the flow.
    pub(crate) flow: String,
    /// Completion time in nanoseconds.
    pub(crate) fct: u64,
    /// The nominal time of the flow alone in the network, in nanoseconds.
    pub(crate) standalone: u64,
}

impl Completion {
    /// All lines of a file: `sip dip sport dport size start fct standalone`.
    pub(crate) fn read(text: &str) -> Result<Vec<Self>, Failure> {
        text.lines().map(Self::of).collect()
    }

    fn of(line: &str) -> Result<Self, Failure> {
        let words: Vec<_> = line.split(' ').collect();
        let [flow @ .., fct, standalone] = words.as_slice() else {
            return Err(format!("fct.txt: `{line}` is too short").into());
        };
        Ok(Self { flow: flow.join(" "), fct: fct.parse()?, standalone: standalone.parse()? })
    }

    /// Completion time divided by the nominal time.
    pub(crate) fn slowdown(&self) -> f64 {
        self.fct as f64 / self.standalone as f64
    }
}

/// The percentiles 50, 95 and 99 of the slowdowns; `None` without flows.
pub(crate) fn slowdowns(completions: &[Completion]) -> Option<[f64; 3]> {
    percentiles(completions.iter().map(Completion::slowdown).collect(), [50, 95, 99])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_flow_and_its_times() {
        let read =
            Completion::read("0b000001 0b000201 10000 100 500 2000000000 4200 1400").unwrap();
        let flow = "0b000001 0b000201 10000 100 500 2000000000".to_owned();
        assert_eq!(read, [Completion { flow, fct: 4200, standalone: 1400 }]);
        assert_eq!(slowdowns(&read), Some([3.0; 3]));
        assert!(Completion::read("0b000001").is_err());
    }
}
