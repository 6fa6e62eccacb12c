//! The one place with `unsafe`: hints about memory to the processor and to the operating system.
//!
//! A prefetch changes no value and cannot fault, whatever the address; it is `unsafe` in Rust only
//! because it takes a raw pointer. The size of the pages below memory changes no value either.
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

/// Asks the operating system to have the memory of a list in large pages. Each large page takes one entry of the
/// processor's list of address translations, where small ones take 512: in networks of thousands of hosts, much of the time
/// is spent looking these up. Short lists, and systems without such pages, are left as they are.
pub fn ask_for_large_pages<T>(list: &Vec<T>) {
    /// Shorter lists have no whole large page, or hardly one.
    const SHORTEST: usize = 4 << 20;
    let bytes = list.capacity() * size_of::<T>();
    if bytes < SHORTEST {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let first = list.as_ptr().cast_mut().cast::<u8>();
        let page = rustix::param::page_size();
        let begin = first.align_offset(page);
        let whole = bytes.saturating_sub(begin) / page * page;
        // SAFETY: the pages are whole ones of this list's memory, and the advice changes no byte of them.
        // It is a hint: a system that does not take it leaves the pages as they are.
        let _ = unsafe { madvise(first.wrapping_add(begin).cast(), whole, Advice::LinuxHugepage) };
    }
}
