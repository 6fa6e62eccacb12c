//! Captures from outside: written, read, made, verified, and shown to other programs.

mod filter;
mod headers;
mod icrc_correction;
mod make;
mod malformed;
mod not_looked_into;
mod round_trip;
mod tree;
mod tshark;
mod tunnels;
mod vectors;
mod verify;
mod ways;
