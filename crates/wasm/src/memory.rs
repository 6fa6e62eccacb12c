//! The one place with `unsafe` of this crate: where the block of an instance lies.
//!
//! To look for it anew, through the store, the instance and its list of memories, takes longer than many a guest.
#![allow(unsafe_code)]

use core::ptr::NonNull;

use wasmtime::{Memory, Store, TypedFunc};

use crate::block::{BLOCK_LEN, Block, Memory as BlockMemory};
use crate::engine::Limits;

/// A store, and the block in a memory of its own.
pub(crate) struct BlockStore {
    /// It has the memory, and is never given away nor replaced.
    store: Store<Limits>,
    block: NonNull<BlockMemory>,
}

impl BlockStore {
    /// The block at an address of a memory of the store.
    ///
    /// # Errors
    /// The store, if there is no place for a block.
    pub(crate) fn new(
        mut store: Store<Limits>,
        memory: &Memory,
        address: usize,
    ) -> Result<Self, Store<Limits>> {
        let data = memory.data_mut(&mut store);
        let block = data.get_mut(address..).and_then(|data| data.get_mut(..BLOCK_LEN));
        let block = block.map(|block| NonNull::from(block).cast::<BlockMemory>());
        match block.filter(|block| block.is_aligned()) {
            Some(block) => Ok(Self { store, block }),
            None => Err(store),
        }
    }

    /// The block.
    #[inline]
    pub(crate) fn block(&mut self) -> Block<'_> {
        // SAFETY: `new` has seen that there are so many bytes, aligned. They are where they were: `self` owns the store that
        // has the memory, and a memory moves only as it grows, which `Limits` refuses, and is never given back before. Nothing
        // else refers to them: a guest runs, and the store is reached, only in methods that borrow all of `self`. Any bits are
        // numbers.
        Block(unsafe { self.block.as_mut() })
    }

    /// Sets the instructions that calls may take.
    #[inline]
    pub(crate) fn refuel(&mut self, fuel: u64) {
        self.store.set_fuel(fuel).expect("the engine counts fuel");
    }

    /// Instructions that are left.
    pub(crate) fn fuel_left(&self) -> u64 {
        self.store.get_fuel().unwrap_or_default()
    }

    /// Calls a function of the store.
    #[inline]
    pub(crate) fn call(
        &mut self,
        function: &TypedFunc<u32, ()>,
        argument: u32,
    ) -> wasmtime::Result<()> {
        function.call(&mut self.store, argument)
    }
}
