//! The one place with `unsafe`: telling the processor what memory will be read soon.
//!
//! A prefetch changes no value and cannot fault, whatever the address; it is `unsafe` in Rust only
//! because it takes a raw pointer. Here the pointer always comes from a reference.
#![allow(unsafe_code)]

/// Asks for the cache lines that hold the first `LINES` x 64 bytes of `value`, without waiting.
/// Does nothing on processors for which stable Rust has no such instruction.
#[inline(always)]
pub fn prefetch<const LINES: usize, T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = core::ptr::from_ref(value).cast::<i8>();
        for line in 0..LINES {
            // SAFETY: a prefetch never faults; `wrapping_add` makes no claim about the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * 64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
