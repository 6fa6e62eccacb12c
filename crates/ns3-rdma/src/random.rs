//! All random numbers of a run.

use rocelab_engine::mrg32k3a::{AutoStreams, LOSS_STREAM, Seed, Stream};

use crate::input::Input;

/// The generators of a run.
#[derive(Debug)]
pub(crate) struct Random {
    /// A new stream for each draw: ports, jitter, marking. Control packets take one too, for an
    /// identification that changes nothing.
    pub(crate) draws: AutoStreams,
    /// For each node, what its choices among paths come from; empty if none are random.
    paths: Vec<Stream>,
}

impl Random {
    pub(crate) fn new(input: &Input, seed: Seed, paths_are_random: bool) -> Self {
        let nodes = input.topology.is_switch.len() as u64;
        let lossy = input.topology.links.iter().filter(|link| link.loss > 0.0).count() as u64;
        let chosen = if paths_are_random { nodes } else { 0 };
        Self {
            draws: AutoStreams::new(seed, 6 * nodes + 2 + 2 * lossy),
            paths: (0..chosen).map(|node| Stream::new(seed, 6 * node)).collect(),
        }
    }

    /// A number for the choice of `node` among paths.
    #[inline]
    pub(crate) fn path(&mut self, node: u32) -> f64 {
        self.paths[node as usize].next_uniform()
    }
}

/// Which links lose packets, and the numbers that this depends on.
///
/// Each lossy link of the topology has a generator of its own for both directions, and all of them
/// start alike. Links without a loss of their own share one.
#[derive(Debug)]
pub(crate) struct Losses {
    /// For each link, probability and generator.
    links: Vec<Option<(f64, u32)>>,
    generators: Vec<Stream>,
}

impl Losses {
    pub(crate) fn new(input: &Input, seed: Seed) -> Self {
        let mut generators = vec![Stream::new(seed, LOSS_STREAM)];
        let common = input.config.loss;
        let links = input.topology.links.iter().map(|link| {
            if link.loss > 0.0 {
                generators.push(Stream::new(seed, LOSS_STREAM));
                return Some((link.loss, u32::try_from(generators.len() - 1).unwrap_or(0)));
            }
            (common > 0.0).then_some((common, 0))
        });
        Self { links: links.collect(), generators }
    }

    /// Whether a packet that has crossed `link` is lost: it takes a number if the link is lossy.
    #[inline]
    pub(crate) fn loses(&mut self, link: usize) -> bool {
        match self.links[link] {
            None => false,
            Some((probability, generator)) => {
                self.generators[generator as usize].next_uniform() < probability
            }
        }
    }
}
