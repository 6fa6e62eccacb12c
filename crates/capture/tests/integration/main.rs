//! Captures from outside: written, read, made, verified, and shown to other programs.

mod cut;
mod filter;
mod headers;
mod icrc_correction;
mod infiniband;
mod make;
mod make_infiniband;
mod malformed;
mod not_looked_into;
#[path = "../../../wire/tests/integration/payload_guesses.rs"]
mod payload_guesses;
mod round_trip;
mod tree;
mod tshark;
mod tshark_infiniband;
mod tunnels;
mod vectors;
mod verify;
mod ways;
