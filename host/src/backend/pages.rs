//! Words in whole pages, which a device can access in place.

use std::sync::atomic::AtomicU32;

const PAGE_WORDS: u32 = 1024;

#[derive(Debug)]
#[repr(C, align(4096))]
struct Page([AtomicU32; PAGE_WORDS as usize]);

/// Words that threads share, and a device to which their pages are registered.
#[derive(Debug)]
pub(crate) struct Pages(Vec<Page>);

impl Pages {
    /// At least `words` zero words; `None` if memory is short.
    pub(crate) fn new(words: u32) -> Option<Self> {
        let pages = words.div_ceil(PAGE_WORDS).max(1) as usize;
        let mut memory = Vec::new();
        memory.try_reserve_exact(pages).ok()?;
        memory.resize_with(pages, || Page(std::array::from_fn(|_| AtomicU32::new(0))));
        Some(Self(memory))
    }

    /// A word; `None` beyond the last page.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&AtomicU32> {
        let page = self.0.get((at / PAGE_WORDS) as usize)?;
        page.0.get((at % PAGE_WORDS) as usize)
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *mut u32 {
        self.0.as_ptr().cast_mut().cast()
    }

    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn words_follow_each_other_from_the_start_of_a_page() {
        let pages = Pages::new(2049).unwrap();
        assert_eq!(pages.bytes(), 3 * 4096);
        assert!(pages.start().addr().is_multiple_of(4096));
        for at in [0, 1023, 1024, 3071] {
            pages.get(at).unwrap().store(at, Ordering::Relaxed);
            let place = pages.get(at).unwrap().as_ptr().addr();
            assert_eq!(place, pages.start().addr() + 4 * at as usize);
        }
        assert!(pages.get(3072).is_none());
    }
}
