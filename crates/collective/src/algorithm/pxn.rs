//! All-to-all through the rank of the own server that is on the destination's rail, as NCCL's PXN does.
//!
//! First each rank gives each other one in its server all that is for that one's place, in any server. Then ranks of equal
//! place exchange what they have: one message with the blocks of all ranks of the server. So connections between servers
//! are only between equal places.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};
use crate::servers::Servers;

pub(super) const SUMMARY: &str = "all-to-all through the local rank on the destination's rail";
pub(super) const KINDS: &[Kind] = &[Kind::AllToAll, Kind::AllToAllV];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks, local) = (collective.kind(), collective.ranks(), options.ranks_per_server);
    let servers = Servers { kind, local, servers: ranks / local };
    let division = Division::new(collective, options, ranks, Order::BlocksFirst);
    let pattern = Exchanged { ranks, exchange: Pxn { servers } };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Pxn {
    servers: Servers,
}

impl Pxn {
    /// Messages in the server.
    const fn inside(&self) -> u32 {
        self.servers.local - 1
    }
}

impl Exchange for Pxn {
    fn slots(&self) -> u32 {
        self.servers.ranks()
    }

    fn messages(&self, _at: Position) -> u32 {
        self.inside() + self.servers.servers - 1
    }

    fn first_of_batch(&self, _at: Position, number: u32) -> u32 {
        if number < self.inside() { 0 } else { self.inside() }
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        match number.checked_sub(self.inside()) {
            None => self.servers.at_place(at.rank, number + 1),
            Some(number) => self.servers.in_server(at.rank, number + 1),
        }
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        match number.checked_sub(self.inside()) {
            None => self.servers.at_place(at.rank, self.servers.local - number - 1),
            Some(number) => self.servers.in_server(at.rank, self.servers.servers - number - 1),
        }
    }

    fn operation(&self, _number: u32) -> Operation {
        Operation::Copy
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        let (from, to) = (at.rank, self.destination(at, number));
        let (local, servers) = (self.servers.local, self.servers.servers);
        if number < self.inside() {
            Blocks::ToRelay { from, to, local, servers }
        } else {
            Blocks::FromRelay { from, to, local, servers }
        }
    }
}
