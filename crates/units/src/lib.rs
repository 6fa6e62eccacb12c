//! Quantities that cannot be mixed up.
//!
//! A simulation adds times to durations, divides bytes by bandwidths and turns cable lengths into
//! delays, millions of times a second and never in floating point. Each quantity is a type of its
//! own over an integer:
//!
//! | type | unit | written as |
//! |---|---|---|
//! | [`SimTime`] | picoseconds since the start of the run | `1.5us` |
//! | [`Duration`] | picoseconds | `84.48ns`, `1us`, `20ms`, `2s` |
//! | [`Bandwidth`] | bits per second | `100Gbps`, `40Mbps` |
//! | [`Bytes`] | bytes | `1500B`, `12MB` (10^6), `12MiB` (2^20) |
//! | [`Length`] | millimetres of cable | `3m`, `0.5m`, `2km` |
//!
//! Text is parsed in integers: `0.1us` is exactly 100,000 ps. A number without a unit, or with
//! more digits than the unit can hold, is an error that says what to write instead.
//!
//! ```
//! use rocelab_units::{Bandwidth, Bytes, Duration, Length};
//!
//! let rate: Bandwidth = "100Gbps".parse()?;
//! assert_eq!(rate.transmission_time(Bytes::new(1056)), "84.48ns".parse::<Duration>()?);
//! assert_eq!("3m".parse::<Length>()?.propagation_delay(), "15ns".parse()?);
//! # Ok::<(), rocelab_units::ParseError>(())
//! ```

mod bandwidth;
mod bytes;
mod decimal;
mod length;
mod quantity;
mod ratio;
mod time;

pub use bandwidth::Bandwidth;
pub use bytes::Bytes;
pub use decimal::ParseError;
pub use length::Length;
pub use ratio::Ratio;
pub use time::{Duration, SimTime};
