//! An instance of a module: what is called.

use core::fmt;
use std::cell::Cell;
use std::sync::{Arc, Weak};

use wasmtime::{Store, Trap, TypedFunc};

use crate::block::Block;
use crate::engine::{Growth, Limits};
use crate::fault::Cause;
use crate::memory::BlockStore;
use crate::module::{GuestModule, LoadError};

/// Instructions that it may take until it is ready, and to tell its metadata.
const START_FUEL: u64 = 10_000_000;

/// Instructions beyond those of a call: if none of them is left, it took too many.
const SPARE: u64 = 1;

/// An instance of a module.
pub(crate) struct Instance {
    store: BlockStore,
    event: TypedFunc<u32, ()>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
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
        let refused =
            |store: Store<Limits>| LoadError::Block { address, memory: memory.data_size(&store) };
        let store = BlockStore::new(store, &memory, address as usize).map_err(refused)?;
        Ok(Self { store, event })
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
    #[inline]
    pub(crate) fn block(&mut self) -> Block<'_> {
        self.store.block()
    }

    /// Lets it answer to what is in the block. After an error it cannot be used any more.
    #[inline]
    pub(crate) fn call(&mut self, kind: u32, fuel: u64) -> Result<(), Cause> {
        self.store.refuel(fuel + SPARE);
        self.store.call(&self.event, kind).map_err(|error| cause(&error, fuel))?;
        // Only functions and loops look whether there is any left: code without them may have taken more.
        if self.store.fuel_left() == 0 { Err(Cause::Fuel(fuel)) } else { Ok(()) }
    }

    /// Instructions that are left of the latest call.
    pub(crate) fn fuel_left(&self) -> u64 {
        self.store.fuel_left().saturating_sub(SPARE)
    }
}

fn refuel(store: &mut Store<Limits>, fuel: u64) {
    store.set_fuel(fuel).expect("the engine counts fuel");
}

#[cold]
fn cause(error: &wasmtime::Error, fuel: u64) -> Cause {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Cause::Fuel(fuel),
        Some(trap) => Cause::Trap(trap.to_string()),
        None if error.downcast_ref::<Growth>().is_some() => Cause::Growth,
        None => Cause::Instance(error.root_cause().to_string()),
    }
}

/// An instance, and its module, if anything else still has that.
#[derive(Debug)]
pub(crate) struct Owned {
    module: Weak<GuestModule>,
    instance: Instance,
}

thread_local! {
    /// The instance that was called last in this thread, and those of other modules. They keep nothing that a result could depend
    /// on: whatever a guest reads, the host has written before.
    static LAST: Cell<Option<Box<Owned>>> = const { Cell::new(None) };
    #[expect(clippy::vec_box, reason = "instances go from here to the last one and back without being copied")]
    static OTHERS: Cell<Vec<Box<Owned>>> = const { Cell::new(Vec::new()) };
}

/// The instance of a module that belongs to this thread, until it is given back.
#[inline]
pub(crate) fn take(module: &Arc<GuestModule>) -> Result<Box<Owned>, Cause> {
    match LAST.take() {
        Some(last) if last.is_of(module) => Ok(last),
        last => other(last, module),
    }
}

/// Gives an instance back. One that has failed is dropped instead, and the next call makes another one.
#[inline]
pub(crate) fn give_back(instance: Box<Owned>) {
    LAST.replace(Some(instance));
}

/// Keeps the last instance, and takes or makes the one of this module.
#[cold]
fn other(last: Option<Box<Owned>>, module: &Arc<GuestModule>) -> Result<Box<Owned>, Cause> {
    let mut others = OTHERS.take();
    others.extend(last);
    let place = others.iter().position(|one| one.is_of(module));
    let taken = place.map(|place| others.swap_remove(place));
    if taken.is_none() {
        others.retain(|one| one.module.strong_count() > 0);
    }
    OTHERS.set(others);
    taken.map_or_else(|| Owned::new(module).map(Box::new), Ok)
}

impl Owned {
    fn new(module: &Arc<GuestModule>) -> Result<Self, Cause> {
        let instance = Instance::new(module.compiled());
        let instance = instance.map_err(|error| Cause::Instance(error.to_string()))?;
        Ok(Self { module: Arc::downgrade(module), instance })
    }

    fn is_of(&self, module: &Arc<GuestModule>) -> bool {
        self.module.as_ptr() == Arc::as_ptr(module)
    }

    /// The instance.
    pub(crate) const fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }
}
