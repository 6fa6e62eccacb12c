//! TCP as a whole: two hosts and a wire, no network.

mod acknowledgements;
mod checkpoint;
mod ecn;
mod random_faults;
mod recovery;
mod stack;
mod standing;
mod window;
mod wire;
