//! The results directory from outside: what is on the disk, and when.

mod directory;
mod documentation;
mod files;
#[cfg(feature = "parquet")]
mod flows_parquet;
mod reading;
mod sample;
