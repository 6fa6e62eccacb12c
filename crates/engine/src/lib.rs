//! Runs events in order; knows no networking
