//! The simulator as a whole.

mod cases;
mod golden;
mod random;
mod run;
