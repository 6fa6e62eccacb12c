//! Schedules, by their messages.

mod golden;
mod nccl;
mod refused;
mod ring;
mod symbolic;
mod timer;
