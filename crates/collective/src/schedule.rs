//! What the ranks of a collective operation do, and when.

use core::fmt;
use core::ops::Range;

use crate::collective::Collective;

/// What each rank of a collective operation does. A generator: nothing is stored per message.
///
/// *Members* are the ranks, 0 to n-1, and behind them the switches that take part ([`Self::switches`]). A member has
/// lanes. The steps of a lane are done in order; all lanes of a member run at once. A step begins when the one before it in its
/// lane is done.
///
/// Messages from one member into one lane of another all come from one lane of the sender, and are taken in the order in which
/// they were posted. A message of zero bytes is a message like any other: it is sent, and waited for. A member sends
/// nothing to itself.
pub trait Schedule: fmt::Debug + Send + Sync {
    /// What is done by it.
    fn collective(&self) -> &Collective;

    /// Lanes of each member.
    fn lanes(&self) -> u32;

    /// Steps of member `rank` in `lane`; 0 beyond the last member or lane.
    fn steps(&self, rank: u32, lane: u32) -> u64;

    /// What step `number` does, into `step`, whose vectors are cleared and used again. It does nothing beyond the last
    /// one.
    fn step(&self, rank: u32, lane: u32, number: u64, step: &mut Step);

    /// Which bytes message number `send` of those that the step posts carries, in the order of the message. For runs
    /// that carry data, and for checks.
    fn pieces(&self, rank: u32, lane: u32, number: u64, send: usize) -> Vec<Piece>;

    /// The members that send messages, each with a member that it sends to: each ordered pair once.
    fn connections(&self) -> Box<dyn Iterator<Item = (u32, u32)> + '_>;

    /// Switches that take part by reducing and copying, as those of NVLink do: they are the members behind the ranks. 0
    /// if nothing but ranks takes part.
    fn switches(&self) -> u32 {
        0
    }

    /// The memory of a member for runs that carry data.
    fn memory(&self, rank: u32) -> Memory;

    /// Bytes of the largest message of all.
    fn largest_message(&self) -> u64;
}

/// One step of a lane.
///
/// It first takes all its `receives`, which may arrive in any order, and are reduced or stored in the order here; then it
/// posts its `sends` in order, and is done. It waits for no completion of a send. The bytes that it sends are those
/// that memory holds when they are posted: later steps may write there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What must have arrived.
    pub receives: Vec<Message>,
    /// What is posted then.
    pub sends: Vec<Message>,
}

impl Step {
    /// Makes it a step that does nothing; it keeps its vectors' memory.
    pub fn clear(&mut self) {
        self.receives.clear();
        self.sends.clear();
    }
}

/// A message that is received or sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The member at the other end.
    pub peer: u32,
    /// The lane of the receiver that takes it.
    pub lane: u32,
    /// Payload (bytes); may be 0.
    pub bytes: u64,
    /// What the receiver does with it.
    pub operation: Operation,
}

/// What a receiver does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Adds it to what it has.
    Reduce,
    /// Stores it.
    Copy,
}

/// Bytes of a message that are together at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where they are in the sender's memory (bytes).
    pub source: u64,
    /// Where they go in the receiver's memory (bytes).
    pub destination: u64,
    /// How many they are (bytes).
    pub bytes: u64,
}

/// The memory of a member. Addresses count from 0 (bytes).
///
/// `input` and `output` are the same, or one is in the other, where the operation is done in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What it has at the start.
    pub input: Range<u64>,
    /// What it has at the end.
    pub output: Range<u64>,
    /// The end of all memory, with what is stored in between (bytes).
    pub bytes: u64,
    /// What is copied within the memory at the start, without a message.
    pub copies: Vec<Piece>,
}
