//! The results directory from outside: what stands on the disk, and when.

mod directory;
mod documentation;
mod files;
#[cfg(feature = "parquet")]
mod flows_parquet;
mod reading;
mod sample;
