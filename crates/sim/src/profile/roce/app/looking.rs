//! The ends of connections, to be looked at from outside.

use rocelab_units::SimTime;

/// The place of one open operation at one end of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotView {
    /// Its number within the connection, at the client.
    pub(crate) operation: u64,
    /// Its kind, by its place in the application.
    pub(crate) kind: u16,
    /// When it started, at the client.
    pub(crate) start: SimTime,
    /// Times that this end has posted here.
    pub(crate) turn: u32,
    /// Whether the program works, and posts later.
    pub(crate) works: bool,
    /// Whether an operation has started here that has not ended, at the client.
    pub(crate) is_open: bool,
}
