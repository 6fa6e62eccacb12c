//! The orders of ranks in rings.

use crate::error::Error;
use crate::options::Options;

/// Rings over servers of `local` ranks each, as NCCL builds them on rails: each passes every server once, and leaves it on
/// the rail on which it enters the next one.
///
/// Ring c enters the servers of even numbers at place c, and leaves them at place c + 1; the odd ones the other way
/// round. With an odd number of servers, the way from the last one to the first one is between two rails.
pub fn rail_rings(servers: u32, local: u32, rings: u32) -> Vec<Vec<u32>> {
    let places = |server: u32, ring: u32| {
        (0..local).map(move |step| match server % 2 {
            0 => (ring + local - step) % local,
            _ => (ring + 1 + step) % local,
        })
    };
    let ring = |ring: u32| {
        let ring = ring % local.max(1);
        let of = move |server| places(server, ring).map(move |place| server * local + place);
        (0..servers).flat_map(of).collect()
    };
    (0..rings).map(ring).collect()
}

/// The rings of all channels.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    ranks: u32,
    /// One for each channel, over and over again; none: the order of numbers.
    orders: Vec<RingOrder>,
}

/// A ring that is not in the order of numbers.
#[derive(Clone, Debug)]
struct RingOrder {
    ranks: Vec<u32>,
    places: Vec<u32>,
}

impl Rings {
    /// One ring for all channels, in the order of numbers.
    pub(crate) const fn by_number(ranks: u32) -> Self {
        Self { ranks, orders: Vec::new() }
    }

    /// Those of the options: as given; else one over servers for each channel ([`rail_rings`]).
    pub(crate) fn new(ranks: u32, options: &Options) -> Result<Self, Error> {
        let local = options.ranks_per_server;
        let on_rails = if options.rings.is_empty() && local > 1 && local < ranks {
            // Channel g has the same ring as channel 0.
            rail_rings(ranks / local, local, options.channels.min(local))
        } else {
            Vec::new()
        };
        let given = options.rings.iter().chain(&on_rails);
        let orders: Result<_, _> = given.map(|order| RingOrder::new(ranks, order)).collect();
        Ok(Self { ranks, orders: orders? })
    }

    fn order(&self, channel: u32) -> Option<&RingOrder> {
        self.orders.get(channel as usize % self.orders.len().max(1))
    }

    /// The place of a rank in its ring.
    pub(crate) fn place(&self, channel: u32, rank: u32) -> u32 {
        self.order(channel).map_or(rank, |order| order.places[rank as usize])
    }

    /// The rank at a place.
    pub(crate) fn rank(&self, channel: u32, place: u32) -> u32 {
        self.order(channel).map_or(place, |order| order.ranks[place as usize])
    }

    /// The rank that sends to this one.
    pub(crate) fn before(&self, channel: u32, rank: u32) -> u32 {
        self.rank(channel, (self.place(channel, rank) + self.ranks - 1) % self.ranks)
    }

    /// The rank that this one sends to.
    pub(crate) fn after(&self, channel: u32, rank: u32) -> u32 {
        self.rank(channel, (self.place(channel, rank) + 1) % self.ranks)
    }
}

impl RingOrder {
    fn new(ranks: u32, order: &[u32]) -> Result<Self, Error> {
        let wrong = |value: String, reason: String| {
            let fix = format!("name each of the ranks 0 to {} once", ranks - 1);
            Error::new("rings", value, reason, fix)
        };
        if order.len() != ranks as usize {
            let reason = format!("there are {ranks} ranks");
            return Err(wrong(format!("a ring of {}", order.len()), reason));
        }
        let mut places = vec![None; order.len()];
        for (place, &rank) in (0..).zip(order) {
            match places.get_mut(rank as usize) {
                None => return Err(wrong(rank.to_string(), "there is no such rank".to_owned())),
                Some(Some(_)) => {
                    return Err(wrong(rank.to_string(), "it is there twice".to_owned()));
                }
                Some(free) => *free = Some(place),
            }
        }
        // As many as there are, and none twice: each has a place.
        let places = places.into_iter().flatten().collect();
        Ok(Self { ranks: order.to_vec(), places })
    }
}
