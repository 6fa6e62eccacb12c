//! The work of all ranks.

use crate::RankGraph;

/// The index of the group of all ranks.
pub const WORLD: u32 = 0;

/// A group of ranks that carry out collective operations together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Group {
    /// Its name: that of the process group, or such as `tp-3`.
    pub name: String,
    /// Its ranks, in the order of their numbers in the group, which is the order of a ring.
    pub ranks: Vec<u32>,
}

/// The work of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Groups; that at [`WORLD`] has all ranks.
    pub groups: Vec<Group>,
    /// The graph of each rank, by rank from 0.
    pub ranks: Vec<RankGraph>,
}

impl Trace {
    /// The group of all ranks, alone.
    pub(crate) fn world(ranks: u32) -> Vec<Group> {
        vec![Group { name: "world".to_owned(), ranks: (0..ranks).collect() }]
    }

    /// How a message names a node: the file, and what that calls it.
    pub fn name(&self, rank: u32, node: u32) -> String {
        let graph = &self.ranks[rank as usize];
        let file = graph.source.file_name().unwrap_or_default().to_string_lossy();
        format!("{file}: rank {rank}: {}", graph.labels[node as usize])
    }

    /// The graphs of all ranks.
    pub fn ranks(&self) -> &[RankGraph] {
        &self.ranks
    }
}

/// How a trace becomes graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Whether nodes of one stream of a GPU wait for each other, in the order in which they were recorded. Some traces
    /// lack these dependencies.
    pub serialise_streams: bool,
    /// Whether a node of a Chakra trace waits for its control dependencies too. They say which operator called which, and
    /// ASTRA-sim does not follow them.
    pub control_dependencies: bool,
    /// What durations of computation are multiplied by; at least 0.
    pub compute_scale: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { serialise_streams: false, control_dependencies: false, compute_scale: 1.0 }
    }
}

impl Options {
    /// A duration of computation (ps), scaled; `None` if it does not fit into 64 bits.
    pub(crate) fn scaled(&self, duration_ps: u64) -> Option<u64> {
        if self.compute_scale == 1.0 {
            return Some(duration_ps);
        }
        let scaled = (duration_ps as f64 * self.compute_scale).round();
        // 2^64 is a floating-point number, 2^64-1 is none.
        let fits = (0.0..18_446_744_073_709_551_616.0).contains(&scaled);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        fits.then_some(scaled as u64)
    }
}
