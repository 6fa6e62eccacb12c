//! Whole frames: parsed, built, and compared with frames of other implementations.

mod building;
mod captures;
mod cm;
mod cm_described;
mod described;
mod infiniband;
mod json;
mod parsing;
mod pcap;
mod vectors;
