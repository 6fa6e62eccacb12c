//! Captures from outside: written, read, made, verified, and shown to other programs.

mod headers;
mod make;
mod round_trip;
mod tshark;
mod vectors;
mod verify;
mod ways;
