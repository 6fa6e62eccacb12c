//! What is proved before a run, against the run.

mod headroom;
mod ring;
