//! Schedules, by their messages.

mod ring;
