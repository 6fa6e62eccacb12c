//! What matters of a path, and sets of paths that agree in it.
//!
//! When frames arrive depends on the rates of the links in their order, on which of the switches between
//! them cut through, and on the time that passes on all cables and in all switches together. Where on the
//! way that time passes does not matter. Paths of equal links are one [`Way`], so that thousands of
//! equal-cost paths of a regular topology are one, or few.

use std::collections::BTreeMap;

use rocelab_units::{Bandwidth, Duration};

use super::train::Hop;

/// Most ways that are kept of one set as they are. More exist only where a topology mixes rates at random.
const MOST_WAYS: usize = 16;

/// A link of a way, with the switch before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) rate: Bandwidth,
    /// On the cable, and in the node behind it.
    pub(super) delay: Duration,
    /// Whether the node before it cuts through; a host does not.
    pub(super) cuts_through: bool,
    /// Whether it is a link of Ethernet.
    pub(super) is_ethernet: bool,
}

/// One link of a way, or of a bound on ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    rate: Bandwidth,
    /// Whether the switch before it cuts through, where rates allow it.
    cuts_through: bool,
    is_ethernet: bool,
    kind: Kind,
}

/// What a link stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A link that exists.
    Real,
    /// A link that is no slower than any of several: switches beside it cut through at any rates.
    Quickest,
    /// A link that is no slower than any of several, over which frames go side by side.
    Parallel,
    /// A link that is no faster than any of several: switches beside it do not cut through.
    Slowest,
}

/// Paths with the same rates, through switches that forward alike; or a bound on several such.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    links: Vec<Link>,
    /// What passes on cables and in switches, over the path of them on which that is least.
    least: Duration,
    /// The same over that on which it is most.
    most: Duration,
}

impl Way {
    /// With one link more at the end.
    pub(super) fn then(&self, step: Step) -> Self {
        self.with(step, Kind::Real)
    }

    /// With one link more at the end that is a bound: what lies beside it cuts through if it can at all.
    pub(super) fn then_at_best(&self, step: Step) -> Self {
        self.with(step, Kind::Quickest)
    }

    /// As [`Self::then_at_best`], where no frame waits for another: each may go over another link.
    pub(super) fn then_side_by_side(&self, step: Step) -> Self {
        self.with(step, Kind::Parallel)
    }

    fn with(&self, step: Step, kind: Kind) -> Self {
        let Step { rate, cuts_through, is_ethernet, .. } = step;
        let link = Link { rate, cuts_through, is_ethernet, kind };
        Self {
            links: self.links.iter().copied().chain([link]).collect(),
            least: self.least + step.delay,
            most: self.most + step.delay,
        }
    }

    /// With another way behind it.
    pub(super) fn followed_by(&self, other: &Self) -> Self {
        Self {
            links: self.links.iter().chain(&other.links).copied().collect(),
            least: self.least + other.least,
            most: self.most + other.most,
        }
    }

    /// The same links and switches from the other end.
    pub(super) fn reversed(&self) -> Self {
        let before = self.links.iter().map(|link| link.cuts_through).skip(1).rev();
        let before = [false].into_iter().chain(before);
        let links = self.links.iter().rev().zip(before);
        let links = links.map(|(&link, cuts_through)| Link { cuts_through, ..link }).collect();
        Self { links, ..*self }
    }

    /// Its hops over the path on which the least time passes.
    pub(super) fn quickest(&self) -> Vec<Hop> {
        self.hops(self.least)
    }

    /// Its hops over the path on which the most time passes.
    pub(super) fn slowest(&self) -> Vec<Hop> {
        self.hops(self.most)
    }

    /// All of the delay is put on the first hop: see the [module](self).
    fn hops(&self, delay: Duration) -> Vec<Hop> {
        let next = self.links.iter().skip(1).map(Some).chain([None]);
        let mut delay = Some(delay);
        let hop = |(link, next): (&Link, Option<&Link>)| Hop {
            rate: link.rate,
            delay: delay.take().unwrap_or_default(),
            cuts_through: next.is_some_and(|next| link.cuts_through_to(next)),
            is_parallel: link.kind == Kind::Parallel,
            is_ethernet: link.is_ethernet,
        };
        self.links.iter().zip(next).map(hop).collect()
    }

    /// Whether any of its links stands for this.
    fn has_any(&self, kind: Kind) -> bool {
        self.links.iter().any(|link| link.kind == kind)
    }

