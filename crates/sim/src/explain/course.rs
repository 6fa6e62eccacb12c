//! What followed what, from the start of a flow or operation to its end.

use std::rc::Rc;

use super::trail::Trail;

/// A stretch of the time of a flow or operation. Each begins where the one before it ends.
#[derive(Debug)]
pub(super) enum Stretch {
    /// A program works before it posts.
    Work(Work),
    /// Work was posted and is waited for.
    Leg(Leg),
}

/// A program works before it posts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Counts turns, from 0.
    pub(super) turn: u16,
    /// The end where it runs.
    pub(super) end: usize,
    /// Picoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Work was posted at one end, and is waited for: until it arrives at the other end, or until the
/// answer is back.
#[derive(Debug)]
pub(super) struct Leg {
    /// Counts turns, from 0.
    pub(super) turn: u16,
    /// The end that posted it.
    pub(super) sender: usize,
    /// Picoseconds.
    pub(super) from: u64,
    pub(super) to: u64,
    /// The packet whose arrival ended it, if one did.
    pub(super) arrival: Option<Rc<Trail>>,
    /// Where it stands, if the end of the run left it open, or its source gave it up.
    pub(super) stands: Stands,
}

/// How far something has come that was open at the end of the run, or when its source gave it up.
#[derive(Clone, Debug)]
pub(super) enum Stands {
    /// It has ended, or what was lost of it is to be sent again.
    AtSender,
    /// This packet is under way, the oldest of it; or at the other end, which has not answered.
    At(Rc<Trail>),
    /// Nothing of it is anywhere.
    Nowhere,
}
