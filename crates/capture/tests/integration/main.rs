//! Captures from outside: written, read, made, verified, and shown to other programs.

mod headers;
mod icrc_correction;
mod make;
mod round_trip;
mod tree;
mod tshark;
mod tunnels;
mod vectors;
mod verify;
mod ways;
