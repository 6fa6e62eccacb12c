//! Reduction and multicast in the NVLink switches of a server, as NCCL's NVLS has them.
//!
//! The switches of a server are one member of the schedule, behind the ranks. Each rank is the head of a part: the switch adds up
//! that part of all ranks of the server and gives the sum to the head, and what the head gives back goes to all of them. So
//! a rank sends S(1 + 1/g) in a server of g. Between servers, the heads of a part are a ring on their rail.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::Division;
use crate::error::Error;
use crate::options::Options;
use crate::pattern::{Pattern, Patterned, Position, Transfer, Way};
use crate::schedule::{Operation, Schedule};
use crate::servers::Servers;

pub(super) const SUMMARY: &str = "NVLink switches add up and multicast; rings between servers";
pub(super) const KINDS: &[Kind] = &[Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter];

/// The stream in which data are added up, and go round the ring.
const ADD: u32 = 0;

/// The stream in which they are given to all.
const SPREAD: u32 = 1;

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks, local) = (collective.kind(), collective.ranks(), options.ranks_per_server);
    let servers = Servers { kind, local, servers: ranks / local };
    let division = Division::new(collective, options, ranks, servers.order());
    let pattern = Nvls { servers };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Nvls {
    servers: Servers,
}

impl Nvls {
    const fn adds(&self) -> bool {
        !matches!(self.servers.kind, Kind::AllGather)
    }

    const fn spreads(&self) -> bool {
        !matches!(self.servers.kind, Kind::ReduceScatter)
    }

    const fn is_switch(&self, rank: u32) -> bool {
        rank >= self.servers.ranks()
    }

    /// The switch of a rank's server.
    const fn switch(&self, rank: u32) -> u32 {
        self.servers.ranks() + rank / self.servers.local
    }

    /// The ranks at a switch.
    fn ranks_at(&self, switch: u32) -> core::ops::Range<u32> {
        let first = (switch - self.servers.ranks()) * self.servers.local;
        first..first + self.servers.local
    }

    /// The part that a place is the head of.
    const fn part(&self, place: u32) -> Blocks {
        self.servers.of_rail(place)
    }

    /// A switch in the round of a head.
    fn switch_round(&self, at: Position, head: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let (ranks, blocks) = (self.ranks_at(at.rank), self.part(head));
        let head = ranks.start + head;
        let to = |peer, operation| Transfer { peer, stream: at.stream, operation, blocks };
        if at.stream == ADD {
            ranks.for_each(|rank| visit(Way::Receive, to(rank, Operation::Reduce)));
            visit(Way::Send, to(head, Operation::Copy));
        } else {
            visit(Way::Receive, to(head, Operation::Copy));
            ranks.for_each(|rank| visit(Way::Send, to(rank, Operation::Copy)));
        }
    }

    /// Rounds in which a rank gives its data to the switch, one for each head.
    fn give_rounds(&self) -> u32 {
        if self.adds() { self.servers.local } else { 0 }
    }

    /// A rank in the stream in which it adds up. First it gives its data to the switch. In each round behind that, it
    /// receives what it sends on: what the switch has added, then what comes round the ring.
    fn add_round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let (servers, place) = (self.servers, at.rank % self.servers.local);
        let ring = servers.ring_messages();
        let to_switch = |operation, stream, blocks| {
            let peer = self.switch(at.rank);
            Transfer { peer, stream, operation, blocks }
        };
        let Some(number) = round.checked_sub(self.give_rounds()) else {
            return visit(Way::Send, to_switch(Operation::Reduce, ADD, self.part(round)));
        };
        let in_ring = |sender, peer, number| {
            let operation = servers.ring_operation(number);
            let blocks = servers.ring_blocks(sender, number);
            Transfer { peer, stream: ADD, operation, blocks }
        };
        if number > 0 {
            let before = servers.in_server(at.rank, servers.servers - 1);
            visit(Way::Receive, in_ring(before, before, number - 1));
        } else if self.adds() {
            visit(Way::Receive, to_switch(Operation::Copy, ADD, self.part(place)));
        }
        if number < ring {
            let after = servers.in_server(at.rank, 1);
            visit(Way::Send, in_ring(at.rank, after, number));
        } else if self.spreads() {
            visit(Way::Send, to_switch(Operation::Copy, SPREAD, self.part(place)));
        }
    }
}

impl Pattern for Nvls {
    fn streams(&self) -> u32 {
        2
    }

    fn switches(&self) -> u32 {
        self.servers.servers
    }

    fn rounds(&self, at: Position) -> u32 {
        match (at.stream, self.is_switch(at.rank)) {
            _ if self.servers.ranks() == 1 => 0,
            (ADD, true) => self.give_rounds(),
            (ADD, false) => self.give_rounds() + self.servers.ring_messages() + 1,
            _ if self.spreads() => self.servers.local,
            _ => 0,
        }
    }

    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        if self.is_switch(at.rank) {
            return self.switch_round(at, round, visit);
        }
        if at.stream == ADD {
            return self.add_round(at, round, visit);
        }
        let (peer, blocks) = (self.switch(at.rank), self.part(round));
        let operation = Operation::Copy;
        visit(Way::Receive, Transfer { peer, stream: SPREAD, operation, blocks });
    }
}
