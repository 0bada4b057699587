//! Bytes that begin at the beginning of a page.
//!
//! Where in a page a buffer begins decides how fast the kernel copies to and from it: a loop on a tmpfs differed from itself by
//! 1.6 % (docs/performance.md). Every session and every run have it alike. Which pages a process happens to get decides it, too, once a buffer is as long
//! as the processor's cache: long buffers lie in huge pages, which are whole in memory.

use std::ops::{Deref, DerefMut};

use iolag_model::{ClientId, Random};
use rustix::mm::Advice;

/// The longest buffer of a session; a longer object is moved in several pieces.
pub(crate) const BUFFER_BYTES_MAX: u64 = 64 << 20;

const BUFFER_BYTES_MIN: u64 = 4096;

/// How long a buffer is for objects or blocks of up to so many bytes.
pub(crate) fn buffer_bytes(bytes_max: u64) -> usize {
    bytes_max.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX) as usize
}

/// Of all processors that we know, or a divisor of it.
const PAGE_BYTES: usize = 4096;
/// Of x86 and of most others; elsewhere such a buffer begins at more than it must.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Buffers of this length on are worth a huge page.
const HUGE_FROM_BYTES: usize = HUGE_PAGE_BYTES / 2;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

#[derive(Debug, Clone, Copy)]
#[repr(C, align(2097152))]
struct HugePage([u8; HUGE_PAGE_BYTES]);

#[derive(Debug)]
enum Pages {
    Usual(Vec<Page>),
    Huge(Vec<HugePage>),
}

/// Invariant: `length` is at most the bytes of the pages.
#[derive(Debug)]
pub(crate) struct PagedBytes {
    pages: Pages,
    length: usize,
}

impl PagedBytes {
    /// `length` bytes of this value; all of them have been written to.
    pub(crate) fn new(value: u8, length: usize) -> Self {
        let pages = match length {
            HUGE_FROM_BYTES.. => Pages::Huge(huge_pages(value, length.div_ceil(HUGE_PAGE_BYTES))),
            _ => Pages::Usual(vec![Page([value; PAGE_BYTES]); length.div_ceil(PAGE_BYTES)]),
        };
        Self { pages, length }
    }

    /// `length` bytes that do not compress.
    pub(crate) fn noise(seed: u64, client: ClientId, length: usize) -> Self {
        let mut random = Random::of_stream(seed, u64::from(client.0));
        let mut bytes = Self::new(0, length);
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&random.bits().to_le_bytes()[..piece.len()]);
        }
        bytes
    }
}

/// Pages that the system is asked to make huge, before they are touched: where it cannot, they are as many usual ones.
fn huge_pages(value: u8, count: usize) -> Vec<HugePage> {
    let mut pages = Vec::<HugePage>::with_capacity(count);
    let start = pages.as_mut_ptr();
    // SAFETY: the advice is about memory of this vector alone, and changes nothing of what is in it.
    let _ = unsafe { rustix::mm::madvise(start.cast(), count * HUGE_PAGE_BYTES, Advice::LinuxHugepage) };
    // SAFETY: the vector has room for so many pages, and bytes of any value are one. (On the stack there is no room for one.)
    unsafe {
        start.write_bytes(value, count);
        pages.set_len(count);
    }
    pages
}

impl Deref for PagedBytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        let start: *const u8 = match &self.pages {
            Pages::Usual(pages) => pages.as_ptr().cast(),
            Pages::Huge(pages) => pages.as_ptr().cast(),
        };
        // SAFETY: the pages are bytes without gaps, one after the other, and `length` does not exceed them.
        unsafe { std::slice::from_raw_parts(start, self.length) }
    }
}

impl DerefMut for PagedBytes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let start: *mut u8 = match &mut self.pages {
            Pages::Usual(pages) => pages.as_mut_ptr().cast(),
            Pages::Huge(pages) => pages.as_mut_ptr().cast(),
        };
        // SAFETY: as above, and they are borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(start, self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_at_a_page_and_are_as_many_as_asked_for() {
        for length in [0, 1, 3901, 4096, 1 << 20, (3 << 20) + 5] {
            let mut bytes = PagedBytes::new(7, length);
            let page = if length < HUGE_FROM_BYTES { PAGE_BYTES } else { HUGE_PAGE_BYTES };
            assert!(bytes.as_ptr().addr().is_multiple_of(page), "{length}");
            assert_eq!(*bytes, vec![7; length]);
            bytes.fill(8);
            assert_eq!(*bytes, vec![8; length]);
        }
    }
}
