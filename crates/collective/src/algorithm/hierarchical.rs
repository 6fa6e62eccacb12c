//! Inside servers first, then between equal places of servers, each over its own rail (Cho et al., BlueConnect, MLSys 2019).
//!
//! All-reduce: a direct reduce-scatter among the ranks of a server, a ring all-reduce among those with the same place, and a
//! direct all-gather in the server. Reduce-scatter and all-gather are its halves.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::Division;
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};
use crate::servers::Servers;

pub(super) const SUMMARY: &str = "inside servers, then in a ring over each rail, and back";
pub(super) const KINDS: &[Kind] = &[Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks, local) = (collective.kind(), collective.ranks(), options.ranks_per_server);
    let servers = Servers { kind, local, servers: ranks / local };
    let division = Division::new(collective, options, ranks, servers.order());
    let pattern = Exchanged { ranks, exchange: Hierarchical { servers } };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Hierarchical {
    servers: Servers,
}

/// What a message belongs to.
#[derive(Clone, Copy)]
enum Phase {
    /// Reduce-scatter in the server, to the rank so many places further.
    Scatter(u32),
    /// Message number so much in the ring of the rail.
    Ring(u32),
    /// All-gather in the server.
    Gather(u32),
}

impl Hierarchical {
    /// Messages of the phase before the ring.
    const fn scatters(&self) -> u32 {
        match self.servers.kind {
            Kind::AllGather => 0,
            _ => self.servers.local - 1,
        }
    }

    /// Messages of the phase after it.
    const fn gathers(&self) -> u32 {
        match self.servers.kind {
            Kind::ReduceScatter => 0,
            _ => self.servers.local - 1,
        }
    }

    const fn phase(&self, number: u32) -> Phase {
        let (scatters, ring) = (self.scatters(), self.servers.ring_messages());
        if number < scatters {
            Phase::Scatter(number + 1)
        } else if number < scatters + ring {
            Phase::Ring(number - scatters)
        } else {
            Phase::Gather(number - scatters - ring + 1)
        }
    }
}

impl Exchange for Hierarchical {
    fn messages(&self, _at: Position) -> u32 {
        self.scatters() + self.servers.ring_messages() + self.gathers()
    }

    fn first_of_batch(&self, _at: Position, number: u32) -> u32 {
        match self.phase(number) {
            Phase::Scatter(_) => 0,
            Phase::Ring(_) => number,
            Phase::Gather(_) => self.scatters() + self.servers.ring_messages(),
        }
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        match self.phase(number) {
            Phase::Scatter(far) | Phase::Gather(far) => self.servers.at_place(at.rank, far),
            Phase::Ring(_) => self.servers.in_server(at.rank, 1),
        }
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        match self.phase(number) {
            Phase::Scatter(far) | Phase::Gather(far) => {
                self.servers.at_place(at.rank, self.servers.local - far)
            }
            Phase::Ring(_) => self.servers.in_server(at.rank, self.servers.servers - 1),
        }
    }

    fn operation(&self, number: u32) -> Operation {
        match self.phase(number) {
            Phase::Scatter(_) => Operation::Reduce,
            Phase::Ring(number) => self.servers.ring_operation(number),
            Phase::Gather(_) => Operation::Copy,
        }
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        match self.phase(number) {
            Phase::Scatter(_) => {
                self.servers.of_rail(self.destination(at, number) % self.servers.local)
            }
            Phase::Ring(number) => self.servers.ring_blocks(at.rank, number),
            Phase::Gather(_) => self.servers.of_rail(at.rank % self.servers.local),
        }
    }
}
