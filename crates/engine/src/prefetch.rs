//! The one place with `unsafe`: telling the processor what memory will be read soon.
//!
//! A prefetch changes no value and cannot fault, whatever the address; it is `unsafe` in Rust only
//! because it takes a raw pointer.
#![allow(unsafe_code)]

/// Where something is that will be read soon. It need not be there: nothing is asked about that, since a
/// branch that the processor foretells wrongly costs more than a prefetch in vain.
#[derive(Clone, Copy, Debug)]
pub struct Place(*const i8);

impl Place {
    /// That of a value.
    #[inline(always)]
    pub fn of<T>(value: &T) -> Self {
        Self(core::ptr::from_ref(value).cast())
    }

    /// That of an element, or where it would be.
    #[inline(always)]
    pub fn of_element<T>(all: &[T], index: u32) -> Self {
        Self(all.as_ptr().wrapping_add(index as usize).cast())
    }

    /// Asks for the cache lines of the `LINES` x 64 bytes from here on, without waiting. Does nothing on
    /// processors for which stable Rust has no such instruction.
    #[inline(always)]
    pub fn prefetch<const LINES: usize>(self) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in 0..LINES {
                // SAFETY: a prefetch never faults; `wrapping_add` makes no claim about the address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(self.0.wrapping_add(line * 64)) };
            }
        }
    }
}
