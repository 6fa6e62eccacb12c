//! An instance of a module: what is called.

use core::fmt;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use wasmtime::{Memory, Store, Trap, TypedFunc};

use crate::block::{BLOCK_LEN, Block};
use crate::engine::{Growth, Limits};
use crate::fault::Cause;
use crate::module::{GuestModule, LoadError};

/// Instructions that it may take until it is ready, and to tell its metadata.
const START_FUEL: u64 = 10_000_000;

/// An instance of a module.
pub(crate) struct Instance {
    store: Store<Limits>,
    memory: Memory,
    event: TypedFunc<u32, ()>,
    block: usize,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("block", &self.block).finish_non_exhaustive()
    }
}

impl Instance {
    /// Makes one, and looks for what every module has.
    ///
    /// # Errors
    /// If it does not start, or has no such functions.
    pub(crate) fn new(module: &wasmtime::Module) -> Result<Self, LoadError> {
        let mut store = Store::new(module.engine(), Limits);
        store.limiter(|limits| limits);
        refuel(&mut store, START_FUEL);
        let started = wasmtime::Instance::new(&mut store, module, &[]);
        let instance = started.map_err(|error| LoadError::Start(cause(&error, START_FUEL)))?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or(LoadError::Export("memory", "(memory (export \"memory\") 1)"))?;
        let block = instance
            .get_typed_func::<(), u32>(&mut store, "rl_block")
            .map_err(|_| LoadError::Export("rl_block", "rl_block() -> i32"))?;
        let event = instance
            .get_typed_func::<u32, ()>(&mut store, "rl_event")
            .map_err(|_| LoadError::Export("rl_event", "rl_event(kind: i32)"))?;
        let at = block.call(&mut store, ());
        let address = at.map_err(|error| LoadError::Start(cause(&error, START_FUEL)))?;
        let block = address as usize;
        let is_inside = block + BLOCK_LEN <= memory.data_size(&store);
        if !block.is_multiple_of(8) || !is_inside {
            return Err(LoadError::Block { address, memory: memory.data_size(&store) });
        }
        Ok(Self { store, memory, event, block })
    }

    /// What it says of itself: its version of the interface, and its metadata.
    pub(crate) fn metadata(
        &mut self,
        module: &wasmtime::Module,
    ) -> Result<(u32, Vec<u8>), LoadError> {
        // In an instance of its own: what these functions leave behind counts for nothing.
        let mut store = Store::new(module.engine(), Limits);
        store.limiter(|limits| limits);
        refuel(&mut store, START_FUEL);
        let failed = |error: wasmtime::Error| LoadError::Start(cause(&error, START_FUEL));
        let instance = wasmtime::Instance::new(&mut store, module, &[]).map_err(failed)?;
        let version = instance
            .get_typed_func::<(), u32>(&mut store, "rl_abi")
            .map_err(|_| LoadError::Export("rl_abi", "rl_abi() -> i32"))?;
        let metadata = instance
            .get_typed_func::<(), u64>(&mut store, "rl_meta")
            .map_err(|_| LoadError::Export("rl_meta", "rl_meta() -> i64"))?;
        let version = version.call(&mut store, ()).map_err(failed)?;
        let place = metadata.call(&mut store, ()).map_err(failed)?;
        let memory = instance.get_memory(&mut store, "memory");
        let data = memory.as_ref().map_or(&[][..], |memory| memory.data(&store));
        let (address, len) = ((place >> 32) as usize, (place & 0xffff_ffff) as usize);
        let bytes = data.get(address..address.saturating_add(len));
        let bytes = bytes.filter(|bytes| bytes.len() <= crate::metadata::MOST_METADATA);
        Ok((version, bytes.ok_or(LoadError::MetadataPlace { address, len })?.to_vec()))
    }

    /// The block in its memory.
    ///
    /// # Errors
    /// Never, since it was seen as the instance was made, and memories do not shrink.
    #[inline]
    pub(crate) fn block(&mut self) -> Result<Block<'_>, Cause> {
        let memory = self.memory.data_mut(&mut self.store).get_mut(self.block..);
        let block = memory.and_then(|memory| memory.first_chunk_mut());
        block.map(Block).ok_or_else(|| Cause::Instance("it has no block".to_owned()))
    }

    /// Lets it answer to what is in the block. After an error it cannot be used any more.
    #[inline]
    pub(crate) fn call(&mut self, kind: u32, fuel: u64) -> Result<(), Cause> {
        refuel(&mut self.store, fuel);
        self.event.call(&mut self.store, kind).map_err(|error| cause(&error, fuel))
    }

    /// Instructions that are left of the latest call.
    pub(crate) fn fuel_left(&self) -> u64 {
        self.store.get_fuel().unwrap_or_default()
    }
}

fn refuel(store: &mut Store<Limits>, fuel: u64) {
    store.set_fuel(fuel).expect("the engine counts fuel");
}

fn cause(error: &wasmtime::Error, fuel: u64) -> Cause {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Cause::Fuel(fuel),
        Some(trap) => Cause::Trap(trap.to_string()),
        None if error.downcast_ref::<Growth>().is_some() => Cause::Growth,
        None => Cause::Instance(error.root_cause().to_string()),
    }
}

thread_local! {
    /// The instances of this thread, one of each module. They keep nothing that a result could depend on: whatever a guest
    /// reads, the host has written before.
    static INSTANCES: RefCell<Vec<(Weak<GuestModule>, Instance)>> = const { RefCell::new(Vec::new()) };
}

/// Calls the instance of this thread. After a fault it is gone, and the next call makes another one.
pub(crate) fn call(
    module: &Arc<GuestModule>,
    call: impl FnOnce(&mut Instance) -> Result<(), Cause>,
) -> Result<(), Cause> {
    INSTANCES.with_borrow_mut(|all| {
        let is_own =
            |one: &(Weak<GuestModule>, Instance)| std::ptr::eq(one.0.as_ptr(), Arc::as_ptr(module));
        let place = match all.iter().position(is_own) {
            Some(place) => place,
            None => {
                all.retain(|(of, _)| of.strong_count() > 0);
                let made = Instance::new(module.compiled());
                let made = made.map_err(|error| Cause::Instance(error.to_string()))?;
                all.push((Arc::downgrade(module), made));
                all.len() - 1
            }
        };
        let outcome = call(&mut all[place].1);
        if outcome.is_err() {
            all.swap_remove(place);
        }
        outcome
    })
}
