//! How modules are compiled, and what they may use.

use wasmtime::{Config, Engine, Inlining, ResourceLimiter};

/// The most memory of a module: 32 pages of 64 KiB, of which Rust's linker takes 17 for its stack.
pub(crate) const MOST_PAGES: usize = 32;
/// The most entries of a table.
const MOST_TABLE: usize = 10_000;
/// The stack of a call (bytes).
const STACK: usize = 256 * 1024;
const PAGE: usize = 64 * 1024;

/// What an engine does beyond what code says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Does {
    /// It counts instructions.
    pub(crate) counts: bool,
    /// It gives each result of floating-point arithmetic the same NaN.
    pub(crate) clears_nan: bool,
}

/// An engine for one module.
///
/// # Errors
/// If the machine has no such processor.
pub(crate) fn engine(does: Does) -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .consume_fuel(does.counts)
        // Sign and payload of NaN are the only thing that WebAssembly leaves open: see `nan`.
        .cranelift_nan_canonicalization(does.clears_nan)
        .max_wasm_stack(STACK)
        .wasm_backtrace_max_frames(None)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_wide_arithmetic(false)
        .wasm_stack_switching(false)
        .wasm_custom_page_sizes(false)
        // The least and the greatest of two numbers are functions in many languages.
        .compiler_inlining(Inlining::Yes)
        .gc_support(false);
    Engine::new(&config)
}

/// Refuses all growth: a memory that grows keeps something between two calls.
#[derive(Debug)]
pub(crate) struct Limits;

/// A module asked for more memory than it declares, or for a larger table.
#[derive(Debug, thiserror::Error)]
#[error("memory and tables do not grow")]
pub(crate) struct Growth;

impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        grows(current, desired, MOST_PAGES * PAGE)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        grows(current, desired, MOST_TABLE)
    }
}

/// What is made has nothing before.
fn grows(current: usize, desired: usize, most: usize) -> wasmtime::Result<bool> {
    if current == 0 && desired <= most { Ok(true) } else { Err(wasmtime::Error::new(Growth)) }
}
