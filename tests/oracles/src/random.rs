//! Source of choices for drawn cases: a seed, or a list of choices.
//!
//! A case of a seed is the same on every machine, without a test framework. Property tests draw a
//! list of choices: removing a choice, or making one smaller, makes the case smaller, so that a
//! failure shrinks to a few waves and edges. For tests only.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), or given choices.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    choices: Option<std::vec::IntoIter<u32>>,
}

impl Random {
    /// The generator of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed,
            choices: None,
        }
    }

    /// Returns these choices, then always the smallest one.
    #[must_use]
    pub fn of_choices(choices: Vec<u32>) -> Self {
        Self {
            state: 0,
            choices: Some(choices.into_iter()),
        }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        if let Some(choices) = &mut self.choices {
            let word = u64::from(choices.next().unwrap_or(0));
            return word << 32 | word;
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(end)) >> 32) as u32
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: u32) -> bool {
        self.below(of) == 0
    }

    /// One of `choices`, or `None` if there are none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        choices
            .get(self.below(choices.len() as u32) as usize)
            .copied()
    }
}
