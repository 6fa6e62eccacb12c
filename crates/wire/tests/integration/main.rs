//! Whole frames: parsed, built, and compared with frames of other implementations.

mod building;
mod captures;
mod cm;
mod cm_described;
mod described;
mod field_table;
mod infiniband;
mod json;
mod no_std;
mod opcodes;
mod parsing;
mod payload_guesses;
mod pcap;
mod tcp;
mod tshark;
mod vectors;
