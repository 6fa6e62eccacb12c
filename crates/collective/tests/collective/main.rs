//! Schedules, by their messages.

mod auto;
mod closed_forms;
mod golden;
mod nccl;
mod refused;
mod ring;
mod symbolic;
mod timer;
