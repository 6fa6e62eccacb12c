//! Runs events in order; knows no networking.
//!
//! A [`World`] is state; an [`Engine`] hands it one event after the other and takes what follows
//! into its [`EventQueue`]. The order is part of the public contract: see [`EventKey`]. Random
//! numbers come from one [`RngStream`] for each component.

mod bins;
mod inboxes;
mod key;
mod memory;
pub mod mrg32k3a;
mod queue;
mod random;
mod run;
mod scheduled;
mod wheel;
mod windows;

pub use key::{EventKey, InsertionOrder, NodeOrder, Tie, TieCounter, TieOrder};
pub use memory::{Place, ask_for_large_pages};
pub use queue::EventQueue;
pub use random::{RngStream, mix};
pub use run::{Engine, World};
pub use scheduled::Scheduled;
pub use wheel::Foresight;
pub use windows::Windows;