    /// Whether no frame is later over these links than over those of `other`, in either direction and
    /// whatever comes before and behind them, the delay aside.
    fn has_no_slower_links(&self, other: &Self) -> bool {
        let ends = |way: &Self| Some((way.links.first()?.rate, way.links.last()?.rate));
        let pairs = || self.links.iter().zip(&other.links);
        // Where a link is faster at an end, a switch before it that cuts through may no longer do so.
        self.links.len() == other.links.len()
            && ends(self) == ends(other)
            && pairs().all(|(own, other)| {
                own.is_real()
                    && other.is_real()
                    && own.rate >= other.rate
                    && own.cuts_through >= other.cuts_through
            })
            && self.links.windows(2).zip(other.links.windows(2)).all(|(own, other)| {
                let ([before, behind], [other_before, other_behind]) = (own, other) else {
                    return true;
                };
                !other_behind.cuts_through
                    || ((other_behind.rate > other_before.rate || behind.rate <= before.rate)
                        && (other_before.rate > other_behind.rate || before.rate <= behind.rate))
            })
    }

    /// What none of `ways`, which are equally long, is quicker than.
    fn bound_below(ways: &[&Self]) -> Self {
        let least = ways.iter().map(|way| way.least).min().unwrap_or_default();
        let link = |place: usize| {
            let links = || ways.iter().filter_map(move |way| way.links.get(place));
            Link {
                rate: links().map(|link| link.rate).max().unwrap_or_default(),
                cuts_through: links().any(|link| link.cuts_through),
                is_ethernet: links().any(|link| link.is_ethernet),
                kind: Kind::Quickest,
            }
        };
        Self { links: places(ways).map(link).collect(), least, most: least }
    }

    /// What none of `ways`, which are equally long, is slower than.
    fn bound_above(ways: &[&Self]) -> Self {
        let most = ways.iter().map(|way| way.most).max().unwrap_or_default();
        let rate =
            |place: usize| ways.iter().filter_map(move |way| Some(way.links.get(place)?.rate));
        let link = |place| Link {
            rate: rate(place).min().unwrap_or_default(),
            cuts_through: false,
            is_ethernet: ways.iter().any(|way| way.links.iter().any(|link| link.is_ethernet)),
            kind: Kind::Slowest,
        };
        Self { links: places(ways).map(link).collect(), least: most, most }
    }
}

fn places(ways: &[&Way]) -> core::ops::Range<usize> {
    0..ways.first().map_or(0, |way| way.links.len())
}

impl Link {
    fn is_real(&self) -> bool {
        self.kind == Kind::Real
    }

    /// Whether the switch between two links acts on the first 64 bytes.
    fn cuts_through_to(&self, next: &Self) -> bool {
        let kinds = [self.kind, next.kind];
        if kinds.contains(&Kind::Slowest) {
            return false;
        }
        // What leaves by a faster port would run dry.
        let is_bound = [Kind::Quickest, Kind::Parallel].iter().any(|kind| kinds.contains(kind));
        next.cuts_through && (is_bound || next.rate <= self.rate)
    }
}

/// What is asked of the ways of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// On which of them a flow is over first.
    Quickest,
    /// On which of them a frame takes longest.
    Slowest,
}

/// A way of a set that may be the answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    way: Way,
    may_be_quickest: bool,
    may_be_slowest: bool,
}

impl Candidate {
    /// The way, if it may be the answer.
    pub(super) fn of(&self, question: Question) -> Option<&Way> {
        let may_be = match question {
            Question::Quickest => self.may_be_quickest,
            Question::Slowest => self.may_be_slowest,
        };
        may_be.then_some(&self.way)
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.way.links.len() * size_of::<Link>()
    }
}

/// The ways of a set, but for those that are never the answer: another is quicker or as quick, and another
/// is slower or as slow, whatever comes before and behind them.
pub(super) fn candidates(ways: &[Way]) -> Vec<Candidate> {
    let candidate = |way: &Way| {
        let others = || ways.iter().filter(|&other| other != way);
        // Bounds come in pairs, of which one is the quicker.
        let may_be_quickest = !way.has_any(Kind::Slowest)
            && !others().any(|other| other.has_no_slower_links(way) && other.least <= way.least);
        let may_be_slowest = !way.has_any(Kind::Quickest)
            && !others().any(|other| way.has_no_slower_links(other) && other.most >= way.most);
        let may_be = may_be_quickest || may_be_slowest;
        may_be.then(|| Candidate { way: way.clone(), may_be_quickest, may_be_slowest })
    };
    ways.iter().filter_map(candidate).collect()
}

