//! The program from outside, as users and scripts see it: arguments, exit codes, output, files.

mod bad_input;
mod capture_gaps;
mod captured_features;
mod captures;
mod check;
mod checkpoints;
mod compare;
mod completions;
mod convert;
mod explain;
mod field_defects;
mod headroom;
mod infiniband;
mod infiniband_marks;
mod inputs_stay;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod leftovers;
#[cfg(unix)]
mod limits;
mod man;
mod monitoring;
mod new;
mod ns3_rdma;
mod pause_causes;
#[path = "../../../wire/tests/integration/payload_guesses.rs"]
mod payload_guesses;
mod pcap;
mod pcap_decode;
mod pcap_fix_icrc;
mod pcap_infiniband;
mod pcap_interfaces;
mod pcap_text2pcap;
mod program;
mod qcn_capture;
mod recipes;
mod repeatable;
mod report;
mod results;
mod run;
mod scenario_headers;
mod schema;
mod serve;
mod site;
mod sm;
mod sweep;
#[cfg(unix)]
mod terminal;
mod topo;
#[cfg(feature = "wasm")]
mod user_control;
#[cfg(not(feature = "wasm"))]
mod user_control_off;
mod verdict;
mod workspace;
