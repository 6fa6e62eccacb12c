//! What the simulator claims, measured against formulas and laws that are written here a second
//! time: from the header layouts, IEEE 802.3 and the papers, not from the simulator's own code.
//! `docs/validation.md` lists every claim with its source and the figures measured.

mod alone;
mod alone_on_other_ways;
mod closed_form;
mod conservation;
mod dcqcn_presets;
mod deadlock;
mod determinism;
mod ecmp;
mod endings;
mod experiments;
mod failures;
mod failures_together;
mod fairness;
mod flooding;
mod goodput;
mod hop_limit;
mod hpcc_incast;
mod infiniband;
mod lossless;
mod monitoring;
mod notifications;
mod pause_timing;
mod pfc;
mod qcn;
mod queueing;
mod scheduling;
mod slow_receivers;
mod static_routes;
mod support;
mod swift;
mod switch_features;
mod tcp;
mod telemetry;
mod traversals;
