//! The allocator: an arena that starts afresh with each call.
//!
//! Nothing outlives a call but what setup keeps, and what a call answers is read by the host before it makes the next call.
//! So nothing is freed one by one: the end of a call is the end of all that was allocated in it, and memory never grows
//! beyond what the greediest call needs.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const PAGE: usize = 65_536;

#[global_allocator]
static ARENA: Arena = Arena { top: AtomicUsize::new(0), floor: AtomicUsize::new(0) };

unsafe extern "C" {
    /// Where the linker lets the heap begin.
    static __heap_base: u8;
}

/// Memory from a floor upwards; what is above the top is free.
struct Arena {
    top: AtomicUsize,
    floor: AtomicUsize,
}

/// Ends a call: the next allocation may reuse whatever the call allocated, its answer included.
pub fn end_of_call() {
    ARENA.top.store(ARENA.floor.load(Relaxed), Relaxed);
}

/// Keeps for good what has been allocated so far.
pub fn keep() {
    ARENA.floor.store(ARENA.top.load(Relaxed), Relaxed);
}

// SAFETY: a block lies above the top of all earlier blocks and within the memory, so no two overlap; only `end_of_call`
// takes blocks back, when nothing of the call is used any more. A component has one thread.
unsafe impl GlobalAlloc for Arena {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let top = self.top.load(Relaxed).max((&raw const __heap_base).addr());
        let start = top.next_multiple_of(layout.align());
        let end = start.saturating_add(layout.size());
        let room = wasm32::memory_size(0) * PAGE;
        if end > room && wasm32::memory_grow(0, (end - room).div_ceil(PAGE)) == usize::MAX {
            return ptr::null_mut();
        }
        self.top.store(end, Relaxed);
        ptr::with_exposed_provenance_mut(start)
    }

    #[inline]
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// By this the host allocates what it hands over: arguments, and what it answers.
///
/// # Safety
///
/// `old` is null or a block of this arena of `old_size` bytes; `align` is a power of two.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    // SAFETY: the component model asks for valid layouts only, and passes a block with the layout it was made with.
    unsafe {
        let layout = Layout::from_size_align_unchecked(old_size, align);
        let block = match old_size {
            0 => ARENA.alloc(Layout::from_size_align_unchecked(new_size, align)),
            _ => ARENA.realloc(old, layout, new_size),
        };
        if block.is_null() {
            wasm32::unreachable();
        }
        block
    }
}
