//! Numbers and programs drawn from a fuzzer's bytes.
//!
//! After the last byte every draw is zero, so any input is a whole program.

use arbitrary::Unstructured;
use seawall_core::plan::{Budget, Dag, Dependency, Wave};

/// Draws from the bytes of one input.
#[derive(Debug)]
pub struct Draw<'a>(Unstructured<'a>);

impl<'a> Draw<'a> {
    /// Draws from these bytes, first to last.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Whether the lowest bit of the next byte is set.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`, 0 if `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        let word = if end <= 256 {
            u32::from(self.byte())
        } else {
            self.0.arbitrary().unwrap_or(0)
        };
        word.checked_rem(end).unwrap_or(0)
    }

    /// 32 bits: small, a power of two or next to one, or anything.
    pub fn word(&mut self) -> u32 {
        match self.byte() % 4 {
            0 => u32::from(self.byte()),
            1 => (1u32 << (self.byte() % 32)).wrapping_sub(u32::from(self.byte() % 3)),
            2 => u32::MAX - u32::from(self.byte()),
            _ => self.0.arbitrary().unwrap_or(0),
        }
    }

    /// 64 bits, with the same distribution as [`Self::word`].
    pub fn long(&mut self) -> u64 {
        match self.byte() % 5 {
            0 => u64::from(self.byte()),
            1 => (1u64 << (self.byte() % 64)).wrapping_sub(u64::from(self.byte() % 3)),
            2 => u64::MAX - u64::from(self.byte()),
            3 => self.0.arbitrary::<u16>().unwrap_or(0).into(),
            _ => self.0.arbitrary().unwrap_or(0),
        }
    }

    /// A float: any bits, or a plain number.
    pub fn float(&mut self) -> f64 {
        match self.byte() % 4 {
            0 => f64::from_bits(self.long()),
            1 => f64::from(self.word()),
            2 => f64::from(self.byte()) / 256.0,
            _ => f64::from(self.word()) / 1024.0 - 1000.0,
        }
    }

    /// Draws a byte below `most`, and as many items.
    pub fn list<T>(&mut self, most: u32, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most);
        (0..count).map(|_| item(self)).collect()
    }

    /// The remaining bytes.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    /// A program of up to 40 waves: half of all programs are in order of ids, the others may have
    /// cycles and records that name no wave.
    pub fn program(&mut self) -> Program {
        let waves = self.list(41, |draw| Wave {
            frontier_bytes: draw.long(),
            scratch_bytes: draw.long(),
            output_bytes: draw.long(),
        });
        let count = waves.len() as u32;
        let wild = self.flag();
        let dependencies = self.list(160, |draw| draw.dependency(count, wild));
        Program {
            waves,
            dependencies: dependencies.into_iter().flatten().collect(),
        }
    }

    fn dependency(&mut self, waves: u32, wild: bool) -> Option<Dependency> {
        let (a, b) = (self.below(waves), self.below(waves));
        if !wild {
            let (before, after) = (a.min(b), a.max(b));
            return (a != b).then_some(Dependency { before, after });
        }
        let is_foreign = self.byte() == 0xFF;
        let after = if is_foreign { self.word() } else { b };
        Some(Dependency { before: a, after })
    }

    /// A budget near the program's requirement, or any other.
    pub fn budget(&mut self, program: &Program) -> Budget {
        let fused = program.waves.iter().map(fused);
        let largest = u64::try_from(fused.max().unwrap_or(0)).unwrap_or(u64::MAX);
        let resident_bytes = if self.flag() { self.long() } else { 0 };
        let budget_bytes = match self.byte() % 3 {
            0 => self.long(),
            1 => u64::MAX,
            _ => largest
                .saturating_add(resident_bytes)
                .saturating_add(self.byte().into()),
        };
        Budget {
            resident_bytes,
            budget_bytes,
            readback_bytes: self.long(),
        }
    }
}

/// A program that owns its records.
#[derive(Debug)]
pub struct Program {
    /// Waves by id.
    pub waves: Vec<Wave>,
    /// Dependencies between waves.
    pub dependencies: Vec<Dependency>,
}

impl Program {
    /// The program as the planner takes it.
    #[must_use]
    pub fn dag(&self) -> Dag<'_> {
        Dag {
            waves: &self.waves,
            dependencies: &self.dependencies,
        }
    }
}

/// Frontier, four times scratch, and output, in numbers that cannot overflow.
#[must_use]
pub fn fused(wave: &Wave) -> u128 {
    u128::from(wave.frontier_bytes)
        + 4 * u128::from(wave.scratch_bytes)
        + u128::from(wave.output_bytes)
}
