//! Places of control block, slots, completions, log and windows.

use crate::abi::ring::{CompletionRecord, ControlBlock, PRIORITIES, PrintRecord, SLOT_WORDS};

/// Words of a record.
pub(super) const fn words_of<T>() -> u32 {
    (size_of::<T>() >> 2) as u32
}

/// Index of a field in its record, in words.
macro_rules! field {
    ($record:ty, $($field:tt)+) => {
        (core::mem::offset_of!($record, $($field)+) >> 2) as u32
    };
}
pub(super) use field;

/// Words at most, so that no index wraps.
const WORDS_MAX: u64 = 1 << 30;

/// Sizes of the parts of a ring.
///
/// ```
/// use seawall_core::protocol::Layout;
/// let layout = Layout::new([4; 5], 16, 1024)?;
/// assert_eq!(layout.slots(), 20);
/// assert!(Layout::new([0, 1, 1, 1, 1], 16, 0).is_err());
/// # Ok::<(), seawall_core::protocol::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    levels: [u32; PRIORITIES as usize],
    slots: u32,
    prints: u32,
    window_words: u32,
}

/// The reason why a ring cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LayoutError {
    /// A priority has no slot, or the log no record.
    #[error("{part} has no space; give it one record at least")]
    Empty {
        /// The part without space.
        part: &'static str,
    },
    /// More words than indices can address.
    #[error("the ring takes {words} words and may take {most}; use fewer slots or smaller windows")]
    TooLarge {
        /// Words wanted.
        words: u64,
        /// Words at most.
        most: u64,
    },
}

impl Layout {
    /// A ring with the given slots of each priority, records in its log, and words in all windows
    /// together.
    ///
    /// # Errors
    /// [`LayoutError`] if a priority or the log has no space, or beyond 2^30 words.
    pub fn new(
        levels: [u32; PRIORITIES as usize],
        prints: u32,
        window_words: u32,
    ) -> Result<Self, LayoutError> {
        let empty = |part| Err(LayoutError::Empty { part });
        if levels.contains(&0) {
            return empty("a priority");
        }
        if prints == 0 {
            return empty("the print log");
        }
        let slots = levels.iter().map(|slots| u64::from(*slots)).sum::<u64>();
        let per_slot = u64::from(SLOT_WORDS.wrapping_add(words_of::<CompletionRecord>()));
        let parts = [
            u64::from(words_of::<ControlBlock>()),
            slots.saturating_mul(per_slot),
            u64::from(prints).saturating_mul(u64::from(words_of::<PrintRecord>())),
            u64::from(window_words),
        ];
        let words = parts.into_iter().fold(0, u64::saturating_add);
        if words > WORDS_MAX {
            let most = WORDS_MAX;
            return Err(LayoutError::TooLarge { words, most });
        }
        Ok(Self {
            levels,
            slots: slots as u32,
            prints,
            window_words,
        })
    }

    /// Slots of each priority.
    #[must_use]
    pub const fn levels(&self) -> [u32; PRIORITIES as usize] {
        self.levels
    }

    /// Slots of all priorities.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Records of the print log.
    #[must_use]
    pub const fn prints(&self) -> u32 {
        self.prints
    }

    /// Words of all windows.
    #[must_use]
    pub const fn window_words(&self) -> u32 {
        self.window_words
    }

    /// Words of the whole ring.
    #[must_use]
    pub const fn words(&self) -> u32 {
        self.windows().wrapping_add(self.window_words)
    }

    /// First word of slot `index`.
    #[must_use]
    pub const fn slot(&self, index: u32) -> u32 {
        words_of::<ControlBlock>().wrapping_add(index.wrapping_mul(SLOT_WORDS))
    }

    /// First word of the completion of slot `index`.
    #[must_use]
    pub const fn completion(&self, index: u32) -> u32 {
        let before = index.wrapping_mul(words_of::<CompletionRecord>());
        self.slot(self.slots).wrapping_add(before)
    }

    /// First word of record `index` of the log.
    #[must_use]
    pub const fn print(&self, index: u32) -> u32 {
        let before = index.wrapping_mul(words_of::<PrintRecord>());
        self.completion(self.slots).wrapping_add(before)
    }

    /// First word of all windows.
    #[must_use]
    pub const fn windows(&self) -> u32 {
        self.print(self.prints)
    }
}