/// The number of a set of ways.
pub(super) type SetNumber = u32;

/// Sets of ways. Equal sets have one number, and what was made of two is remembered.
#[derive(Debug)]
pub(super) struct WaySets {
    sets: Vec<Vec<Way>>,
    numbers: BTreeMap<Vec<Way>, SetNumber>,
    longer: BTreeMap<(SetNumber, Step), SetNumber>,
    united: BTreeMap<(SetNumber, SetNumber), SetNumber>,
}

impl Default for WaySets {
    fn default() -> Self {
        let mut sets = Self {
            sets: Vec::new(),
            numbers: BTreeMap::new(),
            longer: BTreeMap::new(),
            united: BTreeMap::new(),
        };
        sets.number(vec![Way::default()]);
        sets
    }
}

impl WaySets {
    /// The set of the way from a node to itself.
    pub(super) const HERE: SetNumber = 0;

    /// The ways of a set.
    pub(super) fn ways(&self, set: SetNumber) -> &[Way] {
        self.sets.get(set as usize).map_or(&[], Vec::as_slice)
    }

    /// The ways of a set, each with one link more at the end.
    pub(super) fn then(&mut self, set: SetNumber, step: Step) -> SetNumber {
        if let Some(&known) = self.longer.get(&(set, step)) {
            return known;
        }
        let ways = self.ways(set).iter().map(|way| way.then(step)).collect();
        let longer = self.number(ways);
        self.longer.insert((set, step), longer);
        longer
    }

    /// The ways of both sets.
    pub(super) fn union(&mut self, a: SetNumber, b: SetNumber) -> SetNumber {
        if a == b {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.united.get(&key) {
            return known;
        }
        let all = self.ways(a).iter().chain(self.ways(b)).cloned().collect();
        let united = self.number(merged(all));
        self.united.insert(key, united);
        united
    }

    fn number(&mut self, ways: Vec<Way>) -> SetNumber {
        let next = SetNumber::try_from(self.sets.len()).unwrap_or(SetNumber::MAX);
        *self.numbers.entry(ways).or_insert_with_key(|ways| {
            self.sets.push(ways.clone());
            next
        })
    }
}

/// The same ways, those of equal links as one. If there are too many, those go that are neither among
/// the quickest nor among the slowest; and if it is not known which they are, bounds take their place.
fn merged(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_unstable();
    ways.dedup_by(|next, kept| {
        let same = next.links == kept.links;
        if same {
            kept.least = kept.least.min(next.least);
            kept.most = kept.most.max(next.most);
        }
        same
    });
    if ways.len() > MOST_WAYS {
        ways = extremes(&ways);
    }
    if ways.len() > MOST_WAYS { bounds(&ways) } else { ways }
}

/// The ways but for those between two others, of which one is never slower and one never quicker.
fn extremes(ways: &[Way]) -> Vec<Way> {
    let is_between = |way: &Way| {
        let others = || ways.iter().filter(|&other| other != way);
        others().any(|other| other.has_no_slower_links(way) && other.least <= way.least)
            && others().any(|other| way.has_no_slower_links(other) && other.most >= way.most)
    };
    ways.iter().filter(|&way| !is_between(way)).cloned().collect()
}

/// For each length one that no way is quicker than, and one that no way is slower than.
fn bounds(ways: &[Way]) -> Vec<Way> {
    let mut by_length: BTreeMap<usize, Vec<&Way>> = BTreeMap::new();
    for way in ways {
        by_length.entry(way.links.len()).or_default().push(way);
    }
    let of_length = |ways: &Vec<&Way>| [Way::bound_below(ways), Way::bound_above(ways)];
    let mut bounds: Vec<Way> = by_length.values().flat_map(of_length).collect();
    bounds.sort_unstable();
    bounds
}

#[cfg(test)]
mod tests {
    use rocelab_engine::RngStream;

    use super::*;

    fn step(gbps: u64, ns: u64, cuts_through: bool) -> Step {
        let (rate, delay) = (Bandwidth::from_gbps(gbps), Duration::from_ns(ns));
        Step { rate, delay, cuts_through, is_ethernet: true }
    }

    fn way(steps: &[Step]) -> Way {
        steps.iter().fold(Way::default(), |way, &step| way.then(step))
    }

