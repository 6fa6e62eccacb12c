//! What a run comes to does not depend on how its network is cut, or on how many threads run it.

mod applications;
mod faults;
mod hosts;
mod infiniband;
mod links;
mod measured;
mod multicast;
mod queue_pairs;
mod ranks;
mod senders;
mod shipped;
mod support;
mod switches;
mod tables;
