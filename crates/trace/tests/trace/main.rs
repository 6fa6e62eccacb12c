//! Tests of the readers, of the graphs, and of the executors.

mod analytical;
mod astra;
mod bounds;
mod chakra;
mod checks;
mod expanded;
mod goal;
mod nccl_tests;
mod own;
mod shared;
mod simai;
mod state;
