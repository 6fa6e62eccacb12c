//! Each rank sends to each other one, all at once: to r+1 first, then to r+2, and so on, so that no two begin with the
//! same one.

use super::rotation::{Pace, rotation};
use crate::collective::{Collective, Kind};
use crate::error::Error;
use crate::options::Options;
use crate::schedule::Schedule;

pub(super) const SUMMARY: &str = "each rank sends to each other one, all at once";
pub(super) const KINDS: &[Kind] = &[
    Kind::AllReduce,
    Kind::AllGather,
    Kind::ReduceScatter,
    Kind::AllToAll,
    Kind::AllToAllV,
    Kind::Barrier,
];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    Ok(rotation(collective, options, Pace::AtOnce))
}
