//! Applications: latencies to the picosecond, packets by opcode, queue depth, RNR NAKs, failures,
//! and what the results say of them.

mod atomics;
mod collectives;
mod depth;
mod events;
mod exchanges;
mod failures;
mod hosts;
mod latency;
mod nvlink;
mod programs;
mod results;
mod support;
mod traces;
