//! Ranks in servers: what the algorithms have in common that first work inside a server and then between equal places of
//! servers, which are on one rail.

use crate::block::Blocks;
use crate::collective::Kind;
use crate::division::Order;
use crate::schedule::Operation;

/// Servers with the same number of ranks each: rank = server x local + place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Servers {
    /// What is done.
    pub(crate) kind: Kind,
    /// Ranks of a server.
    pub(crate) local: u32,
    /// Servers.
    pub(crate) servers: u32,
}

impl Servers {
    /// What is cut first: blocks have a place at the end, but for all-reduce.
    pub(crate) const fn order(self) -> Order {
        match self.kind {
            Kind::AllReduce => Order::LoopsFirst,
            _ => Order::BlocksFirst,
        }
    }

    /// All ranks, and blocks.
    pub(crate) const fn ranks(self) -> u32 {
        self.local * self.servers
    }

    /// The rank of a place in the server that is so far from that of `rank`.
    pub(crate) const fn in_server(self, rank: u32, distance: u32) -> u32 {
        (rank + distance * self.local) % self.ranks()
    }

    /// The rank so many places from `rank` in its server.
    pub(crate) const fn at_place(self, rank: u32, distance: u32) -> u32 {
        rank / self.local * self.local + (rank % self.local + distance) % self.local
    }

    /// The blocks that the rail of a place is for.
    pub(crate) const fn of_rail(self, place: u32) -> Blocks {
        match self.kind {
            // Together, since they are only on their way.
            Kind::AllReduce => Blocks::run(place * self.servers, self.servers, self.ranks()),
            _ => {
                let (stride, count, modulus) = (self.local, self.servers, self.ranks());
                Blocks::Run { first: place, stride, count, modulus }
            }
        }
    }

    /// Messages that a rank sends round the ring of its rail.
    pub(crate) const fn ring_messages(self) -> u32 {
        match self.kind {
            Kind::AllReduce => 2 * (self.servers - 1),
            _ => self.servers - 1,
        }
    }

    /// What its message `number` does.
    pub(crate) const fn ring_operation(self, number: u32) -> Operation {
        match self.kind {
            Kind::AllReduce if number < self.servers - 1 => Operation::Reduce,
            Kind::ReduceScatter => Operation::Reduce,
            _ => Operation::Copy,
        }
    }

    /// The block of its message `number`.
    pub(crate) const fn ring_blocks(self, rank: u32, number: u32) -> Blocks {
        let (server, place) = (rank / self.local, rank % self.local);
        let behind = match self.kind {
            Kind::AllGather => number,
            _ => number + 1,
        };
        let block = (server + 2 * self.servers - behind) % self.servers;
        match self.kind {
            Kind::AllReduce => Blocks::one(place * self.servers + block),
            _ => Blocks::one(block * self.local + place),
        }
    }
}
