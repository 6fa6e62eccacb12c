//! Each rank sends to each other one, one after the other: in step s to r+s, after what came from r-s+1.

use super::rotation::{Pace, rotation};
use crate::collective::{Collective, Kind};
use crate::error::Error;
use crate::options::Options;
use crate::schedule::Schedule;

pub(super) const SUMMARY: &str = "each rank sends to each other one, one after the other";
pub(super) const KINDS: &[Kind] =
    &[Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll, Kind::AllToAllV];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    Ok(rotation(collective, options, Pace::OneByOne))
}