    #[test]
    fn a_switch_cuts_through_to_links_that_are_not_faster_each_way() {
        let there = way(&[step(100, 1, false), step(400, 2, true), step(400, 3, true)]);
        let cut = |way: &Way| way.quickest().iter().map(|hop| hop.cuts_through).collect::<Vec<_>>();
        assert_eq!(cut(&there), [false, true, false]);
        assert_eq!(cut(&there.reversed()), [true, true, false]);
        assert_eq!(there.reversed().reversed(), there);
        let total = |way: &Way| way.quickest().iter().map(|hop| hop.delay.ps()).sum::<u64>();
        assert_eq!([total(&there), total(&there.reversed())], [6_000, 6_000]);
    }

    #[test]
    fn paths_of_equal_links_are_one_way_with_the_least_and_the_most_delay() {
        let mut sets = WaySets::default();
        let [near, far] = [5, 9].map(|ns| sets.then(WaySets::HERE, step(100, ns, true)));
        let both = sets.union(near, far);
        assert_eq!(sets.union(far, near), both);
        let [one] = sets.ways(both) else { panic!("{:?}", sets.ways(both)) };
        assert_eq!((one.least, one.most), (Duration::from_ns(5), Duration::from_ns(9)));
        let slow = sets.then(WaySets::HERE, step(40, 1, true));
        let all = sets.union(both, slow);
        assert_eq!(sets.ways(all).len(), 2, "rates are not compared");
    }

    #[test]
    fn no_set_grows_without_end() {
        let mut sets = WaySets::default();
        let mut set = WaySets::HERE;
        for length in 1..12 {
            let [a, b] = [40, 100].map(|gbps| sets.then(set, step(gbps, 1, false)));
            set = sets.union(a, b);
            assert!(sets.ways(set).len() <= (1 << length).min(MOST_WAYS));
        }
    }

    /// The time of the last of 1,000 frames.
    fn time(hops: &[Hop]) -> u64 {
        let mut free = vec![0; hops.len()];
        let train = super::super::Train::at(0, 1_000, 1_500);
        let carried =
            hops.iter().zip(&mut free).fold(train, |train, (hop, free)| train.cross(hop, free));
        carried.last()
    }

    #[test]
    fn a_set_that_is_cut_is_never_slower_than_its_quickest_nor_quicker_than_its_slowest() {
        let mut stream = RngStream::new(20, "ways");
        let (mut cut, mut fewer) = (0, 0);
        for _ in 0..300 {
            let length = 1 + stream.below(4);
            let ways: Vec<Way> = (0..40)
                .map(|_| {
                    let steps = (0..length + stream.below(2)).map(|_| {
                        let gbps = [10, 40, 100, 400][usize::try_from(stream.below(4)).unwrap()];
                        step(gbps, stream.below(50), stream.below(2) == 0)
                    });
                    way(&steps.collect::<Vec<_>>())
                })
                .collect();
            let kept = merged(ways.clone());
            cut += u32::from(kept.len() < ways.len());
            let candidates = candidates(&kept);
            let answers = |question| -> Vec<Way> {
                candidates.iter().filter_map(|one| one.of(question)).cloned().collect()
            };
            let (quickest, slowest) = (answers(Question::Quickest), answers(Question::Slowest));
            fewer += u32::from(quickest.len() < kept.len() && slowest.len() < kept.len());
            let ends = [10, 400].map(|gbps| step(gbps, 1, true));
            for (before, behind) in ends.iter().flat_map(|a| ends.iter().map(move |b| (a, b))) {
                let whole = |way: &Way| Way::default().then(*before).followed_by(way).then(*behind);
                for turned in [false, true] {
                    let whole = |way: &Way| if turned { whole(way).reversed() } else { whole(way) };
                    let least =
                        |ways: &[Way]| ways.iter().map(|w| time(&whole(w).quickest())).min();
                    let most = |ways: &[Way]| ways.iter().map(|w| time(&whole(w).slowest())).max();
                    assert!(least(&kept) <= least(&ways), "{ways:?} {kept:?}");
                    assert!(most(&kept) >= most(&ways), "{ways:?} {kept:?}");
                    assert_eq!(least(&quickest), least(&kept), "{kept:?}");
                    assert_eq!(most(&slowest), most(&kept), "{kept:?}");
                }
            }
        }
        assert!(cut > 200 && fewer > 200, "{cut} {fewer}");
    }
}
